"""The runtime mode without a GPU: programs are run by the interpreter, kernels compiled for a GPU that is not there.

Every run is a process of its own, as for a user. What needs a GPU is in `test_confirm_gpu.py`.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import zlib

import pytest

from measures import cases
from tritonlint.config import SettingsFinder
from tritonlint.evidence import Evidence, EvidenceError, digest, read
from tritonlint.finding import Verdict
from tritonlint.fixer import fix
from tritonlint.run import check_paths

PROGRAMS = cases.CASES.parent / "programs"
CORE = PROGRAMS / "core_cases.py"

needs_triton = pytest.mark.skipif(
    importlib.util.find_spec("triton") is None or importlib.util.find_spec("torch") is None,
    reason="Triton and torch are not installed",
)


def tritonlint(folder, *arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "tritonlint", *map(str, arguments)],
        cwd=folder,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        **options,
    )


# --- verdicts on the cases ---------------------------------------------------------------------------

VERDICTS = {
    "p1-block-local-mask": {("TL102", "confirmed")},
    "p1-decay-row-tail": {("TL101", "confirmed")},
    "p1-even-k-parity": {("TL101", "confirmed")},
    "p1-helper-scale-tail": {("TL101", "confirmed")},
    "p1-memset-rounded-up": {("TL101", "confirmed")},
    "p1-packed-weight-tail": {("TL102", "confirmed")},
    "p2-hidden-7168": {("TL201", "confirmed")},
    "p2-min-with-rank": {("TL202", "not-reached")},
    "p3-atomic-partial-sums": {("TL302", "confirmed")},
    "p3-exact-cache-length-key": {("TL303", "confirmed")},
    "p3-inplace-scale": {("TL302", "confirmed")},
    "p4-batch-count": {("TL401", "confirmed")},
    "p4-extent-not-constexpr": {("TL402", "confirmed")},
    "p5-half-accumulator": {("TL501", "not-testable")},
}


@pytest.fixture(scope="session")
def confirmed(tmp_path_factory):
    """The evidence of a run over many cases, and what the run said."""
    folder = tmp_path_factory.mktemp("confirm")
    arguments = ["--device", "cpu", "--evidence", folder / "e.json", "--report", folder / "r.html"]
    done = tritonlint(
        cases.CASES.parent.parent,
        "confirm",
        *arguments,
        "--output-file",
        folder / "found.txt",
        CORE,
        cases.CASES,
        *VERDICTS,
    )
    assert (folder / "e.json").exists(), done.stderr
    return done, folder


@needs_triton
def test_every_case_gets_its_verdict(confirmed):
    _, folder = confirmed
    found = {}
    for one in json.loads((folder / "e.json").read_bytes())["findings"]:
        found.setdefault(one["path"].split("/")[-2], set()).add((one["code"], one["verdict"]))
    assert found == VERDICTS


@needs_triton
def test_the_program_keeps_its_output_and_confirmed_findings_fail(confirmed):
    done, _ = confirmed
    assert done.returncode == 1
    assert "p1-memset-rounded-up ran\n" in done.stdout
    assert "p2-hidden-7168 failed:" in done.stdout  # it does not compile, with `confirm` or without
    assert "863 of 1,024 lanes outside `buf`, up to 863 elements behind its end" in done.stderr


@needs_triton
def test_the_report_is_one_page_with_sources_and_plots(confirmed):
    _, folder = confirmed
    page = (folder / "r.html").read_text("utf-8")
    assert page.count("<article") == len(json.loads((folder / "e.json").read_bytes())["findings"])
    assert "tl.store(buf + at, value)" in page
    assert page.count("<svg") >= 8
    assert "http" not in page.replace("http-equiv", "")  # nothing is fetched


@needs_triton
def test_compilations_end_when_their_time_is_over(tmp_path):
    arguments = [
        "--device",
        "cpu",
        "--seconds",
        "0.1",
        "--select",
        "TL401",
        "--evidence",
        tmp_path / "e.json",
    ]
    done = tritonlint(cases.CASES.parent.parent, "confirm", *arguments, CORE, cases.CASES, "p4-batch-count")
    assert done.returncode == 1, done.stderr
    (one,) = json.loads((tmp_path / "e.json").read_bytes())["findings"]
    assert one["text"].startswith("2 compilations and ")
    assert "for 2 values" in one["text"]


CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def chromium(folder, *arguments):
    command = [
        CHROMIUM,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        f"--user-data-dir={folder / 'profile'}",
    ]
    return subprocess.run(
        [*command, *map(str, arguments)], capture_output=True, check=True, timeout=120
    ).stdout


def rows_of(png):
    """The lines of pixels of a PNG, filtered as they are; equal ones are blank paper, by and large."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    at, data = 8, b""
    while at < len(png):
        size, kind = int.from_bytes(png[at : at + 4], "big"), png[at + 4 : at + 8]
        if kind == b"IHDR":
            height = int.from_bytes(png[at + 12 : at + 16], "big")
        data += png[at + 8 : at + 8 + size] if kind == b"IDAT" else b""
        at += 12 + size
    pixels = zlib.decompress(data)
    width = len(pixels) // height
    return [pixels[row * width : (row + 1) * width] for row in range(height)]


