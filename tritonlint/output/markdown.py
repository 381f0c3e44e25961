"""A summary in Markdown, for the page of a CI job or a comment: counts, rules, and findings by file."""

from __future__ import annotations

import re
from collections import Counter
from itertools import groupby
from typing import TYPE_CHECKING

from tritonlint.finding import Severity, Verdict
from tritonlint.output.text import place, printable
from tritonlint.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tritonlint.finding import Finding
    from tritonlint.output import RenderContext

MOST = 100
"""Findings that are listed; a page of GitHub takes a megabyte, and a reader less."""
_LONGEST = 600
"""Characters of a message or of evidence."""
_MEANINGFUL = re.compile(r"[!-/:-@\[-`{-~]")
"""What may mean something in Markdown: all punctuation of ASCII, which a backslash makes plain."""
_HARMLESS = set(",.:;/'\"%=?()+-!{}^")
"""Punctuation that means nothing within a line, and reads better as it is."""


def render(findings: Sequence[Finding], context: RenderContext) -> str:
    """A heading, and below it what was found, if anything."""
    del context
    return "\n".join(_lines(findings)) + "\n"


def _lines(findings: Sequence[Finding]) -> Iterator[str]:
    if not findings:
        yield "## tritonlint: no findings"
        return
    files = len({finding.path for finding in findings})
    yield f"## tritonlint: {counted(len(findings), 'finding')} in {counted(files, 'file')}"
    yield ""
    yield _counts(findings)
    yield ""
    yield from _table(findings)
    listed = sorted(findings, key=_urgency)[:MOST]
    by_place = sorted(listed, key=lambda finding: finding.sort_key)
    for path, found in groupby(by_place, key=lambda finding: finding.path):
        yield f"\n### {_code(path)}\n"
        for finding in found:
            yield from _item(finding)
    if len(findings) > MOST:
        yield f"\nand {len(findings) - MOST} more"


def _urgency(finding: Finding) -> tuple[bool, int, int]:
    """What is listed first where not all fits: what no run refuted, the worst, the surest."""
    return (finding.verdict is Verdict.REFUTED, -finding.severity.rank, -finding.confidence.rank)


def _counts(findings: Sequence[Finding]) -> str:
    severities = Counter(finding.severity for finding in findings)
    said = ", ".join(
        counted(severities[severity], severity.value)
        for severity in (Severity.ERROR, Severity.WARNING, Severity.NOTE)
        if severities[severity]
    )
    verdicts = Counter(finding.verdict for finding in findings)
    if set(verdicts) == {Verdict.UNTESTED}:
        return said
    return f"{said}; by running: " + ", ".join(
        f"{verdicts[verdict]} {verdict}" for verdict in Verdict if verdicts[verdict]
    )


def _table(findings: Sequence[Finding]) -> Iterator[str]:
    yield "| rule | severity | findings |"
    yield "|---|---|--:|"
    rules = Counter((finding.code, finding.name, finding.severity) for finding in findings)
    for (code, name, severity), count in sorted(rules.items()):
        yield f"| {_plain(f'{code} {name}')} | {severity} | {count} |"


def _item(finding: Finding) -> Iterator[str]:
    where = place("", finding.range, finding.cells).removeprefix(":")
    head = f"- **{where}** {finding.severity} {_plain(f'{finding.code} {finding.name}')}"
    said = f"{finding.confidence} confidence"
    if finding.kernel is not None:
        said += f", in kernel {_code(finding.kernel)}"
    yield f"{head}: {_text(finding.message)} ({said})"
    if finding.verdict is not Verdict.UNTESTED:
        yield f"  - {finding.verdict}" + (f": {_text(finding.evidence)}" if finding.evidence else "")


def _text(message: str) -> str:
    """A message: what it has in backticks as code, all else as plain text."""
    message = printable(message)
    if len(message) > _LONGEST:
        message = message[:_LONGEST] + "..."
    parts = message.split("`")
    if len(parts) % 2 == 0:
        # The last backtick has no partner, perhaps because the message was cut.
        parts[-2:] = ["`".join(parts[-2:])]
    shown = [_code(part) if number % 2 else _plain(part) for number, part in enumerate(parts)]
    # Two pieces of code that touch would be read as one.
    return "".join(piece or " " * (0 < number < len(shown) - 1) for number, piece in enumerate(shown))


def _plain(text: str) -> str:
    return _MEANINGFUL.sub(lambda sign: sign[0] if sign[0] in _HARMLESS else f"\\{sign[0]}", text)


def _code(text: str) -> str:
    """Text as code, between more backticks in a row than it has itself."""
    text = printable(text)
    if not text:
        return r"\`\`"
    fence = "`" * (max((len(run) for run in re.findall("`+", text)), default=0) + 1)
    room = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{room}{text}{room}{fence}"
