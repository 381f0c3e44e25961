"""A file as the planting of faults sees it: kernels, the launches beside them, and plain syntax.

Nothing here is the linter's. What is planted, and where it must be found, is decided by the text alone, so
that a blind spot of the model cannot hide from the measure.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

_SIMPLE = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Return)


@dataclass(frozen=True)
class Reach:
    """What an expression is made of, looking through the names that the function assigns."""

    names: frozenset[str]
    """Names in it, both those that were looked through and those that were not."""
    words: frozenset[str]
    """Attributes and called functions: `arange`, `float32`, `load`."""

    @property
    def is_tile(self) -> bool:
        """Whether an index over a block goes into it."""
        return "arange" in self.words


class Function:
    """A function of the file, a kernel or not."""

    def __init__(self, node: ast.FunctionDef) -> None:
        self.node = node
        self.name = node.name
        arguments = node.args
        self.parameters = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]

    @cached_property
    def runtime(self) -> frozenset[str]:
        """Parameters that are no `tl.constexpr`."""
        return frozenset(p.arg for p in self.parameters if not is_constexpr(p))

    @cached_property
    def pointers(self) -> frozenset[str]:
        """Parameters that stand in the address of an access, in small letters."""
        accesses = self.calls("load", "store", "atomic_add")
        addresses = (call.args[0] for call in accesses if call.args)
        names = (name for address in addresses for name in _summands(address))
        return frozenset(name.lower() for name in names if name in {p.arg for p in self.parameters})

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """Everything in the body, in the order of the text."""
        return [node for statement in self.node.body for node in walk(statement)]

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        """The node around each."""
        return {child: node for node in ast.walk(self.node) for child in ast.iter_child_nodes(node)}

    @cached_property
    def assigned(self) -> dict[str, list[ast.expr | None]]:
        """What is assigned to each name; None where it is more than a plain `name = value`."""
        found: dict[str, list[ast.expr | None]] = {p.arg: [None] for p in self.parameters}
        for node in self.nodes:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                found.setdefault(node.targets[0].id, []).append(node.value)
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                found.setdefault(node.target.id, []).append(node.value)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                plain = isinstance(self.parents[node], ast.Assign | ast.AnnAssign)
                if not plain or isinstance(self.parents[node], ast.AugAssign):
                    found.setdefault(node.id, []).append(None)
        return found

    def value(self, expression: ast.expr | None) -> ast.expr | None:
        """The expression, or what its name stands for where that is assigned once."""
        for _ in range(8):
            if not isinstance(expression, ast.Name):
                return expression
            values = self.assigned.get(expression.id, [None])
            if len(values) != 1 or values[0] is None:
                return expression
            expression = values[0]
        return expression

    def reach(self, expression: ast.AST, without: ast.AST | None = None) -> Reach:
        """What goes into an expression; `without` is not looked at, except for what it is applied to."""
        names: set[str] = set()
        words: set[str] = set()
        todo = [expression]
        while todo:
            node = todo.pop()
            if node is without:
                assert isinstance(node, ast.Call)
                assert isinstance(node.func, ast.Attribute)
                todo.append(node.func.value)
                continue
            if isinstance(node, ast.Attribute):
                words.add(node.attr)
            elif isinstance(node, ast.Name) and node.id not in names:
                names.add(node.id)
                todo += [value for value in self.assigned.get(node.id, []) if value is not None]
            todo += ast.iter_child_nodes(node)
        return Reach(frozenset(names), frozenset(words))

    def statement(self, node: ast.AST) -> ast.AST:
        """The simple statement around a node, or the node itself."""
        at: ast.AST | None = node
        while at is not None and not isinstance(at, _SIMPLE):
            at = self.parents.get(at)
        return at if at is not None else node

    def calls(self, *names: str) -> Iterator[ast.Call]:
        """Calls of `tl.<name>`."""
        for node in self.nodes:
            match node:
                case ast.Call(func=ast.Attribute(value=ast.Name(id="tl" | "triton"))) if (
                    called(node) in names
                ):
                    yield node

    def spans(self, parameter: str) -> list[ast.Call]:
        """The calls `tl.arange(0, parameter)`; none for a local of that name."""
        if all(parameter != p.arg for p in self.parameters):
            return []
        return [
            call
            for call in self.calls("arange")
            if len(call.args) == 2 and isinstance(call.args[1], ast.Name) and call.args[1].id == parameter
        ]


@dataclass(frozen=True)
class Launch:
    """One `kernel[grid](...)`, in the file of the kernel."""

    host: Function
    kernel: Function
    call: ast.Call
    arguments: dict[str, ast.expr]
    """By parameter."""


class File:
    """The text of one file and the kernels in it.

    Raises:
        SyntaxError: this Python does not parse it.
    """

    def __init__(self, text: str) -> None:
        self.text = text.replace("\r\n", "\n").replace("\r", "\n")
        self.data = self.text.encode("utf-8", "surrogatepass")
        self.tree = ast.parse(self.text)
        starts = [0]
        for line in self.data.split(b"\n"):
            starts.append(starts[-1] + len(line) + 1)
        self._starts = starts

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Where a node starts and ends in `data`."""
        start = self._starts[node.lineno - 1] + node.col_offset  # type: ignore[attr-defined]
        end = self._starts[node.end_lineno - 1] + node.end_col_offset  # type: ignore[attr-defined]
        return start, end

    @cached_property
    def functions(self) -> list[Function]:
        """Every function, those in classes and in other functions, too."""
        return [Function(node) for node in ast.walk(self.tree) if isinstance(node, ast.FunctionDef)]

    @cached_property
    def kernels(self) -> list[Function]:
        """Functions under a decorator that ends in `jit`; no Triton of these years takes `**meta`."""
        return [one for one in self.functions if _is_jit(one.node) and one.node.args.kwarg is None]

    @cached_property
    def launches(self) -> list[Launch]:
        """Every launch of a kernel of this file by its name."""
        by_name = {kernel.name: kernel for kernel in self.kernels}
        found = []
        for host in self.functions:
            for node in host.nodes:
                if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Subscript)):
                    continue
                target = node.func.value
                kernel = by_name.get(target.id) if isinstance(target, ast.Name) else None
                if kernel is None or any(isinstance(argument, ast.Starred) for argument in node.args):
                    continue
                names = [parameter.arg for parameter in kernel.parameters]
                arguments = dict(zip(names, node.args, strict=False))
                arguments |= {word.arg: word.value for word in node.keywords if word.arg is not None}
                found.append(Launch(host, kernel, node, arguments))
        return found


