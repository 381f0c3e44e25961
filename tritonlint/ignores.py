"""Comments that silence what is found now, each with its reason: `check --add-ignores REASON`."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

from tritonlint.catalog import UNSUPPRESSIBLE
from tritonlint.finding import Applicability, Edit, Finding, Fix, Position, Range
from tritonlint.suppression import Statement, statements

_RULES = re.compile(r"#\s*tritonlint:\s*ignore\[(?P<rules>[^\]]*)\]")


def ignored(findings: Iterable[Finding], text: str, reason: str) -> list[list[Finding]]:
    """The findings of one file that a comment can silence; of those that share one, the first has the edit.

    Args:
        findings: what was found in the file.
        text: its text, with line feeds as line ends.
        reason: what the comment says behind the rules; one line.
    """
    lines = text.split("\n")
    coded = [one for one in statements(text) if one.first is not None]
    places: defaultdict[int, list[Finding]] = defaultdict(list)
    for finding in findings:
        line = finding.range.start.line
        where = next((at for at, one in enumerate(coded) if (one.first or 0) <= line <= one.last), None)
        if where is not None and finding.code not in UNSUPPRESSIBLE:
            places[where].append(finding)
    return [
        _silenced(coded[where], len(lines[coded[where].last - 1].rstrip()) + 1, group, reason)
        for where, group in places.items()
    ]


def _silenced(statement: Statement, end: int, group: list[Finding], reason: str) -> list[Finding]:
    codes = list(dict.fromkeys(finding.code for finding in group))
    title = f"ignore {', '.join(codes)} here: {reason}"
    edit = _edit(statement, end, codes, reason, group[0].path)
    return [
        replace(finding, fix=Fix(title, Applicability.SAFE, () if index else (edit,)))
        for index, finding in enumerate(group)
    ]


def _edit(statement: Statement, end: int, codes: list[str], reason: str, path: str) -> Edit:
    """A comment behind a statement, at the column `end`, or more rules in the one that is there."""
    for comment in statement.comments:
        known = _RULES.search(comment.string)
        if known is not None and comment.start[0] == statement.last:
            at = Position(statement.last, comment.start[1] + known.end("rules") + 1)
            return Edit(path, Range(at, at), "".join(f", {code}" for code in codes))
    at = Position(statement.last, end)
    return Edit(path, Range(at, at), f"  # tritonlint: ignore[{', '.join(codes)}] {reason}")
