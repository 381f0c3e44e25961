"""Which files a run looks at."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tritonlint.config import SettingsFinder
from tritonlint.files import discover, display_path


@pytest.fixture
def tree(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def make(*names, **contents):
        for name in names:
            file = tmp_path / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(contents.get(name, ""))
        return tmp_path

    return make


def found(*paths):
    errors = []
    files = [
        display_path(each.file)
        for each in discover(
            [Path(path) for path in paths or (".",)], SettingsFinder(), lambda *e: errors.append(e)
        )
    ]
    assert not errors
    return files


def test_folders_are_walked_for_python(tree):
    tree("b.py", "a/z.py", "a/y.pyi", "a/notes.txt", "a.ipynb", "c.PY")
    assert found() == ["a.ipynb", "b.py", "a/y.pyi", "a/z.py"]


def test_a_file_that_is_named_is_taken_whatever_it_is_called(tree):
    tree("script", ".gitignore")
    Path(".gitignore").write_text("script\n")
    Path("tritonlint.toml").write_text('exclude = ["script"]\n')
    assert found("script") == ["script"]


def test_each_file_comes_once(tree):
    tree("a/k.py", "a/l.py")
    assert found("a/l.py", "a", ".", "a/../a/k.py") == ["a/l.py", "a/k.py"]


@pytest.mark.parametrize(
    "folder",
    [".git", "__pycache__", "node_modules", ".venv", ".tox", ".mypy_cache", ".tritonlint_cache"],
)
def test_folders_that_hold_no_source_are_skipped_at_any_depth(tree, folder):
    tree("k.py", f"{folder}/k.py", f"a/{folder}/k.py")
    assert found() == ["k.py"]
    assert found(folder) == [f"{folder}/k.py"]


def test_a_virtual_environment_is_known_by_its_file(tree):
    tree("k.py", "my-env/pyvenv.cfg", "my-env/lib/site.py", "my-env/k.py")
    assert found() == ["k.py"]
    assert found("my-env/lib") == ["my-env/lib/site.py"]


def test_exclude(tree):
    tree("k.py", "gen/k.py", "a/gen/k.py", "a/b_pb2.py")
    Path("tritonlint.toml").write_text('exclude = ["gen/", "*_pb2.py"]\n')
    assert found() == ["k.py"]


# --- .gitignore --------------------------------------------------------------------------------------


def ignore(folder, *lines):
    Path(folder, ".gitignore").write_text("\n".join(lines) + "\n")


def test_ignored_files_and_folders_are_left_out(tree):
    tree("k.py", "out/k.py", "a/out/k.py", "a/tmp_1.py", "a/keep/tmp_2.py")
    ignore(".", "# comment", "out/", "tmp_*.py", "!tmp_2.py")
    assert found() == ["k.py", "a/keep/tmp_2.py"]


def test_a_pattern_with_a_slash_counts_from_its_own_folder(tree):
    tree("gen/k.py", "a/gen/k.py", "a/b/gen/k.py")
    ignore("a", "/gen/")
    assert found() == ["a/b/gen/k.py", "gen/k.py"]


def test_a_deeper_file_has_the_last_word(tree):
    tree("a/k.py", "b/k.py")
    ignore(".", "k.py")
    ignore("a", "!k.py")
    assert found() == ["a/k.py"]


def test_the_file_of_the_repository_above_counts(tree):
    tree(".git/HEAD", "a/k.py", "a/gen/k.py", "a/b/skip.py")
    ignore(".", "gen/")
    ignore("a", "skip.py")
    assert found("a") == ["a/k.py"]
    assert found("a/b") == []


def test_outside_a_repository_files_above_do_not_count(tree):
    tree("a/k.py")
    ignore(".", "k.py")
    assert found("a") == ["a/k.py"]


def test_an_ignored_folder_that_is_named_is_walked(tree):
    tree(".git/HEAD", "build/k.py", "build/gen/k.py")
    ignore(".", "build/")
    ignore("build", "gen/")
    assert found() == []
    assert found("build") == ["build/k.py"]


def test_an_ignored_folder_is_not_even_listed(tree, monkeypatch):
    tree("k.py", "out/deep/k.py")
    ignore(".", "out/")
    listed = []
    scandir = os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: listed.append(path) or scandir(path))
    assert found() == ["k.py"]
    assert not any("out" in os.path.relpath(path) for path in listed)


def test_a_malformed_pattern_does_not_disable_the_others(tree):
    tree("k.py", "skip.py")
    ignore(".", "!", "[z-a]", "skip.py", "///")
    assert found() == ["k.py"]


# --- links and trouble -------------------------------------------------------------------------------


def test_links_to_folders_are_not_followed_so_loops_end(tree):
    tree("a/k.py")
    Path("a/loop").symlink_to(Path("a").absolute(), target_is_directory=True)
    Path("a/self").symlink_to("self")
    assert found() == ["a/k.py"]


def test_links_to_files_are_read_and_dead_ones_passed_over(tree):
    tree("a/k.py")
    Path("link.py").symlink_to("a/k.py")
    Path("dead.py").symlink_to("nowhere.py")
    Path("loop.py").symlink_to("loop.py")
    assert found() == ["link.py", "a/k.py"]


def test_very_deep_folders(tree):
    deep = Path(*["d"] * 900)
    deep.mkdir(parents=True)
    (deep / "k.py").write_text("")
    assert found() == [(deep / "k.py").as_posix()]


@pytest.mark.skipif(sys.platform == "win32", reason="names of any bytes are a matter of POSIX")
def test_a_name_that_is_no_text(tree):
    tree("k.py")
    with open(b"bad\xff.py", "w"):
        pass
    assert sorted(found()) == ["bad\udcff.py", "k.py"]


def test_a_folder_that_cannot_be_listed_is_reported_and_the_rest_goes_on(tree, monkeypatch):
    tree("a/k.py", "b/k.py")
    scandir = os.scandir

    def refuse(path):
        if os.path.basename(path) == "a":
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    errors = []
    files = list(discover([Path()], SettingsFinder(), lambda *error: errors.append(error)))
    assert [each.file.name for each in files] == ["k.py"]
    assert [(path.name, error.strerror) for path, error in errors] == [("a", "Permission denied")]
