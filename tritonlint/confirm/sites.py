"""What a bounds probe says: for each access of the source, the lanes that were active and those outside."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from tritonlint.confirm.copies import Span

BINS = 64
"""Into so many stretches the programs of a grid are divided, to show where the bad lanes lie."""


@dataclass
class Site:
    """One access in the source, in one launch."""

    file: str
    line: int
    column: int | None
    """From 1; None where the backend cannot tell."""
    kind: str
    """`load`, `store` or `atomic`."""
    lanes: int = 0
    """Of all times that it was executed; on a GPU those that are masked off count, too."""
    outside: int = 0
    """Active lanes whose address lies in no storage of the launch's tensors."""
    past_view: int = 0
    """Active lanes inside a storage, but outside every tensor that was passed."""
    tensor: str | None = None
    """The tensor nearest to the first bad address."""
    offset: int = 0
    """Of the bad address that is furthest from the tensor: elements behind its last, negative in front."""
    program: int | None = None
    """The first program with a bad lane, numbered with the grid's first axis running fastest."""
    by_program: list[int] = field(default_factory=lambda: [0] * BINS)
    """Bad lanes over the grid, in `BINS` equal stretches."""

    @property
    def bad(self) -> int:
        """Lanes outside what was passed, in a storage or not."""
        return self.outside + self.past_view

    def over_grid(self, programs: int) -> list[int]:
        """Bad lanes by program, or by stretch of programs where there are more than `BINS`."""
        if programs >= BINS:
            return self.by_program
        return [self.by_program[number * BINS // programs] for number in range(programs)]

    def place(self, address: int, spans: Iterable[Span]) -> None:
        """Say which tensor a bad address is nearest to, and how far it is off."""
        nearest = min(spans, key=lambda span: _distance(address, span), default=None)
        if nearest is None or _distance(address, nearest) > _FAR:
            return
        if address >= nearest.end:
            offset = (address - nearest.end) // nearest.element_size + 1
        else:
            offset = -(-(address - nearest.start) // -nearest.element_size) or -1
        if self.tensor is None or abs(offset) > abs(self.offset):
            self.tensor, self.offset = nearest.name, offset


_FAR = 1 << 40
"""Bytes from every tensor at which an address belongs to none: a null pointer, for instance."""


def _distance(address: int, span: Span) -> int:
    if span.start <= address < span.end:
        return 0
    return span.start - address if address < span.start else address - span.end + 1


def program_index(number: int, grid: tuple[int, ...]) -> tuple[int, ...]:
    """The index on each axis of a program by its number."""
    index = []
    for extent in grid:
        index.append(number % extent)
        number //= extent
    return tuple(index)
