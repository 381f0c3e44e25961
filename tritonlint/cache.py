"""What earlier runs found, kept until any file of the project changes.

A finding may rest on any file of its project: on a launch, an imported helper, a test of a size. So the
findings of a project hold together, and only as long as no Python file under its root was added, removed
or changed. Files are compared by time and size, and where those differ by their content, as in a fresh
checkout. Other settings, another version of tritonlint or of a rule pack, and another Python are other keys.

Nothing here can spoil a run: what cannot be read counts as absent, what cannot be written is left out, and
a file is replaced as a whole or not at all, so that runs side by side and runs that are killed do no harm.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tritonlint import __version__
from tritonlint.roots import python_files

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tritonlint.config import Settings
    from tritonlint.finding import Finding

FOLDER = ".tritonlint_cache"
VARIABLE = "TRITONLINT_CACHE_DIR"
_TAG = (
    "Signature: 8a477f597d28d172789f06886806bc55\n# A cache of tritonlint. See https://bford.info/cachedir/\n"
)

Stamp = tuple[int, int]
"""Time of change in nanoseconds, and size in bytes."""


def folder_of(settings: Settings, given: Path | None = None) -> Path:
    """Where a run keeps its cache: as told, beside the configuration file, or in the working directory."""
    if given is not None:
        return given
    if told := os.environ.get(VARIABLE):
        return Path(told)
    return (settings.file.absolute().parent if settings.file is not None else Path.cwd()) / FOLDER


@dataclass(frozen=True, slots=True)
class Known:
    """What an earlier run left of a file: whether it mentions Triton and so was checked, and its findings."""

    checked: bool
    findings: tuple[Finding, ...]


def _as_data(findings: Iterable[Finding]) -> list[Any]:
    from tritonlint.serial import to_data

    return [to_data(finding) for finding in findings]


def _read_back(kept: list[Any]) -> tuple[Finding, ...]:
    from tritonlint.serial import from_data

    return tuple(from_data(item) for item in kept)


class ProjectCache:
    """The findings of one project as an earlier run left them, and as this one will."""

    def __init__(self, folder: Path, root: Path, packs: tuple[str, ...]) -> None:
        self.root = root
        key = json.dumps([*version_of(packs), str(root), os.getcwd()])
        self._folder = folder
        self._file = folder / f"{hashlib.blake2b(key.encode(), digest_size=16).hexdigest()}.json"
        before = _read(self._file)
        self._hashes: dict[str, list[Any]] = before["files"] if before else {}
        self._answers: dict[str, dict[str, Any]] = before["answers"] if before else {}
        self._stamps = {path: stamp for path in python_files(root) if (stamp := _stamp(path)) is not None}
        self._changed = not before
        if not self._is_unchanged():
            self._answers = {}

    def _is_unchanged(self) -> bool:
        if self._hashes.keys() != self._stamps.keys():
            return False
        for path, stamp in self._stamps.items():
            time, size, digest = self._hashes[path]
            if (time, size) == stamp:
                continue
            if size != stamp[1] or _digest(path) != digest:
                return False
            self._hashes[path] = [*stamp, digest]
            self._changed = True
        return True

    def find(self, file: Path, settings: Settings) -> Known | None:
        """What is known of a file; None if it must be checked."""
        kept = self._answers.get(str(file))
        if kept is None or kept["settings"] != _digest_of(settings):
            return None
        if str(file) not in self._stamps and [*(_stamp(file) or ())] != kept["stamp"]:
            return None  # no Python file by its name, so that it is no part of the project
        try:
            findings = kept["findings"]
            return Known(findings is not None, _read_back(findings) if findings else ())
        except (KeyError, TypeError, ValueError, IndexError):
            return None

    def keep(self, file: Path, settings: Settings, findings: Iterable[Finding] | None) -> None:
        """Remember the findings of a file that was just checked; None if it does not mention Triton."""
        self._answers[str(file)] = {
            "settings": _digest_of(settings),
            "stamp": [*(_stamp(file) or ())],
            "findings": None if findings is None else _as_data(findings),
        }
        self._changed = True

    def save(self) -> None:
        """Write what is remembered, if anything is new and the disk allows it.

        A file that changed while the run went on makes all of it worthless.
        """
        if not self._changed or any(_stamp(path) != stamp for path, stamp in self._stamps.items()):
            return
        files = {
            path: self._hashes[path]
            if path in self._hashes and tuple(self._hashes[path][:2]) == stamp
            else [*stamp, _digest(path)]
            for path, stamp in self._stamps.items()
        }
        _write(self._folder, self._file, {"files": files, "answers": self._answers})


def clean(folder: Path) -> bool:
    """Remove a cache; False if there was none.

    Raises:
        OSError: it cannot be removed.
    """
    if not (folder / "CACHEDIR.TAG").is_file():
        return False
    import shutil

    shutil.rmtree(folder)
    return True


MAX_BASES = 16
"""So many answers about earlier commits are kept, the latest."""


def recall(folder: Path, question: str) -> list[tuple[str, str]] | None:
    """What was remembered as the answer to a question about a commit, which never changes."""
    try:
        answer = json.loads((folder / f"base-{question}.json").read_bytes())
        return [(path, fingerprint) for path, fingerprint in answer["keys"]]
    except (OSError, KeyError, TypeError, ValueError, RecursionError):
        return None


def remember(folder: Path, question: str, keys: list[tuple[str, str]]) -> None:
    """Keep the answer to a question, if the disk allows it."""
    _write(folder, folder / f"base-{question}.json", {"keys": keys})
    with contextlib.suppress(OSError):
        kept = sorted(folder.glob("base-*.json"), key=lambda file: file.stat().st_mtime_ns, reverse=True)
        for file in kept[MAX_BASES:]:
            file.unlink()


def version_of(packs: tuple[str, ...]) -> list[str]:
    """What else an answer depends on: tritonlint, the rule packs, and Python."""
    return [__version__, sys.version, _code_stamp(packs)]


def _stamp(path: str | Path) -> Stamp | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def _digest(path: str) -> str:
    try:
        return hashlib.blake2b(Path(path).read_bytes(), digest_size=16).hexdigest()
    except OSError:
        return ""


@lru_cache(maxsize=256)
def _digest_of(settings: Settings) -> str:
    return hashlib.blake2b(repr(settings).encode("utf-8", "replace"), digest_size=16).hexdigest()


@lru_cache(maxsize=8)
def _code_stamp(packs: tuple[str, ...]) -> str:
    """What changes with the code of tritonlint and of the rule packs, whether released or being written."""
    found = hashlib.blake2b(digest_size=16)
    for name in ("tritonlint", *packs):
        spec = find_spec(name)
        for place in spec.submodule_search_locations or [] if spec is not None else ():
            for path in python_files(Path(place)):
                found.update(f"{path}{_stamp(path)}".encode("utf-8", "surrogatepass"))
    return found.hexdigest()


def _read(file: Path) -> dict[str, Any]:
    try:
        data = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return data if _is_sound(data) else {}


def _is_sound(data: Any) -> bool:
    """Whether data has the form that `ProjectCache.save` gives it, as far as that is relied on."""
    if not isinstance(data, dict):
        return False
    files, answers = data.get("files"), data.get("answers")
    return (
        isinstance(files, dict)
        and all(isinstance(kept, list) and len(kept) == 3 for kept in files.values())
        and isinstance(answers, dict)
        and all(isinstance(kept, dict) and {"settings", "stamp"} <= kept.keys() for kept in answers.values())
    )


def _write(folder: Path, file: Path, data: dict[str, Any]) -> None:
    import tempfile  # a run that finds all as it was writes nothing

    temporary = None
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in (("CACHEDIR.TAG", _TAG), (".gitignore", "*\n")):
            if not (folder / name).exists():
                (folder / name).write_text(text, encoding="utf-8")
        handle, temporary = tempfile.mkstemp(dir=folder, suffix=".part")
        with os.fdopen(handle, "wb") as target:
            target.write(json.dumps(data, separators=(",", ":")).encode("utf-8", "surrogatepass"))
        os.replace(temporary, file)
    except (OSError, ValueError):
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
