"""The texts that findings point into, for formats that show or count what stands in them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


class Texts:
    """The lines of files, each read once."""

    def __init__(self, given: Mapping[str, bytes]) -> None:
        self._given = given
        self._lines: dict[str, list[str]] = {}

    def lines_of(self, path: str) -> list[str]:
        """The lines of a file without their ends; none where it cannot be read."""
        if path not in self._lines:
            self._lines[path] = self._read(path)
        return self._lines[path]

    def _read(self, path: str) -> list[str]:
        from tritonlint.source import ParseFailure, Source

        try:
            data = self._given.get(path)
            source = Source.read(Path(path), path) if data is None else Source.from_bytes(data, path)
        except (OSError, ParseFailure):
            return []
        return source.lines
