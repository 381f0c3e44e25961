"""Accesses that can pass the end of their tensor, with what shows it: a launch, or a twin's mask.

An exposure is a fact and its evidence. How loudly to speak of it is for the rules to say.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import accumulate
from operator import mul
from typing import TYPE_CHECKING

from tritonlint.model.bounds import (
    Axis,
    Guard,
    Sighting,
    Tail,
    axes_of,
    conditions_of,
    contains,
    offset_of,
    report,
    sightings,
    tail_of,
    visible_aranges,
)
from tritonlint.model.checks import is_tested_somehow
from tritonlint.model.facts import (
    are_equal,
    equations_in,
    possible_values,
    resolved,
    settled,
    was_chosen_to_divide,
)
from tritonlint.model.kernel import launches_of
from tritonlint.model.logic import Formula, parts_of
from tritonlint.model.proof import Proof
from tritonlint.model.records import Access, Trace
from tritonlint.model.symbolic import ONE, Atom, Poly

if TYPE_CHECKING:
    from tritonlint.model.kernel import Kernel
    from tritonlint.model.launch import Launch
    from tritonlint.model.values import Tensor


@dataclass(frozen=True)
class Exposure:
    """One axis of one access that nothing bounds.

    `kind` is `open` (no limit), `index` (the limit is on another index than the address uses),
    `extent` (the limit belongs to another axis) or `sentinel` (a loaded index whose bad value is
    tested elsewhere). `tail` is what the launch shows, `sibling` the limit used elsewhere,
    `launch` the launch that shows it, `flag` the condition that was meant to make the tile whole.
    """

    kind: str
    access: Access
    axis: Axis | None
    base: str | None
    trace: Trace
    tail: Tail
    launch: Launch | None = None
    sibling: Sighting | None = None
    guard: Guard | None = None
    flag: Formula | None = None
    hinted: bool = False
    witnesses: int = 0
    """Other accesses that stop where `sibling` does."""

    @property
    def sibling_is_same_tensor(self) -> bool:
        """Whether the limit elsewhere is on an access of the same tensor."""
        other = self.sibling.access if self.sibling is not None else None
        return (
            other is not None
            and self.base is not None
            and Atom("param", self.base) in other.address.poly.surface
        )

    @property
    def sibling_is_same_place(self) -> bool:
        """Whether the access that is masked elsewhere has the very same offset."""
        other = self.sibling.access if self.sibling is not None else None
        return other is not None and _offset(other, self.trace) == _offset(self.access, self.trace)

    @property
    def is_tested_by_another(self) -> bool:
        """Whether what is tested or limited elsewhere is so in another function than the access."""
        return self.sibling is not None and self.sibling.where.function is not self.access.where.function

    @property
    def is_tested_somehow(self) -> bool:
        """Whether the package tests the size in a way that could not be connected with the access."""
        launch, axis = self.launch, self.axis
        if axis is None or self._is_tested_in_kernel(axis):
            return axis is not None
        if launch is None:
            return False
        limits = [self.sibling.limit] if self.sibling is not None else []
        sizes = [launch.on_host(limit) for limit in limits]
        sizes += [self.tail.size] if self.tail.size is not None else []
        block = launch.on_host(axis.extent)
        facts = (*launch.facts, *(launch.formula_on_host(condition) for condition in self.access.conditions))
        return any(
            is_tested_somehow(size, block, launch, facts, rounded=not axis.steps)
            for size in sizes
            if size.constant is None
        )

    @property
    def tensor(self) -> Tensor | None:
        """What the launch passes for the pointer that the address starts from."""
        return self.launch.tensor(self.base) if self.launch is not None and self.base is not None else None

    @property
    def ends_there(self) -> Proof:
        """Whether the tensor itself ends at the size that was divided into tiles, as far as the host shows.

        YES where it was allocated with that size, and for what a caller passed in; NO where it was allocated
        with other sizes, which may be whole tiles, or is a slice of an allocation; UNKNOWN for what a
        function, a view or another slice gave, and for a tile as wide as another tensor than the one passed
        in.
        """
        tensor, size = self.tensor, self.tail.size
        if tensor is None or size is None:
            return Proof.YES if self.launch is None else Proof.UNKNOWN
        if tensor.dims is not None:
            own = size in tensor.dims or size == tensor.size
            return Proof.NO if not own else Proof.UNKNOWN if tensor.origin == "derived" else Proof.YES
        own = any(atom.kind in ("dim", "numel") and atom.args[0] == tensor.shape_key for atom in size.closure)
        if tensor.origin == "derived" and _SLICE_OF_ALLOCATION.match(tensor.key):
            return Proof.NO
        given = tensor.origin == "derived" and re.search(r"[(\[]", tensor.shape_key)
        if tensor.origin == "input" and (self.axis is None or self.axis.steps or self.sibling_is_same_tensor):
            return Proof.YES
        return Proof.YES if own and not given else Proof.UNKNOWN

    @property
    def lies_in_padded_rows(self) -> bool:
        """Whether the rows before are skipped by a size that was rounded up: `row * n_rounded + n`.

        The launch shows it by what it passes, or the kernel by what it calls the size.
        """
        axis = self.axis
        if axis is None or axis.stride != ONE:
            return False
        values = self.launch.values if self.launch is not None else {}
        size = self.tail.size
        for monomial in offset_of(self.access.address.poly, self.base).terms:
            if len(monomial) == 1 or axis.arange in monomial or not axis.extent.closure.isdisjoint(monomial):
                continue  # the pointer, the index itself, or a step by tiles
            for atom in monomial:
                if atom.kind == "param" and re.search(r"(?i)rounded|padded|aligned", str(atom.args[0])):
                    return True
                pitch = values.get(atom)
                if pitch is not None and size is not None and _is_rounded_from(pitch, size):
                    return True
        return False

    @property
    def loads_sentinels(self) -> bool:
        """Whether what is loaded is kept below some size wherever it goes: entries past the last are padding.

        `token = tl.load(tokens + at)`, then `mask=token < n`: there are such tokens only where the list was
        filled up to whole tiles.
        """
        index = self.access.index
        if self.access.kind != "load":
            return False
        is_compared = any(
            comparison.operator == "Lt"
            and index in comparison.left.loads
            and comparison.right.poly.constant is None
            and comparison.left.poly.atom is not None
            and comparison.left.poly.atom.kind == "load"
            for comparison in self.trace.comparisons
        )
        return is_compared and any(
            other.mask is not None and index in other.address.loads and index in other.mask.loads
            for other in self.trace.accesses
        )

    @property
    def is_made_over(self) -> bool:
        """Whether the tensor came out of another with other sizes, as `F.pad` gives."""
        return self.ends_there is Proof.NO and self.tensor is not None and self.tensor.origin == "derived"

    @property
    def walks_matrix(self) -> bool:
        """Whether a loop steps along an axis of a matrix, or beside a product, as along K."""
        matrix = len(visible_aranges(self.access.address.poly)) > 1
        return self.is_looped and (matrix or bool(self.trace.dots))

    @property
    def is_looped(self) -> bool:
        """Whether a loop steps along the axis."""
        steps = self.axis.steps if self.axis is not None else ()
        return any(atom.kind == "trip" for step in steps for atom in step.closure)

    @property
    def is_pruned_away(self) -> bool:
        """Whether a function of the package picks the block size for the sizes, in ways nobody can follow."""
        launch = self.launch
        return launch is not None and launch.is_pruned and self.tail.ragged is Proof.UNKNOWN

    @property
    def is_block(self) -> bool:
        """Whether the tile's width is called a block size, so that it need not be the tensor's."""
        return self.axis is not None and is_block_size(self.axis.extent)

    @property
    def stays_in_its_group(self) -> bool:
        """Whether the index is divided by what is called a group and may be a multiple of the tile.

        A tile that passes the end of the size then still reads the last group.
        """
        axis = self.axis
        if axis is None or axis.divisor is None:
            return False
        group, tile = axis.divisor, axis.extent
        if self.launch is not None:
            group, tile = self.launch.on_host(group), self.launch.on_host(tile)
        called = [str(atom.args[0]) for atom in axis.divisor.closure if atom.kind == "param"]
        numbers = group.integer, tile.integer
        if numbers[0] is None and not any(re.search(r"(?i)group|block", name) for name in called):
            return False
        return numbers[0] is None or numbers[1] is None or numbers[0] >= numbers[1]

    def _is_tested_in_kernel(self, axis: Axis) -> bool:
        """Whether an unnamed size may be one that a static assertion makes a multiple of the tile."""
        if self.sibling is not None or not (self.tail.size is None or self.walks_matrix):
            return False
        atoms = {atom for fact in self.trace.facts for atom in fact.closure if atom.kind == "mod"}
        return any(atom.args[1].exact_quotient(axis.extent) is not None for atom in atoms)

    @property
    def is_bare(self) -> bool:
        """Whether it is the access's mask that is missing, and not a part of it or the right index."""
        return self.access.mask is None and self.kind in ("open", "scatter")

    @property
    def masked(self) -> bool:
        """Whether the access has a mask at all."""
        return self.access.mask is not None


