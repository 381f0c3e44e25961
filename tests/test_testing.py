"""The reader of `# expect:` comments, which authors of other rule packs use as well."""

from __future__ import annotations

from dataclasses import replace

import pytest
from conftest import KERNEL

from tritonlint.config import Settings
from tritonlint.finding import Confidence, Finding, Position, Range, Severity, Verdict
from tritonlint.testing import Expectation, FixtureError, check_fixture, differences, read_expectations


def finding(line, name="unmasked-access", column=5, message="reads past `n`", confidence=Confidence.HIGH):
    where = Range(Position(line, column), Position(line, column + 1))
    return Finding("TL101", name, message, Severity.ERROR, confidence, "k.py", where)


def test_no_findings_and_no_expectations_agree():
    assert differences("x = 1\n", []) == []


@pytest.mark.parametrize(
    "comment",
    [
        "# expect: unmasked-access",
        "# expect: unmasked-access[5]",
        '# expect: unmasked-access "past `n`"',
        "# expect: unmasked-access (high)",
        '# expect: unmasked-access[5] "reads" (high)',
        "#expect:unmasked-access",
        "# a reason  # expect: unmasked-access",
        "# expect: unmasked-access (confirmed)",
    ],
)
def test_an_expectation_that_fits(comment):
    assert differences(f"x = 1  {comment}\n", [finding(1)]) == []


@pytest.mark.parametrize(
    "comment",
    [
        "# expect: partial-mask",
        "# expect: unmasked-access[6]",
        '# expect: unmasked-access "past `m`"',
        "# expect: unmasked-access (medium)",
    ],
)
def test_an_expectation_that_does_not_fit_is_missing_and_the_finding_surprising(comment):
    said = comment.removeprefix("# expect: ")
    assert differences(f"x = 1  {comment}\n", [finding(1)]) == [
        f"1: missing    {said}",
        "1: surprising unmasked-access[5]: reads past `n` (high)",
    ]


def test_the_finding_must_start_on_the_line():
    text = "x = [  # expect: unmasked-access\n  1]\n"
    assert differences(text, [finding(1)]) == []
    assert len(differences(text, [finding(2)])) == 2


def test_every_other_line_is_silent():
    assert differences("x = 1\n\ny = 2\n", [finding(3)]) == [
        "3: surprising unmasked-access[5]: reads past `n` (high)"
    ]


def test_alone_on_a_line_it_speaks_of_the_next_line_of_code_and_stacks():
    text = "# expect: unmasked-access[5]\n# expect: unmasked-access[9]\n\n# prose\nx = f(1, 2)\n"
    assert differences(text, [finding(5), finding(5, column=9)]) == []
    assert [each.line for each in read_expectations(text)] == [5, 5]


def test_two_on_one_line_each_want_a_finding_of_their_own():
    text = "x = 1  # expect: unmasked-access  # expect: unmasked-access\n"
    assert differences(text, [finding(1)]) == ["1: missing    unmasked-access"]
    assert differences(text, [finding(1), finding(1, column=9)]) == []


def test_a_vague_expectation_leaves_the_precise_one_its_finding():
    text = "# expect: unmasked-access\n# expect: unmasked-access[5]\nx = 1\n"
    assert differences(text, [finding(3), finding(3, column=9)]) == []


def test_low_confidence_must_be_said():
    low = finding(1, confidence=Confidence.LOW)
    assert differences("x = 1  # expect: unmasked-access (low)\n", [low]) == []
    assert differences("x = 1  # expect: unmasked-access\n", [low]) == [
        "1: missing    unmasked-access",
        "1: surprising unmasked-access[5]: reads past `n` (low)",
    ]


def test_a_verdict_is_compared_once_there_is_one():
    text = "x = 1  # expect: unmasked-access (confirmed)\n"
    assert differences(text, [replace(finding(1), verdict=Verdict.CONFIRMED)]) == []
    assert len(differences(text, [replace(finding(1), verdict=Verdict.REFUTED)])) == 2


def test_ok_is_refused_where_there_is_a_finding():
    text = "x = 1  # ok: the grid is exact\n"
    assert differences(text, []) == []
    (said,) = differences(text, [finding(1)])
    assert said.endswith("though the line is `ok: the grid is exact`")


def test_a_string_is_no_comment():
    assert read_expectations('x = "# expect: unmasked-access"\n') == []


def test_a_file_that_does_not_parse_can_have_expectations():
    text = "def f(:  # expect: invalid-syntax\n    '''\n"
    assert read_expectations(text) == [Expectation(1, "invalid-syntax")]


@pytest.mark.parametrize(
    "comment",
    [
        "# expect: TL101",
        "# expect:",
        "# expect: a b",
        "# expect: a[x]",
        "# expect: a (sure)",
        '# expect: a "b',
    ],
)
def test_an_expectation_that_cannot_be_read_is_refused_with_its_line(comment):
    with pytest.raises(FixtureError, match=r"^2: "):
        read_expectations(f"x = 1\ny = 2  {comment}\n")


def test_an_expectation_about_no_line_is_refused():
    with pytest.raises(FixtureError, match=r"no line of code follows"):
        read_expectations("x = 1\n# expect: unmasked-access\n")


def test_a_whole_file_is_checked(tmp_path):
    file = tmp_path / "fixture.py"
    settings = Settings(packs=("sample_pack",), min_confidence=Confidence.LOW)
    file.write_text(
        KERNEL.replace("offsets)\n", 'offsets)  # expect: bare-load[9] "has no mask"\n').replace(
            "BLOCK)\n", "BLOCK)  # expect: program-id (low)\n"
        )
    )
    assert check_fixture(file, settings) == []
    file.write_text(KERNEL)
    assert [said.partition("[")[0] for said in check_fixture(file, settings)] == [
        "7: surprising program-id",
        "8: surprising bare-load",
    ]
