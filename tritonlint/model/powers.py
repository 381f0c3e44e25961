"""Powers of two: which expressions are, which are not, and which were never rounded."""

from __future__ import annotations

import enum
from collections.abc import Iterable

from tritonlint.model.facts import possible_values, resolved, says_power_of_2, settled
from tritonlint.model.logic import Formula
from tritonlint.model.proof import Proof
from tritonlint.model.symbolic import Atom, Poly


class Origin(enum.Enum):
    """Where a size that is not known to be a power of two comes from."""

    COMPUTED = "computed"
    """A sum, a minimum, a rounding to a multiple: something that does not round to a power of two."""
    RAW = "raw"
    """A tensor's size or an argument as it came."""
    UNKNOWN = "unknown"


def is_power(number: int) -> bool:
    """Whether `number` is 1, 2, 4, 8 ..."""
    return number > 0 and number & (number - 1) == 0


def power_of_2(value: Poly, facts: Iterable[Formula] = ()) -> Proof:
    """Whether a host expression is always a power of two."""
    known = resolved(facts)
    value = settled(value, known)
    number = value.integer
    if number is not None:
        return Proof.of(is_power(number))
    values = possible_values(value, known)
    if values is not None:
        return Proof.of(all(is_power(item) for item in values) or None)
    if says_power_of_2(value, known):
        return Proof.YES
    if len(value.terms) != 1:
        return Proof.UNKNOWN
    ((monomial, factor),) = value.terms.items()
    if not isinstance(factor, int) or not is_power(factor):
        return Proof.UNKNOWN
    if all(_is_power_atom(atom, known) for atom in monomial):
        return Proof.YES
    return Proof.UNKNOWN


def _is_power_atom(atom: Atom, facts: tuple[Formula, ...]) -> bool:
    if atom.kind == "pow2ceil":
        return True
    if atom.kind in ("lshift", "pow"):
        base = atom.args[0].integer
        return base is not None and is_power(base)
    if atom.kind in ("min", "max", "either"):
        return all(power_of_2(item, facts) is Proof.YES for item in atom.args[0])
    if atom.kind in ("floordiv", "rshift", "cdiv"):
        return all(power_of_2(item, facts) is Proof.YES for item in atom.args[:2]) or (
            atom.kind == "rshift" and power_of_2(atom.args[0], facts) is Proof.YES
        )
    return (
        power_of_2(Poly.of(atom), facts) is Proof.YES
        if facts
        and atom.kind in ("dim", "hostparam", "config")
        and any(atom in fact.closure for fact in facts)
        and possible_values(Poly.of(atom), facts)
        else False
    )


def origin_of(value: Poly, sizes: frozenset[Atom] = frozenset()) -> Origin:
    """Where a size comes from that is not shown to be a power of two.

    `sizes` are the host's plain arguments that are used as sizes elsewhere at the launch: without
    that, an argument may well be a block size that the caller chose.
    """
    atom = value.atom
    if atom is not None and atom.kind in ("min", "max", "either"):
        rest = [item for item in atom.args[0] if power_of_2(item) is not Proof.YES]
        origins = {origin_of(item, sizes) for item in rest}
        if any(
            item.atom is not None and item.atom.kind == "hostparam" and item.atom not in sizes
            for item in rest
        ):
            return Origin.UNKNOWN  # the caller may well have chosen a power
        if any(_is_sum_of_sizes(item) for item in rest):
            return Origin.COMPUTED
        if Origin.UNKNOWN in origins or not origins:
            return Origin.UNKNOWN
        return Origin.COMPUTED if atom.kind != "either" or len(origins) > 1 else origins.pop()
    leaves = leaves_of(value)
    if not leaves or any(leaf.kind not in _TENSOR_SIZES and leaf not in sizes for leaf in leaves):
        if atom is not None and atom.kind == "hostparam" and str(atom.args[0]).isidentifier():
            return Origin.RAW
        return Origin.UNKNOWN
    return Origin.RAW if atom is not None and atom.kind not in _OPERATORS else Origin.COMPUTED


def _is_sum_of_sizes(value: Poly) -> bool:
    """Whether a tensor's size is in a sum, which is no power of two whatever the other parts are."""
    return len(value.terms) > 1 and any(leaf.kind in _TENSOR_SIZES for leaf in leaves_of(value))


def leaves_of(value: Poly) -> list[Atom]:
    """The sizes that an expression is computed from."""
    return [leaf for leaf in value.closure if leaf.kind not in _OPERATORS]


def is_power_if_parts_are(value: Poly, parts: frozenset[Atom]) -> bool:
    """Whether a host expression is a power of two wherever each of these sizes is one."""
    rounded = {part: Poly.of(Atom("pow2ceil", Poly.of(part))) for part in parts}
    return power_of_2(value.substitute(rounded)) is Proof.YES


_TENSOR_SIZES = frozenset(("dim", "numel", "len"))
_OPERATORS = frozenset(
    ("min", "max", "cdiv", "floordiv", "mod", "pow2ceil", "lshift", "rshift", "product", "ceil", "sqrt")
)
