"""Workflow commands of GitHub Actions: findings become annotations of a pull request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tritonlint.finding import Severity
from tritonlint.output.raw import RawPlaces
from tritonlint.output.text import place

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tritonlint.finding import Finding
    from tritonlint.output import RenderContext

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def render(findings: Sequence[Finding], context: RenderContext) -> str:
    """`::error file=...,line=...,title=...::message`, one line for each finding."""
    raw = RawPlaces(context)
    return "".join(_command(finding, raw) + "\n" for finding in findings)


def _command(finding: Finding, raw: RawPlaces) -> str:
    shown = raw.range(finding, finding.path, finding.range)
    start, end = shown.start, shown.end
    properties = {
        "file": finding.path,
        "line": str(start.line),
        "endLine": str(end.line),
        "col": str(start.column),
        # GitHub refuses columns on a range of several lines.
        "endColumn": str(end.column) if end.line == start.line else "",
        "title": f"{finding.code} {finding.name}",
    }
    if end.line != start.line:
        del properties["col"]
    listed = ",".join(f"{key}={_property(value)}" for key, value in properties.items() if value)
    where = place(finding.path, finding.range, finding.cells)
    return f"::{_COMMANDS[finding.severity]} {listed}::{_data(f'{where}: {finding.message}')}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
