"""A text that differs from the one before it in the body of one jit function: what hosts make of it stays.

A host evaluates launches, grids and tensors without looking into kernels. So where only the body of a kernel
changes, as at most keystrokes, its new syntax tree takes the place of the old one, and nothing is forgotten
but what was concluded from that body. What its new names mean to other files is left to the next check.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tritonlint.parsing import ParseFailure, parsed
from tritonlint.syntax import bodies, first_line, header, walk

if TYPE_CHECKING:
    from tritonlint.model.kernel import Kernel
    from tritonlint.model.module import FunctionInfo, FunctionNode, Module
    from tritonlint.source import Source


@dataclass(frozen=True)
class Change:
    """The lines in which two texts differ: all between the first and the last, both included, from 1."""

    first: int
    old_last: int
    """In the old text; less than `first` where lines were only added."""
    shift: int
    """So many lines the new text has more."""


@dataclass(frozen=True)
class Replaced:
    """A jit function that has got another body."""

    info: FunctionInfo
    roots: frozenset[FunctionInfo]
    """The jit functions of its file that lead to it, itself included."""
    before: frozenset[FunctionInfo]
    """What took part in their evaluations with the old body."""

    def affected(self) -> tuple[Kernel, ...]:
        """The kernels of its file of which other things may be true now; they are evaluated anew for that."""
        module = self.info.module
        now = (module.project.trace(root).functions for root in self.roots)
        functions = self.before.union(*now)
        return tuple(kernel for kernel in module.kernels if kernel.info in functions)


def replaced(module: Module, source: Source, change: Change) -> Replaced | None:
    """Have a module stand for another text.

    Args:
        module: what was made of the old text; it is changed.
        source: the new text.
        change: where they differ.

    Returns:
        What was changed; None if more than the body of one jit function differs, or if it does not parse.
        Then nothing was.
    """
    info = _edited(module, change)
    node = _parsed_alone(info.node, source, change) if info is not None else None
    if info is None or node is None or not _differ_in_body(info.node, node):
        return None
    traces = module.project.traces_of(info)
    roots = frozenset(trace.root for trace in traces if trace.root.module is module) | {info}
    before = frozenset((info,)).union(*(trace.functions for trace in traces))
    _replace(info, node, change.shift)
    _take_over(module, source)
    module.project.forget_body(info)
    return Replaced(info, roots, before)


def _edited(module: Module, change: Change) -> FunctionInfo | None:
    """The jit function whose body holds all of the change; it stands on the top level and holds no other."""
    for value in module.kernel_values:
        node = value.info.node
        begins, ends = node.body[0].lineno, node.end_lineno or node.lineno
        if begins <= change.first <= ends + 1 and change.old_last <= ends and begins > _header_end(node):
            return value.info if node in module.source.tree.body and not _holds_functions(node) else None
    return None


def _header_end(node: FunctionNode) -> int:
    """The last line of what stands in front of the body."""
    nodes = (inner for part in header(node) for inner in walk(part))
    return max([node.lineno, *(getattr(inner, "end_lineno", 0) for inner in nodes)])


def _holds_functions(node: FunctionNode) -> bool:
    statements = list(node.body)
    for statement in statements:  # grows on the way
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            return True
        statements += [inner for body in bodies(statement) for inner in body]
    return False


def _parsed_alone(old: FunctionNode, source: Source, change: Change) -> FunctionNode | None:
    """The function in the new text, parsed without the rest of the file."""
    begins, ends = first_line(old), (old.end_lineno or old.lineno) + change.shift
    lines = source.lines[begins - 1 : max(ends, change.first)]
    try:
        body = parsed("\n" * (begins - 1) + "\n".join(lines)).body
    except ParseFailure:
        return None
    alone = body[0] if len(body) == 1 else None
    if not isinstance(alone, ast.FunctionDef | ast.AsyncFunctionDef) or _holds_functions(alone):
        return None
    return alone


def _differ_in_body(old: FunctionNode, new: FunctionNode) -> bool:
    """Whether all that stands in front of the body is the same."""
    if type(old) is not type(new) or old.name != new.name:
        return False
    return list(map(ast.dump, header(old))) == list(map(ast.dump, header(new)))


def _replace(info: FunctionInfo, new: FunctionNode, shift: int) -> None:
    """Put a new body into the tree; what the old one was told apart by, its identity, is not used again."""
    old = info.node
    for node in info.module.source.tree.body if shift else ():
        if node.lineno > old.lineno:
            ast.increment_lineno(node, shift)
    info.module.replaced.append(old.body)
    old.body, old.end_lineno, old.end_col_offset = new.body, new.end_lineno, new.end_col_offset
    info.__dict__.pop("nodes", None)


def _take_over(module: Module, source: Source) -> None:
    source.__dict__["tree"] = module.source.tree
    module.source = source
    for name in ("kernels", "takes_any_extent", "_launching_lines"):
        module.__dict__.pop(name, None)
    if module.file is not None:
        module.project.take_text(module.file, source.text.encode("utf-8", "surrogatepass"))
