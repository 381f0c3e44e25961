"""Comments that silence named rules: `# tritonlint: ignore[TL101]`, `ignore-file[...]`, `# noqa: TL101`."""

from __future__ import annotations

import io
import re
import sys
import tokenize
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from tritonlint.catalog import UNSUPPRESSIBLE
from tritonlint.finding import (
    Applicability,
    Confidence,
    Edit,
    Finding,
    Fix,
    Position,
    Range,
    Severity,
)
from tritonlint.nearest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

CODE = "TL902"
NAME = "unused-suppression"

_MARKS = ("tritonlint:", "noqa", "NOQA", "NoQA")
_OURS = re.compile(r"#\s*tritonlint:\s*(?P<kind>ignore-file|ignore)\b(?P<rules>\[[^\]]*\]?)?")
_WORD = re.compile(r"[^\s,\[\]]+")
_NOQA = re.compile(r"#\s*noqa\s*:\s*(?P<rules>[A-Z]+[0-9]+(?:[,\s]+[A-Z]+[0-9]+)*)", re.IGNORECASE)


class KernelLines(NamedTuple):
    """Where a kernel stands: its first decorator (or `def`), its `def` line, its last line."""

    name: str
    first: int
    header: int
    last: int


class _Words(NamedTuple):
    """How the rules of a comment are written, for the fix that takes some out."""

    entries: tuple[tuple[str, str], ...]
    """Each word and its code; a word of another tool is its own code."""
    range: Range
    """From the first word to the last."""
    whole: Range
    """What goes when no word is left: with the reason behind it, and the line if nothing else is on it."""

    def without(self, codes: Collection[str], path: str) -> Fix:
        left = [word for word, code in self.entries if code not in codes]
        if left:
            edit = Edit(path, self.range, ", ".join(left))
            return Fix(f"take {' and '.join(codes)} out of the comment", Applicability.SAFE, (edit,))
        return Fix("remove the comment", Applicability.SAFE, (Edit(path, self.whole, ""),))


@dataclass(frozen=True, slots=True)
class Suppression:
    """One comment and the lines it speaks for, both ends included."""

    rules: tuple[str, ...]
    """Codes; words that name no rule are in `problem`."""
    range: Range
    first_line: int
    last_line: int
    problem: str | None = None
    """Why the comment, or a part of it, can silence nothing."""
    words: _Words | None = None
    """None where the comment is not sound."""

    def covers(self, finding: Finding) -> bool:
        """Whether this comment silences `finding`."""
        return finding.code in self.rules and self.first_line <= finding.range.start.line <= self.last_line


class _Comment(NamedTuple):
    text: str
    line: int
    column: int
    """From 0."""
    first_line: int
    last_line: int
    before: str
    """What stands in front of it on its line."""
    is_last: bool
    """Whether the text ends with it, without a line end."""


def read_suppressions(
    text: str, kernels: Iterable[KernelLines], names: Mapping[str, str]
) -> tuple[Suppression, ...]:
    """All suppressions of a text. `names` maps the known codes to their rule names."""
    if "tritonlint:" not in text and not any(
        code in names
        for match in _NOQA.finditer(text)
        for code in re.split(r"[,\s]+", match["rules"].upper())
    ):
        return ()  # to read a text as tokens takes as long as to parse it several times
    extents = tuple(kernels)
    codes = {name: code for code, name in names.items()} | {code: code for code in names}
    return tuple(
        suppression
        for comment in _comments(text)
        for suppression in (*_ours(comment, extents, codes), *_noqa(comment, extents, codes))
    )


def apply_suppressions(
    findings: Iterable[Finding], suppressions: tuple[Suppression, ...], ran: Callable[[str], bool], path: str
) -> list[Finding]:
    """The findings that no comment silences, and one for each comment that silences nothing.

    `ran` says whether a rule ran on this file: a comment for a rule that did not is left in peace.
    """
    used: set[tuple[int, str]] = set()
    kept = [finding for finding in findings if not _silenced(finding, suppressions, used)]
    if ran(CODE):
        unused = [
            _unused_finding(suppression, unused_rules, path)
            for index, suppression in enumerate(suppressions)
            if (unused_rules := _unused_rules(index, suppression, used, ran)) or suppression.problem
        ]
        kept += [finding for finding in unused if not _silenced(finding, suppressions, used)]
    return kept


def _silenced(finding: Finding, suppressions: tuple[Suppression, ...], used: set[tuple[int, str]]) -> bool:
    if finding.code in UNSUPPRESSIBLE:
        return False
    fitting = [index for index, suppression in enumerate(suppressions) if suppression.covers(finding)]
    used.update((index, finding.code) for index in fitting)
    return bool(fitting)


def _unused_rules(
    index: int, suppression: Suppression, used: set[tuple[int, str]], ran: Callable[[str], bool]
) -> tuple[str, ...]:
    # A comment that allows itself to be unused (TL902) is never unused.
    return tuple(
        code for code in suppression.rules if code != CODE and ran(code) and (index, code) not in used
    )


def _unused_finding(suppression: Suppression, unused: tuple[str, ...], path: str) -> Finding:
    said = [suppression.problem] if suppression.problem else []
    if unused:
        said.append(f"there is no finding of {' or '.join(unused)} here to silence")
    return Finding(
        code=CODE,
        name=NAME,
        message="; ".join(said),
        severity=Severity.WARNING,
        confidence=Confidence.HIGH,
        path=path,
        range=suppression.range,
        # A word that names no rule is more likely misspelled than unwanted.
        fix=suppression.words.without(unused, path)
        if suppression.words and not suppression.problem
        else None,
    )


