"""From text to syntax tree, and what is said where that fails. The only place that parses."""

from __future__ import annotations

import ast
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
        raise ParseFailure(error.msg or "invalid syntax", max(line, 1), max(column, 1)) from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise ParseFailure(f"the parser gave up: {error or type(error).__name__}") from error


def parses(text: str) -> bool:
    """Whether a text is Python."""
    try:
        parsed(text)
    except ParseFailure:
        return False
    return True
