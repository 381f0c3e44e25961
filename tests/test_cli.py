"""The command line: exit codes, what goes to which stream, standard input, and what must not be imported."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest
from conftest import KERNEL, PACKS, Outcome

import tritonlint_rules
from tritonlint import __version__, builtin, cli
from tritonlint.output import FORMATS

CLEAN = KERNEL.replace("x_ptr + offsets)", "x_ptr + offsets, offsets < n)")
BROKEN = "import triton\ndef f(:\n"


def program(*arguments, cwd, stdin=b"", **environment):
    """Run the program in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "tritonlint", *arguments],
        cwd=cwd,
        input=stdin,
        capture_output=True,
        timeout=60,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(PACKS), os.environ.get("PYTHONPATH", "")]),
            **environment,
        },
        check=False,
    )
    return Outcome(done.returncode, done.stdout.decode("latin-1"), done.stderr.decode())


# --- exit codes and streams --------------------------------------------------------------------------


def test_without_findings_the_exit_code_is_0_and_standard_output_is_empty(project, tritonlint):
    (project / "k.py").write_text(CLEAN)
    (project / "plain.py").write_text("x = 1\n")
    outcome = tritonlint("check")
    assert (outcome.code, outcome.out) == (0, "")
    assert outcome.err == "no findings (2 files read, 1 with Triton)\n"


def test_findings_go_to_standard_output_and_the_summary_to_standard_error(project, tritonlint):
    (project / "k.py").write_text(KERNEL)
    outcome = tritonlint("check", ".", "--output-format", "concise")
    assert outcome.code == 1
    assert outcome.out == (
        "k.py:8:9: error SP101 bare-load: `tl.load(x_ptr + offsets)` has no mask (high confidence)\n"
    )
    assert outcome.err == "1 finding in 1 file (1 file read, 1 with Triton)\n"


@pytest.mark.parametrize(("fail_on", "code"), [("error", 0), ("warning", 1), ("note", 1)])
def test_fail_on(project, tritonlint, fail_on, code):
    (project / "k.py").write_text(CLEAN.replace(", mask=offsets < n", ""))
    outcome = tritonlint("check", "--fail-on", fail_on)
    assert outcome.code == code
    assert "warning SP102" in outcome.out


def test_fail_on_of_the_configuration(project, tritonlint):
    (project / "tritonlint.toml").write_text('packs = ["sample_pack"]\nfail-on = "error"\n')
    (project / "k.py").write_text(CLEAN.replace(", mask=offsets < n", ""))
    assert tritonlint("check").code == 0
    assert tritonlint("check", "--fail-on", "warning").code == 1


def test_exit_zero_hides_findings_but_no_failure(project, tritonlint):
    (project / "k.py").write_text(KERNEL)
    assert tritonlint("check", "--exit-zero").code == 0
    assert tritonlint("check", "missing.py", "--exit-zero").code == 2


@pytest.mark.parametrize(
    "arguments", [("--select", "SP2"), ("--ignore", "ALL,TL901"), ("--fail-on", "error")]
)
def test_a_file_that_does_not_parse_always_fails(project, tritonlint, arguments):
    (project / "k.py").write_text(BROKEN)
    outcome = tritonlint("check", *arguments)
    assert outcome.code == 1
    assert "TL901" in outcome.out


