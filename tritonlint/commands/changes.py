"""What `check` is asked to do to the files: fixes, and comments that ignore."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from tritonlint.commands.refusal import Refusal
from tritonlint.commands.reporting import write
from tritonlint.wording import counted

if TYPE_CHECKING:
    from collections.abc import Callable

    from tritonlint.config import SettingsFinder
    from tritonlint.fixer import Fixed
    from tritonlint.run import Run


def changes(options: dict[str, Any]) -> list[Callable[[Run, SettingsFinder, dict[str, Any]], bool]]:
    """What is asked to be done to the files, in order."""
    reason = options["add_ignores"]
    if reason is not None and (not reason.strip() or len(reason.splitlines()) != 1 or "#" in reason):
        raise Refusal("`--add-ignores` takes a reason: one line, without `#`")
    if reason is not None and options["diff"] and options["fixing"]:
        raise Refusal("`--diff` shows one change: leave out `--fix` or `--add-ignores`")
    if reason is None:
        return [_fix] if options["diff"] or options["fixing"] else []
    return [_fix, _silence] if options["fixing"] else [_silence]


def _fix(run: Run, finder: SettingsFinder, options: dict[str, Any]) -> bool:
    """Make or show the changes that silence findings; whether there are any."""
    from tritonlint.fixer import fix

    _refuse_standard_input(run)
    findings = run.findings
    if options["evidence"] is not None:
        from tritonlint.pinning import with_pins

        findings = list(with_pins(findings, options["evidence"]))
    fixed = fix(
        findings,
        finder,
        lambda path: run.given.get(path, path),
        unsafe=options["unsafe_fixes"],
        is_wanted=options["known"].is_news,
    )
    more = f"; {fixed.unsafe} more with --unsafe-fixes" if fixed.unsafe else ""
    return _carried_out(fixed, options, "fix", "fixed", "the fix of {} was dropped", more)


def _silence(run: Run, finder: SettingsFinder, options: dict[str, Any]) -> bool:
    """Write or show the comments that ignore what is found; whether there are any."""
    from tritonlint.fixer import silence

    _refuse_standard_input(run)
    reason = options["add_ignores"].strip()
    fixed = silence(run.findings, finder, lambda path: run.given.get(path, path), reason)
    return _carried_out(fixed, options, "ignore", "ignored", "{} cannot be ignored here")


def _refuse_standard_input(run: Run) -> None:
    if not run.given and run.findings:
        raise Refusal("standard input cannot be changed: give the file as a path")


def _carried_out(
    fixed: Fixed, options: dict[str, Any], verb: str, done: str, failed: str, more: str = ""
) -> bool:
    """Write or show a change and say what came of it; whether there is any."""
    for finding, reason in fixed.dropped:
        line = str(finding.range.start.line)
        if finding.cells is not None:
            cell, inside = finding.cells.place(finding.range)
            line = f"cell {cell}:{inside.start.line}"
        click.echo(f"tritonlint: {finding.path}:{line}: {failed.format(finding.code)}: {reason}", err=True)
    failures = {}
    if options["diff"]:
        write(fixed.diff(), options["output_file"])
    else:
        failures = fixed.write()
    said = f"{f'would {verb}' if options['diff'] else done} {counted(len(fixed.applied), 'finding')}"
    click.echo(f"{said} in {counted(len(fixed.after), 'file')}{more}", err=True)
    if failures:
        from tritonlint.files import display_path

        reasons = [f"{display_path(file)}: {error.strerror or error}" for file, error in failures.items()]
        raise Refusal(f"{counted(len(reasons), 'file')} cannot be changed: {'; '.join(reasons)}")
    return bool(fixed.after)
