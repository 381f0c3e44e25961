"""Baselines: what stands in one is not reported again, what is new is, and what is gone is told."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from pathlib import Path

import pytest
from conftest import KERNEL

from tritonlint.baseline import FILE_NAME, BaselineError, read

SECOND = KERNEL.replace("def copy", "def second").partition("@triton.jit")[2]
BROKEN = "import triton\ndef f(:\n"
CONCISE = ("--output-format", "concise")


@pytest.fixture
def adopted(project, tritonlint):
    """A project with a finding that its baseline holds and its configuration names."""
    (project / "tritonlint.toml").write_text(f'packs = ["sample_pack"]\nbaseline = "{FILE_NAME}"\n')
    (project / "k.py").write_text(KERNEL)
    assert tritonlint("check", "--write-baseline").code == 0
    return project


def entries(project, name=FILE_NAME):
    return json.loads((project / name).read_text("utf-8"))["findings"]


def edit(project, change, name=FILE_NAME):
    """Change the first entry of a baseline."""
    document = json.loads((project / name).read_text("utf-8"))
    change(document["findings"][0])
    (project / name).write_text(json.dumps(document))


# --- written and read ---------------------------------------------------------------------------------


def test_one_commit_adopts_the_tool(project, tritonlint):
    (project / "k.py").write_text(KERNEL)
    assert tritonlint("check").code == 1
    written = tritonlint("check", "--write-baseline", FILE_NAME)
    assert (written.code, written.out) == (0, "")
    assert f"{FILE_NAME}: 1 finding (1 new)\n" in written.err
    assert f'`baseline = "{FILE_NAME}"`' in written.err
    assert written.err.endswith("no findings (1 file read, 1 with Triton; 1 in the baseline)\n")
    again = tritonlint("check", "--baseline", FILE_NAME)
    assert (again.code, again.out) == (0, "")
    assert again.err == "no findings (1 file read, 1 with Triton; 1 in the baseline)\n"


def test_a_baseline_has_an_entry_on_each_line_and_no_place_that_moves(project, tritonlint):
    (project / "b.py").write_text(KERNEL + "\n@triton.jit" + SECOND)
    (project / "a.py").write_text(KERNEL)
    tritonlint("check", "--write-baseline")
    lines = (project / FILE_NAME).read_text("utf-8").splitlines()
    assert lines[:3] == ["{", ' "tritonlint-baseline": 1,', ' "findings": [']
    assert [json.loads(line.rstrip(","))["path"] for line in lines[3:-2]] == ["a.py", "b.py", "b.py"]
    assert list(entries(project)[0]) == ["path", "code", "kernel", "confidence", "message", "fingerprint"]
    assert str(project) not in "".join(lines)
    assert "line" not in entries(project)[0]


def test_the_setting_names_a_file_beside_the_configuration(adopted, tritonlint, monkeypatch):
    (adopted / "pkg").mkdir()
    monkeypatch.chdir(adopted / "pkg")
    assert tritonlint("check", "..").code == 0
    assert tritonlint("check", "../k.py").code == 0


def test_without_a_file_the_baseline_lies_beside_the_configuration(project, tritonlint, monkeypatch):
    (project / "pkg").mkdir()
    (project / "pkg" / "k.py").write_text(KERNEL)
    monkeypatch.chdir(project / "pkg")
    assert f"--baseline ../{FILE_NAME}" in tritonlint("check", "--write-baseline").err
    assert [entry["path"] for entry in entries(project)] == ["pkg/k.py"]
    assert tritonlint("check", "k.py", "--baseline", f"../{FILE_NAME}").code == 0


@pytest.mark.parametrize(
    "change",
    [
        lambda text: "# a comment\n\n\n" + text,
        lambda text: text.replace("tl.load(x_ptr + offsets)", "tl.load(\n        x_ptr   + offsets,\n    )"),
        lambda text: text.replace("    tl.store", "    n += 1\n    tl.store"),
    ],
    ids=["moved", "reformatted", "edited elsewhere"],
)
def test_what_moves_stays_quiet(adopted, tritonlint, change):
    (adopted / "k.py").write_text(change(KERNEL))
    outcome = tritonlint("check", "--strict-baseline")
    assert (outcome.code, outcome.out) == (0, "")


def test_a_copy_is_new(adopted, tritonlint):
    (adopted / "other.py").write_text(KERNEL)
    (adopted / "k.py").write_text(KERNEL + "\n@triton.jit" + SECOND)
    outcome = tritonlint("check", *CONCISE)
    assert outcome.code == 1
    assert [line.split(":")[0] for line in outcome.out.splitlines()] == ["k.py", "other.py"]
    assert "2 findings in 2 files (2 files read, 2 with Triton; 1 in the baseline)" in outcome.err


def test_a_copy_of_the_project_in_a_folder_is_new(adopted, tritonlint):
    (adopted / "copy").mkdir()
    for name in ("k.py", "pyproject.toml"):
        (adopted / "copy" / name).write_text(KERNEL if name == "k.py" else "")
    outcome = tritonlint("check", *CONCISE)
    assert [line.split(":")[0] for line in outcome.out.splitlines()] == ["copy/k.py"]


def test_the_same_line_twice_in_a_kernel_is_new_once(adopted, tritonlint):
    (adopted / "k.py").write_text(
        KERNEL.replace("    tl.store", "    y = tl.load(x_ptr + offsets)\n    tl.store")
    )
    assert len(tritonlint("check", *CONCISE).out.splitlines()) == 1


def test_what_was_not_checked_is_never_silenced(adopted, tritonlint):
    (adopted / "broken.py").write_text(BROKEN)
    outcome = tritonlint("check", "--write-baseline", *CONCISE)
    assert outcome.code == 1
    assert "TL901" in outcome.out
    assert [entry["code"] for entry in entries(adopted)] == ["SP101"]
    edit(adopted, lambda entry: entry.update(code="TL901"))
    assert "TL901" in tritonlint("check", *CONCISE).out


def test_a_rule_that_fails_is_never_silenced(project, tritonlint):
    (project / "tritonlint.toml").write_text('packs = ["raising_pack"]\n')
    (project / "k.py").write_text(KERNEL)
    outcome = tritonlint("check", "--select", "RP103", "--write-baseline", *CONCISE)
    assert outcome.code == 1
    assert "TL903" in outcome.out
    assert entries(project) == []


def test_each_configuration_has_its_own(adopted, tritonlint):
    (adopted / "sub").mkdir()
    (adopted / "sub" / "tritonlint.toml").write_text('packs = ["sample_pack"]\nbaseline = "mine.json"\n')
    (adopted / "sub" / "k.py").write_text(KERNEL)
    assert "sub/mine.json: there is no such baseline" in tritonlint("check").err
    assert tritonlint("check", "--write-baseline").code == 0
    assert [entry["path"] for entry in entries(adopted)] == ["k.py"]
    assert [entry["path"] for entry in entries(adopted / "sub", "mine.json")] == ["k.py"]
    assert "2 in the baseline" in tritonlint("check").err


# --- what is gone -------------------------------------------------------------------------------------


def test_a_stale_entry_is_told_with_the_command_that_removes_it(adopted, tritonlint):
    (adopted / "k.py").write_text(KERNEL.replace("x_ptr + offsets)", "x_ptr + offsets, offsets < n)"))
    outcome = tritonlint("check")
    assert outcome.code == 0
    assert (
        f"tritonlint: 1 finding of {FILE_NAME} matches nothing any more:\n  k.py: SP101 in `copy`: "
        in outcome.err
    )
    assert "take it out with `tritonlint check --prune-baseline`" in outcome.err
    assert tritonlint("check", "--strict-baseline").code == 1
    assert tritonlint("check", "--strict-baseline", "--exit-zero").code == 0
    pruned = tritonlint("check", "--prune-baseline", "--strict-baseline")
    assert (pruned.code, entries(adopted)) == (0, [])
    assert f"{FILE_NAME}: 0 findings (1 gone)\n  - k.py: SP101" in pruned.err
    assert "nothing to prune" in tritonlint("check", "--prune-baseline").err


def test_pruning_adds_nothing(adopted, tritonlint):
    (adopted / "new.py").write_text(KERNEL)
    (adopted / "k.py").unlink()
    outcome = tritonlint("check", "--prune-baseline", *CONCISE)
    assert (outcome.code, entries(adopted)) == (1, [])
    assert outcome.out.startswith("new.py:8:9")


@pytest.mark.parametrize(
    "arguments",
    [
        ("other.py",),
        (".", "--select", "SP2"),
        (".", "--ignore", "SP101"),
        ("pkg",),
    ],
)
def test_what_this_run_did_not_look_for_is_not_stale(adopted, tritonlint, arguments):
    (adopted / "pkg").mkdir()
    (adopted / "pkg" / "other.py").write_text("x = 1\n")
    (adopted / "other.py").write_text("x = 1\n")
    (adopted / "k.py").write_text("x = 1\n")
    outcome = tritonlint("check", *arguments, "--strict-baseline")
    assert (outcome.code, "any more" in outcome.err) == (0, False)
    assert tritonlint("check", *arguments, "--write-baseline").code == 0
    assert len(entries(adopted)) == 1


def test_what_is_too_unsure_to_be_shown_is_not_stale(adopted, tritonlint):
    tritonlint("check", "--min-confidence", "low", "--write-baseline")
    assert [entry["code"] for entry in entries(adopted)] == ["SP101", "SP201"]
    assert tritonlint("check", "--strict-baseline").code == 0


def test_a_file_that_cannot_be_parsed_makes_nothing_stale(adopted, tritonlint):
    (adopted / "k.py").write_text(BROKEN)
    outcome = tritonlint("check", "--strict-baseline")
    assert "any more" not in outcome.err
    tritonlint("check", "--write-baseline")
    assert len(entries(adopted)) == 1


def test_a_file_that_is_gone_is_stale_where_its_folder_is_checked(adopted, tritonlint):
    (adopted / "pkg").mkdir()
    (adopted / "pkg" / "other.py").write_text("x = 1\n")
    (adopted / "k.py").unlink()
    assert "any more" not in tritonlint("check", "pkg").err
    assert "k.py: SP101" in tritonlint("check").err


def test_many_stale_entries_are_not_all_told(adopted, tritonlint):
    body = "".join(f"    y{number} = tl.load(x_ptr + {number})\n" for number in range(30))
    (adopted / "k.py").write_text(KERNEL + body)
    tritonlint("check", "--write-baseline")
    (adopted / "k.py").write_text("")
    said = tritonlint("check").err
    assert "31 findings of" in said
    assert "  and 21 more\n" in said


# --- written anew -------------------------------------------------------------------------------------


def test_reasons_stay(adopted, tritonlint):
    edit(adopted, lambda entry: entry.update(reason="n is a multiple of BLOCK"))
    (adopted / "a.py").write_text(KERNEL)
    written = tritonlint("check", "--write-baseline")
    assert f"{FILE_NAME}: 2 findings (1 new)\n  + a.py: SP101 in `copy`" in written.err
    assert [entry.get("reason") for entry in entries(adopted)] == [None, "n is a multiple of BLOCK"]


def test_a_renamed_file_is_reported_and_writing_says_what_it_was(adopted, tritonlint):
    edit(adopted, lambda entry: entry.update(reason="n is a multiple of BLOCK"))
    (adopted / "k.py").rename(adopted / "better.py")
    assert tritonlint("check").code == 1
    written = tritonlint("check", "--write-baseline")
    assert (
        f"{FILE_NAME}: 1 finding (1 in files with another name)\n  k.py -> better.py: SP101: " in written.err
    )
    (entry,) = entries(adopted)
    assert (entry["path"], entry["reason"]) == ("better.py", "n is a multiple of BLOCK")


def test_writing_twice_changes_nothing(adopted, tritonlint):
    before = (adopted / FILE_NAME).read_bytes()
    written = tritonlint("check", "--write-baseline")
    assert f"{FILE_NAME}: 1 finding (as before)" in written.err
    assert (adopted / FILE_NAME).read_bytes() == before


def test_an_entry_that_a_merge_left_twice_counts_once(adopted, tritonlint):
    document = json.loads((adopted / FILE_NAME).read_text())
    document["findings"] *= 2
    (adopted / FILE_NAME).write_text(json.dumps(document, indent=4))
    assert tritonlint("check", "--strict-baseline").code == 0


# --- beside other options -----------------------------------------------------------------------------


def test_fixes_leave_alone_what_is_in_the_baseline(adopted, tritonlint):
    (adopted / "k.py").write_text(KERNEL + "\n@triton.jit" + SECOND)
    outcome = tritonlint("check", "--fix", "--unsafe-fixes")
    assert "fixed 1 finding in 1 file" in outcome.err
    first, second = (adopted / "k.py").read_text().split("def second")
    assert "x = tl.load(x_ptr + offsets)" in first
    assert "x = 0\n" in second
    assert "would fix" not in tritonlint("check", "--diff", "--unsafe-fixes").out
    everything = tritonlint("check", "--fix", "--unsafe-fixes", "--no-baseline")
    assert "fixed 1 finding in 1 file" in everything.err
    assert "tl.load" not in (adopted / "k.py").read_text()


def test_ignores_are_added_for_what_is_new(adopted, tritonlint):
    (adopted / "new.py").write_text(KERNEL)
    outcome = tritonlint("check", "--add-ignores", "fine")
    assert outcome.code == 0
    assert "tritonlint: ignore" in (adopted / "new.py").read_text()
    assert "tritonlint: ignore" not in (adopted / "k.py").read_text()
    turned = tritonlint("check", "--add-ignores", "fine", "--no-baseline")
    assert "tritonlint: ignore" in (adopted / "k.py").read_text()
    assert turned.code == 0
    assert "matches nothing any more" in tritonlint("check").err


def test_fixing_and_writing_in_one_go(adopted, tritonlint):
    (adopted / "new.py").write_text(KERNEL.replace("mask=offsets < n", "offsets < n"))
    tritonlint("check", "--fix", "--unsafe-fixes", "--write-baseline")
    assert [entry["path"] for entry in entries(adopted)] == ["k.py"]


def test_statistics_and_outputs_speak_of_what_is_new(adopted, tritonlint):
    outcome = tritonlint("check", "--statistics", "--output-format", "json")
    assert (json.loads(outcome.out), "SP101" in outcome.err) == ([], False)


def test_the_cache_knows_nothing_of_baselines(adopted, tritonlint):
    assert tritonlint("check").code == 0
    assert tritonlint("check", "--no-baseline").code == 1
    assert tritonlint("check").code == 0
    assert tritonlint("check", "--no-cache").code == 0


def test_standard_input_with_a_name(adopted, tritonlint):
    named = ("-", "--stdin-filename", "k.py")
    assert tritonlint("check", *named, stdin=KERNEL.encode()).code == 0
    assert tritonlint("check", *named, "--strict-baseline", stdin=b"import triton\n").code == 0
    assert tritonlint("check", "-", stdin=KERNEL.encode()).code == 1


def test_evidence_and_a_baseline(adopted, tritonlint):
    (adopted / "new.py").write_text(KERNEL)
    data = json.loads(tritonlint("check", "--no-baseline", "--output-format", "json").out)
    finding = next(one for one in data if one["path"] == "new.py")
    from tritonlint.evidence import digest

    entry = {
        "fingerprint": finding["fingerprint"], "code": "SP101", "kernel": "copy", "path": "new.py", "line": 8,
        "verdict": "refuted", "text": "never", "backend": "test", "subject": digest(KERNEL.encode(), "copy"),
    }  # fmt: skip
    (adopted / "evidence.json").write_text(json.dumps({"tritonlint-evidence": 1, "findings": [entry]}))
    outcome = tritonlint("check", "--evidence", "evidence.json", *CONCISE)
    assert (outcome.code, len(outcome.out.splitlines())) == (0, 1)


# --- what cannot be used ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", ":1: not valid JSON"),
        ("[]", ":1: no baseline of tritonlint"),
        ("[" * 100000, ": no baseline: nested too deeply"),
        ('{"tritonlint-baseline": 1,\n "findings": [\n<<<<<<< ours\n', ":3: not valid JSON"),
        ('{\n"tritonlint-baseline": 2}', ":2: a baseline of version 2, this tritonlint reads 1"),
        ('{"tritonlint-baseline": 1, "findings": {}}', ':1: no baseline: "findings" is no list'),
        ('{"tritonlint-baseline": 1, "findings": [\n3]}', ":2: an entry is an object"),
        (b"{\n\xff}", ":2: not valid UTF-8"),
    ],
)
def test_a_bad_file_is_told_with_its_line(adopted, tritonlint, text, said):
    (adopted / FILE_NAME).write_bytes(text if isinstance(text, bytes) else text.encode())
    outcome = tritonlint("check")
    assert (outcome.code, outcome.out) == (2, "")
    assert FILE_NAME + said in outcome.err


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"resaon": "x"}, "an entry has no `resaon`; did you mean `reason`?"),
        ({"path": 3}, "`path` of an entry is a text"),
        ({"confidence": "sure"}, "`confidence` is one of high, medium, low"),
    ],
)
def test_a_bad_entry_is_told_with_its_line(adopted, tritonlint, change, said):
    (adopted / "a.py").write_text(KERNEL)
    tritonlint("check", "--write-baseline")
    lines = (adopted / FILE_NAME).read_text().splitlines(keepends=True)
    lines[4] = json.dumps(json.loads(lines[4]) | change) + "\n"
    (adopted / FILE_NAME).write_text("".join(lines))
    outcome = tritonlint("check")
    assert outcome.code == 2
    assert f"{FILE_NAME}:5: {said}; repair or remove this entry" in outcome.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--baseline", "gone.json"), "gone.json: there is no such baseline; `tritonlint check --write"),
        (("--write-baseline", "k.py"), "put the paths that are to be checked before this option"),
        (("--write-baseline", "no/such.json"), "no/such.json cannot be written: No such file or directory"),
        (("--baseline", FILE_NAME, "--no-baseline"), "contradict each other"),
        (("--prune-baseline", "--no-baseline"), "contradict each other"),
        (("--write-baseline", FILE_NAME, "--prune-baseline"), "give one of them"),
        (("--write-baseline", FILE_NAME, "--diff"), "cannot stand beside `--diff`"),
        (("-", "--write-baseline", FILE_NAME), "cannot stand beside `-`"),
    ],
)
def test_options_that_make_no_sense(adopted, tritonlint, arguments, said):
    outcome = tritonlint("check", *arguments)
    assert outcome.code == 2
    assert said in outcome.err
    assert (adopted / "k.py").read_text() == KERNEL


def test_the_setting_must_be_a_path(project, tritonlint):
    (project / "tritonlint.toml").write_text("baseline = true\n")
    (project / "k.py").write_text("x = 1\n")
    assert "tritonlint.toml:1: `baseline` = True is not the path of a file" in tritonlint("check").err


def test_names_that_are_no_utf8(project, tritonlint):
    name = b"k\xff.py".decode("utf-8", "surrogateescape")
    try:
        (project / name).write_text(KERNEL.replace("x_ptr", "ж_ptr"), encoding="utf-8")
    except (OSError, UnicodeError):
        pytest.skip("the file system takes UTF-8 only")
    assert tritonlint("check", "--write-baseline").code == 0
    assert tritonlint("check", "--baseline", FILE_NAME).code == 0


# --- what docs/adopting.md promises -------------------------------------------------------------------


def test_the_commands_in_the_documentation_run(tmp_path, monkeypatch, tritonlint):
    page = (Path(__file__).parent.parent / "docs" / "adopting.md").read_text("utf-8")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "add.py").write_text(KERNEL)
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    for command in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "first"]):
        subprocess.run([*git, *command], check=True)
    commands = [shlex.split(line)[1:] for line in re.findall(r"^ {4}(tritonlint .*)$", page, re.MULTILINE)]
    assert len(commands) >= 8
    for command in commands:
        outcome = tritonlint(*command)
        assert outcome.code in (0, 1), (command, outcome.err)
        if command == ["check", "--write-baseline"]:
            (settings,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
            (tmp_path / "pyproject.toml").write_text(settings)
            assert tritonlint("check").code == 0


@pytest.mark.parametrize(
    "text",
    [
        '{"tritonlint-baseline": 1, "findings": [], "findings": [{"a": 1}]}',
        '{"tritonlint-baseline": 1, "f\\u0069ndings": [{"a": 1}]}',
        '{"tritonlint-baseline": ' + "1" * 5000 + ', "findings": []}',
    ],
    ids=["two lists", "escaped", "huge number"],
)
def test_odd_baselines_are_refused_in_words(tmp_path, text):
    file = tmp_path / "b.json"
    file.write_text(text)
    with pytest.raises(BaselineError, match=r"b\.json"):
        read(file)
