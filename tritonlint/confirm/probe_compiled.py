"""The bounds probe of a GPU: what every access of a launch does with its addresses, to the lane.

Lanes outside every storage of the launch are counted and masked off. That makes a kernel slower, by about 2
to 30 times, and is done once for a launch that `probe_flags` has objected to, on copies.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
import triton.language as tl

from tritonlint.confirm.copies import Copies
from tritonlint.confirm.instrument import MAX_SITES, Access, Instrument
from tritonlint.confirm.launches import Launch
from tritonlint.confirm.sites import BINS, Site

_LANES, _OUTSIDE, _PAST, _HIGHEST, _LOWEST, _PROGRAM, _BINS = range(7)
"""Where in a site's part of the report each of its numbers stands; the stretches of the grid come last."""
_WORDS = _BINS + BINS
_WORD = 8
"""Bytes."""
_FAR = 2**62


class CompiledProbe(Instrument):
    """Counts, for one launch, the lanes of each access that lie outside its tensors."""

    def __init__(self, launch: Launch, copies: Copies) -> None:
        super().__init__(launch, copies)
        self._report = torch.zeros((MAX_SITES, _WORDS), dtype=torch.int64, device=copies.device)
        self._report[:, _LOWEST] = _FAR
        self._report[:, _PROGRAM] = _FAR

    def run(self, launcher: Any) -> list[Site]:
        """Launch the kernel on the copies with the probe in it.

        Raises:
            Exception: whatever compiling or launching raises.
        """
        self.launched(launcher)
        torch.cuda.synchronize()
        return list(self._results())

    def check(self, access: Access, site: int) -> Any:
        """See `Instrument.check`."""
        s = access.s
        in_storage, in_view = access.inside(self.copies.storages), access.inside(self.copies.views)
        outside = s.and_(access.active, s.not_(in_storage))
        past = s.and_(access.active, s.and_(in_storage, s.not_(in_view)))
        bad = s.or_(outside, past)
        base = self._report.data_ptr() + _WORD * _WORDS * site
        one = access.constant(1, tl.int64)
        # Once for a program and an access, not for each lane: that would cost more than all the rest.
        s.atomic_add(access.cell(base), s.scalar_constant(1, tl.int64), None, "relaxed", "gpu")

        def note(atomic: Any, where: Any, value: Any, lanes: Any) -> None:
            atomic(access.spread(access.cell(where)), value, lanes, "relaxed", "gpu")

        note(s.atomic_add, base + _WORD * _OUTSIDE, one, outside)
        note(s.atomic_add, base + _WORD * _PAST, one, past)
        note(s.atomic_max, base + _WORD * _HIGHEST, access.address, bad)
        note(s.atomic_min, base + _WORD * _LOWEST, access.address, bad)
        number, total = access.program()
        note(s.atomic_min, base + _WORD * _PROGRAM, access.spread(number), bad)
        part = s.floordiv(s.mul(number, s.scalar_constant(BINS, tl.int64), False), total)
        first = s.scalar_constant(base + _WORD * _BINS, tl.int64)
        note(
            s.atomic_add,
            s.add(first, s.mul(part, s.scalar_constant(_WORD, tl.int64), False), False),
            one,
            bad,
        )
        return s.and_(access.active, in_storage)

    def _results(self) -> Iterator[Site]:
        table = self._report.cpu().tolist()
        for number, site in self.sites():
            row = table[number]
            site.lanes = row[_LANES] * self.widths[number]
            site.outside, site.past_view = row[_OUTSIDE], row[_PAST]
            if site.bad:
                site.place(row[_HIGHEST], self.copies.spans)
                site.place(row[_LOWEST], self.copies.spans)
                site.program = row[_PROGRAM]
                site.by_program = row[_BINS:]
            yield site
