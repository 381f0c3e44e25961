"""One line for each finding."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tritonlint.output.text import place, printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tritonlint.finding import Finding
    from tritonlint.output import RenderContext


def render(findings: Sequence[Finding], context: RenderContext) -> str:
    """`path:line:column: severity code name: message (confidence)`."""
    del context
    return "".join(_line(finding) + "\n" for finding in findings)


def _line(finding: Finding) -> str:
    where = place(finding.path, finding.range, finding.cells)
    head = f"{where}: {finding.severity} {finding.code} {finding.name}"
    return f"{head}: {printable(finding.message)} ({finding.confidence} confidence)"
