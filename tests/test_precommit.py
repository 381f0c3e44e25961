"""The hooks of `.pre-commit-hooks.yaml`, run by pre-commit itself from the last commit of this repository."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BAD = """import triton
import triton.language as tl


@triton.jit
def copied(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at), mask=at < n)
"""

pytestmark = [
    pytest.mark.skipif(importlib.util.find_spec("pre_commit") is None, reason="pre-commit is not installed"),
    pytest.mark.skipif(not (ROOT / ".git").exists(), reason="pre-commit takes hooks from a git repository"),
]


def test_the_hooks_of_this_repository(tmp_path):
    """One finds what the other then mends."""
    (tmp_path / "tritonlint.toml").write_text("")
    (tmp_path / "kernels.py").write_text(BAD)
    environment = {**os.environ, "PRE_COMMIT_HOME": str(tmp_path / "cache")}

    def run(*command):
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout + done.stderr

    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True)
    (tmp_path / ".pre-commit-config.yaml").write_text(
        f"repos:\n  - repo: {ROOT}\n    rev: {head.stdout.strip()}\n"
        "    hooks: [{id: tritonlint}, {id: tritonlint-fix}]\n"
    )
    run("git", "init", "-q")
    run("git", "add", ".")

    def hook(name):
        return run(sys.executable, "-m", "pre_commit", "run", name, "--files", "kernels.py")

    code, said = hook("tritonlint")
    assert code == 1, said
    assert "kernels.py:8:28: error TL101 unmasked-access" in said
    code, said = hook("tritonlint-fix")
    assert code == 1, said  # pre-commit fails a hook that changes files
    assert "files were modified by this hook" in said
    code, said = hook("tritonlint")
    assert code == 0, said
