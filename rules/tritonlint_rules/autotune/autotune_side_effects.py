"""TL302."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tritonlint.finding import Confidence, Finding, Related, Severity
from tritonlint.model import Module, Place, Proof
from tritonlint.model.effects import (
    Effects,
    Touch,
    aliases,
    effects_of,
    is_idle,
    is_reset,
    overwrites_what_it_reads,
    stale_slots,
)
from tritonlint.model.tuning import configurations, names_in, option
from tritonlint.model.tunings import Tuning, tunings_of
from tritonlint.rule import Rule

if TYPE_CHECKING:
    from tritonlint.model.module import FunctionInfo
    from tritonlint.model.records import Trace


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

    @triton.autotune(  # expect: autotune-side-effects
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

    def check_module(self, module: Module) -> Iterator[Finding]:
        for tuning in tunings_of(module):
            if tuning.kernel is None or tuning.several is Proof.NO or _is_told(tuning):
                continue
            causes = list(self._causes(module, tuning.kernel.info, tuning))
            if causes:
                names = sorted({name for cause in causes for name in cause.restore})
                sure = any(cause.sure for cause in causes)
                shown = Confidence.HIGH if tuning.several is Proof.YES else Confidence.MEDIUM
                yield self.finding(
                    Place(module.source, tuning.node, tuning.kernel_name),
                    f"`{tuning.kernel_name}` {_list([cause.what for cause in causes])}: each tuning run starts "
                    f"from the last one's result, and nothing restores {', '.join(f'`{name}`' for name in names)}",
                    confidence=shown if sure else Confidence.LOW,
                    related=[note for cause in causes for note in cause.notes],
                )

    def _causes(self, module: Module, info: FunctionInfo, tuning: Tuning) -> Iterator[Cause]:
        trace = module.project.trace(info)
        effects = effects_of(trace)
        told = {
            name
            for key in ("restore_value", "reset_to_zero")
            for name in names_in(option(tuning.tuned, key)) or ()
        }
        for name, effect in effects.items():
            if name in told:
                continue
            updates = [u for u in effect.updates if is_reset(u, effect) is not Proof.YES]
            idle = [is_idle(update, tuning.tuned, tuning.launches) for update in updates]
            pair = overwrites_what_it_reads(effect, trace)
            if not all(answer is Proof.YES for answer in idle):
                update = updates[idle.index(Proof.NO if Proof.NO in idle else Proof.UNKNOWN)]
                note = _place(update).note(f"`{name}` is updated here")
                sure = Proof.NO in idle and is_reset(update, effect) is Proof.NO
                yield Cause(f"adds to `{name}` by `tl.{update.kind}`", (name,), [note], sure)
            elif pair is not None:
                notes = [
                    _place(pair.read).note(f"`{name}` is read here"),
                    _place(pair.write).note("and written here"),
                ]
                yield Cause(f"overwrites `{name}`, which it reads", (name,), notes, pair.sure)
        yield from _at_launches(tuning, trace, {n: e for n, e in effects.items() if n not in told})


def _at_launches(tuning: Tuning, trace: Trace, effects: dict[str, Effects]) -> Iterator[Cause]:
    """What the first launch that shows it makes of two parameters, or of a number of programs."""
    for launch in tuning.launches:
        here = Place(launch.module.source, launch.node)
        alias, slots = aliases(launch, trace, effects), stale_slots(launch, tuning.tuned, effects)
        if alias is not None:
            what = f"is launched with one tensor as `{alias.read}` and `{alias.written}`"
            notes = [here.note("the same tensor is read and written here")]
            yield Cause(what, (alias.written,), notes, alias.sure)
        if slots is not None:
            what = f"fills as many places of `{slots[0]}` as there are programs, which the tuner decides"
            notes = [_place(slots[1]).note("one place for each program"), here.note("launched here")]
            yield Cause(what, (slots[0],), notes)
        if alias is not None or slots is not None:
            return


@dataclass(frozen=True)
class Cause:
    """One reason why tuning changes results, the parameters to restore, and where it shows."""

    what: str
    restore: tuple[str, ...]
    notes: list[Related]
    sure: bool = True


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
