"""The runtime mode on a GPU. Skipped where torch sees none; run before a release on a machine that has one."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from measures import cases

PROGRAMS = cases.CASES.parent / "programs"


def has_gpu():
    try:
        import torch
    except ImportError:
        return False
    return torch.cuda.is_available()


pytestmark = pytest.mark.skipif(not has_gpu(), reason="there is no GPU that torch can use")


def confirm(tmp_path, *arguments):
    """The evidence of a run, by case and code."""
    file = tmp_path / "e.json"
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "tritonlint",
            "confirm",
            "--device",
            "gpu",
            "--evidence",
            str(file),
            "--report",
            str(tmp_path / "r.html"),
            *map(str, arguments),
        ],
        cwd=cases.CASES.parent.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert file.exists(), done.stdout + done.stderr
    print(done.stderr)  # noqa: T201 - figures, for whoever runs this with -s
    found = json.loads(file.read_bytes())["findings"]
    return {(one["path"].split("/")[-2], one["code"], one["line"]): one for one in found}


SMALL = {
    "p1-block-local-mask": {"confirmed"},
    "p1-decay-row-tail": {"confirmed"},
    "p1-even-k-parity": {"confirmed"},
    "p1-helper-scale-tail": {"confirmed"},
    "p1-mask-built-not-used": {"confirmed"},
    "p1-mask-left-in-comment": {"confirmed"},
    "p1-memset-rounded-up": {"confirmed"},
    "p1-packed-weight-tail": {"confirmed"},
    "p2-acc-shape-72": {"confirmed"},
    "p2-hidden-7168": {"confirmed"},
    "p2-min-with-rank": {"not-reached"},
    "p3-atomic-partial-sums": {"confirmed"},
    "p3-exact-cache-length-key": {"confirmed"},
    "p3-inplace-scale": {"confirmed"},
    "p4-batch-count": {"confirmed"},
    "p4-extent-not-constexpr": {"confirmed"},
    "p4-task-count": {"confirmed"},
    "p5-bag-rows-added-in-half": {"refuted"},
    "p5-half-accumulator": {"confirmed"},
    "p5-row-mean-half": {"refuted", "not-testable"},
    "p5-weight-grad-sum": {"confirmed"},
}


def test_small_cases(tmp_path):
    found = {}
    for (name, _, _), one in confirm(tmp_path, PROGRAMS / "core_cases.py", cases.CASES, *SMALL).items():
        found.setdefault(name, set()).add(one["verdict"])
    assert found == SMALL


def test_program_order_is_timed(tmp_path):
    names = ["p6-row-major-scaled-mm", "p6-remap-result-dropped", "p6-two-axis-grid"]
    found = confirm(tmp_path, PROGRAMS / "core_cases.py", cases.CASES, "--large", *names)
    timed = {name: one for (name, code, _), one in found.items() if code == "TL601"}
    assert set(timed) == set(names)
    for one in timed.values():
        assert one["verdict"] in ("confirmed", "refuted")
        assert len(one["details"]["milliseconds"]) == len(one["details"]["grouped"]) == 15


def test_block_pointers_are_looked_through(tmp_path):
    """Columns 70 to 95 of the last rows, and rows 20 to 31, lie outside; the checked store does not."""
    ((_, one),) = confirm(tmp_path, PROGRAMS / "block_pointer.py").items()
    assert (one["code"], one["verdict"], one["details"]["tensor"]) == ("TL103", "confirmed", "x_ptr")
    assert one["details"]["outside"] > 0
