"""The same sources give the same findings in every run, whatever the salt of Python's hashes of strings."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

FIXTURES = Path(__file__).parent.parent / "fixtures"
OPTIONS = ("--select", "ALL", "--min-confidence", "low", "--output-format", "json")


def output(salt, *paths):
    command = [sys.executable, "-m", "tritonlint", "check", *OPTIONS, *map(str, paths)]
    environment = {**os.environ, "PYTHONHASHSEED": str(salt)}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment).stdout


def test_two_runs_over_all_fixtures_agree():
    first, second = (output(salt, FIXTURES) for salt in (1, 2))
    assert first.count('"code"') > 100
    assert first == second


@pytest.mark.parametrize("salt", range(4))
def test_of_two_arguments_the_first_is_shown(salt):
    (finding,) = json.loads(output(salt, FIXTURES / "cases" / "p2-nope-plus-rope-192" / "bad.py"))
    (note,) = [item for item in finding["related"] if item["message"].endswith("at this launch")]
    line = (FIXTURES / "cases" / "p2-nope-plus-rope-192" / "bad.py").read_text().splitlines()
    start, end = note["range"]["start"], note["range"]["end"]
    assert line[start["line"] - 1][start["column"] - 1 : end["column"] - 1] == "128"


def test_the_hash_of_an_atom_has_no_salt():
    script = (
        "from tritonlint.model.logic import less; from tritonlint.model.symbolic import Atom, Poly;"
        "n = Poly.of(Atom('param', 'n'));"
        "print(hash(Atom('either', frozenset((n, n + n)), ('site', 3), less(n, n + n), None)))"
    )
    runs = set()
    for salt in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": salt}
        runs.add(subprocess.check_output([sys.executable, "-c", script], env=environment))
    assert len(runs) == 1
