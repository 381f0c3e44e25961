"""Programs of `fixtures/launches`: what `confirm` says of each of their claims, on a CPU and on a GPU.

A comment on the line on which a finding starts says what its verdict must be: `# verdict: TL101 confirmed`, or
`# verdict: TL501 gpu=confirmed cpu=not-testable`. A program is a file, or a folder with `program.py` and the library
that it uses. Those in `explored/` have what only `--explore` shows, those in `right/` compare their results with
torch's and have nothing to confirm.

Every program runs in a fork of a process that has loaded torch and Triton, which takes most of the time otherwise.
"""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LAUNCHES = ROOT / "fixtures" / "launches"
EVERY_ACCESS = ROOT / "fixtures" / "programs" / "every_access.py"
RIGHT = sorted((LAUNCHES / "right").glob("*.py"))
EXPLORED = sorted((LAUNCHES / "explored").glob("*.py"))
PROGRAMS = sorted(
    [*LAUNCHES.glob("*.py"), *LAUNCHES.glob("*/program.py")],
    key=lambda file: str(file).replace("/program", ""),
)
VERDICT = re.compile(r"# verdict: (.+)$")
SECONDS = 300

FORKS = """import contextlib, json, os, runpy, signal, sys
import torch
import tritonlint.cli, tritonlint.confirm.command, tritonlint.model, tritonlint_rules

torch.testing.assert_close(torch.ones(1), torch.ones(1))  # loads what it needs
for line in sys.stdin:
    target, arguments, output, seconds = json.loads(line)
    child = os.fork()
    if child == 0:
        signal.alarm(seconds)
        with open(output, "w") as file:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
        sys.stdin, sys.argv = open(os.devnull), [target, *arguments]
        status = 0
        try:
            if os.path.exists(target):
                sys.path.insert(0, os.path.dirname(target))
                runpy.run_path(target, run_name="__main__")
            else:
                runpy.run_module(target, run_name="__main__", alter_sys=True)
        except SystemExit as stop:
            status = stop.code or 0
        except BaseException:
            sys.excepthook(*sys.exc_info())
            status = 1
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


def has_gpu():
    try:
        import torch
    except ImportError:
        return False
    return torch.cuda.is_available()


needs_triton = pytest.mark.skipif(
    importlib.util.find_spec("triton") is None or importlib.util.find_spec("torch") is None,
    reason="Triton and torch are not installed",
)
devices = pytest.mark.parametrize(
    "device",
    [
        pytest.param("cpu", marks=needs_triton),
        pytest.param(
            "gpu", marks=pytest.mark.skipif(not has_gpu(), reason="there is no GPU that torch can use")
        ),
    ],
)


def named(file):
    return file.parent.name if file.stem == "program" else file.stem


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Runs a script or a module with arguments; gives its exit status and what it printed."""
    folder = tmp_path_factory.mktemp("launches")
    server = subprocess.Popen(
        [sys.executable, "-c", FORKS],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )

    def ran(target, *arguments):
        output = folder / "output.txt"
        job = [str(target), [str(one) for one in arguments], str(output), SECONDS]
        server.stdin.write(json.dumps(job) + "\n")
        server.stdin.flush()
        status = int(server.stdout.readline())
        return status, output.read_text("utf-8")

    with server:
        yield ran
        server.stdin.close()


def expected(file, device):
    """Path, line, code and verdict of the claims that a program and its library say they have."""
    found = set()
    for one in sorted(file.parent.glob("*.py")) if file.stem == "program" else [file]:
        for number, line in enumerate(one.read_text("utf-8").splitlines(), 1):
            for claim in match[1].split(", ") if (match := VERDICT.search(line)) else []:
                code, *verdicts = claim.split()
                by_device = dict(word.split("=") for word in verdicts if "=" in word)
                verdict = by_device[device] if by_device else verdicts[0]
                found.add((one.relative_to(ROOT).as_posix(), number, code, verdict))
    return found


def confirmed(run, device, file, tmp_path, *options):
    """The exit status of `confirm`, its findings as `expected` has them, and what was said."""
    evidence = tmp_path / "e.json"
    status, said = run(
        "tritonlint",
        "confirm",
        "--device",
        device,
        "--evidence",
        evidence,
        *options,
        file.relative_to(ROOT),
    )
    print(said)  # noqa: T201 - figures, for whoever runs this with -s
    assert evidence.exists(), said
    assert "experiment failed" not in said
    assert "could not be" not in said
    findings = json.loads(evidence.read_bytes())["findings"]
    return status, {(one["path"], one["line"], one["code"], one["verdict"]) for one in findings}, said


@devices
@pytest.mark.parametrize("file", PROGRAMS, ids=named)
def test_every_claim_gets_its_verdict(run, file, device, tmp_path):
    status, found, said = confirmed(run, device, file, tmp_path)
    assert found == expected(file, device), said
    assert status == any(verdict == "confirmed" for *_, verdict in found), said


@devices
@pytest.mark.parametrize("file", EXPLORED, ids=named)
def test_exploring_shows_what_nothing_claims(run, file, device, tmp_path):
    status, found, said = confirmed(run, device, file, tmp_path, "--explore")
    assert found == expected(file, device), said
    assert status == 1
    status, found, said = confirmed(run, device, file, tmp_path)
    assert (status, found) == (0, set()), said


@devices
@pytest.mark.parametrize("file", RIGHT, ids=named)
def test_right_programs_have_nothing_to_confirm(run, file, device, tmp_path):
    status, found, said = confirmed(run, device, file, tmp_path, "--explore")
    assert {claim for claim in found if claim[-1] == "confirmed"} == set(), said
    assert status == 0, said


@devices
@pytest.mark.parametrize("file", RIGHT, ids=named)
def test_right_programs_stay_inside_their_tensors(run, file, device):
    _, said = run(EVERY_ACCESS, device, file)
    answer = next(json.loads(line) for line in said.splitlines() if line.startswith('{"program"'))
    assert (answer["status"], answer["bad"]) == (0, []), said
    assert answer["lanes"] > 0


def test_each_pitfall_is_there_as_true_and_as_not_true():
    for device, pitfalls in (("cpu", "1234"), ("gpu", "123456")):
        claims = {(code[2], verdict) for file in PROGRAMS for *_, code, verdict in expected(file, device)}
        wanted = {(one, verdict) for one in pitfalls for verdict in ("confirmed", "refuted")}
        assert wanted - claims == set(), device


def test_right_programs_claim_nothing():
    assert RIGHT
    assert [claim for file in RIGHT for claim in expected(file, "cpu")] == []
