"""Findings judged by hand: how they are drawn, and the precision they show.

`judged.tsv` is what the tool is held to: a sample drawn at random, each finding read in its source with
the launches that reach it. `learned.tsv` holds findings judged before that, which the model has been
mended on since; they show what must not come back, and no precision.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from measures.findings import Reported
from measures.packages import read_table

VERDICTS = ("right", "arguable", "wrong")
FEW = 10
"""A rule with fewer findings than this in all packages is judged on all of them."""


@dataclass(frozen=True)
class Judged:
    """One row of a table of judged findings."""

    package: str
    path: str
    """`<version>/...`, below the package's folder."""
    line: int
    code: str
    confidence: str
    """At the time it was drawn."""
    verdict: str
    reason: str

    @property
    def key(self) -> tuple[str, int, str]:
        """What it shares with a `Reported`: path in the corpus, line and code."""
        return (f"{self.package}/{self.path}", self.line, self.code)


def read_judged(name: str) -> list[Judged]:
    """The rows of `judged.tsv` or `learned.tsv`."""
    rows = (dict(row, line=int(row["line"])) for row in read_table(name))
    return [Judged(**row) for row in rows]  # type: ignore[arg-type]


def draw(
    found: Iterable[Reported], size: int, seed: int, known: Collection[tuple[str, int, str]] = ()
) -> list[Reported]:
    """`size` findings at medium confidence and above, spread over rules first and over packages within each.

    Every rule gets the same share, or all it has where that is less; what is left over goes to the
    others. Within a rule, packages take turns in random order. A kernel gives one finding of a rule, and so
    do its copies in other packages. Findings whose key is in `known` have been judged before and are left
    out, but for rules with so few that all are judged.
    """
    chance = random.Random(seed)
    by_rule: dict[str, dict[str, list[Reported]]] = defaultdict(lambda: defaultdict(list))
    for item in sorted(found, key=lambda one: (one.code, one.path, one.line, one.fingerprint)):
        if item.at_least("medium") and not item.code.startswith("TL9"):
            by_rule[item.code][item.package.name].append(item)
    queues: dict[str, list[Reported]] = {}
    for code, packages in sorted(by_rule.items()):
        if sum(map(len, packages.values())) < FEW:
            queues[code] = [one for items in packages.values() for one in items]
            continue
        seen: set[tuple[str, str]] = set()
        queues[code] = []
        for one in _take_turns(packages, chance):
            kernel = (one.kernel or one.path, one.message if not one.kernel else "")
            if kernel not in seen and (one.path, one.line, one.code) not in known:
                seen.add(kernel)
                queues[code].append(one)
    drawn: list[Reported] = []
    while len(drawn) < size and any(queues.values()):
        for queue in queues.values():
            if queue and len(drawn) < size:
                drawn.append(queue.pop(0))
    return drawn


def _take_turns(packages: dict[str, list[Reported]], chance: random.Random) -> Iterable[Reported]:
    order = sorted(packages)
    chance.shuffle(order)
    queues = {name: chance.sample(packages[name], len(packages[name])) for name in order}
    while any(queues.values()):
        for name in order:
            if queues[name]:
                yield queues[name].pop()


def precision(rows: Iterable[Judged]) -> dict[str, Counter[str]]:
    """Verdicts by rule, by confidence, and for all rows together."""
    table: dict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        for group in (row.code, row.confidence, "all"):
            table[group][row.verdict] += 1
    return dict(table)
