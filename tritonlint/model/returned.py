"""The element types of what a function returns, off its text: for those that are not run at each call."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tritonlint.model.dtypes import UNKNOWN_DTYPE, DType
from tritonlint.model.values import TypeValue

if TYPE_CHECKING:
    from tritonlint.model.module import FunctionInfo


def returned_types(info: FunctionInfo) -> tuple[DType, ...]:
    """The type of each part of what every `return` gives, unknown where it is not always one.

    A name has a type where all that is assigned to it is allocated with that, or made of itself. Empty where
    the `return`s differ in length.
    """
    cache: dict[FunctionInfo, tuple[DType, ...]] = info.module.project.remembered("returned types")
    if info not in cache:
        values = [n.value for n in info.body_nodes if isinstance(n, ast.Return) and n.value is not None]
        rows = [value.elts if isinstance(value, ast.Tuple) else [value] for value in values]
        same = len({len(row) for row in rows}) == 1
        cache[info] = tuple(_common(info, part) for part in zip(*rows, strict=True)) if same else ()
    return cache[info]


def _common(info: FunctionInfo, parts: tuple[ast.expr, ...]) -> DType:
    types = {_type_of(info, part) for part in parts}
    return types.pop() if len(types) == 1 else UNKNOWN_DTYPE


def _type_of(info: FunctionInfo, part: ast.expr) -> DType:
    if not isinstance(part, ast.Name):
        return _allocated(info, part)
    assigned = [
        node.value
        for node in info.body_nodes
        if isinstance(node, ast.Assign)
        and any(
            isinstance(n, ast.Name) and n.id == part.id for target in node.targets for n in ast.walk(target)
        )
    ]
    types = {_allocated(info, value) for value in assigned if not _is_made_of(value, part.id)}
    return types.pop() if len(types) == 1 else UNKNOWN_DTYPE


def _allocated(info: FunctionInfo, value: ast.expr) -> DType:
    """The type in `torch.empty(..., dtype=torch.float32)`, on one way also where another gives None."""
    if isinstance(value, ast.IfExp):
        ways = [way for way in (value.body, value.orelse) if not _is_none(way)]
        return _allocated(info, ways[0]) if len(ways) == 1 else UNKNOWN_DTYPE
    given = [k.value for k in value.keywords if k.arg == "dtype"] if isinstance(value, ast.Call) else []
    known = info.module.constant(given[0]) if given and isinstance(given[0], ast.Attribute) else None
    return known.dtype if isinstance(known, TypeValue) and known.dtype.is_known else UNKNOWN_DTYPE


def _is_made_of(value: ast.expr, name: str) -> bool:
    """Whether a value is the name's own, summed or seen in another shape: `x = x.sum(0)`."""
    return (
        isinstance(value, ast.Call)
        and isinstance(value.func, ast.Attribute)
        and value.func.attr in _OF_ONE_TYPE
        and isinstance(value.func.value, ast.Name)
        and value.func.value.id == name
    )


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


_OF_ONE_TYPE = frozenset("sum view reshape contiguous transpose permute squeeze unsqueeze".split())
