"""Every rule on its fixtures: what is marked `# expect:` is found, and every other line is silent.

Where a rule is right to say something else, change the comments by hand: they are a person's statement.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tritonlint.testing import check_fixture, read_expectations

FIXTURES = Path(__file__).parent.parent / "fixtures"
FILES = sorted(file for file in FIXTURES.glob("rules/*/*.py") if not file.name.endswith(".fixed.py"))
KERNELS = sorted(FIXTURES.glob("kernels/**/*.py"))


def shown(file):
    return file.relative_to(FIXTURES).as_posix()


@pytest.mark.parametrize("file", FILES, ids=shown)
def test_fixture(file):
    differences = check_fixture(file)
    assert not differences, "\n".join(["", *(f"{shown(file)}:{difference}" for difference in differences)])


@pytest.mark.parametrize("file", FILES, ids=shown)
def test_a_fixture_is_named_after_a_situation_and_says_so(file):
    first = file.read_text("utf-8").lstrip()
    assert first.startswith('"""'), "a fixture begins with a docstring: one sentence on what it shows"
    assert not file.stem[-1].isdigit()


@pytest.mark.parametrize("folder", sorted({file.parent for file in FILES}), ids=shown)
def test_a_folder_of_fixtures_expects_its_own_rule(folder):
    names = {
        expectation.name
        for file in FILES
        if file.parent == folder
        for expectation in read_expectations(file.read_text("utf-8"))
    }
    assert folder.name.replace("_", "-") in names


@pytest.mark.parametrize("file", KERNELS, ids=shown)
def test_good_kernels_stay_silent(file):
    """The wall against false positives: nothing is found in them, or what a comment expects."""
    differences = check_fixture(file)
    assert not differences, "\n".join(["", *(f"{shown(file)}:{difference}" for difference in differences)])


def test_there_are_fixtures():
    assert FILES
    assert KERNELS
