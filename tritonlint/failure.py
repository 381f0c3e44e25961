"""What went wrong, in words: an exception in one line, and the findings TL901 and TL903."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

from tritonlint.finding import Confidence, Finding, Position, Range, Severity

if TYPE_CHECKING:
    from tritonlint.source import ParseFailure

_PLEASE = "this is a bug in tritonlint or the rule pack, please report it"


def describe(error: BaseException) -> str:
    """An exception in one line: its type, its text, and the innermost `file:line` it was raised at."""
    text = " ".join(str(error).split())
    described = f"{type(error).__name__}: {text}" if text else type(error).__name__
    trace = error.__traceback__
    if trace is None:
        return described
    while trace.tb_next is not None:
        trace = trace.tb_next
    module = str(trace.tb_frame.f_globals.get("__name__", ""))
    parts = PurePath(trace.tb_frame.f_code.co_filename).parts
    # As many path parts as the module's name has, so that the place reads alike on every machine.
    place = "/".join(parts[-(module.count(".") + 1) :])
    return f"{described} ({place}:{trace.tb_lineno})"


def failed(
    who: str,
    error: Exception,
    path: str,
    *,
    where: str = "",
    kernel: str | None = None,
    place: Range | None = None,
) -> Finding:
    """The finding that `who`, a rule or the model, raised an exception."""
    return Finding(
        code="TL903",
        name="rule-failed",
        message=f"{who} failed{where}: {describe(error)}; {_PLEASE}",
        severity=Severity.ERROR,
        confidence=Confidence.HIGH,
        path=path,
        range=place or Range(Position(1, 1), Position(1, 1)),
        kernel=kernel,
    )


def invalid_syntax(failure: ParseFailure, path: str) -> Finding:
    """The finding that a file cannot be read as Python."""
    return Finding(
        code="TL901",
        name="invalid-syntax",
        message=" ".join(failure.message.split()).rstrip("."),
        severity=Severity.ERROR,
        confidence=Confidence.HIGH,
        path=path,
        range=Range(Position(failure.line, failure.column), Position(failure.line, failure.column + 1)),
    )
