"""Draw findings to be judged by hand: `python benchmarks/draw.py CORPUS --size 150 --seed 1`.

Writes the rows of `judged.tsv` without their verdicts to standard output, and the message of each as the
last column, to be replaced by the reason of the verdict.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import click

from measures import findings, judged, packages


@click.command()
@click.argument("corpus", type=click.Path(exists=True, path_type=Path))
@click.option("--size", default=150, show_default=True)
@click.option("--seed", default=1, show_default=True)
@click.option("--besides", multiple=True, help="Leave out what this table of judged findings holds.")
def main(corpus: Path, size: int, seed: int, besides: tuple[str, ...]) -> None:
    """Draw SIZE findings from the packages in CORPUS."""
    known = {row.key for name in besides for row in judged.read_judged(name)}
    every = findings.everything(packages.present(corpus), corpus)
    found = [one for _, items in every for one in items]
    table = csv.writer(
        sys.stdout, delimiter="\t", quoting=csv.QUOTE_NONE, quotechar=None, lineterminator="\n"
    )
    table.writerow(["package", "path", "line", "code", "confidence", "verdict", "reason"])
    for one in judged.draw(found, size, seed, known):
        path = one.path.removeprefix(one.package.name + "/")
        message = " ".join(one.message.split())
        table.writerow([one.package.name, path, one.line, one.code, one.confidence, "", message])


if __name__ == "__main__":
    main()
