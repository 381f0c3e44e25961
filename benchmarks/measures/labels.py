"""Kernels drawn at random and read line by line before there was a linter.

`labels.tsv` tells where a reviewer would want a finding of one of the six pitfalls (`yes`), where one could
argue (`debatable`) and which kernels are `clean`; `negatives.tsv` tells places that look like a pitfall and
are safe. A `yes` is found where a rule of its pitfall stands on its line or has a related place there.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from measures.findings import Reported
from measures.packages import read_table


@dataclass
class Labelled:
    """The figures."""

    found: int = 0
    wanted: int = 0
    missed: list[str] = field(default_factory=list)
    negatives_reported: list[str] = field(default_factory=list)
    clean_reported: list[str] = field(default_factory=list)
    absent: list[str] = field(default_factory=list)
    """Rows of packages that were not looked at."""


def measure(found: Iterable[Reported], packages: set[str]) -> Labelled:
    """Compare the findings at medium confidence and above with the labels of `packages`."""
    by_path: dict[str, list[Reported]] = {}
    for item in found:
        if item.at_least("medium"):
            by_path.setdefault(item.path, []).append(item)
    result = Labelled()
    for row in read_table("labels.tsv"):
        path = f"{row['package']}/{row['version']}/{row['path']}"
        place = f"{path}:{row['line_of_pitfall']} {row['kernel']}"
        here = by_path.get(path, [])
        if f"{row['package']}=={row['version']}" not in packages:
            result.absent.append(place)
        elif row["verdict"] == "yes":
            line = int(row["line_of_pitfall"])
            hit = any(one.code[2] == row["TL-pitfall"] and line in one.lines for one in here)
            result.wanted += 1
            result.found += hit
            result.missed += [] if hit else [f"{place} pitfall {row['TL-pitfall']}"]
        elif row["verdict"] == "clean":
            result.clean_reported += [
                f"{path}:{one.line} {one.code}" for one in here if one.kernel == row["kernel"]
            ]
    for row in read_table("negatives.tsv"):
        path = f"{row['package']}/{row['version']}/{row['path']}"
        lines = {int(row["line"]), *map(int, row["also_lines"].split())}
        result.negatives_reported += [
            f"{path}:{one.line} {one.code}"
            for one in by_path.get(path, [])
            if one.code[2] == row["TL-pitfall"] and one.line in lines
        ]
    return result