@needs_triton
@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
def test_the_report_shows_in_a_browser_and_on_paper(confirmed, tmp_path):
    _, folder = confirmed
    page = (folder / "r.html").as_uri()
    shown = chromium(tmp_path, "--dump-dom", page).decode()
    assert shown.count("<article") == len(json.loads((folder / "e.json").read_bytes())["findings"])
    assert shown.count("<svg") >= 8
    chromium(tmp_path, f"--screenshot={tmp_path / 'page.png'}", "--window-size=1100,2400", page)
    rows = rows_of((tmp_path / "page.png").read_bytes())
    assert len(rows) == 2400
    assert len(set(rows)) > 800  # text and plots from top to bottom
    chromium(tmp_path, f"--print-to-pdf={tmp_path / 'page.pdf'}", page)
    assert (tmp_path / "page.pdf").read_bytes().startswith(b"%PDF")


@needs_triton
def test_evidence_is_merged_and_dies_with_the_kernel(confirmed, tmp_path):
    _, folder = confirmed
    evidence = read([folder / "e.json"])
    case = cases.CASES / "p1-memset-rounded-up"
    (finding,) = check_paths([case / "bad.py"]).findings
    (merged,) = evidence.merged([finding])
    assert merged.verdict is Verdict.CONFIRMED
    assert "863 of 1,024 lanes" in merged.evidence
    text = (case / "bad.py").read_bytes()
    (same,) = evidence.merged([finding], lambda path: b"# a comment\n" + text)
    assert same.verdict is Verdict.CONFIRMED
    (gone,) = evidence.merged([finding], lambda path: text.replace(b"tl.store(buf", b"tl.store(1 + buf"))
    assert (gone.verdict, gone.evidence) == (Verdict.UNTESTED, None)


@needs_triton
def test_fixed_kernels_stay_in_bounds_and_give_the_same_results(tmp_path):
    names = [folder.name for folder in cases.folders() if folder.name.startswith("p1-")]
    whole = []
    for name in names:
        copy = tmp_path / name
        copy.mkdir()
        (copy / "bad.py").write_bytes((cases.CASES / name / "bad.py").read_bytes())
        fix(check_paths([copy]).findings, SettingsFinder(), lambda path, copy=copy: copy, unsafe=True).write()
        whole += [] if check_paths([copy]).findings else [name]
    assert len(whole) >= 6  # the other three are named in test_fixes.py
    done = subprocess.run(
        [sys.executable, PROGRAMS / "in_bounds.py", tmp_path, cases.CASES, *whole],
        capture_output=True,
        text=True,
        check=True,
    )
    answers = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert [one["case"] for one in answers] == whole
    assert [(one["case"], one["bad"], one["same"]) for one in answers if one["bad"] or not one["same"]] == []
    assert all(one["lanes"] for one in answers)


# --- programs ----------------------------------------------------------------------------------------

