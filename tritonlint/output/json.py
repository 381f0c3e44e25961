"""One JSON array of findings: the complete record, for programs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tritonlint.finding import Finding, Fix, Range
    from tritonlint.output import RenderContext


def render(findings: Sequence[Finding], context: RenderContext) -> str:
    """An array, in ASCII, so that it survives every encoding of standard output."""
    del context
    return json.dumps([as_object(finding) for finding in findings], indent=2) + "\n"


def as_object(finding: Finding) -> dict[str, Any]:
    """The shape of a finding in JSON: lines and columns from 1, in code points; ends exclusive."""
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
        "range": _range(finding.range),
        "related": [
            {"path": other.path, "range": _range(other.range), "message": other.message}
            for other in finding.related
        ],
        "fix": _fix(finding.fix),
        "fingerprint": finding.fingerprint,
        "url": finding.url,
    }


def _range(where: Range) -> dict[str, dict[str, int]]:
    return {
        "start": {"line": where.start.line, "column": where.start.column},
        "end": {"line": where.end.line, "column": where.end.column},
    }


def _fix(fix: Fix | None) -> dict[str, Any] | None:
    if fix is None:
        return None
    return {
        "title": fix.title,
        "applicability": fix.applicability.value,
        "edits": [{"path": edit.path, "range": _range(edit.range), "text": edit.text} for edit in fix.edits],
    }
