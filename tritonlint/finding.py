"""What a rule reports: plain, frozen data that every front door prints in its own way."""

from __future__ import annotations

import enum
import sys
from bisect import bisect_right
from dataclasses import dataclass

from tritonlint.grades import Confidence as Confidence
from tritonlint.grades import Severity as Severity
from tritonlint.grades import Verdict as Verdict


class Applicability(enum.StrEnum):
    """Whether a fix may be applied unread: `safe` by `--fix`, `unsafe` only with `--unsafe-fixes`."""

    SAFE = "safe"
    UNSAFE = "unsafe"


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """A place in a text. `line` and `column` count from 1; columns count Unicode code points."""

    line: int
    column: int


@dataclass(frozen=True, slots=True, order=True)
class Range:
    """A stretch of text from `start` up to, not including, `end`."""

    start: Position
    end: Position


@dataclass(frozen=True, slots=True)
class Cells:
    """The cells of a notebook. Lines of its findings and fixes are those of all its code as one text."""

    starts: tuple[tuple[int, int], ...]
    """The first line of each code cell in that text, and its number among all cells, from 1."""

    def place(self, where: Range) -> tuple[int, Range]:
        """The cell in which a stretch starts, and the stretch in lines of that cell."""
        at = max(bisect_right(self.starts, (where.start.line, sys.maxsize)) - 1, 0)
        first, number = self.starts[at] if self.starts else (1, 1)
        start, end = (
            Position(max(place.line - first + 1, 1), place.column) for place in (where.start, where.end)
        )
        return number, Range(start, end)


@dataclass(frozen=True, slots=True)
class Related:
    """Another place that belongs to a finding: the launch, the extent, the twin access."""

    path: str
    range: Range
    message: str


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace `range` of the file `path` by `text`."""

    path: str
    range: Range
    text: str


@dataclass(frozen=True, slots=True)
class Fix:
    """A titled group of edits that belong together."""

    title: str
    applicability: Applicability
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """One cause, reported at one place; everything else it touches is `related`.

    `path` is relative to the working directory, with `/`. `kernel` names the jit function the place
    stands in, if any. `message` is one line: lower case, no full stop, code in backticks.
    `evidence` is what a run said in support of `verdict`. `fingerprint` identifies the finding when
    lines move; see `engine.py`. `cells` says which cells and lines of a notebook `range`, the related places
    there and the fix mean; it is None for any other file.
    """

    code: str
    name: str
    message: str
    severity: Severity
    confidence: Confidence
    path: str
    range: Range
    kernel: str | None = None
    related: tuple[Related, ...] = ()
    fix: Fix | None = None
    verdict: Verdict = Verdict.UNTESTED
    evidence: str | None = None
    fingerprint: str = ""
    url: str | None = None
    cells: Cells | None = None

    def cells_of(self, path: str) -> Cells | None:
        """The cells that lines of a file mean, where this finding, a related place or an edit names it."""
        return self.cells if path == self.path else None

    @property
    def sort_key(self) -> tuple[str, Range, str]:
        """Findings are shown by path, then place, then code."""
        return (self.path, self.range, self.code)
