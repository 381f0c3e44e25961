"""How far tritonlint can be trusted, measured: `python benchmarks/accuracy.py --download`.

Six parts, each of which can be asked for by `--only`: `cases` (faults from public reports), `labels` (kernels
read by hand before), `mutations` (faults planted in published kernels), `density` (findings per kernel of
published packages), `judged` (findings read by hand). Everything goes to standard output as tables and, with
`--json`, to a file. docs/accuracy.md explains the figures.
"""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import click

from measures import cases, density, findings, judged, labels, mutations, packages

PARTS = ("cases", "labels", "mutations", "density", "judged")


@click.command(help=__doc__)
@click.option("--corpus", type=click.Path(path_type=Path), default=packages.DEFAULT_CORPUS, show_default=True)
@click.option("--download", is_flag=True, help="Fetch the packages that the corpus folder lacks.")
@click.option("--only", type=click.Choice(PARTS), multiple=True, help="Measure this part; may be repeated.")
@click.option("--package", "names", multiple=True, help="Measure on this package; may be repeated.")
@click.option("--cases", "cases_folder", type=click.Path(path_type=Path), default=cases.CASES)
@click.option("--each", default=25, show_default=True, help="Planted faults for each operator.")
@click.option("--seed", default=1, show_default=True, help="Of the draw of planted faults.")
@click.option("--jobs", default=os.cpu_count() or 1, show_default=True)
@click.option("--json", "output", type=click.Path(path_type=Path), help="Write the figures to this file.")
def main(
    corpus: Path,
    download: bool,
    only: tuple[str, ...],
    names: tuple[str, ...],
    cases_folder: Path,
    each: int,
    seed: int,
    jobs: int,
    output: Path | None,
) -> None:
    """Measure what is asked for."""
    parts = only or PARTS
    results: dict[str, Any] = {
        "date": datetime.now(UTC).date().isoformat(),
        "tritonlint": version("tritonlint"),
        "python": platform.python_version(),
    }
    if download:
        for failure in packages.download(corpus):
            click.echo(f"not downloaded: {failure}", err=True)
    here = packages.present(corpus, names)
    if not here and set(parts) - {"cases"}:
        raise click.UsageError(f"there are no packages in {corpus}: ask for --download, or name the --corpus")
    click.echo(f"tritonlint {results['tritonlint']}, {results['date']}, {len(here)} packages")
    if "cases" in parts:
        results["cases"] = _cases(cases_folder)
    if {"labels", "density", "judged"} & set(parts):
        with click.progressbar(length=len(here), label="checking packages", file=sys.stderr) as bar:
            found: dict[packages.Package, list[findings.Reported]] = {}
            for package, items in findings.everything(here, corpus, jobs=jobs):
                found[package] = items
                bar.update(1)
        everything = [one for items in found.values() for one in items]
        if "labels" in parts:
            results["labels"] = _labels(everything, {package.requirement for package in found})
        if "density" in parts:
            results["density"] = _density(found)
        if "judged" in parts:
            results["judged"] = _judged(everything)
    if "mutations" in parts:
        results["mutations"] = _mutations(here, corpus, each, seed, jobs)
    if output is not None:
        output.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


def _cases(folder: Path) -> dict[str, Any]:
    wrong = {one.name: found for one in cases.folders(folder) if (found := cases.problems(one))}
    total = len(cases.folders(folder))
    _title("cases", f"{total - len(wrong)} of {total} right")
    for name, found in wrong.items():
        click.echo(f"  {name}: {'; '.join(found)}")
    return {"right": total - len(wrong), "of": total, "wrong": wrong}


def _labels(found: list[findings.Reported], measured: set[str]) -> dict[str, Any]:
    result = labels.measure(found, measured)
    _title("labels", f"{result.found} of {result.wanted} wanted places found")
    for what, places in (
        ("missed", result.missed),
        ("safe place reported", result.negatives_reported),
        ("clean kernel reported", result.clean_reported),
        ("package not there", result.absent),
    ):
        for place in places:
            click.echo(f"  {what}: {place}")
    return vars(result)


