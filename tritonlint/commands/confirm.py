"""`tritonlint confirm`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tritonlint.commands.options import CONFIG, FILE, IGNORE, OUTPUT_FILE, OUTPUT_FORMAT, selectors
from tritonlint.commands.refusal import FINDINGS, OK, Refusal
from tritonlint.commands.reporting import do_all, reports, targets_of
from tritonlint.commands.settings import finder_of, known_rules

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tritonlint.confirm.command import Confirmed
    from tritonlint.output.targets import Target


CONFIRM_EPILOG = """\b
Examples:
  tritonlint confirm train.py --steps 3
  tritonlint confirm --device cpu -m pytest tests/test_kernels.py
  tritonlint confirm --evidence evidence.json --report report.html bench.py

\b
Exit codes:
  the program's own, if it is not 0; else
  0  no finding is confirmed
  1  a finding is confirmed
  2  bad options, or Triton and torch are not installed
"""


@click.command(
    epilog=CONFIRM_EPILOG,
    short_help="Settle findings by running a program.",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
@click.option("-m", "module", metavar="MODULE", help="Run a module, as in `-m pytest tests/`.")
@click.option(
    "--device",
    type=click.Choice(["auto", "gpu", "cpu"]),
    default="auto",
    show_default=True,
    help="The GPU, or Triton's interpreter on the CPU.",
)
@click.option(
    "--explore",
    is_flag=True,
    help="Look for what no finding claims, too: accesses out of bounds, undefined lanes, races.",
)
@click.option(
    "--select",
    metavar="RULES",
    multiple=True,
    shell_complete=selectors,
    help="Settle findings of these rules only.",
)
@IGNORE
@click.option("--min-confidence", type=click.Choice(["high", "medium", "low"]), help="As of `check`.")
@click.option("--evidence", type=FILE, help="Write what was found out to this file, for `check --evidence`.")
@click.option("--report", type=FILE, help="Write a page with sources, verdicts and plots to this file.")
@OUTPUT_FORMAT
@OUTPUT_FILE
@CONFIG
@click.option(
    "--seconds", type=click.FloatRange(0.1), default=60.0, show_default=True, help="For one experiment."
)
@click.option(
    "--memory", type=click.FloatRange(0.001), metavar="GIB", help="For the copies of one experiment."
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[SCRIPT] [ARGS]...")
def confirm(module: str | None, arguments: tuple[str, ...], **options: Any) -> int:
    """Run a program, and settle the findings of the kernels it launches by experiments on copies."""
    if module is None and not arguments:
        raise Refusal("give a script, or a module with `-m`")
    if module is None and not Path(arguments[0]).is_file():
        raise Refusal(f"there is no script `{arguments[0]}`")
    target, rest = (module, arguments) if module is not None else (arguments[0], arguments[1:])
    targets = targets_of(options)
    for file in (options["evidence"], options["report"], *(one.file for one in targets)):
        if file is not None and not file.absolute().parent.is_dir():
            raise Refusal(f"{file} cannot be written: there is no such folder")
    # The program may go elsewhere.
    options |= {
        name: options[name].absolute() for name in ("evidence", "report") if options[name] is not None
    }
    targets = tuple(target.absolute() for target in targets)
    finder = finder_of({**options, "fail_on": None})
    try:
        from tritonlint.confirm.command import confirm as run
    except ImportError as error:
        raise Refusal(
            f"`confirm` needs Triton, torch and numpy ({error}): pip install 'tritonlint[confirm]'"
        ) from error
    memory = options["memory"] * 2**30 if options["memory"] else None
    try:
        result = run(
            target,
            rest,
            finder,
            is_module=module is not None,
            device=options["device"],
            seconds=options["seconds"],
            memory=memory,
            explores=options["explore"],
        )
    except RuntimeError as error:
        raise Refusal(str(error)) from error
    return _confirmed(result, targets, options)


def _confirmed(result: Confirmed, targets: Sequence[Target], options: dict[str, Any]) -> int:
    """Show and write what was found out; the exit status."""
    from tritonlint.finding import Verdict
    from tritonlint.output.verdicts import summary

    for trouble in result.troubles:
        click.echo(f"tritonlint: {trouble}", err=True)
    launches = sum(result.launches.values())
    table = summary(result.findings, launches, result.backend, result.status)
    do_all(
        [
            *_records(result, options),
            *reports(targets, result.findings, known_rules(options), {}),
            partial(click.echo, table, err=True, nl=False),
        ]
    )
    return result.status or (
        FINDINGS if any(one.verdict is Verdict.CONFIRMED for one in result.findings) else OK
    )


def _records(result: Confirmed, options: dict[str, Any]) -> Iterator[Callable[[], None]]:
    """What writes the files of a run that are no reports of findings."""
    from tritonlint.confirm.report import write

    def or_refuse(write_to: Callable[[Path], None], file: Path) -> None:
        try:
            write_to(file)
        except OSError as error:
            raise Refusal(f"cannot write to {file}: {error.strerror or error}") from error

    if options["evidence"] is not None:
        yield partial(or_refuse, result.evidence.write, options["evidence"])
    if options["report"] is not None:
        yield partial(or_refuse, lambda file: write(file, result), options["report"])
