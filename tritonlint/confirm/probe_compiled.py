"""The bounds probe of a GPU: while Triton's front end builds a kernel, every access checks its addresses.

No source is rewritten, so that helpers are seen, and a site is what the front end says: file, line, column.
Lanes outside every storage of the launch are counted and masked off. That makes a kernel slower, by about 2
to 25 times, and is done once for a launch, on copies.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
import triton.language as tl
from triton.language.semantic import TritonSemantic as Semantic

from tritonlint.confirm.backends import private_cache
from tritonlint.confirm.block_pointers import plain_block_pointers
from tritonlint.confirm.copies import Copies
from tritonlint.confirm.launches import Launch, fresh
from tritonlint.confirm.sites import BINS, Site

MAX_SITES = 512
_LANES, _OUTSIDE, _PAST, _HIGHEST, _LOWEST, _PROGRAM, _BINS = range(7)
"""Where in a site's part of the report each of its numbers stands; the stretches of the grid come last."""
_WORDS = _BINS + BINS
_WORD = 8
"""Bytes."""
_FAR = 2**62
_LOCATION = re.compile(r'"?(?P<file>[^"]+)"?:(?P<line>\d+):(?P<column>\d+)')


class Unsupported(RuntimeError):
    """This Triton lacks a place where the probe can be put in; the message says which."""


class CompiledProbe:
    """Counts, for one launch, the lanes of each access that lie outside its tensors."""

    def __init__(self, launch: Launch, copies: Copies) -> None:
        for name in ("_load_legacy", "_store_legacy", "atom_red_typechecking_impl"):
            if not hasattr(Semantic, name):
                raise Unsupported(f"this Triton has no `TritonSemantic.{name}` to probe")
        self.launch, self.copies = launch, copies
        self._sites: dict[tuple[str, str], int] = {}
        self._widths: dict[int, int] = {}
        """By site: the lanes of one access."""
        self._views = [(span.start, span.end) for span in copies.spans]
        storages = {(span.storage_start, span.storage_end) for span in copies.spans}
        self._storages = sorted(storages)
        device = next((one.device for one in copies.tensors.values() if one.is_cuda), "cuda")
        self._report = torch.zeros(MAX_SITES * _WORDS, dtype=torch.int64, device=device)
        table = self._report.view(MAX_SITES, _WORDS)
        table[:, _LOWEST] = _FAR
        table[:, _PROGRAM] = _FAR
        self._busy = False

    def run(self, launcher: Any) -> list[Site]:
        """Launch the kernel on the copies with the probe in it.

        Raises:
            Exception: whatever compiling or launching raises.
        """
        with private_cache(), self._installed():
            launcher(
                self.launch.with_function(fresh(self.launch.function)).with_arguments(self.copies.arguments)
            )
            torch.cuda.synchronize()
        return list(self._results())

    # --- while the kernel is built ------------------------------------------------------------

    @contextmanager
    def _installed(self) -> Iterator[None]:
        load, store, atomic = (
            Semantic._load_legacy,
            Semantic._store_legacy,
            Semantic.atom_red_typechecking_impl,
        )

        def probed_load(semantic: Any, ptr: Any, mask: Any, *rest: Any) -> Any:
            return load(semantic, ptr, self._guarded(semantic, ptr, mask, "load"), *rest)

        def probed_store(semantic: Any, ptr: Any, value: Any, mask: Any, *rest: Any) -> Any:
            return store(semantic, ptr, value, self._guarded(semantic, ptr, mask, "store"), *rest)

        def probed_atomic(semantic: Any, ptr: Any, value: Any, mask: Any, op: str) -> Any:
            ptr, value, mask = atomic(semantic, ptr, value, mask, op)
            return ptr, value, self._guarded(semantic, ptr, mask, "atomic")

        Semantic._load_legacy, Semantic._store_legacy = probed_load, probed_store
        Semantic.atom_red_typechecking_impl = probed_atomic
        try:
            with plain_block_pointers():
                yield
        finally:
            Semantic._load_legacy, Semantic._store_legacy = load, store
            Semantic.atom_red_typechecking_impl = atomic

    def _guarded(self, semantic: Any, ptr: Any, mask: Any, kind: str) -> Any:
        """The mask of an access, true only where the address lies in a storage; what is not gets counted."""
        if self._busy or not ptr.type.scalar.is_ptr():
            return mask
        self._busy = True
        try:
            site, guard = self._site(semantic, kind), _Guard(semantic, ptr, mask, self)
            self._widths[site] = math.prod(guard.shape or (1,))
            return guard.built(site)
        finally:
            self._busy = False

    def _site(self, semantic: Any, kind: str) -> int:
        location = str(semantic.builder.get_loc())
        number = self._sites.setdefault((location, kind), len(self._sites))
        return min(number, MAX_SITES - 1)

    # --- afterwards ---------------------------------------------------------------------------

    def _results(self) -> Iterator[Site]:
        table = self._report.view(MAX_SITES, _WORDS).cpu().tolist()
        for (location, kind), number in self._sites.items():
            match, row = _LOCATION.search(location), table[min(number, MAX_SITES - 1)]
            if match is None:
                continue
            site = Site(match["file"], int(match["line"]), int(match["column"]), kind)
            site.lanes = row[_LANES] * self._widths[min(number, MAX_SITES - 1)]
            site.outside, site.past_view = row[_OUTSIDE], row[_PAST]
            if site.bad:
                site.place(row[_HIGHEST], self.copies.spans)
                site.place(row[_LOWEST], self.copies.spans)
                site.program = row[_PROGRAM]
                site.by_program = row[_BINS:]
            yield site