def _density(found: dict[packages.Package, list[findings.Reported]]) -> dict[str, Any]:
    measured = [density.measure(package, items) for package, items in found.items()]
    codes = sorted({code for one in measured for code in one.medium})
    kernels = sum(one.package.jit_functions for one in measured)
    medium = sum(one.medium.total() - one.medium[density.APART] for one in measured)
    high = sum(one.high.total() - one.high[density.APART] for one in measured)
    _title(
        "density",
        f"{kernels} kernels; without {density.APART}, {medium / kernels:.3f} findings for each at medium "
        f"confidence and above, {high / kernels:.3f} at high",
    )
    rows = [
        [
            one.package.requirement,
            one.package.jit_functions,
            f"{one.rate(one.medium):.2f}",
            f"{one.rate(one.high):.2f}",
            *(f"{one.medium[code]}/{one.high[code]}" if one.medium[code] else "" for code in codes),
        ]
        for one in sorted(measured, key=lambda one: -one.package.jit_functions)
    ]
    _table(["package", "kernels", "medium", "high", *codes], rows)
    return {
        one.package.requirement: {
            "kernels": one.package.jit_functions,
            "medium": dict(one.medium),
            "high": dict(one.high),
            "rate": {"medium": one.rate(one.medium), "high": one.rate(one.high)},
        }
        for one in measured
    }


def _judged(found: list[findings.Reported]) -> dict[str, Any]:
    rows = judged.read_judged("judged.tsv")
    places = {(one.path, line, one.code) for one in found if one.at_least("medium") for line in one.lines}
    results: dict[str, Any] = {}
    for name, chosen in (
        ("as drawn", rows),
        ("still reported", [row for row in rows if row.key in places]),
    ):
        table = judged.precision(chosen)
        _title(f"judged, {name}", f"{len(chosen)} findings")
        _table(
            ["", *judged.VERDICTS, "right", "right or arguable"],
            [
                [
                    group,
                    *(counts[verdict] for verdict in judged.VERDICTS),
                    f"{counts['right'] / counts.total():.0%}",
                    f"{1 - counts['wrong'] / counts.total():.0%}",
                ]
                for group, counts in sorted(table.items())
            ],
        )
        results[name] = {group: dict(counts) for group, counts in table.items()}
    learned = judged.read_judged("learned.tsv")
    _title("learned", f"{len(learned)} findings that the model was mended on: still reported, of all")
    counts = {verdict: [row for row in learned if row.verdict == verdict] for verdict in judged.VERDICTS}
    for verdict, chosen in counts.items():
        reported = [row for row in chosen if row.key in places]
        results[f"learned {verdict}"] = f"{len(reported)}/{len(chosen)}"
        click.echo(f"  {verdict}: {len(reported)} of {len(chosen)}")
        for row in chosen:
            if (row.key in places) != (verdict == "right") and verdict != "arguable":
                click.echo(f"    {row.package}/{row.path}:{row.line} {row.code} {row.reason[:90]}")
    return results


def _mutations(here: list[packages.Package], corpus: Path, each: int, seed: int, jobs: int) -> dict[str, Any]:
    places = mutations.draw(here, corpus, each, seed, jobs)
    outcomes = mutations.run(places, corpus, each, jobs)
    rows = mutations.recall(outcomes)
    planted, found = sum(row.planted for row in rows), sum(row.found for row in rows)
    named = {one.place.package for one in outcomes}
    _title(
        "mutations",
        f"{found} of {planted} planted faults found ({found / max(planted, 1):.1%}), "
        f"in {len(named)} packages",
    )
    _table(
        ["operator", "rules", "planted", "found", "recall", "harmless"],
        [
            [
                row.operator,
                " ".join(sorted(mutations.by_name(row.operator).codes)),
                row.planted,
                row.found,
                f"{row.rate:.0%}",
                row.harmless or "",
            ]
            for row in rows
        ],
    )
    for row in rows:
        for place in row.missed:
            click.echo(f"  missed: {row.operator} {place}")
    excused = mutations.harmless()
    for one in outcomes:
        if not one.found and one.place.key in excused:
            where = one.place
            click.echo(f"  harmless: {where.operator} {where.path}:{where.line}: {excused[where.key]}")
    return {
        "recall": found / max(planted, 1),
        "operators": {row.operator: vars(row) | {"recall": row.rate} for row in rows},
    }


def _title(name: str, figures: str) -> None:
    click.echo(f"\n{click.style(name, bold=True)}: {figures}")


def _table(head: list[str], rows: Iterable[list[Any]]) -> None:
    cells = [head, *([str(cell) for cell in row] for row in rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(head))]
    for row in cells:
        line = (
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        click.echo("  " + "  ".join(line).rstrip())


if __name__ == "__main__":
    main()
