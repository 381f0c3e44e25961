"""The fixes of findings, tried before they are kept: each must parse, silence its finding and bring no other.

Fixes that touch the same text take turns; what a fix makes fixable is fixed in the next round, until a round
changes nothing. A fix that fails its trial is dropped, and the reason is told.
"""

from __future__ import annotations

import difflib
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tritonlint import edits, notebook_edits, replacing
from tritonlint.config import SettingsFinder
from tritonlint.engine import Context, check_source
from tritonlint.files import display_path
from tritonlint.finding import Applicability, Edit, Finding, Severity
from tritonlint.ignores import ignored
from tritonlint.notebook import Notebook
from tritonlint.roots import project_root
from tritonlint.source import ParseFailure, Source

MAX_ROUNDS = 12
"""Rounds after which what still changes is left as it is."""

Counts = Counter[tuple[str, str | None]]


@dataclass(slots=True)
class Fixed:
    """What fixing came to. Nothing is written before `write` is called."""

    before: dict[Path, bytes] = field(default_factory=dict)
    """The files that changed, as they are on disk."""
    after: dict[Path, bytes] = field(default_factory=dict)
    applied: list[Finding] = field(default_factory=list)
    dropped: list[tuple[Finding, str]] = field(default_factory=list)
    """Fixes that failed, and why."""
    unsafe: int = 0
    """Fixes that were not tried because they are unsafe."""

    def collect(self, context: Context) -> None:
        """Take over the texts that differ from those on disk."""
        for path, data in context.texts.items():
            if data != (old := path.read_bytes()):
                self.before[path], self.after[path] = old, data

    def diff(self) -> str:
        """The change as a unified diff, which `git apply` takes."""
        return "".join(
            _diff(display_path(path), self.before[path], self.after[path]) for path in sorted(self.after)
        )

    def write(self) -> dict[Path, OSError]:
        """Put the changed files in place, each as a whole or not at all; mode and owner stay.

        Returns:
            Why files could not be written, which then are as they were and count as not changed.
        """
        failed: dict[Path, OSError] = {}
        for path in sorted(self.after):
            try:
                replacing.replace(path, self.after[path])
            except OSError as error:
                failed[path] = error
        for path in failed:
            del self.before[path], self.after[path]
        self.applied = [one for one in self.applied if Path(os.path.abspath(one.path)) not in failed]
        return failed


def fix(
    findings: Iterable[Finding],
    finder: SettingsFinder,
    given: Callable[[Path], Path],
    *,
    unsafe: bool = False,
    is_wanted: Callable[[Finding], bool] = lambda finding: True,
) -> Fixed:
    """Try the fixes of what was found, round by round.

    Args:
        findings: what was found in files on disk, with their fixes.
        finder: gives the settings of every file.
        given: the folder under which a file was asked for, which decides its project.
        unsafe: whether to try fixes that may change what the program does.
        is_wanted: whether a finding that turns up in a later round is to be fixed as well.
    """
    result = Fixed()
    waiting = list(findings)
    trial = _Trial(finder, given)
    refused: set[tuple[str, str, str]] = set()
    for _ in range(MAX_ROUNDS):
        wanted = [finding for finding in waiting if finding.fix is not None and _key(finding) not in refused]
        allowed = [one for one in wanted if unsafe or one.fix.applicability is Applicability.SAFE]  # type: ignore[union-attr]
        result.unsafe = len(wanted) - len(allowed)
        if not allowed:
            break
        chosen = list(_apart(allowed))
        for group in _groups(chosen, trial):
            for finding, reason in group:
                if reason is None:
                    result.applied.append(finding)
                else:
                    refused.add(_key(finding))
                    result.dropped.append((finding, reason))
        paths = {Path(os.path.abspath(finding.path)) for finding in waiting}
        waiting = [finding for finding in trial.findings_in(paths) if is_wanted(finding)]
    result.collect(trial.context)
    return result


def silence(
    findings: Iterable[Finding], finder: SettingsFinder, given: Callable[[Path], Path], reason: str
) -> Fixed:
    """Write a comment that ignores it, with the reason, behind each statement where something is found.

    Args:
        findings: what was found in files on disk.
        finder: gives the settings of every file.
        given: the folder under which a file was asked for.
        reason: what the comments say behind the rules; one line.
    """
    result = Fixed()
    trial = _Trial(finder, given)
    by_file: dict[str, list[Finding]] = {}
    for finding in findings:
        by_file.setdefault(finding.path, []).append(finding)
    for path, found in by_file.items():
        try:
            text = Source.from_bytes(trial.context.text(Path(os.path.abspath(path))), path).code
        except ParseFailure:  # what is found is that it cannot be read
            continue
        groups = ignored(found, text, reason)
        together = [finding for group in groups for finding in group]
        # A comment moves no line, so that one that fails leaves the others in their places.
        for group in [together] if trial.accept(together) is None else groups:
            failed = None if group is together else trial.accept(group)
            result.applied += [] if failed else group
            result.dropped += [(finding, failed) for finding in group if failed]
    result.collect(trial.context)
    return result


def _key(finding: Finding) -> tuple[str, str, str]:
    assert finding.fix is not None
    return (finding.code, finding.fingerprint, finding.fix.title)


