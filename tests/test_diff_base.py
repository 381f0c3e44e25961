"""`--diff-base`: what a branch adds is reported, what was there before is not. Against real repositories."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from conftest import KERNEL

from tritonlint import diff_base

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")

SECOND = KERNEL.replace("def copy", "def second").partition("@triton.jit")[2]
MASKED = KERNEL.replace("x_ptr + offsets)", "x_ptr + offsets, offsets < n)")
BROKEN = "import triton\ndef f(:\n"
CONCISE = ("--output-format", "concise")


def git(folder, *arguments):
    settings = ["user.name=t", "user.email=t@example.org", "init.defaultBranch=main", "commit.gpgsign=false"]
    settings += ["protocol.file.allow=always", "core.autocrlf=false"]
    options = [word for setting in settings for word in ("-c", setting)]
    done = subprocess.run(
        ["git", "-C", str(folder), *options, *arguments], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def commit(folder, message="more"):
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", message)


@pytest.fixture
def branch(project):
    """A branch of a repository whose main branch has a kernel with a finding."""
    git(project, "init", "-q", "-b", "main")
    (project / ".gitignore").write_text(".tritonlint_cache/\n")
    (project / "k.py").write_text(KERNEL)
    commit(project)
    git(project, "switch", "-q", "-c", "work")
    return project


@pytest.fixture
def reported(tritonlint):
    """The files in which something is reported, and what is said."""

    def run(*arguments, base="main", stdin=b""):
        outcome = tritonlint("check", "--diff-base", base, *CONCISE, *arguments, stdin=stdin)
        assert outcome.code in (0, 1), outcome.err
        assert (outcome.code == 1) == bool(outcome.out), outcome
        return [line.split(":")[0] for line in outcome.out.splitlines()]

    return run


def test_nothing_is_new_on_a_branch_that_adds_nothing(branch, tritonlint):
    outcome = tritonlint("check", "--diff-base", "main")
    assert (outcome.code, outcome.out) == (0, "")
    assert outcome.err == "no findings (1 file read, 1 with Triton; 1 there since main)\n"


def test_what_is_committed_changed_or_untracked_is_the_branchs(branch, reported):
    (branch / "committed.py").write_text(KERNEL)
    commit(branch)
    (branch / "staged.py").write_text(KERNEL)
    git(branch, "add", "staged.py")
    (branch / "untracked.py").write_text(KERNEL)
    (branch / "k.py").write_text("# moved\n\n" + KERNEL + "\n@triton.jit" + SECOND)
    assert reported() == ["committed.py", "k.py", "staged.py", "untracked.py"]


def test_what_main_did_since_is_not_the_branchs(branch, reported):
    (branch / "mine.py").write_text(KERNEL)
    commit(branch)
    git(branch, "switch", "-q", "main")
    (branch / "k.py").write_text(MASKED)
    commit(branch)
    git(branch, "switch", "-q", "work")
    assert reported() == ["mine.py"]


def test_any_name_of_a_commit_will_do(branch, reported):
    (branch / "mine.py").write_text(KERNEL)
    commit(branch)
    git(branch, "tag", "v1")
    (branch / "more.py").write_text(KERNEL)
    assert reported(base="v1") == ["more.py"]
    assert reported(base="HEAD~1") == ["mine.py", "more.py"]
    assert reported(base=git(branch, "rev-parse", "main")) == ["mine.py", "more.py"]


def test_a_launch_can_make_a_kernel_in_another_file_wrong(tmp_path, monkeypatch, tritonlint):
    """The file with the finding has not changed: the whole project is checked, before and after."""
    monkeypatch.chdir(tmp_path)
    kernel = MASKED.replace("offsets < n)", "mask=offsets < n)", 1)
    host = "import triton\nfrom kernel import copy\n\ndef run(x, y):\n    copy[(1,)](x, y, 5, BLOCK={})\n"
    git(tmp_path, "init", "-q", "-b", "main")
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "kernel.py").write_text(kernel)
    (tmp_path / "host.py").write_text(host.format(128))
    commit(tmp_path)
    assert tritonlint("check", "--diff-base", "main").code == 0
    (tmp_path / "host.py").write_text(host.format(96))
    outcome = tritonlint("check", "--diff-base", "main", "kernel.py", *CONCISE)
    assert outcome.code == 1
    assert "TL201" in outcome.out
    commit(tmp_path)
    assert tritonlint("check", "--diff-base", "main", "kernel.py").code == 0


def test_the_working_tree_and_the_index_stay_as_they_are(branch, reported):
    (branch / "k.py").write_text(KERNEL + "\n@triton.jit" + SECOND)
    before = git(branch, "status", "--porcelain=v2"), (branch / ".git" / "index").read_bytes()
    assert reported() == ["k.py"]
    assert (git(branch, "status", "--porcelain=v2"), (branch / ".git" / "index").read_bytes()) == before


def test_nothing_is_left_behind(branch, reported, tmp_path_factory, monkeypatch):
    place = tmp_path_factory.mktemp("temporary")
    monkeypatch.setattr(diff_base.tempfile, "tempdir", str(place))
    where = os.getcwd()
    reported()
    assert list(place.iterdir()) == []
    assert os.getcwd() == where


@pytest.mark.parametrize("arguments", [("pkg",), ("pkg/k.py",), (".",), ("pkg/k.py", "other")])
def test_paths_and_working_directories(branch, reported, monkeypatch, arguments):
    for name in ("pkg", "other"):
        (branch / name).mkdir()
        (branch / name / "k.py").write_text(KERNEL)
    git(branch, "switch", "-q", "main")
    commit(branch)
    (branch / "pkg" / "k.py").write_text(KERNEL + "\n@triton.jit" + SECOND)
    assert reported(*arguments) == ["pkg/k.py"]
    monkeypatch.chdir(branch / "pkg")
    assert reported() == ["k.py"]
    assert reported("..") == ["k.py"]
    monkeypatch.chdir(branch.parent)
    assert reported(branch) == [f"{branch.name}/pkg/k.py"]


def test_a_path_through_a_symbolic_link(branch, reported, tmp_path_factory):
    link = tmp_path_factory.mktemp("links") / "link"
    link.symlink_to(branch)
    assert reported(link) == []
    (branch / "new.py").write_text(KERNEL)
    assert [Path(path).name for path in reported(link)] == ["new.py"]


def test_a_file_and_a_folder_that_are_links(branch, reported):
    (branch / "pkg").mkdir()
    (branch / "pkg" / "real.py").write_text(KERNEL)
    (branch / "linked.py").symlink_to("pkg/real.py")
    (branch / "folder").symlink_to("pkg")
    (branch / "outside").symlink_to("/")
    git(branch, "switch", "-q", "main")
    commit(branch)
    assert reported() == []


@pytest.mark.parametrize("how", ["git mv", "git add"])
def test_a_renamed_file_keeps_its_past(branch, reported, how):
    (branch / "k.py").write_text(KERNEL + "\n@triton.jit" + SECOND)
    git(branch, "switch", "-q", "main")
    commit(branch)
    (branch / "pkg").mkdir()
    if how == "git mv":
        git(branch, "mv", "k.py", "pkg/better.py")
    else:
        (branch / "k.py").rename(branch / "pkg" / "better.py")
        git(branch, "add", "-A")
    assert reported() == []
    file = branch / "pkg" / "better.py"
    file.write_text(file.read_text() + "\n@triton.jit" + SECOND.replace("second", "third"))
    assert reported() == ["pkg/better.py"]


def test_settings_are_those_of_the_branch(branch, reported):
    (branch / "tritonlint.toml").write_text('packs = ["sample_pack"]\nmin-confidence = "low"\n')
    assert reported() == []
    (branch / "pkg").mkdir()
    (branch / "pkg" / "pyproject.toml").write_text("")
    assert reported("--min-confidence", "low", "--select", "SP") == []


def test_patterns_mean_the_same_paths(branch, reported):
    (branch / "tests").mkdir()
    (branch / "tests" / "k.py").write_text(KERNEL)
    git(branch, "switch", "-q", "main")
    commit(branch)
    (branch / "tritonlint.toml").write_text(
        'packs = ["sample_pack"]\nexclude = ["/k.py"]\n[per-file-ignores]\n"tests/" = ["SP102"]\n'
    )
    assert reported() == []
    (branch / "tritonlint.toml").write_text('packs = ["sample_pack"]\n')
    (branch / "other.toml").write_text('packs = ["sample_pack"]\nexclude = ["/k.py"]\n')
    assert reported("--config", "other.toml") == []


def test_a_configuration_above_the_repository(tmp_path, monkeypatch, reported):
    (tmp_path / "tritonlint.toml").write_text('packs = ["sample_pack"]\nexclude = ["repo/old/"]\n')
    repo = tmp_path / "repo"
    (repo / "old").mkdir(parents=True)
    for name in ("k.py", "old/k.py"):
        (repo / name).write_text(KERNEL)
    git(repo, "init", "-q", "-b", "main")
    commit(repo)
    monkeypatch.chdir(repo)
    assert reported() == []
    (repo / "new.py").write_text(KERNEL)
    assert reported() == ["new.py"]


def test_what_git_ignores_is_no_ones(branch, reported):
    (branch / ".gitignore").write_text("build/\n.tritonlint_cache/\n")
    (branch / "build").mkdir()
    (branch / "build" / "k.py").write_text(KERNEL)
    assert reported() == []
    assert reported("build/k.py") == ["build/k.py"]


def test_what_could_not_be_checked_is_always_told(branch, reported):
    (branch / "broken.py").write_text(BROKEN)
    git(branch, "switch", "-q", "main")
    commit(branch)
    assert reported() == ["broken.py"]


def test_submodules_have_a_past_of_their_own(branch, reported, tmp_path_factory):
    other = tmp_path_factory.mktemp("other")
    git(other, "init", "-q", "-b", "main")
    (other / "k.py").write_text(KERNEL)
    commit(other)
    git(branch, "submodule", "--quiet", "add", str(other), "sub")
    assert reported() == []
    commit(branch)
    assert reported() == []
    assert reported(base="HEAD") == []


def test_odd_names(branch, reported):
    names = ["with space.py", "ünï.py", 'quo"te.py', "new\nline.py", "tab\t.py"]
    for name in names:
        (branch / name).write_text(KERNEL)
    git(branch, "switch", "-q", "main")
    commit(branch)
    assert reported() == []


def test_line_ends_of_windows(branch, reported):
    (branch / "k.py").write_bytes(KERNEL.replace("\n", "\r\n").encode())
    assert reported() == []


# --- the cache and other options ----------------------------------------------------------------------


def test_the_base_is_checked_once(branch, reported, monkeypatch):
    checks, real = [], diff_base.check_paths

    def counting(*given, **how):
        checks.append(given)
        return real(*given, **how)

    monkeypatch.setattr(diff_base, "check_paths", counting)
    assert reported() == reported() == []
    assert len(checks) == 1
    (branch / "new.py").write_text(KERNEL)
    assert reported() == ["new.py"]
    assert len(checks) == 1
    assert reported("--select", "SP102") == []
    assert len(checks) == 2
    (branch / "tritonlint.toml").write_text('packs = ["sample_pack"]\n# other\n')
    reported()
    assert len(checks) == 3
    reported("--no-cache")
    assert len(checks) == 4


def test_a_spoilt_answer_counts_as_none(branch, reported):
    reported()
    (file,) = (branch / ".tritonlint_cache").glob("base-*.json")
    for spoilt in (b"", b"[]", b'{"keys": 3}', b'{"keys": [[1]]}'):
        file.write_bytes(spoilt)
        assert reported() == []


def test_several_processes(branch, reported):
    for number in range(12):
        (branch / f"k{number}.py").write_text(KERNEL)
    git(branch, "switch", "-q", "main")
    commit(branch)
    (branch / "new.py").write_text(KERNEL)
    assert reported("--jobs", "2", "--no-cache") == ["new.py"]


def test_only_what_is_new_is_fixed(branch, tritonlint):
    (branch / "k.py").write_text(KERNEL + "\n@triton.jit" + SECOND)
    tritonlint("check", "--diff-base", "main", "--fix", "--unsafe-fixes")
    first, second = (branch / "k.py").read_text().split("def second")
    assert "x = tl.load(x_ptr + offsets)" in first
    assert "x = 0\n" in second


def test_beside_a_baseline(branch, tritonlint):
    (branch / "old.py").write_text(KERNEL)
    tritonlint("check", "old.py", "--write-baseline")
    (branch / "new.py").write_text(KERNEL)
    outcome = tritonlint(
        "check",
        "--diff-base",
        "main",
        "--baseline",
        "tritonlint-baseline.json",
        "--strict-baseline",
        *CONCISE,
    )
    assert outcome.out.startswith("new.py:8:9")
    assert "(3 files read, 3 with Triton; 1 in the baseline; 1 there since main)" in outcome.err


def test_standard_input_is_a_file_with_other_content(branch, tritonlint):
    named = ("check", "-", "--diff-base", "main", *CONCISE)
    outcome = tritonlint(
        *named, "--stdin-filename", "k.py", stdin=(KERNEL + "\n@triton.jit" + SECOND).encode()
    )
    assert len(outcome.out.splitlines()) == 1
    assert "give `--stdin-filename`" in tritonlint(*named, stdin=KERNEL.encode()).err


def test_in_a_hook(branch, reported, monkeypatch):
    """Git tells its hooks about the repository, in words that hold in their own folder only."""
    monkeypatch.setenv("GIT_DIR", ".git")
    monkeypatch.setenv("GIT_INDEX_FILE", ".git/index")
    (branch / "pkg").mkdir()
    (branch / "pkg" / "new.py").write_text(KERNEL)
    assert reported("pkg") == ["pkg/new.py"]


# --- what cannot be told ------------------------------------------------------------------------------


def refusal(outcome):
    assert (outcome.code, outcome.out) == (2, "")
    assert "Traceback" not in outcome.err
    return outcome.err


def test_no_repository(project, tritonlint):
    (project / "k.py").write_text(KERNEL)
    said = refusal(tritonlint("check", "--diff-base", "main"))
    assert said.startswith("tritonlint: `--diff-base main`: ")
    assert "is in no git repository" in said


@pytest.mark.parametrize("revision", ["gone", "-x", "", "main:k.py", "HEAD^{tree}"])
def test_no_such_revision(branch, tritonlint, revision):
    said = refusal(tritonlint("check", f"--diff-base={revision}"))
    assert f"there is no revision `{revision}` in {branch}" in said


def test_no_commit_yet(project, tritonlint):
    git(project, "init", "-q", "-b", "main")
    assert "there is no revision `main`" in refusal(tritonlint("check", "--diff-base", "main"))


def test_nothing_in_common(branch, tritonlint):
    git(branch, "switch", "-q", "--orphan", "island")
    (branch / "k.py").write_text(KERNEL)
    (branch / "tritonlint.toml").write_text('packs = ["sample_pack"]\n')
    assert "has no commit yet" in refusal(tritonlint("check", "--diff-base", "main"))
    commit(branch)
    assert "HEAD and `main` have no commit in common" in refusal(tritonlint("check", "--diff-base", "main"))


def test_a_branch_that_only_the_remote_has(branch, tritonlint, tmp_path_factory):
    clone = tmp_path_factory.mktemp("clone") / "c"
    subprocess.run(["git", "clone", "-q", "-b", "work", str(branch), str(clone)], check=True)
    said = refusal(tritonlint("check", "--diff-base", "main", clone))
    assert "did you mean `origin/main`?" in said
    assert tritonlint("check", "--diff-base", "origin/main", clone).code == 0


def test_a_shallow_clone(branch, tritonlint, tmp_path_factory):
    (branch / "new.py").write_text(KERNEL)
    commit(branch)
    clone = tmp_path_factory.mktemp("clone") / "c"
    command = ["git", "clone", "-q", "--depth", "1", "-b", "work", branch.as_uri(), str(clone)]
    subprocess.run(command, check=True)
    said = refusal(tritonlint("check", "--diff-base", "origin/main", clone))
    assert "this clone is shallow: `git fetch --unshallow`, or `fetch-depth: 0`" in said
    git(clone, "fetch", "-q", "--depth", "1", "origin", "main:refs/remotes/origin/main")
    said = refusal(tritonlint("check", "--diff-base", "origin/main", clone))
    assert "no commit in common; this clone is shallow" in said


def test_no_git(branch, tritonlint, monkeypatch):
    monkeypatch.setenv("PATH", str(branch))
    assert "git is not installed" in refusal(tritonlint("check", "--diff-base", "main"))


def test_a_disk_that_is_full(branch, tritonlint, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(diff_base._Mirror, "write", full)
    said = refusal(tritonlint("check", "--diff-base", "main"))
    assert "the files of that revision cannot be written: [Errno 28] No space left on device" in said


def test_several_repositories(branch, tritonlint, tmp_path_factory):
    other = tmp_path_factory.mktemp("other")
    git(other, "init", "-q")
    said = refusal(tritonlint("check", "--diff-base", "main", branch, other))
    assert "several git repositories" in said


def test_a_thousand_files_take_no_process_each(branch, reported):
    (branch / "many").mkdir()
    for number in range(1000):
        (branch / "many" / f"m{number}.py").write_text(f"x = {number}\n")
    git(branch, "switch", "-q", "main")
    commit(branch)
    start = time.monotonic()
    assert reported("--no-cache") == []
    assert time.monotonic() - start < 20
