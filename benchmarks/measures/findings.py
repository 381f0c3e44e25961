"""What a version of tritonlint finds in a package: one run of the command line, its answer as JSON."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from measures.packages import HERE, Package

TREE = HERE.parent
"""The version that this file belongs to."""
_RANK = {"low": 0, "medium": 1, "high": 2}


@dataclass(frozen=True)
class Reported:
    """One finding as the JSON output gives it, in short."""

    package: Package
    path: str
    """Relative to the folder that holds the packages: `<package>/<version>/...`."""
    line: int
    code: str
    confidence: str
    kernel: str
    message: str
    fingerprint: str
    lines: frozenset[int]
    """Its own line and, in the same file, those of its related places."""

    def at_least(self, confidence: str) -> bool:
        """Whether it is reported where `confidence` is the least that is wanted."""
        return _RANK[self.confidence] >= _RANK[confidence]


class NoAnswer(Exception):
    """The linter did not answer: what it said instead."""


def answer(paths: Iterable[Path], folder: Path, tree: Path = TREE) -> list[dict[str, Any]]:
    """The findings of the tritonlint in `tree` at every confidence, as its JSON gives them.

    Paths in the answer are relative to `folder`.

    Raises:
        NoAnswer: the run ended with an error.
    """
    command = [sys.executable, "-m", "tritonlint", "check", "--no-cache", "--select", "ALL"]
    command += ["--min-confidence", "low", "--output-format", "json", *map(str, paths)]
    if (tree / "tritonlint" / "run.py").exists():  # older trees know one process only
        command += ["--jobs", "1"]  # several packages are checked side by side
    environment = os.environ | {"PYTHONPATH": os.pathsep.join((str(tree), str(tree / "rules")))}
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, env=environment)
    if done.returncode not in (0, 1):
        raise NoAnswer(f"exit {done.returncode}: {done.stderr[-1000:]}")
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def read(item: dict[str, Any], package: Package) -> Reported:
    """One finding of the JSON output."""
    lines = {item["range"]["start"]["line"]}
    lines |= {place["range"]["start"]["line"] for place in item["related"] if place["path"] == item["path"]}
    return Reported(
        package,
        item["path"],
        item["range"]["start"]["line"],
        item["code"],
        item["confidence"],
        item["kernel"] or "",
        item["message"],
        item["fingerprint"],
        frozenset(lines),
    )


def answers(
    packages: list[Package], corpus: Path, tree: Path = TREE, jobs: int | None = None
) -> Iterator[tuple[Package, list[dict[str, Any]]]]:
    """What is found in every package, as JSON gives it: those with most kernels first, several at a time.

    A package that gives no answer is named on stderr and left out.
    """
    corpus = corpus.resolve()
    largest_first = sorted(packages, key=lambda package: -package.jit_functions)
    with ThreadPoolExecutor(jobs or os.cpu_count()) as pool:
        runs = [
            (package, pool.submit(answer, [package.folder(corpus)], corpus, tree))
            for package in largest_first
        ]
        for package, run in runs:
            try:
                yield package, run.result()
            except NoAnswer as error:
                print(f"{package.requirement}: {error}", file=sys.stderr)


def everything(
    packages: list[Package], corpus: Path, tree: Path = TREE, jobs: int | None = None
) -> Iterator[tuple[Package, list[Reported]]]:
    """The findings of every package, those with most kernels first."""
    for package, items in answers(packages, corpus, tree, jobs):
        yield package, [read(item, package) for item in items]
