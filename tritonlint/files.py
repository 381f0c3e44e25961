"""From the paths of a command line to the files to check. What is ignored is pruned, never walked."""

from __future__ import annotations

import errno
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tritonlint.patterns import compile_patterns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from pathspec import GitIgnoreSpec

    from tritonlint.config import SettingsFinder

SUFFIXES = (".py", ".pyi", ".ipynb")
"""What a walk takes for a file to check. Another kind of file is added here, and read in `source.py`."""

SKIPPED_FOLDERS = frozenset(
    {
        ".direnv", ".eggs", ".git", ".hg", ".ipynb_checkpoints", ".jj", ".mypy_cache", ".nox", ".pixi",
        ".pytest_cache", ".ruff_cache", ".svn", ".tox", ".tritonlint_cache", ".venv", "__pycache__",
        "__pypackages__", "node_modules",
    }
)  # fmt: skip
"""Folders without source of the project, whatever `.gitignore` says. One named explicitly is walked."""


@dataclass(frozen=True, slots=True)
class Found:
    """A file to check, and the folder of the command line it was found under."""

    file: Path
    given: Path


@dataclass(frozen=True, slots=True)
class _Ignore:
    """One `.gitignore` and the folder it stands in, as a prefix of paths."""

    prefix: str
    spec: GitIgnoreSpec


_Ignores = tuple[_Ignore, ...]


def discover(
    paths: Iterable[Path], finder: SettingsFinder, on_error: Callable[[Path, OSError], None]
) -> Iterator[Found]:
    """The files under `paths`, each once, in an order that depends on names alone.

    Folders are walked; symbolic links to folders are not followed, so no loop can be entered. A file that is
    named explicitly is always taken. A folder that cannot be listed goes to `on_error`, and so does a path
    at which there is nothing, or no file that can be read to its end.
    """
    seen: set[str] = set()
    for path in paths:
        absolute = os.path.abspath(path)
        if os.path.isdir(absolute):
            given = Path(absolute)
            found = [Found(Path(file), given) for file in _walk(absolute, finder, on_error)]
        else:
            found = _named(Path(absolute), on_error)
        for each in found:
            if str(each.file) not in seen:
                seen.add(str(each.file))
                yield each


def _named(file: Path, on_error: Callable[[Path, OSError], None]) -> list[Found]:
    """What a path of the command line stands for that is no folder."""
    try:
        if not stat.S_ISREG(os.stat(file).st_mode):
            # Reading a pipe would wait for a writer, and reading a device may never end.
            raise OSError(errno.EINVAL, "not a regular file (`-` reads standard input)")
    except OSError as error:
        on_error(file, error)
        return []
    return [Found(file, file.parent)]


def _walk(start: str, finder: SettingsFinder, on_error: Callable[[Path, OSError], None]) -> Iterator[str]:
    waiting: list[tuple[str, _Ignores]] = [(start, _ignores_above(start))]
    while waiting:
        folder, ignores = waiting.pop()
        try:
            with os.scandir(folder) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError as error:
            on_error(Path(folder), error)
            continue
        names = {entry.name for entry in entries}
        if "pyvenv.cfg" in names and folder != start:
            continue
        if ".gitignore" in names:
            ignores = (*ignores, *_read_ignore(folder))
        yield from (entry.path for entry in entries if _wants_file(entry, ignores, folder, finder))
        below = [entry.path for entry in entries if _wants_folder(entry, ignores, folder, finder)]
        waiting += [(path, ignores) for path in reversed(below)]


def _wants_file(entry: os.DirEntry[str], ignores: _Ignores, folder: str, finder: SettingsFinder) -> bool:
    return (
        entry.name.endswith(SUFFIXES)
        and _is_file(entry)
        and not _ignored(entry.path, ignores)
        and not finder.of_folder(folder).excludes(Path(entry.path))
    )


def _is_file(entry: os.DirEntry[str]) -> bool:
    """Whether a file is there, links followed; a link to itself leads nowhere, like one to what is gone."""
    try:
        return entry.is_file()
    except OSError:
        return False


def _wants_folder(entry: os.DirEntry[str], ignores: _Ignores, folder: str, finder: SettingsFinder) -> bool:
    return (
        entry.is_dir(follow_symlinks=False)
        and entry.name not in SKIPPED_FOLDERS
        and not _ignored(entry.path + "/", ignores)
        and not finder.of_folder(folder).excludes(Path(entry.path), folder=True)
    )


def _ignored(path: str, ignores: _Ignores) -> bool:
    """Whether Git ignores `path`: the deepest `.gitignore` that has an opinion decides."""
    for ignore in reversed(ignores):
        opinion = ignore.spec.check_file(path[len(ignore.prefix) :].replace(os.sep, "/")).include
        if opinion is not None:
            return opinion
    return False


def _ignores_above(start: str) -> _Ignores:
    """The `.gitignore` files from the root of the repository down to, not including, `start`.

    None outside a repository, and none if they ignore `start` itself: who names an ignored folder wants it.
    """
    parents: list[str] = []
    folder = start
    while not os.path.exists(os.path.join(folder, ".git")):
        above = os.path.dirname(folder)
        if above == folder:
            return ()
        folder = above
        parents.append(folder)
    ignores = tuple(ignore for parent in reversed(parents) for ignore in _read_ignore(parent))
    return () if _ignored(start + "/", ignores) else ignores


def _read_ignore(folder: str) -> _Ignores:
    """The `.gitignore` of a folder, if there is one that can be read. `pathspec` is imported only then.

    A malformed pattern matches nothing, as in Git, which does not complain of it either.
    """
    file = Path(folder, ".gitignore")
    if not os.path.isfile(file):
        return ()
    try:
        text = file.read_bytes().decode("utf-8", "replace")
    except OSError:
        return ()
    lines = tuple(text.splitlines())
    try:
        spec = compile_patterns(lines)
    except ValueError:
        spec = compile_patterns(tuple(line for line in lines if _valid(line)))
    return (_Ignore(os.path.join(folder, ""), spec),)


def _valid(line: str) -> bool:
    try:
        compile_patterns((line,))
    except ValueError:
        return False
    return True


def display_path(file: Path) -> str:
    """A path as findings show it: relative to the working directory, with `/`."""
    try:
        shown = os.path.relpath(file)
    except ValueError:  # another drive of Windows
        shown = str(file)
    return shown.replace(os.sep, "/")


def mentions_triton(data: bytes) -> bool:
    """Whether a file can hold Triton code at all: the cheapest test that misses none."""
    return b"triton" in data or b"gluon" in data
