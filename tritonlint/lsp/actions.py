"""What a client offers to do about findings: fixes, all safe ones at once, comments that ignore them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from lsprotocol import types

from tritonlint import edits
from tritonlint.finding import Applicability, Edit, Finding, Range
from tritonlint.ignores import ignored
from tritonlint.lsp.convert import Columns, diagnostic, text_edit, uri_of
from tritonlint.source import Source

FIX_ALL = "source.fixAll.tritonlint"
REASON = "say why"
"""What stands in a comment where the reason belongs: the protocol has no way to ask for one."""


@dataclass(frozen=True)
class Opened:
    """A text in an editor."""

    uri: str
    path: str
    """As findings show it."""
    text: str
    version: int | None
    columns: Columns
    findings: Sequence[Finding]

    @property
    def newline(self) -> str:
        """How its lines end."""
        return edits.newline_of(self.text)


def actions(
    opened: Opened, where: Range, only: Iterable[str] | None, text_at: Callable[[str], Columns]
) -> Iterator[types.CodeAction]:
    """What can be done about the findings of a stretch of a text.

    Args:
        opened: the text and its findings.
        where: the selection.
        only: the kinds of actions that are asked for, None for all.
        text_at: the columns of another file, which a fix changes, too.
    """
    wanted = None if only is None else tuple(only)

    def asks_for(kind: str) -> bool:
        return wanted is None or any(kind == one or kind.startswith(f"{one}.") for one in wanted)

    here = [one for one in opened.findings if _touches(one.range, where)]
    if asks_for("quickfix"):
        for finding in here:
            if finding.fix is not None:
                yield _fix(finding, opened, text_at)
        yield from _ignore(here, opened)
    if asks_for(FIX_ALL):
        chosen = _safe(opened)
        if chosen:
            title = "fix all that tritonlint can fix safely"
            yield types.CodeAction(title, FIX_ALL, edit=_change(opened, chosen, text_at))


def _fix(finding: Finding, opened: Opened, text_at: Callable[[str], Columns]) -> types.CodeAction:
    assert finding.fix is not None
    is_safe = finding.fix.applicability is Applicability.SAFE
    return types.CodeAction(
        title=finding.fix.title if is_safe else f"{finding.fix.title} (may change results)",
        kind="quickfix",
        diagnostics=[diagnostic(finding, opened.columns)],
        is_preferred=is_safe or None,
        edit=_change(opened, finding.fix.edits, text_at),
    )


def _ignore(here: Sequence[Finding], opened: Opened) -> Iterator[types.CodeAction]:
    """A comment for each statement that something is found in."""
    text = Source(opened.path, opened.text).normalized
    for group in ignored(here, text, REASON) if here else ():
        codes = ", ".join(dict.fromkeys(one.code for one in group))
        made = [edit for one in group if one.fix is not None for edit in one.fix.edits]
        yield types.CodeAction(
            title=f"ignore {codes} here (then {REASON})",
            kind="quickfix",
            diagnostics=[diagnostic(one, opened.columns) for one in group],
            edit=_change(opened, made, lambda path: opened.columns),
        )


def _safe(opened: Opened) -> list[Edit]:
    """The edits of all safe fixes of this text that do not touch each other."""
    chosen: list[Edit] = []
    for finding in opened.findings:
        fix = finding.fix
        if fix is None or fix.applicability is not Applicability.SAFE:
            continue
        if all(edit.path == opened.path for edit in fix.edits) and not edits.overlap(fix.edits, chosen):
            chosen += [edit for edit in fix.edits if edit not in chosen]
    return chosen


def _change(opened: Opened, made: Iterable[Edit], text_at: Callable[[str], Columns]) -> types.WorkspaceEdit:
    by_path: dict[str, list[Edit]] = {}
    for edit in made:
        by_path.setdefault(edit.path, []).append(edit)
    changes: list[types.TextDocumentEdit] = []
    for path, group in by_path.items():
        is_own = path == opened.path
        columns = opened.columns if is_own else text_at(path)
        document = types.OptionalVersionedTextDocumentIdentifier(
            uri=opened.uri if is_own else uri_of(path), version=opened.version if is_own else None
        )
        changes.append(
            types.TextDocumentEdit(document, [text_edit(edit, columns, opened.newline) for edit in group])
        )
    return types.WorkspaceEdit(document_changes=changes)


def _touches(one: Range, other: Range) -> bool:
    return one.start <= other.end and other.start <= one.end