def _ours(
    comment: _Comment, kernels: tuple[KernelLines, ...], codes: Mapping[str, str]
) -> Iterator[Suppression]:
    for match in _OURS.finditer(comment.text):
        written = match["rules"] or ""
        words = [word.strip() for word in written.strip("[]").split(",") if word.strip()]
        first, last = _scope(comment, kernels)
        if match["kind"] == "ignore-file":
            first, last = 1, sys.maxsize
        rules = dict.fromkeys(codes[word] for word in words if word in codes and written.endswith("]"))
        yield Suppression(
            tuple(code for code in rules if code not in UNSUPPRESSIBLE),
            _range(comment, match),
            first,
            last,
            _problem(match["kind"], written, words, codes),
            _words(comment, match, codes) if words else None,
        )


def _problem(kind: str, written: str, words: list[str], codes: Mapping[str, str]) -> str | None:
    if not written or not words:
        return f"`{kind}` must name the rules it silences, as `{kind}[TL101]`"
    if not written.endswith("]"):
        return f"`{kind}[` is not closed by `]`"
    for word in words:
        if word not in codes:
            return f"there is no rule `{word}`{did_you_mean(word, codes)}"
        if codes[word] in UNSUPPRESSIBLE:
            return f"{codes[word]} cannot be silenced: it says that something was not checked"
    return None


def _noqa(
    comment: _Comment, kernels: tuple[KernelLines, ...], codes: Mapping[str, str]
) -> Iterator[Suppression]:
    for match in _NOQA.finditer(comment.text):
        words = re.split(r"[,\s]+", match["rules"].upper())
        # Codes of other tools stand in the same comment; only those that are rules here count.
        rules = tuple(code for code in dict.fromkeys(words) if code in codes and code not in UNSUPPRESSIBLE)
        if rules:
            yield Suppression(
                rules,
                _range(comment, match),
                *_scope(comment, kernels),
                words=_words(comment, match, {code: code for code in codes.values()}),
            )


def _range(comment: _Comment, match: re.Match[str]) -> Range:
    return _stretch(comment, match.start(), match.start() + len(match[0].rstrip()))


def _stretch(comment: _Comment, start: int, end: int) -> Range:
    at = comment.column + 1
    return Range(Position(comment.line, at + start), Position(comment.line, at + end))


def _words(comment: _Comment, match: re.Match[str], codes: Mapping[str, str]) -> _Words:
    found = list(_WORD.finditer(match["rules"]))
    start = match.start("rules")
    # The reason that follows belongs to the comment, up to the next one on the same line.
    end = comment.text.find("#", match.end())
    kept = comment.text[: match.start()]
    whole = _stretch(comment, len(kept.rstrip() if end < 0 else kept), len(comment.text) if end < 0 else end)
    if match.start() == 0 and end < 0:
        code = comment.before.rstrip()
        if code or comment.is_last:
            whole = Range(Position(comment.line, len(code) + 1), whole.end)
        else:
            whole = Range(Position(comment.line, 1), Position(comment.line + 1, 1))
    return _Words(
        tuple((word[0], codes.get(word[0], codes.get(word[0].upper(), word[0]))) for word in found),
        _stretch(comment, start + found[0].start(), start + found[-1].end()),
        whole,
    )


def _scope(comment: _Comment, kernels: tuple[KernelLines, ...]) -> tuple[int, int]:
    """The lines a comment speaks for: its statement, or the kernel at whose `def` or decorator it stands.

    Within a header of several lines, a comment beside one parameter or configuration means the header only.
    """
    if comment.line in (comment.first_line, comment.last_line):
        for kernel in kernels:
            if kernel.first <= comment.first_line <= kernel.header:
                return kernel.first, kernel.last
    return comment.first_line, comment.last_line


class Statement(NamedTuple):
    """Lines that belong together: a statement, the header of a compound one, or a line without code."""

    first: int | None
    """Where its code starts; None without code."""
    last: int
    comments: list[tokenize.TokenInfo]


def statements(text: str) -> Iterator[Statement]:
    """The statements of a text in order, as far as it can be read as tokens; then each comment by itself."""
    waiting: list[tokenize.TokenInfo] = []
    start: int | None = None
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                waiting.append(token)
            elif token.type == tokenize.NEWLINE or (token.type == tokenize.NL and start is None):
                yield Statement(start, token.start[0], waiting)
                waiting, start = [], None
            elif start is None and token.type not in _LAYOUT:
                start = token.start[0]
    except (tokenize.TokenError, SyntaxError):
        for comment in waiting:
            yield Statement(start, comment.start[0], [comment])


def _comments(text: str) -> list[_Comment]:
    """The comments of a text that may hold a suppression, each with the lines of its statement."""
    return [
        _comment(token, statement.first, statement.last)
        for statement in statements(text)
        for token in statement.comments
        if any(mark in token.string for mark in _MARKS)
    ]


_LAYOUT = (tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER, tokenize.ENCODING)


def _comment(token: tokenize.TokenInfo, first_line: int | None, last_line: int) -> _Comment:
    line, column = token.start
    first = line if first_line is None else first_line
    is_last = not token.line.endswith("\n")
    return _Comment(token.string, line, column, first, last_line, token.line[:column], is_last)
