"""Integer expressions in normal form, so that two ways of writing one index compare equal.

A `Poly` is a sum of products of atoms with integer (or float) coefficients. An `Atom` is whatever
arithmetic cannot open: a parameter, a program id, a `tl.arange`, a quotient, a loaded value. Kernel
indices, host sizes and grids share this one form, so a launch is a substitution.

Values are taken as mathematical integers: overflow is a matter for its own rule.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from zlib import crc32

Number = int | float
Monomial = tuple["Atom", ...]

MAX_TERMS = 32
"""A sum with more terms than this is kept as one opaque atom: no index that people write is longer."""
MAX_DEGREE = 16
"""A product of more factors than this is kept as one opaque atom."""
MAX_NUMBER = 2**128
"""A number beyond this is no size, offset or mask of a tensor: it is some unknown number."""
MAX_MADE = 1 << 15
"""So many atoms are remembered; that an atom is not one of them costs time, and changes nothing."""
MAX_SIZE, MAX_DEPTH = 4000, 40
"""Of an atom with everything inside it, written out. Beyond them only the atoms it mentions are kept."""


class Atom:
    """An indivisible factor, equal to another by kind and arguments.

    `kind` names what it is; `args` holds polynomials, atoms, strings and numbers. `closure` is the set
    of all atoms inside it, itself included. `size` and `depth` count what is inside as if written out.

    The hash is made of the content alone, never of an address or of Python's salt for strings: sets of
    atoms are walked in the same order in every run.
    """

    __slots__ = ("_closure", "_hash", "_sum", "args", "depth", "kind", "size")

    kind: str
    args: tuple[Any, ...]
    size: int
    depth: int
    _closure: frozenset[Atom] | None
    _hash: int
    _sum: Poly | None
    """The polynomial that is this atom alone, once it is asked for."""

    def __new__(cls, kind: str, *args: Any) -> Atom:
        """The atom of a kind and arguments, made if it is not there yet."""
        key = (kind, args)
        known = _MADE.get(key)
        if known is not None:
            return known
        if len(_MADE) >= MAX_MADE:
            _MADE.clear()
        self = _MADE[key] = object.__new__(cls)
        self.kind = kind
        self.args = args
        self._hash = hash((crc32(kind.encode()), stable_hash(args)))
        self._closure = self._sum = None
        self.size, self.depth = (1, 1) if kind == "deep" else _measured(args)
        return self

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return (
            isinstance(other, Atom)
            and self._hash == other._hash
            and self.kind == other.kind
            and self.args == other.args
        )

    @property
    def closure(self) -> frozenset[Atom]:
        """This atom and every atom inside its arguments, at any depth."""
        if self._closure is None:
            inner: set[Atom] = {self}
            for arg in self.args:
                _collect(arg, inner)
            self._closure = frozenset(inner)
        return self._closure

    def __repr__(self) -> str:
        return show_atom(self)


_MADE: dict[tuple[str, tuple[Any, ...]], Atom] = {}
"""The atoms made last: the same one twice is one object, so that to compare them is to compare addresses."""


def stable_hash(arg: Any) -> int:
    """A hash of an atom's argument that is the same in every run."""
    if isinstance(arg, str):
        return crc32(arg.encode("utf-8", "surrogatepass"))
    if isinstance(arg, tuple):
        return hash(tuple([stable_hash(item) for item in arg]))
    if isinstance(arg, frozenset):
        return hash(frozenset([stable_hash(item) for item in arg]))
    return 0 if arg is None else hash(arg)


def _measured(args: Iterable[Any]) -> tuple[int, int]:
    """Size and depth of something that holds `args`."""
    size = depth = 0
    for arg in args:
        if isinstance(arg, str | int | float):
            continue
        if isinstance(arg, tuple | frozenset):
            inner_size, inner_depth = _measured(arg)
            size, depth = size + inner_size - 1, max(depth, inner_depth - 1)
        elif (inner := getattr(arg, "size", None)) is not None:
            size, depth = size + inner, max(depth, arg.depth)
    return size + 1, depth + 1


def _collect(arg: Any, into: set[Atom]) -> None:
    if isinstance(arg, (Atom, Poly)):
        into |= arg.closure
    elif isinstance(arg, tuple | frozenset):
        for item in arg:
            _collect(item, into)
    elif (closure := getattr(arg, "closure", None)) is not None:
        into |= closure


