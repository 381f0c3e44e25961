"""A Jupyter notebook read as one Python text: its code cells in order, and where each of them stands.

The text has an empty line in front of each cell, so that cells never share a line. Positions in the text are
what the engine works with; `Cells` says which cell and line they are, and `Notebook.raw_range` where they
stand in the file itself, which is JSON.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from tritonlint import magics
from tritonlint.finding import Cells, Position, Range
from tritonlint.parsing import ParseFailure, parsed

_LINE_END = re.compile(r"\r\n|\r|\n")
_SPACE = re.compile(r"[ \t\r\n]*")
_UNIT = re.compile(r"\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u....|\\.|[^\\]", re.DOTALL)
"""One character as JSON spells it; the second half of a pair belongs to the first."""
_PYTHONS = frozenset(("python", "python3", "ipython"))


class Literal(NamedTuple):
    """One string of a cell's source: its value, and where it stands in the file, quotes included."""

    value: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Cell:
    """A code cell that is Python."""

    number: int
    """Among all cells, of text and of code, from 1: as people count them."""
    first_line: int
    """The line of the notebook's Python text that is the cell's first."""
    text: str
    """What the cell holds, with its own line ends."""
    source: int
    """Where its source stands in the file: the offset of a list or of a string."""

    def offset(self, line: int, column: int) -> int:
        """The index in `text` of a place in the cell; the end, of a line behind its last."""
        starts = [0, *(match.end() for match in _LINE_END.finditer(self.text))]
        return min(starts[line - 1] + column - 1, len(self.text)) if line <= len(starts) else len(self.text)


@dataclass(frozen=True)
class Notebook:
    """A notebook as it was read."""

    raw: str
    """The file's text, which is JSON."""
    cells: tuple[Cell, ...]
    text: str
    """The Python text of all cells, as it is written."""
    code: str
    """The same with Python in place of magics, and without the cells that cannot be parsed."""
    failures: tuple[ParseFailure, ...]
    """What is wrong with those, at places of the text."""

    @cached_property
    def places(self) -> Cells:
        """Where the cells start."""
        return Cells(tuple((cell.first_line, cell.number) for cell in self.cells))

    def cell_at(self, line: int) -> Cell | None:
        """The cell of a line of the text."""
        at = bisect_right(self.cells, line, key=lambda cell: cell.first_line)
        return self.cells[at - 1] if at else None

    def raw_range(self, where: Range) -> Range | None:
        """Where a stretch of the text stands in the file; None if it is in no cell.

        One that ends behind its cell, as a whole last line does, ends with the cell.
        """
        cell = self.cell_at(where.start.line)
        pieces = list(literals(self.raw, cell.source)) if cell is not None else []
        if cell is None or not pieces:
            return None
        first = cell.first_line - 1
        start = cell.offset(where.start.line - first, where.start.column)
        end = cell.offset(where.end.line - first, where.end.column)
        begins = raw_offset(self.raw, pieces, start)
        # The end of a stretch stands behind its last character, not in front of the next line's string.
        ends = raw_offset(self.raw, pieces, end, is_end=True) if end > start else begins
        return Range(self._raw_position(begins), self._raw_position(ends))

    def _raw_position(self, offset: int) -> Position:
        at = bisect_right(self._raw_lines, offset)
        return Position(at, offset - self._raw_lines[at - 1] + 1)

    @cached_property
    def _raw_lines(self) -> list[int]:
        return [0, *(match.end() for match in _LINE_END.finditer(self.raw))]


def read(data: bytes) -> Notebook:
    """Read a notebook of format 4 or later.

    Raises:
        ParseFailure: it is no JSON, or no notebook of such a format; the place is one of the file.
    """
    try:
        raw = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise ParseFailure(f"the file is not valid utf-8: {error.reason}", line) from error
    try:
        contents = _contents(raw)
    except json.JSONDecodeError as error:
        raise ParseFailure(
            f"the notebook is not valid JSON: {error.msg}", error.lineno, error.colno
        ) from error
    except ValueError as error:  # a number of thousands of digits
        raise ParseFailure(f"the notebook cannot be read: {error}") from error
    except RecursionError as error:
        raise ParseFailure("the notebook is nested too deeply to be read") from error
    return _notebook(raw, contents)


