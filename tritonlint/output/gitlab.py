"""A GitLab Code Quality report: findings show in a merge request, and where its diff has them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tritonlint.finding import Severity, Verdict
from tritonlint.fingerprint import distinct
from tritonlint.output.raw import RawPlaces
from tritonlint.output.text import encodable, printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tritonlint.finding import Finding
    from tritonlint.output import RenderContext

_SEVERITIES = {Severity.ERROR: "critical", Severity.WARNING: "minor", Severity.NOTE: "info"}


def render(findings: Sequence[Finding], context: RenderContext) -> str:
    """An array of the six fields that GitLab reads."""
    raw = RawPlaces(context)
    pairs = zip(findings, distinct(findings), strict=True)
    return json.dumps([_issue(finding, fingerprint, raw) for finding, fingerprint in pairs], indent=2) + "\n"


def _issue(finding: Finding, fingerprint: str, raw: RawPlaces) -> dict[str, Any]:
    begin = raw.range(finding, finding.path, finding.range).start.line
    refuted = finding.verdict is Verdict.REFUTED
    return {
        "description": f"{finding.code} {finding.name}: {printable(finding.message)}",
        "check_name": finding.code,
        "fingerprint": fingerprint,
        "severity": "info" if refuted else _SEVERITIES[finding.severity],
        "location": {"path": encodable(finding.path), "lines": {"begin": begin}},
    }