class Poly:
    """An immutable sum: `terms` maps each product of atoms to its coefficient; `()` is the constant."""

    __slots__ = ("_closure", "_hash", "_measure", "terms")

    def __init__(self, terms: dict[Monomial, Number]) -> None:
        self.terms = terms
        self._hash: int | None = None
        self._closure: frozenset[Atom] | None = None
        self._measure: tuple[int, int] | None = None

    # --- construction ---------------------------------------------------------------------------
    @staticmethod
    def const(value: Number) -> Poly:
        """The constant `value`, an unknown one if it is too large."""
        if not value:
            return ZERO
        return Poly({(): value}) if _is_tame(value) else Poly.of(Atom("huge", value))

    @staticmethod
    def of(atom: Atom) -> Poly:
        """The single atom `atom`, or what stands for it if there is too much inside."""
        if atom._sum is None:
            is_deep = atom.size > MAX_SIZE or atom.depth > MAX_DEPTH
            atom._sum = deep(atom) if is_deep else Poly({(atom,): 1})
        return atom._sum

    # --- questions ------------------------------------------------------------------------------
    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(frozenset(self.terms.items()))
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Poly) and self.terms == other.terms)

    @property
    def constant(self) -> Number | None:
        """The value if there is nothing but a constant, else None."""
        if not self.terms:
            return 0
        if len(self.terms) == 1 and () in self.terms:
            return self.terms[()]
        return None

    @property
    def integer(self) -> int | None:
        """The value if it is a whole number, else None."""
        value = self.constant
        return value if isinstance(value, int) else None

    @property
    def atom(self) -> Atom | None:
        """The atom if the polynomial is exactly one atom, else None."""
        if len(self.terms) == 1:
            ((monomial, factor),) = self.terms.items()
            if factor == 1 and len(monomial) == 1:
                return monomial[0]
        return None

    @property
    def closure(self) -> frozenset[Atom]:
        """Every atom anywhere in the expression."""
        if self._closure is None:
            if not self.terms:
                self._closure = frozenset()
            else:
                sets = [atom.closure for monomial in self.terms for atom in monomial]
                self._closure = sets[0] if len(sets) == 1 else frozenset().union(*sets)
        return self._closure

    @property
    def size(self) -> int:
        """How much is inside, written out."""
        return self._measures()[0]

    @property
    def depth(self) -> int:
        """How deep its atoms are nested."""
        return self._measures()[1]

    def _measures(self) -> tuple[int, int]:
        if self._measure is None:
            atoms = [atom for monomial in self.terms for atom in monomial]
            self._measure = sum(a.size for a in atoms), max((a.depth for a in atoms), default=0)
        return self._measure

    @property
    def surface(self) -> set[Atom]:
        """The atoms of the terms themselves, not those inside other atoms."""
        return {atom for monomial in self.terms for atom in monomial}

    def mentions(self, atom: Atom) -> bool:
        """Whether `atom` occurs anywhere inside."""
        return atom in self.closure

    def coefficient(self, atom: Atom) -> Poly:
        """The factor of `atom` where it occurs linearly: `c` in `c * atom + rest`."""
        return Poly(
            {
                _without(monomial, atom): factor
                for monomial, factor in self.terms.items()
                if monomial.count(atom) == 1
            }
        )

    # --- arithmetic -----------------------------------------------------------------------------
    def __add__(self, other: Poly) -> Poly:
        if not other.terms:
            return self
        if not self.terms:
            return other
        terms = dict(self.terms)
        for monomial, factor in other.terms.items():
            total = terms.get(monomial, 0) + factor
            if total:
                terms[monomial] = total
            else:
                del terms[monomial]
        return _bounded(terms)

    def __neg__(self) -> Poly:
        return Poly({monomial: -factor for monomial, factor in self.terms.items()})

    def __sub__(self, other: Poly) -> Poly:
        return self + (-other)

    def __mul__(self, other: Poly) -> Poly:
        left, right = self.terms, other.terms
        if not left or not right:
            return ZERO
        if len(left) * len(right) > MAX_TERMS * 2:
            return Poly.of(Atom("product", self, other))
        terms: dict[Monomial, Number] = {}
        for one, factor_one in left.items():
            for two, factor_two in right.items():
                monomial = _merge(one, two)
                total = terms.get(monomial, 0) + factor_one * factor_two
                if len(monomial) > MAX_DEGREE:
                    return Poly.of(Atom("product", self, other))
                if total:
                    terms[monomial] = total
                else:
                    terms.pop(monomial, None)
        return _bounded(terms)

    def scaled(self, factor: Number) -> Poly:
        """The product with a number."""
        if not factor:
            return ZERO
        return _bounded({monomial: value * factor for monomial, value in self.terms.items()})

    def exact_quotient(self, divisor: Poly) -> Poly | None:
        """`self / divisor` if every term divides by the single-term `divisor`, else None."""
        quotient, remainder = self.split_by(divisor)
        return None if remainder.terms else quotient

    def split_by(self, divisor: Poly) -> tuple[Poly, Poly]:
        """`(q, r)` with `self == q * divisor + r`, taking into `q` every term that divides.

        Only a divisor of one term splits anything; any other gives `(0, self)`, or `(1, 0)` if equal.
        """
        if self == divisor and self.terms:
            return ONE, ZERO
        if len(divisor.terms) != 1:
            return ZERO, self
        ((atoms, scale),) = divisor.terms.items()
        if not isinstance(scale, int):
            return ZERO, self
        quotient: dict[Monomial, Number] = {}
        remainder: dict[Monomial, Number] = {}
        for monomial, factor in self.terms.items():
            rest = _divide(monomial, atoms)
            if rest is None or not isinstance(factor, int):
                remainder[monomial] = factor
                continue
            whole, left = divmod(factor, scale)
            if whole:
                quotient[rest] = quotient.get(rest, 0) + whole
            if left:
                remainder[monomial] = left
        return Poly(quotient), Poly(remainder)

    def substitute(self, known: Mapping[Atom, Poly]) -> Poly:
        """The expression with atoms replaced, wherever they stand; what replaces one is taken as it is."""
        return _substitute(self, known, {})

    def __repr__(self) -> str:
        return show(self)


