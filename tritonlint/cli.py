"""The command line: parse, call, print. Findings go to standard output, and nothing else does."""

from __future__ import annotations

import gc
import io
import os
import sys
from collections import Counter
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, NoReturn

import click

from tritonlint import baseline_options
from tritonlint.output import FORMATS
from tritonlint.wording import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from click.shell_completion import CompletionItem

    from tritonlint.catalog import Catalog
    from tritonlint.config import Options, SettingsFinder
    from tritonlint.confirm.command import Confirmed
    from tritonlint.evidence import Evidence
    from tritonlint.finding import Finding
    from tritonlint.fixer import Fixed
    from tritonlint.known import Base, Known
    from tritonlint.output.targets import Target
    from tritonlint.rule import Rule
    from tritonlint.run import Run

OK, FINDINGS, FAILURE, INTERRUPTED = 0, 1, 2, 130

CHECK_EPILOG = """\b
Examples:
  tritonlint check                                  this folder
  tritonlint check src/ --select TL1 --fail-on error
  tritonlint check --fix                            make the safe changes
  tritonlint check --fix --unsafe-fixes --diff      look at all changes first
  tritonlint check --write-baseline                 live with what is found now
  tritonlint check --diff-base origin/main          only what this branch adds
  tritonlint check - --stdin-filename src/k.py < k.py

\b
Exit codes:
  0  nothing at or above --fail-on
  1  findings, or stale entries under --strict-baseline
  2  bad options or configuration, a given path that cannot be read, or nothing to read
"""


class Refusal(click.ClickException):
    """A run that cannot go on; the message says what to change."""

    exit_code = FAILURE

    def show(self, file: Any = None) -> None:
        """Print to standard error."""
        click.echo(f"tritonlint: {self.message}", file=file, err=True)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the program and exit."""
    gc.disable()  # syntax trees and what is made of them stay: the collector would walk them over and over
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A terminal that cannot show a character must not end the run in an exception.
        sys.stdout.reconfigure(errors="backslashreplace")
    arguments = _module_ends_options(sys.argv[1:] if arguments is None else list(arguments))
    try:
        code = program.main(arguments, prog_name="tritonlint", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        code = FAILURE
    except (click.Abort, KeyboardInterrupt):
        click.echo("tritonlint: interrupted", err=True)
        code = INTERRUPTED
    except Exception as error:  # noqa: BLE001 - Python's own exit code for it, 1, would read as "findings"
        from tritonlint.failure import describe

        click.echo(f"tritonlint: {describe(error)}; this is a bug in tritonlint, please report it", err=True)
        code = FAILURE
    sys.exit(code or OK)


def _module_ends_options(arguments: list[str]) -> list[str]:
    """`confirm -m MODULE ...`: what follows is the module's, as it is for `python -m`."""
    if arguments[:1] != ["confirm"]:
        return arguments
    options = [one for one in confirm.params if isinstance(one, click.Option) and not one.is_flag]
    take_a_value = {word for option in options for word in option.opts}
    at = 1
    while at < len(arguments) and arguments[at].startswith("-") and arguments[at] not in ("-m", "--"):
        at += 2 if arguments[at] in take_a_value else 1
    is_module = arguments[at : at + 1] == ["-m"]
    return [*arguments[: at + 2], "--", *arguments[at + 2 :]] if is_module else arguments


def _say_version(context: click.Context) -> None:
    from tritonlint.version import text

    click.echo(text())
    context.exit()


PROGRAM_EPILOG = """\b
Examples:
  tritonlint check                                  check this folder
  tritonlint rule TL101                             explain a rule
  tritonlint config src/kernels.py                  which settings hold there, and why
  tritonlint check --help                           all options of a command
"""


@click.group(
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110}, epilog=PROGRAM_EPILOG
)
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=lambda context, parameter, value: _say_version(context) if value else None,
    help="Say which tritonlint and which rules these are, and exit.",
)
def program() -> None:
    """A static linter for Triton GPU kernels and the code that launches them."""


def _selectors(*typed: Any) -> list[CompletionItem]:
    from tritonlint.completion import selectors

    return selectors(*typed)


def _rules(*typed: Any) -> list[CompletionItem]:
    from tritonlint.completion import rules

    return rules(*typed)


_FILE = click.Path(dir_okay=False, path_type=Path)
_FOLDER = click.Path(file_okay=False, path_type=Path)