def _summands(address: ast.expr) -> Iterator[str]:
    """The names that an address is a sum of, and no products."""
    if isinstance(address, ast.BinOp) and isinstance(address.op, ast.Add):
        yield from _summands(address.left)
        yield from _summands(address.right)
    elif isinstance(address, ast.Name):
        yield address.id


def walk(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a tree in the order of the text, unlike `ast.walk`."""
    yield node
    for child in ast.iter_child_nodes(node):
        yield from walk(child)


def called(call: ast.Call) -> str:
    """The last word of what is called."""
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""


def keyword(call: ast.Call, name: str) -> ast.expr | None:
    """The argument passed as `name=`."""
    return next((word.value for word in call.keywords if word.arg == name), None)


def is_constexpr(parameter: ast.arg) -> bool:
    """Whether a parameter is annotated `tl.constexpr`."""
    return parameter.annotation is not None and "constexpr" in ast.unparse(parameter.annotation)


def is_power_of_2(node: ast.AST | None) -> bool:
    """Whether a literal is a power of two that some tile has as its extent."""
    value = node.value if isinstance(node, ast.Constant) else None
    return type(value) is int and 16 <= value <= 65536 and value & (value - 1) == 0


def _is_jit(node: ast.FunctionDef) -> bool:
    for decorator in node.decorator_list:
        target = decorator.func if isinstance(decorator, ast.Call) else decorator
        name = target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", "")
        if name == "jit" and "gluon" not in ast.unparse(target) and "torch" not in ast.unparse(target):
            return True
    return False
