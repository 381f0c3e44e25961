"""The element types of what a function returns, off its text: for those that are not run at each call."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tritonlint.model.dtypes import UNKNOWN_DTYPE, DType
from tritonlint.model.evaluator import called_name
from tritonlint.model.values import TypeValue

if TYPE_CHECKING:
    from tritonlint.model.module import FunctionInfo


def returned_types(info: FunctionInfo) -> tuple[DType, ...]:
    """The type of each part of what every `return` gives, unknown where it is not always one.

    A name has a type where all that binds it is an allocation with that, or made of itself. Empty where the
    `return`s differ in length.
    """
    cache: dict[FunctionInfo, tuple[DType, ...]] = info.module.project.remembered("returned types")
    if info not in cache:
        own = _own_nodes(info.node)
        values = [n.value for n in own if isinstance(n, ast.Return) and n.value is not None]
        rows = [value.elts if isinstance(value, ast.Tuple) else [value] for value in values]
        same = len({len(row) for row in rows}) == 1
        cache[info] = tuple(_common(info, own, part) for part in zip(*rows, strict=True)) if same else ()
    return cache[info]


def _own_nodes(node: ast.AST) -> list[ast.AST]:
    """The nodes of a function without those of functions inside it, whose names and `return`s are theirs."""
    nodes = list(ast.iter_child_nodes(node))
    for inner in nodes:  # grows on the way
        if not isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            nodes += ast.iter_child_nodes(inner)
    return nodes


def _common(info: FunctionInfo, own: list[ast.AST], parts: tuple[ast.expr, ...]) -> DType:
    types = {_type_of(info, own, part) for part in parts}
    return types.pop() if len(types) == 1 else UNKNOWN_DTYPE


def _type_of(info: FunctionInfo, own: list[ast.AST], part: ast.expr) -> DType:
    if not isinstance(part, ast.Name):
        return _allocated(info, part)
    assigned = [node for node in own if isinstance(node, ast.Assign) and _is_target(node, part.id)]
    bound = sum(isinstance(n, ast.Name) and n.id == part.id and not isinstance(n.ctx, ast.Load) for n in own)
    if bound != len(assigned) or info.parameter(part.id) is not None:
        return UNKNOWN_DTYPE  # what a loop, a `with`, an unpacking or the caller gives it
    types = {_allocated(info, node.value) for node in assigned if not _is_made_of(node.value, part.id)}
    return types.pop() if len(types) == 1 else UNKNOWN_DTYPE


def _is_target(node: ast.Assign, name: str) -> bool:
    return any(isinstance(target, ast.Name) and target.id == name for target in node.targets)


def _allocated(info: FunctionInfo, value: ast.expr) -> DType:
    """The type in `torch.empty(..., dtype=torch.float32)`, on one way also where another gives None."""
    if isinstance(value, ast.IfExp):
        ways = [way for way in (value.body, value.orelse) if not _is_none(way)]
        return _allocated(info, ways[0]) if len(ways) == 1 else UNKNOWN_DTYPE
    if not (isinstance(value, ast.Call) and called_name(value) in _ALLOCATES):
        return UNKNOWN_DTYPE
    given = [keyword.value for keyword in value.keywords if keyword.arg == "dtype"]
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
        and not any(isinstance(argument, ast.Attribute) for argument in value.args)
        and all(keyword.arg in ("dim", "keepdim") for keyword in value.keywords)
    )


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


_OF_ONE_TYPE = frozenset("sum view reshape contiguous transpose permute squeeze unsqueeze".split())
_ALLOCATES = frozenset(
    "empty zeros ones full empty_like zeros_like ones_like full_like "
    "new_empty new_zeros new_ones new_full".split()
)
