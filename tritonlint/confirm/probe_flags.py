"""The first look of the bounds probe: does any access of a launch leave its tensors at all?

An access of which one lane is outside is not made, by one scalar for all its lanes: so the loads stay as wide
and as early as they were, which is most of a kernel's speed, and yet nothing faults. A lane is compared with
the one tensor that its pointer was made from, where that is known. What is objected to here is counted by
`probe_compiled`.
"""

from __future__ import annotations

from typing import Any

import torch
import triton.language as tl

from tritonlint.confirm.copies import Copies
from tritonlint.confirm.instrument import MAX_SITES, Access, Instrument
from tritonlint.confirm.launches import Launch
from tritonlint.confirm.origins import origin, tracked
from tritonlint.confirm.sites import Site

_COUNTERS = 64
"""Of the executions of an access: programs share them by turns, so that they do not queue for one address."""
_WORD = 8
"""Bytes."""


class FlagProbe(Instrument):
    """Says of each access of a launch whether a lane of it is outside."""

    def __init__(self, launch: Launch, copies: Copies) -> None:
        super().__init__(launch, copies)
        self._report = torch.zeros((MAX_SITES, 1 + _COUNTERS), dtype=torch.int64, device=copies.device)

    def run(self, launcher: Any) -> list[Site] | None:
        """Launch the kernel on the copies; its accesses if all are inside, None if one is not.

        Raises:
            Exception: whatever compiling or launching raises.
        """
        with tracked(set(self.copies.tensors)):
            self.launched(launcher)
        torch.cuda.synchronize()
        table = self._report.cpu()
        if table[:, 0].any():
            return None
        executions = table[:, 1:].sum(1).tolist()
        sites = []
        for number, site in self.sites():
            site.lanes = executions[number] * self.widths[number]
            sites.append(site)
        return sites

    def check(self, access: Access, site: int) -> Any:
        """See `Instrument.check`."""
        s, name = access.s, origin(access.pointer)
        ranges = [(one.start, one.end) for one in self.copies.spans if one.name == name] or self.copies.views
        outside = s.and_(access.active, s.not_(access.inside(ranges)))
        bad = outside if access.shape is None else _any(s, outside, access.width)
        base, one = self._report[site].data_ptr(), s.scalar_constant(1, tl.int64)
        turn = s.and_(access.program()[0], s.scalar_constant(_COUNTERS - 1, tl.int64))
        counters = s.scalar_constant(base + _WORD, tl.int64)
        counter = s.add(counters, s.mul(turn, s.scalar_constant(_WORD, tl.int64), False), False)
        s.atomic_add(access.cell(counter), one, None, "relaxed", "gpu")
        s.atomic_max(access.cell(base), one, bad, "relaxed", "gpu")
        return s.and_(access.active, access.spread(s.not_(bad)))


def _any(s: Any, lanes: Any, width: int) -> Any:
    """Whether a lane is set, as a scalar."""
    flat = s.reshape(s.cast(lanes, tl.int32), [width], True)

    def either(reduction: Any) -> None:
        builder = s.builder
        place = builder.get_insertion_point()
        block = builder.create_block_with_parent(reduction.get_region(0), [tl.int32.to_ir(builder)] * 2)
        one, other = (tl.tensor(block.arg(number), tl.int32) for number in range(2))
        builder.create_reduce_ret(s.or_(one, other).handle)
        builder.restore_insertion_point(place)

    return s.not_equal(s.reduction((flat,), 0, either)[0], s.scalar_constant(0, tl.int32))
