"""Operators on numbers: normal forms, element types and tile shapes of the results."""

from __future__ import annotations

import ast
from dataclasses import replace

from tritonlint.model import symbolic
from tritonlint.model.dtypes import BOOL, DType, promote
from tritonlint.model.logic import FALSE, TRUE, Formula, at_most, both, compare, either, equal, less, opaque
from tritonlint.model.symbolic import ONE, Atom, Poly
from tritonlint.model.values import Number, Shape, truth


def broadcast(left: Shape | None, right: Shape | None) -> Shape | None:
    """The shape of an element-wise result; missing leading dimensions count as 1."""
    if left is None or right is None:
        return None
    if left == right or not right:
        return left
    if not left:
        return right
    size = max(len(left), len(right))
    one = (ONE,) * (size - len(left)) + left
    two = (ONE,) * (size - len(right)) + right
    return tuple(b if a == ONE else a for a, b in zip(one, two, strict=True))


def binary(operator: ast.operator, left: Number, right: Number, data: Atom) -> Number:
    """`left operator right`. `data` stands for the value where it is not an index expression."""
    kind = type(operator)
    shape = broadcast(left.shape, right.shape)
    static = left.static and right.static
    deps = left.deps | right.deps
    loads = left.loads | right.loads
    if kind in (ast.BitAnd, ast.BitOr, ast.BitXor) and _are_conditions(left, right):
        formula = _combined(kind, as_condition(left), as_condition(right))
        return replace(truth(formula, shape, static=static, deps=deps), loads=loads)
    if kind is ast.Mult and left.formula is not None and right.formula is not None:  # of truths: both
        formula = both(left.formula, right.formula)
        return replace(truth(formula, shape, static=static, deps=deps), loads=loads)
    dtype = promote(left.dtype, right.dtype, division=kind in (ast.Div, ast.Mod))
    if kind in (ast.FloorDiv, ast.Mod) and not (left.dtype.is_float or right.dtype.is_float):
        dtype = promote(left.dtype, right.dtype)
    poly = _poly(kind, left, right, dtype, static=static)
    if poly is None:
        deps = deps | left.poly.closure | right.poly.closure
        poly = Poly.of(data)
    return Number(poly, dtype, shape, None, static, deps, loads)


def _poly(
    kind: type[ast.operator], left: Number, right: Number, dtype: DType, *, static: bool
) -> Poly | None:
    """The normal form of the result, None for data that is no index."""
    if dtype.is_float and not static:
        return None
    a, b = left.poly, right.poly
    if kind is ast.Add:
        return a + b
    if kind is ast.Sub:
        return a - b
    if kind is ast.Mult:
        return a * b
    if kind is ast.FloorDiv:
        return symbolic.floor_divide(a, b)
    if kind is ast.Mod:
        return symbolic.remainder_of(a, b)
    number, other = a.constant, b.constant
    if number is not None and other is not None:
        return _folded(kind, number, other)
    if kind is ast.LShift and isinstance(other, int) and 0 <= other < 63:
        return a.scaled(1 << other)
    if kind is ast.RShift and isinstance(other, int) and 0 <= other < 63:
        return symbolic.floor_divide(a, Poly.const(1 << other))
    if kind is ast.BitAnd and isinstance(other, int) and other > 0 and other & (other + 1) == 0:
        return symbolic.remainder_of(a, Poly.const(other + 1))
    if kind is ast.BitAnd and isinstance(other, int) and other < 0 and -other & (-other - 1) == 0:
        return symbolic.floor_divide(a, Poly.const(-other)) * Poly.const(-other)
    return Poly.of(Atom(kind.__name__.lower(), a, b))


def _folded(kind: type[ast.operator], left: symbolic.Number, right: symbolic.Number) -> Poly | None:
    try:
        if kind is ast.Div:
            return Poly.const(left / right)
        if kind is ast.Pow and abs(right) < 64 and abs(left) < 2**32:
            result = left**right
            return Poly.const(result) if isinstance(result, int | float) else None
        if isinstance(left, int) and isinstance(right, int):
            if kind is ast.LShift and 0 <= right < 64:
                return Poly.const(left << right)
            if kind is ast.RShift and 0 <= right < 64:
                return Poly.const(left >> right)
            if kind is ast.BitAnd:
                return Poly.const(left & right)
            if kind is ast.BitOr:
                return Poly.const(left | right)
            if kind is ast.BitXor:
                return Poly.const(left ^ right)
    except (ZeroDivisionError, OverflowError):
        return None
    return None


def _are_conditions(left: Number, right: Number) -> bool:
    """Whether `&` and its like join conditions: one side is, the other may be (a loaded mask)."""
    if left.formula is None and right.formula is None:
        return left.dtype == BOOL and right.dtype == BOOL
    other = right if left.formula is not None else left
    return other.formula is not None or other.poly.constant is None


def _combined(kind: type[ast.operator], left: Formula, right: Formula) -> Formula:
    if kind is ast.BitAnd:
        return both(left, right)
    if kind is ast.BitOr:
        return either(left, right)
    atoms = left.closure | right.closure
    return opaque(Poly.of(Atom("xor", frozenset(atoms))))


def comparison(operator: ast.cmpop, left: Number, right: Number) -> Number:
    """`left operator right` as a condition."""
    shape = broadcast(left.shape, right.shape)
    deps = left.deps | right.deps
    static = left.static and right.static
    formula = _relation(operator, left, right)
    return replace(truth(formula, shape, static=static, deps=deps), loads=left.loads | right.loads)


def _relation(operator: ast.cmpop, left: Number, right: Number) -> Formula:
    a, b = left.poly, right.poly
    if (left.dtype.is_float or right.dtype.is_float) and not (left.static and right.static):
        return opaque(a - b)
    if left.formula is not None and right.formula is not None:
        return _same_truth(operator, left.formula, right.formula)
    match operator:
        case ast.Lt():
            return less(a, b)
        case ast.LtE():
            return at_most(a, b)
        case ast.Gt():
            return less(b, a)
        case ast.GtE():
            return at_most(b, a)
        case ast.Eq():
            return equal(a, b)
        case ast.NotEq():
            return equal(a, b).negated()
    return opaque(a - b)


def _same_truth(operator: ast.cmpop, left: Formula, right: Formula) -> Formula:
    """`cond == True` and its like."""
    for one, other in ((left, right), (right, left)):
        if other.known is not None and isinstance(operator, ast.Eq | ast.NotEq | ast.Is | ast.IsNot):
            wanted = other.known == isinstance(operator, ast.Eq | ast.Is)
            return one if wanted else one.negated()
    return opaque(Poly.of(Atom("sametruth", left, right)))


def as_condition(value: Number) -> Formula:
    """The truth of a value: itself for conditions, `!= 0` for numbers."""
    if value.formula is not None:
        return value.formula
    if value.poly.constant is not None:
        return TRUE if value.poly.constant else FALSE
    if value.dtype.is_float:
        return opaque(value.poly)
    return compare("ne", value.poly)


def as_boolean(value: Number) -> Number:
    """The value as a condition."""
    return value if value.formula is not None else replace(value, formula=as_condition(value), dtype=BOOL)
