"""Comments that silence what is found now, each with its reason: `check --add-ignores REASON`."""

from __future__ import annotations

import io
import re
import tokenize
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from tritonlint.catalog import UNSUPPRESSIBLE
from tritonlint.finding import Applicability, Edit, Finding, Fix, Position, Range

_RULES = re.compile(r"#\s*tritonlint:\s*ignore\[(?P<rules>[^\]]*)\]")


class _Statement(NamedTuple):
    """A statement, or the header of a compound one, and the end of its last line."""

    first: int
    last: int
    end: int
    """Column behind its last character, from 1."""
    comment: tokenize.TokenInfo | None
    """What is said at its end already."""


def ignored(findings: Iterable[Finding], text: str, reason: str) -> list[list[Finding]]:
    """The findings of one file that a comment can silence; of those that share one, the first has the edit.

    Args:
        findings: what was found in the file.
        text: its text, with line feeds as line ends.
        reason: what the comment says behind the rules; one line.
    """
    statements = _statements(text)
    places: defaultdict[_Statement, list[Finding]] = defaultdict(list)
    for finding in findings:
        line = finding.range.start.line
        where = next((one for one in statements if one.first <= line <= one.last), None)
        if where is not None and finding.code not in UNSUPPRESSIBLE:
            places[where].append(finding)
    return [_silenced(statement, group, reason) for statement, group in places.items()]


def _silenced(statement: _Statement, group: list[Finding], reason: str) -> list[Finding]:
    codes = list(dict.fromkeys(finding.code for finding in group))
    title = f"ignore {', '.join(codes)} here: {reason}"
    edit = _edit(statement, codes, reason, group[0].path)
    return [
        replace(finding, fix=Fix(title, Applicability.SAFE, () if index else (edit,)))
        for index, finding in enumerate(group)
    ]


def _edit(statement: _Statement, codes: list[str], reason: str, path: str) -> Edit:
    known = _RULES.search(statement.comment.string) if statement.comment is not None else None
    if known is not None and statement.comment is not None:
        at = Position(statement.last, statement.comment.start[1] + known.end("rules") + 1)
        return Edit(path, Range(at, at), "".join(f", {code}" for code in codes))
    at = Position(statement.last, statement.end)
    return Edit(path, Range(at, at), f"  # tritonlint: ignore[{', '.join(codes)}] {reason}")


def _statements(text: str) -> list[_Statement]:
    """The statements of a text that can be read as tokens, in order."""
    found: list[_Statement] = []
    lines = text.split("\n")
    first: int | None = None
    comment: tokenize.TokenInfo | None = None
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                comment = token
            elif token.type == tokenize.NEWLINE:
                line = token.start[0]
                here = comment if comment is not None and comment.start[0] == line else None
                found.append(_Statement(first or line, line, len(lines[line - 1].rstrip()) + 1, here))
                first = None
            elif first is None and token.type not in _LAYOUT:
                first = token.start[0]
    except (tokenize.TokenError, SyntaxError):
        pass  # what cannot be read as tokens cannot be commented
    return found


_LAYOUT = (tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER, tokenize.ENCODING)
