"""TL103."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator

from tritonlint import edits
from tritonlint.finding import Applicability, Confidence, Finding, Fix, Severity
from tritonlint.model import Kernel, Place, Proof
from tritonlint.model.blocks import UncheckedAxis, unchecked_axes
from tritonlint.rule import Rule
from tritonlint_rules.memory._wording import place_of


class UncheckedBlockPointer(Rule):
    """A load or store through a block pointer that does not check a ragged axis.

    ## What it does
    Compares the `boundary_check` of every access with the shape and block shape of its block pointer,
    and reports an axis that is neither checked nor known to be a multiple of the block.

    ## Why is this bad?
    `boundary_check=()` is the default and means no check at all: the last block of an axis reads and
    writes past it. A block pointer's shape protects only the axes that the access names.

    ## Example
    ```python
    import triton
    import triton.language as tl

    @triton.jit
    def copy_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
        x = tl.make_block_ptr(x_ptr, (n,), (1,), (tl.program_id(0) * BLOCK,), (BLOCK,), (0,))
        y = tl.make_block_ptr(y_ptr, (n,), (1,), (tl.program_id(0) * BLOCK,), (BLOCK,), (0,))
        tile = tl.load(x)  # expect: unchecked-block-pointer
        tl.store(y, tile, boundary_check=(0,))
    ```

    ## Use instead
    ```python
    import triton
    import triton.language as tl

    @triton.jit
    def copy_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
        x = tl.make_block_ptr(x_ptr, (n,), (1,), (tl.program_id(0) * BLOCK,), (BLOCK,), (0,))
        y = tl.make_block_ptr(y_ptr, (n,), (1,), (tl.program_id(0) * BLOCK,), (BLOCK,), (0,))
        tile = tl.load(x, boundary_check=(0,), padding_option="zero")
        tl.store(y, tile, boundary_check=(0,))
    ```

    ## Fix safety
    Checking the axis is safe: lanes inside are what they were, a load reads zeros outside, a store leaves out
    what is there. Where the axes to check are computed, the call is left to you.

    ## References
    - microsoft/triton-shared#203
    - `tl.make_block_ptr` is deprecated from Triton 3.7 and gone in 3.9; tensor descriptors always check
    """

    code = "TL103"
    severity = Severity.ERROR

    def check(self, kernel: Kernel) -> Iterator[Finding]:
        by_access: dict[int, list[UncheckedAxis]] = defaultdict(list)
        for item in unchecked_axes(kernel):
            by_access[id(item.access.where.node)].append(item)
        for items in by_access.values():
            best = max(items, key=lambda item: _confidence(item).rank)
            axes = ", ".join(
                str(axis)
                for axis in sorted({item.axis for item in items if _confidence(item) is _confidence(best)})
            )
            where = best.access.where
            message = (
                f"`tl.{best.access.kind}` does not check axis {axes} of its block pointer: "
                f"`{best.size_as_written}` need not be a multiple of `{best.extent}`"
            )
            related = [
                Place(where.function.module.source, best.access.pointer.node, where.function.name).note(
                    "the block pointer"
                )
            ]
            if best.sibling is not None:
                related.append(place_of(best.sibling.where).note("checked here"))
            if best.launch is not None:
                related.append(Place(best.launch.module.source, best.launch.node).note("launched here"))
            yield self.finding(
                place_of(where), message, confidence=_confidence(best), related=related, fix=_fix(items)
            )


def _fix(items: list[UncheckedAxis]) -> Fix | None:
    access = items[0].access
    call, module = access.where.node, access.where.function.module
    if not isinstance(call, ast.Call) or access.checked is None:
        return None
    axes = sorted({*access.checked, *(item.axis for item in items)})
    checked = f"({', '.join(map(str, axes))}{',' if len(axes) == 1 else ''})"
    written = {keyword.arg: keyword.value for keyword in call.keywords}
    if None in written or len(call.args) > (1 if access.kind == "load" else 2):
        return None
    if "boundary_check" in written:
        changes = [edits.replaced(module.source, written["boundary_check"], checked)]
    else:
        padding = (
            ', padding_option="zero"' if access.kind == "load" and "padding_option" not in written else ""
        )
        changes = [edits.with_argument(module.source, call, f"boundary_check={checked}{padding}")]
    title = f"check axis {', '.join(map(str, axes))}"
    return Fix(title, Applicability.SAFE, tuple(changes))


def _confidence(item: UncheckedAxis) -> Confidence:
    if item.is_tested_somehow or item.is_of_a_flat_tensor or item.is_not_asked_for:
        return Confidence.LOW
    if item.sibling is not None or (item.ragged is Proof.YES and item.launch is not None):
        return Confidence.HIGH
    return Confidence.MEDIUM if item.moves and item.kin else Confidence.LOW
