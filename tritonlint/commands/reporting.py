"""What is written: findings in the formats that are asked for, to standard output and to files."""

from __future__ import annotations

import os
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

from tritonlint.commands.refusal import Refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from tritonlint.finding import Finding
    from tritonlint.output.targets import Target
    from tritonlint.rule import Rule


def targets_of(options: dict[str, Any]) -> tuple[Target, ...]:
    """The formats that are asked for, and where each goes."""
    from tritonlint.output.targets import TargetError, parse

    try:
        return parse(options["output_format"] or ("full",), options["output_file"])
    except TargetError as error:
        raise Refusal(f"--output-format: {error}") from error


def reports(
    targets: Sequence[Target],
    findings: Sequence[Finding],
    rules: Mapping[str, type[Rule]],
    texts: Mapping[str, bytes],
) -> Iterator[Callable[[], None]]:
    """What writes findings, format by format."""
    from tritonlint.output import RenderContext, render

    for target in targets:
        color = target.file is None and wants_color()
        text = render(target.format, findings, RenderContext(color, rules, texts))
        yield partial(write, text, target.file)


def do_all(steps: Iterable[Callable[[], None]]) -> None:
    """Take every step, also behind one that fails; the run is refused if any did."""
    refusals = []
    for step in steps:
        try:
            step()
        except Refusal as refusal:
            refusals.append(refusal)
    for one in refusals[:-1]:
        one.show()
    if refusals:
        raise refusals[-1]


def wants_color() -> bool:
    """Whether standard output takes colours; NO_COLOR and FORCE_COLOR have the last word, in this order."""
    if os.environ.get("NO_COLOR"):
        return False
    if sys.stdout is None or sys.stdout.closed:
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (sys.stdout.isatty() and os.environ.get("TERM") != "dumb")


def write(text: str, output_file: Path | None) -> None:
    """Write to a file, or to standard output.

    Raises:
        Refusal: it cannot be written.
    """
    try:
        if output_file is not None:
            output_file.write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")
            return
        if sys.stdout is None or sys.stdout.closed:
            raise Refusal("cannot write to standard output: it is closed")
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader, `head` for instance, has seen enough. Python must not complain of it again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        target = output_file or "standard output"
        raise Refusal(f"cannot write to {target}: {error.strerror or error}") from error
