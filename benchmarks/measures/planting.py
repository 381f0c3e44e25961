"""A fault planted in a text: what is changed, and the lines on which it must be found."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from measures.reading import File, Function, walk

_ATOMS = (ast.Name, ast.Constant, ast.Call, ast.Attribute, ast.Subscript, ast.List, ast.Tuple)


@dataclass
class Change:
    """What an operator wants done to a file."""

    function: Function
    """The kernel, or the host function, that is changed."""
    edits: list[tuple[ast.AST, str]]
    """Nodes and the text that takes their place."""
    also: list[ast.AST] = field(default_factory=list)
    """Other places where the finding may stand: the loop that adds up, the launch that passes the value."""


@dataclass(frozen=True)
class Plant:
    """A file with one fault more."""

    operator: str
    codes: frozenset[str]
    """Any of these rules may find it."""
    function: str
    line: int
    """Where it was planted."""
    lines: frozenset[int]
    """Where it may be found."""
    old_line: int
    """The line of the first edit before it was made; also the key of a plant in its file."""
    text: str


@dataclass(frozen=True)
class Operator:
    """One way to plant a fault."""

    name: str
    codes: frozenset[str]
    changes: Callable[[File], Iterator[Change]]

    def plants(self, file: File) -> Iterator[Plant]:
        """Every fault of this kind that can be planted in a file, one at a time."""
        for change in self.changes(file):
            yield _apply(self, file, change)


def _apply(operator: Operator, file: File, change: Change) -> Plant:
    edits = sorted((*file.span(node), text.encode("utf-8", "surrogatepass")) for node, text in change.edits)
    data, lines = file.data, set()
    for start, end, piece in reversed(edits):
        data = data[:start] + piece + data[end:]
    for index, (start, _, piece) in enumerate(edits):
        shift = sum(t.count(b"\n") - file.data[s:e].count(b"\n") for s, e, t in edits[:index])
        first = file.data[:start].count(b"\n") + 1 + shift
        lines |= set(range(first, first + piece.count(b"\n") + 1))
    planted = min(lines)
    wider = [change.function.statement(node) for node, _ in change.edits]
    for node in (*change.also, *wider):
        start, end = file.span(node)
        for line in range(file.data[:start].count(b"\n") + 1, file.data[:end].count(b"\n") + 2):
            before = [(s, e, t) for s, e, t in edits if file.data[:e].count(b"\n") + 1 <= line and e <= start]
            lines.add(line + sum(t.count(b"\n") - file.data[s:e].count(b"\n") for s, e, t in before))
    old_line = min(node.lineno for node, _ in change.edits)  # type: ignore[attr-defined]
    text = data.decode("utf-8", "surrogatepass")
    return Plant(
        operator.name, operator.codes, change.function.name, planted, frozenset(lines), old_line, text
    )


def without_keywords(call: ast.Call, *names: str) -> str:
    """The text of a call less some arguments."""
    fewer = copy.copy(call)
    fewer.keywords = [word for word in call.keywords if word.arg not in names]
    return ast.unparse(fewer)


def with_argument(call: ast.Call, name: str, text: str) -> str:
    """The text of a call with another value for the argument `name`, which is added if it has none."""
    other = copy.copy(call)
    other.keywords = [word for word in call.keywords if word.arg != name]
    other.keywords.append(ast.keyword(name, ast.parse(text, mode="eval").body))
    return ast.unparse(other)


def as_operand(node: ast.expr) -> str:
    """The text of an expression, in parentheses where it stands for less than it shows."""
    text = ast.unparse(node)
    return text if isinstance(node, _ATOMS) else f"({text})"


def replaced(whole: ast.expr, part: ast.AST, text: str) -> str:
    """The text of an expression in which one node is replaced."""
    other = copy.deepcopy(whole)
    for old, new in zip(walk(whole), walk(other), strict=True):
        if old is part:
            target = new
    for node in walk(other):
        for name, value in ast.iter_fields(node):
            if value is target:
                setattr(node, name, ast.parse(text, mode="eval").body)
            elif isinstance(value, list) and any(item is target for item in value):
                items = [ast.parse(text, mode="eval").body if i is target else i for i in value]
                setattr(node, name, items)
    return ast.unparse(other)
