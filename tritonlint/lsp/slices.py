"""The part of a file that an edit can matter to, so that a keystroke costs one kernel and not a file.

A file is cut into the statements of its top level. An edit in one of them can change what is found in it, in
what it calls and in what calls it; the rest keeps its findings. To check a slice, all other functions are
blanked out, lines staying where they are. Names decide, so a slice is a guess: the whole file follows soon.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tritonlint.source import Source

_WORD = re.compile(r"[A-Za-z_]\w*")
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True, eq=False)
class Part:
    """One statement of the top level, with the blank lines and comments in front of it."""

    first: int
    last: int
    """Lines from 1, both included."""
    text: str
    names: frozenset[str]
    """What it defines."""
    is_function: bool
    """Whether it can be blanked out: a function or a class."""
    is_kernel: bool

    @cached_property
    def words(self) -> frozenset[str]:
        """What it mentions."""
        return frozenset(_WORD.findall(self.text))


class Parts:
    """A file, cut into parts.

    Raises:
        ParseFailure: it does not parse.
    """

    def __init__(self, source: Source) -> None:
        self.lines = source.lines
        self.parts = list(self._cut(source.tree))

    def _cut(self, tree: ast.Module) -> Iterator[Part]:
        begins = 1
        for node in tree.body:
            last = node.end_lineno or node.lineno
            if last < begins:  # two statements on a line
                continue
            text = "\n".join(self.lines[begins - 1 : last])
            is_function = isinstance(node, _DEFINITIONS)
            names = {node.name} if isinstance(node, _DEFINITIONS) else _assigned(node)
            decorators = [ast.unparse(one) for one in getattr(node, "decorator_list", ())]
            is_kernel = any("jit" in one for one in decorators)
            yield Part(begins, last, text, frozenset(names), is_function, is_kernel)
            begins = last + 1
        if begins <= len(self.lines):
            text = "\n".join(self.lines[begins - 1 :])
            yield Part(begins, len(self.lines), text, frozenset(), False, False)

    def between(self, first: int, last: int) -> list[Part]:
        """The parts that some lines belong to, both ends included."""
        return [part for part in self.parts if part.first <= max(first, last) and part.last >= first]

    def related(self, changed: Iterable[Part]) -> set[Part]:
        """Parts, what they call and what calls them, all the way."""
        changed = list(changed)
        return self._closure(changed, self._called) | self._closure(changed, self._callers)

    def text_around(self, parts: set[Part]) -> str:
        """The file with all functions blanked out but these parts and what they need.

        What one kernel of a host function stores can tell what another one loads.
        """
        needed = self._closure(parts, self._called)
        lines = list(self.lines)
        for part in self.parts:
            if part.is_function and part not in needed:
                lines[part.first - 1 : part.last] = [""] * (part.last - part.first + 1)
        return "\n".join(lines)

    def _called(self, part: Part) -> list[Part]:
        functions = (other for other in self.parts if other.is_function and other is not part)
        return [other for other in functions if other.names & part.words]

    def _callers(self, part: Part) -> list[Part]:
        return [other for other in self.parts if other is not part and other.words & part.names]

    def _closure(self, parts: Iterable[Part], step: Callable[[Part], list[Part]]) -> set[Part]:
        found: set[Part] = set()
        waiting = list(parts)
        while waiting:
            part = waiting.pop()
            if part not in found:
                found.add(part)
                waiting += step(part)
        return found


def _assigned(node: ast.stmt) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
