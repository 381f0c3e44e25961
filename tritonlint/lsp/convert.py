"""Between the words of the protocol and ours: lines from 0 and columns in UTF-16, and back."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

from lsprotocol import types

from tritonlint.finding import Edit, Finding, Position, Range, Severity

SOURCE = "tritonlint"
UNUSED = "TL902"
_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.NOTE: types.DiagnosticSeverity.Information,
}


class Columns:
    """Columns of one text in the unit that the client counts in.

    Args:
        lines: without their ends.
        encoding: what was agreed on: UTF-16 unless the client wants another.
    """

    def __init__(self, lines: Sequence[str], encoding: str) -> None:
        self.lines, self.encoding = lines, encoding

    def position(self, place: Position) -> types.Position:
        """A place as the client has it."""
        line = self.lines[place.line - 1] if place.line <= len(self.lines) else ""
        return types.Position(place.line - 1, self._units(line[: place.column - 1]))

    def range(self, where: Range) -> types.Range:
        """A stretch as the client has it."""
        return types.Range(self.position(where.start), self.position(where.end))

    def place(self, position: types.Position) -> Position:
        """A position of the client as ours."""
        line = self.lines[position.line] if position.line < len(self.lines) else ""
        taken = 0
        for column, character in enumerate(line):
            if taken >= position.character:
                return Position(position.line + 1, column + 1)
            taken += self._units(character)
        return Position(position.line + 1, len(line) + 1)

    def _units(self, text: str) -> int:
        if text.isascii() or self.encoding == types.PositionEncodingKind.Utf32:
            return len(text)
        if self.encoding == types.PositionEncodingKind.Utf8:
            return len(text.encode("utf-8", "surrogatepass"))
        return len(text.encode("utf-16-le", "surrogatepass")) // 2


def path_of(uri: str) -> Path | None:
    """The file of an address, None if it names none, as for a buffer that was never saved."""
    parts = urlsplit(uri)
    if parts.scheme != "file":
        return None
    return Path(url2pathname(unquote(parts.path, errors="surrogateescape")))


def uri_of(path: str) -> str:
    """The address of a file that a finding names."""
    return Path(os.path.abspath(path)).as_uri()


def diagnostic(finding: Finding, columns: Columns) -> types.Diagnostic:
    """A finding as a client shows it."""
    said = finding.message
    if finding.evidence is not None:
        said += f" ({finding.verdict}: {finding.evidence})"
    return types.Diagnostic(
        range=columns.range(finding.range),
        message=said,
        severity=_SEVERITIES[finding.severity],
        code=finding.code,
        code_description=types.CodeDescription(finding.url) if finding.url is not None else None,
        source=SOURCE,
        tags=[types.DiagnosticTag.Unnecessary] if finding.code == UNUSED else None,
        related_information=[
            types.DiagnosticRelatedInformation(
                types.Location(
                    uri_of(other.path),
                    columns.range(other.range) if other.path == finding.path else _plain(other.range),
                ),
                other.message,
            )
            for other in finding.related
        ]
        or None,
        data={"name": finding.name, "fingerprint": finding.fingerprint, "fixable": finding.fix is not None},
    )


def text_edit(edit: Edit, columns: Columns, newline: str) -> types.TextEdit:
    """A change of one text as the client makes it."""
    return types.TextEdit(columns.range(edit.range), edit.text.replace("\n", newline))


def _plain(where: Range) -> types.Range:
    """A stretch of another file, whose text nobody has at hand: lines count, columns are of plain text."""
    start, end = where.start, where.end
    return types.Range(
        types.Position(start.line - 1, start.column - 1), types.Position(end.line - 1, end.column - 1)
    )
