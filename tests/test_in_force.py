"""`tritonlint config`: what holds for a path, and where that was said."""

from __future__ import annotations

import json

import pytest

CONFIGURATION = """\
[project]
name = "x"

[tool.tritonlint]
ignore = ["TL301"]
exclude = ["third_party/"]
fail-on = "error"
baseline = "known.json"
target-version = "3.6"

[tool.tritonlint.per-file-ignores]
"tests/" = ["TL1", "broken-grouping"]
"*.pyi" = ["TL6"]

[tool.tritonlint.autotune]
allowed-paths = ["bench/"]
"""


@pytest.fixture
def configured(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text(CONFIGURATION)
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "k.py").write_text("x = 1\n")
    return tmp_path


@pytest.fixture
def told(tritonlint):
    def run(*arguments):
        outcome = tritonlint("config", *arguments, "--output-format", "json")
        assert (outcome.code, outcome.err) == (0, "")
        return json.loads(outcome.out)

    return run


def origins(found, key):
    return [
        origin["option"] or f"{origin['file']}:{origin['line']}" for origin in found["settings"][key]["from"]
    ]


def test_what_a_file_says_has_its_line(configured, told):
    found = told("tests/k.py")
    assert (found["path"], found["file"]) == ("tests/k.py", "pyproject.toml")
    assert found["settings"]["fail-on"]["value"] == "error"
    assert origins(found, "fail-on") == ["pyproject.toml:7"]
    assert found["settings"]["target-version"]["value"] == ["3.6"]
    assert found["settings"]["baseline"]["value"] == "known.json"
    assert found["settings"]["autotune.allowed-paths"]["value"] == ["bench/"]
    assert origins(found, "autotune.allowed-paths") == ["pyproject.toml:16"]
    assert origins(found, "per-file-ignores") == ["pyproject.toml:11"]
    assert origins(found, "min-confidence") == []


def test_rules_and_the_ignores_of_the_file(configured, told):
    found = told("tests/k.py")
    assert found["per_file_ignores"] == [{"pattern": "tests/", "rules": ["TL1", "TL602"]}]
    assert not {"TL101", "TL301", "TL602"} & set(found["rules"])
    assert {"TL101", "TL301", "TL602"} <= set(found["rules_off"])
    assert {"TL201", "TL601", "TL901"} <= set(found["rules"])
    assert told()["per_file_ignores"] == []
    assert "TL101" in told()["rules"]


def test_the_command_line_has_the_last_word(configured, told):
    found = told("--ignore", "TL2", "--fail-on", "note", "--baseline", "other.json")
    assert found["settings"]["ignore"]["value"] == ["TL301", "TL2"]
    assert origins(found, "ignore") == ["pyproject.toml:5", "--ignore"]
    assert (found["settings"]["fail-on"]["value"], origins(found, "fail-on")) == ("note", ["--fail-on"])
    assert origins(found, "baseline") == ["--baseline"]
    found = told("--select", "TL3")
    assert found["settings"]["ignore"]["value"] == []
    assert (origins(found, "select"), origins(found, "ignore")) == (["--select"], [])


@pytest.mark.parametrize(
    ("path", "excluded"),
    [("third_party/x/k.py", True), ("third_party", False), ("k.py", False), ("a/third_party/k.py", True)],
)
def test_what_is_excluded(configured, told, path, excluded):
    assert told(path)["excluded"] is excluded


def test_the_nearest_file_and_a_given_one(configured, told):
    (configured / "tests" / "tritonlint.toml").write_text('min-confidence = "low"\n')
    found = told("tests/k.py")
    assert (found["file"], origins(found, "min-confidence")) == (
        "tests/tritonlint.toml",
        ["tests/tritonlint.toml:1"],
    )
    assert origins(found, "fail-on") == []
    assert told("tests/k.py", "--config", "pyproject.toml")["file"] == "pyproject.toml"


def test_no_configuration(tmp_path, monkeypatch, told):
    monkeypatch.chdir(tmp_path)
    found = told()
    assert found["file"] is None
    assert all(setting["from"] == [] for setting in found["settings"].values())


def test_as_text(configured, tritonlint):
    shown = tritonlint("config", "tests/k.py", "--select", "TL", "--ignore", "TL9").out
    assert shown.startswith("path: tests/k.py\nconfiguration: pyproject.toml\n\n")
    lines = [" ".join(line.split()) for line in shown.splitlines()]
    assert 'select = ["TL"] (--select)' in lines
    assert 'fail-on = "error" (pyproject.toml:7)' in lines
    assert 'min-confidence = "medium" (default)' in lines
    assert 'silenced here by per-file-ignores: TL1, TL602, for "tests/"' in lines
    assert lines[-2].startswith("rules that run: TL201")
    assert lines[-1].startswith("rules that do not: TL101")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("selct = []\n", "tritonlint.toml:1: unknown key `selct` in `tritonlint`; did you mean `select`?"),
        ("[autotune]\nallowed-path = []\n", "tritonlint.toml:2: unknown key `allowed-path` in `autotune`"),
        ('packs = ["gone"]\n', "there is no module `gone`"),
    ],
)
def test_errors_are_those_of_check(tmp_path, monkeypatch, tritonlint, text, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tritonlint.toml").write_text(text)
    outcome = tritonlint("config")
    assert (outcome.code, outcome.out) == (2, "")
    assert said in outcome.err
    assert tritonlint("config", "--select", "TL999").code == 2
