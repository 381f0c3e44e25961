"""What a kernel does to its pointer parameters: which it reads, which it writes, which it adds to."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tritonlint.model.evaluator import called_name
from tritonlint.model.exposure import base_of
from tritonlint.model.kernel import launches_of
from tritonlint.model.logic import Formula
from tritonlint.model.proof import Proof
from tritonlint.model.records import Access, BlockAccess, DescriptorAccess, Trace
from tritonlint.model.repetition import is_repeatable
from tritonlint.model.symbolic import Atom, Poly
from tritonlint.model.tuning import configurations
from tritonlint.model.values import Number, Tuned, deps_of

if TYPE_CHECKING:
    from tritonlint.model.launch import Launch

Touch = Access | BlockAccess | DescriptorAccess


@dataclass
class Effects:
    """The accesses of one pointer parameter."""

    reads: list[Touch] = field(default_factory=list)
    writes: list[Touch] = field(default_factory=list)
    updates: list[Access] = field(default_factory=list)
    """Atomics that depend on what was there."""

    @property
    def in_place(self) -> bool:
        """Whether the kernel overwrites what it also reads."""
        return bool(self.reads and self.writes)


def effects_of(trace: Trace) -> dict[str, Effects]:
    """Effects by pointer parameter of the trace's root."""
    launches = launches_of(trace.root)
    found: dict[str, Effects] = {}
    for access in trace.accesses:
        name = base_of(access.address.poly, trace, launches)
        if name is None:
            continue
        effects = found.setdefault(name, Effects())
        if access.kind == "load":
            effects.reads.append(access)
        elif access.kind == "store":
            effects.writes.append(access)
        elif access.kind in ("atomic_add", "atomic_xor"):
            effects.updates.append(access)
    blocks: list[BlockAccess | DescriptorAccess] = [*trace.block_accesses, *trace.descriptor_accesses]
    for block in blocks:
        address = block.pointer.base if isinstance(block, BlockAccess) else block.base
        name = base_of(address, trace, launches)
        if name is not None:
            effects = found.setdefault(name, Effects())
            (effects.reads if block.kind == "load" else effects.writes).append(block)
    return found


@dataclass(frozen=True)
class Overwriting:
    """A read and a later write by which running again shows; not `sure` where the value is not known."""

    read: Touch
    write: Touch
    sure: bool = True


def overwrites_what_it_reads(effects: Effects, trace: Trace) -> Overwriting | None:
    """A read and a later write of one parameter at the same address.

    A buffer that each run fills before it reads it (scratch) is left out, as are kernels that read
    some elements and write others, and those that write the same in their next run.
    """
    found: Overwriting | None = None
    for read in effects.reads:
        if any(_comes_before(write, read) and _may_join(write, read) for write in effects.writes):
            continue
        for write in effects.writes:
            if _comes_before(read, write) and _may_join(read, write) and _meet(read, write):
                again = _again(read, write, trace)
                if again is Proof.NO:
                    return Overwriting(read, write)
                if again is Proof.UNKNOWN:
                    found = Overwriting(read, write, sure=False)
    return found


def _again(read: Touch, write: Touch, trace: Trace) -> Proof:
    if isinstance(read, Access) and isinstance(write, Access) and read.address.poly == write.address.poly:
        return is_repeatable(read, write, trace)
    return Proof.NO


def _meet(read: Touch, write: Touch) -> bool:
    """Whether two accesses touch the same element: all of them, or the first.

    In the second case what is written must come of what was read: `x[0::2]` goes to the left half of `x`.
    """
    if _address(read) == _address(write):
        return True
    if not isinstance(read, Access) or not isinstance(write, Access) or write.value is None:
        return False
    old = Atom("load", read.address.poly)
    return old in deps_of(write.value) and _first(read.address.poly) == _first(write.address.poly)


def _first(address: Poly) -> Poly:
    """The address of a tile's first element."""
    return address.substitute(lambda atom: atom.args[0] if atom.kind == "arange" else None)


def _may_join(one: Touch, two: Touch) -> bool:
    """Whether one run can do both: they do not stand in opposite branches."""
    conditions = set(getattr(one, "conditions", ()))
    return not any(condition.negated() in conditions for condition in getattr(two, "conditions", ()))


def _address(touch: Touch) -> object:
    if isinstance(touch, Access):
        return touch.address.poly
    if isinstance(touch, BlockAccess):
        return (touch.pointer.base, touch.pointer.offsets)
    return (touch.base, touch.offsets)


def _comes_before(first: Touch, second: Touch) -> bool:
    """Whether one access comes before another, in program order."""
    if isinstance(first, Access) and isinstance(second, Access):
        return first.index < second.index
    return getattr(first.where.node, "lineno", 0) < getattr(second.where.node, "lineno", 0)


