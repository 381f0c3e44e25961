"""Puts a check into every access of a kernel while Triton's front end builds it.

No source is rewritten, so that helpers are seen, and a site is what the front end says: file, line, column.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import triton.language as tl
from triton.language.semantic import TritonSemantic as Semantic

from tritonlint.confirm.backends import private_cache
from tritonlint.confirm.block_pointers import plain_block_pointers
from tritonlint.confirm.copies import Copies
from tritonlint.confirm.launches import Launch, fresh
from tritonlint.confirm.sites import Site

MAX_SITES = 512
LOAD = "_load_legacy" if hasattr(Semantic, "_load_legacy") else "load"
_PLACES = (
    LOAD,
    "_store_legacy" if hasattr(Semantic, "_store_legacy") else "store",
    "atom_red_typechecking_impl",
)
"""Where accesses by pointers pass; what knew block pointers, too, has no other kind from Triton 3.8 on."""
_LOCATION = re.compile(r'"?(?P<file>[^"]+)"?:(?P<line>\d+):(?P<column>\d+)')


def location(text: str) -> tuple[str, int, int] | None:
    """File, line and column of what the front end says of a place; None if it says no file."""
    match = _LOCATION.search(text)
    return (match["file"], int(match["line"]), int(match["column"])) if match is not None else None


class Unsupported(RuntimeError):
    """This Triton lacks a place where a check can be put in; the message says which."""


class Instrument:
    """Builds a kernel with a check in each access, and launches it on copies.

    Raises:
        Unsupported: the front end of this Triton is another one.
    """

    def __init__(self, launch: Launch, copies: Copies) -> None:
        for name in _PLACES:
            if not hasattr(Semantic, name):
                raise Unsupported(f"this Triton has no `TritonSemantic.{name}` to probe")
        self.launch, self.copies = launch, copies
        self.widths: dict[int, int] = {}
        """By site: the lanes of one access."""
        self._sites: dict[tuple[str, str], int] = {}
        self._busy = False

    def check(self, access: Access, site: int) -> Any:
        """Build the check of one access; the mask that is safe to make it with."""
        raise NotImplementedError

    def launched(self, launcher: Any) -> None:
        """Launch the kernel on the copies with the checks in it.

        Raises:
            Exception: whatever compiling or launching raises.
        """
        with private_cache(), self.installed():
            function = fresh(self.launch.function)
            launcher(self.launch.with_function(function).with_arguments(self.copies.arguments))

    @contextmanager
    def installed(self) -> Iterator[None]:
        """While this lasts, what the front end builds is checked."""
        load, store, atomic = (getattr(Semantic, name) for name in _PLACES)

        def checked_load(semantic: Any, ptr: Any, mask: Any, *rest: Any) -> Any:
            return load(semantic, ptr, self._guarded(semantic, ptr, mask, "load"), *rest)

        def checked_store(semantic: Any, ptr: Any, value: Any, mask: Any, *rest: Any) -> Any:
            return store(semantic, ptr, value, self._guarded(semantic, ptr, mask, "store"), *rest)

        def checked_atomic(semantic: Any, ptr: Any, value: Any, mask: Any, op: str) -> Any:
            ptr, value, mask = atomic(semantic, ptr, value, mask, op)
            return ptr, value, self._guarded(semantic, ptr, mask, "atomic")

        for name, checked in zip(_PLACES, (checked_load, checked_store, checked_atomic), strict=True):
            setattr(Semantic, name, checked)
        try:
            with plain_block_pointers():
                yield
        finally:
            for name, own in zip(_PLACES, (load, store, atomic), strict=True):
                setattr(Semantic, name, own)

    def sites(self) -> Iterator[tuple[int, Site]]:
        """The accesses that were built, by number."""
        for (said, kind), number in self._sites.items():
            if (place := location(said)) is not None:
                yield min(number, MAX_SITES - 1), Site(*place, kind)

    def _guarded(self, semantic: Any, ptr: Any, mask: Any, kind: str) -> Any:
        if self._busy or not ptr.type.scalar.is_ptr():
            return mask
        self._busy = True
        try:
            number = self._sites.setdefault((str(semantic.builder.get_loc()), kind), len(self._sites))
            site, access = min(number, MAX_SITES - 1), Access(semantic, ptr, mask)
            self.widths[site] = access.width
            return self.check(access, site)
        finally:
            self._busy = False


class Access:
    """One access that the front end builds, with words for what a check is made of."""

    def __init__(self, semantic: Any, ptr: Any, mask: Any) -> None:
        self.s, self.pointer = semantic, ptr
        self.shape = [int(getattr(one, "value", one)) for one in ptr.shape] if ptr.type.is_block() else None
        self.width = math.prod(self.shape or (1,))
        self.size = max(1, ptr.type.scalar.element_ty.primitive_bitwidth // 8)
        """Bytes of an element."""
        self.address = semantic.cast(ptr, tl.int64)
        self.active = self._active(mask)

    def _active(self, mask: Any) -> Any:
        s = self.s
        if mask is None:
            return self.constant(1, tl.int1)
        if not hasattr(mask, "type") or not hasattr(mask, "handle"):
            mask = s.to_tensor(mask)
        if mask.type.scalar != tl.int1:
            mask = s.cast(mask, tl.int1)
        if self.shape is None:
            return mask
        return s.broadcast_impl_shape(mask, self.shape) if mask.type.is_block() else s.splat(mask, self.shape)

    def inside(self, ranges: list[tuple[int, int]]) -> Any:
        """Lane by lane, whether all bytes of the element lie in one of these ranges of addresses."""
        s, found = self.s, self.constant(0, tl.int1)
        for low, high in ranges:
            if high - low < self.size:
                continue
            # Below the start, the difference wraps to a huge number: one comparison does for both ends.
            off = s.bitcast(s.sub(self.address, self.constant(low, tl.int64), False), tl.uint64)
            found = s.or_(found, s.less_equal(off, self.constant(high - low - self.size, tl.uint64)))
        return found

    def program(self) -> tuple[Any, Any]:
        """The number of this program, the first axis running fastest, and how many there are."""
        s = self.s
        index = [s.cast(s.program_id(axis), tl.int64) for axis in range(3)]
        extent = [s.cast(s.num_programs(axis), tl.int64) for axis in range(3)]
        rest = s.add(index[1], s.mul(extent[1], index[2], False), False)
        number = s.add(index[0], s.mul(extent[0], rest, False), False)
        return number, s.mul(extent[0], s.mul(extent[1], extent[2], False), False)

    def constant(self, value: int, dtype: Any) -> Any:
        """The same number in every lane."""
        return self.spread(self.s.scalar_constant(value, dtype))

    def spread(self, value: Any) -> Any:
        """The same scalar in every lane."""
        return value if self.shape is None else self.s.splat(value, self.shape)

    def cell(self, where: Any) -> Any:
        """A pointer to a 64-bit number of the report, by its address."""
        number = self.s.scalar_constant(where, tl.int64) if isinstance(where, int) else where
        return self.s.cast(number, tl.pointer_type(tl.int64))