PROGRAM = """import sys
import torch
import triton
import triton.language as tl


@triton.jit
def read_one(x_ptr, at):
    return tl.load(x_ptr + at)


@triton.jit
def add(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = read_one(x_ptr, at)
    tl.store(y_ptr + at, value + 1, mask=at < n)


def run(x):
    y = torch.zeros_like(x)
    add[(triton.cdiv(x.numel(), 64),)](x, y, x.numel(), BLOCK=64)
    return y


if __name__ == "__main__":
    torch.manual_seed(0)
    for size in map(int, sys.argv[1:]):
        x = torch.rand(size, device="cuda")
        print(size, bool((run(x) == x + 1).all()), torch.rand(1).item())
    names = sorted(name for name in globals() if not name.startswith("__"))
    print(names)
    sys.exit(7)
"""


@pytest.fixture
def program(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    (tmp_path / "tritonlint.toml").write_text("", encoding="utf-8")
    return tmp_path


def verdicts(folder, *arguments):
    done = tritonlint(folder, "confirm", "--device", "cpu", "--evidence", "e.json", *arguments)
    return done, {one.line: one for one in read([folder / "e.json"]).entries.values()}


@needs_triton
def test_a_helper_is_seen_and_the_exit_status_is_the_program_s(program):
    done, found = verdicts(program, "program.py", "100", "128")
    assert done.returncode == 7
    assert found[9].verdict is Verdict.CONFIRMED
    assert found[9].text.startswith("28 of 128 lanes outside `x_ptr`, up to 28 elements behind its end")
    assert found[9].details["program"] == [1]
    assert found[9].details["by_program"] == [0, 28]


@needs_triton
def test_whole_blocks_settle_nothing(program):
    _, found = verdicts(program, "program.py", "128", "192")
    assert {one.verdict for one in found.values()} == {Verdict.NOT_REACHED}
    assert found[9].text == "none of 128 lanes outside, but every size is a whole number of blocks"


@needs_triton
def test_padded_tensors_refute_and_a_refuted_finding_fails_no_build(program):
    (program / "padded.py").write_text(
        "import program, torch\nx = torch.ones(128)\nprogram.add[(2,)](x, x, 100, BLOCK=64)\n", "utf-8"
    )
    _, found = verdicts(program, "padded.py")
    assert {one.verdict for one in found.values()} == {Verdict.REFUTED}
    assert {one.verdict for one in found.values()} == {Verdict.REFUTED}
    assert tritonlint(program, "check", "--no-cache", "program.py").returncode == 1
    checked = tritonlint(program, "check", "--no-cache", "--evidence", "e.json", "program.py")
    assert checked.returncode == 0
    assert "refuted: none of 128 lanes outside" in checked.stdout


@needs_triton
def test_results_random_numbers_and_names_are_the_program_s_own(program):
    """The user's tensors, random numbers and modules are as they would be without experiments."""
    done, _ = verdicts(program, "program.py", "100", "100")
    plain = tritonlint(program, "confirm", "--device", "cpu", "--select", "TL601", "program.py", "100", "100")
    assert "100 True" in done.stdout
    assert done.stdout.splitlines()[:3] == plain.stdout.splitlines()[:3]
    assert "['add', 'read_one', 'run', 'size', 'sys', 'tl', 'torch', 'triton', 'x']" in done.stdout


@needs_triton
def test_what_is_not_launched_is_not_reached(program):
    _, found = verdicts(program, "program.py")
    assert {(one.verdict, one.text) for one in found.values()} == {
        (Verdict.NOT_REACHED, "its kernel was not launched")
    }


@needs_triton
def test_a_module_is_run_as_python_does(program):
    (program / "other.py").write_text("import program\nprogram.run(program.torch.zeros(100))\n", "utf-8")
    done, found = verdicts(program, "-m", "other")
    assert (done.returncode, found[9].verdict) == (1, Verdict.CONFIRMED)


@needs_triton
def test_verdicts_go_to_several_formats_and_a_file_that_fails_stops_none(program):
    (program / "folder.json").mkdir()  # cannot be written, and nobody can tell before it is tried
    (program / "other.py").write_text(
        "import os, program\nos.mkdir('away')\nos.chdir('away')\nprogram.run(program.torch.zeros(100))\n",
        "utf-8",
    )
    formats = ("sarif:folder.json", "gitlab:found.json", "concise:found.txt", "markdown")
    words = [word for one in formats for word in ("--output-format", one)]
    done, _ = verdicts(program, *words, "-m", "other")
    assert done.returncode == 2, done.stderr
    assert "cannot write to" in done.stderr
    assert "folder.json: Is a directory" in done.stderr
    assert "1 finding: 1 confirmed" in done.stderr
    assert json.loads((program / "found.json").read_bytes())[0]["check_name"] == "TL101"
    assert (program / "found.txt").read_text().startswith("program.py:9:12: error TL101")
    assert "  - confirmed: 28 of 128 lanes outside `x_ptr`" in done.stdout


@pytest.mark.parametrize(
    ("formats", "said"),
    [
        (("full", "json"), "only one of `full` and `json` can go to standard output"),
        (("full", "json:gone/out.json"), "out.json cannot be written: there is no such folder"),
    ],
)
def test_what_cannot_be_written_is_refused_before_the_program_runs(program, formats, said):
    words = [word for one in formats for word in ("--output-format", one)]
    done = tritonlint(program, "confirm", *words, "program.py")
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


@needs_triton
def test_a_program_that_fails_shows_its_own_traceback(program):
    (program / "broken.py").write_text("import program\nraise KeyError('mine')\n", "utf-8")
    done = tritonlint(program, "confirm", "--device", "cpu", "broken.py")
    assert done.returncode == 1
    assert "KeyError: 'mine'" in done.stderr
    assert "tritonlint/confirm" not in done.stderr


HOSTILE = """import os
import program
import torch

print(os.path.isabs(__file__), os.path.isabs(program.__file__))
os.chdir("/")
program.run(torch.ones(100, device="cuda"))
os.environ["TRITON_INTERPRET"] = "1"
import importlib
importlib.reload(program).run(torch.ones(100))
import io, sys
sys.stdout = io.StringIO()
sys.stderr = None
"""


@needs_triton
def test_a_program_may_go_elsewhere_and_close_its_streams(program):
    (program / "hostile.py").write_text(HOSTILE, "utf-8")
    done, found = verdicts(program, "hostile.py")
    assert done.returncode == 1
    assert found[9].verdict is Verdict.CONFIRMED
    assert "True True" in done.stdout
    assert "confirmed  28 of 128 lanes" in done.stderr
    assert "(2 launches, interpreter)" in done.stderr


@needs_triton
def test_evidence_is_written_where_the_output_cannot_be(program):
    (program / "closing.py").write_text(
        "import program, sys\nprogram.run(program.torch.ones(100))\nsys.stdout.close()\n"
    )
    done, found = verdicts(program, "closing.py")
    assert (done.returncode, found[9].verdict) == (2, Verdict.CONFIRMED)
    assert "cannot write to standard output: it is closed" in done.stderr


@needs_triton
def test_a_module_gets_all_that_follows_it(program):
    (program / "shown.py").write_text("import sys\nprint(sys.argv[1:])\n", "utf-8")
    done = tritonlint(program, "confirm", "--device", "cpu", "-m", "shown", "-m", "--select", "x", "--", "-h")
    assert "['-m', '--select', 'x', '--', '-h']" in done.stdout


VALUES = """import torch
import triton
import triton.language as tl


@triton.jit
def blend(x, y, n, weight, is_on, BLOCK: tl.constexpr):
    wide = weight.to(tl.float32)
    for step in range(0, 2):
        at = step.to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
        tl.store(y + at, tl.load(x + at, mask=is_on & (at < n), other=7.0) * wide, mask=at < n)


y = torch.zeros(100)
blend[(1,)](torch.ones(100), y, 100, 0.5, True, BLOCK=64)
print(y.sum().item(), triton.testing.do_bench(lambda: None))
blend[(1,)](torch.ones(100), y, 100, 2.0, False, BLOCK=64)
print(y.sum().item())
"""


@needs_triton
def test_numbers_flags_and_loop_variables_are_values_of_the_device(program):
    (program / "values.py").write_text(VALUES, "utf-8")
    done = tritonlint(program, "confirm", "--device", "cpu", "values.py")
    assert done.returncode == 0, done.stderr
    assert "50.0 1000.0\n1400.0\n" in done.stdout


TABLE = """import torch
import triton
import triton.language as tl


@triton.jit
def sums(table, sizes, out, BLOCK: tl.constexpr):
    which = tl.program_id(0)
    at = tl.load(table + which).to(tl.pointer_type(tl.float32))
    offsets = tl.arange(0, BLOCK)
    tl.store(out + which, tl.sum(tl.load(at + offsets)))


@triton.jit
def first(pair, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(pair[0] + at) + tl.load(pair[1] + at))


parts = [torch.ones(64), torch.full((64,), 2.0)]
table = torch.tensor([part.data_ptr() for part in parts])
out = torch.zeros(2)
sums[(2,)](table, table, out, BLOCK=64)
print(out.tolist())
other = torch.zeros(64)
first[(1,)]((parts[0], parts[1]), other, BLOCK=64)
print(other.sum().item())
"""


@needs_triton
def test_pointers_from_tables_and_tuples_work_as_ever(program):
    (program / "table.py").write_text(TABLE, "utf-8")
    done = tritonlint(program, "confirm", "--device", "cpu", "table.py")
    assert "[64.0, 128.0]\n192.0\n" in done.stdout


TWICE = """import torch
import triton
import triton.language as tl


def make(masked):
    if masked:
        @triton.jit
        def copy(x, y, n, BLOCK: tl.constexpr):
            at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
            tl.store(y + at, tl.load(x + at, mask=at < n), mask=at < n)
    else:
        @triton.jit
        def copy(x, y, n, BLOCK: tl.constexpr):
            at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
            a, b = tl.load(x + at, mask=at < n), tl.load(x + at)
            tl.store(y + at, a + b, mask=at < n)
    return copy


def run(kernel, n):
    x, y = torch.ones(n), torch.zeros(n)
    kernel[(triton.cdiv(n, 64),)](x, y, n, BLOCK=64)


for size in (64, 100, 128, 150):
    run(make(True), size)
run(make(False), 100)
"""


@needs_triton
def test_kernels_of_one_name_are_kept_apart_and_columns_count(program):
    (program / "twice.py").write_text(TWICE, "utf-8")
    _, found = verdicts(program, "twice.py")
    assert {(line, one.verdict, one.details["lanes"]) for line, one in found.items()} == {
        (16, Verdict.CONFIRMED, 128)
    }


HELPER_FIXED = """import sys
from pathlib import Path

import torch
from core_cases import CALLS, load

from tritonlint.confirm import backends
from tritonlint.confirm.experiment import Lab
from tritonlint.confirm.experiments.compiling import compile_error
from tritonlint.confirm.launches import bound
from tritonlint.confirm.rewritten import fixed
from tritonlint.run import check_paths

backend = backends.choose("cpu", 60.0, None)
file = Path(sys.argv[1], "p5-qk-in-half", "bad.py")
(finding,) = [one for one in check_paths([file]).findings if one.code == "TL501"]
kernel = load(file).flash_fwd_kernel
q = torch.zeros(1, 1, 64, 64, dtype=torch.float16)
launch = bound(kernel, (q, q, q, q, 64, 0.1), {"M": 64, "N": 64, "D": 64}, (1, 1))
better = fixed(finding, launch)
helper = better.function.fn.__globals__[finding.kernel]
print(finding.kernel, "float32" in helper.src, helper.src != kernel.fn.__globals__[finding.kernel].src)
print(compile_error(better, Lab(backend)))
"""


@needs_triton
def test_a_kernel_is_tried_with_the_fix_of_its_helper(program):
    (program / "helper.py").write_text(HELPER_FIXED, "utf-8")
    done = subprocess.run(
        [sys.executable, "helper.py", cases.CASES],
        cwd=program,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(PROGRAMS), *filter(None, sys.path)])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "_online_step True True\nNone\n", done.stderr


