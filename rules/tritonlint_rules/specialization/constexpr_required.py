"""TL402."""

from __future__ import annotations

from collections.abc import Iterator

from tritonlint.finding import Confidence, Finding, Severity
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
    No fix yet.

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
                )


def _what(use: StaticUse, trace: Trace) -> str:
    assert isinstance(use.value, Number)
    poly = use.value.poly
    if poly.constant is not None:
        return f"the plain assignment of `{poly}` made it a tensor: annotate the name with `tl.constexpr`"
    static = {p.name for p in trace.root.parameters if p.is_constexpr}
    names = sorted({str(a.args[0]) for a in poly.closure if a.kind == "param" and a.args[0] not in static})
    if names:
        return f"`{names[0]}` is a runtime parameter"
    return f"`{poly}` is a runtime value"
