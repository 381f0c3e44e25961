"""What a change does to the world: `python benchmarks/ecosystem.py OLD NEW --corpus FOLDER`.

OLD and NEW are revisions of this repository, or folders with its files; `.` is the working tree. Every
package is checked by both, and the findings that only one of them gives are shown, with those whose
confidence changed. The findings of a revision are kept in the corpus folder, so that it is checked once.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from measures import findings, packages

REPOSITORY = packages.HERE.parent


@click.command(help=__doc__)
@click.argument("old")
@click.argument("new")
@click.option("--corpus", type=click.Path(path_type=Path), default=packages.DEFAULT_CORPUS, show_default=True)
@click.option("--package", "names", multiple=True, help="Compare on this package; may be repeated.")
@click.option("--min-confidence", default="medium", type=click.Choice(("low", "medium", "high")))
@click.option("--jobs", default=os.cpu_count() or 1, show_default=True)
def main(old: str, new: str, corpus: Path, names: tuple[str, ...], min_confidence: str, jobs: int) -> None:
    """Show what changed."""
    here = packages.present(corpus, names)
    if not here:
        raise click.UsageError(f"there are no packages in {corpus}: run accuracy.py --download first")
    before, after = (_everything(version, here, corpus, jobs) for version in (old, new))
    gone: Counter[str] = Counter()
    come: Counter[str] = Counter()
    for key in sorted(before.keys() | after.keys()):
        was, is_now = before.get(key), after.get(key)
        shown = [one is not None and one.at_least(min_confidence) for one in (was, is_now)]
        if shown == [True, False]:
            assert was is not None
            gone[was.code] += 1
            _show("-", was, f"now {is_now.confidence}" if is_now is not None else "")
        elif shown == [False, True]:
            assert is_now is not None
            come[is_now.code] += 1
            _show("+", is_now, f"was {was.confidence}" if was is not None else "")
    for code in sorted(gone.keys() | come.keys()):
        click.echo(f"{code}: {come[code]} added, {gone[code]} removed")
    click.echo(f"{come.total()} added, {gone.total()} removed in {len(here)} packages")


def _show(sign: str, one: findings.Reported, note: str) -> None:
    colour = {"-": "green", "+": "red"}[sign]
    text = f"{sign} {one.path}:{one.line} {one.code} {one.confidence} {note}".rstrip()
    click.echo(f"{click.style(text, fg=colour)}\n    {one.message}")


Key = tuple[str, str, str]


def _everything(
    version: str, here: list[packages.Package], corpus: Path, jobs: int
) -> dict[Key, findings.Reported]:
    """The findings of a version, by path, rule and fingerprint."""
    with _tree(version) as (tree, commit):
        kept = corpus / ".findings" / commit if commit is not None else None
        found = {}
        missing = []
        for package in here:
            file = kept / f"{package.name}-{package.version}.json" if kept is not None else None
            if file is not None and file.exists():
                for item in json.loads(file.read_text("utf-8")):
                    one = findings.read(item, package)
                    found[_key(one)] = one
            else:
                missing.append(package)
        with click.progressbar(length=len(missing), label=version, file=sys.stderr) as bar:
            for package, items in findings.answers(missing, corpus, tree, jobs):
                if kept is not None:
                    kept.mkdir(parents=True, exist_ok=True)
                    file = kept / f"{package.name}-{package.version}.json"
                    file.write_text(json.dumps(items), encoding="utf-8")
                found |= {_key(one): one for one in (findings.read(item, package) for item in items)}
                bar.update(1)
    return found


def _key(one: findings.Reported) -> Key:
    return (one.path, one.code, one.fingerprint)


@contextmanager
def _tree(version: str) -> Iterator[tuple[Path, str | None]]:
    """The files of a version, and its commit; None for files that may change."""
    if Path(version, "tritonlint").is_dir():
        yield Path(version).resolve(), None
        return
    done = subprocess.run(
        ["git", "rev-parse", "--verify", f"{version}^{{commit}}"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise click.UsageError(f"{version} is neither a revision nor a folder with a tritonlint in it")
    commit = done.stdout.strip()
    with tempfile.TemporaryDirectory() as folder:
        archive = subprocess.run(
            ["git", "archive", commit, "tritonlint", "rules"], cwd=REPOSITORY, capture_output=True, check=True
        )
        subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
        yield Path(folder), commit


if __name__ == "__main__":
    main()