@needs_triton
def test_tensors_say_that_they_are_on_a_gpu(program):
    (program / "where.py").write_text(
        "import torch\nx = torch.ones(3, device='cuda:0')\nassert x.is_cuda and x.cuda() is x\n", "utf-8"
    )
    done = tritonlint(program, "confirm", "--device", "cpu", "where.py")
    assert done.returncode == 0, done.stderr


@needs_triton
def test_sources_are_in_the_report_wherever_the_program_goes(program):
    (program / "gone.py").write_text(
        "import os, program\nprogram.run(program.torch.ones(100))\nos.chdir('/')\n", "utf-8"
    )
    done = tritonlint(program, "confirm", "--device", "cpu", "--report", "r.html", "gone.py")
    assert "return tl.load(x_ptr + at)" in (program / "r.html").read_text("utf-8")
    assert "9 |     return tl.load(x_ptr + at)" in done.stdout


@needs_triton
def test_pytest_reports_and_workers_merge(program):
    (program / "test_it.py").write_text(
        "import pytest, program\n@pytest.mark.parametrize('n', [100, 128, 64])\n"
        "def test_it(n): program.run(program.torch.ones(n, device='cuda'))\n",
        "utf-8",
    )
    texts = []
    for name, extra in (("one.json", []), ("two.json", ["-n2"])):
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "pytest",
                "-q",
                "--tritonlint",
                "--tritonlint-device=cpu",
                f"--tritonlint-evidence={name}",
                *extra,
                "test_it.py",
            ],
            cwd=program,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert "28 of 128 lanes outside `x_ptr`" in done.stdout
        texts.append({(one.line, one.verdict) for one in read([program / name]).entries.values()})
    assert texts[0] == texts[1]
    silent = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--collect-only", "test_it.py"],
        cwd=program,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "tritonlint" not in silent.stdout