_SLICE_OF_ALLOCATION = re.compile(r"(new_)?(empty|zeros|ones|full)@[\d:]+\[")


def _is_rounded_from(whole: Poly, size: Poly) -> bool:
    """Whether one size is another's tiles, counted and multiplied out again."""
    return whole != size and any(
        atom.kind in ("cdiv", "pow2ceil") and atom.args[0] == size for atom in whole.closure
    )


def is_block_size(extent: Poly) -> bool:
    """Whether an extent is a parameter that its author calls a block or a tile, not a head size."""
    atom = extent.atom
    return atom is not None and atom.kind == "param" and bool(re.search(r"(?i)block|tile", str(atom.args[0])))


def exposures_of(kernel: Kernel) -> Iterator[Exposure]:
    """Every exposed axis of the accesses in a kernel's own body, in every context."""
    for trace in kernel.traces:
        launches = launches_of(trace.root)
        for access in trace.accesses:
            if kernel.mine(access.where):
                yield from exposed_by(access, trace, launches)


def base_of(address: Poly, trace: Trace, launches: tuple[Launch, ...]) -> str | None:
    """The pointer parameter an address starts from."""
    names = [
        str(monomial[0].args[0])
        for monomial, factor in address.terms.items()
        if factor == 1 and len(monomial) == 1 and monomial[0].kind == "param"
    ]
    names = [name for name in names if name not in constexprs_of(trace)]
    if len(names) > 1:
        sure = [
            n for n in names if any((t := launch.tensor(n)) is not None and t.sure for launch in launches)
        ]
        names = sure or [name for name in names if name not in trace.scalars] or names
        order = {parameter.name: i for i, parameter in enumerate(trace.root.parameters)}
        names.sort(key=lambda name: order.get(name, 0))
    return names[0] if names else None