# --- JSON with places ---------------------------------------------------------------------------------
_VALUE = json.JSONDecoder()


class _Contents(NamedTuple):
    """What matters of a notebook's JSON: its top level without the cells, and each cell with its place."""

    top: dict[str, Any]
    cells: list[tuple[dict[str, Any], int | None]] | None
    """The members of each cell, and where its source stands; None without a list of cells."""


def _contents(raw: str) -> _Contents:
    start = _behind_space(raw, 1 if raw.startswith("\ufeff") else 0)
    if raw[start : start + 1] != "{":
        _value(raw, start)  # raises for what is no JSON
        raise ParseFailure("the file is no notebook: its JSON is no object")
    top: dict[str, Any] = {}
    cells: list[tuple[dict[str, Any], int | None]] | None = None
    members = _Members(raw, start)
    for key, at in members:
        if key == "cells" and raw[at] == "[":
            cells, members.end = _cells(raw, at)
        else:
            top[key], members.end = _value(raw, at)
    rest = _behind_space(raw, members.end)
    if rest != len(raw):
        raise json.JSONDecodeError("Extra data", raw, rest)
    return _Contents(top, cells)


def _cells(raw: str, at: int) -> tuple[list[tuple[dict[str, Any], int | None]], int]:
    found: list[tuple[dict[str, Any], int | None]] = []
    items = _Items(raw, at)
    for start in items:
        if raw[start] != "{":
            _, items.end = _value(raw, start)
            found.append(({}, None))
            continue
        cell: dict[str, Any] = {}
        source: int | None = None
        members = _Members(raw, start)
        for key, place in members:
            cell[key], members.end = _value(raw, place)
            source = place if key == "source" else source
        items.end = members.end
        found.append((cell, source))
    return found, items.end


class _Members:
    """The members of an object, each as its key and where its value starts. Who takes one sets `end`."""

    def __init__(self, raw: str, start: int) -> None:
        self._raw = raw
        self.end = start + 1

    def __iter__(self) -> Iterator[tuple[str, int]]:
        at = _behind_space(self._raw, self.end)
        while self._raw[at : at + 1] != "}":
            if self._raw[at : at + 1] != '"':
                raise json.JSONDecodeError("Expecting property name enclosed in double quotes", self._raw, at)
            key, at = _value(self._raw, at)
            at = _behind_space(self._raw, at)
            if self._raw[at : at + 1] != ":":
                raise json.JSONDecodeError("Expecting ':' delimiter", self._raw, at)
            yield key, _start_of_value(self._raw, at + 1)
            at = _behind_comma(self._raw, self.end, "}")
        self.end = at + 1


class _Items:
    """The items of a list, each as where it starts. Who takes one sets `end`."""

    def __init__(self, raw: str, start: int) -> None:
        self._raw = raw
        self.end = start + 1

    def __iter__(self) -> Iterator[int]:
        at = _behind_space(self._raw, self.end)
        while self._raw[at : at + 1] != "]":
            yield _start_of_value(self._raw, at)
            at = _behind_comma(self._raw, self.end, "]")
        self.end = at + 1


def _value(raw: str, at: int) -> tuple[Any, int]:
    return _VALUE.raw_decode(raw, at)


def _start_of_value(raw: str, at: int) -> int:
    at = _behind_space(raw, at)
    if at == len(raw):
        raise json.JSONDecodeError("Expecting value", raw, at)
    return at


def _behind_space(raw: str, at: int) -> int:
    match = _SPACE.match(raw, at)
    return match.end() if match is not None else at


def _behind_comma(raw: str, at: int, closing: str) -> int:
    """Where the next member or item starts, or the closing bracket stands."""
    at = _behind_space(raw, at)
    if raw[at : at + 1] == closing:
        return at
    if raw[at : at + 1] != ",":
        raise json.JSONDecodeError("Expecting ',' delimiter", raw, at)
    after = _behind_space(raw, at + 1)
    if raw[after : after + 1] == closing:
        raise json.JSONDecodeError("Illegal trailing comma before end", raw, at)
    return after


