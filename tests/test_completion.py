"""Completion, asked of the shells themselves."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest
from conftest import PACKS

BASH = """
source <(tritonlint completion bash)
complete -p tritonlint >/dev/null || exit 3
COMP_WORDS=({line}) COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)) COMPREPLY=()
_tritonlint_completion tritonlint
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
ZSH = """
compdef() {{ : }}
compadd() {{ print -l -- "$@" }}
_describe() {{ print -l -- "${{(@)${{(P)3}}%%:*}}" "${{(@P)3}}" }}
eval "$(tritonlint completion zsh)"
words=({line}) CURRENT=${{#words}}
_tritonlint_completion tritonlint
"""
FISH = """
tritonlint completion fish | source
complete -C "{line}"
"""


@pytest.fixture
def ask(tmp_path):
    """The words that a shell offers for a line that ends in what is typed so far."""
    program = tmp_path / "bin" / "tritonlint"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m tritonlint "$@"\n')
    program.chmod(0o755)
    (tmp_path / "tritonlint.toml").write_text('packs = ["sample_pack"]\n')
    environment = os.environ | {
        "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join([str(PACKS), os.environ.get("PYTHONPATH", "")]),
        "HOME": str(tmp_path),
    }

    def offered(shell, line):
        if shutil.which(shell) is None:
            pytest.skip(f"{shell} is not installed")
        script = {"bash": BASH, "zsh": ZSH, "fish": FISH}[shell].format(line=line)
        command = [shell, *(["-f"] if shell == "zsh" else []), "-c", script]
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60, check=False
        )
        assert done.stderr == ""
        return [word for line in done.stdout.splitlines() for word in line.split("\t")[:1]]

    return offered


SHELLS = pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])


@SHELLS
def test_commands(ask, shell):
    assert {"check", "completion", "config"} <= {
        word.partition(":")[0] for word in ask(shell, "tritonlint c")
    }


@SHELLS
def test_rules_of_the_packs_here(ask, shell):
    assert {"SP101", "SP102"} <= set(ask(shell, "tritonlint rule SP1"))
    assert "bare-load" in ask(shell, "tritonlint rule bare-l")


@SHELLS
def test_selectors_and_lists_of_them(ask, shell):
    assert "SP201" in ask(shell, "tritonlint check --select SP2")
    assert "ALL" in ask(shell, "tritonlint check --ignore A")
    if shell != "fish":  # click's script for it takes what is before a comma for the kind of the word
        assert "SP101,SP201" in ask(shell, "tritonlint check --select SP101,SP2")


@SHELLS
def test_options(ask, shell):
    assert "--write-baseline" in ask(shell, "tritonlint check --write")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_says_where_it_goes(tritonlint, shell):
    shown = tritonlint("completion", shell)
    assert shown.code == 0
    assert shown.err == ""
    assert shown.out.startswith("# ")
    assert "_TRITONLINT_COMPLETE" in shown.out


def test_another_shell(tritonlint):
    assert tritonlint("completion", "tcsh").code == 2
