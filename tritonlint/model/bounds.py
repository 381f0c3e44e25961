"""Where an access can go: the tile axes of its address, what bounds each, and what makes a tail exact.

An *axis* is one `tl.arange` in the address. It is *stepped* if the address also moves by whole tiles
along it (`pid * BLOCK`, `k += BLOCK`), else *whole*: the tile is as wide as the tensor is meant to be.
A *guard* is a condition, in the mask or around the access, that puts an upper limit on the index.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from tritonlint.model.facts import divides, resolved
from tritonlint.model.logic import Formula
from tritonlint.model.proof import Proof
from tritonlint.model.records import Access, Loop, Trace, Where
from tritonlint.model.symbolic import ONE, ZERO, Atom, Poly

if TYPE_CHECKING:
    from tritonlint.model.launch import Launch

_COUNTERS = frozenset(("pid", "trip", "swizzle_i", "swizzle_j"))
_TRANSPARENT = frozenset(("floordiv", "cdiv"))


@dataclass(frozen=True)
class Axis:
    """One `tl.arange` of an address.

    `extent` is its length, `stride` what one step adds to the address. `steps` are the whole-tile
    movements along it, in units of tiles: `pid` for `pid * BLOCK`.
    """

    arange: Atom
    extent: Poly
    stride: Poly
    steps: tuple[Poly, ...]
    divisor: Poly | None = None
    """What the index is divided by before it reaches the address: `group` in `k // group`."""

    @property
    def key(self) -> tuple[Poly, tuple[Poly, ...]]:
        """What two accesses along the same index have in common."""
        return (self.extent, self.steps)

    @cached_property
    def index(self) -> Poly:
        """The index as one would write it, for messages."""
        total = Poly.of(self.arange)
        for step in self.steps:
            total = total + step * self.extent
        return total


@dataclass(frozen=True)
class Guard:
    """An upper limit on an axis: `index < limit`. `complete` says that every step is in it."""

    formula: Formula
    limit: Poly
    missing: tuple[Poly, ...]

    @property
    def complete(self) -> bool:
        """Whether the guard speaks of the whole index."""
        return not self.missing


@dataclass(frozen=True)
class Sighting:
    """A limit seen elsewhere in the kernel for an index, and where."""

    limit: Poly
    where: Where
    access: Access | None


@dataclass
class AxisReport:
    """What is known of one axis of one access.

    `bounded` is YES where a guard limits it, NO where nothing does, UNKNOWN where something might.
    """

    axis: Axis
    bounded: Proof
    guard: Guard | None = None
    partial: Guard | None = None
    loops: tuple[Loop, ...] = field(default=())


# --- axes -------------------------------------------------------------------------------------------
def offset_of(access_address: Poly, base: str | None) -> Poly:
    """The address without its pointer parameter."""
    return access_address - Poly.of(Atom("param", base)) if base is not None else access_address


def visible_aranges(poly: Poly) -> set[Atom]:
    """The aranges an expression depends on, not through memory."""
    return {lanes for monomial in poly.terms for atom in monomial for lanes in _visible_in(atom)}


@lru_cache(maxsize=1 << 15)
def _visible_in(atom: Atom) -> frozenset[Atom]:
    if atom.kind == "arange":
        return frozenset((atom,))
    if atom.kind in ("load", "blockload", "data") or all(a.kind != "arange" for a in atom.closure):
        return frozenset()
    found: set[Atom] = set()
    stack: list[object] = list(atom.args)
    while stack:
        item = stack.pop()
        if isinstance(item, Poly):
            found |= visible_aranges(item)
        elif isinstance(item, Atom):
            found |= _visible_in(item)
        elif isinstance(item, tuple | frozenset):
            stack += item
        elif isinstance(item, Formula):
            stack += [item.poly, *item.parts]
    return frozenset(found)


@lru_cache(maxsize=1 << 12)
def axes_of(offset: Poly, constexprs: frozenset[str]) -> tuple[tuple[Axis, ...], frozenset[Atom]]:
    """The open axes of an address, and the aranges that are clamped or out of sight.

    An arange inside `%`, `min`, `where` and their like counts as out of sight: silence, not a finding.
    """
    linear: dict[Atom, tuple[Poly, Poly, Poly | None]] = {}
    hidden: set[Atom] = set()
    for monomial, factor in offset.terms.items():
        for position, atom in enumerate(monomial):
            rest = Poly({monomial[:position] + monomial[position + 1 :]: factor})
            if atom.kind == "arange":
                stride = linear[atom][1] if atom in linear else ZERO
                linear[atom] = (offset, stride + rest, None)
            elif atom.kind in _TRANSPARENT and isinstance(atom.args[0], Poly):
                for inner in visible_aranges(atom.args[0]):
                    if inner in atom.args[0].surface:
                        linear.setdefault(
                            inner, (atom.args[0], atom.args[0].coefficient(inner), atom.args[1])
                        )
                    else:
                        hidden.add(inner)
            else:
                hidden |= visible_aranges(Poly.of(atom))
    axes = []
    strides = [stride for _, stride, _ in linear.values()]
    for arange, (expression, stride, divisor) in linear.items():
        extent = arange.args[1]
        if extent == ONE or len(stride.terms) == 0:
            continue
        coarser = [other for other in strides if other != stride and _is_multiple_of(other, stride)]
        if _starts_before(expression, stride, extent):
            hidden.add(arange)
            continue
        steps = _steps(expression, stride, extent, constexprs, coarser)
        axes.append(Axis(arange, extent, stride, steps, divisor))
    return tuple(axes), frozenset(hidden - {axis.arange for axis in axes})


def _is_multiple_of(poly: Poly, stride: Poly) -> bool:
    quotient = poly.exact_quotient(stride)
    return quotient is not None and quotient != ONE


def _starts_before(expression: Poly, stride: Poly, extent: Poly) -> bool:
    """Whether the index starts one tile early (`W - BLOCK + arange`), so that it ends where it should.

    Tiles counted backwards from their number, `(cdiv(W, BLOCK) - 1 - i) * BLOCK`, do not.
    """
    early = -(stride * extent)
    counted = any(
        atom.kind == "cdiv"
        and atom.args[1] == extent
        and contains(expression, Poly.of(atom) * stride * extent)
        for atom in expression.surface
    )
    return bool(early.terms) and early.constant is None and contains(expression, early) and not counted


def _steps(
    expression: Poly, stride: Poly, extent: Poly, constexprs: frozenset[str], coarser: list[Poly]
) -> tuple[Poly, ...]:
    """The terms of an address that move along an axis by whole tiles, in tiles.

    A term that also moves along a coarser axis belongs to that one: `(row * W + column)` with rows of
    one tile's width.
    """
    found: list[Poly] = []
    for monomial, factor in expression.terms.items():
        term = Poly({monomial: factor})
        if not monomial or visible_aranges(term):
            continue
        if any(term.exact_quotient(other) is not None for other in coarser):
            continue
        along = term.exact_quotient(stride)
        tiles = along.exact_quotient(extent) if along is not None else None
        if tiles is None or (extent.constant is None and tiles.exact_quotient(extent) is not None):
            continue
        if _is_counter(tiles, constexprs):
            found.append(tiles)
    return tuple(found)


def _is_counter(tiles: Poly, constexprs: frozenset[str]) -> bool:
    """Whether an expression counts tiles: program ids and iterations, times compile-time numbers."""
    if not any(atom.kind in _COUNTERS for atom in tiles.closure):
        return False
    for atom in tiles.surface:
        if atom.kind == "param" and atom.args[0] not in constexprs:
            return False
        if atom.kind in ("load", "data", "unknown"):
            return False
    return True


# --- guards -----------------------------------------------------------------------------------------
def conditions_of(access: Access) -> Iterator[Formula]:
    """Everything that holds where the access happens."""
    mask = access.mask.formula if access.mask is not None else None
    yield from resolved((*access.conditions, mask) if mask is not None else access.conditions)


def report(axis: Axis, access: Access, besides: frozenset[Formula] = frozenset()) -> AxisReport:
    """What bounds one axis of an access."""
    if access.mask_unknown:
        return AxisReport(axis, Proof.UNKNOWN, loops=access.loops)
    bounded, guard = _bound_by(replace(axis, stride=ONE, divisor=None), tuple(conditions_of(access)), besides)
    if bounded is Proof.YES:
        return AxisReport(axis, bounded, guard, loops=access.loops)
    return AxisReport(axis, bounded, partial=guard, loops=access.loops)


@lru_cache(maxsize=1 << 12)
def _bound_by(
    axis: Axis, conditions: tuple[Formula, ...], besides: frozenset[Formula]
) -> tuple[Proof, Guard | None]:
    """Whether conditions bound an axis, and by which guard, or by which part of one.

    The stride does not matter, so that accesses to several tensors along one index are one question.
    """
    partial: Guard | None = None
    unclear = False
    for formula in conditions:
        guard = guard_on(axis, formula)
        if guard is not None:
            if guard.complete:
                return Proof.YES, guard
            partial = partial or guard
            continue
        unclear = unclear or (formula not in besides and _might_bound(axis, formula))
    return Proof.UNKNOWN if unclear else Proof.NO, partial


def guard_on(axis: Axis, formula: Formula) -> Guard | None:
    """The upper limit that a condition puts on an axis, if it is linear in it."""
    if formula.kind == "eq":
        if axis.arange in formula.poly.surface:
            return Guard(formula, formula.poly, ())
        return None
    if formula.kind != "ge" or axis.arange not in formula.poly.surface:
        return None
    slope = formula.poly.coefficient(axis.arange)
    if not slope.terms or any(factor > 0 for factor in slope.terms.values()):
        return None
    scale = -slope
    rest = formula.poly + scale * Poly.of(axis.arange)
    missing = []
    for step in axis.steps:
        wanted = scale * step * axis.extent
        if contains(rest, -wanted):
            rest = rest + wanted
        else:
            missing.append(step)
    limit = rest + ONE
    if limit == scale * axis.extent:
        missing = []  # a limit at the tile's own width says that rows are one tile wide
    if missing and not _is_plain_limit(limit) and not _moves_otherwise(rest, scale * axis.extent):
        missing = []  # the rest of the index may be folded into the limit
    return Guard(formula, limit, tuple(missing))


def _moves_otherwise(rest: Poly, tile: Poly) -> bool:
    """Whether a condition counts tiles by another index: it is about another part of the tensor."""
    for monomial, factor in rest.terms.items():
        tiles = Poly({monomial: factor}).exact_quotient(tile)
        if tiles is not None and tiles.terms and any(atom.kind in _COUNTERS for atom in tiles.closure):
            return all(f < 0 for f in tiles.terms.values())
    return False


def contains(poly: Poly, part: Poly) -> bool:
    """Whether every term of a part stands in a sum as it is."""
    return all(poly.terms.get(monomial) == factor for monomial, factor in part.terms.items())


def _is_plain_limit(limit: Poly) -> bool:
    """Whether a limit is made of parameters and constants alone."""
    return all(atom.kind == "param" for atom in limit.closure)


def _might_bound(axis: Axis, formula: Formula) -> bool:
    """Whether a condition of another form could bound the axis: silence is right then."""
    if formula.kind == "one":
        return any(_may_be_the_limit(axis, leaf) for part in formula.parts for leaf in part.conjuncts())
    if formula.kind == "ne":
        # A condition put together in branches is one of several; `token != pad` is about something else.
        joined = (a for a in formula.poly.surface if a.kind in ("either", "carried", "left", "unknown"))
        own = {axis.arange, *(a for step in axis.steps for a in step.closure if a.kind in _COUNTERS)}
        return any(own & Poly.of(atom).closure for atom in joined)
    if formula.kind == "ge":
        if axis.arange in formula.poly.surface:
            return False  # a lower limit
        if axis.arange in visible_aranges(formula.poly) or axis.arange in formula.poly.closure:
            return True
        return _admits_full_tiles_only(axis, formula.poly)
    atoms = formula.closure
    if formula.kind == "eq":
        # `ids == expert`, where the ids were loaded lane by lane: those past the end are nobody's.
        looked_up = any(axis.arange in Poly.of(a).closure for a in formula.poly.surface if a.kind == "load")
        return looked_up or any(_place_values(step) & atoms for step in axis.steps)
    if axis.arange in atoms or any(_same_range(axis.arange, atom) for atom in atoms if atom.kind == "arange"):
        return True
    return any(_place_values(step) & atoms for step in axis.steps)


def _may_be_the_limit(axis: Axis, leaf: Formula) -> bool:
    """Whether one of the conditions that a loop hands on bounds the axis, or might."""
    guard = guard_on(axis, leaf)
    return guard.complete if guard is not None else _might_bound(axis, leaf)


def _place_values(step: Poly) -> frozenset[Atom]:
    """What a step counts by: `pid % n` as a whole, since `pid // n` says nothing about it."""
    return frozenset(atom for atom in step.surface if any(a.kind in _COUNTERS for a in Poly.of(atom).closure))


def _same_range(one: Atom, two: Atom) -> bool:
    return bool(one.args[:2] == two.args[:2])


def _admits_full_tiles_only(axis: Axis, poly: Poly) -> bool:
    """Whether `poly >= 0` says that the whole tile is inside: `start + BLOCK <= n`, `i < n // BLOCK`."""
    for step in axis.steps:
        counters = {atom for atom in step.closure if atom.kind in _COUNTERS}
        if not counters & poly.closure:
            continue
        if any(
            atom.kind == "floordiv" and atom.args[1] == axis.extent
            for monomial, factor in poly.terms.items()
            for atom in Poly({monomial: 1}).closure - step.closure
            if factor > 0 or not _counts(atom)  # `- (pid * 64 // BLOCK) * BLOCK` is where the loop starts
        ):
            return True
        if any(factor < 0 for monomial, factor in poly.terms.items() if Poly({monomial: 1}) == axis.extent):
            return True
        extent, constant = axis.extent.integer, poly.terms.get((), 0)
        if extent is not None and isinstance(constant, int) and constant <= -extent:
            return True
        if any(
            atom.kind in ("load", "either", "unknown", "carried", "left", "min", "data")
            for atom in poly.surface - step.closure
        ):
            return axis.extent not in (_multiple(poly, step), ZERO) and not _is_about_another(axis, poly)
    return False


def _counts(atom: Atom) -> bool:
    return any(inner.kind in _COUNTERS for inner in Poly.of(atom).closure)


def _is_about_another(axis: Axis, poly: Poly) -> bool:
    """Whether a condition limits another counter: `j < min(BLOCK, n - start)` is about `j`."""
    steps = {atom for step in axis.steps for atom in step.closure}
    return any(atom.kind in _COUNTERS and atom not in steps for atom in poly.surface)


def _multiple(poly: Poly, step: Poly) -> Poly:
    """The factor by which a condition scales a step: the extent for conditions on elements."""
    atom = step.atom
    return -poly.coefficient(atom) if atom is not None and atom in poly.surface else ZERO


# --- limits seen elsewhere --------------------------------------------------------------------------
def sightings(trace: Trace, axis: Axis, besides: Access | None) -> list[Sighting]:
    """Limits that other accesses and other masks of the kernel put on the same index."""
    index = (axis.arange.args[:2], *axis.key)
    if index not in trace.sightings:
        trace.sightings[index] = _all_sightings(trace, axis)
    return [seen for seen in trace.sightings[index] if seen.access is None or seen.access is not besides]


def _all_sightings(trace: Trace, axis: Axis) -> list[Sighting]:
    if trace.equal_loops is None:
        trace.equal_loops = _equal_loops(trace)
    axis = replace(axis, steps=tuple(step.substitute(trace.equal_loops) for step in axis.steps))
    if trace.limits is None:
        trace.limits = _limits_of(trace, trace.equal_loops)
    found: list[Sighting] = []
    limits: dict[Formula, Poly | None] = {}
    for formula, where, access in trace.limits.get(axis.arange.args[:2], ()):
        if formula not in limits:
            limits[formula] = _limit_along(axis, formula)
        limit = limits[formula]
        if limit is not None:
            found.append(Sighting(limit, where, access))
    return found


def _limits_of(
    trace: Trace, rename: dict[Atom, Poly]
) -> dict[tuple[Poly, Poly], list[tuple[Formula, Where, Access | None]]]:
    """The inequalities in masks and in named conditions, by the ranges that they limit."""
    stated: list[tuple[Formula, Where, Access | None]] = [
        (formula, access.where, access)
        for access in trace.accesses
        if access.mask is not None and access.mask.formula is not None
        for formula in access.mask.formula.conjuncts()
    ]
    for assignment in trace.assignments:
        condition = getattr(assignment.value, "formula", None)
        if isinstance(condition, Formula):
            stated += [(formula, assignment.where, None) for formula in condition.conjuncts()]
    found: dict[tuple[Poly, Poly], list[tuple[Formula, Where, Access | None]]] = {}
    for formula, where, access in stated:
        renamed = formula.map(lambda poly: poly.substitute(rename))
        if renamed.kind == "ge":
            for lanes in {atom.args[:2] for atom in renamed.poly.surface if atom.kind == "arange"}:
                found.setdefault(lanes, []).append((renamed, where, access))
    return found


def _equal_loops(trace: Trace) -> dict[Atom, Poly]:
    """Loops over the same range, one behind the other, count alike: an index of one is that of the other."""
    first: dict[tuple[Poly, ...], Atom] = {}
    renamed: dict[Atom, Poly] = {}
    for access in trace.accesses:
        for loop in access.loops:
            bounds = (loop.start, loop.stop, loop.step)
            same = first.setdefault(tuple(poly.substitute(renamed) for poly in bounds), loop.trip)
            if same is not loop.trip:
                renamed[loop.trip] = Poly.of(same)
    return renamed


def _limit_along(axis: Axis, formula: Formula) -> Poly | None:
    """The limit a condition puts on the same index, wherever the axis stands in its tile."""
    if formula.kind != "ge":
        return None
    for atom in formula.poly.surface:
        if atom.kind == "arange" and _same_range(atom, axis.arange):
            guard = guard_on(replace(axis, arange=atom), formula)
            if guard is not None and guard.complete and guard.limit != axis.extent and _is_size(guard.limit):
                return guard.limit
    return None


def _is_size(limit: Poly) -> bool:
    """Whether a limit is made of parameters, parts of them, and lengths in memory, or is one of such."""
    atom = limit.atom
    options = atom.args[0] if atom is not None and atom.kind == "either" else (limit,)
    return all(inner.kind in _OF_SIZES for option in options for inner in option.closure)


_OF_SIZES = frozenset(("param", "load", "pid", "floordiv"))


# --- tails ------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Tail:
    """Whether the last tile of an axis can hang over, and of which size.

    `ragged` YES: the number of tiles is rounded up from `size`, which nothing makes a multiple.
    `stepped` says that tiles are certainly counted along a longer axis, not one tile per row.
    """

    ragged: Proof
    size: Poly | None = None
    stepped: bool = False


def tail_of(
    axis: Axis, access_loops: tuple[Loop, ...], launch: Launch | None, facts: Iterable[Formula]
) -> Tail:
    """The tail of a stepped axis at one launch (None: as the kernel alone shows it)."""
    facts = tuple(facts)
    extent = launch.on_host(axis.extent) if launch is not None else axis.extent
    tails = [_step_tail(step, axis.extent, extent, access_loops, launch, facts) for step in axis.steps]
    stepped = any(tail.stepped for tail in tails)
    for wanted in (Proof.YES, Proof.UNKNOWN):
        for tail in tails:
            if tail.ragged is wanted:
                return Tail(wanted, tail.size, stepped)
    return Tail(Proof.NO, None, stepped)


def _step_tail(
    step: Poly,
    kernel_extent: Poly,
    extent: Poly,
    loops: tuple[Loop, ...],
    launch: Launch | None,
    facts: tuple[Formula, ...],
) -> Tail:
    places: list[Poly] = [step]
    for loop in loops:
        if loop.trip not in step.closure:
            continue
        if launch is not None and launch.on_host(loop.stop - loop.start - loop.step) == ZERO:
            return Tail(Proof.NO)  # it runs once
        if loop.step.exact_quotient(kernel_extent) is not None and kernel_extent != ONE:
            return _loop_tail(loop, extent, launch, facts)
        places += [loop.stop, loop.start]
    others: set[Poly] = set()
    if launch is not None:
        others = _sizes_of_other_axes(places, kernel_extent, launch)
        places = [launch.on_host(poly) for poly in places]
        places += _grid_polys(step, launch)
    sizes: list[Poly] = []
    whole: list[Poly] = []
    for poly in places:
        for atom in poly.closure:
            if atom.kind not in ("cdiv", "floordiv") or not _same_extent(atom.args[1], extent, kernel_extent):
                continue
            if atom.kind == "floordiv" and _adds_a_tile(poly, atom):
                return Tail(Proof.YES, atom.args[0], stepped=True)
            if atom.kind == "floordiv" or _leaves_last_tile_out(poly, atom):
                whole.append(atom.args[0])
            else:
                sizes.append(atom.args[0])
    sizes = [size for size in sizes if size not in whole]
    for size in [size for size in sizes if size not in others] or sizes:
        if any(atom.kind == "load" for atom in size.closure):
            return Tail(Proof.UNKNOWN, size)  # a length in memory is not the tensor's size
        if divides(extent, size, facts) is not Proof.YES:
            if is_configured(size):
                return Tail(Proof.UNKNOWN, size)
            return Tail(Proof.YES, size, stepped=True)
    if sizes or whole:
        return Tail(Proof.NO, sizes[0] if sizes else None, stepped=True)
    counts = _grid_polys(step, launch) if launch is not None else []
    if counts and all(_is_row_count(poly) for poly in counts):
        return Tail(Proof.NO)
    return Tail(Proof.UNKNOWN)


def _sizes_of_other_axes(places: list[Poly], extent: Poly, launch: Launch) -> set[Poly]:
    """Sizes that the kernel itself counts in tiles of another extent.

    A configuration may give two block sizes one value: `cdiv(M, 128)` then says nothing about columns.
    """
    counts = {atom for poly in places for atom in poly.closure if atom.kind in ("cdiv", "floordiv")}
    own = {launch.on_host(atom.args[0]) for atom in counts if atom.args[1] == extent}
    return {launch.on_host(atom.args[0]) for atom in counts if atom.args[1] != extent} - own


def _leaves_last_tile_out(poly: Poly, tiles: Atom) -> bool:
    """Whether a loop runs over all tiles but the last: `range(min(cdiv(n, BLOCK) - 1, end))`."""
    constant = poly.terms.get((), 0)
    if poly.terms.get((tiles,)) == 1 and isinstance(constant, int) and constant < 0:
        return True
    least = (part for atom in poly.surface if atom.kind == "min" for part in atom.args[0])
    return any(_leaves_last_tile_out(part, tiles) for part in least)


def _adds_a_tile(poly: Poly, tiles: Atom) -> bool:
    """Whether a count is `n // BLOCK + 1`: one tile too many whenever it divides."""
    constant = poly.terms.get((), 0)
    return poly.terms.get((tiles,)) == 1 and isinstance(constant, int) and constant > 0


def _loop_tail(loop: Loop, extent: Poly, launch: Launch | None, facts: tuple[Formula, ...]) -> Tail:
    """The tail of `for k in range(start, stop, BLOCK)`."""
    size = loop.stop - loop.start
    if any(isinstance(factor, int) and factor < 0 for factor in loop.step.terms.values()):
        size = _counted_back_from(loop) or -size
    if launch is not None:
        size = launch.on_host(size)
    answer = divides(extent, size, facts)
    if answer is Proof.YES:
        return Tail(Proof.NO, size, stepped=True)
    if launch is None or answer is Proof.NO:
        return Tail(Proof.YES if answer is Proof.NO else Proof.UNKNOWN, size, stepped=True)
    unclear = (
        "either",
        "load",
        "unknown",
        "carried",
        "left",
        "min",
        "pid",
        "trip",
        "pow",
        "lshift",
        "pow2ceil",
    )
    plain = all(atom.kind not in unclear for atom in size.closure) and not is_configured(size)
    return Tail(Proof.YES if plain else Proof.UNKNOWN, size, stepped=True)


def _counted_back_from(loop: Loop) -> Poly | None:
    """What a loop that starts at the last tile, `(cdiv(n, BLOCK) - 1) * BLOCK`, goes back from."""
    end = loop.start - loop.step
    for atom in end.surface:
        if atom.kind == "cdiv" and end == -(loop.step * Poly.of(atom)):
            size: Poly = atom.args[0]
            return size
    return None


def is_configured(size: Poly) -> bool:
    """Whether a size is a setting (a defaulted argument, an attribute) and no tensor's size."""
    atoms = size.closure
    return any(atom.kind == "config" for atom in atoms) and not any(
        atom.kind in ("dim", "numel", "len", "item", "extreme") for atom in atoms
    )


def _grid_polys(step: Poly, launch: Launch) -> list[Poly]:
    """The grid sizes that a step counts through."""
    axes = {atom.args[0] for atom in step.closure if atom.kind == "pid"}
    grid = launch.grid or ()
    return [grid[axis] for axis in sorted(a for a in axes if isinstance(a, int)) if axis < len(grid)]


def _is_row_count(poly: Poly) -> bool:
    """Whether a grid size counts rows rather than tiles: no rounded quotient, nothing unknown."""
    return all(atom.kind not in ("cdiv", "floordiv", "unknown", "either", "call") for atom in poly.closure)


def _same_extent(divisor: Poly, extent: Poly, kernel_extent: Poly) -> bool:
    """Whether a count is of this axis' tiles; a small literal may be any number's twin."""
    literal = kernel_extent.integer
    return divisor in (extent, kernel_extent) and (literal is None or literal >= 16)
