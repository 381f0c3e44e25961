"""One file in, findings out, whatever the file and whatever the rules do."""

from __future__ import annotations

import pickle
from dataclasses import replace
from functools import partial
from pathlib import Path
from textwrap import indent

import pytest
from conftest import KERNEL
from hypothesis import given, settings
from hypothesis import strategies as st

from tritonlint.config import Options, Settings, SettingsFinder
from tritonlint.engine import Context, check_source
from tritonlint.finding import Confidence, Position, Severity
from tritonlint.run import check_paths
from tritonlint.selection import ALL, Selection

SAMPLE = Settings(packs=("sample_pack",))
RAISING = Settings(packs=("raising_pack",))
EVERYTHING = Settings(packs=("sample_pack",), min_confidence=Confidence.LOW)


def codes(findings):
    return [finding.code for finding in findings]


def test_a_finding_says_what_and_where():
    (finding,) = check_source(KERNEL, "kernels.py", SAMPLE)
    assert (finding.code, finding.name, finding.kernel) == ("SP101", "bare-load", "copy")
    assert (finding.path, finding.range.start) == ("kernels.py", Position(8, 9))


def test_bytes_and_text_give_the_same():
    assert check_source(KERNEL.encode(), "k.py", SAMPLE) == check_source(KERNEL, "k.py", SAMPLE)


def test_a_text_without_triton_is_not_parsed():
    assert check_source("def (:", settings=SAMPLE) == []


def test_checking_can_be_sent_to_another_process():
    task = pickle.loads(pickle.dumps(partial(check_source, KERNEL, "k.py", EVERYTHING)))
    assert pickle.loads(pickle.dumps(task())) == check_source(KERNEL, "k.py", EVERYTHING)


@pytest.mark.parametrize(("level", "shown"), [("high", 1), ("medium", 1), ("low", 2)])
def test_findings_below_the_wanted_confidence_are_left_out(level, shown):
    assert len(check_source(KERNEL, "k.py", replace(SAMPLE, min_confidence=Confidence(level)))) == shown


@pytest.mark.parametrize(
    ("select", "ignore", "expected"),
    [
        ((), (), ["SP101", "SP201"]),
        (("SP1",), (), ["SP101"]),
        ((ALL,), ("SP101",), ["SP201"]),
        (("SP101",), ("SP1",), ["SP101"]),
        ((), ("SP",), []),
    ],
    ids=["default rules", "prefix", "all but one", "the longer selector decides", "ignored prefix"],
)
def test_selection(select, ignore, expected):
    settings = replace(EVERYTHING, selection=Selection(select, ignore))
    assert sorted(codes(check_source(KERNEL, "k.py", settings))) == expected


# --- broken input -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b"import triton\ndef f(:\n    pass\n", 2),
        (b"import triton\nx = 1\0\n", 2),
        (b"# triton\n\n\nx = '\xff'\n", 4),
        (b"# coding: no-such-encoding\n# triton\n", 1),
        (b"# coding: hex\n# triton\n", 1),
        (b"# coding: punycode\n# triton\n", 1),
        (b"# coding: undefined\n# triton\n", 1),
        (b"# triton\n" + b"(" * 100_000, None),
        (b"# triton\nx = " + b"-" * 200_000 + b"1\n", None),
        (b"# triton\nx = a" + b".b" * 200_000 + b"\n", None),
        (b"import triton\n\tx = 1\n  y = 2\n", 2),
    ],
    ids=[
        "syntax error", "NUL byte", "not UTF-8", "unknown encoding", "encoding of no text",
        "encoding of host names", "encoding of nothing",
        "nested parentheses", "nested operators", "long attribute chain", "indentation",
    ],
)  # fmt: skip
def test_a_file_that_does_not_parse_is_one_finding(data, line):
    findings = check_source(data, "broken.py", SAMPLE)
    if line is None and not findings:
        return  # this Python parses it
    (finding,) = findings
    assert (finding.code, finding.severity) == ("TL901", Severity.ERROR)
    assert line in (None, finding.range.start.line)
    assert finding.fingerprint