_OUTPUT_FORMAT = click.option(
    "--output-format",
    metavar="FORMAT[:FILE]",
    multiple=True,
    help=f"{', '.join(FORMATS)}; once more for each further format, which then with a file.  [default: full]",
)
_OUTPUT_FILE = click.option(
    "--output-file", type=_FILE, help="Write findings to this file, not to standard output."
)


@program.command(epilog=CHECK_EPILOG, short_help="Check files and folders.")
@click.argument("paths", nargs=-1, type=click.Path(allow_dash=True, readable=False, path_type=Path))
@click.option(
    "--select",
    metavar="RULES",
    multiple=True,
    shell_complete=_selectors,
    help="Run only these: codes, names, prefixes as TL1, ALL; comma lists are fine.",
)
@click.option(
    "--ignore",
    metavar="RULES",
    multiple=True,
    shell_complete=_selectors,
    help="Leave these rules out.",
)
@click.option(
    "--min-confidence",
    type=click.Choice(["high", "medium", "low"]),
    help="Show findings from this confidence up.  [default: medium]",
)
@click.option(
    "--fail-on",
    type=click.Choice(["error", "warning", "note"]),
    help="Exit with 1 for findings of this severity and above.  [default: warning]",
)
@click.option("--fix", "fixing", is_flag=True, help="Make the safe changes that silence findings.")
@click.option(
    "--unsafe-fixes", is_flag=True, help="With --fix or --diff: also those that may change results."
)
@click.option("--diff", is_flag=True, help="Show what --fix would change, and change nothing.")
@click.option(
    "--add-ignores",
    metavar="REASON",
    help="Write a comment that ignores it, with this reason, where something is still found.",
)
@click.option(
    "--evidence",
    type=_FILE,
    multiple=True,
    metavar="FILE",
    help="What `tritonlint confirm --evidence FILE` found out; refuted findings fail no build.",
)
@baseline_options.options
@_OUTPUT_FORMAT
@_OUTPUT_FILE
@click.option("--config", type=_FILE, help="Use this configuration file for every path.")
@click.option("--stdin-filename", type=_FILE, help="The path that standard input (`-`) is known by.")
@click.option("--statistics", is_flag=True, help="Count findings by rule, on standard error.")
@click.option("--jobs", "-j", type=click.IntRange(1), metavar="N", help="Processes.  [default: one a core]")
@click.option("--no-cache", is_flag=True, help="Check every file anew, and remember nothing.")
@click.option("--cache-dir", type=_FOLDER, help="Keep the cache here.  [default: .tritonlint_cache]")
@click.option("--profile", is_flag=True, help="Say where the time went, on standard error.")
@click.option("--exit-zero", is_flag=True, help="Exit with 0 even if there are findings.")
def check(paths: tuple[Path, ...], statistics: bool, exit_zero: bool, profile: bool, **options: Any) -> int:
    """Check files and folders, by default this one; `-` is standard input. What is read is not executed."""
    targets = _targets(options)
    finder = _finder(options)
    options["evidence"] = _evidence(options["evidence"])
    options["known"] = known = _known(paths or (Path(),), finder, options)
    run, texts = _run(paths or (Path(),), finder, options)
    for error in run.errors:
        click.echo(f"tritonlint: {error}", err=True)
    if not run.files:
        raise Refusal(f"no Python file could be read under {' '.join(map(str, paths or ('.',)))}")
    for change in _changes(options):
        changed = change(run, finder, options)
        if options["diff"]:
            return FAILURE if run.incomplete else FINDINGS if changed and not exit_zero else OK
        if changed:
            run, texts = _run(paths or (Path(),), finder, options)
    is_stale = _baselines(known, run, paths, options)
    _do_all(_reports(targets, run.findings, run.rules, texts))
    if statistics:
        click.echo(_statistics(run.findings), err=True, nl=False)
    if profile:
        click.echo(_profile(run), err=True, nl=False)
    click.echo(_summary(run, known), err=True)
    if run.incomplete:
        return FAILURE
    failing = run.failing or (is_stale and options["strict_baseline"])
    return FINDINGS if failing and not exit_zero else OK


def _changes(options: dict[str, Any]) -> list[Callable[[Run, SettingsFinder, dict[str, Any]], bool]]:
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
    if options["diff"]:
        _write(fixed.diff(), options["output_file"])
    else:
        try:
            fixed.write()
        except OSError as error:
            raise Refusal(f"{error.filename}: cannot be changed: {error.strerror or error}") from error
    said = f"{f'would {verb}' if options['diff'] else done} {counted(len(fixed.applied), 'finding')}"
    click.echo(f"{said} in {counted(len(fixed.after), 'file')}{more}", err=True)
    return bool(fixed.after)


