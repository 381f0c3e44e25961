"""The action, the GitLab job, and what the documentation on both and on JSON says, run as a reader would."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from conftest import KERNEL, PACKS

from tritonlint.finding import Confidence, Finding, Position, Range, Severity
from tritonlint.output import FORMATS
from tritonlint.output.json import as_object

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).parent.parent
ACTION = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
JOB = yaml.safe_load((ROOT / "ci" / "gitlab" / "tritonlint.yml").read_text("utf-8"))["tritonlint"]
CI = (ROOT / "docs" / "ci.md").read_text("utf-8")
MACHINES = (ROOT / "docs" / "machine-readable.md").read_text("utf-8")

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a shell of POSIX")

SHIM = f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m tritonlint "$@"\n'
"""What pip would have installed."""

PYTHON = """\
#!/bin/sh
echo "$*" >> "$CALLS"
case "$1 $2" in
  "-c import"*) exit "$TOO_OLD" ;;
  "-m venv") mkdir -p "$3/bin"; cp "$0" "$3/bin/python"; cp "$SHIM" "$3/bin/tritonlint" ;;
esac
"""
"""A Python that makes environments and installs without a network, and notes what it was asked."""


def executable(file, text):
    file.parent.mkdir(exist_ok=True)
    file.write_text(text, encoding="utf-8")
    file.chmod(0o755)
    return file


@pytest.fixture
def runner(project):
    """The environment of a job, and a project with a finding in `src/k.py` and in `my kernels/k.py`."""
    for folder in ("src", "my kernels"):
        (project / folder).mkdir()
        (project / folder / "k.py").write_text(KERNEL)
    work = project / "work"
    for name in ("python", "python3"):
        executable(work / name, PYTHON)
    return {
        **os.environ,
        "PATH": f"{work}:{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join([str(PACKS), os.environ.get("PYTHONPATH", "")]),
        "CALLS": str(work / "calls"),
        "SHIM": str(executable(work / "shim", SHIM)),
        "TOO_OLD": "0",
    }


# --- the action --------------------------------------------------------------------------------------


class Ran(NamedTuple):
    """What the steps of the action left behind."""

    code: int
    out: str
    outputs: dict[str, dict[str, str]]
    summary: str
    installed: str

    @property
    def uploads(self):
        return self.outputs.get("check", {}).get("sarif", "")


def evaluated(expression, inputs, outputs):
    """`${{ inputs.x }}` and `${{ steps.x.outputs.y }}`."""

    def value(found):
        kind, name, *rest = found[1].split(".")
        return inputs[name] if kind == "inputs" else outputs[name].get(rest[1], "")

    return re.sub(r"\$\{\{ (\S+) \}\}", value, expression)


def act(environment, **given):
    """Run the shell steps of the action one after the other, as the runner does."""
    work = Path(environment["CALLS"]).parent
    inputs = {name: spec["default"] for name, spec in ACTION["inputs"].items()} | given
    outputs, shown, code = {}, "", 0
    summary = work / "summary.md"
    for step in ACTION["runs"]["steps"]:
        if "run" not in step or code:
            continue
        assert step["shell"] == "bash"
        file = work / f"output-{step['id']}"
        file.touch()
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]],
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
            env={
                **environment,
                **{name: evaluated(text, inputs, outputs) for name, text in step["env"].items()},
                "GITHUB_OUTPUT": str(file),
                "GITHUB_STEP_SUMMARY": str(summary),
                "GITHUB_ACTION_PATH": "/the/action",
                "RUNNER_TEMP": str(work),
            },
        )
        outputs[step["id"]] = dict(line.split("=", 1) for line in file.read_text().splitlines())
        shown += done.stdout + done.stderr
        code = done.returncode
    said = summary.read_text("utf-8") if summary.exists() else ""
    return Ran(code, shown, outputs, said, (work / "calls").read_text().splitlines()[-1])


def test_the_action_annotates_and_sums_up(runner):
    ran = act(runner, paths="src\n")
    assert ran.code == 1, ran.out
    assert "::error file=src/k.py,line=8,endLine=8,col=9" in ran.out
    assert ran.summary.startswith("## tritonlint: 1 finding in 1 file\n")
    assert ran.outputs["check"] == {"exit-code": "1"}
    assert ran.installed.endswith("pip install --quiet --disable-pip-version-check /the/action")


def test_the_action_without_findings(runner):
    ran = act(runner, args="--ignore ALL")
    assert (ran.code, ran.summary) == (0, "## tritonlint: no findings\n")
    assert ran.outputs["check"] == {"exit-code": "0"}


def test_the_action_takes_paths_line_by_line_and_options_by_words(runner):
    ran = act(runner, paths="src\nmy kernels\n\n", args="--min-confidence  low\n --select SP101,SP201")
    assert "4 findings in 2 files" in ran.out
    assert "file=my kernels/k.py" in ran.out


def test_the_action_writes_sarif_and_has_it_uploaded(runner):
    ran = act(runner, sarif="out.sarif")
    assert (ran.code, ran.uploads) == (1, "out.sarif")
    assert json.loads(Path("out.sarif").read_bytes())["version"] == "2.1.0"
    (upload,) = [step for step in ACTION["runs"]["steps"] if "uses" in step]
    assert upload["if"] == "always() && steps.check.outputs.sarif != ''"
    assert upload["with"]["sarif_file"] == "${{ steps.check.outputs.sarif }}"


@pytest.mark.parametrize(("fail", "code"), [("true", 1), ("false", 0)])
def test_the_action_fails_for_findings_if_it_is_to(runner, fail, code):
    ran = act(runner, fail=fail)
    assert (ran.code, ran.outputs["check"]["exit-code"]) == (code, "1")


def test_the_action_always_fails_for_what_it_cannot_do(runner):
    ran = act(runner, fail="false", args="--select TL999", sarif="out.sarif")
    assert (ran.code, ran.uploads) == (2, "")
    assert "there is no rule `TL999`" in ran.out
    old = act({**runner, "TOO_OLD": "1"})
    assert old.code == 2
    assert "::error::tritonlint needs Python 3.11 or newer" in old.out


def test_the_action_installs_a_version(runner):
    assert act(runner, version="0.1.0").installed.endswith(" tritonlint==0.1.0")


@pytest.mark.parametrize("name", ["paths", "args", "version", "sarif", "fail"])
def test_no_input_of_the_action_is_run_by_the_shell(runner, name):
    act(runner, **{name: '$(touch hacked); `touch hacked`; " && touch hacked; * #'})
    assert not Path("hacked").exists()
    for step in ACTION["runs"]["steps"]:
        assert "${{" not in step.get("run", "")


# --- GitLab ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shell", [("bash", "-eo", "pipefail"), ("sh", "-e")], ids=["bash", "sh"])
def test_the_gitlab_job(runner, shell):
    executable(Path(runner["CALLS"]).parent / "tritonlint", SHIM)
    variables = {**JOB["variables"], "TRITONLINT_PATHS": "src *", "TRITONLINT_ARGS": "--min-confidence low"}
    done = subprocess.run(
        [*shell, "-c", "\n".join([*JOB["before_script"], *JOB["script"]])],
        env=runner | variables,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2  # for `*`, which stays a word and is no path
    assert "tritonlint: *: cannot be read" in done.stderr
    assert "src/k.py:8:9: error SP101 bare-load" in done.stdout
    report = JOB["artifacts"]["reports"]["codequality"]
    assert {one["check_name"] for one in json.loads(Path(report).read_bytes())} == {"SP101", "SP201"}
    assert JOB["artifacts"]["when"] == "always"
    assert Path(runner["CALLS"]).read_text() == "-m pip install --quiet tritonlint\n"


@pytest.mark.parametrize(("args", "code"), [("", 1), ("--ignore ALL", 0)])
def test_the_gitlab_job_fails_for_findings(runner, args, code):
    executable(Path(runner["CALLS"]).parent / "tritonlint", SHIM)
    variables = {**JOB["variables"], "TRITONLINT_ARGS": args}
    done = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", "\n".join(JOB["script"])],
        env=runner | variables,
        capture_output=True,
        check=False,
    )
    assert done.returncode == code
    assert bool(json.loads(Path("gl-code-quality-report.json").read_bytes())) is bool(code)


# --- what is documented ------------------------------------------------------------------------------


def commands(page):
    """The lines of a page that call the program, without what they are piped into."""
    indented = re.findall(r"^ {4}(tritonlint .*)$", page, re.MULTILINE)
    quoted = re.findall(r"sh '(tritonlint .*)'$", page, re.MULTILINE)
    folded = [
        " ".join(step["run"].split())
        for block in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
        for step in _steps(yaml.safe_load(block))
        if step.get("run", "").startswith("tritonlint")
    ]
    return [line.split(" | ")[0].split("#")[0].strip() for line in (*indented, *quoted, *folded)]


def _steps(document):
    return document if isinstance(document, list) else []


@pytest.mark.parametrize("line", [one for one in commands(CI) + commands(MACHINES) if " confirm " not in one])
def test_every_command_of_the_pages_runs(runner, project, line):
    executable(Path(runner["CALLS"]).parent / "tritonlint", SHIM)
    Path("evidence.json").write_text('{"tritonlint-evidence": 1, "findings": []}')
    Path("kernel.py").write_text(KERNEL)
    line = line.replace("TL101", "SP101")  # the project has the rules of the tests
    environment = {**runner, "GITHUB_STEP_SUMMARY": str(project / "summary.md")}
    done = subprocess.run(["bash", "-c", line], env=environment, capture_output=True, text=True, check=False)
    expected = 1 if " check " in line and "--exit-zero" not in line else 0
    assert done.returncode == expected, done.stderr
    if "--output-format json" in line and ":" not in line:
        json.loads(done.stdout)
    for file in re.findall(r"--output-format \w+:(\w[\w.]+)", line):
        assert Path(file).stat().st_size


def test_the_pages_hold_commands_and_know_every_format():
    assert len(commands(CI)) >= 5
    assert len(commands(MACHINES)) >= 5
    readme = (ROOT / "README.md").read_text("utf-8")
    for name in FORMATS:
        assert f"`{name}`" in CI or name in ("full", "concise")
        assert f"`{name}`" in readme


def test_the_page_on_ci_knows_every_input_and_variable():
    table = CI[CI.index("| input |") : CI.index("Without the action:")]
    assert set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)) == set(ACTION["inputs"])
    for block in re.findall(r"```yaml\n(.*?)```", CI, re.DOTALL):
        yaml.safe_load(block)
    (including,) = [text for text in re.findall(r"```yaml\n(.*?)```", CI, re.DOTALL) if "include:" in text]
    assert set(yaml.safe_load(including)["tritonlint"]["variables"]) <= set(JOB["variables"])


def fields(heading):
    """The names in the first column of the table below a heading."""
    table = MACHINES[MACHINES.index(f"\n## {heading}\n") :].split("\n\n")[1:3]
    rows = [line.split("|")[1] for part in table for line in part.splitlines() if line.startswith("|")]
    return {name for row in rows for name in re.findall(r"`(\w+)`", row)}


def test_every_field_is_documented(project, tritonlint):
    start = Position(1, 1)
    finding = Finding("X1", "x", "x", Severity.NOTE, Confidence.LOW, "x.py", Range(start, start))
    assert fields("A finding") == set(as_object(finding))
    rule = json.loads(tritonlint("rule", "SP101", "--output-format", "json").out)
    assert fields("A rule") == set(rule)


TWO_LOADS = """\
import triton
import triton.language as tl


@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    x = tl.load(x_ptr + offsets, mask=inside)
    é, y = 1, tl.load(y_ptr + offsets)
    z = tl.load(y_ptr + offsets)
    tl.store(out_ptr + offsets, x + y + z * é, mask=inside)
"""


def test_the_example_applies_safe_fixes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (example,) = re.findall(r"```python\n(.*?)```", MACHINES, re.DOTALL)
    Path("add.py").write_bytes(TWO_LOADS.replace("\n", "\r\n").encode())
    executable(tmp_path / "bin" / "tritonlint", SHIM)
    environment = {**os.environ, "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}
    done = subprocess.run(
        [sys.executable, "-c", example, "add.py"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    masked = TWO_LOADS.replace("tl.load(y_ptr + offsets)", "tl.load(y_ptr + offsets, mask=inside)")
    assert Path("add.py").read_bytes().decode() == masked.replace("\n", "\r\n")
    assert done.stdout == ""