def test_a_rule_that_fails_always_fails_the_run(project, tritonlint):
    (project / "tritonlint.toml").write_text('packs = ["raising_pack"]\n')
    (project / "k.py").write_text(KERNEL)
    outcome = tritonlint("check", "--select", "RP103")
    assert outcome.code == 1
    assert "rule `never-returns` (RP103) failed in kernel `copy`: RecursionError" in outcome.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("check", "missing.py"), "missing.py: cannot be read: No such file or directory"),
        (("check", "--select", "TL999"), "there is no rule `TL999`"),
        (("check", "--ignore", "unmasked-acces"), "did you mean `unmasked-access`?"),
        (("check", "--fail-on", "fatal"), "'fatal' is not one of"),
        (("check", "--frobnicate"), "No such option"),
        (("check", "--config", "missing.toml"), "missing.toml: cannot be read"),
        (("check", ".", "-"), "cannot stand beside other paths"),
        (("check", "--stdin-filename", "k.py"), "give `-` as path"),
        (("check", "empty"), "no Python file could be read under empty"),
        (("check", "--output-file", "no/such/folder.json", "k.py"), "cannot write to no/such/folder.json"),
        (("check", "--output-format", "jsn", "k.py"), "`jsn` is not one of full, concise, json,"),
        (("check", "--output-format", "jsn:x", "k.py"), "did you mean `json`?"),
        (("check", "--output-format", "json:", "k.py"), "`json:` names no file"),
        (
            ("check", "--output-format", "full", "--output-format", "json", "k.py"),
            "only one of `full` and `json` can go to standard output: give the other a file, as `json:FILE`",
        ),
        (
            ("check", "--output-format", "json:a", "--output-file", "b", "k.py"),
            "every format has a file of its own, so that `--output-file` has nothing to take",
        ),
        (
            ("check", "--output-format", "json:a", "--output-format", "sarif:./a", "k.py"),
            "two formats cannot go to one file",
        ),
        (("frobnicate",), "No such command"),
        (("rule", "TL999"), "there is no rule `TL999`"),
        (("rule", "TL117"), "TL117 (missing-barrier) is reserved for a rule that is not built yet"),
    ],
)
def test_what_cannot_run_exits_with_2_and_says_why(project, tritonlint, arguments, said):
    (project / "empty").mkdir()
    (project / "k.py").write_text(KERNEL)
    outcome = tritonlint(*arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert said in outcome.err
    assert "Traceback" not in outcome.err


def test_a_configuration_error_exits_with_2(project, tritonlint):
    (project / "k.py").write_text(KERNEL)
    (project / "tritonlint.toml").write_text("selct = []\n")
    outcome = tritonlint("check")
    assert (outcome.code, outcome.out) == (2, "")
    assert "tritonlint.toml:1: unknown key `selct`" in outcome.err


def test_one_file_that_cannot_be_read_is_told_and_the_rest_is_checked(project, tritonlint, monkeypatch):
    for name in ("a.py", "b.py"):
        (project / name).write_text(KERNEL)
    read_bytes = Path.read_bytes

    def read(path):
        if path.name == "a.py":
            raise PermissionError(13, "Permission denied")
        return read_bytes(path)

    monkeypatch.setattr(Path, "read_bytes", read)
    outcome = tritonlint("check", "--output-format", "concise")
    assert outcome.code == 1
    assert outcome.out.startswith("b.py:8:9")
    assert "tritonlint: a.py: cannot be read: Permission denied\n" in outcome.err
    assert tritonlint("check", "a.py").code == 2


@pytest.mark.parametrize("options", [(), ("--exit-zero",)])
def test_a_path_that_is_gone_is_told_and_the_others_are_checked(project, tritonlint, options):
    (project / "d").mkdir()
    (project / "d" / "a.py").write_text(KERNEL)
    (project / "loop.py").symlink_to("loop.py")
    outcome = tritonlint("check", "gone.py", "d/a.py", "loop.py", "--output-format", "concise", *options)
    assert outcome.code == 2
    assert outcome.out.startswith("d/a.py:8:9: error SP101")
    assert "tritonlint: gone.py: cannot be read: No such file or directory\n" in outcome.err
    assert "tritonlint: loop.py: cannot be read: Too many levels of symbolic links\n" in outcome.err


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes of POSIX")
def test_a_pipe_is_not_waited_for(project):
    (project / "k.py").write_text(KERNEL)
    for name in ("pipe.py", ".gitignore"):
        os.mkfifo(project / name)
    outcome = program("check", "k.py", "pipe.py", ".", cwd=project)
    assert outcome.code == 2
    assert "k.py:8:9" in outcome.out
    assert "tritonlint: pipe.py: cannot be read: not a regular file" in outcome.err


def test_an_unforeseen_exception_is_no_traceback_and_not_the_code_for_findings(
    project, tritonlint, monkeypatch
):
    def fail(*_):
        raise AssertionError("impossible")

    (project / "k.py").write_text(KERNEL)
    monkeypatch.setattr("tritonlint.commands.check._summary", fail)
    outcome = tritonlint("check")
    assert outcome.code == 2
    assert "AssertionError: impossible (test_cli.py:" in outcome.err
    assert "please report" in outcome.err


def test_interruption(project, tritonlint, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("tritonlint.commands.check.finder_of", interrupt)
    outcome = tritonlint("check")
    assert (outcome.code, outcome.err.strip()) == (130, "tritonlint: interrupted")


# --- options -----------------------------------------------------------------------------------------


def test_min_confidence_and_select(project, tritonlint):
    (project / "k.py").write_text(KERNEL)
    assert "SP201" not in tritonlint("check").out
    assert "SP201" in tritonlint("check", "--min-confidence", "low").out
    only = tritonlint("check", "--min-confidence", "low", "--select", "SP2,TL1", "--output-format", "concise")
    assert [line.split()[2] for line in only.out.splitlines()] == ["SP201"]


def test_statistics_are_told_beside_the_findings(project, tritonlint):
    (project / "k.py").write_text(KERNEL.replace("    tl.store", "    y = tl.load(x_ptr)\n    tl.store"))
    outcome = tritonlint("check", "--statistics", "--no-cache")
    assert "      2  SP101  bare-load\n" in outcome.err
    assert "SP101  bare-load" not in outcome.out


def test_an_output_file_takes_the_findings_in_utf8(project, tritonlint):
    (project / "k.py").write_text(KERNEL.replace("x_ptr", "ÿ_ptr"), encoding="utf-8")
    outcome = tritonlint("check", "--output-format", "concise", "--output-file", "out.txt")
    assert (outcome.code, outcome.out) == (1, "")
    assert "`tl.load(ÿ_ptr + offsets)`" in (project / "out.txt").read_text("utf-8")


def test_several_formats_in_one_run(project, tritonlint):
    (project / "k.py").write_text(KERNEL)
    outcome = tritonlint(
        "check", "--output-format", "sarif:out.sarif", "--output-format", "concise", "--output-format", "json:out.json"
    )  # fmt: skip
    assert outcome.code == 1
    assert outcome.out.startswith("k.py:8:9: error SP101")
    assert json.loads((project / "out.sarif").read_bytes())["runs"][0]["results"][0]["ruleId"] == "SP101"
    assert json.loads((project / "out.json").read_bytes())[0]["code"] == "SP101"


def test_formats_with_files_alone_leave_standard_output_empty(project, tritonlint):
    (project / "k.py").write_text(KERNEL)
    assert tritonlint("check", "--output-format", "json:out.json").out == ""
    assert (project / "out.json").exists()


def test_the_output_file_takes_the_format_that_has_none(project, tritonlint):
    (project / "k.py").write_text(KERNEL)
    options = ("--output-format", "json:out.json", "--output-format", "concise", "--output-file", "out.txt")
    assert tritonlint("check", *options).out == ""
    assert (project / "out.txt").read_text().startswith("k.py:8:9: error SP101")


def test_one_file_that_cannot_be_written_is_told_and_the_others_are(project, tritonlint):
    (project / "k.py").write_text(KERNEL)
    formats = ("json:gone/a.json", "concise", "gitlab:gone/b.json", "sarif:out.sarif")
    outcome = tritonlint("check", *(word for one in formats for word in ("--output-format", one)))
    assert outcome.code == 2
    assert outcome.out.startswith("k.py:8:9: error SP101")
    assert (project / "out.sarif").exists()
    assert outcome.err == (
        "tritonlint: cannot write to gone/a.json: No such file or directory\n"
        "tritonlint: cannot write to gone/b.json: No such file or directory\n"
    )


def test_version_and_help(project, tritonlint):
    assert tritonlint("--version").out == f"tritonlint {__version__} (rules: sample_pack, 3 rules)\n"
    shown = tritonlint("check", "--help")
    assert shown.code == 0
    assert "0  nothing at or above --fail-on" in shown.out
    assert tritonlint().code == 2


@pytest.mark.parametrize("place", ["", "below/that"])
@pytest.mark.parametrize(
    "text", ["", '[project]\nname = "packs"\n', "[tool.tritonlint]\npacks = 3\n", "packs = ["]
)
def test_the_version_says_which_rules(tmp_path, monkeypatch, tritonlint, text, place):
    (tmp_path / place).mkdir(parents=True, exist_ok=True)
    (tmp_path / "pyproject.toml").write_text(text)
    monkeypatch.chdir(tmp_path / place)
    count = len(tritonlint_rules.RULES)
    said = f"tritonlint {__version__} (rules: tritonlint_rules {__version__}, {count} rules)\n"
    assert tritonlint("--version").out == said


def test_the_version_names_every_pack(project, tritonlint):
    (project / "tritonlint.toml").write_text('packs = ["tritonlint_rules", "sample_pack", "gone"]\n')
    assert tritonlint("--version").out.endswith(" rules; sample_pack, 3 rules; gone)\n")


def commands():
    return [(), *((name,) for name in cli.COMMANDS)]


@pytest.mark.parametrize("command", commands(), ids=lambda command: " ".join(command) or "tritonlint")
def test_every_command_has_examples_and_every_option_a_help(project, tritonlint, command):
    shown = tritonlint(*command, "--help").out
    assert "\n  Examples:\n    " in shown
    described = cli.program.get_command(None, command[0]) if command else cli.program
    silent = [one.opts for one in described.params if isinstance(one, click.Option) and not one.help]
    assert silent == []
    assert max(map(len, shown.splitlines())) <= 110


# --- standard input ----------------------------------------------------------------------------------


def test_standard_input(project, tritonlint):
    outcome = tritonlint("check", "-", "--output-format", "concise", stdin=KERNEL.encode())
    assert outcome.code == 1
    assert outcome.out.startswith("<stdin>:8:9: error SP101")
    assert tritonlint("check", "-", stdin=b"x = 1\n").code == 0
    assert tritonlint("check", "-", stdin=BROKEN.encode()).code == 1


def test_standard_input_shows_its_own_lines(project, tritonlint):
    outcome = tritonlint("check", "-", stdin=KERNEL.encode())
    assert "8 |     x = tl.load(x_ptr + offsets)\n" in outcome.out


def test_standard_input_with_a_name_is_that_file_with_other_content(project, tritonlint):
    (project / "pkg").mkdir()
    (project / "pkg" / "tritonlint.toml").write_text('packs = ["sample_pack"]\nmin-confidence = "low"\n')
    (project / "pkg" / "k.py").write_text("x = 1\n")
    outcome = tritonlint("check", "-", "--stdin-filename", "pkg/k.py", stdin=KERNEL.encode())
    assert "pkg/k.py:8:9: error SP101" in outcome.out
    assert "note SP201" in outcome.out
    assert "tl.load(x_ptr + offsets)" in outcome.out


@pytest.mark.parametrize("folder", ["a/" * 3000, "a" * 3000 + "/"], ids=["deep", "long"])
def test_standard_input_may_have_a_name_that_no_file_can_have(project, tritonlint, folder):
    outcome = tritonlint(
        "check", "-", "--stdin-filename", f"{folder}k.py", "--output-format", "concise", stdin=KERNEL.encode()
    )
    assert (outcome.code, outcome.err) == (1, "1 finding in 1 file (1 file read, 1 with Triton)\n")
    assert outcome.out.startswith(f"{folder}k.py:8:9: error SP101")


# --- streams that do not cooperate -------------------------------------------------------------------


def test_a_terminal_that_is_not_utf8(project):
    (project / "k.py").write_text(KERNEL.replace("x_ptr", "ж_ptr"), encoding="utf-8")
    for output_format in FORMATS:
        outcome = program("check", "--output-format", output_format, cwd=project, PYTHONIOENCODING="ascii")
        assert outcome.code == 1, outcome.err
        assert "_ptr" in outcome.out
        if output_format == "json":
            assert "ж_ptr" in json.loads(outcome.out)[0]["message"]


@pytest.mark.skipif(sys.platform == "win32", reason="pipes of POSIX")
def test_a_reader_that_goes_away(project):
    (project / "k.py").write_text(KERNEL + "".join(f"# {number}\n" for number in range(2000)))
    for number in range(60):
        (project / f"k{number}.py").write_text(KERNEL * 20)
    command = [sys.executable, "-m", "tritonlint", "check", "--output-format", "json"]
    environment = {**os.environ, "PYTHONPATH": str(PACKS)}
    with subprocess.Popen(
        command, cwd=project, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout.read(1) == b"["
        process.stdout.close()
        said = process.stderr.read().decode()
        assert process.wait() == 1
    assert "BrokenPipe" not in said
    assert "findings in" in said


@pytest.mark.skipif(sys.platform == "win32", reason="a shell of POSIX")
@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("check - <&-", "tritonlint: cannot read standard input: it is closed\n"),
        ("check k.py >&-", "tritonlint: cannot write to standard output: it is closed\n"),
        ("rule >&-", "tritonlint: cannot write to standard output: it is closed\n"),
    ],
)
def test_a_stream_that_is_closed(project, line, said):
    (project / "k.py").write_text(KERNEL)
    program = f"{shlex.quote(sys.executable)} -m tritonlint {line}"
    done = subprocess.run(
        ["sh", "-c", program],
        cwd=project,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(PACKS), os.environ.get("PYTHONPATH", "")])},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (2, "", said)


