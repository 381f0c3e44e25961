"""What every rule promises: its place, its documentation, examples that run, and the wording of its messages."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

from tritonlint import catalog
from tritonlint.builtin import RuleFailed
from tritonlint.config import Options, Settings, SettingsFinder
from tritonlint.engine import check_source
from tritonlint.explain import FAMILIES, table
from tritonlint.finding import Confidence, Severity
from tritonlint.fixer import fix
from tritonlint.observed import OBSERVED_RULES
from tritonlint.run import check_paths
from tritonlint.selection import ALL, Selection
from tritonlint.testing import check_fixture, differences

ROOT = Path(__file__).parent.parent
FIXTURES = ROOT / "fixtures" / "rules"
EVERYTHING = Settings(selection=Selection((ALL,)), min_confidence=Confidence.LOW)
HEADINGS = [
    "## What it does",
    "## Why is this bad?",
    "## Example",
    "## Use instead",
    "## Fix safety",
    "## References",
]
IMPORTS = "import torch\nimport triton\nimport triton.language as tl\n"

KNOWN = catalog.load(catalog.DEFAULT_PACKS)
BUILT = [type(rule) for rule in KNOWN.rules]
DOCUMENTED = list(KNOWN.documented.values())
SHOWN_AS_TEXT = (RuleFailed, *OBSERVED_RULES)
"""Rules that no text makes speak: their examples show what is printed."""
by_name = {"ids": lambda rule: rule.rule_name()}


def section(rule, heading):
    """The text under one heading of a rule's documentation."""
    match = re.search(
        rf"^{re.escape(heading)}\n(.*?)(?=^## |\Z)", rule.documentation(), re.DOTALL | re.MULTILINE
    )
    assert match, f"{rule.__name__} has no `{heading}`"
    return match[1]


def code_in(rule, heading):
    """The Python under a heading, made a whole file."""
    blocks = re.findall(r"^```python\n(.*?)^```", section(rule, heading), re.DOTALL | re.MULTILINE)
    assert blocks, f"{rule.__name__} shows no ```python block under `{heading}`"
    code = "\n\n".join(blocks)
    return code if "import triton" in code else IMPORTS + "\n\n" + code


def findings_of(rule, code):
    return [finding for finding in check_source(code, "example.py", EVERYTHING) if finding.code == rule.code]


# --- every documented rule, the engine's own included ------------------------------------------------


@pytest.mark.parametrize("rule", DOCUMENTED, **by_name)
def test_documentation_has_all_headings_in_order(rule):
    assert re.findall(r"^## .*$", rule.documentation(), re.MULTILINE) == HEADINGS
    assert all(section(rule, heading).strip() for heading in HEADINGS)


@pytest.mark.parametrize("rule", DOCUMENTED, **by_name)
def test_the_summary_is_one_sentence(rule):
    assert re.fullmatch(r"[A-Z`].{10,95}\.", rule.summary())
    assert rule.documentation().splitlines()[1] == ""


@pytest.mark.parametrize("rule", DOCUMENTED, **by_name)
def test_code_and_name_are_those_of_the_table(rule):
    assert catalog.NAMES[rule.code] == rule.rule_name()
    assert rule.code[:3] in FAMILIES
    assert rule.severity in set(Severity)


@pytest.mark.parametrize("rule", [rule for rule in DOCUMENTED if rule not in SHOWN_AS_TEXT], **by_name)
def test_the_example_gives_what_it_expects_and_the_remedy_is_silent(rule):
    example = code_in(rule, "## Example")
    found = findings_of(rule, example)
    assert found
    assert differences(example, found) == []
    assert findings_of(rule, code_in(rule, "## Use instead")) == []


LEFT_TO_THE_READER = {
    "TL602": "which of two counts is the wrong one is not written anywhere",
}
"""Rules whose example no fix can settle, and why."""


@pytest.mark.parametrize("rule", BUILT, **by_name)
def test_the_fix_turns_the_example_into_silence(rule, tmp_path):
    file = tmp_path / "example.py"
    file.write_text(code_in(rule, "## Example"), encoding="utf-8")
    run = check_paths([tmp_path], SettingsFinder(Options(min_confidence=Confidence.LOW)))
    own = [finding for finding in run.findings if finding.code == rule.code]
    assert own
    result = fix(own, SettingsFinder(), lambda path: tmp_path, unsafe=True)
    result.write()
    left = [finding for finding in check_paths([tmp_path]).findings if finding.code == rule.code]
    assert bool(left) is (rule.code in LEFT_TO_THE_READER)


def test_the_table_in_the_repository_is_up_to_date():
    written = (ROOT / "rules" / "README.md").read_text("utf-8")
    assert written == table(KNOWN, "markdown"), (
        "run `tritonlint rule --output-format markdown > rules/README.md`"
    )


def test_the_readme_lists_every_rule():
    readme = (ROOT / "README.md").read_text("utf-8")
    assert [rule.rule_name() for rule in BUILT if f"| {rule.code} | {rule.rule_name()} |" not in readme] == []


# --- every rule of the pack --------------------------------------------------------------------------


def test_codes_and_names_are_unique():
    assert len({rule.code for rule in BUILT}) == len({rule.rule_name() for rule in BUILT}) == len(BUILT) > 0


@pytest.mark.parametrize("rule", BUILT, **by_name)
def test_file_class_and_fixtures_share_a_name(rule):
    stem = rule.rule_name().replace("-", "_")
    assert Path(inspect.getfile(rule)).stem == stem
    assert list((FIXTURES / stem).glob("*.py")), f"there is no fixture in fixtures/rules/{stem}/"


def test_every_folder_of_fixtures_has_a_rule():
    known = {rule.rule_name().replace("-", "_") for rule in DOCUMENTED}
    assert {folder.name for folder in FIXTURES.iterdir() if folder.is_dir()} <= known


@pytest.mark.parametrize("rule", BUILT, **by_name)
def test_a_rule_keeps_nothing_between_files(rule):
    instance = rule()
    assert vars(instance) == {}
    assert inspect.isgeneratorfunction(rule.check) or inspect.isgeneratorfunction(rule.check_module)


def messages():
    """Every message that the fixtures bring up, with the messages of related places and titles of fixes."""
    for file in sorted(FIXTURES.glob("*/*.py")):
        for finding in check_source(file.read_bytes(), file.name, EVERYTHING, file=file, root=ROOT):
            yield finding.code, finding.message
            yield from ((finding.code, other.message) for other in finding.related)
            if finding.fix is not None:
                yield finding.code, finding.fix.title


def test_messages_follow_the_convention():
    """One line, small first letter unless it is code, no full stop, no name of the rule."""
    said = set(messages())
    assert said
    broken = [
        f"{code}: {message}"
        for code, message in sorted(said)
        if code not in catalog.UNSUPPRESSIBLE
        and (not re.fullmatch(r"[a-z0-9`(][^\n]*[^.\s]", message) or message.count("`") % 2)
    ]
    assert broken == []


def test_expectations_of_a_broken_rule_would_be_noticed(tmp_path):
    """The reader itself: a fixture with an expectation that nothing meets must fail."""
    file = tmp_path / "fixture.py"
    file.write_text("import triton  # expect: unmasked-access\n")
    assert check_fixture(file) == ["1: missing    unmasked-access"]
