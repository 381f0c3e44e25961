"""Sums made wide: the edits that the rules about half precision share."""

from __future__ import annotations

import ast

from tritonlint import edits
from tritonlint.finding import Applicability, Edit, Fix
from tritonlint.model import Module
from tritonlint.model.evaluator import called_name
from tritonlint.model.precision import HalfSum, feeds_a_product

_DTYPE_AT = {"zeros": 1, "full": 2}
"""Where the functions that make a tile take its element type."""


def widened(item: HalfSum) -> Fix | None:
    """What makes one sum add up in float32, where an edit or two can do it."""
    module = item.where.function.module
    float32 = module.spelled("triton.language.float32")
    if float32 is None:
        return None
    if item.kind == "reduction":
        call = item.where.node
        operand = _operand(call) if isinstance(call, ast.Call) else None
        parts = _first_operands(operand) or ([operand] if operand is not None else [])
        changes = [_cast(module, part, float32) for part in parts]
        title = f"add up in `{float32}`"
    elif item.kind == "addend":
        added = item.where.node.value if isinstance(item.where.node, ast.AugAssign) else None
        changes = [_cast(module, part, float32) for part in _first_operands(added)]
        title = f"compute what is added in `{float32}`"
    elif item.kind in ("accumulator", "dot"):
        changes = _of_accumulator(module, item, float32)
        title = f"accumulate in `{float32}`"
    else:
        return None
    return Fix(title, Applicability.SAFE, tuple(changes)) if changes else None


def _of_accumulator(module: Module, item: HalfSum, float32: str) -> list[Edit]:
    """The type in which an accumulator starts, and that of the products that are added to it."""
    changes: list[Edit] = []
    if item.kind == "dot" and feeds_a_product(item):
        return []  # its other operand stays narrow, and both must be of one type
    for statement in (item.where.node, item.at.node):
        for call in ast.walk(statement):
            if isinstance(call, ast.Call):
                written = _type_of_tile(call) or edits.argument_of(call, "out_dtype")
                if written is not None:
                    changes.append(edits.replaced(module.source, written, float32))
    return list(dict.fromkeys(changes))


def _type_of_tile(call: ast.Call) -> ast.expr | None:
    name = called_name(call)
    return edits.argument_of(call, "dtype", _DTYPE_AT[name]) if name in _DTYPE_AT else None


def _operand(call: ast.Call) -> ast.expr | None:
    """What a reduction adds up: its first argument, or the tile that its method belongs to."""
    is_method = isinstance(call.func, ast.Attribute) and not _is_library(call.func.value)
    if is_method and isinstance(call.func, ast.Attribute):
        return call.func.value
    return call.args[0] if call.args else None


def _is_library(node: ast.expr) -> bool:
    return (isinstance(node, ast.Name) and node.id in ("tl", "language")) or isinstance(node, ast.Attribute)


def _first_operands(added: ast.expr | None) -> list[ast.expr]:
    """The first factor of a product; the first addend of a sum, which the others are then added to."""
    while isinstance(added, ast.BinOp) and isinstance(added.op, ast.Add | ast.Sub | ast.Mult):
        if isinstance(added.left, ast.Constant):  # a number has no type of its own to widen
            return [added.right]
        if not isinstance(added.left, ast.BinOp):
            return [added.left]
        added = added.left
    return []


def _cast(module: Module, value: ast.expr, float32: str) -> Edit:
    """`value.to(tl.float32)`, in parentheses where a method call would bind to a part of it."""
    if isinstance(value, ast.Name | ast.Attribute | ast.Subscript | ast.Call):
        return edits.inserted_after(module.source, value, f".to({float32})")
    return edits.wrapped(module.source, value, "(", f").to({float32})")
