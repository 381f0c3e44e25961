"""`tritonlint check`."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tritonlint import baseline_options
from tritonlint.commands.changes import changes
from tritonlint.commands.checking import baselines, evidence_of, known_of, run_of
from tritonlint.commands.options import CONFIG, FILE, FOLDER, IGNORE, OUTPUT_FILE, OUTPUT_FORMAT, selectors
from tritonlint.commands.refusal import FAILURE, FINDINGS, OK, Refusal
from tritonlint.commands.reporting import do_all, reports, targets_of
from tritonlint.commands.settings import finder_of
from tritonlint.wording import counted

if TYPE_CHECKING:
    from tritonlint.finding import Finding
    from tritonlint.known import Known
    from tritonlint.run import Run


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


@click.command(epilog=CHECK_EPILOG, short_help="Check files and folders.")
@click.argument("paths", nargs=-1, type=click.Path(allow_dash=True, readable=False, path_type=Path))
@click.option(
    "--select",
    metavar="RULES",
    multiple=True,
    shell_complete=selectors,
    help="Run only these: codes, names, prefixes as TL1, ALL; comma lists are fine.",
)
@IGNORE
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
    type=FILE,
    multiple=True,
    metavar="FILE",
    help="What `tritonlint confirm --evidence FILE` found out; refuted findings fail no build.",
)
@baseline_options.options
@OUTPUT_FORMAT
@OUTPUT_FILE
@CONFIG
@click.option("--stdin-filename", type=FILE, help="The path that standard input (`-`) is known by.")
@click.option("--statistics", is_flag=True, help="Count findings by rule, on standard error.")
@click.option("--jobs", "-j", type=click.IntRange(1), metavar="N", help="Processes.  [default: one a core]")
@click.option("--no-cache", is_flag=True, help="Check every file anew, and remember nothing.")
@click.option("--cache-dir", type=FOLDER, help="Keep the cache here.  [default: .tritonlint_cache]")
@click.option("--profile", is_flag=True, help="Say where the time went, on standard error.")
@click.option("--exit-zero", is_flag=True, help="Exit with 0 even if there are findings.")
def check(paths: tuple[Path, ...], statistics: bool, exit_zero: bool, profile: bool, **options: Any) -> int:
    """Check files and folders, by default this one; `-` is standard input. What is read is not executed."""
    targets = targets_of(options)
    finder = finder_of(options)
    options["evidence"] = evidence_of(options["evidence"])
    options["known"] = known = known_of(paths or (Path(),), finder, options)
    run, texts = run_of(paths or (Path(),), finder, options)
    for error in run.errors:
        click.echo(f"tritonlint: {error}", err=True)
    if not run.files:
        raise Refusal(f"no Python file could be read under {' '.join(map(str, paths or ('.',)))}")
    for change in changes(options):
        changed = change(run, finder, options)
        if options["diff"]:
            files = [one for one in targets if one.file not in (None, options["output_file"])]
            do_all(reports(files, run.findings, run.rules, texts))
            return FAILURE if run.incomplete else FINDINGS if changed and not exit_zero else OK
        if changed:
            run, texts = run_of(paths or (Path(),), finder, options)
    is_stale = baselines(known, run, paths, options)
    do_all(reports(targets, run.findings, run.rules, texts))
    if statistics:
        click.echo(_statistics(run.findings), err=True, nl=False)
    if profile:
        click.echo(_profile(run), err=True, nl=False)
    click.echo(_summary(run, known), err=True)
    if run.incomplete:
        return FAILURE
    failing = run.failing or (is_stale and options["strict_baseline"])
    return FINDINGS if failing and not exit_zero else OK


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


def _statistics(findings: list[Finding]) -> str:
    counts = Counter((finding.code, finding.name) for finding in findings)
    return "".join(f"{count:>7}  {code}  {name}\n" for (code, name), count in counts.most_common())


def _summary(run: Run, known: Known) -> str:
    found, places = len(run.findings), len({finding.path for finding in run.findings})
    summary = f"{counted(found, 'finding')} in {counted(places, 'file')}" if found else "no findings"
    left_out = baseline_options.summary(known)
    return f"{summary} ({counted(run.files, 'file')} read, {run.triton_files} with Triton{left_out})"
