"""TL402."""

from __future__ import annotations

from collections.abc import Iterator

from tritonlint import edits
from tritonlint.finding import Applicability, Confidence, Finding, Fix, Severity
from tritonlint.model import Kernel, Place
from tritonlint.model.records import StaticUse, Trace
from tritonlint.model.specialization import missing_constexprs
from tritonlint.model.values import Number
from tritonlint.rule import Rule


class ConstexprRequired(Rule):
    """A runtime value where Triton needs a compile-time one.

    ## What it does
    Reports `tl.arange` bounds, tile shapes, `tl.static_range` bounds and `tl.static_assert` conditions
    that get a parameter without `tl.constexpr`, a loop variable, a loaded value, or a local that a
    plain assignment turned into a tensor.

    ## Why is this bad?
    It does not compile: `arange's arguments must be of type tl.constexpr`, or the misleading "Did you
    forget to add @triton.jit?".

    ## Example
    ```python
    import triton
    import triton.language as tl

    @triton.jit
    def fill_kernel(out_ptr, n, block):
        offsets = tl.program_id(0) * block + tl.arange(0, block)  # expect: constexpr-required
        tl.store(out_ptr + offsets, 0.0, mask=offsets < n)

    def fill(out):
        fill_kernel[(triton.cdiv(out.numel(), 1024),)](out, out.numel(), 1024)
    ```

    ## Use instead
    ```python
    import triton
    import triton.language as tl

    @triton.jit
    def fill_kernel(out_ptr, n, block: tl.constexpr):
        offsets = tl.program_id(0) * block + tl.arange(0, block)
        tl.store(out_ptr + offsets, 0.0, mask=offsets < n)

    def fill(out):
        fill_kernel[(triton.cdiv(out.numel(), 1024),)](out, out.numel(), 1024)
    ```

    ## Fix safety
    Annotating the parameter is safe: the kernel did not compile before. A loaded value, a loop variable and a
    local cannot be made constants that way.

    ## References
    - triton-lang/triton#2604, triton-lang/triton#2735
    """

    code = "TL402"
    severity = Severity.ERROR

    def check(self, kernel: Kernel) -> Iterator[Finding]:
        seen: set[int] = set()
        for use, trace in missing_constexprs(kernel):
            if id(use.where.node) not in seen:
                seen.add(id(use.where.node))
                where = use.where
                yield self.finding(
                    Place(where.function.module.source, where.node, where.function.name),
                    f"{use.what} must be known at compile time, but {_what(use, trace)}",
                    confidence=Confidence.HIGH,
                    fix=_fix(use, trace),
                )


def _fix(use: StaticUse, trace: Trace) -> Fix | None:
    """The annotation, where the value is one parameter of the function it is needed in."""
    function, names = use.where.function, _runtime_names(use, trace)
    constexpr = function.module.spelled("triton.language.constexpr")
    if function is not trace.root or len(names) != 1 or constexpr is None:
        return None
    parameter = function.parameter(names[0])
    if parameter is None:
        return None
    edit = edits.with_annotation(function.module.source, parameter.node, constexpr)
    return Fix(f"annotate `{names[0]}` with `{constexpr}`", Applicability.SAFE, (edit,))


def _runtime_names(use: StaticUse, trace: Trace) -> list[str]:
    """The parameters without `tl.constexpr` in what is needed at compile time."""
    assert isinstance(use.value, Number)
    static = {p.name for p in trace.root.parameters if p.is_constexpr}
    atoms = use.value.poly.closure
    return sorted({str(a.args[0]) for a in atoms if a.kind == "param" and a.args[0] not in static})


def _what(use: StaticUse, trace: Trace) -> str:
    assert isinstance(use.value, Number)
    poly = use.value.poly
    if poly.constant is not None:
        return f"the plain assignment of `{poly}` made it a tensor: annotate the name with `tl.constexpr`"
    if names := _runtime_names(use, trace):
        return f"`{names[0]}` is a runtime parameter"
    return f"`{poly}` is a runtime value"