def constexprs_of(trace: Trace) -> frozenset[str]:
    """The compile-time parameters of a trace's root."""
    return frozenset(p.name for p in trace.root.parameters if p.is_constexpr)


def exposed_by(access: Access, trace: Trace, launches: tuple[Launch, ...]) -> Iterator[Exposure]:
    """Every exposed axis of one access."""
    base = base_of(access.address.poly, trace, launches)
    offset = offset_of(access.address.poly, base)
    axes, _ = axes_of(offset, constexprs_of(trace))
    variants = [variant for launch in launches for variant in launch.variants]
    live = [launch for launch in variants if not launch.cuts_away(access.conditions)]
    if launches and not live:
        return
    for axis in axes:
        result = report(axis, access)
        if result.bounded is Proof.UNKNOWN and not access.mask_unknown:
            result = report(axis, access, besides=_masked_all_the_same(axis, access, trace))
        if result.bounded is Proof.NO:
            exposure = _exposed(axis, access, base, trace, tuple(live), result.partial)
            if exposure is not None:
                yield exposure
        elif result.guard is not None:
            swapped = _swapped_limit(axis, result.guard, axes, access, trace, tuple(live)) or _shared_limit(
                axis, result.guard, axes, access, trace, tuple(live)
            )
            if swapped is not None:
                sibling, launch = swapped
                tail = Tail(Proof.YES if launch is not None else Proof.UNKNOWN)
                yield Exposure("extent", access, axis, base, trace, tail, launch, sibling, result.guard)
    yield from _sentinels(access, base, offset, trace, launches)


def _masked_all_the_same(axis: Axis, access: Access, trace: Trace) -> frozenset[Formula]:
    """Conditions under which another access still masks the same index: they do not bound it."""
    twins = [s.access for s in sightings(trace, axis, access) if s.access is not None]
    return frozenset(condition for twin in twins for condition in resolved(twin.conditions))