DEEP = "if v == 0:\n    y = 0\n" + "".join(f"elif v == {i}:\n    y = {i}\n" for i in range(1, 1000))
SUM = "y = " + " + ".join("v" for _ in range(1000)) + "\n"


@pytest.mark.parametrize("deep", [DEEP, SUM], ids=["elif", "sum"])
@pytest.mark.parametrize(
    "head",
    [
        "",
        "class A:\n",
        "def f(v):\n",
        "def f(v, n):\n    copy[(9,)](v, v, n, 128)\n",
        "@triton.jit\ndef f(v):\n",
    ],
    ids=["module", "class", "function", "host", "kernel"],
)
@pytest.mark.parametrize("settings", [SAMPLE, Settings()], ids=["sample", "built-in"])
def test_what_is_nested_too_deep_costs_no_other_findings(settings, head, deep):
    def found(body):
        text = f"{KERNEL}\n\n{head}{indent(body, '    ' if head else '')}"
        return codes(check_source(text, "k.py", settings))

    assert found(deep) == found("y = v\n")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "cp1251"])
def test_declared_encodings_are_read(encoding):
    comment = {"latin-1": "é", "cp1251": "\u0436"}.get(encoding, "é\u0436")
    data = f"# coding: {encoding.removesuffix('-sig')}\n# {comment}\n{KERNEL}".encode(encoding)
    (finding,) = check_source(data, "k.py", SAMPLE)
    assert finding.range.start == Position(10, 9)


def test_columns_count_characters():
    text = KERNEL.replace("x = tl.load(x_ptr", 'é = "\U0001f600", tl.load(x_ptr')
    (finding,) = check_source(text, "k.py", SAMPLE)
    assert finding.range.start.column == 14


@pytest.mark.parametrize("ending", ["\r\n", "\r"])
def test_line_ends_of_other_systems(ending):
    (finding,) = check_source(KERNEL.replace("\n", ending).encode(), "k.py", SAMPLE)
    assert finding.range.start == Position(8, 9)


def test_nothing_silences_a_file_that_does_not_parse():
    text = "import triton  # tritonlint: ignore-file[TL901]\ndef f(:  # noqa: TL901\n"
    settings = replace(SAMPLE, selection=Selection(("SP1",), ("TL901",)))
    assert codes(check_source(text, "k.py", settings)) == ["TL901"]


def offsets_of(text):
    return st.integers(0, len(text))


@settings(deadline=None, max_examples=150)
@given(start=offsets_of(KERNEL), length=st.integers(0, 40), inserted=st.text(max_size=8))
def test_a_damaged_file_gives_findings_and_never_an_exception(start, length, inserted):
    damaged = "# triton\n" + KERNEL[:start] + inserted + KERNEL[start + length :]
    for finding in check_source(damaged, "k.py", EVERYTHING):
        assert finding.code in {"SP101", "SP102", "SP201", "TL901"}
        assert finding.range.start.line >= 1
        assert finding.range.start.column >= 1


@settings(deadline=None, max_examples=100)
@given(st.binary(max_size=60))
def test_any_bytes_give_findings_and_never_an_exception(data):
    assert {each.code for each in check_source(b"# triton\n" + data, "k.py", SAMPLE)} <= {"TL901"}


# --- failing rules ----------------------------------------------------------------------------------

TWO_KERNELS = KERNEL + KERNEL.replace("def copy", "def bad_copy").partition("tl\n")[2]


def failures(text, code):
    found = [finding for finding in check_source(text, "k.py", RAISING) if finding.code == "TL903"]
    return [finding for finding in found if f"({code})" in finding.message]


def test_a_failing_rule_is_named_with_kernel_and_place():
    (finding,) = failures(TWO_KERNELS, "RP101")
    assert finding.severity is Severity.ERROR
    assert finding.kernel == "bad_copy"
    assert "rule `divides-by-zero` (RP101) failed in kernel `bad_copy`" in finding.message
    assert "ZeroDivisionError: division by zero (raising_pack.py:" in finding.message
    assert "please report" in finding.message
    assert TWO_KERNELS.splitlines()[finding.range.start.line - 1].startswith("def bad_copy")


