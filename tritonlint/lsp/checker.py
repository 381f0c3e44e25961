"""Texts of an editor become findings, in one thread: at a keystroke those that it can change, soon all.

What was read of a project is kept between checks, and what was concluded from it until a text changes, since
any text can change it. A keystroke in the body of a kernel is the exception: see `model/editing.py`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter

from tritonlint import catalog
from tritonlint.config import SettingsFinder
from tritonlint.engine import Context, check_kernels, check_source, rules_of_kernels
from tritonlint.evidence import Evidence
from tritonlint.failure import invalid_syntax
from tritonlint.files import display_path, mentions_triton
from tritonlint.finding import Edit, Finding, Fix, Position, Range, Related
from tritonlint.known import Known
from tritonlint.model.editing import Change, replaced
from tritonlint.roots import is_notebook, project_root
from tritonlint.source import ParseFailure, Source
from tritonlint.suppression import CODE as UNUSED

SYNTAX = "TL901"
_BYTE_ORDER_MARK = "\ufeff"
"""Reading a file takes it away; a client may send it."""


class Stopped(BaseException):
    """A newer text has come; no `except Exception` on the way may take this for a failure."""


@dataclass(frozen=True)
class Checked:
    """A text and what was found in it."""

    text: str
    findings: tuple[Finding, ...]

    @property
    def is_sound(self) -> bool:
        """Whether the text parsed, so that its findings can be carried over to the next."""
        return not any(finding.code == SYNTAX for finding in self.findings)


@dataclass(frozen=True)
class Quick:
    """What can be said of a text before all of it is checked."""

    findings: list[Finding]
    is_sure: bool
    """Whether it is what a whole check would say; else it is what was found before and has not changed."""


class Checker:
    """Finds, for the texts that are open, what `check` would find if they were on disk.

    What stands in the baseline of a file's settings is left out.

    Args:
        finder: gives the settings of every file.
        evidence: what runs said of findings.
    """

    def __init__(self, finder: SettingsFinder | None = None, evidence: Evidence | None = None) -> None:
        self._finder, self._evidence = finder or SettingsFinder(), evidence or Evidence()
        self._baselines = Known(self._finder, ())
        self._context = Context()
        self._texts: dict[Path, bytes] = {}
        self._known: dict[Path, Checked] = {}
        """The last sound text of each path."""
        self._edited: set[Path] = set()
        """Texts that have changed since the rest of what is known was concluded."""
        self._has_new_settings = False
        self._waiting: dict[Path, set[str]] = {}
        """The kernels that changed and were not checked yet, by name."""
        self.seconds = 0.0
        """What the last whole check took."""

    def forget(self, finder: SettingsFinder, evidence: Evidence) -> None:
        """Files have changed on disk, or settings: read everything anew."""
        self._evidence = evidence
        self.refresh(finder)
        self._context = Context(self._texts)
        self._edited.clear()
        self._known.clear()
        self._waiting.clear()

    def refresh(self, finder: SettingsFinder) -> None:
        """A file was saved, which may have been a configuration or a baseline."""
        self._finder, self._baselines, self._has_new_settings = finder, Known(finder, ()), True

    def close(self, path: Path) -> None:
        """A text is not open any more: what is on disk counts."""
        known, on_disk = self._texts.pop(path, None), b""
        with contextlib.suppress(OSError):
            on_disk = path.read_bytes()
        if known is not None and on_disk != self._context.texts.get(path):
            self._edited.clear()
            self._context = self._context.renewed({path: on_disk})
        self._known.pop(path, None)
        self._waiting.pop(path, None)

    def check(self, path: Path, text: str, folder: Path, poll: Callable[[], None]) -> list[Finding]:
        """All findings of a text.

        Args:
            path: of the file, whose project is the context.
            text: what is in the editor.
            folder: the workspace folder that it belongs to.
            poll: is called now and then, and may raise `Stopped`.

        Raises:
            ConfigError: a configuration file cannot be used.
            PackError: a rule pack cannot be loaded.
        """
        text = text.removeprefix(_BYTE_ORDER_MARK)
        data = text.encode("utf-8", "surrogatepass")
        context = self._context
        if self._edited or self._has_new_settings or context.texts.get(path) != data:
            context = context.renewed({path: data})
        start = perf_counter()
        findings = self._checked(path, text, folder, poll, context)
        self.seconds = perf_counter() - start
        checked = Checked(text, tuple(findings))
        if checked.is_sound:  # what was concluded before is of more use than that a text does not parse
            self._context, self._texts[path], self._known[path] = context, data, checked
            self._edited.clear()
            self._has_new_settings = False
            self._waiting.pop(path, None)
        return findings

    def quick(self, path: Path, text: str, folder: Path, poll: Callable[[], None]) -> Quick | None:
        """What can be said at once after an edit; None of a text that was never checked.

        Raises:
            ConfigError: a configuration file cannot be used.
            PackError: a rule pack cannot be loaded.
        """
        text, known = text.removeprefix(_BYTE_ORDER_MARK), self._known.get(path)
        if known is None:
            return None
        source, edit = Source(display_path(path), text), _Edit.between(known.text, text)
        if edit.is_comment:
            self._known[path] = replace(known, text=text)
            return Quick(list(known.findings), is_sure=True)
        kept = [moved for one in known.findings if (moved := edit.moved(one, source.path)) is not None]
        found = self._in_kernels(path, source, folder, poll, kept)
        if found is not None:
            found.sort(key=lambda one: one.sort_key)
            self._known[path] = Checked(text, tuple(found))
            is_open = self._has_new_settings or self._edited - {path}
            is_silenced = _may_be_silenced(text) or _may_be_silenced(known.text)
            return Quick(found, is_sure=not (is_open or is_silenced))
        try:
            source.tree  # noqa: B018 - parses, or raises
        except ParseFailure as failure:
            is_ours = mentions_triton(text.encode("utf-8", "replace"))
            kept += [invalid_syntax(failure, source.path)] if is_ours else []
        return Quick(kept, is_sure=False)

    def _checked(
        self, path: Path, text: str, folder: Path, poll: Callable[[], None], context: Context
    ) -> list[Finding]:
        settings = self._finder.of_file(path)
        if settings.excludes(path):
            return []
        context.poll = poll
        found = check_source(
            text.encode("utf-8", "surrogatepass") if is_notebook(path.name) else text,
            display_path(path),
            settings,
            file=path,
            root=project_root(path, folder),
            context=context,
        )
        return self._judged(found, context)

    def _judged(self, found: list[Finding], context: Context) -> list[Finding]:
        """Findings with what runs said of them, but for those that a baseline holds."""
        news = [one for one in found if self._baselines.is_news(one)]
        return self._evidence.merged(news, read=lambda shown: context.text(Path(shown).absolute()))

    def _in_kernels(
        self, path: Path, source: Source, folder: Path, poll: Callable[[], None], kept: list[Finding]
    ) -> list[Finding] | None:
        """The findings after an edit in the body of a kernel; None if it is another kind of edit.

        Args:
            path: of the file.
            source: what is in the editor.
            folder: the workspace folder that it belongs to.
            poll: is called now and then, and may raise `Stopped`.
            kept: what was found before outside the edit.
        """
        settings = self._finder.of_file(path)
        self._context.poll = poll
        module = self._context.project(project_root(path, folder)).known(path)
        if module is None or module.source.notebook is not None or settings.excludes(path):
            return None
        done = replaced(module, source, _Edit.between(module.source.text, source.text))
        if done is None:
            return None
        # Whatever ends this check, what comes next starts from here.
        self._known[path] = Checked(source.text, tuple(kept))
        self._edited.add(path)
        self._context.texts[path] = source.text.encode("utf-8", "surrogatepass")
        waiting = self._waiting.setdefault(path, set())
        waiting |= {info.name for info in done.before}
        waiting |= {kernel.name for kernel in done.affected()}
        affected = [kernel for kernel in module.kernels if kernel.name in waiting]
        found = self._judged(check_kernels(module, affected, settings, self._context), self._context)
        codes, names = rules_of_kernels(settings), frozenset(waiting)
        waiting.clear()
        known = codes | catalog.UNSUPPRESSIBLE | {UNUSED}
        return [one for one in kept if one.code in known and one.kernel not in names] + found

    def module_of(self, path: Path, text: str, folder: Path) -> object:
        """What the model makes of a text, for questions about it.

        Raises:
            ParseFailure: it does not parse.
        """
        project = self._context.project(project_root(path, folder))
        known = project.known(path)
        if known is not None and known.source.text == text:
            return known
        aside = project.renewed({path: text.encode("utf-8", "surrogatepass")})
        return aside.module(Source(display_path(path), text), path)


@dataclass(frozen=True)
class _Edit(Change):
    """Where two texts differ, and what that does to findings."""

    is_comment: bool
    """Whether only the words of comments differ, and none that speaks to a linter."""

    @classmethod
    def between(cls, old: str, new: str) -> _Edit:
        before, after = Source("", old).lines, Source("", new).lines
        least = min(len(before), len(after))
        same = next((i for i in range(least) if before[i] != after[i]), least)
        tail = next((i for i in range(least - same) if before[-1 - i] != after[-1 - i]), least - same)
        changed = list(zip(before[same : len(before) - tail], after[same : len(after) - tail], strict=False))
        is_comment = len(before) == len(after) and all(_differ_in_comments(*pair) for pair in changed)
        return cls(same + 1, len(before) - tail, len(after) - len(before), is_comment)

    def moved(self, finding: Finding, path: str) -> Finding | None:
        """A finding of the old text in the new one, None if it stood in what has changed."""
        start, end = finding.range.start.line, finding.range.end.line
        if start <= self.old_last and end >= self.first:
            return None
        if not self.shift:
            return finding
        related = tuple(
            Related(one.path, self._range(one.range) if one.path == path else one.range, one.message)
            for one in finding.related
        )
        fix = finding.fix
        if fix is not None:
            edits = tuple(
                Edit(one.path, self._range(one.range) if one.path == path else one.range, one.text)
                for one in fix.edits
            )
            fix = Fix(fix.title, fix.applicability, edits)
        return replace(finding, range=self._range(finding.range), related=related, fix=fix)

    def _range(self, where: Range) -> Range:
        return Range(self._position(where.start), self._position(where.end))

    def _position(self, place: Position) -> Position:
        behind = place.line > self.old_last
        return Position(place.line + self.shift, place.column) if behind else place


def _differ_in_comments(one: str, other: str) -> bool:
    both = one + other
    if any(sign in both for sign in _SPEAKING) or one.endswith("\\") or other.endswith("\\"):
        return False
    return one.split("#")[0].rstrip(" \t") == other.split("#")[0].rstrip(" \t")


_SPEAKING = ("'", '"', "tritonlint", "noqa", "triton", "torch_npu")
"""Where one of these stands in a line, what looks like a comment may be none, or may matter."""


def _may_be_silenced(text: str) -> bool:
    """Whether comments may silence findings: which of them do is known when all of the text is checked."""
    return "tritonlint:" in text or "noqa" in text
