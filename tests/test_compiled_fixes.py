"""A sample of the cases, fixed and compiled for a GPU that need not be there; `benchmarks/fixes.py` does all."""

from __future__ import annotations

import importlib.util

import pytest

from measures import cases
from tritonlint.config import SettingsFinder
from tritonlint.fixer import fix
from tritonlint.run import check_paths

SAMPLE = [
    "p1-block-local-mask",
    "p1-ignore-index-gather",
    "p1-packed-weight-tail",
    "p3-inplace-scale",
    "p4-extent-not-constexpr",
    "p5-half-accumulator",
    "p6-group-parameter-unused",
    "p6-two-axis-grid",
]


@pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="Triton is not installed")
@pytest.mark.parametrize("name", SAMPLE)
def test_the_fixed_kernel_compiles(name, tmp_path):
    from measures.compiling import compile_file

    (folder,) = (folder for folder in cases.folders() if folder.name == name)
    file = tmp_path / "kernel.py"
    file.write_bytes((folder / "bad.py").read_bytes())
    run = check_paths([tmp_path])
    result = fix(run.findings, SettingsFinder(), lambda path: tmp_path, unsafe=True)
    assert result.applied
    result.write()
    answers = [one for one in compile_file(file) if not one.skipped]
    assert answers
    assert [one.error for one in answers if one.error] == []