ZERO = Poly({})
ONE = Poly({(): 1})


def _merge(one: Monomial, two: Monomial) -> Monomial:
    if not one:
        return two
    if not two:
        return one
    return tuple(sorted(one + two, key=hash))


def _without(monomial: Monomial, atom: Atom) -> Monomial:
    position = monomial.index(atom)
    return monomial[:position] + monomial[position + 1 :]


def _divide(monomial: Monomial, by: Monomial) -> Monomial | None:
    rest = list(monomial)
    for atom in by:
        if atom not in rest:
            return None
        rest.remove(atom)
    return tuple(rest)


def deep(whole: Any) -> Poly:
    """An unknown number that stands for an atom or a condition with too much inside."""
    kept = frozenset(atom for atom in whole.closure if atom.size == 1 and atom.kind != "deep")
    return Poly({(Atom("deep", hash(whole), kept),): 1})


def _is_tame(value: Number) -> bool:
    """Whether a number is none of those that are too large, infinite or no number at all."""
    return -MAX_NUMBER <= value <= MAX_NUMBER


def _bounded(terms: dict[Monomial, Number]) -> Poly:
    for factor in terms.values():
        if not -MAX_NUMBER <= factor <= MAX_NUMBER:
            return _opened(terms)
    if len(terms) > MAX_TERMS:
        return Poly.of(Atom("sum", Poly(terms)))
    return Poly(terms)


def _opened(terms: dict[Monomial, Number]) -> Poly:
    """The sum with each factor that is too large replaced by an unknown one."""
    kept: dict[Monomial, Number] = {}
    for monomial, factor in terms.items():
        if _is_tame(factor):
            kept[monomial] = factor
        else:
            kept[_merge(monomial, (Atom("huge", factor),))] = 1
    return Poly(kept)


def _substitute(poly: Poly, known: Mapping[Atom, Poly], memo: dict[Atom, Poly]) -> Poly:
    if known.keys().isdisjoint(poly.closure):
        return poly
    terms: dict[Monomial, Number] = {}
    for monomial, factor in poly.terms.items():
        product = {monomial: factor}
        if any(not known.keys().isdisjoint(atom.closure) for atom in monomial):
            changed = Poly.const(factor)
            for atom in monomial:
                changed = changed * _substitute_atom(atom, known, memo)
            product = changed.terms
        for part, value in product.items():
            total = terms.get(part, 0) + value
            if total:
                terms[part] = total
            else:
                terms.pop(part, None)
        if len(terms) > MAX_TERMS:
            terms = _bounded(terms).terms
    return _bounded(terms)


def _substitute_atom(atom: Atom, known: Mapping[Atom, Poly], memo: dict[Atom, Poly]) -> Poly:
    result = memo.get(atom)
    if result is None:
        result = known.get(atom)
        if result is None:
            if known.keys().isdisjoint(atom.closure):
                return Poly.of(atom)
            args = tuple([_substitute_arg(arg, known, memo) for arg in atom.args])
            result = Poly.of(atom) if args == atom.args else rebuild(atom.kind, args)
        memo[atom] = result
    return result


