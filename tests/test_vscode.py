"""The extension for VS Code: its own check (types, bundle, package, tests), and what it shares with the linter."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tritonlint import __version__

ROOT = Path(__file__).parent.parent
EXTENSION = ROOT / "editors" / "vscode"


def test_it_has_the_version_of_the_linter_and_its_license():
    manifest = json.loads((EXTENSION / "package.json").read_text("utf-8"))
    assert manifest["version"] == __version__
    assert (EXTENSION / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


def test_the_settings_of_the_server_are_those_of_the_documentation():
    source = (EXTENSION / "src" / "settings.ts").read_text("utf-8")
    (names,) = re.findall(r"SERVER_SETTINGS = \[(.*)\]", source)
    table = (ROOT / "docs" / "editors.md").read_text("utf-8").split("## Settings", 1)[1].split("## ", 1)[0]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    assert set(re.findall(r"`(\w+)`", " ".join(rows))) == set(re.findall(r'"(\w+)"', names))


def test_the_lock_file_names_no_registry():
    lock = json.loads((EXTENSION / "package-lock.json").read_text("utf-8"))
    assert lock["packages"]
    assert not [name for name, package in lock["packages"].items() if "resolved" in package]


def test_its_own_check_passes():
    if shutil.which("npm") is None or not (EXTENSION / "node_modules").is_dir():
        pytest.skip("npm packages of editors/vscode are not installed; .ci/run installs them")
    done = subprocess.run(
        ["npm", "run", "check"],
        cwd=EXTENSION,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-8000:]
