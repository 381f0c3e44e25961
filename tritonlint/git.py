"""What is asked of Git: where a branch began, which files there were, and what has another name now.

Only the database and the index are read; nothing is checked out, and the working tree stays as it is.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

_OF_THE_CALLER = (
    "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY",
)  # fmt: skip
"""What Git tells a hook about the repository it runs in; here the folder decides."""

_SUBMODULE, _LINK = "160000", "120000"


class GitError(Exception):
    """An answer that Git cannot give; the message says what to change."""


@dataclass(frozen=True, slots=True)
class Blob:
    """A file of a commit, by its path from the top."""

    path: str
    id: str
    is_link: bool


@dataclass(frozen=True, slots=True)
class Repository:
    """A working tree, by its top folder."""

    top: Path

    @classmethod
    def around(cls, folder: Path) -> Repository:
        """The repository of a folder.

        Raises:
            GitError: there is none, or no Git.
        """
        done = _git(folder, "rev-parse", "--show-toplevel")
        top = os.fsdecode(done.stdout).rstrip("\r\n")
        if done.returncode or not top:
            said = done.stderr.decode("utf-8", "replace").strip()
            if "not a git repository" in said:
                raise GitError(f"{folder} is in no git repository")
            raise GitError(f"{folder}: {said or 'has no working tree'}")
        return cls(Path(os.path.realpath(top)))

    def branch_point(self, revision: str) -> str:
        """The commit at which HEAD left `revision`.

        Raises:
            GitError: there is no such revision, or nothing in common with it.
        """
        commit = self._commit(revision)
        if commit is None:
            raise GitError(f"there is no revision `{revision}` in {self.top}{self._hint(revision)}")
        if self._commit("HEAD") is None:
            raise GitError(f"{self.top} has no commit yet, so that there is nothing to compare with")
        done = _git(self.top, "merge-base", commit, "HEAD")
        found = done.stdout.decode().strip()
        if done.returncode or not found:
            raise GitError(f"HEAD and `{revision}` have no commit in common{self._hint(None)}")
        return found

    def _commit(self, revision: str) -> str | None:
        done = _git(self.top, "rev-parse", "--verify", "--quiet", "--end-of-options", revision + "^{commit}")
        return done.stdout.decode().strip() if done.returncode == 0 else None

    def _hint(self, revision: str | None) -> str:
        if revision is not None and self._commit(f"origin/{revision}") is not None:
            return f"; did you mean `origin/{revision}`?"
        if _git(self.top, "rev-parse", "--is-shallow-repository").stdout.strip() == b"true":
            return (
                "; this clone is shallow: `git fetch --unshallow`, or `fetch-depth: 0` for actions/checkout"
            )
        return ""

    def files(self, commit: str) -> Iterator[Blob]:
        """The files of a commit and its symbolic links; what lies in submodules is not of it.

        Raises:
            GitError: Git cannot read the commit.
        """
        listed = self._answer("ls-tree", "-r", "-z", "--full-tree", commit)
        for mode, identity, path in map(_tree_entry, _parts(listed)):
            parts = path.split("/")
            if mode != _SUBMODULE and not {"", ".", "..", ".git"}.intersection(parts):
                yield Blob(path, identity, mode == _LINK)

    def contents(self, blobs: Iterable[Blob]) -> Iterator[tuple[Blob, bytes]]:
        """Files with their bytes.

        Raises:
            GitError: one is not in the database.
        """
        wanted = list(blobs)
        given = "".join(f"{blob.id}\n" for blob in wanted).encode()
        data, at = self._answer("cat-file", "--batch", given=given), 0
        for blob in wanted:
            end = data.index(b"\n", at)
            kind, _, size = data[at:end].rpartition(b" ")
            if not kind.endswith(b" blob"):
                raise GitError(f"`{blob.path}` of that revision is missing in this clone of {self.top}")
            yield blob, data[end + 1 : end + 1 + int(size)]
            at = end + 1 + int(size) + 1

    def working_files(self, *names: str) -> list[str]:
        """The files of these names in the working tree, tracked or not, less what is ignored."""
        patterns = [f":(top,glob)**/{name}" for name in names]
        listed = self._answer(
            "ls-files", "-z", "--full-name", "--cached", "--others", "--exclude-standard", "--", *patterns
        )
        return sorted({os.fsdecode(path) for path in _parts(listed)})

    def submodules(self) -> list[str]:
        """The folders that belong to other repositories."""
        entries = _parts(self._answer("ls-files", "-z", "--full-name", "--stage"))
        return [
            os.fsdecode(entry.partition(b"\t")[2])
            for entry in entries
            if entry.startswith(_SUBMODULE.encode())
        ]

    def renames(self, commit: str) -> dict[str, str]:
        """Old and new paths of the files that have another name in the working tree, as far as Git knows."""
        listed = self._answer(
            "diff", "--name-status", "-z", "--find-renames", "--diff-filter=R", "--no-ext-diff",
            "--ignore-submodules", commit, "--",
        )  # fmt: skip
        words = [os.fsdecode(word) for word in _parts(listed)]
        return dict(zip(words[1::3], words[2::3], strict=True))

    def _answer(self, *arguments: str, given: bytes = b"") -> bytes:
        done = _git(self.top, *arguments, given=given)
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip()
            raise GitError(f"`git {arguments[0]}` failed in {self.top}: {said}")
        return done.stdout


def _tree_entry(entry: bytes) -> tuple[str, str, str]:
    """Mode, name in the database, and path."""
    about, _, path = entry.partition(b"\t")
    mode, _, identity = about.decode().split(" ")
    return mode, identity, os.fsdecode(path)


def _parts(listed: bytes) -> list[bytes]:
    return [part for part in listed.split(b"\0") if part]


def _git(folder: Path, *arguments: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    environment = {name: value for name, value in os.environ.items() if name not in _OF_THE_CALLER}
    environment |= {"LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"}
    try:
        return subprocess.run(
            ["git", "-C", str(folder), *arguments],
            input=given,
            capture_output=True,
            env=environment,
            check=False,
        )
    except FileNotFoundError as error:
        raise GitError("git is not installed, or not on the PATH") from error
    except OSError as error:
        raise GitError(f"git cannot be run: {error.strerror or error}") from error