def _masked_at_the_same_place(axis: Axis, access: Access, trace: Trace) -> list[Sighting]:
    """Masks of other tensors' accesses at the very same offset, however it is put together."""
    found = []
    for other in trace.accesses:
        formula = other.mask.formula if other.mask is not None and other is not access else None
        limits = [part for part in formula.conjuncts() if part.kind == "ge"] if formula is not None else []
        limits = [part for part in limits if part.poly.coefficient(axis.arange) == -ONE]
        if limits and _offset(other, trace) == _offset(access, trace):
            for part in limits:
                rest = part.poly + Poly.of(axis.arange) + ONE
                sizes = [
                    atom for atom in rest.surface if atom.kind == "param" and rest.coefficient(atom) == ONE
                ]
                limit = Poly.of(sizes[0]) if len(sizes) == 1 else rest
                found.append(Sighting(limit, other.where, other))
    return found


def _offset(access: Access, trace: Trace) -> Poly:
    return offset_of(access.address.poly, base_of(access.address.poly, trace, ()))


def _exposed(
    axis: Axis,
    access: Access,
    base: str | None,
    trace: Trace,
    launches: tuple[Launch, ...],
    partial: Guard | None,
) -> Exposure | None:
    kind = "index" if partial is not None else "open"
    twins = sightings(trace, axis, access) or _masked_at_the_same_place(axis, access, trace)
    if any(_ends_where_it_should(axis, access, twin.limit) for twin in twins):
        return None
    flag = _flag_of(axis, access, base, trace)
    if flag is not None and launches and all(_is_switch(each.formula_on_host(flag)) for each in launches):
        flag = None
    # Where only some of the steps are missing in the mask, it is they that must move.
    moved = axis if partial is None else replace(axis, steps=partial.missing)
    verdicts: list[tuple[Launch | None, Tail]] = []
    for each in launches:
        if flag is not None and _may_excuse(each.formula_on_host(flag), each.on_host(axis.extent)):
            continue
        if partial is not None and _counts_by_remainders(partial, axis, each):
            continue
        verdicts.append((each, _tail_at(moved, access, base, trace, each, twins)))
    if not launches and flag is None:
        facts = (*trace.facts, *conditions_of(access))
        verdicts.append(
            (None, tail_of(axis, access.loops, None, facts) if axis.steps else Tail(Proof.UNKNOWN))
        )
    open_ends = [(launch, tail) for launch, tail in verdicts if tail.ragged is not Proof.NO]
    if not open_ends:
        return None
    sure = [(la, t) for la, t in open_ends if t.ragged is Proof.YES]
    launch, tail = sure[0] if sure else open_ends[0]
    if sure and len(sure) < len(verdicts) and launch is not None and launch.is_pruned:
        tail = Tail(Proof.UNKNOWN, tail.size)  # the pruner may keep only what divides
    sibling = twins[0] if twins and flag is None else None
    if sibling is not None and (
        (kind == "open" and _is_own_pitch(axis, trace, sibling)) or _is_whole_row(axis, access, base)
    ):
        sibling = None
    if (
        sibling is not None
        and tail.ragged is Proof.UNKNOWN
        and _may_be_padded(axis, base, launch, sibling.limit)
    ):
        sibling = None
    hinted = launch is None and _has_idle_size(trace)
    same = {id(s.access) for s in twins if sibling and s.limit == sibling.limit and s.access is not None}
    return Exposure(kind, access, axis, base, trace, tail, launch, sibling, partial, flag, hinted, len(same))


def _ends_where_it_should(axis: Axis, access: Access, limit: Poly) -> bool:
    """Whether an index starts as far in front of something as others go: `end - limit + arange`.

    Where their tile ends, this one is at `end`, and says nothing of what lies behind. Among terms that count
    by the limit it is a number of rows: `(row - 1) * width + arange`.
    """
    whole = limit * axis.stride
    terms = access.address.poly.terms.items()
    if not contains(access.address.poly, -whole):
        return False
    return not any(m not in whole.terms and Poly({m: f}).exact_quotient(whole) for m, f in terms)