class _Guard:
    """Builds the check of one access."""

    def __init__(self, semantic: Any, ptr: Any, mask: Any, probe: CompiledProbe) -> None:
        self.s, self.probe = semantic, probe
        self.shape = [int(getattr(one, "value", one)) for one in ptr.shape] if ptr.type.is_block() else None
        element = ptr.type.scalar.element_ty
        self.size = max(1, element.primitive_bitwidth // 8)
        self.address = semantic.cast(ptr, tl.int64)
        self.mask = self._active(mask)

    def built(self, site: int) -> Any:
        s = self.s
        end = s.add(self.address, self._spread(s.scalar_constant(self.size, tl.int64)), False)
        in_storage = self._inside(self.probe._storages, end)
        in_view = self._inside(self.probe._views, end)
        outside = s.and_(self.mask, s.not_(in_storage))
        past = s.and_(self.mask, s.and_(in_storage, s.not_(in_view)))
        bad = s.or_(outside, past)
        base = self.probe._report.data_ptr() + _WORD * _WORDS * site
        one = self._spread(s.scalar_constant(1, tl.int64))
        self._count_execution(base + _WORD * _LANES)
        self._atomic(s.atomic_add, base + _WORD * _OUTSIDE, one, outside)
        self._atomic(s.atomic_add, base + _WORD * _PAST, one, past)
        self._atomic(s.atomic_max, base + _WORD * _HIGHEST, self.address, bad)
        self._atomic(s.atomic_min, base + _WORD * _LOWEST, self.address, bad)
        number, total = self._program()
        self._atomic(s.atomic_min, base + _WORD * _PROGRAM, self._spread(number), bad)
        part = s.floordiv(s.mul(number, s.scalar_constant(BINS, tl.int64), False), total)
        first = s.scalar_constant(base + _WORD * _BINS, tl.int64)
        cell = s.add(first, s.mul(part, s.scalar_constant(_WORD, tl.int64), False), False)
        self._atomic(s.atomic_add, cell, one, bad)
        return s.and_(self.mask, in_storage)

    def _active(self, mask: Any) -> Any:
        s = self.s
        if mask is None:
            return self._spread(s.scalar_constant(1, tl.int1))
        if not hasattr(mask, "type") or not hasattr(mask, "handle"):
            mask = s.to_tensor(mask)
        if mask.type.scalar != tl.int1:
            mask = s.cast(mask, tl.int1)
        if self.shape is not None:
            mask = (
                s.broadcast_impl_shape(mask, self.shape)
                if mask.type.is_block()
                else s.splat(mask, self.shape)
            )
        return mask

    def _inside(self, ranges: list[tuple[int, int]], end: Any) -> Any:
        s, found = self.s, None
        for low, high in ranges:
            starts = s.greater_equal(self.address, self._spread(s.scalar_constant(low, tl.int64)))
            ends = s.less_equal(end, self._spread(s.scalar_constant(high, tl.int64)))
            both = s.and_(starts, ends)
            found = both if found is None else s.or_(found, both)
        return found if found is not None else self._spread(s.scalar_constant(0, tl.int1))

    def _program(self) -> tuple[Any, Any]:
        """The number of this program, the first axis running fastest, and how many there are."""
        s = self.s
        index = [s.cast(s.program_id(axis), tl.int64) for axis in range(3)]
        extent = [s.cast(s.num_programs(axis), tl.int64) for axis in range(3)]
        rest = s.add(index[1], s.mul(extent[1], index[2], False), False)
        number = s.add(index[0], s.mul(extent[0], rest, False), False)
        return number, s.mul(extent[0], s.mul(extent[1], extent[2], False), False)

    def _count_execution(self, where: int) -> None:
        """Once for a program and an access, not for each lane: that would cost more than all the rest."""
        s = self.s
        cell = s.cast(s.scalar_constant(where, tl.int64), tl.pointer_type(tl.int64))
        s.atomic_add(cell, s.scalar_constant(1, tl.int64), None, "relaxed", "gpu")

    def _atomic(self, atomic: Any, where: Any, value: Any, mask: Any) -> None:
        s = self.s
        cell = s.scalar_constant(where, tl.int64) if isinstance(where, int) else where
        atomic(self._spread(s.cast(cell, tl.pointer_type(tl.int64))), value, mask, "relaxed", "gpu")

    def _spread(self, value: Any) -> Any:
        return value if self.shape is None else self.s.splat(value, self.shape)
