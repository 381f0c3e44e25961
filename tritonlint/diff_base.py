"""What was found where a branch began: the same paths with the same settings, in the files of that commit.

The files are written to a temporary folder in which every path of the file system has its place, so that
paths, patterns and fingerprints come out as they do in the working tree. Which folders are projects, what is
ignored and what is checked for is told by the working tree: a branch that changes the configuration does not
have to answer for what was there before.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from tritonlint import baseline, cache
from tritonlint.baseline import Key
from tritonlint.config import FILE_NAMES, Settings, SettingsFinder
from tritonlint.files import SUFFIXES
from tritonlint.finding import Finding
from tritonlint.fingerprint import stable_path, with_fingerprints
from tritonlint.git import Blob, GitError, Repository
from tritonlint.known import Base
from tritonlint.patterns import is_within
from tritonlint.roots import project_root
from tritonlint.run import check_paths
from tritonlint.source import ParseFailure, Source

_TOLD_BY_THE_WORKING_TREE = (*FILE_NAMES, ".gitignore")


def base_of(
    revision: str,
    paths: Iterable[Path],
    finder: SettingsFinder,
    *,
    jobs: int = 1,
    kept_in: Path | None = None,
    tell: Callable[[int, int], None] | None = None,
) -> Base:
    """What is found under some paths at the commit where HEAD left `revision`.

    Args:
        revision: a branch, a tag or a commit.
        paths: what is checked in the working tree.
        finder: gives the settings of every file of the working tree.
        jobs: the number of processes.
        kept_in: the folder of the cache, None to check everything anew.
        tell: is told how many of how many files are done, now and then.

    Raises:
        GitError: Git does not know the files of that commit.
        ConfigError, PackError: as for `check_paths`.
    """
    given = [_resolved(path) for path in paths]
    repository = _repository_of(given)
    past = _Past(repository, repository.branch_point(revision), given, finder)
    key = past.question() if kept_in is not None else None
    keys = cache.recall(kept_in, key) if kept_in is not None and key is not None else None
    if keys is None:
        keys = past.keys(jobs, tell)
        if kept_in is not None and key is not None:
            cache.remember(kept_in, key, keys)
    return Base(revision, frozenset(keys), _Places(repository.top, tuple(repository.submodules())).key_of)


def _resolved(path: str | Path) -> Path:
    """A path in a folder by its real name, as Git has it; a file that is a link stays one."""
    absolute = os.path.abspath(path)
    if os.path.isdir(absolute):
        return Path(os.path.realpath(absolute))
    folder, name = os.path.split(absolute)
    return Path(os.path.realpath(folder), name)


def _repository_of(paths: list[Path]) -> Repository:
    found: dict[Path, Repository] = {}
    for path in paths:
        folder = path
        while not folder.is_dir():  # a path that is gone is told by the run
            folder = folder.parent
        repository = Repository.around(folder)
        found[repository.top] = repository
    if len(found) != 1:
        tops = ", ".join(str(top) for top in sorted(found))
        raise GitError(f"the paths lie in several git repositories, of which each has its own past: {tops}")
    return next(iter(found.values()))


@dataclass(frozen=True, slots=True)
class _Places:
    """Names for the files below a folder that do not depend on where it is."""

    top: Path
    submodules: tuple[str, ...] = ()

    def key_of(self, finding: Finding) -> Key | None:
        """Path from the top, and fingerprint; None for what belongs to another repository."""
        place = self.of(finding.path)
        if any(place.startswith(f"{submodule}/") for submodule in self.submodules):
            return None
        return place, finding.fingerprint

    def of(self, path: str) -> str:
        """A path from the top."""
        return os.path.relpath(_resolved(path), self.top).replace(os.sep, "/")


class _Past:
    """A commit, and what is asked of it."""

    def __init__(
        self, repository: Repository, commit: str, given: list[Path], finder: SettingsFinder
    ) -> None:
        self._repository, self._commit, self._given, self._finder = repository, commit, given, finder
        self._told = {
            name: repository.top / name
            for name in repository.working_files(*_TOLD_BY_THE_WORKING_TREE)
            if (repository.top / name).is_file()
        }
        self._renames = {
            old: new for old, new in repository.renames(commit).items() if old.endswith(SUFFIXES)
        }

    def question(self) -> str:
        """A digest of all that the answer depends on."""
        folders = sorted({*self._given, self._repository.top, *(file.parent for file in self._told.values())})
        settings = [self._finder.of_folder(folder) for folder in folders]
        packs = sorted({pack for one in settings for pack in one.packs})
        parts = [self._commit, self._repository.top, os.getcwd(), self._given, sorted(self._renames.items())]
        parts += [settings, [(name, file.read_bytes()) for name, file in sorted(self._told.items())]]
        parts.append(cache.version_of(tuple(packs)))
        return hashlib.blake2b(repr(parts).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()

    def keys(self, jobs: int, tell: Callable[[int, int], None] | None) -> list[Key]:
        """Write the files down, check them, and give what is found there a name."""
        with tempfile.TemporaryDirectory(prefix="tritonlint-", ignore_cleanup_errors=True) as temporary:
            mirror = _Mirror(Path(os.path.realpath(temporary)))
            self._write_down(mirror)
            self._finder.of_folder(
                self._repository.top
            )  # a file for all paths is read from where it was given
            paths = [path for one in self._given if os.path.lexists(path := mirror.of(one))]
            # Paths are shown from the working directory, so there must be one in the same place.
            mirror.of(Path.cwd()).mkdir(parents=True, exist_ok=True)
            with contextlib.chdir(mirror.of(Path.cwd())):
                run = check_paths(paths, _MirroredSettings(self._finder, mirror), jobs=jobs, tell=tell)
                found = [finding for finding in run.findings if baseline.takes(finding)]
                places = _Places(mirror.of(self._repository.top))
                keys = [(places.of(finding.path), finding.fingerprint) for finding in found]
                return sorted({*keys, *self._renamed(found, places)})

    def _write_down(self, mirror: _Mirror) -> None:
        top = self._repository.top
        wanted = list(self._wanted())
        files = [blob for blob in wanted if not blob.is_link]
        for blob, data in self._repository.contents(files):
            mirror.write(top / blob.path, data)
        for file in self._told.values():
            mirror.write(file, file.read_bytes())
        mirror.of(top / ".git").mkdir(parents=True, exist_ok=True)  # where a project and its ignores end
        # Last, so that nothing is written through a link.
        for blob, data in self._repository.contents([blob for blob in wanted if blob.is_link]):
            mirror.link(top / blob.path, os.fsdecode(data))

    def _wanted(self) -> Iterator[Blob]:
        """Files that are checked or belong to a project of which something is checked."""
        roots = {root for path in self._given for root in (path, _root_of(path))}
        for blob in self._repository.files(self._commit):
            if blob.is_link or blob.path.endswith(SUFFIXES):
                path = str(self._repository.top / blob.path)
                if any(path == str(root) or is_within(path, root) for root in roots):
                    yield blob

    def _renamed(self, found: list[Finding], places: _Places) -> Iterator[Key]:
        """The names that findings have had since their file has another."""
        by_place: dict[str, list[Finding]] = {}
        for finding in found:
            by_place.setdefault(places.of(finding.path), []).append(finding)
        for old, new in self._renames.items():
            findings = [replace(finding, fingerprint="") for finding in by_place.get(old, ())]
            if not findings:
                continue
            try:
                source = Source.from_bytes((places.top / old).read_bytes(), old)
            except (OSError, ParseFailure):
                continue
            file = self._repository.top / new
            path = stable_path(file, _root_of(file), new)
            for finding in with_fingerprints(findings, source.lines, path):
                yield new, finding.fingerprint


def _root_of(path: Path) -> Path:
    return project_root(path / "_" if path.is_dir() else path, path)


@dataclass(frozen=True, slots=True)
class _Mirror:
    """A folder in which each absolute path has its place."""

    folder: Path

    def of(self, path: Path) -> Path:
        """Where a path of the file system is here."""
        return self.folder / path.relative_to(path.anchor)

    def back(self, path: str | Path) -> Path:
        """The path that something here stands for."""
        absolute = Path(os.path.abspath(path))
        if not absolute.is_relative_to(self.folder):
            return absolute
        return Path(self.folder.anchor) / absolute.relative_to(self.folder)

    def write(self, path: Path, data: bytes) -> None:
        """Write a file."""
        target = self.of(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)

    def link(self, path: Path, to: str) -> None:
        """Make a symbolic link, where the system has such."""
        target = self.of(path)
        with contextlib.suppress(OSError):
            target.parent.mkdir(parents=True, exist_ok=True)
            if not os.path.lexists(target):
                target.symlink_to(to)


class _MirroredSettings(SettingsFinder):
    """The settings of the working tree for the same paths in a mirror."""

    def __init__(self, finder: SettingsFinder, mirror: _Mirror) -> None:
        super().__init__()
        self._finder, self._mirror = finder, mirror
        self._known: dict[str, Settings] = {}

    def of_folder(self, folder: str | Path) -> Settings:
        """Settings of a folder of the mirror: those of the folder it stands for, seen from here."""
        known = self._known.get(str(folder))
        if known is None:
            settings = self._finder.of_folder(self._mirror.back(folder))
            policy = replace(settings.policy, root=self._here(settings.policy.root))
            known = replace(settings, root=self._here(settings.root), policy=policy)
            self._known[str(folder)] = known
        return known

    def _here(self, root: Path | None) -> Path | None:
        return self._mirror.of(root.absolute()) if root is not None else None
