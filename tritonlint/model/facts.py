"""What follows from known conditions: divisibility, and values that asserts settle."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tritonlint.model.logic import Formula
from tritonlint.model.proof import Proof
from tritonlint.model.symbolic import ONE, Atom, Poly


def resolved(facts: Iterable[Formula]) -> tuple[Formula, ...]:
    """The facts with disjunctions reduced: `not varlen or n % 64 == 0` where varlen is known to fail."""
    parts = [part for fact in facts for part in fact.conjuncts()]
    held = {part for part in parts if part.kind != "or"}
    denied = {part.negated() for part in held}
    found: list[Formula] = []
    for part in parts:
        if part.kind == "or":
            if held.intersection(part.parts):
                continue
            left = [item for item in part.parts if item not in denied]
            found += list(left[0].conjuncts()) if len(left) == 1 else [part]
        else:
            found.append(part)
    return tuple(found)


def at_least(value: Poly, facts: Iterable[Formula]) -> int:
    """The greatest whole number that the facts show `value` to reach; 0 if none."""
    best = 0
    for fact in facts:
        for part in fact.conjuncts():
            if part.kind == "ge":
                bound = (value - part.poly).integer
                if bound is not None:
                    best = max(best, bound)
    return best


def divides(divisor: Poly, value: Poly, facts: Iterable[Formula]) -> Proof:
    """Whether `value` is a multiple of `divisor`."""
    known = resolved(facts)
    value, divisor = settled(value, known), settled(divisor, known)
    number, by = value.integer, divisor.integer
    if are_equal(value, divisor, known) or was_chosen_to_divide(divisor):
        return Proof.YES
    options = divisor.atom.args[0] if divisor.atom is not None and divisor.atom.kind == "either" else ()
    if divisor == ONE or (number is not None and by and number % by == 0):
        return Proof.YES
    if number is not None and by:
        return Proof.NO
    if value.exact_quotient(divisor) is not None:
        return Proof.YES
    values = possible_values(value, known)
    if values is not None and by:
        return Proof.of(all(item % by == 0 for item in values))
    blocks = [option.integer for option in options]
    if values and blocks and all(any(block and item % block == 0 for block in blocks) for item in values):
        return Proof.YES  # the host knows the sizes it admits and picks a block for each
    if by and by & (by - 1) == 0 and says_power_of_2(value, known) and at_least(value, known) >= by:
        return Proof.YES
    for fact in known:
        for part in fact.conjuncts():
            if part.kind == "eq" and _says_multiple(part.poly, value, divisor):
                return Proof.YES
    return Proof.UNKNOWN


def are_equal(one: Poly, two: Poly, facts: Iterable[Formula]) -> bool:
    """Whether two expressions are the same, by their form or by an equation among the facts."""
    difference = one - two
    if not difference.terms:
        return True
    return any(
        part.kind == "eq" and (part.poly == difference or -part.poly == difference)
        for fact in facts
        for part in fact.conjuncts()
    )


def was_chosen_to_divide(divisor: Poly) -> bool:
    """Whether a block size was picked under conditions on remainders: `if K % 256 == 0: return 256`."""
    if len(divisor.terms) != 1:
        return False
    ((monomial, _),) = divisor.terms.items()
    return any(atom.kind == "either" and len(atom.args) > 2 and "mod" in atom.args[2] for atom in monomial)


def half_tested(value: Poly, block: Poly, facts: Iterable[Formula], *, rounded: bool = False) -> bool:
    """Whether the facts test a size against something that may or may not settle it for a block.

    A remainder by an unknown divisor, or a power of two without a least value: only sizes below the block
    would hang over, and nobody runs those. For a width `rounded` up to a power of two no remainder counts.
    """
    known = resolved(facts)
    if value.atom is not None and value.atom.kind == "either":
        return any(half_tested(option, block, known, rounded=rounded) for option in value.atom.args[0])
    if says_power_of_2(value, known) and at_least(value, known) <= 1:
        return True
    if rounded:
        return False
    tested = {
        atom for part in known if part.kind in ("eq", "or") for atom in part.closure if atom.kind == "mod"
    }
    return any(
        (atom.args[0] == value or value.exact_quotient(atom.args[0]) is not None)
        and atom.args[1].integer is None
        and atom.args[1] != block
        for atom in tested
    )


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
    return value.exact_quotient(stated) is not None or _is_axis_of(stated, value)


def _is_axis_of(size: Poly, count: Poly) -> bool:
    """Whether `size` is an axis of a tensor whose number of elements is a factor of `count`."""
    axis = size.atom
    if axis is None or axis.kind != "dim":
        return False
    return all(Atom("numel", axis.args[0]) in monomial for monomial in count.terms)


def _numbers_divide(multiple: Poly, divisor: Poly) -> bool:
    a, b = multiple.integer, divisor.integer
    return a is not None and b is not None and b != 0 and a % b == 0


def says_power_of_2(value: Poly, facts: Iterable[Formula]) -> bool:
    """Whether the facts state it: `n & (n - 1) == 0`, `next_power_of_2(n) == n`, `n.bit_count() == 1`."""
    for fact in facts:
        for part in fact.conjuncts():
            if part.kind != "eq":
                continue
            for atom in part.poly.surface:
                if atom.kind == "bitand" and value in atom.args:
                    return True
                if atom.kind in ("pow2ceil", "bit_count") and atom.args[0] == value:
                    return True
                if atom.kind == "call" and "power" in str(atom.args[0]) and value.closure <= atom.closure:
                    return True
    return False


def may_say_power_of_2(value: Poly, facts: Iterable[Formula]) -> bool:
    """Whether the facts state it at least on some way: `key in cache or n & (n - 1) == 0`."""
    todo = list(facts)
    while todo:
        fact = todo.pop()
        if says_power_of_2(value, (fact,)) or possible_values(value, (fact,)):
            return True
        todo += fact.parts if fact.kind in ("and", "or") else ()
    return False


def settled(value: Poly, facts: Iterable[Formula]) -> Poly:
    """The value where equations among the facts fix it: `assert dim == 72`."""
    if value.constant is not None:
        return value
    fixed = {atom: number for atom, number in fixed_by(facts).items() if atom.kind != "mod"}
    return value.substitute(fixed) if fixed else value


def fixed_by(facts: Iterable[Formula]) -> dict[Atom, Poly]:
    """The atoms that an equation among the facts makes a constant."""
    return {atom: value for atom, value in equations_in(facts) if value.constant is not None}


def equations_in(facts: Iterable[Formula]) -> Iterator[tuple[Atom, Poly]]:
    """What the facts say that an atom is equal to, for every atom that an equation can be solved for."""
    for fact in facts:
        for part in fact.conjuncts():
            for atom in part.poly.surface if part.kind == "eq" else ():
                factor = part.poly.terms.get((atom,))
                if factor in (1, -1):
                    yield atom, Poly.of(atom) - part.poly if factor == 1 else Poly.of(atom) + part.poly


def possible_values(value: Poly, facts: Iterable[Formula]) -> tuple[int, ...] | None:
    """The whole list of values where the facts give one: `assert dim in (64, 128)`."""
    known = resolved(facts)
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
    if part.kind == "and":
        return next((number for each in part.parts if (number := _fixes(each, value)) is not None), None)
    if part.kind != "eq":
        return None
    for difference in (value - part.poly, value + part.poly):
        number = difference.integer
        if number is not None:
            return number
    return None
