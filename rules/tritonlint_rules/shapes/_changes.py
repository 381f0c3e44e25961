"""Extents made powers of two, where they are computed, passed or listed."""

from __future__ import annotations

import ast

from tritonlint import edits
from tritonlint.finding import Applicability, Edit, Fix
from tritonlint.model import Place
from tritonlint.model.exposure import is_block_size
from tritonlint.model.extents import Custom, KnownExtent, OpenExtent
from tritonlint.model.powers import Origin


def rounded(item: OpenExtent) -> Fix | None:
    """`triton.next_power_of_2(...)` around the size: where a block is computed, or where a width is passed."""
    is_width = item.origin is Origin.RAW
    place = item.passed if is_width else item.place
    value = place.node
    if isinstance(value, ast.Assign) and len(value.targets) == 1 and isinstance(value.targets[0], ast.Name):
        value = value.value
    module = item.launch.module
    spelled = module.spelled("triton.next_power_of_2")
    if spelled is None or place.source is not module.source or not isinstance(value, ast.expr):
        return None
    if value is item.launch.node:
        return None  # passed by `*args` or by a default: nothing to put the call around
    edit = edits.wrapped(place.source, value, f"{spelled}(")
    # Where the tile is masked against the size it was made from, a greater tile is what was meant.
    safe = item.custom is Custom.PADDED
    kind = Applicability.SAFE if safe else Applicability.UNSAFE
    return Fix(f"round up with `{spelled}`", kind, (edit,))


def next_power(items: list[KnownExtent]) -> Fix | None:
    """The next power of two in place of a literal block size, at every launch and configuration that has it."""
    changes: list[Edit] = []
    for item in items:
        source = item.source
        if source is None or not is_block_size(item.tile.extent) or not _is_literal(source, item.value):
            return None
        changes.append(edits.replaced(source.source, source.node, str(1 << (item.value - 1).bit_length())))
    return Fix("take the next power of two", Applicability.UNSAFE, tuple(dict.fromkeys(changes)))


def _is_literal(place: Place, value: int) -> bool:
    return isinstance(place.node, ast.Constant) and place.node.value == value