# --- what needs no Triton ----------------------------------------------------------------------------


def test_without_triton_the_message_says_what_to_install(program):
    script = "import sys; sys.modules['triton'] = None; from tritonlint.cli import main; main(sys.argv[1:])"
    done = subprocess.run(
        [sys.executable, "-c", script, "confirm", "program.py"],
        cwd=program,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "pip install 'tritonlint[confirm]'" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "give a script, or a module with `-m`"),
        (["nowhere.py"], "there is no script `nowhere.py`"),
        (["--evidence", "nowhere/e.json", "program.py"], "there is no such folder"),
        (["--select", "TL99x", "program.py"], "TL99x"),
    ],
)
def test_what_cannot_be_run(program, arguments, said):
    done = tritonlint(program, "confirm", *arguments)
    assert (done.returncode, said in done.stderr) == (2, True)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"tritonlint-evidence": 99, "findings": []}', "\xff"])
def test_what_is_no_evidence(tmp_path, text):
    file = tmp_path / "e.json"
    file.write_bytes(text.encode("latin-1"))
    with pytest.raises(EvidenceError, match=r"e\.json"):
        read([file])
    done = tritonlint(tmp_path, "check", "--evidence", file, ".")
    assert (done.returncode, "not the evidence" in done.stderr) == (2, True)


