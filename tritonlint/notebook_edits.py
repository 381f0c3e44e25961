"""Changes to the code of a notebook, made in the strings of its file; all other characters stay."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from typing import TYPE_CHECKING

from tritonlint import edits
from tritonlint.notebook import literals, raw_offset

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tritonlint.finding import Edit
    from tritonlint.notebook import Cell, Literal, Notebook

_ESCAPED = re.compile(r"\\u(?!00[01])")
"""A character that JSON could have spelled as itself."""
_LINE = re.compile(r"(?:[^\\\n]|\\[^n])*(?:\\n|$)")
"""A line of a string as JSON spells it, with its `\\n`."""

_ENDS = re.compile(r"(?<!\\)(?:\\\\)*\\n$")
"""The `\\n` at the end of such a line, which is no `n` behind a backslash."""


class Misplaced(edits.Overlap):
    """An edit is in no cell, or in two of them."""


def apply(notebook: Notebook, made: Iterable[Edit]) -> str:
    """The text of the file after some edits, whose places are those of the notebook's Python text.

    Raises:
        Overlap: two of them touch the same characters, or one reaches from a cell into the next.
    """
    spans = sorted({_span(notebook, edit) for edit in made}, key=lambda span: (span[0].first_line, *span[1:]))
    for (cell, _, end, _), (other, start, _, _) in pairwise(spans):
        if cell == other and start < end:
            raise edits.Overlap(f"two edits change cell {cell.number}")
    raw = notebook.raw
    as_ascii = raw.isascii() and _ESCAPED.search(raw) is not None
    for cell, start, end, new in reversed(spans):  # so that what is in front keeps its place
        written = json.dumps(new.replace("\n", edits.newline_of(cell.text)), ensure_ascii=as_ascii)[1:-1]
        raw = _spliced(raw, cell.source, start, end, written)
    return raw


def _span(notebook: Notebook, edit: Edit) -> tuple[Cell, int, int, str]:
    """The cell of an edit, its place there, and the new text."""
    cell, place = notebook.cell_at(edit.range.start.line), edit.range
    if cell is None:
        raise Misplaced("an edit is in no cell")
    first = cell.first_line - 1
    start = cell.offset(place.start.line - first, place.start.column)
    end = cell.offset(place.end.line - first, place.end.column)
    behind = notebook.cell_at(place.end.line)
    if behind != cell:
        raise Misplaced(f"an edit reaches from cell {cell.number} into the next")
    is_last_line = end == len(cell.text) and not cell.text[start:end].endswith(("\n", "\r"))
    if not edit.text and place.end.column == 1 < place.end.line - place.start.line + 1 and is_last_line:
        start = _end_of_line_above(cell.text, start)  # a whole line goes, and the last has no end of its own
    return cell, start, end, edit.text


def _end_of_line_above(text: str, start: int) -> int:
    if text[:start].endswith("\r\n"):
        return start - 2
    return max(start - 1, 0)


def _spliced(raw: str, source: int, start: int, end: int, written: str) -> str:
    """The file with a stretch of one cell replaced by what is `written` as JSON does."""
    pieces = list(literals(raw, source))
    if not pieces:
        raise Misplaced("an edit is in a cell without text")
    begins = raw_offset(raw, pieces, start)
    ends = raw_offset(raw, pieces, end, is_end=True) if end > start else begins
    first = next(number for number, piece in enumerate(pieces) if begins < piece.end)
    last = next(number for number, piece in enumerate(pieces) if ends < piece.end)
    if raw[source] == '"':
        return raw[:begins] + written + raw[ends:]
    body = raw[pieces[first].start + 1 : begins] + written + raw[ends : pieces[last].end - 1]
    had_end = pieces[last].value.endswith("\n") and last + 1 < len(pieces)
    if body and had_end and _ENDS.search(body) is None:  # the next line is a line no more
        last += 1
        body += raw[pieces[last].start + 1 : pieces[last].end - 1]
    lines = [line for line in _LINE.findall(body) if line]
    if lines or len(pieces) == last - first + 1:
        new = _separator(raw, source, pieces).join(f'"{line}"' for line in lines or [""])
        return raw[: pieces[first].start] + new + raw[pieces[last].end :]
    if last + 1 < len(pieces):
        return raw[: pieces[first].start] + raw[pieces[last + 1].start :]
    return raw[: pieces[first - 1].end] + raw[pieces[last].end :]


def _separator(raw: str, source: int, pieces: list[Literal]) -> str:
    """What stands between two lines of a cell's list."""
    if len(pieces) > 1:
        return raw[pieces[0].end : pieces[1].start]
    space = raw[source + 1 : pieces[0].start]
    return "," + (space or " ")
