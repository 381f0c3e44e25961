"""The report of a run: one HTML page with sources, verdicts and plots, which needs no network.

Plots are SVG in the page itself. On paper, colours that carry meaning stand beside words that say the same.
"""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tritonlint import __version__
from tritonlint.evidence import Entry
from tritonlint.finding import Finding, Verdict

if TYPE_CHECKING:
    from tritonlint.confirm.command import Confirmed

_CONTEXT = 3
"""Lines of source around a finding."""
_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 620, 150, 56, 30

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 900px; margin: 2rem auto; padding: 0 1rem; }
body { color: #1c2330; }
h1 { font-size: 1.5rem; margin-bottom: 0; } h2, h2 code { font-size: 1.1rem; } h2 { margin: 2.2rem 0 .3rem; }
p.sub, figcaption, td.place { color: #5a6475; } code, pre { font: 13px/1.45 ui-monospace, monospace; }
pre { background: #f5f6f8; border: 1px solid #e1e4ea; border-radius: 6px; }
pre { padding: .6rem .8rem; overflow-x: auto; }
pre .hit { background: #fff1c9; display: inline-block; min-width: 100%; }
pre .no { color: #9aa3b2; user-select: none; }
table { border-collapse: collapse; width: 100%; } td { padding: .3rem .6rem .3rem 0; vertical-align: top; }
tr { border-bottom: 1px solid #e1e4ea; } td:last-child { width: 55%; } a { color: inherit; }
.v { font-weight: 600; white-space: nowrap; } .confirmed { color: #b3261e; } .refuted { color: #1e7a3c; }
.not-reached, .not-testable { color: #6b5b00; } figure { margin: .8rem 0 1.2rem; } svg { max-width: 100%; }
article { break-inside: avoid; }
@media print { body { margin: 0; max-width: none; } pre { white-space: pre-wrap; } }
"""


def write(file: Path, result: Confirmed) -> None:
    """Write the page.

    Raises:
        OSError: the file cannot be written.
    """
    file.write_text(page(result), encoding="utf-8")


def page(result: Confirmed) -> str:
    """The page as text."""
    shown = sorted(result.findings, key=lambda one: (one.verdict.rank, one.sort_key))
    counts = Counter(one.verdict for one in shown)
    said = ", ".join(f"{counts[verdict]} {verdict.value}" for verdict in Verdict if counts[verdict])
    head = f"{len(shown)} findings: {said}" if shown else "No findings in what was launched"
    parts = [
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>",
        "<meta name='viewport' content='width=device-width'><title>tritonlint confirm</title>",
        f"<style>{_STYLE}</style></head><body><h1>{_text(head)}</h1>",
        f"<p class='sub'>{_text(_run(result))}; tritonlint {__version__}</p>",
        _table(shown),
        *_kernels(shown, result),
    ]
    parts += [f"<p class='sub'>{_text(trouble)}</p>" for trouble in result.troubles]
    return "".join(parts) + "</body></html>\n"


def _run(result: Confirmed) -> str:
    launches = sum(result.launches.values())
    return f"{launches:,} launches of {len(result.launches)} kernels on {result.backend}"


def _table(findings: Sequence[Finding]) -> str:
    rows = [
        f"<tr><td class='v {one.verdict.value}'>{one.verdict.value}</td>"
        f"<td><a href='#{one.fingerprint}'>{one.code} {_text(one.name)}</a></td>"
        f"<td class='place'>{_text(one.path)}:{one.range.start.line}</td>"
        f"<td>{_marked(one.evidence or '')}</td></tr>"
        for one in findings
    ]
    return f"<table>{''.join(rows)}</table>" if rows else ""


def _kernels(findings: Sequence[Finding], result: Confirmed) -> Iterable[str]:
    """A section for each kernel, with its findings in the order of the table."""
    by_kernel: dict[tuple[str, str | None], list[Finding]] = {}
    for finding in findings:
        by_kernel.setdefault((finding.path, finding.kernel), []).append(finding)
    for (path, kernel), group in by_kernel.items():
        times = result.launches.get(kernel or "", 0)
        launched = f", {times:,} launch{'es' * (times > 1)}" if times else ""
        yield f"<h2><code>{_text(kernel or path)}</code></h2><p class='sub'>{_text(path)}{launched}</p>"
        lines = _lines(path)
        for finding in group:
            entry = result.evidence.entries.get(finding.fingerprint)
            yield _article(finding, entry, lines)


def _article(finding: Finding, entry: Entry | None, lines: list[str]) -> str:
    plots = "".join(_plots(entry)) if entry is not None else ""
    return (
        f"<article id='{finding.fingerprint}'><p>"
        f"<span class='v {finding.verdict.value}'>{finding.verdict.value}</span> "
        f"<b>{finding.code} {_text(finding.name)}</b>: {_marked(finding.message)}<br>"
        f"{_marked(finding.evidence or '')}</p>{_source(finding, lines)}{plots}</article>"
    )


def _source(finding: Finding, lines: list[str]) -> str:
    first, last = finding.range.start.line, finding.range.end.line
    shown = []
    for number in range(max(1, first - _CONTEXT), min(len(lines), last + _CONTEXT) + 1):
        text = f"<span class='no'>{number:>5} </span>{_text(lines[number - 1])}"
        shown.append(f"<span class='hit'>{text}</span>" if first <= number <= last else text)
    return f"<pre>{chr(10).join(shown)}</pre>" if shown else ""


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []


# --- plots -------------------------------------------------------------------------------------------


def _plots(entry: Entry) -> Iterable[str]:
    """What one would rather look at than read, as far as the numbers are there."""
    numbers = entry.details
    if numbers.get("by_program"):
        grid = " x ".join(map(str, numbers["grid"]))
        title = f"bad lanes over the programs of the grid of {grid}, in order"
        yield _bars([("", [float(one) for one in numbers["by_program"]])], title, "lanes")
    if numbers.get("milliseconds"):
        both = [("as it is", numbers["milliseconds"]), ("grouped", numbers["grouped"])]
        yield _lines_plot(both, "milliseconds by turns", "ms")
    if numbers.get("before") and numbers.get("after"):
        both = [("constant", numbers["before"]), ("runtime argument", numbers["after"])]
        yield _lines_plot(both, "compilations over launches with distinct values", "compilations")
    if "fixed_error" in numbers:
        pair = [("as it is", [numbers["error"]]), ("fixed", [numbers["fixed_error"]])]
        yield _bars(pair, "relative error against the same sum in float32", "error")
    if numbers.get("winners"):
        seconds = [("", [one["seconds"] for one in numbers["winners"]])]
        yield _bars(seconds, "seconds of tuning for each key, in order", "s")


_COLORS = ("#b3261e", "#2558a8")


def _bars(series: Sequence[tuple[str, Sequence[float]]], title: str, unit: str) -> str:
    """Bars side by side: one series over its index, or several with one value each."""
    values = [value for _, row in series for value in row]
    top = max(values, default=0.0) or 1.0
    step = (_WIDTH - _LEFT) / max(1, len(values))
    marks = []
    for index, value in enumerate(values):
        height = (_HEIGHT - _BOTTOM - 12) * value / top
        if value:
            marks.append(
                f"<rect x='{_LEFT + index * step:.1f}' y='{_HEIGHT - _BOTTOM - max(height, 1.5):.1f}' "
                f"width='{min(max(step - 1, 1), 90):.1f}' height='{max(height, 1.5):.1f}' "
                f"fill='{_COLORS[index % 2 if len(series) > 1 else 0]}'>"
                f"<title>{_number(value)}</title></rect>"
            )
    if len(series) > 1:
        marks += [
            f"<text x='{_LEFT + index * step:.1f}' y='{_HEIGHT - _BOTTOM + 16}'>"
            f"{_text(name)} {_number(row[0])}</text>"
            for index, (name, row) in enumerate(series)
        ]
    else:
        marks.append(_axis_ends(len(values)))
    return _figure(marks, title, unit, top)


def _lines_plot(series: Sequence[tuple[str, Sequence[float]]], title: str, unit: str) -> str:
    values = [value for _, row in series for value in row]
    top = max(values, default=0.0) or 1.0
    marks = []
    for index, (name, row) in enumerate(series):
        step = (_WIDTH - _LEFT - 150) / max(1, len(row) - 1)
        points = [
            (_LEFT + at * step, _HEIGHT - _BOTTOM - (_HEIGHT - _BOTTOM - 12) * value / top)
            for at, value in enumerate(row)
        ]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        dash = " stroke-dasharray='6 3'" if index else ""  # to be told apart without colour
        marks.append(
            f"<polyline points='{path}' fill='none' stroke='{_COLORS[index]}' stroke-width='2'{dash}/>"
            f"<text x='{points[-1][0] + 8:.1f}' y='{18 + 16 * index + (points[-1][1] - 18) * 0.6:.1f}' "
            f"fill='{_COLORS[index]}'>{_text(name)}</text>"
        )
    marks.append(_axis_ends(max((len(row) for _, row in series), default=0), _WIDTH - 150))
    return _figure(marks, title, unit, top)


def _axis_ends(count: int, right: int = _WIDTH) -> str:
    y = _HEIGHT - _BOTTOM + 16
    return f"<text x='{_LEFT}' y='{y}'>1</text><text x='{right}' y='{y}' text-anchor='end'>{count}</text>"


def _figure(marks: Iterable[str], title: str, unit: str, top: float) -> str:
    base = _HEIGHT - _BOTTOM
    return (
        f"<figure><svg viewBox='0 0 {_WIDTH} {_HEIGHT}' width='{_WIDTH}' role='img' "
        f"aria-label='{_text(title)}' "
        "font-family='system-ui, sans-serif' font-size='12' fill='#5a6475'>"
        f"<line x1='{_LEFT}' y1='{base}' x2='{_WIDTH}' y2='{base}' stroke='#9aa3b2'/>"
        f"<line x1='{_LEFT}' y1='8' x2='{_LEFT}' y2='{base}' stroke='#9aa3b2'/>"
        f"<text x='{_LEFT - 6}' y='18' text-anchor='end'>{_number(top)}</text>"
        f"<text x='{_LEFT - 6}' y='32' text-anchor='end'>{_text(unit if len(unit) < 7 else '')}</text>"
        f"<text x='{_LEFT - 6}' y='{base}' text-anchor='end'>0</text>{''.join(marks)}</svg>"
        f"<figcaption>{_text(title)}</figcaption></figure>"
    )


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.3g}"


def _text(text: Any) -> str:
    return html.escape(str(text), quote=True)


def _marked(message: str) -> str:
    """A message with its code as code."""
    parts = _text(message).split("`")
    return "".join(f"<code>{part}</code>" if index % 2 else part for index, part in enumerate(parts))
