"""What is shipped: both packages with their type markers in the wheel, the tests and fixtures in the sdist."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from tritonlint import __version__

ROOT = Path(__file__).parent.parent
pytest.importorskip("hatchling", reason="the build backend is needed to build")


def build(target, folder):
    """Build one distribution with the project's own backend, without a network."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (built,) = folder.iterdir()
    return built


def test_the_wheel_holds_both_packages_and_nothing_else(tmp_path):
    wheel = build("wheel", tmp_path)
    assert wheel.name == f"tritonlint-{__version__}-py3-none-any.whl"
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (entry_points,) = (archive.read(name).decode() for name in names if name.endswith("entry_points.txt"))
    assert {name.split("/")[0] for name in names} == {
        "tritonlint",
        "tritonlint_rules",
        f"tritonlint-{__version__}.dist-info",
    }
    assert {"tritonlint/py.typed", "tritonlint_rules/py.typed", "tritonlint_rules/__init__.py"} <= set(names)
    assert "tritonlint = tritonlint.cli:main" in entry_points


def test_the_sdist_holds_what_is_needed_to_test_it(tmp_path):
    with tarfile.open(build("sdist", tmp_path)) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    needed = {
        "pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md", ".ci/run",
        "tests/test_rules.py", "tests/packs/sample_pack.py", "rules/README.md", "tritonlint/cli.py",
        "rules/tritonlint_rules/__init__.py", "action.yml", "ci/gitlab/tritonlint.yml", "docs/ci.md",
        "editors/vscode/package.json", "editors/vscode/src/extension.ts",
    }  # fmt: skip
    assert needed <= names
    assert any(name.startswith("fixtures/rules/") for name in names)
    assert not any("node_modules" in name or name.startswith("editors/vscode/out/") for name in names)
    assert not any("__pycache__" in name or name.startswith((".git/", "shared")) for name in names)
