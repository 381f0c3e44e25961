"""Block pointer accesses that no boundary check keeps inside the shape they declare."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tritonlint.model.bounds import is_configured
from tritonlint.model.checks import is_tested_somehow
from tritonlint.model.facts import divides, possible_values
from tritonlint.model.kernel import as_the_project_calls_it, launches_of
from tritonlint.model.logic import Formula, parts_of
from tritonlint.model.proof import Proof
from tritonlint.model.records import BlockAccess, Trace
from tritonlint.model.symbolic import ZERO, Poly

if TYPE_CHECKING:
    from tritonlint.model.kernel import Kernel
    from tritonlint.model.launch import Launch

_DYNAMIC = frozenset(("pid", "programs", "trip", "arange", "load", "data", "carried", "left", "unknown"))
_UNCLEAR = frozenset(("either", "load", "unknown", "carried", "left", "min", "where"))


@dataclass(frozen=True)
class UncheckedAxis:
    """An axis of a block pointer access that can hang over its declared size, unchecked.

    `ragged` is YES where a launch shows a size that is no multiple of the block, UNKNOWN where
    nothing shows that it is one. `sibling` is an access of the same pointer that does check the axis.
    """

    access: BlockAccess
    axis: int
    size: Poly
    extent: Poly
    ragged: Proof
    moves: bool
    launch: Launch | None
    sibling: BlockAccess | None
    kin: bool
    """Whether the kernel checks the same size, cut into the same tiles, through another pointer."""
    trace: Trace

    @property
    def size_as_written(self) -> str:
        """The size of the axis in the kernel's own words, where the value is one of several."""
        shown, call = str(self.size), self.access.pointer.node
        if "..." not in shown or not isinstance(call, ast.Call):
            return shown
        shapes = [keyword.value for keyword in call.keywords if keyword.arg == "shape"] or call.args[1:2]
        sizes = shapes[0].elts if shapes and isinstance(shapes[0], ast.Tuple | ast.List) else []
        return ast.unparse(sizes[self.axis]) if self.axis < len(sizes) else shown

    @property
    def is_of_a_flat_tensor(self) -> bool:
        """Whether the one axis is a product of sizes: a tile that moves along one factor stays inside."""
        flat = len(self.access.pointer.shape) == 1
        return flat and any(len(monomial) > 1 for monomial in self.size.terms)

    @property
    def is_not_asked_for(self) -> bool:
        """Whether no call in the package turns on the branch that it stands in."""
        if self.launch is None:
            return False
        calls = as_the_project_calls_it(self.launch)
        return bool(calls) and all(call.cuts_away(self.access.conditions) for call in calls)

    @property
    def is_tested_somehow(self) -> bool:
        """Whether the package tests the size in a way that could not be connected with the access."""
        launch = self.launch
        if launch is None:
            return False
        size, block = launch.on_host(self.size), launch.on_host(self.extent)
        return is_tested_somehow(size, block, launch, launch.facts)


def unchecked_axes(kernel: Kernel) -> Iterator[UncheckedAxis]:
    """Every unchecked axis of the block pointer accesses in a kernel's own body."""
    for trace in kernel.traces:
        launches = launches_of(trace.root)
        for access in trace.block_accesses:
            if kernel.mine(access.where) and access.checked is not None:
                yield from _of_access(access, trace, launches)


def _of_access(access: BlockAccess, trace: Trace, launches: tuple[Launch, ...]) -> Iterator[UncheckedAxis]:
    pointer = access.pointer
    rank = min(len(pointer.block_shape), len(pointer.shape), len(pointer.offsets))
    parts = [part for condition in access.conditions for part in condition.conjuncts()]
    for axis in range(rank):
        if axis in (access.checked or ()):
            continue
        size, extent, offset = pointer.shape[axis], pointer.block_shape[axis], pointer.offsets[axis]
        moves = any(
            atom.kind in ("pid", "trip", "either", "load", "carried", "left") for atom in offset.closure
        )
        if size == extent or (not moves and offset != ZERO and size == offset + extent):
            continue
        sibling = _checking_sibling(access, axis, trace)
        ragged, launch = _raggedness(access, size, extent, offset, trace, launches)
        if ragged is Proof.NO:
            continue
        flags = [part for part in parts if _is_flag(part) or _is_about(part, size, extent)]
        if any(
            (ragged is not Proof.YES or _is_open(flag)) and _is_decided_by(flag, access, axis, trace)
            for flag in flags
        ):
            continue
        kin = _is_checked_elsewhere(access, axis, size, extent, trace)
        yield UncheckedAxis(access, axis, size, extent, ragged, moves, launch, sibling, kin, trace)


