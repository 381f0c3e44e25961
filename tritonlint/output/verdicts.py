"""The table at the end of a run of `confirm`: finding, verdict, evidence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from tritonlint.finding import Finding, Verdict
from tritonlint.wording import counted


def summary(findings: Sequence[Finding], launches: int, backend: str, status: int = 0) -> str:
    """One line for each finding, the confirmed ones first, and one that counts them.

    Args:
        findings: with their verdicts.
        launches: of kernels, by the program.
        backend: what the experiments were made on.
        status: the exit status of the program, which is named where it is not 0.
    """
    ended = f"; the program ended with {status}: what it would have launched later was not seen" * bool(
        status
    )
    made = f"{launches:,} launch{'es' * (launches != 1)}"
    if not findings:
        return f"no findings in what was launched ({made}, {backend}{ended})\n"
    rows = [
        (f"{one.path}:{one.range.start.line}", one.code, one.verdict.value, one.evidence or "")
        for one in sorted(findings, key=lambda one: (one.verdict.rank, one.sort_key))
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    lines = [
        "  ".join((*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[3]))
        for row in rows
    ]
    counts = Counter(one.verdict for one in findings)
    said = ", ".join(f"{counts[verdict]} {verdict.value}" for verdict in Verdict if counts[verdict])
    lines.append(f"{counted(len(findings), 'finding')}: {said} ({made}, {backend}{ended})")
    return "".join(line.rstrip() + "\n" for line in lines)
