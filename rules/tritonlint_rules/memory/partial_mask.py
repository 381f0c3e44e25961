"""TL102."""

from __future__ import annotations

from collections.abc import Iterator

from tritonlint.finding import Finding, Severity
from tritonlint.model import Kernel
from tritonlint.model.exposure import Exposure
from tritonlint.rule import Rule
from tritonlint_rules.memory._changes import masked
from tritonlint_rules.memory._wording import (
    confidence_of,
    index_of,
    limit_of,
    place_of,
    related_of,
    strongest_by_access,
    verb_of,
)


class PartialMask(Rule):
    """A mask that leaves an axis of the address unbounded, or bounds another index or extent.

    ## What it does
    Takes the mask of an access apart, together with the conditions around it, and looks for a limit
    on every index in the address. It reports an axis with no limit, a limit on the tile-local index
    where the address uses the global one, a limit that belongs to another axis, and a loaded index
    whose sentinel value the kernel tests elsewhere but not here.

    ## Why is this bad?
    A half-masked access looks safe and is not: the tail of the forgotten axis is read or written
    past its row, mostly without a fault.

    ## Example
    ```python
    import triton
    import triton.language as tl

    @triton.jit
    def scale_kernel(x_ptr, y_ptr, M, N, stride, BM: tl.constexpr, BN: tl.constexpr):
        rows = tl.program_id(0) * BM + tl.arange(0, BM)
        columns = tl.program_id(1) * BN + tl.arange(0, BN)
        at = rows[:, None] * stride + columns[None, :]
        x = tl.load(x_ptr + at, mask=columns[None, :] < N)  # expect: partial-mask
        tl.store(y_ptr + at, x, mask=(rows[:, None] < M) & (columns[None, :] < N))
    ```

    ## Use instead
    ```python
    import triton
    import triton.language as tl

    @triton.jit
    def scale_kernel(x_ptr, y_ptr, M, N, stride, BM: tl.constexpr, BN: tl.constexpr):
        rows = tl.program_id(0) * BM + tl.arange(0, BM)
        columns = tl.program_id(1) * BN + tl.arange(0, BN)
        at = rows[:, None] * stride + columns[None, :]
        inside = (rows[:, None] < M) & (columns[None, :] < N)
        x = tl.load(x_ptr + at, mask=inside)
        tl.store(y_ptr + at, x, mask=inside)
    ```

    ## Fix safety
    A mask that the kernel has at hand, or one made of an index and a limit that its other accesses stop at, is
    safe: it only takes away lanes that are out of range. Where the launch alone tells the limit, or where the
    lanes that are off take part in more than a sum, a product or an extreme, read it first: unsafe.

    ## References
    - NVIDIA/Megatron-LM#7103, vllm-project/vllm#52576, open-lm-engine/lm-engine#505
    """

    code = "TL102"
    severity = Severity.ERROR

    def check(self, kernel: Kernel) -> Iterator[Finding]:
        for exposure in strongest_by_access(e for e in kernel.exposures if not e.is_bare):
            yield self.finding(
                place_of(exposure.access.where),
                _message(exposure),
                confidence=confidence_of(exposure),
                related=related_of(exposure),
                fix=masked(exposure, kernel.exposures),
            )


def _message(exposure: Exposure) -> str:
    call = f"the mask of `tl.{exposure.access.kind}`" if exposure.masked else f"`tl.{exposure.access.kind}`"
    if exposure.kind == "sentinel":
        assert exposure.sibling is not None
        limit = exposure.sibling.limit
        what = "negative values" if limit.constant == 0 else f"`{limit}`"
        return f"{call} lets {what} through as an index, which the kernel tests for elsewhere"
    assert exposure.axis is not None
    if exposure.kind == "index":
        return f"{call} bounds an index within the tile, but the address moves by whole tiles: `{index_of(exposure)}`"
    if exposure.kind == "extent":
        assert exposure.guard is not None
        return f"{call} keeps `{index_of(exposure)}` below `{exposure.guard.limit}`, elsewhere it is kept below {limit_of(exposure)}"
    return f"{call} leaves `{index_of(exposure)}` unbounded: it {verb_of(exposure)} past {limit_of(exposure)}"