def literals(raw: str, source: int) -> Iterator[Literal]:
    """The strings of a cell's source, which is a list of them or a single one."""
    if raw[source] == '"':
        value, end = _value(raw, source)
        yield Literal(value, source, end)
        return
    items = _Items(raw, source)
    for start in items:
        value, items.end = _value(raw, start)
        yield Literal(value, start, items.end)


def raw_offset(raw: str, pieces: list[Literal], offset: int, *, is_end: bool = False) -> int:
    """Where a character of a cell's text stands in the file.

    Between two strings, it is the start of the second, or with `is_end` the end of the first.
    """
    for number, piece in enumerate(pieces):
        is_last = number == len(pieces) - 1
        if offset < len(piece.value) or (offset == len(piece.value) and (is_end or is_last)):
            at = piece.start + 1
            for unit in _UNIT.finditer(raw, at, piece.end - 1):
                if offset <= 0:
                    break
                at, offset = unit.end(), offset - 1
            return at
        offset -= len(piece.value)
    return pieces[-1].end - 1


# --- cells ---------------------------------------------------------------------------------------------
def _notebook(raw: str, contents: _Contents) -> Notebook:
    top = contents.top
    if contents.cells is None:
        if "worksheets" in top:
            raise ParseFailure(
                "this notebook has an old format, without a list of cells: save it anew with Jupyter, or run "
                "`jupyter nbconvert --to notebook --inplace` on it"
            )
        raise ParseFailure("the file is no notebook: it has no list of cells")
    cells: list[Cell] = []
    text: list[str] = []
    code: list[str] = []
    failures: list[ParseFailure] = []
    sources = enumerate(contents.cells, 1) if _is_python(top.get("metadata")) else ()
    for number, (cell, source) in sources:
        written = _written(cell)
        lines = _LINE_END.split(written) if written is not None else []
        python = magics.cell_code("\n".join(lines))
        if source is None or written is None or python is None:
            continue
        cells.append(Cell(number, len(text) + 2, written, source))
        text += ["", *lines]
        try:
            code += _parsable(python)
        except ParseFailure as failure:
            line = min(failure.line, len(lines)) + cells[-1].first_line - 1
            failures.append(ParseFailure(failure.message, line, failure.column))
            code += [""] * (len(lines) + 1)
    return Notebook(
        raw,
        tuple(cells),
        "".join(line + "\n" for line in text),
        "".join(line + "\n" for line in code),
        tuple(failures),
    )


def _parsable(python: str) -> list[str]:
    """The lines of a cell behind the empty one, which makes a cell that is indented as a whole Python."""
    try:
        parsed(python)
    except ParseFailure:
        first = next((line for line in python.split("\n") if line.split("#")[0].strip()), "")
        if not first[:1].isspace():
            raise
        parsed("if 1:\n" + python)
        return ["if 1:", *python.split("\n")]
    return ["", *python.split("\n")]


def _written(cell: dict[str, Any]) -> str | None:
    """The text of a code cell that is not marked as another language's."""
    source, metadata = cell.get("source"), cell.get("metadata")
    editor = metadata.get("vscode") if isinstance(metadata, dict) else None
    language = editor.get("languageId") if isinstance(editor, dict) else None
    if cell.get("cell_type") != "code" or not _names_python(language):
        return None
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        return "".join(source)
    return source if isinstance(source, str) else None


def _is_python(metadata: Any) -> bool:
    """Whether a notebook's code is Python, as it is where nothing else is said."""
    said = metadata if isinstance(metadata, dict) else {}
    kernel, language = said.get("kernelspec"), said.get("language_info")
    names = [
        language.get("name") if isinstance(language, dict) else None,
        kernel.get("language") if isinstance(kernel, dict) else None,
    ]
    return all(_names_python(name) for name in names)


def _names_python(language: Any) -> bool:
    return not isinstance(language, str) or not language or language.lower() in _PYTHONS
