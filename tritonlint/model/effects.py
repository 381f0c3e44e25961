"""What a kernel does to its pointer parameters: which it reads, which it writes, which it adds to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tritonlint.model.exposure import base_of
from tritonlint.model.kernel import launches_of
from tritonlint.model.logic import Formula
from tritonlint.model.records import Access, BlockAccess, DescriptorAccess, Trace
from tritonlint.model.symbolic import Atom, Poly
from tritonlint.model.tuning import configurations
from tritonlint.model.values import Number, Tuned

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


def overwrites_what_it_reads(effects: Effects) -> tuple[Touch, Touch] | None:
    """A read and a later write of one parameter at the same address.

    A buffer that each run fills before it reads it (scratch) is left out, as are kernels that read
    some elements and write others: running those again changes nothing.
    """
    for read in effects.reads:
        if any(_comes_before(write, read) for write in effects.writes):
            continue
        for write in effects.writes:
            if _comes_before(read, write) and _address(read) == _address(write):
                return read, write
    return None


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


def aliases(launch: Launch, effects: dict[str, Effects]) -> tuple[str, str] | None:
    """Two pointer parameters that a launch gives the same tensor, one read and the other written."""
    names = [name for name in effects if launch.tensor(name) is not None]
    for written in names:
        if not effects[written].writes and not effects[written].updates:
            continue
        for read in names:
            if read == written or not effects[read].reads:
                continue
            one, two = launch.tensor(written), launch.tensor(read)
            if one is not None and two is not None and one.key == two.key:
                return read, written
    return None


def is_idle(update: Access, tuned: Tuned) -> bool:
    """Whether an update stands under a condition that every configuration makes false."""
    settings = [
        {Atom("param", name): value.poly for name, value in config.kwargs.items if isinstance(value, Number)}
        for config in configurations(tuned).items
    ]
    return bool(settings) and all(
        any(_under(condition, known).known is False for condition in update.conditions) for known in settings
    )


def _under(condition: Formula, known: dict[Atom, Poly]) -> Formula:
    """A condition with the parameters of one configuration put in."""
    return condition.map(lambda poly: poly.substitute(known.get))
