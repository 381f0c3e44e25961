"""Runs over many files: processes and the cache change nothing but the time."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tritonlint import cache, engine
from tritonlint.config import Options, SettingsFinder
from tritonlint.engine import check_source
from tritonlint.finding import Applicability, Confidence, Edit, Fix
from tritonlint.run import check_paths
from tritonlint.serial import from_data, to_data

KERNELS = Path(__file__).parent.parent / "fixtures" / "kernels"

KERNEL = """
import triton
import triton.language as tl

@triton.jit
def copy_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + at, tl.load(x_ptr + at, mask=at < n), mask=at < n)
"""
HOST = """
import triton
from kernel import copy_kernel

def copy(x, y):
    block = BLOCK
    copy_kernel[(triton.cdiv(x.numel(), block),)](x, y, x.numel(), BLOCK=block)
"""


def bad_copies(folder, count=12):
    """So many files with a finding each, and others that launch what their neighbour defines."""
    (folder / "pyproject.toml").write_text("")
    for number in range(count):
        masked = number % 2
        text = KERNEL.replace("copy_kernel", f"copy_{number}")
        text = text if masked else text.replace(", mask=at < n), mask", "), mask")
        (folder / f"k{number}.py").write_text(text)


def found_in(folder, **how):
    return [to_data(finding) for finding in check_paths([folder], **how).findings]


@pytest.fixture
def tree(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(cache.VARIABLE, raising=False)
    bad_copies(tmp_path)
    return tmp_path


def test_processes_find_what_one_does(tree):
    alone = found_in(tree)
    assert len(alone) >= 6
    assert found_in(tree, jobs=3) == alone


def test_processes_find_what_one_does_in_real_kernels():
    """The clean kernels, with every finding that is possible: cross-file facts are the same in any process."""
    finder = SettingsFinder(Options(min_confidence=Confidence.LOW))
    alone = [to_data(finding) for finding in check_paths([KERNELS], finder).findings]
    spread = [to_data(finding) for finding in check_paths([KERNELS], finder, jobs=2).findings]
    assert alone
    assert spread == alone


def test_a_worker_that_dies_costs_no_finding(tree, monkeypatch):
    alone, real = found_in(tree), engine.check_file
    parent = os.getpid()

    def dying(*given):
        if os.getpid() != parent:
            (tree / "died").touch()
            os._exit(1)
        return real(*given)

    monkeypatch.setattr(engine, "check_file", dying)
    assert found_in(tree, jobs=2) == alone
    assert (tree / "died").exists()


def test_progress_is_told_up_to_the_end(tree):
    told = []
    check_paths([tree], jobs=2, tell=lambda done, of: told.append((done, of)))
    assert told[-1] == (12, 12)
    assert told == sorted(told)


def test_times_are_by_rule_and_file(tree):
    done = check_paths([tree], jobs=2)
    assert {"parsing", "TL101"} <= done.seconds.keys()
    assert len(done.took) == 12


# --- the cache ----------------------------------------------------------------------------------------
def count_checks(monkeypatch):
    """The files that are checked from now on."""
    checked, real = [], engine.check_file

    def counting(found, *rest):
        checked.append(found.file.name)
        return real(found, *rest)

    monkeypatch.setattr(engine, "check_file", counting)
    return checked


def test_what_is_known_is_not_checked_again(tree, monkeypatch):
    checked = count_checks(monkeypatch)
    first = found_in(tree, cache=tree / "c")
    assert len(checked) == 12
    assert found_in(tree, cache=tree / "c") == first == found_in(tree)
    assert len(checked) == 24  # once more without the cache


def test_a_file_without_triton_is_counted_but_not_read_again(tree):
    (tree / "plain.py").write_text("x = 1\n")
    first = check_paths([tree], cache=tree / "c")
    again = check_paths([tree], cache=tree / "c")
    assert (first.files, first.triton_files) == (again.files, again.triton_files) == (13, 12)


def test_a_launch_in_another_file_counts_at_once(tree, monkeypatch):
    (tree / "kernel.py").write_text(KERNEL)
    (tree / "host.py").write_text(HOST.replace("= BLOCK", "= 96"))
    finder = SettingsFinder(Options())

    def codes():
        done = check_paths([tree / "kernel.py", tree / "host.py"], finder, cache=tree / "c")
        return [finding.code for finding in done.findings]

    assert codes() == ["TL201"] == codes()
    (tree / "host.py").write_text(HOST.replace("= BLOCK", "= 128"))
    assert codes() == []


@pytest.mark.parametrize("change", ["added", "removed", "renamed"])
def test_a_file_that_comes_or_goes_makes_all_be_checked_again(tree, monkeypatch, change):
    found_in(tree, cache=tree / "c")
    if change == "added":
        (tree / "new.py").write_text("")
    else:
        (tree / "k11.py").rename(tree / "z.py") if change == "renamed" else (tree / "k11.py").unlink()
    checked = count_checks(monkeypatch)
    found_in(tree, cache=tree / "c")
    assert len(checked) == (11 if change == "removed" else 12)


def test_a_fresh_checkout_is_known_by_its_content(tree, monkeypatch):
    found_in(tree, cache=tree / "c")
    for path in tree.glob("*.py"):
        os.utime(path, (1, 1))
    checked = count_checks(monkeypatch)
    found_in(tree, cache=tree / "c")
    assert checked == []
    content = (tree / "k1.py").read_text()
    (tree / "k1.py").write_text(content.replace("BLOCK", "block", 1))  # as many bytes
    found_in(tree, cache=tree / "c")
    assert len(checked) == 12


def test_other_settings_are_another_question(tree, monkeypatch):
    found_in(tree, cache=tree / "c")
    checked = count_checks(monkeypatch)
    silent = SettingsFinder(Options(select=("TL6",)))
    assert check_paths([tree], silent, cache=tree / "c").findings == []
    assert len(checked) == 12


def test_another_pack_or_version_is_another_key(tree, monkeypatch):
    found_in(tree, cache=tree / "c")
    monkeypatch.setattr(cache, "__version__", "another")
    checked = count_checks(monkeypatch)
    found_in(tree, cache=tree / "c")
    assert len(checked) == 12


@pytest.mark.parametrize(
    "spoilt", [b"", b"{", b"[]", b'{"files": 3}', b'{"files": {}, "answers": {"x": 1}}', b"\xff\xfe"]
)
def test_a_spoilt_cache_counts_as_none(tree, spoilt):
    first = found_in(tree, cache=tree / "c")
    for file in (tree / "c").glob("*.json"):
        file.write_bytes(spoilt)
    assert found_in(tree, cache=tree / "c") == first
    assert found_in(tree, cache=tree / "c") == first


def test_answers_that_are_no_findings_are_not_believed(tree):
    first = found_in(tree, cache=tree / "c")
    (file,) = (tree / "c").glob("*.json")
    kept = json.loads(file.read_text())
    for answer in kept["answers"].values():
        answer["findings"] = [["TL101"]]
    file.write_text(json.dumps(kept))
    assert found_in(tree, cache=tree / "c") == first


def test_a_disk_that_is_full_stops_nothing(tree, monkeypatch):
    def full(*_args, **_kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(cache.os, "replace", full)
    first = found_in(tree, cache=tree / "c")
    assert first
    assert [file.name for file in (tree / "c").iterdir() if file.suffix == ".part"] == []


def test_a_place_that_cannot_be_written_stops_nothing(tree):
    (tree / "c").write_text("a file, not a folder")
    assert found_in(tree, cache=tree / "c") == found_in(tree)


def test_runs_side_by_side_do_no_harm(tree):
    command = [sys.executable, "-m", "tritonlint", "check", str(tree), "--cache-dir", str(tree / "c")]
    command += ["--output-format", "json"]
    runs = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) for _ in range(4)]
    answers = [each.communicate()[0] for each in runs]
    assert len(set(answers)) == 1
    assert json.loads(answers[0])


def test_clean_removes_a_cache_and_nothing_else(tree, tritonlint):
    found_in(tree, cache=tree / "c")
    assert tritonlint("clean", "--cache-dir", "c").code == 0
    assert not (tree / "c").exists()
    (tree / "precious").mkdir()
    assert "no cache" in tritonlint("clean", "--cache-dir", "precious").err
    assert (tree / "precious").is_dir()


def test_the_cache_lies_beside_the_configuration(tree, tritonlint, monkeypatch):
    (tree / "pyproject.toml").write_text("[tool.tritonlint]\n")
    (tree / "below").mkdir()
    shutil.copy(tree / "k0.py", tree / "below")
    monkeypatch.chdir(tree / "below")
    tritonlint("check")
    assert (tree / cache.FOLDER / "CACHEDIR.TAG").is_file()
    assert (tree / cache.FOLDER / ".gitignore").read_text() == "*\n"
    assert not (tree / "below" / cache.FOLDER).exists()


def test_findings_survive_being_written_down():
    (finding, *_) = check_source(KERNEL.replace(", mask=at < n), mask", "), mask"))
    edit = Edit(finding.path, finding.range, "mask=at < n")
    from dataclasses import replace

    fixed = replace(finding, fix=Fix("mask the load", Applicability.UNSAFE, (edit,)))
    for each in (finding, fixed):
        assert from_data(json.loads(json.dumps(to_data(each)))) == each


def test_profile_says_where_the_time_went(tree, tritonlint):
    said = tritonlint("check", "--profile", "--no-cache").err
    assert "TL101 unmasked-access" in said
    assert "k1" in said
    assert "parsing" in said