def _is_flag(part: Formula) -> bool:
    return bool(part.closure) and not any(atom.kind in _DYNAMIC for atom in part.closure)


def _is_about(part: Formula, size: Poly, extent: Poly) -> bool:
    """Whether a condition is on what is left of a size beyond whole tiles: `if spare: ...`."""
    if part.kind not in ("eq", "ne") or part.poly.surface & size.surface:
        return False
    return size.surface <= part.closure and extent.surface <= part.closure


def _is_open(flag: Formula) -> bool:
    """Whether a flag is put together from branches, so that no launch can tell how it turns out."""
    return any(atom.kind in ("absent", "compared", "either") for atom in flag.closure)


def _is_decided_by(flag: Formula, access: BlockAccess, axis: int, trace: Trace) -> bool:
    """Whether an access does without the check that its twin makes where the flag fails: `if EVEN: ...`.

    A twin whose axes are handed over may check this one.
    """
    denied = flag.negated()
    for other in trace.block_accesses:
        if (other.checked is not None and axis not in other.checked) or other.kind != access.kind:
            continue
        if denied in parts_of(other.conditions) and other.pointer.base == access.pointer.base:
            return True
    return False


def _checking_sibling(access: BlockAccess, axis: int, trace: Trace) -> BlockAccess | None:
    """An access through the same window that checks this axis."""
    for other in trace.block_accesses:
        if other is access or other.checked is None or axis not in other.checked:
            continue
        same_window = other.pointer.node is access.pointer.node
        if same_window and other.pointer.offsets[axis] != access.pointer.offsets[axis]:
            continue  # the last blocks, which have a loop of their own
        same_size = other.pointer.shape[axis : axis + 1] == access.pointer.shape[axis : axis + 1]
        same_base = other.pointer.base == access.pointer.base and _same_way(access, other, axis, axis)
        if same_window or (same_size and same_base):
            return other
    return None


def _is_checked_elsewhere(access: BlockAccess, axis: int, size: Poly, extent: Poly, trace: Trace) -> bool:
    return any(
        (size, extent) == (other.pointer.shape[theirs], other.pointer.block_shape[theirs])
        and _same_way(access, other, axis, theirs)
        for other in trace.block_accesses
        if other is not access
        for theirs in other.checked or ()
        if theirs < min(len(other.pointer.shape), len(other.pointer.block_shape), len(other.pointer.offsets))
    )


def _same_way(access: BlockAccess, other: BlockAccess, axis: int, theirs: int) -> bool:
    """Whether both walk along an axis alike: attention checks its last blocks in a loop of their own."""
    mine = access.pointer.offsets[axis]
    return mine == other.pointer.offsets[theirs] or all(atom.kind != "trip" for atom in mine.closure)


def _raggedness(
    access: BlockAccess, size: Poly, extent: Poly, offset: Poly, trace: Trace, launches: tuple[Launch, ...]
) -> tuple[Proof, Launch | None]:
    facts = (*trace.facts, *access.conditions)
    if not launches:
        return divides(extent, size, facts).negated(), None
    unknown = None
    for launch in launches:
        conditions = [launch.formula_on_host(fact) for fact in facts]
        if any(condition.known is False for condition in conditions):
            continue
        known = (*launch.facts, *conditions)
        answer = _at_launch(launch.on_host(size), launch.on_host(extent), offset, known)
        if answer is Proof.YES:
            return Proof.YES, launch
        if answer is Proof.UNKNOWN:
            unknown = unknown or launch
    return (Proof.UNKNOWN, unknown) if unknown is not None else (Proof.NO, None)


def _at_launch(size: Poly, extent: Poly, offset: Poly, facts: tuple[Formula, ...]) -> Proof:
    if size == extent:
        return Proof.NO
    rounded = extent.atom
    if rounded is not None and rounded.kind == "pow2ceil" and rounded.args[0] == size:
        values = possible_values(size, facts)
        is_power = values is not None and all(v > 0 and v & (v - 1) == 0 for v in values)
        return Proof.NO if is_power else Proof.YES
    answer = divides(extent, size, facts)
    if answer is not Proof.UNKNOWN:
        return answer.negated()
    stops = [atom for atom in offset.closure if atom.kind in _UNCLEAR]
    clear = (
        not stops
        and not is_configured(size)
        and all(atom.kind in ("dim", "numel", "hostparam", "len") for atom in size.closure)
    )
    return Proof.YES if clear and extent.integer is not None else Proof.UNKNOWN
