"""Fills the lanes that a mask switches off and that no `other` fills, to see whether they matter."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from triton.language.semantic import TritonSemantic as Semantic

from tritonlint.confirm.copies import Copies
from tritonlint.confirm.instrument import LOAD, Access, Instrument, location
from tritonlint.confirm.launches import Launch
from tritonlint.confirm.probe_interpreted import place

Where = tuple[str, int, int | None]
"""File, line, column."""
VALUE = 77
"""What is filled in: of any type, and no number that a kernel would give by itself."""


class _Guard(Instrument):
    """Keeps a poisoned launch inside its tensors: an index that is poison may lead anywhere."""

    def check(self, access: Access, site: int) -> Any:
        """See `Instrument.check`."""
        return access.s.and_(access.active, access.inside(self.copies.storages))


class Poisoned:
    """Masked loads without `other`, all of a launch or one.

    Args:
        launch: is made by whoever uses this.
        only: the one load that is filled; by default all are.
    """

    def __init__(self, launch: Launch, only: Where | None = None) -> None:
        self.launch, self.only = launch, only
        self.sites: dict[Where, None] = {}
        """Those that were met, in order."""

    @contextmanager
    def installed(self, copies: Copies, value: int, *, is_gpu: bool) -> Iterator[None]:
        """While this lasts, loads are filled with `value`; on a GPU, what is built meanwhile does so."""
        guard = _Guard(self.launch, copies).installed() if is_gpu else contextlib.nullcontext()
        with guard:
            load = getattr(Semantic, LOAD)

            def filled(semantic: Any, ptr: Any, mask: Any, other: Any, *rest: Any) -> Any:
                if mask is not None and other is None and ptr.type.scalar.is_ptr():
                    where = _location(semantic.builder)
                    self.sites[where] = None
                    if self.only in (None, where):
                        element = ptr.type.scalar.element_ty
                        other = semantic.scalar_constant(value, element)
                return load(semantic, ptr, mask, other, *rest)

            setattr(Semantic, LOAD, filled)
            try:
                yield
            finally:
                setattr(Semantic, LOAD, load)


def _location(builder: Any) -> Where:
    said = location(str(builder.get_loc())) if hasattr(builder, "get_loc") else None
    return said or place(2)
