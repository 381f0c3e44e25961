"""Writes through loaded indices: where the index is loaded under a mask, the write needs it too."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tritonlint.model.bounds import Sighting, axes_of, conditions_of, offset_of, report, tail_of
from tritonlint.model.exposure import Exposure, base_of, constexprs_of
from tritonlint.model.kernel import launches_of
from tritonlint.model.proof import Proof
from tritonlint.model.records import Access, Trace
from tritonlint.model.symbolic import ZERO
from tritonlint.model.values import Number

if TYPE_CHECKING:
    from tritonlint.model.kernel import Kernel
    from tritonlint.model.launch import Launch


def scatters_of(kernel: Kernel) -> Iterator[Exposure]:
    """Unmasked writes at an index that was loaded under a mask.

    Lanes that the load's mask turns off have whatever `other` gives for an index, and write there.
    """
    for trace in kernel.traces:
        launches = launches_of(trace.root)
        for access in trace.accesses:
            bare = access.is_write and access.mask is None and not access.mask_unknown
            if bare and kernel.mine(access.where) and not _adds_nothing(access, trace):
                yield from _scattered(access, trace, launches)


def _adds_nothing(access: Access, trace: Trace) -> bool:
    """Whether lanes that are off add the zeros that `other` gave them."""
    value = access.value
    if access.kind == "store" or not isinstance(value, Number):
        return False
    others = [trace.accesses[index].other for index in value.loads if index < len(trace.accesses)]
    return any(isinstance(other, Number) and other.poly == ZERO for other in others)


def _scattered(access: Access, trace: Trace, launches: tuple[Launch, ...]) -> Iterator[Exposure]:
    base = base_of(access.address.poly, trace, launches)
    loaded = {atom for atom in offset_of(access.address.poly, base).surface if atom.kind == "load"}
    for index in trace.accesses:
        if index.kind != "load" or index.mask is None or index.mask_unknown:
            continue
        if not any(atom.args[0] == index.address.poly for atom in loaded):
            continue
        where = offset_of(index.address.poly, base_of(index.address.poly, trace, launches))
        for axis in axes_of(where, constexprs_of(trace))[0]:
            bounds = report(axis, index)
            if bounds.guard is None or report(axis, access).bounded is not Proof.NO:
                continue
            for launch in launches or (None,):
                facts = (*trace.facts, *conditions_of(access))
                if launch is not None:
                    facts = (*launch.facts, *(launch.formula_on_host(fact) for fact in facts))
                tail = tail_of(axis, access.loops, launch, facts)
                if tail.ragged is not Proof.NO:
                    seen = Sighting(bounds.guard.limit, index.where, index)
                    yield Exposure("scatter", access, axis, base, trace, tail, launch, seen)
                    break
