"""Who may import whom. The layers are in the design; a module that is new must be given one here."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ENGINE = ROOT / "tritonlint"
PACK = ROOT / "rules" / "tritonlint_rules"

LAYERS = [
    {"grades"},
    {"finding", "git", "nearest", "parsing", "patterns", "replacing", "roots", "syntax", "wording"},
    {"magics"},
    {"notebook"},
    {"source", "policy"},
    {"edits"},
    {"notebook_edits"},
    {"model"},
    {"rule", "failure"},
    {"builtin", "observed"},
    {"catalog"},
    {"selection"},
    {"config", "config_file"},
    {"files", "suppression", "ignores", "fingerprint", "serial", "evidence", "baseline"},
    {"engine", "output", "explain", "rule_facts", "in_force", "completion", "version"},
    {"cache"},
    {"run", "fixer", "pinning", "known", "diff_base"},
    {"confirm"},
    {"testing"},
    {"lsp", "pytest_plugin", "baseline_options"},
    {"commands"},
    {"cli"},
    {"__main__"},
]
"""From the bottom to the top: a module imports from its own layer and from those above it in this list."""

RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}


def imports(file):
    """The dotted names that a file imports, anywhere in it, and the lines they stand on."""
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node.lineno
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}:{node.lineno}: imports are absolute here"
            for alias in node.names:
                yield f"{node.module}.{alias.name}", node.lineno


def layer_name(dotted):
    """`tritonlint.output.full` -> `output`; None for the package itself (`from tritonlint import __version__`)."""
    parts = dotted.split(".")
    return parts[1] if len(parts) > 1 and not parts[1].startswith("__") else None


ENGINE_FILES = sorted(ENGINE.rglob("*.py"))
PACK_FILES = sorted(PACK.rglob("*.py"))


def own_layer(file):
    return file.relative_to(ENGINE).parts[0].removesuffix(".py")


@pytest.mark.parametrize("file", ENGINE_FILES, ids=lambda file: file.relative_to(ENGINE).as_posix())
def test_imports_point_down(file):
    name = own_layer(file)
    if name == "__init__":
        assert not list(imports(file))
        return
    assert name in RANK, f"give `{name}` a layer in {Path(__file__).name}"
    upward = [
        f"{file.name}:{line}: {dotted}"
        for dotted, line in imports(file)
        if dotted.split(".")[0] == "tritonlint"
        and (target := layer_name(dotted)) is not None
        and RANK[target] > RANK[name]
    ]
    assert upward == []


@pytest.mark.parametrize("file", ENGINE_FILES, ids=lambda file: file.relative_to(ENGINE).as_posix())
def test_the_engine_knows_no_rule_and_only_confirm_imports_triton(file):
    packages = {dotted.split(".")[0] for dotted, _ in imports(file)}
    assert "tritonlint_rules" not in packages
    if own_layer(file) != "confirm":
        assert not packages & {"triton", "torch", "numpy"}


@pytest.mark.parametrize("file", PACK_FILES, ids=lambda file: file.relative_to(PACK).as_posix())
def test_a_rule_imports_rule_model_finding_and_edits_only(file):
    for dotted, line in imports(file):
        package = dotted.split(".")[0]
        if package == "tritonlint":
            assert layer_name(dotted) in {"rule", "model", "finding", "edits"}, f"line {line}: {dotted}"
        else:
            assert package == "tritonlint_rules" or package in sys.stdlib_module_names, (
                f"line {line}: {dotted}"
            )


def test_there_is_something_to_look_at():
    assert len(ENGINE_FILES) > 20
    assert len(PACK_FILES) > 5


def test_no_module_is_a_drawer_for_odds_and_ends():
    vague = {"utils", "util", "common", "helpers", "misc", "types"}
    assert not [file for file in ENGINE_FILES + PACK_FILES if file.stem.lstrip("_") in vague]


@pytest.mark.parametrize("module", ["tritonlint.cli", "tritonlint.engine"])
def test_importing_a_front_door_loads_nothing_heavy(module):
    script = f"import sys, {module}; print(*{{'libcst', 'torch', 'triton', 'tritonlint.model'}} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
