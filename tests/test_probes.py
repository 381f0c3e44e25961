"""The parts of the bounds probes that need no GPU: what the front end builds, and what the interpreter lacks."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("triton") is None or importlib.util.find_spec("torch") is None,
    reason="Triton and torch are not installed",
)


def run(folder, text, *command):
    """Run a program of one file in a process of its own; what it prints."""
    (folder / "tritonlint.toml").write_text("")
    (folder / "program.py").write_text(text)
    done = subprocess.run(
        [sys.executable, *command, "program.py"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


FIRST_LOOK = """
import json
import torch
import triton
import triton.language as tl
from tritonlint.confirm import backends, probe_flags
from tritonlint.confirm.copies import Copies
from tritonlint.confirm.launches import bound


@triton.jit
def scaled(p, by):
    return tl.load(p) * by


@triton.jit
def sums(x, y, out, n, wide, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    y_at = y + at
    total = tl.zeros((B,), dtype=tl.float32)
    for _ in range(0, n):
        total += tl.load(x + at, mask=at < n, other=0.0)
        total += tl.load(y_at, mask=at < n, other=0.0)
        y_at += B
    if wide:
        z_at = x + at
    else:
        z_at = y + at
    total += tl.load(z_at) + scaled(x + n, 2.0)
    tl.store(out + at, total, mask=at < n)
    tl.atomic_add(out, 1.0)


backend = backends.choose("cpu", 60.0, None)
Copies.device = property(lambda own: torch.device("cpu"))
torch.cuda.synchronize = lambda: None
seen, origin = [], probe_flags.origin
probe_flags.origin = lambda pointer: seen.append(origin(pointer)) or seen[-1]
x = torch.zeros(500)
launch = bound(sums, (x, x.clone(), x.clone(), 500, 1), {"B": 128}, (4,))
probe = probe_flags.FlagProbe(launch, Copies(launch.arguments, 1 << 30))
sites = probe.run(backends.compiled)
print(json.dumps([seen, sorted({(site.line, site.kind) for site in sites})]))
"""


def test_pointers_know_their_parameters(tmp_path):
    """In loops and out of them; what comes of a branch or of a helper may be unknown, and is never another."""
    seen, sites = json.loads(run(tmp_path, FIRST_LOOK))
    assert set(seen) <= {"x", "y", "out", None}
    assert seen[:4] == ["x", "y", "x", "y"]  # the front end visits the body of a loop twice
    assert seen[-2:] == ["out", "out"]
    kinds = [kind for _, kind in sites]
    assert sorted(kinds) == ["atomic", "load", "load", "load", "load", "store"]


LIBDEVICE = """
import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice
from triton.language.extra.cuda.libdevice import fast_expf
from triton.language.extra.libdevice import float2int_rd, float_as_int, isnan


@triton.jit
def many(x_ptr, out_ptr, whole_ptr, n, B: tl.constexpr):
    at = tl.arange(0, B)
    x = tl.load(x_ptr + at, mask=at < n, other=1.0)
    y = libdevice.tanh(x) + libdevice.rsqrt(x * x + 1.0) + fast_expf(-x) + libdevice.pow(2.0, x)
    y += libdevice.div_rn(x, 3.0) + tl.extra.cuda.libdevice.erf(x) + libdevice.round(x)
    tl.store(out_ptr + at, tl.where(isnan(x), 0.0, y), mask=at < n)
    tl.store(whole_ptr + at, float2int_rd(x) + 0 * float_as_int(x), mask=at < n)


before = libdevice.tanh
x = torch.tensor([-2.5, -0.5, 0.0, 0.5, 1.5, 3.25, float("nan")], device="cuda")
out, whole = torch.empty_like(x), torch.empty(7, dtype=torch.int32, device="cuda")
many[(1,)](x, out, whole, 7, B=8)
away = torch.tensor([-3.0, -1.0, 0.0, 1.0, 2.0, 3.0])
y = x[:6]
wanted = y.tanh() + (y * y + 1).rsqrt() + (-y).exp() + 2.0**y + y / 3 + y.erf() + away
torch.testing.assert_close(out[:6], wanted)
assert out[6] == 0.0
assert whole[:6].tolist() == [-3, -1, 0, 0, 1, 3]
assert libdevice.tanh is before
assert fast_expf.__module__ == "triton.language.extra.cuda.libdevice"
"""


def test_libdevice_in_the_interpreter(tmp_path):
    """Taken from its module, by name, by the way of `tl`; afterwards every module is as it was."""
    run(tmp_path, LIBDEVICE, "-m", "tritonlint", "confirm", "--device", "cpu")


UNKNOWN = """
import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def mixed(x_ptr):
    tl.store(x_ptr + tl.arange(0, 8), libdevice.byte_perm(tl.arange(0, 8), 1, 2))


try:
    mixed[(1,)](torch.zeros(8, dtype=torch.int32, device="cuda"))
except Exception as error:
    print(error)
"""


def test_an_unknown_function_is_named(tmp_path):
    said = run(tmp_path, UNKNOWN, "-m", "tritonlint", "confirm", "--device", "cpu")
    assert "`libdevice.byte_perm` is not known to the interpreter" in said


def test_a_program_that_dies_is_named(tmp_path):
    (tmp_path / "tritonlint.toml").write_text("")
    (tmp_path / "program.py").write_text("import sys\nsys.exit(3)\n")
    command = [sys.executable, "-m", "tritonlint", "confirm", "--device", "cpu", "program.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert "the program ended with 3" in done.stderr


SILENCED = """
import torch
import triton
import triton.language as tl


@triton.jit
def sums(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0.0)
    tl.store(out_ptr, tl.sum(x, axis=0)){comment}


x = torch.arange(100.0, device="cuda")
sums[(4,)](x, torch.zeros(1, device="cuda"), 100, BLOCK=32)
"""


@pytest.mark.parametrize("comment", ["", "  # tritonlint: ignore-file[TL116] whoever comes last is right"])
def test_what_exploring_shows_is_silenced_by_comments(tmp_path, comment):
    """And `check`, which cannot see it, does not complain of the comment."""
    (tmp_path / "tritonlint.toml").write_text("")
    (tmp_path / "program.py").write_text(SILENCED.replace("{comment}", comment))
    command = [sys.executable, "-m", "tritonlint"]
    explore = [
        *command,
        "confirm",
        "--device",
        "cpu",
        "--explore",
        "--output-format",
        "concise",
        "program.py",
    ]
    done = subprocess.run(explore, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ("TL116" in done.stdout) is not bool(comment), done.stdout + done.stderr
    checked = subprocess.run(
        [*command, "check", "--no-cache", "."], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stdout
