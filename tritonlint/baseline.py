"""Findings that a project lives with for now: a file beside the code, so that `check` reports what is new.

An entry belongs to a finding by its path and its fingerprint, which survives edits elsewhere in the file.
What else an entry holds is for the reader. Paths are seen from the folder of the baseline.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from tritonlint.catalog import UNSUPPRESSIBLE
from tritonlint.config import ConfigError
from tritonlint.files import display_path
from tritonlint.finding import Confidence, Finding
from tritonlint.nearest import did_you_mean

VERSION = 1
FILE_NAME = "tritonlint-baseline.json"
"""Where a baseline is written if nothing says otherwise."""
_MARK = "tritonlint-baseline"


class BaselineError(ConfigError):
    """A file that cannot be used as a baseline; the message says where and what to do."""


Key = tuple[str, str]
"""Path and fingerprint."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A finding that is silenced."""

    path: str
    code: str
    kernel: str | None
    confidence: Confidence
    """As it was when the entry was written: a run that shows only what is surer has no say about it."""
    message: str
    fingerprint: str
    reason: str | None = None
    """Why it may stay, where somebody wrote it into the file."""

    @property
    def key(self) -> Key:
        """What a finding must have to be this one."""
        return self.path, self.fingerprint

    @property
    def sort_key(self) -> tuple[str, ...]:
        """Entries are written by path, code and kernel: an order that edits do not shuffle."""
        return self.path, self.code, self.kernel or "", self.message, self.fingerprint

    def __str__(self) -> str:
        where = f" in `{self.kernel}`" if self.kernel else ""
        return f"{self.path}: {self.code}{where}: {self.message}"


@dataclass(frozen=True, slots=True)
class Baseline:
    """The entries of one file."""

    file: Path
    entries: tuple[Entry, ...] = ()

    @property
    def keys(self) -> frozenset[Key]:
        """What the entries are known by."""
        return frozenset(entry.key for entry in self.entries)

    def place(self, path: str | Path) -> str:
        """A path of the working directory as the entries have it."""
        folder, name = os.path.split(os.path.abspath(path))
        here = _real(os.path.dirname(os.path.abspath(self.file)))
        return os.path.relpath(os.path.join(_real(folder), name), here).replace(os.sep, "/")

    def path_of(self, entry: Entry) -> Path:
        """Where the file of an entry lies."""
        return Path(os.path.normpath(self.file.absolute().parent / entry.path))

    def key_of(self, finding: Finding) -> Key:
        """What an entry must have to silence a finding."""
        return self.place(finding.path), finding.fingerprint

    def entry_of(self, finding: Finding) -> Entry:
        """The entry that silences a finding."""
        return Entry(
            self.place(finding.path),
            finding.code,
            finding.kernel,
            finding.confidence,
            finding.message,
            finding.fingerprint,
        )

    def text(self) -> str:
        """The file: an entry on each line, so that two branches that change different ones merge."""
        lines = [f"  {_line(entry)}" for entry in sorted(self.entries, key=lambda one: one.sort_key)]
        body = "[\n" + ",\n".join(lines) + "\n ]" if lines else "[]"
        return f'{{\n "{_MARK}": {VERSION},\n "findings": {body}\n}}\n'

    def write(self) -> None:
        """Put the file in place as a whole.

        Raises:
            OSError: it cannot be written.
        """
        from tritonlint import replacing  # only a run that writes needs what it brings along

        replacing.replace(self.file, self.text().encode())


def takes(finding: Finding) -> bool:
    """Whether a baseline may silence a finding: not one that says that something was not checked."""
    return finding.code not in UNSUPPRESSIBLE


@lru_cache(maxsize=65536)
def _real(folder: str) -> str:
    return os.path.realpath(folder)


def _line(entry: Entry) -> str:
    said = {name: getattr(entry, name) for name in _FIELDS}
    if entry.reason is None:
        del said["reason"]
    text = json.dumps(said, ensure_ascii=False)
    # A file name may hold bytes that are no UTF-8, which JSON can only escape.
    return text if text.isascii() or _encodes(text) else json.dumps(said)


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


