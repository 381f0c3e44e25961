"""Findings per function under `@triton.jit`, by rule and package, as `packages.tsv` counts them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from measures.findings import Reported
from measures.packages import Package

APART = "TL301"
"""Whether tuning in production is a fault is a policy, so it is counted by itself."""


@dataclass(frozen=True)
class Density:
    """The findings of one package."""

    package: Package
    medium: Counter[str]
    """By rule, at medium confidence and above."""
    high: Counter[str]

    def rate(self, counts: Counter[str]) -> float:
        """Findings per jit function, without those on tuning in production."""
        return (counts.total() - counts[APART]) / self.package.jit_functions


def measure(package: Package, found: Iterable[Reported]) -> Density:
    """Count what is found in a package, the linter's own remarks (TL9xx) left out."""
    real = [one for one in found if not one.code.startswith("TL9")]
    return Density(
        package,
        Counter(one.code for one in real if one.at_least("medium")),
        Counter(one.code for one in real if one.at_least("high")),
    )