def _apart(findings: list[Finding]) -> Iterator[Finding]:
    """Findings whose fixes do not touch each other, those further up first.

    In one kernel those of one rule, errors first: what makes an accumulator wide may settle a reduction
    behind it, and a remap that is kept needs no other.
    """
    taken: list[Edit] = []
    turn: dict[tuple[str, str | None], str] = {}
    for finding in sorted(findings, key=lambda one: (one.severity is not Severity.ERROR, one.code)):
        turn.setdefault((finding.path, finding.kernel), finding.code)
    for finding in sorted(findings, key=lambda one: one.sort_key):
        assert finding.fix is not None
        own_turn = turn[finding.path, finding.kernel] == finding.code
        if own_turn and not edits.overlap(finding.fix.edits, taken):
            taken += finding.fix.edits
            yield finding


def _groups(chosen: list[Finding], trial: _Trial) -> Iterator[list[tuple[Finding, str | None]]]:
    """What came of each fix: all of one file together, and one by one where that fails."""
    by_file: dict[str, list[Finding]] = {}
    for finding in chosen:
        by_file.setdefault(finding.path, []).append(finding)
    for group in by_file.values():
        if trial.accept(group) is None:
            yield [(finding, None) for finding in group]
            continue
        answers: list[tuple[Finding, str | None]] = []
        done: list[Edit] = []
        for finding in group:
            assert finding.fix is not None
            if done:  # what was kept has moved the rest: it comes again in the next round
                break
            reason = trial.accept([finding])
            answers.append((finding, reason))
            done += finding.fix.edits if reason is None else ()
        yield answers


class _Trial:
    """The texts as fixed so far, and what is found in them."""

    def __init__(self, finder: SettingsFinder, given: Callable[[Path], Path]) -> None:
        self.finder, self.given = finder, given
        self.context = Context()
        self._found: dict[Path, list[Finding]] = {}
        """What was found in files as they stand: a change to one may change the answer for any."""

    def findings_in(self, paths: Iterable[Path]) -> list[Finding]:
        """What is found in some files as they stand now."""
        for path in sorted(paths):
            if path not in self._found:
                self._found[path] = self._check(path, self.context)
        return [finding for path in sorted(paths) for finding in self._found[path]]

    def _check(self, path: Path, context: Context) -> list[Finding]:
        root, settings = project_root(path, self.given(path)), self.finder.of_file(path)
        data = context.text(path)
        return check_source(data, display_path(path), settings, file=path, root=root, context=context)

    def accept(self, group: list[Finding]) -> str | None:
        """Keep the fixes of some findings, or say what is wrong with them."""
        changed: dict[Path, bytes] = {}
        for path, made in _by_path(group).items():
            try:
                changed[path] = _edited(path, self.context.text(path), made)
            except (edits.Overlap, ParseFailure, UnicodeEncodeError) as error:
                return f"the file would not be sound: {error}"
        context = self.context.renewed(changed)
        found = {path: self._check(path, context) for path in sorted(changed)}
        before = _counted(self.findings_in(changed))
        after = _counted(finding for findings in found.values() for finding in findings)
        wanted = _counted(group)
        for key, count in wanted.items():
            if after[key] > before[key] - count:
                return f"{key[0]} would still be reported"
        for code, kernel in sorted(after, key=str):
            if after[code, kernel] > before[code, kernel]:
                return f"{code} would be reported instead" + (f" in `{kernel}`" if kernel else "")
        self.context, self._found = context, found
        return None


def _counted(findings: Iterable[Finding]) -> Counts:
    return Counter((finding.code, finding.kernel) for finding in findings)


def _by_path(group: Iterable[Finding]) -> dict[Path, list[Edit]]:
    found: dict[Path, list[Edit]] = {}
    for finding in group:
        for edit in finding.fix.edits if finding.fix is not None else ():
            found.setdefault(Path(os.path.abspath(edit.path)), []).append(edit)
    return found


def _edited(path: Path, data: bytes, made: list[Edit]) -> bytes:
    """The bytes of a file after some edits, in the encoding it had.

    Raises:
        ParseFailure: the result is no Python.
        Overlap, UnicodeEncodeError: the edits cannot be made.
    """
    source = Source.from_bytes(data, path.name)
    if source.notebook is not None:
        return _edited_notebook(path, source.notebook, made)
    text = edits.apply(source.text, made)
    Source("", text).tree  # noqa: B018 - parses, or raises
    return text.encode(source.encoding)


def _edited_notebook(path: Path, before: Notebook, made: list[Edit]) -> bytes:
    data = notebook_edits.apply(before, made).encode()
    after = Source.from_bytes(data, path.name)
    after.tree  # noqa: B018 - parses, or raises
    broken = after.notebook.failures if after.notebook is not None else ()
    if len(broken) > len(before.failures):
        raise broken[0]
    return data


def _diff(name: str, before: bytes, after: bytes) -> str:
    lines = difflib.unified_diff(_lines(before), _lines(after), f"a/{name}", f"b/{name}")
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )


def _lines(data: bytes) -> list[str]:
    """Lines as `git` sees them: a form feed ends none."""
    lines = data.decode("utf-8", "surrogateescape").split("\n")
    return [line + "\n" for line in lines[:-1]] + [lines[-1]] * bool(lines[-1])
