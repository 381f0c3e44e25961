"""One JSON array of findings: the complete record, for programs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tritonlint.finding import Cells, Finding, Fix, Range
    from tritonlint.output import RenderContext


def render(findings: Sequence[Finding], context: RenderContext) -> str:
    """An array, in ASCII, so that it survives every encoding of standard output."""
    del context
    return json.dumps([as_object(finding) for finding in findings], indent=2) + "\n"


def as_object(finding: Finding) -> dict[str, Any]:
    """The shape of a finding in JSON: lines and columns from 1, in code points; ends exclusive.

    In a notebook, lines are those of the cell that `cell` numbers, from 1 and among all cells.
    """
    return {
        "code": finding.code,
        "name": finding.name,
        "message": finding.message,
        "severity": finding.severity.value,
        "confidence": finding.confidence.value,
        "verdict": finding.verdict.value,
        "evidence": finding.evidence,
        "path": finding.path,
        "kernel": finding.kernel,
        **_place(finding.range, finding.cells),
        "related": [
            {
                "path": other.path,
                **_place(other.range, finding.cells_of(other.path)),
                "message": other.message,
            }
            for other in finding.related
        ],
        "fix": _fix(finding, finding.fix),
        "fingerprint": finding.fingerprint,
        "url": finding.url,
    }


def _place(where: Range, cells: Cells | None) -> dict[str, Any]:
    number, inside = (None, where) if cells is None else cells.place(where)
    return {
        "cell": number,
        "range": {
            "start": {"line": inside.start.line, "column": inside.start.column},
            "end": {"line": inside.end.line, "column": inside.end.column},
        },
    }


def _fix(finding: Finding, fix: Fix | None) -> dict[str, Any] | None:
    if fix is None:
        return None
    return {
        "title": fix.title,
        "applicability": fix.applicability.value,
        "edits": [
            {"path": edit.path, **_place(edit.range, finding.cells_of(edit.path)), "text": edit.text}
            for edit in fix.edits
        ],
    }
