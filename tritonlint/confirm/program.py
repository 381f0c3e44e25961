"""Runs a program in this process, as `python SCRIPT` or `python -m MODULE` would; gives its exit status."""

from __future__ import annotations

import contextlib
import os
import runpy
import sys
import traceback
from collections.abc import Sequence


def run(target: str, arguments: Sequence[str], *, is_module: bool) -> int:
    """Run a script or a module as the main program.

    Args:
        target: the path of the script, or the name of the module.
        arguments: what the program sees behind its own name.
        is_module: which of both it is.

    Returns:
        The exit status that the program would have had on its own.
    """
    old_arguments, old_path = sys.argv, sys.path[:]
    streams, folder = (sys.stdout, sys.stderr), os.getcwd()
    sys.argv = [target, *arguments]
    sys.path[0:0] = [os.getcwd() if is_module else os.path.dirname(os.path.realpath(target))]
    try:
        if is_module:
            runpy.run_module(target, run_name="__main__", alter_sys=True)
        else:
            runpy.run_path(os.path.abspath(target), run_name="__main__")
    except SystemExit as stop:
        return _status(stop)
    except KeyboardInterrupt as error:
        _show(error)
        return 130
    except BaseException as error:  # noqa: BLE001 - it is the program's own, and is shown as Python shows it
        _show(error)
        return 1
    finally:
        _flush(sys.stdout)
        sys.stdout, sys.stderr = streams  # what is said now is not the program's
        sys.argv, sys.path[:] = old_arguments, old_path
        with contextlib.suppress(OSError):  # the program may have removed it
            os.chdir(folder)
    return 0


def _status(stop: SystemExit) -> int:
    if stop.code is None:
        return 0
    if isinstance(stop.code, int):
        return stop.code
    print(stop.code, file=sys.stderr)  # noqa: T201 - what Python does with a text
    return 1


def _flush(stream: object) -> None:
    with contextlib.suppress(Exception):  # the program may have closed it, or put anything in its place
        stream.flush()  # type: ignore[attr-defined]


def _show(error: BaseException) -> None:
    """The traceback without the frames in front of the program."""
    frame = error.__traceback__
    while frame is not None and _is_ours(frame.tb_frame.f_code.co_filename):
        frame = frame.tb_next
    if sys.excepthook is not sys.__excepthook__:
        sys.excepthook(type(error), error, frame)
    else:
        traceback.print_exception(type(error), error, frame)


def _is_ours(file: str) -> bool:
    return file == __file__ or file.startswith("<frozen runpy") or os.path.basename(file) == "runpy.py"