def is_reset(update: Access, effects: Effects) -> Proof:
    """Whether a kernel stores a number where it then adds, so that every run starts afresh.

    UNKNOWN where it stores one elsewhere in the same buffer.
    """
    answer = Proof.NO
    for write in effects.writes:
        if not isinstance(write, Access) or write.index > update.index:
            continue
        if not isinstance(write.value, Number) or write.value.poly.constant is None:
            continue
        extra = [condition for condition in write.conditions if condition not in update.conditions]
        by_one = all(atom.kind == "pid" for condition in extra for atom in condition.closure)
        if by_one and write.address.poly == update.address.poly and write.mask in (None, update.mask):
            return Proof.YES
        answer = Proof.UNKNOWN
    return answer


@dataclass(frozen=True)
class Alias:
    """Two pointer parameters that a launch gives the same tensor, one read and the other written."""

    read: str
    written: str
    sure: bool


def aliases(launch: Launch, trace: Trace, effects: dict[str, Effects]) -> Alias | None:
    """Parameters that share a tensor, where what one writes changes what the other reads next time."""
    found: Alias | None = None
    names = [name for name in effects if launch.tensor(name) is not None]
    for written in names:
        for read in names:
            one, two = launch.tensor(written), launch.tensor(read)
            if read == written or one is None or two is None or one.key != two.key:
                continue
            answers = set(_next_runs(launch, trace, (read, effects[read]), (written, effects[written])))
            if Proof.NO in answers:
                return Alias(read, written, sure=True)
            if Proof.UNKNOWN in answers:
                found = Alias(read, written, sure=False)
    return found


def _next_runs(
    launch: Launch, trace: Trace, source: tuple[str, Effects], target: tuple[str, Effects]
) -> Iterator[Proof]:
    """For each read of one parameter and write of the other, whether the next run writes the same."""
    for read in source[1].reads:
        for write in (*target[1].writes, *target[1].updates):
            if not (_is_live(read, launch) and _is_live(write, launch) and _may_join(read, write)):
                continue
            if not (isinstance(read, Access) and isinstance(write, Access)):
                yield Proof.NO
            elif _offset(read, source[0]) == _offset(write, target[0]):
                yield is_repeatable(read, write, trace)
            else:
                yield Proof.NO if isinstance(write.value, Number) else Proof.UNKNOWN


def _offset(access: Access, base: str) -> Poly:
    return access.address.poly - Poly.of(Atom("param", base))


def _is_live(touch: Touch, launch: Launch) -> bool:
    """Whether some configuration of a launch gets there."""
    conditions = getattr(touch, "conditions", ())
    return not all(variant.cuts_away(conditions) for variant in launch.variants)


def stale_slots(launch: Launch, tuned: Tuned, effects: dict[str, Effects]) -> tuple[str, Touch] | None:
    """A buffer of zeros of which each program fills one place, where the tuner picks how many programs.

    A trial with more programs leaves its numbers behind, beyond those that the last run overwrites.
    """
    varied = varied_parameters(tuned)
    counted = {axis for axis, size in enumerate(launch.grid or ()) if not varied.isdisjoint(size.closure)}
    for name, effect in effects.items():
        tensor = launch.tensor(name)
        made = tensor.node if tensor is not None else None
        if not isinstance(made, ast.Call) or "zeros" not in called_name(made) or effect.reads:
            continue
        for write in effect.writes:
            if isinstance(write, Access) and _is_live(write, launch):
                offset = _offset(write, name)
                numbered = any(a.kind == "pid" and a.args[0] in counted for a in offset.surface)
                if numbered and varied.isdisjoint(offset.closure):
                    return name, write
    return None


def varied_parameters(tuned: Tuned) -> frozenset[Atom]:
    """Meta-parameters that differ between configurations."""
    settings = [dict(config.kwargs.items) for config in configurations(tuned).items]
    return frozenset(
        Atom("param", name) for name in set().union(*settings) if len({s.get(name) for s in settings}) > 1
    )


def is_idle(update: Access, tuned: Tuned, launches: tuple[Launch, ...]) -> Proof:
    """Whether an update stands under a condition that every configuration, or launch, makes false.

    UNKNOWN where the condition is about a parameter that only configurations which cannot be read give.
    """
    every = configurations(tuned)
    settings = [
        {Atom("param", name): value.poly for name, value in config.kwargs.items if isinstance(value, Number)}
        for config in every.items
    ]
    if settings and all(
        any(_under(condition, known).known is False for condition in update.conditions) for known in settings
    ):
        return Proof.YES
    if launches and not any(_is_live(update, launch) for launch in launches):
        return Proof.YES
    given = {name for launch in launches for name in launch.arguments}
    asked = {atom.args[0] for part in update.conditions for atom in part.closure if atom.kind == "param"}
    return Proof.NO if every.exact or settings or asked <= given else Proof.UNKNOWN


def _under(condition: Formula, known: dict[Atom, Poly]) -> Formula:
    """A condition with the parameters of one configuration put in."""
    return condition.map(lambda poly: poly.substitute(known.get))