def test_standard_output_may_be_closed_if_the_findings_go_to_a_file(project, tritonlint, monkeypatch):
    (project / "k.py").write_text(KERNEL)
    monkeypatch.setattr(sys, "stdout", None)
    assert tritonlint("check", "--output-file", "out.txt").code == 1
    assert "SP101" in (project / "out.txt").read_text("utf-8")


def test_colours_only_where_they_are_wanted(project):
    (project / "k.py").write_text(KERNEL)
    assert "\x1b[" not in program("check", cwd=project).out
    assert "\x1b[1;31merror SP101\x1b[0m" in program("check", cwd=project, FORCE_COLOR="1").out
    assert "\x1b[" not in program("check", cwd=project, FORCE_COLOR="1", NO_COLOR="1").out


# --- start-up ----------------------------------------------------------------------------------------

LATE = ("libcst", "pathspec", "tomllib", "tritonlint.model", "tritonlint_rules", "torch", "triton", "numpy")


def imported(arguments, folder):
    """Which of the late modules a run imports."""
    script = (
        "import sys\n"
        "from tritonlint.cli import main\n"
        "try:\n"
        f"    main({list(map(str, arguments))!r})\n"
        "except SystemExit as stop:\n"
        "    assert not stop.code, stop.code\n"
        f"print(*sorted(set({LATE!r}) & set(sys.modules)), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stderr.splitlines()[-1].split() if done.stderr.strip() else []


def test_the_version_is_told_without_importing_the_linter(tmp_path):
    assert imported(["--version"], tmp_path) == []


def test_files_without_triton_are_checked_without_the_model_and_the_rules(tmp_path):
    (tmp_path / "plain.py").write_text("x = 1\n")
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "other"\n')
    assert imported(["check", "."], tmp_path) == []


def test_a_configuration_and_a_gitignore_load_their_readers_and_no_more(tmp_path):
    (tmp_path / "plain.py").write_text("x = 1\n")
    (tmp_path / "tritonlint.toml").write_text('ignore = ["TL1"]\n')
    (tmp_path / ".gitignore").write_text("out/\n")
    assert imported(["check", ".", "--select", "TL101"], tmp_path) == ["pathspec", "tomllib"]


# --- the rule command --------------------------------------------------------------------------------


def test_the_table_of_rules(project, tritonlint):
    shown = tritonlint("rule").out.splitlines()
    assert shown[0].split()[:3] == ["SP101", "bare-load", "error"]
    own = ["TL100", "TL111", "TL116", "TL901", "TL902", "TL903"]
    assert [line.split()[0] for line in shown] == ["SP101", "SP102", "SP201", *own]


@pytest.mark.parametrize("word", ["TL902", "tl902", "unused-suppression"])
def test_one_rule_explained(project, tritonlint, word):
    shown = tritonlint("rule", word).out
    assert shown.startswith("unused-suppression (TL902)\n\nSeverity: warning\n\nA comment asks to silence")
    assert "\nWhy is this bad?\n" in shown
    assert "\n    import triton\n" in shown
    assert "```" not in shown


def test_rules_as_markdown_and_json(project, tritonlint):
    markdown = tritonlint("rule", "TL901", "--output-format", "markdown").out
    assert markdown.startswith("# invalid-syntax (TL901)\n")
    assert builtin.InvalidSyntax.documentation() in markdown
    assert "| TL901 | invalid-syntax | error |" in tritonlint("rule", "--output-format", "markdown").out
    one = json.loads(tritonlint("rule", "SP101", "--output-format", "json").out)
    assert (one["code"], one["severity"], one["summary"]) == ("SP101", "error", "A load has no mask.")
    assert len(json.loads(tritonlint("rule", "--output-format", "json").out)) == 9


def test_what_a_program_learns_of_a_rule(tmp_path, monkeypatch, tritonlint):
    monkeypatch.chdir(tmp_path)
    rules = {one["code"]: one for one in json.loads(tritonlint("rule", "--output-format", "json").out)}
    masked, grouped, observed = rules["TL101"], rules["TL602"], rules["TL100"]
    assert (masked["has_fix"], masked["fix_in_example"]) == (True, "safe")
    assert masked["fix_safety"].startswith("A mask that the kernel has at hand")
    assert masked["confirmed_by"].startswith("the access is made on copies between guards")
    assert (grouped["has_fix"], grouped["fix_in_example"]) == (True, None)
    assert (observed["reported_by"], observed["has_fix"], observed["confirmed_by"]) == (
        "confirm",
        False,
        None,
    )
    assert (rules["TL301"]["is_about_speed"], rules["TL302"]["is_about_speed"]) == (True, False)
    assert [code for code, one in rules.items() if not one["can_be_silenced"]] == ["TL901", "TL903"]
    unsettled = [code for code, one in rules.items() if one["confirmed_by"] is None]
    assert unsettled == ["TL100", "TL111", "TL116", "TL901", "TL902", "TL903"]


def test_fixes_of_a_pack_are_seen_in_its_code(project, tritonlint):
    found = json.loads(tritonlint("rule", "--output-format", "json").out)
    facts = {one["code"]: (one["has_fix"], one["fix_in_example"], one["fix_safety"]) for one in found}
    assert facts["SP101"] == (True, None, None)
    assert facts["TL902"][:2] == (True, "safe")


# --- what README.md promises -------------------------------------------------------------------------

README = (Path(__file__).parent.parent / "README.md").read_text("utf-8")


def test_the_example_in_the_readme(tmp_path, monkeypatch, tritonlint):
    monkeypatch.chdir(tmp_path)
    (kernel, remedy, *_) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    (promised,) = re.findall(r"```text\n(.*?)```", README, re.DOTALL)
    (tmp_path / "add.py").write_text(kernel)
    assert tritonlint("check", "add.py").out == promised + "\n"
    repaired = kernel.replace("    y = tl.load(y_ptr + offsets)\n", remedy)
    assert repaired != kernel
    (tmp_path / "add.py").write_text(repaired)
    assert tritonlint("check", "add.py").code == 0


def test_the_configuration_in_the_readme(tmp_path, monkeypatch, tritonlint):
    monkeypatch.chdir(tmp_path)
    (text,) = re.findall(r"```toml\n(.*?)```", README, re.DOTALL)
    (tmp_path / "pyproject.toml").write_text(text)
    (tmp_path / "k.py").write_text("x = 1\n")
    assert tritonlint("check").code == 0