def test_the_failing_rule_is_still_asked_about_other_kernels():
    findings = check_source(TWO_KERNELS, "k.py", RAISING)
    assert [finding.kernel for finding in findings if finding.code == "RP101"] == ["copy"]


def test_the_other_rules_go_on():
    findings = check_source(TWO_KERNELS, "k.py", RAISING)
    assert [finding.kernel for finding in findings if finding.code == "SP101"] == ["copy", "bad_copy"]


def test_a_rule_that_fails_everywhere_is_one_finding():
    (finding,) = failures(TWO_KERNELS.replace("def copy", "def bad"), "RP101")
    assert "`bad` and 1 more" in finding.message


def test_the_kernel_is_known_although_the_rule_looks_at_whole_files():
    (finding,) = failures(KERNEL, "RP102")
    assert finding.kernel == "copy"


def test_a_rule_that_fills_the_stack_fails_alone():
    (finding,) = failures(KERNEL, "RP103")
    assert "RecursionError" in finding.message


def test_a_rule_may_only_report_the_file_it_was_given():
    (finding,) = failures(KERNEL, "RP104")
    assert "`elsewhere.py`" in finding.message


def test_a_model_that_fails_is_one_finding(monkeypatch):
    from tritonlint import model

    def fail(*_):
        raise AssertionError("no model")

    monkeypatch.setattr(model.Project, "module", fail)
    (finding,) = check_source(KERNEL, "k.py", SAMPLE)
    assert finding.code == "TL903"
    assert "AssertionError: no model (test_engine.py:" in finding.message


# --- fingerprints -----------------------------------------------------------------------------------


def fingerprints(text, path="k.py", settings=SAMPLE):
    return [finding.fingerprint for finding in check_source(text, path, settings)]


def test_a_fingerprint_survives_moved_and_reformatted_lines():
    for wrapped in (
        "tl.load(\n        x_ptr + offsets)",
        "tl.load(\n        x_ptr\n        + offsets,\n    )",
    ):
        moved = "# a comment\n\n\n" + KERNEL.replace("tl.load(x_ptr + offsets)", wrapped)
        assert fingerprints(moved) == fingerprints(KERNEL)
    assert fingerprints("# a comment\n\n\n" + KERNEL) == fingerprints(KERNEL)
    assert fingerprints(KERNEL.replace("x_ptr + offsets)", "x_ptr   +   offsets)")) == fingerprints(KERNEL)


def test_equal_findings_differ_by_number():
    line = "    x = tl.load(x_ptr + offsets)\n"
    twice = fingerprints(KERNEL.replace(line, line + line))
    assert twice[0] == fingerprints(KERNEL)[0]
    assert len(set(twice)) == 2


def test_a_copied_kernel_has_a_fingerprint_of_its_own():
    assert len(set(fingerprints(TWO_KERNELS))) == 2


def test_silencing_one_of_two_equals_leaves_the_other_as_it_was():
    line = "    x = tl.load(x_ptr + offsets)"
    twice = KERNEL.replace(line, f"{line}\n{line}")
    first_silenced = KERNEL.replace(line, f"{line}  # tritonlint: ignore[SP101]\n{line}")
    assert fingerprints(first_silenced) == fingerprints(twice)[1:]


def test_a_fingerprint_does_not_depend_on_the_working_directory(project, monkeypatch):
    (project / "kernels").mkdir()
    (project / "kernels" / "copy.py").write_text(KERNEL)
    (from_above,) = check_paths([Path("kernels")]).findings
    monkeypatch.chdir(project / "kernels")
    (from_within,) = check_paths([Path("copy.py")]).findings
    assert (from_above.path, from_within.path) == ("kernels/copy.py", "copy.py")
    assert from_above.fingerprint == from_within.fingerprint


