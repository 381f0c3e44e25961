"""Comments that silence a rule: where they reach, and what is said of those that reach nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest
from conftest import KERNEL

from tritonlint import edits
from tritonlint.config import Settings
from tritonlint.engine import check_source
from tritonlint.finding import Confidence, Position
from tritonlint.selection import Selection

SETTINGS = Settings(packs=("sample_pack",))
LOAD = "tl.load(x_ptr + offsets)"


def check(text, settings=SETTINGS):
    return check_source(text, "k.py", settings)


def codes(text, settings=SETTINGS):
    return [finding.code for finding in check(text, settings)]


def after_load(comment):
    """The kernel with a comment at the end of the line of its load."""
    return KERNEL.replace(LOAD, f"{LOAD}  {comment}")


def at_def(comment):
    """The kernel with a comment at the end of its `def` line."""
    return KERNEL.replace("constexpr):", f"constexpr):  {comment}")


@pytest.mark.parametrize(
    "comment",
    [
        "# tritonlint: ignore[SP101]",
        "# tritonlint: ignore[bare-load]",
        "# tritonlint: ignore[SP101] the length is a multiple of the block",
        "# tritonlint:ignore[ SP101 , TL501 ]",
        "# type: ignore  # tritonlint: ignore[SP101]",
        "# noqa: SP101",
        "# noqa:SP101",
        "# NOQA: sp101",
        "# noqa: E501, SP101",
        "# noqa: E501 SP101 because",
    ],
)
def test_a_comment_silences_its_line(comment):
    assert codes(after_load(comment)) == []


@pytest.mark.parametrize("comment", ["# noqa", "# noqa: E501", "# tritonlint", "# ignore[SP101]"])
def test_comments_of_others_silence_nothing(comment):
    assert codes(after_load(comment)) == ["SP101"]


def test_a_string_is_no_comment():
    text = KERNEL.replace(LOAD, f'"# tritonlint: ignore[SP101]", {LOAD}')
    assert codes(text) == ["SP101"]


def test_another_line_is_not_silenced():
    text = KERNEL.replace("BLOCK)\n    x", "BLOCK)  # tritonlint: ignore[SP101]\n    x")
    assert codes(text) == ["TL902", "SP101"]


@pytest.mark.parametrize("line", range(4), ids=["first line", "middle", "its own line", "last line"])
def test_a_comment_on_any_line_of_a_statement_is_enough(line):
    lines = ["    x = tl.load(", "        x_ptr + offsets", "", "    )"]
    lines[line] += "  # tritonlint: ignore[SP101]"
    assert codes(KERNEL.replace(f"    x = {LOAD}", "\n".join(lines))) == []


def test_of_a_compound_statement_only_the_header_is_covered():
    header = "    for i in range(4):  # tritonlint: ignore[SP101]\n        x = "
    assert codes(KERNEL.replace("    x = ", header)) == ["TL902", "SP101"]
    one_line = "    if n: x = tl.load(x_ptr + offsets)  # tritonlint: ignore[SP101]"
    assert codes(KERNEL.replace(f"    x = {LOAD}", one_line)) == []


def test_a_comment_on_the_def_line_covers_the_kernel():
    assert codes(at_def("# tritonlint: ignore[SP101]")) == []
    assert codes(at_def("# noqa: SP101")) == []


def test_a_comment_on_a_decorator_covers_the_kernel():
    assert codes(KERNEL.replace("@triton.jit", "@triton.jit  # tritonlint: ignore[SP101]")) == []


def test_a_comment_after_a_header_of_several_lines_covers_the_kernel():
    text = KERNEL.replace(
        "(x_ptr, out_ptr, n, BLOCK: tl.constexpr):",
        "(\n    x_ptr, out_ptr,\n    n, BLOCK: tl.constexpr\n):  # noqa: SP101",
    )
    assert codes(text) == []


def test_a_comment_beside_one_parameter_does_not_cover_the_kernel():
    text = KERNEL.replace("(x_ptr, out_ptr,", "(\n    x_ptr,  # tritonlint: ignore[SP101]\n    out_ptr,")
    assert codes(text) == ["TL902", "SP101"]


def test_the_def_line_of_another_function_covers_its_header_only():
    host = "\n\ndef launch(x):  # tritonlint: ignore[SP101]\n    return x\n"
    assert codes(KERNEL + host) == ["SP101", "TL902"]


def test_a_comment_covers_no_second_kernel():
    second = at_def("").replace("def copy", "def second").partition("tl\n")[2]
    findings = check(at_def("# tritonlint: ignore[SP101]") + second)
    assert [finding.kernel for finding in findings] == ["second"]


def test_a_whole_file_is_covered():
    assert codes("# tritonlint: ignore-file[SP101] generated\n" + KERNEL) == []
    assert codes(KERNEL + "# tritonlint: ignore-file[bare-load]\n") == []


# --- unused suppressions -----------------------------------------------------------------------------


def test_an_unused_comment_is_a_finding_at_the_comment():
    (finding,) = check("import triton  # why not  # tritonlint: ignore[SP101] old reason\n")
    assert (finding.code, finding.name, finding.confidence) == (
        "TL902",
        "unused-suppression",
        Confidence.HIGH,
    )
    assert finding.message == "there is no finding of SP101 here to silence"
    assert (finding.range.start, finding.range.end) == (Position(1, 27), Position(1, 54))


def test_of_several_rules_the_unused_one_is_named():
    (finding,) = check(after_load("# tritonlint: ignore[SP101, SP102]"))
    assert finding.message == "there is no finding of SP102 here to silence"


@pytest.mark.parametrize(
    ("comment", "message"),
    [
        ("# tritonlint: ignore", "`ignore` must name the rules it silences, as `ignore[TL101]`"),
        ("# tritonlint: ignore[]", "`ignore` must name the rules it silences, as `ignore[TL101]`"),
        (
            "# tritonlint: ignore-file",
            "`ignore-file` must name the rules it silences, as `ignore-file[TL101]`",
        ),
        ("# tritonlint: ignore[SP101", "`ignore[` is not closed by `]`"),
        ("# tritonlint: ignore[bare-laod]", "there is no rule `bare-laod`; did you mean `bare-load`?"),
        ("# tritonlint: ignore[TL903]", "TL903 cannot be silenced: it says that something was not checked"),
    ],
)
def test_a_comment_that_cannot_work_says_why(comment, message):
    findings = check(after_load(comment))
    assert [finding.code for finding in findings] == ["SP101", "TL902"]
    assert findings[1].message == message


def test_only_rules_that_ran_are_spoken_of():
    text = KERNEL + "x = 1  # tritonlint: ignore[SP101]\n"
    assert codes(text) == ["SP101", "TL902"]
    assert codes(text, replace(SETTINGS, selection=Selection(("SP102", "TL902")))) == []
    assert codes(text, replace(SETTINGS, selection=Selection(("SP101",)))) == ["SP101"]
    assert codes("import triton  # tritonlint: ignore[TL117]\n") == []  # not built, so it did not run


def test_a_finding_too_weak_to_be_shown_still_uses_its_comment():
    text = KERNEL.replace("tl.arange(0, BLOCK)", "tl.arange(0, BLOCK)  # tritonlint: ignore[SP201]")
    assert codes(text) == ["SP101"]


def test_a_comment_may_allow_itself_to_be_unused():
    assert codes("import triton  # tritonlint: ignore[SP101, TL902]\n") == []
    assert codes("# tritonlint: ignore-file[TL902]\nimport triton  # noqa: SP101\n") == []


def test_an_unused_noqa_for_a_rule_of_ours_is_a_finding():
    assert codes("import triton  # noqa: SP101\n") == ["TL902"]
    assert codes("import triton  # noqa: TL999, E501\n") == []


def test_per_file_ignores_count_as_not_run(tmp_path):
    settings = replace(SETTINGS, per_file_ignores=(("k.py", ("SP101",)),), root=tmp_path)
    text = after_load("# tritonlint: ignore[SP101]")
    assert check_source(text, "k.py", settings, file=tmp_path / "k.py", root=tmp_path) == []
    (finding,) = check_source(KERNEL, "other.py", settings, file=tmp_path / "other.py", root=tmp_path)
    assert finding.code == "SP101"


# --- taking a comment out ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = 1  # tritonlint: ignore[SP101] the length fits", "x = 1"),
        ("x = 1  # tritonlint: ignore[bare-load]", "x = 1"),
        ("x = 1  # noqa: SP101", "x = 1"),
        ("x = 1  # noqa: E501, SP101", "x = 1  # noqa: E501"),
        ("x = 1  # noqa: sp101 E501 because", "x = 1  # noqa: E501 because"),
        ("x = 1  # type: ignore  # tritonlint: ignore[SP101] why", "x = 1  # type: ignore"),
        ("x = 1  # tritonlint: ignore[SP101] why  # pylint: disable", "x = 1  # pylint: disable"),
        (f"{LOAD}  # tritonlint: ignore[SP101, SP102] why", f"{LOAD}  # tritonlint: ignore[SP101] why"),
        ("# tritonlint: ignore[SP101]\nx = 1", "x = 1"),
    ],
)
def test_an_unused_comment_is_taken_out(before, after):
    line = "    x = tl.load(x_ptr + offsets)"
    new = [before, after]
    texts = [KERNEL.replace(line, "\n".join(f"    {part}" for part in one.split("\n"))) for one in new]
    found = [finding for finding in check(texts[0]) if finding.code == "TL902"]
    assert edits.apply(texts[0], found[0].fix.edits) == texts[1]


def test_the_last_line_of_a_text_is_taken_out_too():
    text = KERNEL.rstrip("\n") + "\n# tritonlint: ignore[SP102]"
    (found,) = [finding for finding in check(text) if finding.code == "TL902"]
    assert edits.apply(text, found.fix.edits) == KERNEL.rstrip("\n") + "\n"


def test_a_misspelled_rule_is_left_to_the_reader():
    (found,) = [one for one in check(after_load("# tritonlint: ignore[SP1O1]")) if one.code == "TL902"]
    assert found.fix is None
