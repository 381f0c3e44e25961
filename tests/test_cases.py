"""Every case of a public report: found where it stands, nothing else said, and its good twin silent."""

from __future__ import annotations

import pytest

from measures import cases

FOLDERS = cases.folders()


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_the_case_is_right(folder):
    assert cases.problems(folder) == []


def test_there_are_cases_of_every_core_pitfall():
    assert {cases.read(folder)["pitfall"] for folder in FOLDERS} >= {1, 2, 3, 4, 5, 6}


@pytest.mark.parametrize(
    ("text", "problem"),
    [("x = 1\n", "missed"), (None, "false")],
    ids=["a silent bad file", "a good file with the fault"],
)
def test_a_wrong_answer_is_a_problem(tmp_path, text, problem):
    folder = next(folder for folder in FOLDERS if cases.read(folder)["pitfall"] == 1)
    for name in ("bad.py", "good.py", "case.toml"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    if text is not None:
        (tmp_path / "bad.py").write_text(text)
    else:
        (tmp_path / "good.py").write_bytes((folder / "bad.py").read_bytes())
    assert problem in " ".join(cases.problems(tmp_path))
