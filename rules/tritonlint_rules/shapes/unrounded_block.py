"""TL202."""

from __future__ import annotations

from collections.abc import Iterator

from tritonlint.finding import Confidence, Finding, Severity
from tritonlint.model import Module, Place
from tritonlint.model.extents import Custom, OpenExtent, open_extents
from tritonlint.model.powers import Origin
from tritonlint.model.symbolic import is_worded
from tritonlint.rule import Rule
from tritonlint_rules.shapes._changes import rounded


class UnroundedBlock(Rule):
    """A size of unknown value becomes a tile extent without being rounded to a power of two.

    ## What it does
    Follows the argument of a block parameter back through the host code. `triton.next_power_of_2`,
    shifts of 1, powers of 2, choices among literal powers and asserted values are fine; a width, a
    rank, a sum, a `min` with one of them, or a rounding to a multiple is not. Files for Ascend, Cambricon
    and Kunlunxin, whose compilers take any extent, are left alone.

    A size passed as it is gets medium confidence where the kernel masks the tile against that very size,
    a mask that only a greater tile needs, or where one tile covers a row and the size is called neither
    a head size nor a block: widths, vocabularies, ranks, lengths, counts. It gets low confidence, which
    is hidden, if it is such a size, a power of two by custom, or if the package tests a size of the same
    name (`n & (n - 1) == 0`) in a place that cannot be followed to the launch.

    ## Why is this bad?
    It compiles for the sizes that happen to be powers of two and fails for the first other one:
    rank 24, head size 96, hidden size 7168.

    ## Example
    ```python
    import triton
    import triton.language as tl

    @triton.jit
    def sum_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
        columns = tl.arange(0, BLOCK)
        x = tl.load(x_ptr + tl.program_id(0) * n + columns, mask=columns < n, other=0.0)
        tl.store(out_ptr + tl.program_id(0), tl.sum(x.to(tl.float32), axis=0))

    def row_sums(x, out):
        rows, n = x.shape
        block = (n + 127) // 128 * 128  # expect: unrounded-block
        sum_kernel[(rows,)](x, out, n, BLOCK=block)
    ```

    ## Use instead
    ```python
    import triton
    import triton.language as tl

    @triton.jit
    def sum_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
        columns = tl.arange(0, BLOCK)
        x = tl.load(x_ptr + tl.program_id(0) * n + columns, mask=columns < n, other=0.0)
        tl.store(out_ptr + tl.program_id(0), tl.sum(x.to(tl.float32), axis=0))

    def row_sums(x, out):
        rows, n = x.shape
        sum_kernel[(rows,)](x, out, n, BLOCK=triton.next_power_of_2(n))
    ```

    ## Fix safety
    Rounding up is safe where the kernel masks the tile against the very size it was made from. Elsewhere the
    wider tile may need a mask first, and the fix is unsafe.

    ## References
    - vllm-project/vllm#32019, state-spaces/mamba#340, Alberto-Codes/turboquant-vllm#52
    """

    code = "TL202"
    severity = Severity.ERROR

    def check_module(self, module: Module) -> Iterator[Finding]:
        if module.takes_any_extent:
            return
        groups: dict[int, list[OpenExtent]] = {}
        for item in open_extents(module):
            groups.setdefault(id(item.place.node), []).append(item)
        for items in groups.values():
            item = max(items, key=lambda found: _confidence(found).rank)
            related = [_tile_place(item).note(f"`{item.parameter}` is {item.tile.what} here")]
            if item.passed.line != item.place.line:
                related.append(item.passed.note(f"it is passed as `{item.parameter}` here"))
            yield self.finding(
                item.place,
                _message(item),
                confidence=_confidence(item),
                related=related,
                fix=rounded(item) if len({id(one.launch.node) for one in items}) == 1 else None,
            )


def _tile_place(item: OpenExtent) -> Place:
    where = item.tile.where
    return Place(where.function.module.source, where.node, where.function.name)


def _confidence(item: OpenExtent) -> Confidence:
    return Confidence.MEDIUM if item.custom in (Custom.ANY, Custom.PADDED) else Confidence.LOW


def _message(item: OpenExtent) -> str:
    how = "is passed as it is" if item.origin is Origin.RAW else "is not rounded to a power of two"
    size = str(item.size)
    if item.place.node is item.launch.node:
        return f"`{item.parameter}` is a tile extent and must be a power of two, but {how}"
    if not is_worded(item.size):
        size = item.place.text.splitlines()[0]  # no formula: the host's own words
    return f"`{size}` {how}, but `{item.parameter}` is a tile extent and must be a power of two"
