"""Small changes to a text, spelled by the nodes they are about, and what a text is after them.

Only what changes is written anew: comments, white space and line ends around it stay as they are.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from tritonlint.finding import Edit, Position, Range

if TYPE_CHECKING:
    from tritonlint.source import Source

_LINE_END = re.compile(r"\r\n|\r|\n")


class Overlap(ValueError):
    """Two edits want to change the same stretch of a text."""


def argument_of(call: ast.Call, name: str, position: int | None = None) -> ast.expr | None:
    """What is written for an argument of a call: by its keyword, else at its position."""
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    return call.args[position] if position is not None and position < len(call.args) else None


def replaced(source: Source, node: ast.AST, text: str) -> Edit:
    """`text` in the place of an expression."""
    return Edit(source.path, source.range_of(node), text)


def inserted_before(source: Source, node: ast.AST, text: str) -> Edit:
    """`text` in front of a node."""
    start = source.range_of(node).start
    return Edit(source.path, Range(start, start), text)


def inserted_after(source: Source, node: ast.AST, text: str) -> Edit:
    """`text` behind a node."""
    end = source.range_of(node).end
    return Edit(source.path, Range(end, end), text)


def with_argument(source: Source, call: ast.Call, text: str) -> Edit:
    """A call with one argument more, behind those it has and in front of a trailing comma."""
    end = _end_of_arguments(source, call)
    separator = ", " if call.args or call.keywords else ""
    return Edit(source.path, Range(end, end), f"{separator}{text}")


def with_item(source: Source, items: ast.List | ast.Tuple, text: str) -> Edit:
    """A list with one item more at its end."""
    where = source.range_of(items)
    inside = Position(where.end.line, where.end.column - 1)
    end = source.range_of(items.elts[-1]).end if items.elts else inside
    return Edit(source.path, Range(end, end), f", {text}" if items.elts else text)


def without_items(source: Source, items: ast.List | ast.Tuple, gone: Collection[ast.expr]) -> list[Edit]:
    """A list without some of its items and the commas that belong to them."""
    kept = [index for index, item in enumerate(items.elts) if item not in gone]
    if not kept:
        return [replaced(source, items, "[]" if isinstance(items, ast.List) else "()")]
    places = [source.range_of(item) for item in items.elts]
    found = [
        Edit(source.path, Range(places[index].start, places[index + 1].start), "")
        for index in range(kept[-1])
        if index not in kept
    ]
    if kept[-1] + 1 < len(places):
        found.append(Edit(source.path, Range(places[kept[-1]].end, places[-1].end), ""))
    return found


def with_annotation(source: Source, parameter: ast.arg, annotation: str | None) -> Edit:
    """A parameter with an annotation, or none, instead of the one it has, if any."""
    start = source.range_of(parameter).start
    name_end = Position(start.line, start.column + len(parameter.arg))
    end = source.range_of(parameter.annotation).end if parameter.annotation is not None else name_end
    return Edit(source.path, Range(name_end, end), f": {annotation}" if annotation is not None else "")


def line_behind(source: Source, statement: ast.stmt, text: str) -> Edit:
    """A line of its own behind a statement, as far to the right as it."""
    where = source.range_of(statement)
    line = source.lines[where.start.line - 1]
    indent = line[: len(line) - len(line.lstrip())]
    end = Position(where.end.line, len(source.lines[where.end.line - 1]) + 1)
    return Edit(source.path, Range(end, end), f"\n{indent}{text}")


def wrapped(source: Source, node: ast.expr, before: str, after: str = ")") -> Edit:
    """An expression with `before` and `after` around it, its own text as it is."""
    where = source.range_of(node)
    return Edit(source.path, where, f"{before}{source.text_of(node)}{after}")


def _end_of_arguments(source: Source, call: ast.Call) -> Position:
    """Where the last argument ends, its own parentheses included; inside the parentheses if there is none."""
    whole = source.range_of(call).end
    inside = Position(whole.line, whole.column - 1)
    arguments = [*call.args, *call.keywords]
    if not arguments:
        return inside
    end = place = max(source.range_of(node).end for node in arguments)
    while place < inside:
        line = source.lines[place.line - 1][place.column - 1 :]
        sign = line[:1]
        if sign == ",":
            break
        if sign in ("", "#", "\\"):
            place = Position(place.line + 1, 1)
            continue
        place = Position(place.line, place.column + 1)
        if sign == ")":
            end = place
    return end


def newline_of(text: str) -> str:
    """How lines end in a text: as its first one does."""
    found = _LINE_END.search(text)
    return found.group() if found else "\n"


def apply(text: str, edits: Iterable[Edit]) -> str:
    """The text after some edits, whose places are those in the text as it is.

    Raises:
        Overlap: two of them touch the same characters.
    """
    starts = [0, *(match.end() for match in _LINE_END.finditer(text))]
    newline = newline_of(text)
    spans = sorted(
        (_offset(starts, edit.range.start), _offset(starts, edit.range.end), edit.text) for edit in set(edits)
    )
    parts: list[str] = []
    done = 0
    for start, end, new in spans:
        if start < done:
            raise Overlap(f"two edits change line {text.count(newline, 0, start) + 1}")
        parts += [text[done:start], new.replace("\n", newline)]
        done = end
    return "".join([*parts, text[done:]])


def overlap(one: Sequence[Edit], two: Sequence[Edit]) -> bool:
    """Whether two groups of edits cannot both be made: they touch, and are not the very same edit."""
    return any(
        a != b and a.path == b.path and a.range.start <= b.range.end and b.range.start <= a.range.end
        for a in one
        for b in two
    )


def _offset(starts: list[int], place: Position) -> int:
    return starts[min(place.line, len(starts)) - 1] + place.column - 1
