"""Configuration: where it is found, what it may say, and how an error is explained."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
from conftest import KERNEL

from tritonlint.config import ConfigError, Options, Settings, SettingsFinder
from tritonlint.finding import Confidence, Severity
from tritonlint.policy import Policy
from tritonlint.selection import Selection, SelectorError, parse_selectors

BUILT_IN = ("tritonlint_rules",)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def settings_of(folder, text, name="tritonlint.toml"):
    (folder / name).write_text(text)
    return SettingsFinder().of_folder(folder)


def test_no_file_means_the_defaults(folder):
    settings = SettingsFinder().of_folder(folder)
    assert settings == Settings()
    assert (settings.min_confidence, settings.fail_on) == (Confidence.MEDIUM, Severity.WARNING)
    assert settings.packs == BUILT_IN


def test_every_key(folder):
    settings = settings_of(
        folder,
        """
        select = ["TL1", "half-precision-accumulator"]
        ignore = ["TL102"]
        exclude = ["third_party/"]
        min-confidence = "low"
        fail-on = "error"
        target-version = ["3.4", "3.6.0"]
        target = "cuda:90"
        packs = ["tritonlint_rules", "sample_pack"]

        [per-file-ignores]
        "tests/" = ["TL301", "SP101"]

        [autotune]
        allowed-paths = ["bench/*.py"]
        environment-switches = ["MY_AUTOTUNE"]

        [constexpr]
        static-names = ["head_dim"]
        """,
    )
    assert settings.selection == Selection(("TL1", "TL501"), ("TL102",))
    assert settings.exclude == ("third_party/",)
    assert (settings.min_confidence, settings.fail_on) == (Confidence.LOW, Severity.ERROR)
    assert settings.packs == ("tritonlint_rules", "sample_pack")
    assert settings.per_file_ignores == (("tests/", ("TL301", "SP101")),)
    assert settings.policy == Policy(
        target_version=((3, 4), (3, 6)),
        target=("cuda:90",),
        tuning_paths=("bench/*.py",),
        tuning_switches=("MY_AUTOTUNE",),
        static_names=("head_dim",),
        root=folder,
    )
    assert settings.policy.allows_tuning(folder / "bench" / "k.py")
    assert not settings.policy.allows_tuning(folder / "pkg" / "k.py")
    assert not settings.policy.allows_tuning(None)
    assert (settings.file, settings.root) == (folder / "tritonlint.toml", folder)
    assert pickle.loads(pickle.dumps(settings)) == settings


def test_pyproject_holds_the_same_in_its_table(folder):
    text = '[project]\nname = "x"\n[tool.tritonlint]\nignore = ["TL3"]\n[tool.tritonlint.constexpr]\nstatic-names = ["d"]\n'
    settings = settings_of(folder, text, "pyproject.toml")
    assert settings.selection.ignore == ("TL3",)
    assert settings.policy.static_names == ("d",)


# --- which file --------------------------------------------------------------------------------------


def test_the_nearest_file_counts_alone(folder):
    (folder / "tritonlint.toml").write_text('ignore = ["TL1"]\nmin-confidence = "low"\n')
    (folder / "a" / "b").mkdir(parents=True)
    (folder / "a" / "tritonlint.toml").write_text('ignore = ["TL2"]\n')
    finder = SettingsFinder()
    assert finder.of_file(folder / "a" / "b" / "k.py").selection.ignore == ("TL2",)
    assert finder.of_file(folder / "a" / "k.py").min_confidence is Confidence.MEDIUM
    assert finder.of_file(folder / "k.py").selection.ignore == ("TL1",)


def test_tritonlint_toml_beats_pyproject_in_the_same_folder(folder):
    (folder / "pyproject.toml").write_text('[tool.tritonlint]\nignore = ["TL1"]\n')
    assert settings_of(folder, 'ignore = ["TL2"]\n').selection.ignore == ("TL2",)


@pytest.mark.parametrize(
    "text", ["", '[project]\nname = "tritonlint-user"\n', "[tool.ruff]\n", "not toml at all", "tool = 3\n"]
)
def test_a_pyproject_that_does_not_speak_of_tritonlint_is_passed_over(folder, text):
    (folder / "tritonlint.toml").write_text('ignore = ["TL1"]\n')
    (folder / "inner").mkdir()
    (folder / "inner" / "pyproject.toml").write_text(text)
    assert SettingsFinder().of_folder(folder / "inner").selection.ignore == ("TL1",)


def test_a_given_file_is_used_everywhere_with_patterns_from_the_working_directory(folder):
    (folder / "inner").mkdir()
    (folder / "inner" / "tritonlint.toml").write_text('ignore = ["TL2"]\n')
    (folder / "strict.toml").write_text('ignore = ["TL1"]\n')
    settings = SettingsFinder(config=Path("strict.toml")).of_folder(folder / "inner")
    assert settings.selection.ignore == ("TL1",)
    assert settings.root == folder


def test_patterns_are_relative_to_the_file_that_holds_them(folder):
    (folder / "pkg").mkdir()
    settings = settings_of(folder / "pkg", 'exclude = ["/gen/", "*_pb2.py"]\n')
    assert settings.excludes(folder / "pkg" / "gen", folder=True)
    assert not settings.excludes(folder / "gen", folder=True)
    assert settings.excludes(folder / "pkg" / "deep" / "k_pb2.py")
    assert not settings.excludes(folder / "pkg" / "deep" / "k.py")


# --- the command line has the last word --------------------------------------------------------------


def merged(folder, text, **command_line):
    (folder / "tritonlint.toml").write_text(text)
    return SettingsFinder(Options(**command_line)).of_folder(folder)


def test_select_on_the_command_line_replaces_what_the_file_selects_and_ignores(folder):
    settings = merged(folder, 'select = ["TL2"]\nignore = ["TL101"]\n', select=("TL1",))
    assert settings.enables("TL101")
    assert not settings.enables("TL201")


def test_ignore_on_the_command_line_adds_to_the_file(folder):
    settings = merged(folder, 'ignore = ["TL101"]\n', ignore=("TL2",))
    assert [code for code in ("TL101", "TL201", "TL301") if settings.enables(code)] == ["TL301"]


def test_other_options_replace_those_of_the_file(folder):
    settings = merged(folder, 'min-confidence = "low"\nfail-on = "note"\n', fail_on=Severity.ERROR)
    assert (settings.min_confidence, settings.fail_on) == (Confidence.LOW, Severity.ERROR)


# --- selectors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "parsed"),
    [
        (["TL101"], ("TL101",)),
        (["unmasked-access"], ("TL101",)),
        (["tl101"], ("TL101",)),
        (["TL1,TL501 , ALL"], ("TL1", "TL501", "ALL")),
        (["all"], ("ALL",)),
        (["TL117"], ("TL117",)),
        (["TL"], ("TL",)),
        (["TL901", "rule-failed"], ("TL901", "TL903")),
    ],
    ids=["code", "name", "small letters", "comma list", "all", "a rule not built yet", "every rule", "engine rules"],
)  # fmt: skip
def test_selectors(written, parsed):
    assert parse_selectors(written, BUILT_IN) == parsed


@pytest.mark.parametrize(
    ("written", "nearest"),
    [("TL109", "TL10"), ("unmasked-acess", "`unmasked-access`"), ("half-precision", "half-precision-")],
)
def test_an_unknown_selector_is_refused_with_the_nearest(written, nearest):
    with pytest.raises(SelectorError, match=f"there is no rule `{written}`; did you mean .*{nearest}"):
        parse_selectors([written], BUILT_IN)


def test_a_rule_of_a_configured_pack_can_be_selected():
    assert parse_selectors(["bare-load", "SP2"], ("sample_pack",)) == ("SP101", "SP2")
    with pytest.raises(SelectorError):
        parse_selectors(["bare-load"], BUILT_IN)


def test_a_rule_that_is_off_by_default_runs_only_where_it_is_asked_for():
    assert not Selection().enables("TL511")
    assert all(Selection((selector,)).enables("TL511") for selector in ("ALL", "TL5", "TL511"))


def test_what_was_not_checked_is_always_reported():
    for code in ("TL901", "TL903"):
        assert Settings(selection=Selection(("TL1",), ("TL9", "ALL"))).enables(code, ignored_here=("ALL",))


# --- errors ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\nselct = []\n", "tritonlint.toml:2: unknown key `selct` in `tritonlint`; did you mean `select`?"),
        ('min-confidence = "hihg"\n', ':1: `min-confidence` = "hihg" is not one of high, medium, low; did you mean `high`?'),
        ("fail_on = 3\n", ":1: unknown key `fail_on` in `tritonlint`; did you mean `fail-on`?"),
        ("fail-on = 3\n", ":1: `fail-on` = 3 is not one of error, warning, note"),
        ('select = "TL1"\n', ':1: `select` = "TL1" is not a list of strings'),
        ('ignore = [\n  "TL1",\n  "TL999",\n]\n', ":1: `ignore`: there is no rule `TL999`; did you mean `TL"),
        ("target-version = 3.6\n", "`target-version` = 3.6 is a number"),
        ('target-version = "latest"\n', "is not a version of Triton"),
        ('target = "h100"\n', "is not a target, as \"cuda:90\""),
        ('exclude = ["[z-a]"]\n', "`exclude` = [\'[z-a]\'] holds a pattern that is not valid in a .gitignore: bad character range"),
        ("autotune = 1\n", ":1: `autotune` must be a table, not 1"),
        ("\n\n[autotnue]\n", ":3: unknown key `autotnue` in `tritonlint`; did you mean `autotune`?"),
        ('[autotune]\nallowed-path = []\n', ":2: unknown key `allowed-path` in `autotune`; did you mean `allowed-paths`?"),
        ("[per-file-ignores]\n'a.py' = ['TL77']\n", ":2: `a.py`: there is no rule `TL77`"),
        ("per-file-ignores = []\n", "is not a table of patterns"),
        ('packs = ["no_such_pack"]\nselect = ["XY1"]\n', ":1: there is no module `no_such_pack` to load rules from"),
        ("select = [\n", "not valid TOML"),
        ("frobnicate = 1\n", "unknown key `frobnicate` in `tritonlint`; its keys are select, ignore, "),
    ],
)  # fmt: skip
def test_an_error_names_file_line_key_value_and_the_nearest_valid_one(folder, text, message):
    with pytest.raises(ConfigError) as error:
        settings_of(folder, text)
    assert str(folder / "tritonlint.toml") in str(error.value)
    assert message in str(error.value)


def test_a_line_of_pyproject_is_sought_in_our_table(folder):
    text = '[tool.other]\nfail-on = "always"\n\n[tool.tritonlint]\nfail-on = "always"\n'
    with pytest.raises(ConfigError, match=r"pyproject\.toml:5: `fail-on` = \"always\""):
        settings_of(folder, text, "pyproject.toml")


@pytest.mark.parametrize("data", [b"\xff\xfe", None], ids=["not UTF-8", "missing"])
def test_a_file_that_cannot_be_read_is_an_error(folder, data):
    file = folder / "strict.toml"
    if data is not None:
        file.write_bytes(data)
    with pytest.raises(ConfigError, match=r"strict\.toml: (not valid UTF-8|cannot be read)"):
        SettingsFinder(config=file).of_folder(folder)


# --- rule packs --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("", "has no `RULES`"),
        ("RULES = (int,)", "which is no subclass of `tritonlint.rule.Rule`"),
        ("from tritonlint.rule import Rule\nclass A(Rule):\n    '''A.'''\nRULES = (A,)", "needs a `code`"),
        ("from sample_pack import BareLoad\nRULES = (BareLoad, BareLoad)", "uses code SP101, which is `bare-load`'s"),
        (
            "from tritonlint.rule import Rule\nclass A(Rule):\n    code = 'TL101'\nRULES = (A,)",
            "which is reserved for `unmasked-access`",
        ),
        ("1 / 0", "cannot be imported: ZeroDivisionError: division by zero (broken_pack.py:1)"),
        ("import no_such_module", "needs a module that is not installed"),
    ],
)  # fmt: skip
def test_a_bad_pack_is_refused(folder, monkeypatch, body, message, tritonlint):
    (folder / "broken_pack.py").write_text(body)
    (folder / "tritonlint.toml").write_text('packs = ["broken_pack"]\n')
    (folder / "k.py").write_text(KERNEL)
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(__import__("sys").modules, "broken_pack", raising=False)
    from tritonlint import catalog

    catalog.load.cache_clear()
    outcome = tritonlint("check", ".")
    assert (outcome.code, outcome.out) == (2, "")
    assert message in outcome.err
