"""From text to syntax tree, and what is said where that fails. The only place that parses."""

from __future__ import annotations

import ast
import re
import sys
import warnings


class ParseFailure(Exception):
    """A text that cannot be read as Python. `line` and `column` count from 1."""

    def __init__(self, message: str, line: int = 1, column: int = 1) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.column = column


def parsed(text: str) -> ast.Module:
    """The syntax tree of a text whose lines end in line feeds.

    Raises:
        ParseFailure: this Python cannot parse the text.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except SyntaxError as error:
        line = error.lineno or 1
        column = error.offset or 1
        message = (error.msg or "invalid syntax") + _of_newer_python(text, line)
        raise ParseFailure(message, max(line, 1), max(column, 1)) from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise ParseFailure(f"the parser gave up: {error or type(error).__name__}") from error


_NEWER = (
    (re.compile(r"\s*type\s+[A-Za-z_]\w*\s*[\[=]"), (3, 12), "`type` statements"),
    (re.compile(r"\s*(?:async\s+)?(?:def|class)\s+\w+\s*\["), (3, 12), "type parameters"),
)
"""How lines begin that only later Pythons read, since which one, and what to call it."""


def _of_newer_python(text: str, line: int) -> str:
    """What to say of a line that this Python cannot read and a newer one can; nothing of any other."""
    lines = text.split("\n")
    broken = lines[line - 1] if 0 < line <= len(lines) else ""
    for pattern, version, what in _NEWER:
        if pattern.match(broken) and sys.version_info < version:
            here, there = (".".join(map(str, one[:2])) for one in (sys.version_info, version))
            return f" for the Python {here} that tritonlint runs under: {what} need {there}"
    return ""


def parses(text: str) -> bool:
    """Whether a text is Python."""
    try:
        parsed(text)
    except ParseFailure:
        return False
    return True