def test_evidence_survives_its_file(tmp_path):
    (finding, *_) = check_paths([cases.CASES / "p1-memset-rounded-up"]).findings
    from tritonlint.evidence import Entry

    subject = digest((cases.CASES / "p1-memset-rounded-up" / "bad.py").read_bytes(), finding.kernel)
    assert subject
    evidence = Evidence()
    for verdict in (Verdict.REFUTED, Verdict.CONFIRMED, Verdict.NOT_REACHED):
        text, line = f"said {verdict}", finding.range.start.line
        evidence.add(
            Entry(
                finding.fingerprint,
                finding.code,
                finding.kernel,
                finding.path,
                line,
                verdict,
                text,
                "x",
                subject,
            )
        )
    evidence.write(tmp_path / "e.json")
    (merged,) = read([tmp_path / "e.json"]).merged([finding])
    assert (merged.verdict, merged.evidence) == (Verdict.CONFIRMED, "said confirmed [x]")


@pytest.mark.parametrize(
    ("text", "is_same"),
    [
        ("@jit\ndef k(a):\n    return a + 1  # one\n", True),
        ("\n\n@jit\ndef k(a):\n\n        return (a\n   ) + 1\n", False),
        ("def other(): pass\n@jit\ndef k( a ):\n    return a+1\n", True),
        ("if 1:\n    @jit\n    def k(a):\n        return a + 1\n", True),
        ("@jit\ndef k(a):\n    return a + 2\n", False),
        ("@jit(x)\ndef k(a):\n    return a + 1\n", False),
        ("def k(:", False),
    ],
)
def test_the_digest_is_of_what_the_kernel_does(text, is_same):
    known = digest(b"@jit\ndef k(a):\n    return a + 1\n", "k")
    assert (digest(text.encode(), "k") == known) is is_same
