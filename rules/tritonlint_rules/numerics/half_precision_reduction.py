"""TL502."""

from __future__ import annotations

from collections.abc import Iterator

from tritonlint.finding import Finding, Severity
from tritonlint.model import Kernel
from tritonlint.model.precision import HalfSum, half_reductions
from tritonlint.rule import Rule
from tritonlint_rules.numerics._changes import widened
from tritonlint_rules.numerics._wording import confidence_of, launch_note, place_of, type_of


class HalfPrecisionReduction(Rule):
    """Values are rounded to float16 or bfloat16 before they are added up.

    ## What it does
    Reports `tl.sum` and `tl.cumsum` over half operands without `dtype=tl.float32`, and float32 sums
    that are fed with products, sums or dots computed in, or cast to, half. Loads added one by one to a
    float32 sum, operands of `tl.dot` and arguments of `tl.max` are fine. Tensors that a launch passes
    are presumed to be half where neither the host nor the kernel tells otherwise.

    ## Why is this bad?
    `tl.sum` keeps the type of its operand: a float32 accumulator around it cannot bring the lost bits
    back.

    ## Example
    ```python
    import triton
    import triton.language as tl

    @triton.jit
    def row_sum_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
        columns = tl.arange(0, BLOCK)
        x = tl.load(x_ptr + tl.program_id(0) * n + columns, mask=columns < n, other=0.0)
        total = tl.sum(x.to(tl.float16), axis=0)  # expect: half-precision-reduction
        tl.store(out_ptr + tl.program_id(0), total)
    ```

    ## Use instead
    ```python
    import triton
    import triton.language as tl

    @triton.jit
    def row_sum_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
        columns = tl.arange(0, BLOCK)
        x = tl.load(x_ptr + tl.program_id(0) * n + columns, mask=columns < n, other=0.0)
        total = tl.sum(x.to(tl.float32), axis=0)
        tl.store(out_ptr + tl.program_id(0), total)
    ```

    ## Fix safety
    Widening the operand is safe: the result is more exact, and the store casts to what the pointer holds.
    Where a value was rounded on purpose a few lines above, the cast comes too late and is not offered.

    ## References
    - linkedin/Liger-Kernel#950, meta-pytorch/torchrec#3730, triton-lang/triton#1960
    """

    code = "TL502"
    severity = Severity.WARNING

    def check(self, kernel: Kernel) -> Iterator[Finding]:
        best: dict[int, HalfSum] = {}
        for item in half_reductions(kernel):
            known = best.get(id(item.where.node))
            if known is None or confidence_of(item).rank > confidence_of(known).rank:
                best[id(item.where.node)] = item
        for item in best.values():
            yield self.finding(
                place_of(item.where),
                _message(item),
                confidence=confidence_of(item),
                related=launch_note(item),
                fix=widened(item),
            )


def _message(item: HalfSum) -> str:
    if item.kind == "addend":
        return f"what is added to `{item.name}` was rounded to {type_of(item)} first"
    return f"`{item.name}` adds up in {type_of(item)}, the type of its operand"
