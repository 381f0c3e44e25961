"""Which lines the front end of Triton comes to: a branch on a constant leaves the other one out."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from triton.compiler.code_generator import CodeGenerator

from tritonlint.confirm.launches import Launch, reached
from tritonlint.finding import Finding

Lines = set[tuple[str, int]]
"""Files, without links, and lines from 1."""


@contextmanager
def recorded() -> Iterator[Lines]:
    """The lines that are compiled while this lasts, filled in as they are."""
    lines: Lines = set()
    visit = CodeGenerator.visit

    def noted(own: Any, node: Any) -> Any:
        if hasattr(node, "lineno"):
            lines.add((own.file_name, own.begin_line + node.lineno))
        return visit(own, node)

    CodeGenerator.visit = noted
    try:
        yield lines
    finally:
        CodeGenerator.visit = visit


def leave_out(lines: Lines, finding: Finding, launch: Launch) -> bool:
    """Whether a finding stands in a function of a launch, and none of its lines was compiled."""
    path, first, last = os.path.realpath(finding.path), finding.range.start.line, finding.range.end.line
    for function in reached(launch.function):
        code = function.fn.__code__
        begins, ends = code.co_firstlineno, max(line for _, _, line in code.co_lines() if line)
        if os.path.realpath(code.co_filename) == path and begins <= first <= ends:
            files = {file for file, _ in lines if os.path.realpath(file) == path}
            return not any((file, line) in lines for file in files for line in range(first, last + 1))
    return False