def _counts_by_remainders(guard: Guard, axis: Axis, launch: Launch) -> bool:
    """Whether a limit on `pid % n` is one on `pid`: the grid has at most `n` programs along that axis."""
    stated = guard.formula.poly
    for step in guard.missing:
        pid = step.atom
        number = pid.args[0] if pid is not None and pid.kind == "pid" else None
        if launch.grid is None or not isinstance(number, int) or number >= len(launch.grid):
            return False
        rests = [a for a in stated.closure if a.kind == "mod" and a.args[0] == step]
        counted = [a.args[1] for a in rests if contains(stated, -(Poly.of(a) * axis.extent))]
        count = settled(launch.grid[number], launch.facts)
        if not any(_is_at_most(count, settled(launch.on_host(n), launch.facts)) for n in counted):
            return False
    return bool(guard.missing)


def _is_at_most(count: Poly, number: Poly) -> bool:
    """Whether a count is a number, or that number divided into tiles."""
    atom = count.atom
    return count == number or (atom is not None and atom.kind == "cdiv" and atom.args[0] == number)


def _tail_at(
    axis: Axis, access: Access, base: str | None, trace: Trace, launch: Launch, twins: list[Sighting]
) -> Tail:
    extent = launch.on_host(axis.extent).atom
    if extent is not None and extent.kind == "floordiv":
        return Tail(Proof.NO)  # `width // count` is a row's width, not a tile's
    if base is not None and _holds_whole_tiles(axis, base, launch):
        return Tail(Proof.NO)
    facts = (*launch.facts, *(launch.formula_on_host(f) for f in (*trace.facts, *access.conditions)))
    if axis.steps and twins and was_chosen_to_divide(launch.on_host(axis.extent)):
        return Tail(Proof.UNKNOWN)  # a twin's mask: not for every tile, or nobody would mask it
    tiles = _tiles_at(axis, launch)
    if tiles is not None and twins:
        reach, end = launch.on_host(axis.extent) * tiles, launch.on_host(twins[0].limit)
        if reach.integer is not None and end.integer is not None:
            return Tail(Proof.YES if reach.integer > end.integer else Proof.NO, end)
    if axis.steps and tiles != ONE:
        return tail_of(axis, access.loops, launch, facts)
    limit = launch.on_host(twins[0].limit) if twins and is_block_size(axis.extent) else None
    return _whole_tail(launch.on_host(axis.extent), limit, facts)


def _tiles_at(axis: Axis, launch: Launch) -> Poly | None:
    """How many tiles the programs of a launch make of an axis, where it says so by a number."""
    pid = axis.steps[0].atom if len(axis.steps) == 1 else None
    number = pid.args[0] if pid is not None and pid.kind == "pid" else None
    if launch.grid is None or not isinstance(number, int):
        return None
    count = launch.grid[number] if number < len(launch.grid) else ONE
    return count if count.integer is not None else None


def _whole_tail(extent: Poly, limit: Poly | None, facts: tuple[Formula, ...]) -> Tail:
    """The tail of a tile as wide as its tensor: ragged if the width was rounded up for it.

    `limit` is where other accesses stop along the same index.
    """
    if extent.constant is not None:
        return Tail(Proof.NO)
    size = _rounded_size(extent)
    if size is not None and (
        are_equal(extent, size, facts) or _is_stated_exact(extent, facts) or _fits(extent, size, facts)
    ):
        return Tail(Proof.NO, size)
    if size is not None:
        values = possible_values(size, facts)
        if values is not None and all(value > 0 and value & (value - 1) == 0 for value in values):
            return Tail(Proof.NO, size)
        return Tail(Proof.YES, size)
    if limit is not None and limit != extent and all(atom.kind == "hostparam" for atom in extent.closure):
        return Tail(Proof.UNKNOWN)  # a block size that a caller picks, beside the width that is masked
    if all(atom.kind in ("dim", "hostparam", "numel") for atom in extent.closure):
        return Tail(Proof.NO)
    return Tail(Proof.UNKNOWN)


def _fits(extent: Poly, size: Poly, facts: tuple[Formula, ...]) -> bool:
    """Whether a condition says that the tile is no wider than the size: `if not BLOCK > n`."""
    return any(
        part.kind == "ge" and part.poly == size - extent for fact in facts for part in fact.conjuncts()
    )


def _is_stated_exact(extent: Poly, facts: tuple[Formula, ...]) -> bool:
    """Whether a check says that rounding up changed nothing: `BLOCK_D == head_dim // 2`."""
    return any(
        atom == extent.atom and not any(inner.kind == "pow2ceil" for inner in value.closure)
        for atom, value in equations_in(facts)
    )


