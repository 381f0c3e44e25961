"""The diagnostic format of reviewdog, which writes findings and fixes into the review of a change.

Its columns count bytes of UTF-8, and its suggestions are alternatives: the edits of a fix become one of them.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tritonlint import edits
from tritonlint.finding import Edit, Position, Range, Severity
from tritonlint.output.raw import RawPlaces
from tritonlint.output.text import encodable
from tritonlint.output.texts import Texts
from tritonlint.source import text_between

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tritonlint.finding import Finding, Fix
    from tritonlint.output import RenderContext

_SEVERITIES = {Severity.ERROR: "ERROR", Severity.WARNING: "WARNING", Severity.NOTE: "INFO"}


def render(findings: Sequence[Finding], context: RenderContext) -> str:
    """One result with all diagnostics."""
    texts, raw = Texts(context.texts), RawPlaces(context)
    result = {
        "source": {"name": "tritonlint"},
        "diagnostics": [_diagnostic(finding, texts, raw) for finding in findings],
    }
    return json.dumps(result, indent=2) + "\n"


def _diagnostic(finding: Finding, texts: Texts, raw: RawPlaces) -> dict[str, Any]:
    code = {"value": finding.code}
    if finding.url is not None:
        code["url"] = finding.url
    diagnostic: dict[str, Any] = {
        "message": encodable(f"{finding.name}: {finding.message}"),
        "location": _location(finding, finding.path, finding.range, texts, raw),
        "severity": _SEVERITIES[finding.severity],
        "code": code,
    }
    if finding.related:
        diagnostic["relatedLocations"] = [
            {
                "message": encodable(other.message),
                "location": _location(finding, other.path, other.range, texts, raw),
            }
            for other in finding.related
        ]
    # In a notebook a fix changes strings of JSON, and the format has no word for more than one place.
    is_plain = finding.fix is not None and finding.cells is None
    change = _as_one(finding.fix, finding.path, texts) if is_plain and finding.fix is not None else None
    if change is not None:
        where = _range(change.range, texts.lines_of(finding.path))
        diagnostic["suggestions"] = [{"range": where, "text": encodable(change.text)}]
    return diagnostic


def _as_one(fix: Fix, path: str, texts: Texts) -> Edit | None:
    """The edits of a fix as one; None where they touch another file or the text is not known any more."""
    if not fix.edits or any(edit.path != path for edit in fix.edits):
        return None
    whole = Range(min(edit.range.start for edit in fix.edits), max(edit.range.end for edit in fix.edits))
    lines = texts.lines_of(path)
    if whole.end.line > len(lines):
        return None
    try:
        moved = [Edit(path, _seen_from(edit.range, whole.start), edit.text) for edit in fix.edits]
        return Edit(path, whole, edits.apply(text_between(lines, whole), moved))
    except edits.Overlap:
        return None


def _seen_from(where: Range, origin: Position) -> Range:
    """A range in the text that begins at `origin`."""

    def seen(place: Position) -> Position:
        column = place.column - origin.column + 1 if place.line == origin.line else place.column
        return Position(place.line - origin.line + 1, column)

    return Range(seen(where.start), seen(where.end))


def _location(finding: Finding, path: str, where: Range, texts: Texts, raw: RawPlaces) -> dict[str, Any]:
    is_notebook = finding.cells_of(path) is not None
    lines = [] if is_notebook else texts.lines_of(path)
    return {"path": encodable(path), "range": _range(raw.range(finding, path, where), lines)}


def _range(where: Range, lines: list[str]) -> dict[str, dict[str, int]]:
    """A range in bytes; in whole lines, which the format allows, where the text is not known."""
    if where.end.line > len(lines):
        return {"start": {"line": where.start.line}, "end": {"line": where.end.line}}
    return {"start": _position(where.start, lines), "end": _position(where.end, lines)}


def _position(place: Position, lines: list[str]) -> dict[str, int]:
    before = lines[place.line - 1][: place.column - 1]
    return {"line": place.line, "column": len(before.encode("utf-8", "surrogatepass")) + 1}