def _substitute_arg(arg: Any, known: Mapping[Atom, Poly], memo: dict[Atom, Poly]) -> Any:
    if isinstance(arg, Poly):
        return _substitute(arg, known, memo)
    if isinstance(arg, Atom):
        inner = _substitute_atom(arg, known, memo).atom
        return arg if inner is None else inner
    if isinstance(arg, tuple):
        return tuple([_substitute_arg(item, known, memo) for item in arg])
    if isinstance(arg, frozenset):
        return frozenset([_substitute_arg(item, known, memo) for item in arg])
    if (change := getattr(arg, "map", None)) is not None:
        return change(lambda poly: _substitute(poly, known, memo))
    return arg


def rebuild(kind: str, args: tuple[Any, ...]) -> Poly:
    """An atom of `kind` with new arguments, folded where the new arguments allow."""
    builder = _BUILDERS.get(kind)
    return builder(*args) if builder else Poly.of(Atom(kind, *args))


# --- quotients, remainders, extremes --------------------------------------------------------------
def floor_divide(left: Poly, right: Poly) -> Poly:
    """`left // right`, for operands that are not negative (Triton truncates where Python floors)."""
    a, b = left.integer, right.integer
    if a is not None and b:
        return Poly.const(a // b)
    if b == 1:
        return left
    up = _rounded_up(left, right)
    if up is not None:
        return ceil_divide(up, right)
    quotient, remainder = left.split_by(right)
    if not remainder.terms:
        return quotient
    if is_below(remainder, right):
        return quotient
    return quotient + Poly.of(Atom("floordiv", remainder, right))


def remainder_of(left: Poly, right: Poly) -> Poly:
    """`left % right`, for operands that are not negative."""
    a, b = left.integer, right.integer
    if a is not None and b:
        return Poly.const(a % b)
    if b == 1:
        return ZERO
    _, rest = left.split_by(right)
    if is_below(rest, right):
        return rest
    over = (right - left).atom
    if over is not None and over.kind == "mod" and over.args[1] == right:
        # `(b - n % b) % b` is what `n` lacks to the next multiple.
        lacking: Poly = ceil_divide(over.args[0], right) * right - over.args[0]
        return lacking
    return Poly.of(Atom("mod", rest, right)) if rest.terms else ZERO


def ceil_divide(left: Poly, right: Poly) -> Poly:
    """`cdiv(left, right)`."""
    a, b = left.integer, right.integer
    if a is not None and b:
        return Poly.const(-(-a // b))
    if b == 1:
        return left
    quotient, remainder = left.split_by(right)
    if not remainder.terms:
        return quotient
    return Poly.of(Atom("cdiv", left, right))


def minimum(*values: Poly) -> Poly:
    """The least of `values`."""
    return _extreme("min", min, values)


def maximum(*values: Poly) -> Poly:
    """The greatest of `values`."""
    return _extreme("max", max, values)


def _extreme(kind: str, fold: Callable[..., Number], values: Iterable[Poly]) -> Poly:
    numbers: list[Number] = []
    others: list[Poly] = []
    for value in values:
        atom = value.atom
        if atom is not None and atom.kind == kind:
            inner = list(atom.args[0])
        else:
            inner = [value]
        for item in inner:
            number = item.constant
            if number is not None:
                numbers.append(number)
            elif item not in others:
                others.append(item)
    if numbers:
        others.append(Poly.const(fold(numbers)))
    if len(others) == 1:
        return others[0]
    return Poly.of(Atom(kind, frozenset(others)))


def next_power_of_2(value: Poly) -> Poly:
    """`triton.next_power_of_2(value)`."""
    number = value.integer
    if number is not None:
        return Poly.const(1 << max(number - 1, 0).bit_length())
    if value.atom is not None and value.atom.kind == "pow2ceil":
        return value
    return Poly.of(Atom("pow2ceil", value))


def _rounded_up(left: Poly, right: Poly) -> Poly | None:
    """`x` where `left` is written `x + right - 1`: the common spelling of a ceiling division."""
    if not right.terms:
        return None
    number = right.integer
    if number is not None:
        return left - Poly.const(number - 1) if left.terms.get((), 0) == number - 1 and number > 1 else None
    if left.terms.get((), 0) == -1 and all(left.terms.get(m) == f for m, f in right.terms.items()):
        rest = left - right + ONE
        return rest if rest.terms else None
    return None


def is_below(value: Poly, limit: Poly) -> bool:
    """Whether `0 <= value < limit` is plain from the forms: an arange of that extent, a remainder."""
    atom = value.atom
    if atom is None:
        number, top = value.integer, limit.integer
        return number is not None and top is not None and 0 <= number < top
    if atom.kind == "arange":
        low, high = atom.args[0], atom.args[1]
        if low == ZERO and high == limit:
            return True
        low_number, high_number, top = low.integer, high.integer, limit.integer
        return (
            low_number is not None
            and high_number is not None
            and top is not None
            and low_number >= 0
            and high_number <= top
        )
    if atom.kind == "mod":
        modulus = atom.args[1]
        modulus_number, top = modulus.integer, limit.integer
        return bool(
            modulus == limit or (modulus_number is not None and top is not None and modulus_number <= top)
        )
    return False


_BUILDERS: Mapping[str, Callable[..., Poly]] = {
    "floordiv": floor_divide,
    "mod": remainder_of,
    "cdiv": ceil_divide,
    "min": lambda values: minimum(*values),
    "max": lambda values: maximum(*values),
    "pow2ceil": next_power_of_2,
    "product": lambda left, right: left * right,
    "sum": lambda inner: inner,
}


# --- words ------------------------------------------------------------------------------------------
_INFIX = {"floordiv": "//", "mod": "%"}


def show(poly: Poly) -> str:
    """The expression as one would write it, for messages."""
    if not poly.terms:
        return "0"
    ordered = sorted(poly.terms.items(), key=lambda item: (not item[0], _show_monomial(item[0])))
    if len(ordered) == 1 and len(ordered[0][0]) == 1 and ordered[0][1] == 1:
        return show_atom(ordered[0][0][0])
    text = ""
    for monomial, factor in ordered:
        sign = "-" if factor < 0 else "+"
        size = abs(factor)
        body = _show_monomial(monomial)
        if not body:
            body = str(size)
        elif size != 1:
            body = f"{size} * {body}"
        text += f" {sign} {body}" if text else (f"-{body}" if sign == "-" else body)
    return text


_WORDED = frozenset(
    "param name hostparam config either carried left truth pid programs arange floordiv mod min max pow2ceil "
    "dim stride numel cdiv len rank sum product".split()
)
"""The kinds of atoms that are shown as an author would write them."""


def is_worded(poly: Poly) -> bool:
    """Whether every part of an expression is shown in words that its author would know."""
    return all(atom.kind in _WORDED for atom in poly.closure) and "..." not in show(poly)


def _show_monomial(monomial: Monomial) -> str:
    return " * ".join(sorted(_factor(show_atom(atom)) for atom in monomial))


def _factor(text: str) -> str:
    """A text as an operand: in brackets where a space stands outside of any."""
    depth = 0
    for sign in text:
        depth += (sign in "([") - (sign in ")]")
        if sign == " " and depth == 0:
            return f"({text})"
    return text


def _tensor_name(key: object) -> str:
    """A host tensor as its author knows it, without where the model saw it made."""
    return re.sub(r"[@~]\d+(:\d+)?", "", str(key))


def _name_in(args: tuple[Any, ...]) -> str:
    """The variable an unknown value was held in, from where it was joined."""
    last = args[-1]
    while isinstance(last, tuple) and last:
        last = last[-1]
    if isinstance(last, Atom):
        return _name_in(last.args)
    return last if isinstance(last, str) else "..."


def show_atom(atom: Atom) -> str:
    """An atom as one would write it, for messages."""
    kind, args = atom.kind, atom.args
    if kind in ("param", "name", "hostparam"):
        return str(args[-1])
    if kind == "config":
        return str(args[0])
    if kind in ("either", "carried", "left"):
        return _name_in(args)
    if kind == "truth":
        return str(args[0])
    if kind == "pid":
        return f"program_id({args[0]})"
    if kind == "programs":
        return f"num_programs({args[0]})"
    if kind == "arange":
        return f"arange({show(args[0])}, {show(args[1])})"
    if kind in _INFIX:
        return f"{_factor(show(args[0]))} {_INFIX[kind]} {_factor(show(args[1]))}"
    if kind in ("min", "max"):
        return f"{kind}({', '.join(sorted(show(item) for item in args[0]))})"
    if kind == "pow2ceil":
        return f"next_power_of_2({show(args[0])})"
    if kind == "dim":
        return f"{_tensor_name(args[0])}.shape[{args[1]}]"
    if kind == "stride":
        return f"{_tensor_name(args[0])}.stride({args[1]})"
    if kind == "numel":
        return f"{_tensor_name(args[0])}.numel()"
    if kind == "trip":
        return "iteration"
    if kind in ("huge", "deep"):
        return "..."
    inner = ", ".join(
        show(arg) if isinstance(arg, Poly) else str(arg) for arg in args if not isinstance(arg, frozenset)
    )
    return f"{kind}({inner})"