# --- reading ------------------------------------------------------------------------------------------
def read(file: Path) -> Baseline:
    """The baseline of a file.

    Raises:
        BaselineError: it cannot be read, or is no baseline.
    """
    name = display_path(file)
    try:
        text = file.read_bytes().decode("utf-8-sig")
    except FileNotFoundError as error:
        raise BaselineError(
            f"{name}: there is no such baseline; `tritonlint check --write-baseline` writes it"
        ) from error
    except OSError as error:
        raise BaselineError(f"{name}: cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise BaselineError(f"{name}:{line}: not valid UTF-8, which a baseline is written in") from error
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        marks = "<<<<<<<" in text or ">>>>>>>" in text
        remedy = "keep the entries of both sides and take out the marks of the merge" if marks else _REMEDY
        raise BaselineError(f"{name}:{error.lineno}: not valid JSON: {error.msg}; {remedy}") from error
    except RecursionError as error:
        raise BaselineError(f"{name}: no baseline: nested too deeply; {_REMEDY}") from error
    except ValueError as error:  # a number of more digits than Python reads
        raise BaselineError(f"{name}: no baseline: {error}; {_REMEDY}") from error
    return Baseline(file, _entries(name, text, document))


_REMEDY = "restore the file, or remove it and write it anew with `tritonlint check --write-baseline`"


def _entries(name: str, text: str, document: Any) -> tuple[Entry, ...]:
    if not isinstance(document, dict) or _MARK not in document:
        raise BaselineError(f'{name}:1: no baseline of tritonlint: it has no "{_MARK}"; {_REMEDY}')
    if document[_MARK] != VERSION:
        line = text[: text.find(f'"{_MARK}"')].count("\n") + 1
        raise BaselineError(
            f"{name}:{line}: a baseline of version {document[_MARK]!r}, this tritonlint reads {VERSION}: "
            "use the tritonlint that wrote it, or remove the file and write it anew"
        )
    findings = document.get("findings")
    if not isinstance(findings, list):
        raise BaselineError(f'{name}:1: no baseline: "findings" is no list; {_REMEDY}')
    entries: dict[Key, Entry] = {}
    for index, said in enumerate(findings):
        try:
            entry = _entry(said)
        except ValueError as error:
            line = _line_of(text, index)
            raise BaselineError(f"{name}:{line}: {error}; repair or remove this entry") from error
        known = entries.get(entry.key)  # a merge may leave an entry twice
        entries[entry.key] = entry if known is None or known.reason is None else known
    return tuple(entries.values())


_FIELDS = ("path", "code", "kernel", "confidence", "message", "fingerprint", "reason")
_OPTIONAL = ("kernel", "reason")


def _entry(said: Any) -> Entry:
    if not isinstance(said, dict):
        raise ValueError("an entry is an object")
    for name in said:
        if name not in _FIELDS:
            raise ValueError(f"an entry has no `{name}`{did_you_mean(name, _FIELDS)}")
    for name in _FIELDS:
        value = said.get(name)
        if not (isinstance(value, str) or (value is None and name in _OPTIONAL)):
            raise ValueError(f"`{name}` of an entry is a text" if name in said else f"`{name}` is missing")
    if said["confidence"] not in {one.value for one in Confidence}:
        raise ValueError(f"`confidence` is one of {', '.join(Confidence)}")
    return Entry(**{"kernel": None, **said, "confidence": Confidence(said["confidence"])})


def _line_of(text: str, index: int) -> int:
    """The line that the entry `index` begins on; the first, where the list is written in an odd way."""
    decoder = json.JSONDecoder()
    start = 0
    try:
        at = text.index("[", text.index('"findings"')) + 1
        for _ in range(index + 1):
            while text[at] in " \t\r\n,":
                at += 1
            start = at
            _, at = decoder.raw_decode(text, at)
    except (ValueError, IndexError):
        return 1
    return text[:start].count("\n") + 1


# --- writing anew -------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Change:
    """What writing a baseline anew does to it."""

    after: Baseline
    added: tuple[Entry, ...]
    removed: tuple[Entry, ...]
    moved: tuple[tuple[Entry, Entry], ...] = ()
    """Entries of files that were renamed, before and after; neither among those added nor removed."""


def renewed(before: Baseline, found: Iterable[Finding], gone: Iterable[Entry]) -> Change:
    """A baseline with what is found now and without what is gone; reasons stay with their entries.

    Args:
        before: as it is.
        found: what is to be silenced.
        gone: the entries of `before` that match nothing any more; the others stay.
    """
    known = {entry.key: entry for entry in before.entries}
    now = {entry.key: entry for entry in map(before.entry_of, filter(takes, found))}
    removed = {entry.key: entry for entry in gone if entry.key not in now}
    added = [entry for key, entry in now.items() if key not in known]
    after = {key: entry for key, entry in known.items() if key not in removed}
    after |= {
        key: replace(entry, reason=known[key].reason if key in known else None) for key, entry in now.items()
    }
    moved = []
    for entry in list(added):
        old = next((one for one in removed.values() if _is_renamed(before, one, entry)), None)
        if old is not None:
            del removed[old.key]
            added.remove(entry)
            after[entry.key] = new = replace(entry, reason=old.reason)
            moved.append((old, new))
    everything = sorted(after.values(), key=lambda one: one.sort_key)
    return Change(
        replace(before, entries=tuple(everything)), tuple(added), tuple(removed.values()), tuple(moved)
    )


def _is_renamed(baseline: Baseline, old: Entry, new: Entry) -> bool:
    """Whether the same is found in another file and the old one is gone."""
    same = (old.code, old.kernel, old.message) == (new.code, new.kernel, new.message)
    return same and old.path != new.path and not baseline.path_of(old).exists()
