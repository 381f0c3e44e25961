"""Expectations written in the checked source itself: `# expect: rule-name[column] "text" (word)`.

Public: authors of other rule packs test their rules with it. A fixture is a Python file in which

- `# expect: unmasked-access` stands on the line where a finding starts, or alone on a line above it (then
  it may be stacked). A column, a part of the message in quotes, and a word in parentheses may follow. The
  word is a confidence (`high`, `medium`, `low`) or a verdict (`confirmed`, ...). A finding of low confidence
  is expected only by `(low)`, since a user does not see it by default.
- every other line is silent.
- `# ok: reason` says why a tempting line is silent, and is refused where there is a finding.
"""

from __future__ import annotations

import io
import re
import tokenize
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tritonlint.finding import Confidence, Verdict
from tritonlint.source import Source

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from tritonlint.config import Settings
    from tritonlint.finding import Finding

_EXPECT = re.compile(r"#\s*expect:\s*(?P<said>[^#]*)")
_SAID = re.compile(
    r"""(?P<name>[a-z0-9]+(?:-[a-z0-9]+)*)
    (?:\[(?P<column>[0-9]+)\])?
    (?:\s+"(?P<text>[^"]*)")?
    (?:\s+\((?P<word>[a-z-]+)\))?\s*""",
    re.VERBOSE,
)
_OK = re.compile(r"#\s*ok:\s*(?P<reason>.*)")


class FixtureError(Exception):
    """A fixture whose comments cannot be read; the message begins with the line number."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """One `# expect:` comment. `line` is the line the finding must start on."""

    line: int
    name: str
    column: int | None = None
    text: str | None = None
    confidence: Confidence | None = None
    verdict: Verdict | None = None

    def __str__(self) -> str:
        """The expectation as it is written in a comment, without the line."""
        column = f"[{self.column}]" if self.column else ""
        text = f' "{self.text}"' if self.text is not None else ""
        word = self.confidence or self.verdict
        return f"{self.name}{column}{text}" + (f" ({word})" if word else "")

    def fits(self, finding: Finding) -> bool:
        """Whether `finding` is what is expected."""
        return (
            finding.range.start.line == self.line
            and finding.name == self.name
            and self.column in (None, finding.range.start.column)
            and (self.text is None or self.text in finding.message)
            and self._is_as_sure_as(finding)
            # A verdict is known only after a run; before, there is nothing to compare it with.
            and (self.verdict is None or finding.verdict in (self.verdict, Verdict.UNTESTED))
        )

    def _is_as_sure_as(self, finding: Finding) -> bool:
        if self.confidence is None:
            return finding.confidence is not Confidence.LOW
        return finding.confidence is self.confidence

    @property
    def precision(self) -> int:
        """How many of the optional parts are said."""
        return sum(part is not None for part in (self.column, self.text, self.confidence, self.verdict))


def check_fixture(file: Path, settings: Settings | None = None) -> list[str]:
    """Check one fixture file, every finding shown, and say how it differs from its expectations."""
    from tritonlint.config import Settings
    from tritonlint.engine import check_file
    from tritonlint.files import Found
    from tritonlint.selection import ALL, Selection

    settings = settings or Settings(selection=Selection(select=(ALL,)), min_confidence=Confidence.LOW)
    data = file.read_bytes()
    findings = check_file(Found(file.absolute(), file.absolute().parent), data, settings)
    return differences(data.decode("utf-8", "replace"), findings)


def differences(text: str, findings: Iterable[Finding]) -> list[str]:
    """How findings differ from the expectations in `text`: one line each, by line number.

    Raises:
        FixtureError: an expectation cannot be read.
    """
    missing = read_expectations(text)
    surprising: list[Finding] = []
    for finding in sorted(findings, key=lambda finding: finding.sort_key):
        fitting = [expectation for expectation in missing if expectation.fits(finding)]
        if fitting:
            # The most precise first, so that a vague one is left for a finding that nothing else expects.
            missing.remove(max(fitting, key=lambda expectation: expectation.precision))
        else:
            surprising.append(finding)
    reasons = {line: match["reason"].strip() for line, match in _matches(text, _OK)}
    lines = [(expectation.line, f"missing    {expectation}") for expectation in missing]
    lines += [(finding.range.start.line, _surprise(finding, reasons)) for finding in surprising]
    return [f"{line}: {said}" for line, said in sorted(lines)]


def _surprise(finding: Finding, reasons: dict[int, str]) -> str:
    start = finding.range.start
    said = f"surprising {finding.name}[{start.column}]: {finding.message} ({finding.confidence})"
    reason = reasons.get(start.line)
    return f"{said}, though the line is `ok: {reason}`" if reason is not None else said


def read_expectations(text: str) -> list[Expectation]:
    """The expectations of a fixture, in the order of their comments.

    Raises:
        FixtureError: an expectation cannot be read.
    """
    return [_expectation(line, match["said"]) for line, match in _matches(text, _EXPECT)]


def _expectation(line: int, said: str) -> Expectation:
    match = _SAID.fullmatch(said)
    if match is None:
        raise FixtureError(f'{line}: `# expect: {said.strip()}` is not `rule-name[column] "text" (word)`')
    word = match["word"]
    confidence = Confidence(word) if word in set(Confidence) else None
    verdict = Verdict(word) if word in set(Verdict) else None
    if word and confidence is None and verdict is None:
        words = ", ".join([*Confidence, *Verdict])
        raise FixtureError(f"{line}: `({word})` is neither a confidence nor a verdict: {words}")
    column = int(match["column"]) if match["column"] else None
    return Expectation(line, match["name"], column, match["text"], confidence, verdict)


def _matches(text: str, pattern: re.Pattern[str]) -> Iterator[tuple[int, re.Match[str]]]:
    """Each match in a comment, with the line it speaks of."""
    lines = Source("", text).lines
    for number, column, comment in _comments(text, lines):
        alone = not lines[number - 1][:column].strip()
        speaks_of = _next_code_line(lines, number) if alone else number
        for match in pattern.finditer(comment):
            yield speaks_of, match


def _next_code_line(lines: list[str], number: int) -> int:
    for later in range(number, len(lines)):
        code = lines[later].strip()
        if code and not code.startswith("#"):
            return later + 1
    raise FixtureError(f"{number}: the comment stands alone, and no line of code follows it")


def _comments(text: str, lines: list[str]) -> Iterator[tuple[int, int, str]]:
    """Line, column and text of each comment. A broken fixture has no tokens: there, every `#` counts."""
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError):
        yield from (
            (number, line.index("#"), line[line.index("#") :])
            for number, line in enumerate(lines, start=1)
            if "#" in line
        )
        return
    for token in tokens:
        if token.type == tokenize.COMMENT:
            yield *token.start, token.string
