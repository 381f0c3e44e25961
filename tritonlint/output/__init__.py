"""One module per format, each with one function: `render(findings, context) -> str`."""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tritonlint.finding import Finding
    from tritonlint.rule import Rule

FORMATS: dict[str, str] = {
    "full": "tritonlint.output.full",
    "concise": "tritonlint.output.concise",
    "json": "tritonlint.output.json",
    "jsonl": "tritonlint.output.jsonl",
    "sarif": "tritonlint.output.sarif",
    "github": "tritonlint.output.github",
    "gitlab": "tritonlint.output.gitlab",
    "junit": "tritonlint.output.junit",
    "rdjson": "tritonlint.output.rdjson",
    "markdown": "tritonlint.output.markdown",
}
"""The module of each format; it is imported when the format is asked for."""


@dataclass(frozen=True, slots=True)
class RenderContext:
    """What a format may want to know beside the findings."""

    color: bool = False
    rules: Mapping[str, type[Rule]] = field(default_factory=dict)
    """The rules that can be explained, by code."""
    texts: Mapping[str, bytes] = field(default_factory=dict)
    """Content that is not on disk under its path: standard input."""


def render(format_name: str, findings: Sequence[Finding], context: RenderContext) -> str:
    """The findings in a format of `FORMATS`, ending in a line feed unless there is nothing to say."""
    render_format: Callable[[Sequence[Finding], RenderContext], str]
    render_format = importlib.import_module(FORMATS[format_name]).render
    return render_format(findings, context)
