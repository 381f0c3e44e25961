"""What follows from known conditions: divisibility, and values that asserts settle."""

from __future__ import annotations

from collections.abc import Iterable

from tritonlint.model.logic import Formula
from tritonlint.model.proof import Proof
from tritonlint.model.symbolic import ONE, Poly


def divides(divisor: Poly, value: Poly, facts: Iterable[Formula]) -> Proof:
    """Whether `value` is a multiple of `divisor`."""
    known = tuple(facts)
    value, divisor = settled(value, known), settled(divisor, known)
    number, by = value.integer, divisor.integer
    if divisor == ONE or (number is not None and by and number % by == 0):
        return Proof.YES
    if number is not None and by:
        return Proof.NO
    if value.exact_quotient(divisor) is not None:
        return Proof.YES
    for fact in known:
        for part in fact.conjuncts():
            if part.kind == "eq" and _says_multiple(part.poly, value, divisor):
                return Proof.YES
    return Proof.UNKNOWN


def _says_multiple(remainder: Poly, value: Poly, divisor: Poly) -> bool:
    """Whether `remainder == 0` means that `value` is a multiple of `divisor`."""
    atom = remainder.atom if remainder.atom is not None else (-remainder).atom
    if atom is None or atom.kind != "mod":
        return False
    stated, by = atom.args
    if by.exact_quotient(divisor) is None and not _numbers_divide(by, divisor):
        return False
    difference = value - stated
    if not difference.terms or difference.exact_quotient(divisor) is not None:
        return True
    return value.exact_quotient(stated) is not None


def _numbers_divide(multiple: Poly, divisor: Poly) -> bool:
    a, b = multiple.integer, divisor.integer
    return a is not None and b is not None and b != 0 and a % b == 0


def settled(value: Poly, facts: Iterable[Formula]) -> Poly:
    """The value where equations among the facts fix it: `assert dim == 72`."""
    if value.constant is not None:
        return value
    fixed = {}
    for fact in facts:
        for part in fact.conjuncts():
            if part.kind == "eq":
                for atom in part.poly.surface:
                    factor = part.poly.terms.get((atom,))
                    if factor in (1, -1) and atom.kind != "mod":
                        other = Poly.of(atom) - part.poly if factor == 1 else Poly.of(atom) + part.poly
                        if other.constant is not None:
                            fixed[atom] = other
    return value.substitute(fixed.get) if fixed else value


def possible_values(value: Poly, facts: Iterable[Formula]) -> tuple[int, ...] | None:
    """The whole list of values where the facts give one: `assert dim in (64, 128)`."""
    known = tuple(facts)
    number = settled(value, known).integer
    if number is not None:
        return (number,)
    for fact in known:
        for part in fact.conjuncts():
            if part.kind == "or":
                numbers = [_fixes(item, value) for item in part.parts]
                if all(number is not None for number in numbers):
                    return tuple(number for number in numbers if number is not None)
    return None


def _fixes(part: Formula, value: Poly) -> int | None:
    if part.kind != "eq":
        return None
    for difference in (value - part.poly, value + part.poly):
        number = difference.integer
        if number is not None:
            return number
    return None
