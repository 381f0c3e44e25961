"""Every case of a public report: found where it stands, nothing else said, and its good twin silent.

A case whose kind has no rule yet must still be silent of the core rules, in both files.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path

import pytest

from tritonlint import catalog
from tritonlint.config import Settings
from tritonlint.engine import check_source

CASES = Path(__file__).parent.parent / "fixtures" / "cases"
FOLDERS = sorted(file.parent for file in CASES.glob("*/case.toml"))
CORE = re.compile(r"TL[1-6]0[1-9]")
KINDS = {
    "masked-load-no-other": "TL111",
    "wrong-padding-value": "TL112",
    "int32-overflow": "TL113",
    "where-evaluates-both-arms": "TL114",
    "logical-operator-on-block": "TL115",
    "store-race": "TL116",
    "missing-barrier": "TL117",
    "tail-never-processed": "TL118",
    "tensor-numel-limit": "TL211",
    "dot-min-size": "TL212",
    "autotune-key-missing": "TL311",
    "non-constexpr-global": "TL411",
    "tf32-default": "TL511",
    "c-style-division": "TL512",
    "grid-axis-limit": "TL702",
    "layout-assumption": "TL703",
    "device-guard": "TL704",
}
BUILT = {rule.code for rule in catalog.load(catalog.DEFAULT_PACKS).rules}
by_folder = {"ids": lambda folder: folder.name}


@cache
def case_in(folder):
    return tomllib.loads((folder / "case.toml").read_text("utf-8"))


@cache
def found_in(file):
    """Code and line of each finding that a user sees. The case's folder is its whole project."""
    findings = check_source(file.read_bytes(), file.name, Settings(), file=file, root=file.parent)
    return [(finding.code, finding.range.start.line) for finding in findings]


def own(folder):
    """The codes that are right for a case, as a pattern; None while its kind has no rule."""
    pitfall = case_in(folder)["pitfall"]
    if isinstance(pitfall, int):
        return re.compile(rf"TL{pitfall}0[1-9]")
    return re.compile(KINDS[pitfall]) if KINDS[pitfall] in BUILT else None


def counts(code, folder):
    """Whether a finding is held against a case: it is of the case's own kind, or a core one."""
    pattern = own(folder)
    return bool(CORE.fullmatch(code) or (pattern and pattern.fullmatch(code)))


@pytest.mark.parametrize("folder", [folder for folder in FOLDERS if own(folder)], **by_folder)
def test_the_fault_is_found_where_it_stands(folder):
    case = case_in(folder)
    wanted = {*case["bad_lines"], *case.get("alt_lines", [])}
    found = [line for code, line in found_in(folder / "bad.py") if own(folder).fullmatch(code)]
    assert wanted & set(found), f"wanted on one of {sorted(wanted)}: {case['why']}"


@pytest.mark.parametrize("folder", FOLDERS, **by_folder)
def test_nothing_else_is_said_of_the_bad_file(folder):
    case, pattern = case_in(folder), own(folder)
    wanted = {*case["bad_lines"], *case.get("alt_lines", [])}
    fair = set(case.get("also", []))
    stray = [
        f"bad.py:{line} {code}"
        for code, line in found_in(folder / "bad.py")
        if counts(code, folder)
        and not (line in wanted and ((pattern and pattern.fullmatch(code)) or code in fair))
    ]
    assert not stray


@pytest.mark.parametrize("folder", FOLDERS, **by_folder)
def test_the_good_file_is_silent(folder):
    assert [
        f"good.py:{line} {code}" for code, line in found_in(folder / "good.py") if counts(code, folder)
    ] == []


def test_there_are_cases_of_every_core_pitfall():
    assert {case_in(folder)["pitfall"] for folder in FOLDERS} >= {1, 2, 3, 4, 5, 6}