def _rounded_size(extent: Poly) -> Poly | None:
    """The width that was rounded up to a power of two, perhaps with a floor."""
    atom = _without_floor(extent).atom
    if atom is None or atom.kind != "pow2ceil":
        return None
    return _without_floor(atom.args[0], highest=1)  # no launch is about an empty tensor


def _without_floor(size: Poly, highest: float = math.inf) -> Poly:
    """The size in `max(size, constant)`, for constants up to the highest that makes no difference."""
    atom = size.atom
    if atom is not None and atom.kind == "max":
        sizes: list[Poly] = [item for item in atom.args[0] if item.constant is None]
        floors = [item.constant for item in atom.args[0] if item.constant is not None]
        if len(sizes) == 1 and all(floor <= highest for floor in floors):
            return sizes[0]
    return size


def _holds_whole_tiles(axis: Axis, base: str, launch: Launch) -> bool:
    """Whether the tensor was allocated in whole tiles along this axis, or is asserted to be."""
    tensor = launch.tensor(base)
    if tensor is None:
        return False
    extent, stride = launch.on_host(axis.extent), launch.on_host(axis.stride)
    allocated = [tensor.dims] if tensor.origin == "fresh" and tensor.dims is not None else []
    # Whoever pads a tensor on one way through the host does so where it is needed.
    if any(_is_allocated_whole(dims, extent, stride) for dims in (*allocated, *tensor.made)):
        return True
    return tensor.dims is None and any(
        atom.kind == "dim" and atom.args[0] == tensor.shape_key and _is_whole(size, extent)
        for atom, size in equations_in(launch.facts)
        if size.constant is None
    )


def _is_allocated_whole(dims: tuple[Poly, ...], extent: Poly, stride: Poly) -> bool:
    spans = accumulate(reversed(dims), mul, initial=ONE)
    return any(
        span == stride and _is_whole(dim, extent) for span, dim in zip(spans, reversed(dims), strict=False)
    )


def _is_whole(dim: Poly, extent: Poly) -> bool:
    """Whether a size was rounded up to a multiple of the extent (or of a multiple of it)."""
    if dim.exact_quotient(extent) is not None:
        return True
    number = extent.integer
    if number is None or dim.constant is not None:
        return False
    return bool(dim.terms) and all(isinstance(f, int) and f % number == 0 for f in dim.terms.values())


# --- flags ------------------------------------------------------------------------------------------
_DYNAMIC = frozenset(
    ("pid", "programs", "trip", "arange", "load", "data", "carried", "left", "unknown", "swizzle_i")
)
_UNRELATED = frozenset(("compared", "absent", "flag", "contiguous", "truth"))
_SIZES = frozenset(
    ("dim", "numel", "hostparam", "len", "stride", "mod", "floordiv", "cdiv", "min", "max", "pow2ceil")
)


def _flags(access: Access) -> list[Formula]:
    """Enclosing conditions on the kernel's parameters alone: `if EVEN_K`, `if n % BLOCK == 0`."""
    found: list[Formula] = []
    for condition in access.conditions:
        found.extend(
            part
            for part in condition.conjuncts()
            if part.closure and not any(atom.kind in _DYNAMIC for atom in part.closure)
        )
    return found


def _flag_of(axis: Axis, access: Access, base: str | None, trace: Trace) -> Formula | None:
    """The condition under which an access does without the mask that its twin has where it fails.

    `if EVEN_K: load(p) else: load(p, mask)` does the same twice. A flag that chooses what to do, such as
    to store or to add atomically, has nothing to do with masks; nor has one whose branch masks the same
    tiles elsewhere.
    """
    for flag in _flags(access):
        there = [other for other in trace.accesses if axis.extent in _masked_axes(other)]
        if any(flag in parts_of(other.conditions) for other in there):
            continue
        for other in there:
            same = other.kind == access.kind and _same_base(other, base)
            if (
                same
                and flag.negated() in parts_of(other.conditions)
                and _masked_axes(access) <= _masked_axes(other)
            ):
                return flag
    return None


def _masked_axes(access: Access) -> frozenset[Poly]:
    """The extents of the tiles that a mask speaks of."""
    formula = access.mask.formula if access.mask is not None else None
    atoms = formula.closure if formula is not None else ()
    return frozenset(atom.args[1] for atom in atoms if atom.kind == "arange")


