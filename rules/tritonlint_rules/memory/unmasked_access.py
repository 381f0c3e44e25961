"""TL101."""

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


class UnmaskedAccess(Rule):
    """A load, store or atomic on a tile that can pass the end of its tensor, without a mask.

    ## What it does
    Follows the address of every access back to its `tl.arange`s and asks what keeps each of them
    inside the tensor: a mask, an enclosing `if` or early return, a clamp (`% n`, `tl.minimum`), a size
    that is a multiple of the tile (asserted, computed, or allocated in whole tiles). A write at an index that was
    loaded under a mask needs that mask too. Confidence is high where a launch shows the tail and the kernel masks
    the same index elsewhere, medium with one of the two.

    ## Why is this bad?
    Triton checks no bounds. The last tile of a grid that was rounded up reads its neighbour's memory
    or faults, and writes corrupt whatever lies behind the tensor; often only for sizes no test has.

    ## Example
    ```python
    import triton
    import triton.language as tl

    @triton.jit
    def copy_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
        offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + offsets)  # expect: unmasked-access
        tl.store(y_ptr + offsets, x, mask=offsets < n)
    ```

    ## Use instead
    ```python
    import triton
    import triton.language as tl

    @triton.jit
    def copy_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
        offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        inside = offsets < n
        x = tl.load(x_ptr + offsets, mask=inside)
        tl.store(y_ptr + offsets, x, mask=inside)
    ```

    ## Fix safety
    A mask that the kernel has at hand, or one made of an index and a limit that its other accesses stop at, is
    safe: it only takes away lanes that are out of range. Where the launch alone tells the limit, or where the
    lanes that are off take part in more than a sum, a product or an extreme, read it first: unsafe.

    ## References
    - Triton's vector addition tutorial, on masks
    - Dao-AILab/flash-attention#2789, fla-org/flash-linear-attention#1134, triton-lang/triton#9026
    """

    code = "TL101"
    severity = Severity.ERROR

    def check(self, kernel: Kernel) -> Iterator[Finding]:
        for exposure in strongest_by_access(e for e in kernel.exposures if e.is_bare):
            yield self._finding(exposure, kernel)

    def _finding(self, exposure: Exposure, kernel: Kernel) -> Finding:
        assert exposure.axis is not None
        if exposure.kind == "scatter":
            message = (
                f"`tl.{exposure.access.kind}` has no mask, and the index it {verb_of(exposure)} at was loaded "
                f"under one: lanes past {limit_of(exposure)} go where `other` points"
            )
        elif exposure.flag is not None:
            message = f"`tl.{exposure.access.kind}` is unmasked where the launch does not make {limit_of(exposure)} whole tiles of `{exposure.axis.extent}`"
        else:
            message = (
                f"`tl.{exposure.access.kind}` {verb_of(exposure)} `{index_of(exposure)}` without a mask: "
                f"nothing keeps it below {limit_of(exposure)}"
            )
        return self.finding(
            place_of(exposure.access.where),
            message,
            confidence=confidence_of(exposure),
            related=related_of(exposure),
            fix=masked(exposure, kernel.exposures),
        )
