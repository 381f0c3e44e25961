"""TL302."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tritonlint import edits
from tritonlint.finding import Applicability, Confidence, Edit, Finding, Fix, Related, Severity
from tritonlint.model import Module, Place, Proof
from tritonlint.model.effects import Touch
from tritonlint.model.trials import Remnant, is_restored, remnants_of
from tritonlint.model.tunings import tunings_of
from tritonlint.model.values import Tuned
from tritonlint.rule import Rule
from tritonlint_rules.autotune._changes import argument, keyword_added


class AutotuneSideEffects(Rule):
    """A tuned kernel overwrites what it reads, and the tuner is not told to restore it.

    ## What it does
    Looks at what a kernel under `triton.autotune` does to its pointer parameters: in-place updates,
    atomic additions, launches that give one tensor to a parameter that is read and to one that is
    written, and buffers of zeros of which every program fills one place, where configurations differ
    in the number of programs. `restore_value`, `reset_to_zero` and a `pre_hook` count as telling the
    tuner. An update that changes nothing the second time, `tl.abs` in place, is left out, as is a sum
    that the kernel itself sets to zero first.

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
    `restore_value=[...]` is safe: the tuner copies these tensors before it measures and puts them back. For a
    sum that starts at zero, `reset_to_zero=[...]` is cheaper; that it does is for you to say.

    ## References
    - triton-lang/triton#6547, triton-lang/triton#4217, flagos-ai/FlagGems#3753
    """

    code = "TL302"
    severity = Severity.ERROR

    def check_module(self, module: Module) -> Iterator[Finding]:
        for tuning in tunings_of(module):
            if tuning.kernel is None or tuning.several is Proof.NO or is_restored(tuning.tuned):
                continue
            remnants = list(remnants_of(tuning, module.project.trace(tuning.kernel.info)))
            if remnants:
                names = sorted({remnant.name for remnant in remnants})
                sure = any(remnant.sure for remnant in remnants)
                shown = Confidence.HIGH if tuning.several is Proof.YES else Confidence.MEDIUM
                yield self.finding(
                    Place(module.source, tuning.node, tuning.kernel_name),
                    f"`{tuning.kernel_name}` {_list([_what(remnant) for remnant in remnants])}: each tuning run "
                    f"starts from the last one's result, and nothing restores "
                    f"{', '.join(f'`{name}`' for name in names)}",
                    confidence=shown if sure else Confidence.LOW,
                    related=[note for remnant in remnants for note in _notes(remnant)],
                    fix=_fix(module, tuning.tuned, names),
                )


def _fix(module: Module, tuned: Tuned, names: list[str]) -> Fix | None:
    """The names in `restore_value`, in a list that is there or in one of their own."""
    listed = ", ".join(f'"{name}"' for name in names)
    known = argument(tuned, "restore_value", 5)
    if isinstance(known, ast.List | ast.Tuple):
        edit: Edit | None = edits.with_item(module.source, known, listed)
    else:
        edit = keyword_added(module, tuned, f"restore_value=[{listed}]")
    title = f"restore {', '.join(f'`{name}`' for name in names)} after each run of the tuner"
    return Fix(title, Applicability.SAFE, (edit,)) if edit is not None else None


def _what(remnant: Remnant) -> str:
    name = remnant.name
    if remnant.kind == "updated":
        return f"adds to `{name}` by `tl.{getattr(remnant.touches[0], 'kind', 'atomic_add')}`"
    if remnant.kind == "overwritten":
        return f"overwrites `{name}`, which it reads"
    if remnant.kind == "aliased":
        return f"is launched with one tensor as `{remnant.read}` and `{name}`"
    return f"fills as many places of `{name}` as there are programs, which the tuner decides"


def _notes(remnant: Remnant) -> Iterator[Related]:
    words = {
        "updated": (f"`{remnant.name}` is updated here",),
        "overwritten": (f"`{remnant.name}` is read here", "and written here"),
        "slots": ("one place for each program",),
    }
    for touch, text in zip(remnant.touches, words.get(remnant.kind, ()), strict=True):
        yield _place(touch).note(text)
    if remnant.launch is not None:
        aliased = remnant.kind == "aliased"
        place = Place(remnant.launch.module.source, remnant.launch.node)
        yield place.note("the same tensor is read and written here" if aliased else "launched here")


def _place(touch: Touch) -> Place:
    where = touch.where
    return Place(where.function.module.source, where.node, where.function.name)


def _list(causes: list[str]) -> str:
    unique = list(dict.fromkeys(causes))
    return unique[0] if len(unique) == 1 else ", ".join(unique[:-1]) + " and " + unique[-1]
