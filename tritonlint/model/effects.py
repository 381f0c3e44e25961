"""What a kernel does to its pointer parameters: which it reads, which it writes, which it adds to."""

from __future__ import annotations

from dataclasses import dataclass, field

from tritonlint.model.exposure import base_of
from tritonlint.model.kernel import launches_of
from tritonlint.model.proof import Proof
from tritonlint.model.records import Access, BlockAccess, DescriptorAccess, Trace
from tritonlint.model.repetition import is_repeatable
from tritonlint.model.symbolic import Atom, Poly
from tritonlint.model.values import deps_of

Touch = Access | BlockAccess | DescriptorAccess


@dataclass
class Effects:
    """The accesses of one pointer parameter."""

    reads: list[Touch] = field(default_factory=list)
    writes: list[Touch] = field(default_factory=list)
    updates: list[Access] = field(default_factory=list)
    """Atomics that depend on what was there."""


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
        if any(_comes_before(write, read) and may_join(write, read) for write in effects.writes):
            continue
        for write in effects.writes:
            if _comes_before(read, write) and may_join(read, write) and _meet(read, write):
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
    """Whether two accesses touch the same element: all of them, the first, or all but those at the ends.

    But in the first case what is written must come of what was read: `x[0::2]` goes to the left half of
    `x`, or `x[1:]` to `x[:-1]`.
    """
    if _address(read) == _address(write):
        return True
    if not isinstance(read, Access) or not isinstance(write, Access) or write.value is None:
        return False
    old = Atom("load", read.address.poly)
    apart = read.address.poly - write.address.poly
    meet = _first(read.address.poly) == _first(write.address.poly) or apart.constant in (1, -1)
    return meet and old in deps_of(write.value)


def _first(address: Poly) -> Poly:
    """The address of a tile's first element."""
    return address.substitute({atom: atom.args[0] for atom in address.closure if atom.kind == "arange"})


def may_join(one: Touch, two: Touch) -> bool:
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
