"""Checks what `check` is asked to, and leaves out what is known."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

import click

from tritonlint import baseline_options
from tritonlint.commands.refusal import Refusal
from tritonlint.commands.settings import cache_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tritonlint.config import SettingsFinder
    from tritonlint.evidence import Evidence
    from tritonlint.known import Base, Known
    from tritonlint.run import Run


def run_of(
    paths: tuple[Path, ...], finder: SettingsFinder, options: dict[str, Any]
) -> tuple[Run, dict[str, bytes]]:
    """Check the paths or standard input; in the latter case, also the text, which is on no disk."""
    from tritonlint.catalog import PackError
    from tritonlint.config import ConfigError
    from tritonlint.files import display_path
    from tritonlint.run import STDIN, check_paths, check_text

    evidence: Evidence | None = options["evidence"]
    from_stdin, stdin_filename = Path("-") in paths, options["stdin_filename"]
    if from_stdin and len(paths) > 1:
        raise Refusal("`-` reads standard input and cannot stand beside other paths")
    if stdin_filename is not None and not from_stdin:
        raise Refusal("`--stdin-filename` names what is read from standard input: give `-` as path")
    try:
        if not from_stdin:
            cache = None if options["no_cache"] else cache_folder(finder, options["cache_dir"])
            with _progress() as tell:
                run = check_paths(paths, finder, jobs=options["jobs"] or _cores(), cache=cache, tell=tell)
            if evidence is not None:
                run.weigh(evidence.merged(run.findings), finder)
            _leave_out(options["known"], run)
            return run, {}
        data = _standard_input()
        shown = display_path(stdin_filename) if stdin_filename else STDIN
        run = check_text(data, stdin_filename, finder)
        if evidence is not None:
            run.weigh(evidence.merged(run.findings, lambda path: data), finder)
        _leave_out(options["known"], run)
        return run, {shown: data}
    except (ConfigError, PackError) as error:
        raise Refusal(str(error)) from error


def known_of(paths: tuple[Path, ...], finder: SettingsFinder, options: dict[str, Any]) -> Known:
    """What is to be left out of the findings."""
    from tritonlint.catalog import PackError
    from tritonlint.config import ConfigError

    def base_of(revision: str, paths: tuple[Path, ...]) -> Base:
        from tritonlint.diff_base import base_of
        from tritonlint.git import GitError

        cache = None if options["no_cache"] else cache_folder(finder, options["cache_dir"])
        try:
            with _progress() as tell:
                return base_of(
                    revision, paths, finder, jobs=options["jobs"] or _cores(), kept_in=cache, tell=tell
                )
        except GitError as error:
            raise Refusal(f"`--diff-base {revision}`: {error}") from error
        except OSError as error:
            raise Refusal(
                f"`--diff-base {revision}`: the files of that revision cannot be written: {error}"
            ) from error

    try:
        return baseline_options.known(paths, finder, options, base_of)
    except (ConfigError, PackError, baseline_options.Unusable) as error:
        raise Refusal(str(error)) from error


def _leave_out(known: Known, run: Run) -> None:
    from tritonlint.config import ConfigError

    try:
        known.leave_out(run)
    except ConfigError as error:
        raise Refusal(str(error)) from error


def baselines(known: Known, run: Run, paths: tuple[Path, ...], options: dict[str, Any]) -> bool:
    """Write what is to be written of baselines, and tell what is stale; whether anything is."""
    from tritonlint.config import ConfigError

    try:
        is_stale = baseline_options.carry_out(known, options, paths)
        if options["write_baseline"] is not None:
            run.findings = known.found
            known.leave_out(run)
    except (ConfigError, baseline_options.Unusable) as error:
        raise Refusal(str(error)) from error
    return is_stale


def evidence_of(files: tuple[Path, ...]) -> Evidence | None:
    """What runs said, as some files have it; None without a file."""
    if not files:
        return None
    from tritonlint import evidence

    try:
        return evidence.read(files)
    except (OSError, evidence.EvidenceError) as error:
        raise Refusal(str(error)) from error


def _cores() -> int:
    """The cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def _progress() -> Iterator[Callable[[int, int], None] | None]:
    """What shows on a terminal how many files are done, from the second second on."""
    if not (sys.stderr is not None and sys.stderr.isatty()):
        yield None
        return
    start, shown = monotonic(), False

    def tell(done: int, of: int) -> None:
        nonlocal shown
        if monotonic() - start > 1 and of:
            filled = 30 * done // of
            click.echo(f"\rchecking  [{'#' * filled}{'-' * (30 - filled)}]  {done}/{of}", err=True, nl=False)
            shown = True

    yield tell
    if shown:
        click.echo("\r" + " " * 79 + "\r", err=True, nl=False)


def _standard_input() -> bytes:
    # Python has no object for a stream that was closed before it started, as by `<&-` in a shell.
    if sys.stdin is None:
        raise Refusal("cannot read standard input: it is closed")
    try:
        return sys.stdin.buffer.read()
    except OSError as error:
        raise Refusal(f"cannot read standard input: {error.strerror or error}") from error