def _may_excuse(formula: Formula, extent: Poly) -> bool:
    """Whether a flag, seen from the host, may stand for whole tiles in a way that cannot be checked.

    A condition on sizes is checked as a fact, but for one that asks for a multiple of this very tile; one
    that has nothing to do with sizes (`x is not None`) excuses nothing.
    """
    remainders = [atom for atom in formula.closure if atom.kind == "mod"]
    if any(atom.args[1] == extent for atom in remainders):
        return True
    if any(atom.args[1].integer is None or extent.integer is None for atom in remainders):
        return True  # by a block size that the host looks up, which may be this one
    if formula.known is not None:
        return True  # set by hand, where the host has made sure of it
    if all(atom.kind in _UNRELATED for atom in formula.closure):
        return False
    return not all(atom.kind in _SIZES for atom in formula.closure)


_SAYS_WHOLE = re.compile(
    r"(?i)even|divis|align|full|mask|pad|bound|check|exact|tail|remain|safe|whole|multipl"
)


def _is_switch(formula: Formula) -> bool:
    """Whether a condition is a caller's choice of what to do: a bare flag, or a comparison with some mode.

    One whose name speaks of whole tiles is no such switch.
    """
    named = [atom for atom in formula.closure if atom.kind in ("hostparam", "config")]
    bare = formula.kind == "eq" and formula.poly.atom is not None
    chosen = bare or any(atom.kind == "compared" for atom in formula.closure)
    known = all(atom.kind in ("hostparam", "config", *_UNRELATED) for atom in formula.closure)
    return chosen and known and not any(_SAYS_WHOLE.search(str(atom.args[0])) for atom in named)


def _same_base(access: Access, base: str | None) -> bool:
    return base is None or Atom("param", base) in access.address.poly.surface


# --- twins ------------------------------------------------------------------------------------------
def _is_own_pitch(axis: Axis, trace: Trace, sibling: Sighting) -> bool:
    """Whether the address lies in rows of exactly one tile, as a scratch buffer does."""
    return bool(axis.steps) and axis.stride.constant is not None and sibling.limit == axis.extent


def _is_whole_row(axis: Axis, access: Access, base: str | None) -> bool:
    """Whether a tile is a whole row: those before it are skipped by multiples of its own width."""
    if axis.steps:
        return False
    width = axis.extent * axis.stride
    return any(
        axis.arange not in monomial and Poly({monomial: factor}).exact_quotient(width) is not None
        for monomial, factor in offset_of(access.address.poly, base).terms.items()
        if monomial
    )


def _may_be_padded(axis: Axis, base: str | None, launch: Launch | None, limit: Poly) -> bool:
    """Whether the tensor was allocated here with sizes that may have been rounded up for the kernel.

    `limit` is where other accesses stop: one that is a size of the tensor was not.
    """
    tensor = launch.tensor(base) if launch is not None and base is not None else None
    if tensor is None or tensor.origin != "fresh":
        return False
    stop = launch.on_host(limit) if launch is not None else limit
    if any(atom.kind in ("dim", "numel") and atom.args[0] == tensor.shape_key for atom in stop.closure):
        return False  # made like another tensor, whose size is the limit
    if not tensor.dims:
        return False
    if stop in tensor.dims:
        return False
    stride = launch.on_host(axis.stride) if launch is not None else axis.stride
    spans = list(accumulate(reversed(tensor.dims), mul, initial=ONE))
    along = tensor.dims
    if stride in spans[:-1]:
        along = (tensor.dims[-1 - spans.index(stride)],)
    return any(atom.kind not in ("dim", "numel") for dim in along for atom in dim.closure)


def _has_idle_size(trace: Trace) -> bool:
    """Whether no access has a mask and a runtime parameter is never read: the size it would have used."""
    if any(access.mask is not None for access in trace.accesses):
        return False
    read = {node.id for node in trace.root.nodes if isinstance(node, ast.Name)}
    return any(p.name not in read and not p.is_constexpr for p in trace.root.parameters)


