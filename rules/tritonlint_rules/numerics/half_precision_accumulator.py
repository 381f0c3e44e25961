"""TL501."""

from __future__ import annotations

from collections.abc import Iterator

from tritonlint.finding import Finding, Severity
from tritonlint.model import Kernel
from tritonlint.model.precision import HalfSum, half_accumulators
from tritonlint.rule import Rule
from tritonlint_rules.numerics._changes import widened
from tritonlint_rules.numerics._wording import confidence_of, launch_note, place_of, type_of


class HalfPrecisionAccumulator(Rule):
    """A loop adds up in float16 or bfloat16.

    ## What it does
    Follows element types through loads, casts and promotions, and reports names that a loop adds to,
    accumulators of `tl.dot`, `tl.dot(..., out_dtype=tl.float16)` and atomic additions whose type is
    half, in the kernel or as a launch shows. What counts is the type an accumulator starts with, also
    where something wider is added to it or a helper does the adding.

    ## Why is this bad?
    Every addition rounds to 11 (float16) or 8 (bfloat16) bits, so the relative error grows with the
    length of the sum: 2.0e-3 at K = 4096 where float32 has 2.1e-4. float16 overflows at 65504.

    ## Example
    ```python
    import triton
    import triton.language as tl

    @triton.jit
    def sum_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
        total = tl.zeros([BLOCK], dtype=tl.float16)  # expect: half-precision-accumulator
        for start in range(0, n, BLOCK):
            offsets = start + tl.arange(0, BLOCK)
            total += tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)
        tl.store(out_ptr, tl.sum(total.to(tl.float32), axis=0))
    ```

    ## Use instead
    ```python
    import triton
    import triton.language as tl

    @triton.jit
    def sum_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
        total = tl.zeros([BLOCK], dtype=tl.float32)
        for start in range(0, n, BLOCK):
            offsets = start + tl.arange(0, BLOCK)
            total += tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)
        tl.store(out_ptr, tl.sum(total, axis=0))
    ```

    ## Fix safety
    Starting in float32 is safe: the store casts to what the pointer holds. An accumulator that starts as
    something loaded, or in a helper, is left to you.

    ## References
    - intel/intel-xpu-backend-for-triton#1211, ROCm/aotriton#179
    - from Triton 3.8 `tl.dot` takes its result type from `acc`, so a float16 `acc` compiles silently
    """

    code = "TL501"
    severity = Severity.WARNING

    def check(self, kernel: Kernel) -> Iterator[Finding]:
        best: dict[int, HalfSum] = {}
        for item in half_accumulators(kernel):
            known = best.get(id(item.where.node))
            if known is None or confidence_of(item).rank > confidence_of(known).rank:
                best[id(item.where.node)] = item
        for item in best.values():
            related = [] if item.at is item.where else [place_of(item.at).note("added up here")]
            yield self.finding(
                place_of(item.where),
                _message(item),
                confidence=confidence_of(item),
                related=[*related, *launch_note(item)],
                fix=widened(item),
            )


def _message(item: HalfSum) -> str:
    if item.kind == "dot":
        return f"`tl.dot` accumulates in {type_of(item)}"
    if item.kind == "atomic":
        return f"`tl.atomic_add` sums into `{item.name}` in half precision"
    return f"`{item.name}` is summed in a loop in {type_of(item)}"
