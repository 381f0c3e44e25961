"""Conditions: what a mask, an `if`, an `assert` or a loop bound says about integer expressions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from tritonlint.model.symbolic import ONE, ZERO, Atom, Poly, deep, stable_hash

MAX_SIZE, MAX_DEPTH = 2000, 40
"""Of a condition with everything inside it, written out. Beyond them it is some condition on its atoms."""

_ASKED = frozenset(("flag", "compared", "absent", "truth", "contiguous"))


class Formula:
    """A condition in normal form.

    `kind` is one of `ge` (`poly >= 0`), `eq` (`poly == 0`), `ne` (`poly != 0`), `and`, `or`, `one` (now one
    of its parts, now another, as a loop hands it on), `opaque` (some condition that mentions the atoms of
    `poly`), `not` (its negation), `true`, `false`.
    """

    __slots__ = ("_closure", "_hash", "_negated", "depth", "kind", "parts", "poly", "size")

    def __init__(self, kind: str, poly: Poly = ZERO, parts: tuple[Formula, ...] = ()) -> None:
        # A class by hand: a million are made in a run, and a frozen dataclass takes three times as long.
        self.kind, self.poly, self.parts = kind, poly, parts
        self.size: int = 1 + poly.size + sum([part.size for part in parts])
        """How much is inside, written out."""
        self.depth: int = 1 + max([poly.depth, *[part.depth for part in parts]])
        """How deep its parts and their atoms are nested."""
        self._closure: frozenset[Atom] | None = None
        self._negated: Formula | None = None
        self._hash = hash((stable_hash(kind), poly, parts))

    def __repr__(self) -> str:
        return f"Formula({self.kind!r}, {self.poly!r}, {self.parts!r})"

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Formula)
            and self._hash == other._hash
            and (self.kind, self.poly, self.parts) == (other.kind, other.poly, other.parts)
        )

    @property
    def closure(self) -> frozenset[Atom]:
        """Every atom the condition mentions."""
        if self._closure is None:
            parts = self.parts or (self.poly,)
            self._closure = frozenset().union(*[part.closure for part in parts])
        return self._closure

    @property
    def is_arithmetic(self) -> bool:
        """Whether it compares numbers, rather than asking for a flag, a type or an absence."""
        if self.parts:
            return all(part.is_arithmetic for part in self.parts)
        return self.kind in ("ge", "eq", "ne") and any(a.kind not in _ASKED for a in self.closure)

    def conjuncts(self) -> Iterator[Formula]:
        """The conditions that all hold where this one holds."""
        if self.kind == "and":
            for part in self.parts:
                yield from part.conjuncts()
        elif self.kind != "true":
            yield self

    def negated(self) -> Formula:
        """The condition that holds where this one does not."""
        if self._negated is None:
            self._negated = self._denied()
        return self._negated

    def _denied(self) -> Formula:
        match self.kind:
            case "ge":
                return Formula("ge", -self.poly - ONE)
            case "eq":
                return Formula("ne", self.poly)
            case "ne":
                return Formula("eq", self.poly)
            case "and":
                return either(*(part.negated() for part in self.parts))
            case "or":
                return both(*(part.negated() for part in self.parts))
            case "true":
                return FALSE
            case "false":
                return TRUE
            case "not":
                return self.parts[0]
        return Formula("not", parts=(self,))

    def map(self, change: Callable[[Poly], Poly]) -> Formula:
        """The same condition over changed expressions, folded where they became constants."""
        if self.kind in ("and", "or", "one"):
            parts = [part.map(change) for part in self.parts]
            if all(new is old for new, old in zip(parts, self.parts, strict=True)):
                return self
            return {"and": both, "or": either, "one": one_of}[self.kind](*parts)
        if self.kind in ("true", "false"):
            return self
        if self.kind == "not":
            part = self.parts[0].map(change)
            return self if part is self.parts[0] else part.negated()
        poly = change(self.poly)
        return self if poly is self.poly else compare(self.kind, poly)

    def __str__(self) -> str:
        return show_formula(self)

    @property
    def known(self) -> bool | None:
        """True or False where the condition is constant."""
        return {"true": True, "false": False}.get(self.kind)


TRUE = Formula("true")
FALSE = Formula("false")


def compare(kind: str, poly: Poly) -> Formula:
    """`poly >= 0`, `poly == 0` or `poly != 0`, decided if `poly` is a constant."""
    value = poly.constant
    if value is None or kind == "opaque":
        atom = poly.atom if kind in ("eq", "ne") else None
        if atom is not None and atom.kind == "truth":
            inner: Formula = atom.args[0]
            return inner if kind == "ne" else inner.negated()
        if atom is not None and atom.kind == "where" and atom.args[2] == ZERO and atom.args[1].constant:
            chosen: Formula = atom.args[0]  # `tl.where(condition, 1, 0)` used as a mask
            return chosen if kind == "ne" else chosen.negated()
        return Formula(kind, poly)
    holds = value >= 0 if kind == "ge" else (value == 0) == (kind == "eq")
    return TRUE if holds else FALSE


def less(left: Poly, right: Poly) -> Formula:
    """`left < right` over integers."""
    return compare("ge", right - left - ONE)


def at_most(left: Poly, right: Poly) -> Formula:
    """`left <= right`."""
    return compare("ge", right - left)


def equal(left: Poly, right: Poly) -> Formula:
    """`left == right`."""
    return compare("eq", left - right)


def both(*parts: Formula) -> Formula:
    """The conjunction."""
    return _join("and", TRUE, FALSE, parts)


def parts_of(conditions: Iterable[Formula]) -> frozenset[Formula]:
    """Conditions that all hold, whole and taken apart."""
    whole = tuple(conditions)
    return frozenset((*whole, *(part for condition in whole for part in condition.conjuncts())))


def either(*parts: Formula) -> Formula:
    """The disjunction."""
    return _join("or", FALSE, TRUE, parts)


def one_of(*parts: Formula) -> Formula:
    """A condition that is one of some others at a time: none of them is known to fail where it fails."""
    if len(set(parts)) == 1:
        return parts[0]
    joined = Formula("one", parts=tuple(dict.fromkeys(parts)))
    return opaque(deep(joined)) if joined.size > MAX_SIZE or joined.depth > MAX_DEPTH else joined


def _join(kind: str, neutral: Formula, absorbing: Formula, parts: tuple[Formula, ...]) -> Formula:
    kept: dict[Formula, None] = {}
    for part in parts:
        if part == absorbing:
            return absorbing
        for item in part.parts if part.kind == kind else (part,):
            if item != neutral:
                kept[item] = None
    if not kept:
        return neutral
    if len(kept) == 1:
        return next(iter(kept))
    joined = Formula(kind, parts=tuple(kept))
    return opaque(deep(joined)) if joined.size > MAX_SIZE or joined.depth > MAX_DEPTH else joined


def opaque(poly: Poly) -> Formula:
    """A condition of unknown content that mentions the atoms of `poly`."""
    return Formula("opaque", poly)


def show_formula(formula: Formula) -> str:
    """The condition as one would write it, for messages and tests."""
    match formula.kind:
        case "and" | "or":
            sign = " & " if formula.kind == "and" else " | "
            return sign.join(f"({show_formula(part)})" for part in formula.parts)
        case "ge" | "eq" | "ne":
            left, right = _sides(formula.poly)
            if formula.kind == "ge":
                if right.terms.get((), 0) == -1 and len(right.terms) > 1:
                    return f"{left} < {right + ONE}"
                return f"{left} <= {right}"
            return f"{left} {'==' if formula.kind == 'eq' else '!='} {right}"
        case "one":
            return f"one of ({', '.join(map(show_formula, formula.parts))})"
        case "not":
            return f"not {show_formula(formula.parts[0])}"
        case "opaque":
            return f"?({formula.poly})"
    return formula.kind


def _sides(poly: Poly) -> tuple[Poly, Poly]:
    """`left`, `right` with non-negative coefficients such that `poly == right - left`."""
    left = Poly({m: -f for m, f in poly.terms.items() if f < 0 and m})
    right = Poly({m: f for m, f in poly.terms.items() if f > 0 or not m})
    return left, right
