"""What exploring shows, as findings: at its place in the source, and silenced by the comments there."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from tritonlint import catalog
from tritonlint.config import SettingsFinder
from tritonlint.confirm.experiment import Outcome
from tritonlint.confirm.exploring import Observed
from tritonlint.files import display_path
from tritonlint.finding import Confidence, Finding
from tritonlint.fingerprint import stable_path, with_fingerprints
from tritonlint.roots import package_top, project_root
from tritonlint.source import ParseFailure, Source
from tritonlint.suppression import KernelLines, apply_suppressions, read_suppressions
from tritonlint.syntax import first_line


def findings(observed: Iterable[Observed], finder: SettingsFinder) -> Iterator[tuple[Path, Finding, Outcome]]:
    """The findings of what was observed, of each place and rule the first, with their files.

    Args:
        observed: in any order.
        finder: gives the settings of every file, which may leave rules out.
    """
    by_file: defaultdict[str, dict[tuple[object, ...], Observed]] = defaultdict(dict)
    for one in observed:
        by_file[one.file].setdefault((one.rule, one.line, one.column), one)
    for file, seen in by_file.items():
        yield from _of_file(Path(file), list(seen.values()), finder)


def _of_file(
    file: Path, observed: list[Observed], finder: SettingsFinder
) -> Iterator[tuple[Path, Finding, Outcome]]:
    path = display_path(file)
    try:
        source = Source.read(file, path)
        functions = [node for node in source.nodes if isinstance(node, ast.FunctionDef)]
    except (OSError, ParseFailure):
        return  # there is no text to point at: the kernel was made while the program ran
    settings = finder.of_file(file)
    ignored = settings.ignored_in(file)
    outcomes = {}
    made = []
    for one in observed:
        if settings.enables(one.rule.code, ignored):
            finding = _finding(one, source, functions)
            outcomes[finding.sort_key] = one.outcome
            made.append(finding)
    root = project_root(file, package_top(file) or file.parent)
    made = with_fingerprints(made, source.lines, stable_path(file, root, path))
    kernels = [
        KernelLines(node.name, first_line(node), node.lineno, node.end_lineno or node.lineno)
        for node in functions
    ]
    comments = read_suppressions(source.code, kernels, catalog.load(settings.packs).names)
    for finding in apply_suppressions(made, comments, lambda code: False, path):
        yield file, finding, outcomes[finding.sort_key]


def _finding(one: Observed, source: Source, functions: list[ast.FunctionDef]) -> Finding:
    inside = [node for node in functions if first_line(node) <= one.line <= (node.end_lineno or node.lineno)]
    kernel = min(inside, key=lambda node: one.line - node.lineno, default=None)
    node: ast.AST | None = kernel
    if one.column is not None or kernel is None:
        node = _call_at(one, source) or kernel
    return Finding(
        code=one.rule.code,
        name=one.rule.rule_name(),
        message=one.message,
        severity=one.rule.severity,
        confidence=Confidence.HIGH,
        path=source.path,
        range=source.range_of(node if node is not None else source.tree),
        kernel=kernel.name if kernel is not None else None,
    )


def _call_at(one: Observed, source: Source) -> ast.AST | None:
    """The call that begins on the line, at the column if one does."""
    calls = [node for node in source.nodes if isinstance(node, ast.Call) and node.lineno == one.line]
    exact = [node for node in calls if source.range_of(node).start.column == one.column]
    return next(iter(exact or calls), None)
