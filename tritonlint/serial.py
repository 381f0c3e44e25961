"""Findings as plain data and back, for what is kept on disk between runs."""

from __future__ import annotations

from typing import Any

from tritonlint.finding import (
    Applicability,
    Cells,
    Confidence,
    Edit,
    Finding,
    Fix,
    Position,
    Range,
    Related,
    Severity,
    Verdict,
)


def to_data(finding: Finding) -> list[Any]:
    """A finding as lists, texts and numbers alone."""
    fix = finding.fix
    return [
        finding.code, finding.name, finding.message, finding.severity.value, finding.confidence.value,
        finding.path, _numbers(finding.range), finding.kernel,
        [[item.path, _numbers(item.range), item.message] for item in finding.related],
        fix and [fix.title, fix.applicability.value, [_edit(edit) for edit in fix.edits]],
        finding.verdict.value, finding.evidence, finding.fingerprint, finding.url,
        finding.cells and finding.cells.starts,
    ]  # fmt: skip


def from_data(data: list[Any]) -> Finding:
    """What `to_data` was given.

    Raises:
        TypeError, ValueError, IndexError: the data is not what `to_data` makes.
    """
    code, name, message, severity, confidence, path, where, kernel, related, fix, *rest = data
    verdict, evidence, fingerprint, url, cells = rest
    return Finding(
        code, name, message, Severity(severity), Confidence(confidence), path, _range(where), kernel,
        tuple(Related(other, _range(place), text) for other, place, text in related),
        fix and Fix(fix[0], Applicability(fix[1]), tuple(Edit(p, _range(r), t) for p, r, t in fix[2])),
        Verdict(verdict), evidence, fingerprint, url,
        None if cells is None else Cells(tuple((line, number) for line, number in cells)),
    )  # fmt: skip


def _edit(edit: Edit) -> list[Any]:
    return [edit.path, _numbers(edit.range), edit.text]


def _numbers(where: Range) -> list[int]:
    return [where.start.line, where.start.column, where.end.line, where.end.column]


def _range(numbers: list[int]) -> Range:
    line, column, end_line, end_column = numbers
    return Range(Position(line, column), Position(end_line, end_column))
