"""The wall against false positives: correct kernels, of which a user sees what is marked and nothing else.

And the other side of the wall: the same kernels with one mask taken away, which must be noticed.
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

from tritonlint.config import Settings
from tritonlint.engine import Context, check_source
from tritonlint.finding import Confidence
from tritonlint.selection import ALL, Selection
from tritonlint.testing import differences, read_expectations

KERNELS = Path(__file__).parent.parent / "fixtures" / "kernels"
FILES = sorted(KERNELS.glob("*.py"))
CRASHES = {"TL901", "TL903"}
BOUNDS = {"TL101", "TL102"}
by_stem = {"ids": lambda file: file.stem}


def check(file, text=None, settings=None):
    data = file.read_bytes() if text is None else text.encode()
    return check_source(
        data, file.name, settings or Settings(), file=file, root=file.parent, context=Context()
    )


@pytest.mark.parametrize("file", FILES, **by_stem)
def test_a_user_sees_what_is_expected_and_nothing_else(file):
    assert differences(file.read_text("utf-8"), check(file)) == []


@pytest.mark.parametrize("file", FILES, **by_stem)
def test_no_rule_fails_even_where_everything_is_shown(file):
    everything = Settings(selection=Selection(select=(ALL,)), min_confidence=Confidence.LOW)
    assert [str(finding) for finding in check(file, settings=everything) if finding.code in CRASHES] == []


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("addition_vectorielle", []),
        ("produit_matriciel_regle", ["autotune-in-production"]),
        ("produit_par_groupes", []),
    ],
)
def test_names_are_no_evidence(name, expected):
    """The sources that first listed the pitfalls are written in French; only the tuner is worth a word."""
    file = KERNELS / f"{name}.py"
    assert [finding.name for finding in check(file)] == expected
    assert [expectation.name for expectation in read_expectations(file.read_text("utf-8"))] == expected


# --- one mask less -----------------------------------------------------------------------------------


@cache
def masks_in(file):
    """Every mask of a file's loads, stores and atomics: its line, its text, and the file without it."""
    text = file.read_text("utf-8")
    lines = text.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line.encode()))
    data = text.encode()

    def offset(line, column):
        return starts[line - 1] + column

    found = []
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        for keyword in node.keywords:
            if keyword.arg == "mask" and node.func.attr in ("load", "store", "atomic_add"):
                value = keyword.value
                begin = offset(value.lineno, value.col_offset)
                end = offset(value.end_lineno, value.end_col_offset)
                found.append((node.lineno, (data[:begin] + b"None" + data[end:]).decode()))
    return found


INVISIBLE = {
    ("moe_align", "tl.atomic_add(count_ptr + expert"): "a loaded index: what it may be is not known",
}
"""Masks whose loss the source does not show, by file and the start of their line, with the reason."""

MISSED = {
    (
        "paged_cache",
        "tl.store(out_ptr",
    ): "another axis of the allocation is taken for whole tiles of this one",
}
"""Masks whose loss ought to be noticed and is not yet."""


def reason_in(table, file, line):
    return next(
        (why for (stem, start), why in table.items() if file.stem == stem and line.startswith(start)), None
    )


def mutants():
    for file in FILES:
        lines = file.read_text("utf-8").splitlines()
        for line, text in masks_in(file):
            shown = lines[line - 1].strip()
            if reason_in(INVISIBLE, file, shown):
                continue
            missed = reason_in(MISSED, file, shown)
            marks = [pytest.mark.xfail(reason=missed)] if missed else []
            yield pytest.param(file, line, text, id=f"{file.stem}:{line}", marks=marks)


@pytest.mark.parametrize(("file", "line", "text"), list(mutants()))
def test_a_mask_taken_away_is_noticed(file, line, text):
    found = [finding for finding in check(file, text) if finding.code in BOUNDS]
    assert line in {finding.range.start.line for finding in found}
