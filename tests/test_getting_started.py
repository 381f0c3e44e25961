"""`docs/getting-started.md`, followed command by command: what it shows is what comes out."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).parent.parent / "docs" / "getting-started.md"


def steps():
    """Each command of the page, with the lines that are shown below it."""
    for block in re.findall(r"```console\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL):
        lines = iter(block.splitlines())
        command, shown = None, []
        for line in lines:
            if line.startswith("$ "):
                if command is not None:
                    yield command, shown
                command, shown = line[2:], []
                if "<<'END'" in line:
                    for more in lines:
                        command += "\n" + more
                        if more == "END":
                            break
            else:
                shown.append(line)
        yield command, shown


def test_every_command_does_what_the_page_shows(tmp_path):
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "HOME": str(tmp_path), "NO_COLOR": "1"}
    environment["PRE_COMMIT_HOME"] = str(tmp_path / "cache")
    folder = tmp_path
    commands = list(steps())
    assert len(commands) == 15
    for command, shown in commands:
        done = subprocess.run(
            ["bash", "-c", f"{command}\nstatus=$?; pwd > '{tmp_path}/where'; exit $status"],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        said = done.stdout + done.stderr
        folder = Path((tmp_path / "where").read_text().strip())
        for line in shown:
            assert line.removesuffix("...") in said, f"$ {command}\n{said}"
