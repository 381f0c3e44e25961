"""What the tests share: the program run in process, and a rule pack small enough to know its answers."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tritonlint.cli import main

PACKS = Path(__file__).parent / "packs"

KERNEL = """\
import triton
import triton.language as tl


@triton.jit
def copy(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    tl.store(out_ptr + offsets, x, mask=offsets < n)
"""
"""A kernel in which the sample pack finds `bare-load` (SP101) at line 8, column 9, and nothing else."""


UNMASKED = """import triton
import triton.language as tl


@triton.jit
def copied(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    tl.store(out_ptr + at, x, mask=at < n)
"""
"""A kernel in which the rules find an unmasked access (TL101) at line 8, column 9, with a safe fix."""


class Outcome(NamedTuple):
    """What a run of the program left behind."""

    code: int
    out: str
    err: str


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch):
    """No test depends on the terminal; packs of the tests can be imported."""
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.syspath_prepend(str(PACKS))


@pytest.fixture
def tritonlint(capsys, monkeypatch):
    """Run the program with some arguments, as the command line does, and give its exit code and output."""

    def run(*arguments: str | Path, stdin: bytes = b"") -> Outcome:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        with pytest.raises(SystemExit) as stop:
            main([str(argument) for argument in arguments])
        shown = capsys.readouterr()
        return Outcome(int(stop.value.code or 0), shown.out, shown.err)

    return run


@pytest.fixture
def project(tmp_path, monkeypatch):
    """An empty project, made the working directory, whose rules are those of the sample pack."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tritonlint.toml").write_text('packs = ["sample_pack"]\n')
    return tmp_path
