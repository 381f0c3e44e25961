"""TL302."""

from __future__ import annotations

from collections.abc import Iterator

from tritonlint.finding import Confidence, Finding, Related, Severity
from tritonlint.model import Kernel, Place, Proof
from tritonlint.model.effects import Touch, aliases, effects_of, overwrites_what_it_reads
from tritonlint.model.tuning import configurations, names_in, option
from tritonlint.model.tunings import Tuning, tunings_of
from tritonlint.rule import Rule


class AutotuneSideEffects(Rule):
    """A tuned kernel overwrites what it reads, and the tuner is not told to restore it.

    ## What it does
    Looks at what a kernel under `triton.autotune` does to its pointer parameters: in-place updates,
    atomic additions, and launches that give one tensor to a parameter that is read and to one that
    is written. `restore_value`, `reset_to_zero` and a `pre_hook` count as telling the tuner.

    ## Why is this bad?
    The tuner runs the kernel many times for every configuration on the caller's own tensors. The
    first call for a new key returns the update applied hundreds of times; later calls are right, so
    tests with a warm-up pass.

    ## Example
    ```python
    import triton
    import triton.language as tl

    @triton.autotune(  # expect: autotune-side-effects, autotune-in-production
        configs=[triton.Config({"BLOCK": 256}), triton.Config({"BLOCK": 1024})],
        key=["n"],
    )
    @triton.jit
    def scale_kernel(x_ptr, n, factor, BLOCK: tl.constexpr):
        offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        inside = offsets < n
        x = tl.load(x_ptr + offsets, mask=inside)
        tl.store(x_ptr + offsets, x * factor, mask=inside)
    ```

    ## Use instead
    ```python
    import triton
    import triton.language as tl

    @triton.autotune(
        configs=[triton.Config({"BLOCK": 256}), triton.Config({"BLOCK": 1024})],
        key=["n"],
        restore_value=["x_ptr"],
    )
    @triton.jit
    def scale_kernel(x_ptr, n, factor, BLOCK: tl.constexpr):
        offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        inside = offsets < n
        x = tl.load(x_ptr + offsets, mask=inside)
        tl.store(x_ptr + offsets, x * factor, mask=inside)
    ```

    ## Fix safety
    No fix yet.

    ## References
    - triton-lang/triton#6547, triton-lang/triton#4217, flagos-ai/FlagGems#3753
    """

    code = "TL302"
    severity = Severity.ERROR

    def check(self, kernel: Kernel) -> Iterator[Finding]:
        for tuning in tunings_of(kernel.module):
            if (
                tuning.kernel is None
                or tuning.kernel.info is not kernel.info
                or tuning.several is not Proof.YES
            ):
                continue
            if not _is_told(tuning):
                yield from self._effects(kernel, tuning)

    def _effects(self, kernel: Kernel, tuning: Tuning) -> Iterator[Finding]:
        trace = kernel.module.project.trace(kernel.info)
        effects = effects_of(trace)
        told = {
            *(names_in(option(tuning.tuned, "restore_value")) or ()),
            *(names_in(option(tuning.tuned, "reset_to_zero")) or ()),
        }
        causes: list[str] = []
        related: list[Related] = []
        for name, effect in effects.items():
            if name in told:
                continue
            pair = overwrites_what_it_reads(effect)
            if effect.updates:
                causes.append(f"adds to `{name}`")
                related.append(_place(effect.updates[0]).note(f"`{name}` is updated here"))
            elif pair is not None:
                causes.append(f"overwrites `{name}`, which it reads")
                related += [
                    _place(pair[0]).note(f"`{name}` is read here"),
                    _place(pair[1]).note("and written here"),
                ]
        for launch in kernel.launches:
            pair_names = aliases(launch, effects)
            if pair_names is not None and not set(pair_names) & told:
                causes.append(f"is launched with one tensor as `{pair_names[0]}` and `{pair_names[1]}`")
                related.append(
                    Place(launch.module.source, launch.node).note("the same tensor is read and written here")
                )
        if causes:
            yield self.finding(
                Place(kernel.module.source, tuning.node, kernel.name),
                f"`{kernel.name}` {_list(causes)}: every tuning run does so again, and nothing restores it",
                confidence=Confidence.HIGH,
                related=related,
            )


def _is_told(tuning: Tuning) -> bool:
    """Whether a hook, or a list that cannot be read, may restore what tuning overwrites."""
    tuned = tuning.tuned
    if option(tuned, "pre_hook") is not None or any(
        config.pre_hook for config in configurations(tuned).items
    ):
        return True
    return any(names_in(option(tuned, name)) is None for name in ("restore_value", "reset_to_zero"))


def _place(touch: Touch) -> Place:
    where = touch.where
    return Place(where.function.module.source, where.node, where.function.name)


def _list(causes: list[str]) -> str:
    unique = list(dict.fromkeys(causes))
    return unique[0] if len(unique) == 1 else ", ".join(unique[:-1]) + " and " + unique[-1]
