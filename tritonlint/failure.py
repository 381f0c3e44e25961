"""How an exception that nobody expected is put into words."""

from __future__ import annotations

from pathlib import PurePath


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
