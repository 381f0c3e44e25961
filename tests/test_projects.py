"""Several files: a launch or a helper elsewhere changes what is said, and each file gets one answer.

Whether a file is checked alone, as a hook and an editor do, or with its folder, its findings are the same.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tritonlint.model import Project
from tritonlint.run import check_paths
from tritonlint.testing import check_fixture

PROJECTS = Path(__file__).parent.parent / "fixtures" / "projects"
FOLDERS = sorted(folder for folder in PROJECTS.iterdir() if folder.is_dir())
FILES = sorted(PROJECTS.glob("*/**/*.py"))


def shown(path):
    return path.relative_to(PROJECTS).as_posix()


def found_in(*paths):
    """Findings as a user gets them, by file."""
    run = check_paths([Path(path) for path in paths])
    assert not run.errors
    found = {}
    for finding in run.findings:
        found.setdefault(Path(finding.path).resolve(), []).append(finding)
    return found


def names_in(*paths):
    """Code and kernel of each finding."""
    return sorted((f.code, f.kernel) for findings in found_in(*paths).values() for f in findings)


@pytest.fixture
def copy_of(tmp_path):
    """A copy of a project that a test may change."""

    def copy(name):
        return Path(shutil.copytree(PROJECTS / name, tmp_path / name))

    return copy


@pytest.mark.parametrize("file", FILES, ids=shown)
def test_expectations(file):
    assert check_fixture(file) == []


@pytest.mark.parametrize("folder", FOLDERS, ids=shown)
def test_a_file_alone_and_its_folder_give_the_same_findings(folder):
    together = found_in(folder)
    alone = {}
    for file in sorted(folder.glob("**/*.py")):
        alone |= found_in(file)
    assert alone == together


@pytest.mark.parametrize("folder", FOLDERS, ids=shown)
def test_the_order_of_files_makes_no_difference(folder):
    files = sorted(folder.glob("**/*.py"))
    assert found_in(*files) == found_in(*reversed(files))


def test_a_launch_in_another_file_decides(copy_of):
    project = copy_of("launch_elsewhere")
    kernels, host = project / "kernels.py", project / "host.py"
    before = names_in(kernels)
    assert ("TL201", "shift_odd_block") in before
    assert ("TL401", "shift_size_static") in before

    host.write_text(host.read_text().replace("96", "128"))
    assert ("TL201", "shift_odd_block") not in names_in(kernels)

    text = host.read_text()
    text = text.replace("    assert x.numel() % 256 == 0\n", "")
    host.write_text(text.replace("(x.numel() // 256,)", "(triton.cdiv(x.numel(), 256),)"))
    assert ("TL101", "shift_whole") in names_in(kernels)

    host.unlink()
    without = names_in(kernels)
    assert not [found for found in without if found[0] in ("TL201", "TL401")]


def test_a_launch_of_an_equal_name_does_not_leak(copy_of):
    project = copy_of("equal_names")
    assert names_in(project / "right.py") == []
    left = project / "left.py"
    left.write_text(left.read_text().replace("96", "128"))
    both = project / "both.py"
    assert names_in(left) == [("TL201", "copy_kernel")], "`both.py` launches it with 48"
    both.write_text(both.read_text().replace("48", "32"))
    assert names_in(left) == []
    both.write_text(both.read_text().replace("64", "40"))
    assert names_in(left) == []
    assert names_in(project / "right.py") == [("TL201", "copy_kernel")]


def test_a_helper_in_another_file_is_seen_with_the_callers_arguments(copy_of):
    project = copy_of("helper_elsewhere")
    helpers, activation = project / "helpers.py", project / "activation.py"
    (finding,) = found_in(helpers)[helpers.resolve()]
    assert finding.kernel == "read_all"
    assert any(Path(other.path).name == "activation.py" for other in finding.related)

    activation.write_text(activation.read_text().replace("read(x_ptr, at, keep)", "read(x_ptr, at, None)"))
    assert {f.kernel for f in found_in(helpers)[helpers.resolve()]} == {"read_all", "read"}

    helpers.write_text(helpers.read_text().replace("return at, at < n", "return at, tl.arange(0, BLOCK) < n"))
    assert ("TL102", "relu_masked") in names_in(activation)


def test_a_broken_neighbour_costs_only_its_own_findings(copy_of):
    project = copy_of("launch_elsewhere")
    (project / "host.py").write_text("import triton\nfrom kernels import shift_whole\nshift_whole[(1,)](\n")
    codes = {code for code, _ in names_in(project / "kernels.py")}
    assert "TL901" not in codes
    assert "TL903" not in codes
    assert ("TL901", None) in names_in(project)


@pytest.mark.parametrize("encoding", ["hex", "punycode", "undefined"])
def test_a_neighbour_that_cannot_be_decoded_costs_only_its_own_findings(copy_of, encoding):
    project = copy_of("launch_elsewhere")
    host = project / "host.py"
    host.write_text(f"# coding: {encoding}\n{host.read_text()}")
    codes = {code for code, _ in names_in(project / "kernels.py")}
    assert not codes & {"TL901", "TL903"}
    assert ("TL901", None) in names_in(project)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes of POSIX")
def test_a_pipe_beside_a_file_is_not_waited_for(copy_of, monkeypatch):
    project = copy_of("launch_elsewhere")
    before = names_in(project / "kernels.py")
    os.mkfifo(project / "pipe.py")
    read_bytes = Path.read_bytes

    def read(path):
        assert path.name != "pipe.py"
        return read_bytes(path)

    monkeypatch.setattr(Path, "read_bytes", read)
    assert names_in(project / "kernels.py") == before


LONG = "a" * 3000


@pytest.mark.parametrize("module", [LONG, f".{LONG}", ".".join(LONG), "." + ".".join(LONG), "TO_THE_ROOT"])
def test_an_import_that_can_name_no_file_finds_none(copy_of, module):
    kernels = copy_of("launch_elsewhere") / "kernels.py"
    before = names_in(kernels)
    module = module.replace("TO_THE_ROOT", "." * len(kernels.parents))
    kernels.write_text(f"from {module} import helper\nvalue = helper(1)\n{kernels.read_text()}")
    assert names_in(kernels) == before


def test_a_neighbour_with_a_kernel_of_the_same_name_is_parsed_only_if_it_may_use_this_one(tmp_path):
    kernel = "import triton\n\n@triton.jit\ndef add(x):\n    pass\n\n\ndef run(x):\n    add[(1,)](x)\n"
    (tmp_path / "kernels.py").write_text(kernel)
    (tmp_path / "apart.py").write_text(kernel)
    for number, line in enumerate(
        (
            "from kernels import add",
            "from kernels import (\n    other as first,\n    add as second,\n)",
            "from kernels import other, \\\n    add",
            "from kernels import *",
            "import kernels\nkernels.add[(1,)](0)",
        )
    ):
        (tmp_path / f"user{number}.py").write_text(f"{kernel}\n{line}\n")
    project = Project(tmp_path)
    module = project.load(tmp_path / "kernels.py")
    assert [other.dotted for other in project.modules_mentioning("add", module)] == [
        f"user{number}" for number in range(5)
    ]
    assert tmp_path / "apart.py" not in project._modules


def test_a_cycle_of_imports_comes_to_an_end(tmp_path):
    (tmp_path / "tritonlint.toml").write_text("")
    (tmp_path / "a.py").write_text(
        "import triton\nfrom b import tl, f\n\n@triton.jit\ndef g(x):\n    return f(x)\n"
    )
    (tmp_path / "b.py").write_text(
        "import triton\nimport triton.language as tl\nfrom a import g\n\n@triton.jit\ndef f(x):\n    return g(x)\n"
    )
    assert names_in(tmp_path) == []
