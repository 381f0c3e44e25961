"""The format for people: each finding with its source line, a caret, and the places that belong to it."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

from tritonlint.grades import Severity, Verdict
from tritonlint.output.text import place, printable
from tritonlint.output.texts import Texts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tritonlint.finding import Finding, Range
    from tritonlint.output import RenderContext

_COLORS = {Severity.ERROR: "1;31", Severity.WARNING: "1;33", Severity.NOTE: "1;36"}
_BOLD, _DIM = "1", "2"
_WIDEST = 160
"""A longer source line is cut around the finding."""


def render(findings: Sequence[Finding], context: RenderContext) -> str:
    """Blocks of several lines, with a blank line after each."""
    page = _Page(context)
    return "".join("\n".join(page.block(finding)) + "\n\n" for finding in findings)


class _Page:
    """Draws findings."""

    def __init__(self, context: RenderContext) -> None:
        self._color = context.color
        self._texts = Texts(context.texts)

    def block(self, finding: Finding) -> Iterator[str]:
        color = _COLORS[finding.severity]
        head = self._paint(f"{finding.severity} {finding.code}", color)
        where = self._paint(place(finding.path, finding.range, finding.cells), _BOLD)
        yield f"{where}: {head} {finding.name}: {printable(finding.message)}"
        yield from self._excerpt(finding, finding.path, finding.range, "^", color, "")
        yield self._paint(f"  = {_circumstances(finding)}", _DIM)
        if finding.fix is not None:
            yield f"  = fix ({finding.fix.applicability}): {printable(finding.fix.title)}"
        for other in finding.related:
            where = place(other.path, other.range, finding.cells_of(other.path))
            yield f"  {where}: {printable(other.message)}"
            yield from self._excerpt(finding, other.path, other.range, "-", _DIM, "  ")

    def _excerpt(
        self, finding: Finding, path: str, where: Range, mark: str, color: str, indent: str
    ) -> Iterator[str]:
        """The first line of a range that a finding names, and marks under the flagged part."""
        lines = self._texts.lines_of(path)
        if where.start.line > len(lines):
            return
        cells = finding.cells_of(path)
        number = str((where if cells is None else cells.place(where)[1]).start.line)
        before, flagged, after = _cut(lines[where.start.line - 1], where)
        width = max(_width(flagged), 1)
        gutter = " " * len(number)
        yield self._paint(f"{indent}{gutter} |", _DIM)
        yield self._paint(f"{indent}{number} | ", _DIM) + before + flagged + after
        marks = " " * _width(before) + self._paint(mark * width, color)
        yield self._paint(f"{indent}{gutter} | ", _DIM) + marks

    def _paint(self, text: str, color: str) -> str:
        return f"\x1b[{color}m{text}\x1b[0m" if self._color else text


def _circumstances(finding: Finding) -> str:
    said = [f"{finding.confidence} confidence"]
    if finding.kernel is not None:
        said.append(f"in kernel `{printable(finding.kernel)}`")
    if finding.verdict is not Verdict.UNTESTED:
        said.append(f"{finding.verdict}" + (f": {printable(finding.evidence)}" if finding.evidence else ""))
    return ", ".join(said)


def _cut(line: str, where: Range) -> tuple[str, str, str]:
    """A line as printed, in three parts: before, under and after the marks."""
    start = where.start.column - 1
    end = where.end.column - 1 if where.end.line == where.start.line else len(line.rstrip())
    before, flagged, after = line[:start], line[start : max(end, start)], line[max(end, start) :].rstrip()
    if len(line) > _WIDEST:
        before = before if len(before) < _WIDEST // 2 else "..." + before[-(_WIDEST // 4) :]
        flagged = flagged if len(flagged) < _WIDEST // 2 else flagged[: _WIDEST // 2] + "..."
        after = after if len(after) < _WIDEST // 4 else after[: _WIDEST // 4] + "..."
    return _shown(before), _shown(flagged), _shown(after)


def _shown(text: str) -> str:
    return printable(text.replace("\t", "    "))


def _width(text: str) -> int:
    """Columns on a terminal: East Asian characters take two, combining ones none."""
    if text.isascii():
        return len(text)
    return sum(_character_width(char) for char in text)


def _character_width(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
