"""TL201."""

from __future__ import annotations

from collections.abc import Iterator

from tritonlint.finding import Confidence, Finding, Related, Severity
from tritonlint.model import Kernel, Place
from tritonlint.model.extents import KnownExtent, known_extents
from tritonlint.rule import Rule
from tritonlint_rules.shapes._changes import next_power


class NonPowerOf2Block(Rule):
    """A tile extent whose value is known and is no power of two.

    ## What it does
    Evaluates every `tl.arange` range and tile shape with the literals, module constants, launch
    arguments and autotuner configurations that reach it. Files for Ascend, Cambricon and
    Kunlunxin, whose compilers take any extent, are left alone.

    ## Why is this bad?
    Triton refuses to compile it: `arange's range must be a power of 2`, `Shape element 0 must be a
    power of 2`. The error comes at the first launch with that value, which may be in production.

    ## Example
    ```python
    import triton
    import triton.language as tl

    @triton.jit
    def fill_kernel(out_ptr, n, BLOCK: tl.constexpr):
        offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)  # expect: non-power-of-2-block
        tl.store(out_ptr + offsets, 1.0, mask=offsets < n)

    def fill(out):
        n = out.numel()
        fill_kernel[(triton.cdiv(n, 96),)](out, n, BLOCK=96)
    ```

    ## Use instead
    ```python
    import triton
    import triton.language as tl

    @triton.jit
    def fill_kernel(out_ptr, n, BLOCK: tl.constexpr):
        offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(out_ptr + offsets, 1.0, mask=offsets < n)

    def fill(out):
        n = out.numel()
        fill_kernel[(triton.cdiv(n, 128),)](out, n, BLOCK=128)
    ```

    ## Fix safety
    The next power of two in place of a literal block size is unsafe: it fits the hardware, but was not measured.
    An extent that is also a width in memory needs a mask besides, and is left to you.

    ## References
    - pytorch/pytorch#133321, sgl-project/sglang#25672, vllm-project/vllm-ascend#13509
    """

    code = "TL201"
    severity = Severity.ERROR

    def check(self, kernel: Kernel) -> Iterator[Finding]:
        if kernel.module.takes_any_extent:
            return
        groups: dict[object, list[KnownExtent]] = {}
        for item in known_extents(kernel):
            groups.setdefault(item.tile.extent, []).append(item)
        for items in groups.values():
            first = min(items, key=lambda item: item.tile.where.node.lineno)  # type: ignore[attr-defined]
            where = first.tile.where
            extent = first.tile.extent
            numbers = " or ".join(str(number) for number in sorted({item.value for item in items}))
            value = f"`{extent}`, which is {numbers}" if extent.integer is None else numbers
            yield self.finding(
                Place(where.function.module.source, where.node, where.function.name),
                f"{first.tile.what} is {value}: not a power of two",
                confidence=Confidence.HIGH,
                related=_related(items, first),
                fix=next_power(items),
            )


def _related(items: list[KnownExtent], first: KnownExtent) -> Iterator[Related]:
    seen = {id(first.tile.where.node)}
    for item in items:
        if item.source is not None and id(item.source.node) not in seen:
            seen.add(id(item.source.node))
            yield item.source.note(item.source_says)
    for item in items:
        where = item.tile.where
        if id(where.node) not in seen:
            seen.add(id(where.node))
            yield Place(where.function.module.source, where.node, where.function.name).note(
                f"and {item.tile.what} here"
            )