def _swapped_limit(
    axis: Axis,
    guard: Guard,
    axes: tuple[Axis, ...],
    access: Access,
    trace: Trace,
    launches: tuple[Launch, ...],
) -> tuple[Sighting, Launch | None] | None:
    """The limit that every other access uses, where this one uses another axis' limit.

    Two other accesses are needed, or a launch whose grid counts the tiles of the usual limit.
    """
    others = [s for s in sightings(trace, axis, access) if s.access is not None]
    if any(s.limit == guard.limit for s in others) or len({s.limit for s in others}) != 1:
        return None
    limit = others[0].limit
    witnesses = {id(s.access) for s in others}
    counted = next((la for la in launches if _counts(axis, limit, guard.limit, access, la)), None)
    if len(witnesses) < 2 and counted is None:
        return None
    for other in axes:
        if other.key != axis.key:
            theirs = {s.limit for s in sightings(trace, other, access) if s.access is not None}
            if theirs == {guard.limit}:
                return others[0], counted
    return None


def _shared_limit(
    axis: Axis,
    guard: Guard,
    axes: tuple[Axis, ...],
    access: Access,
    trace: Trace,
    launches: tuple[Launch, ...],
) -> tuple[Sighting, Launch | None] | None:
    """The size whose tiles an axis counts, where its limit is another axis' size: `(m < M) & (n < M)`."""
    limits = [
        theirs.limit for other in axes if other.key != axis.key if (theirs := report(other, access).guard)
    ]
    if guard.limit.constant is not None or not any(limit.surface >= guard.limit.surface for limit in limits):
        return None
    twins = [s for s in sightings(trace, axis, access) if s.access is not None]
    for launch in launches or (None,):
        on_host = launch.on_host if launch is not None else lambda poly: poly
        own, limit = _counted_size(axis, access, launch), on_host(guard.limit)
        others = [_counted_size(other, access, launch) for other in axes if other.key != axis.key]
        if own is None or own == limit or any(atom.kind not in _PLAIN for atom in own.closure):
            continue
        twin = next((s for s in twins if on_host(s.limit) == own), None)
        if twin is not None:
            return twin, launch
        if limit in others:
            in_kernel = _counted_size(axis, access, None)
            return Sighting(in_kernel if in_kernel is not None else own, access.where, None), launch
    return None


_PLAIN = frozenset(("dim", "numel", "hostparam", "param", "config", "floordiv", "mod"))


def _counted_size(axis: Axis, access: Access, launch: Launch | None) -> Poly | None:
    """The size whose tiles an axis counts, or that its width was rounded up from."""
    if axis.steps:
        return tail_of(axis, access.loops, launch, ()).size
    return _rounded_size(launch.on_host(axis.extent)) if launch is not None else None


def _counts(axis: Axis, limit: Poly, used: Poly, access: Access, launch: Launch) -> bool:
    """Whether a launch counts tiles of `limit`, and not of `used`, along an axis."""
    size = tail_of(axis, access.loops, launch, ()).size if axis.steps else None
    return size is not None and size == launch.on_host(limit) and size != launch.on_host(used)


# --- sentinels --------------------------------------------------------------------------------------
def _sentinels(
    access: Access, base: str | None, offset: Poly, trace: Trace, launches: tuple[Launch, ...]
) -> Iterator[Exposure]:
    """A loaded index that the kernel itself compares with a sentinel, used without that test."""
    indices = {atom for monomial in offset.terms for atom in monomial if atom.kind == "load"}
    if not indices or access.mask_unknown:
        return
    held = frozenset().union(*(formula.closure for formula in conditions_of(access)))
    for comparison in trace.comparisons:
        atom = comparison.left.poly.atom
        if (
            atom in indices
            and atom not in held
            and _is_sentinel_test(comparison.operator, comparison.right.poly, launches)
        ):
            sibling = Sighting(comparison.right.poly, comparison.where, None)
            yield Exposure("sentinel", access, None, base, trace, Tail(Proof.YES), None, sibling)
            return


def _is_sentinel_test(operator: str, other: Poly, launches: tuple[Launch, ...]) -> bool:
    """Whether a comparison tells a negative index from a good one; a padding row is a good one."""
    number = other.constant
    if number is not None:
        return (operator in ("Eq", "NotEq") and number < 0) or (operator in ("GtE", "Lt") and number == 0)
    return operator in ("Eq", "NotEq") and any(_is_negative(launch.on_host(other)) for launch in launches)


def _is_negative(value: Poly) -> bool:
    """Whether a host value is a negative number, or an argument that is one by default."""
    number = value.constant
    atom = value.atom
    if atom is not None and atom.kind == "config" and len(atom.args) > 1:
        number = atom.args[1]
    return isinstance(number, int) and number < 0