# --- runs -------------------------------------------------------------------------------------------


def test_a_run_counts_files_and_sorts_findings(project):
    for name in ("b.py", "a.py"):
        (project / name).write_text(KERNEL)
    (project / "plain.py").write_text("x = 1\n")
    run = check_paths([Path()])
    assert (run.files, run.triton_files, run.failing) == (3, 2, True)
    assert [finding.path for finding in run.findings] == ["a.py", "b.py"]


@pytest.mark.parametrize(("fail_on", "failing"), [("error", False), ("warning", False), ("note", True)])
def test_a_run_fails_from_the_wanted_severity_up(project, fail_on, failing):
    (project / "k.py").write_text(KERNEL.replace("offsets)\n", "offsets, offsets < n)\n"))
    options = Options(fail_on=Severity(fail_on), min_confidence=Confidence.LOW)
    run = check_paths([Path()], SettingsFinder(options))
    assert codes(run.findings) == ["SP201"]
    assert run.failing is failing


def test_a_file_that_vanishes_or_cannot_be_read_is_an_error_and_the_rest_goes_on(project, monkeypatch):
    (project / "gone.py").write_text(KERNEL)
    (project / "here.py").write_text(KERNEL)
    read_bytes = Path.read_bytes

    def read(path):
        if path.name == "gone.py":
            raise FileNotFoundError(2, "No such file or directory", str(path))
        return read_bytes(path)

    monkeypatch.setattr(Path, "read_bytes", read)
    run = check_paths([Path()])
    assert run.errors == ["gone.py: cannot be read: No such file or directory"]
    assert [finding.path for finding in run.findings] == ["here.py"]


def test_one_file_and_its_folder_give_the_same_findings(project):
    (project / "pkg").mkdir()
    (project / "pkg" / "k.py").write_text(KERNEL)
    assert check_paths([Path("pkg/k.py")]).findings == check_paths([Path()]).findings


def test_another_text_of_a_file_is_judged_by_itself(tmp_path):
    masked = """import triton
import triton.language as tl


@triton.jit
def double(x_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + at, tl.load(x_ptr + at, mask=at < n) * 2, mask=at < n)
"""
    (tmp_path / "kernels.py").write_text(masked)
    (tmp_path / "launch.py").write_text(
        "import triton\nfrom kernels import double\n\n\ndef run(x):\n    n = x.numel()\n"
        "    double[(triton.cdiv(n, 256),)](x, n, BLOCK=256)\n"
    )
    file, context = tmp_path / "kernels.py", Context()
    assert check_source(masked, "kernels.py", file=file, root=tmp_path, context=context) == []
    bare = masked.replace("tl.load(x_ptr + at, mask=at < n)", "tl.load(x_ptr + at)")
    again = context.renewed()
    found = check_source(bare, "kernels.py", file=file, root=tmp_path, context=again)
    assert [finding.code for finding in found] == ["TL101"]
    assert [related.path.endswith("launch.py") for related in found[0].related].count(True) == 1
    assert check_source(masked, "kernels.py", file=file, root=tmp_path, context=context) == []


def test_what_a_long_function_refuses_is_known_to_its_caller():
    checker = "\n".join(
        ["def refuse(x):", "    if x.dtype != torch.float32:", "        raise TypeError('float32 only')"]
        + [f"    note_{i} = {i}" for i in range(100)]
    )
    source = """\
import torch
import triton
import triton.language as tl

@triton.jit
def total(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out_ptr, tl.sum(tl.load(x_ptr + at, mask=at < n, other=0.0), axis=0))

CHECKER

def use(x, out):
    ASK
    total[(1,)](x, out, x.numel(), BLOCK=1024)
"""
    settings = Settings(selection=Selection(("TL502",)))
    checked = source.replace("CHECKER", checker).replace("ASK", "refuse(x)")
    assert [f.code for f in check_source(checked.replace("refuse(x)\n", "pass\n"), "k.py", settings)] == [
        "TL502"
    ]
    assert not check_source(checked, "k.py", settings)