def _finder(options: dict[str, Any]) -> SettingsFinder:
    """The settings of every path, from the files there and these options."""
    from tritonlint.config import SettingsFinder

    return SettingsFinder(_said(options), options["config"])


def _said(options: dict[str, Any]) -> Options:
    """What these options say of settings."""
    from tritonlint.catalog import PackError
    from tritonlint.config import ConfigError, Options, SettingsFinder
    from tritonlint.finding import Confidence, Severity
    from tritonlint.selection import SelectorError, parse_selectors

    select, ignore, config = options["select"], options["ignore"], options["config"]
    try:
        # A selector may name a rule of a pack, and only the configuration says which packs there are.
        packs = SettingsFinder(config=config).of_folder(Path.cwd()).packs if select or ignore else ()
        return Options(
            select=parse_selectors(select, packs) if select else None,
            ignore=parse_selectors(ignore, packs) if ignore else None,
            min_confidence=Confidence(options["min_confidence"]) if options["min_confidence"] else None,
            fail_on=Severity(options["fail_on"]) if options["fail_on"] else None,
            baseline=options["baseline"].absolute() if options.get("baseline") else None,
        )
    except (ConfigError, PackError, SelectorError) as error:
        raise Refusal(str(error)) from error


def _run(
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
            cache = None if options["no_cache"] else _cache_folder(finder, options["cache_dir"])
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


def _known(paths: tuple[Path, ...], finder: SettingsFinder, options: dict[str, Any]) -> Known:
    """What is to be left out of the findings."""
    from tritonlint.catalog import PackError
    from tritonlint.config import ConfigError

    def base_of(revision: str, paths: tuple[Path, ...]) -> Base:
        from tritonlint.diff_base import base_of
        from tritonlint.git import GitError

        cache = None if options["no_cache"] else _cache_folder(finder, options["cache_dir"])
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
    from tritonlint.baseline import BaselineError

    try:
        known.leave_out(run)
    except BaselineError as error:
        raise Refusal(str(error)) from error


def _baselines(known: Known, run: Run, paths: tuple[Path, ...], options: dict[str, Any]) -> bool:
    """Write what is to be written of baselines, and tell what is stale; whether anything is."""
    from tritonlint.baseline import BaselineError

    try:
        is_stale = baseline_options.carry_out(known, options, paths)
        if options["write_baseline"] is not None:
            run.findings = known.found
            known.leave_out(run)
    except (BaselineError, baseline_options.Unusable) as error:
        raise Refusal(str(error)) from error
    return is_stale


def _evidence(files: tuple[Path, ...]) -> Evidence | None:
    """What runs said, as some files have it; None without a file."""
    from tritonlint import evidence

    if not files:
        return None
    try:
        return evidence.read(files)
    except (OSError, evidence.EvidenceError) as error:
        raise Refusal(str(error)) from error


def _cache_folder(finder: SettingsFinder, given: Path | None) -> Path:
    from tritonlint.cache import folder_of

    return folder_of(finder.of_folder(Path.cwd()), given)


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


def _profile(run: Run) -> str:
    """Where the time of all processes went, in seconds."""
    from tritonlint.catalog import NAMES

    total = sum(run.seconds.values()) or 1.0
    lines = ["seconds, of all processes together:"]
    for stage, seconds in sorted(run.seconds.items(), key=lambda item: -item[1]):
        name = f"{stage} {NAMES[stage]}" if stage in NAMES else stage
        lines.append(f"  {seconds:8.2f} {100 * seconds / total:5.1f} %  {name}")
    lines.append("a rule that asks first pays for what the others then find done; the slowest files:")
    slowest = sorted(run.took.items(), key=lambda item: -item[1])[:10]
    lines += [f"  {seconds:8.2f}  {path}" for path, seconds in slowest]
    return "".join(line + "\n" for line in lines)


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


@program.command(
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
    shell_complete=_selectors,
    help="Settle findings of these rules only.",
)
@click.option(
    "--ignore",
    metavar="RULES",
    multiple=True,
    shell_complete=_selectors,
    help="Leave these rules out.",
)
@click.option("--min-confidence", type=click.Choice(["high", "medium", "low"]), help="As of `check`.")
@click.option("--evidence", type=_FILE, help="Write what was found out to this file, for `check --evidence`.")
@click.option("--report", type=_FILE, help="Write a page with sources, verdicts and plots to this file.")
@_OUTPUT_FORMAT
@_OUTPUT_FILE
@click.option("--config", type=_FILE, help="Use this configuration file for every path.")
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
    targets = _targets(options)
    for file in (options["evidence"], options["report"], *(one.file for one in targets)):
        if file is not None and not file.absolute().parent.is_dir():
            raise Refusal(f"{file} cannot be written: there is no such folder")
    # The program may go elsewhere.
    options |= {
        name: options[name].absolute() for name in ("evidence", "report") if options[name] is not None
    }
    targets = tuple(target.absolute() for target in targets)
    finder = _finder({**options, "fail_on": None})
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
    _do_all(
        [
            *_records(result, options),
            *_reports(targets, result.findings, _known_rules(options), {}),
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


def _known_rules(options: dict[str, Any]) -> dict[str, type[Rule]]:
    from tritonlint.catalog import load
    from tritonlint.config import SettingsFinder

    return load(SettingsFinder(config=options["config"]).of_folder(Path.cwd()).packs).documented


CLEAN_EPILOG = """\b
Examples:
  tritonlint clean
  tritonlint clean --cache-dir /var/tmp/tritonlint
"""


@program.command(epilog=CLEAN_EPILOG)
@click.option("--cache-dir", type=_FOLDER, help="The cache to remove.  [default: .tritonlint_cache]")
def clean(cache_dir: Path | None) -> None:
    """Remove the cache of earlier runs."""
    from tritonlint import cache
    from tritonlint.config import ConfigError, SettingsFinder

    try:
        folder = _cache_folder(SettingsFinder(), cache_dir)
        removed = cache.clean(folder)
    except (ConfigError, OSError) as error:
        raise Refusal(f"the cache cannot be removed: {error}") from error
    click.echo(f"removed {folder}" if removed else f"there is no cache in {folder}", err=True)


@program.command()
def server() -> None:
    """Answer an editor: the Language Server Protocol over standard input and output."""
    try:
        from tritonlint.lsp.server import serve
    except ImportError as error:
        raise Refusal(f"`server` needs pygls ({error}): pip install 'tritonlint[lsp]'") from error
    serve()


def _standard_input() -> bytes:
    # Python has no object for a stream that was closed before it started, as by `<&-` in a shell.
    if sys.stdin is None:
        raise Refusal("cannot read standard input: it is closed")
    try:
        return sys.stdin.buffer.read()
    except OSError as error:
        raise Refusal(f"cannot read standard input: {error.strerror or error}") from error


def _targets(options: dict[str, Any]) -> tuple[Target, ...]:
    """The formats that are asked for, and where each goes."""
    from tritonlint.output.targets import TargetError, parse

    try:
        return parse(options["output_format"] or ("full",), options["output_file"])
    except TargetError as error:
        raise Refusal(f"--output-format: {error}") from error


def _reports(
    targets: Sequence[Target],
    findings: Sequence[Finding],
    rules: Mapping[str, type[Rule]],
    texts: Mapping[str, bytes],
) -> Iterator[Callable[[], None]]:
    """What writes findings, format by format."""
    from tritonlint.output import RenderContext, render

    for target in targets:
        color = target.file is None and _wants_color()
        text = render(target.format, findings, RenderContext(color, rules, texts))
        yield partial(_write, text, target.file)


def _do_all(steps: Iterable[Callable[[], None]]) -> None:
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


def _wants_color() -> bool:
    """Whether standard output takes colours; NO_COLOR and FORCE_COLOR have the last word, in this order."""
    if os.environ.get("NO_COLOR"):
        return False
    if sys.stdout is None or sys.stdout.closed:
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (sys.stdout.isatty() and os.environ.get("TERM") != "dumb")


def _write(text: str, output_file: Path | None) -> None:
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


def _statistics(findings: list[Finding]) -> str:
    counts = Counter((finding.code, finding.name) for finding in findings)
    return "".join(f"{count:>7}  {code}  {name}\n" for (code, name), count in counts.most_common())


def _summary(run: Run, known: Known) -> str:
    found, places = len(run.findings), len({finding.path for finding in run.findings})
    summary = f"{counted(found, 'finding')} in {counted(places, 'file')}" if found else "no findings"
    left_out = baseline_options.summary(known)
    return f"{summary} ({counted(run.files, 'file')} read, {run.triton_files} with Triton{left_out})"


RULE_EPILOG = """\b
Examples:
  tritonlint rule                                   the table of all rules
  tritonlint rule TL101
  tritonlint rule unmasked-access --output-format markdown
  tritonlint rule --output-format json              all rules, for programs
"""


@program.command(epilog=RULE_EPILOG, short_help="Explain a rule, or list all.")
@click.argument("rule", required=False, shell_complete=_rules)
@click.option(
    "--output-format",
    type=click.Choice(["text", "json", "markdown"]),
    default="text",
    show_default=True,
    help="For people, for programs, or as a page.",
)
@click.option("--config", type=_FILE, help="Take the rule packs from this configuration file.")
def rule(rule: str | None, output_format: str, config: Path | None) -> int:
    """Explain RULE, given by code or name; without it, list all rules."""
    from tritonlint.catalog import PackError, load
    from tritonlint.config import ConfigError, SettingsFinder
    from tritonlint.explain import explain, table

    try:
        packs = SettingsFinder(config=config).of_folder(Path.cwd()).packs
        known = load(packs)
    except (ConfigError, PackError) as error:
        raise Refusal(str(error)) from error
    color = _wants_color()
    if rule is None:
        _write(table(known, output_format, packs=packs, color=color), None)
    else:
        _write(explain(_documented_rule(rule, known), output_format, packs=packs, color=color), None)
    return OK


def _documented_rule(word: str, known: Catalog) -> type[Rule]:
    """The rule of a code or name, or a refusal that says what is wrong with the word."""
    from tritonlint.nearest import did_you_mean

    codes = {name: code for code, name in known.names.items()} | {code: code for code in known.names}
    code = codes.get(word.upper()) or codes.get(word.lower())
    if code is None:
        raise Refusal(f"there is no rule `{word}`{did_you_mean(word, codes)}")
    if code not in known.documented:
        raise Refusal(f"{code} ({known.names[code]}) is reserved for a rule that is not built yet")
    return known.documented[code]


CONFIG_EPILOG = """\b
Examples:
  tritonlint config
  tritonlint config src/kernels.py --ignore TL3
  tritonlint config src/ --output-format json
"""


@program.command("config", epilog=CONFIG_EPILOG, short_help="Show the settings in force for a path.")
@click.argument("path", required=False, type=click.Path(path_type=Path), default=Path())
@click.option("--select", metavar="RULES", multiple=True, shell_complete=_selectors, help="As of `check`.")
@click.option("--ignore", metavar="RULES", multiple=True, shell_complete=_selectors, help="As of `check`.")
@click.option("--min-confidence", type=click.Choice(["high", "medium", "low"]), help="As of `check`.")
@click.option("--fail-on", type=click.Choice(["error", "warning", "note"]), help="As of `check`.")
@click.option("--baseline", type=_FILE, metavar="FILE", help="As of `check`.")
@click.option("--config", type=_FILE, help="Use this configuration file for every path.")
@click.option(
    "--output-format",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="For people or for programs.",
)
def show_settings(path: Path, output_format: str, **options: Any) -> int:
    """Show the settings in force for PATH, by default this folder: where each comes from, which rules run."""
    from tritonlint.catalog import PackError
    from tritonlint.config import ConfigError, SettingsFinder
    from tritonlint.in_force import as_json, as_text, in_force

    said = _said(options)
    finder = SettingsFinder(said, options["config"])
    try:
        found = in_force(path, finder.of_folder(path) if path.is_dir() else finder.of_file(path), said)
    except (ConfigError, PackError) as error:
        raise Refusal(str(error)) from error
    _write(as_json(found) if output_format == "json" else as_text(found), None)
    return OK


COMPLETION_EPILOG = """\b
Examples:
  eval "$(tritonlint completion bash)"              in ~/.bashrc
  eval "$(tritonlint completion zsh)"               in ~/.zshrc, behind `compinit`
  tritonlint completion fish > ~/.config/fish/completions/tritonlint.fish
"""


@program.command("completion", epilog=COMPLETION_EPILOG, short_help="Print the script for a shell.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def show_completion(shell: str) -> int:
    """Print the script that makes SHELL complete commands, options and rules."""
    from tritonlint.completion import script

    _write(script(program, shell), None)
    return OK
