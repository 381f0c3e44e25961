"""Tests of sizes on the way to a launch that the evaluation could not connect with it.

A caller that asks `supports(hidden_size)`, a validation in another method, a table of shapes: where the
package tests a size by remainder, by membership or as a power of two, it may well make sure of what a
proof at the launch lacks. Such tests are found by the names of what they test, in the functions that lead
to the launch and in those that these call. They prove nothing; they say that the answer is not known.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from tritonlint.model.facts import half_tested
from tritonlint.model.kernel import EVERYONES, MAX_STEPS, called_names, callers_by_any_name
from tritonlint.syntax import walk

if TYPE_CHECKING:
    from tritonlint.model.launch import Launch
    from tritonlint.model.logic import Formula
    from tritonlint.model.module import FunctionInfo, Module
    from tritonlint.model.symbolic import Atom, Poly


def is_tested_somehow(
    size: Poly, block: Poly, launch: Launch, facts: Iterable[Formula], *, rounded: bool = False
) -> bool:
    """Whether the package tests a size in a way that could not be connected with an access."""
    return (
        half_tested(size, block, facts, rounded=rounded)
        or is_tested_elsewhere(size, block, launch, rounded=rounded)
        or (not rounded and is_a_tile_elsewhere(size, launch))
    )


def is_a_tile_elsewhere(size: Poly, launch: Launch) -> bool:
    """Whether a kernel launched on the way has one tile of this size, which only a power of two can be."""
    names = _names_of(size, launch)
    return any(names & _tiles_in(function) for function in _around(launch))


def _tiles_in(function: FunctionInfo) -> frozenset[str]:
    """What a function calls the sizes that it hands to kernels as extents of their tiles."""
    project = function.module.project
    cache: dict[FunctionInfo, frozenset[str]] = project.remembered("tiles")
    if function not in cache:
        launches = function.module.may_launch(function)
        cache[function] = frozenset(
            word
            for launch in (function.module.host(function).launches if launches else ())
            for tile in project.trace(launch.kernel.info).tiles
            if (atom := tile.extent.atom) is not None and atom.kind == "param"
            if (argument := launch.arguments.get(str(atom.args[0]))) is not None
            for word in _words(argument.node)
        )
    return cache[function]


def is_tested_elsewhere(size: Poly, block: Poly, launch: Launch, *, rounded: bool = False) -> bool:
    """Whether a function that leads to a launch tests a size of this name in a way that may fit the block.

    For a width that was `rounded` up to a power of two, a remainder says nothing.
    """
    names, number = _names_of(size, launch), block.integer
    return any(
        name in names and (divisor is None or (not rounded and (not number or divisor % number == 0)))
        for function in _around(launch)
        for name, divisor in tests_in(function)
    )


def _names_of(size: Poly, launch: Launch) -> frozenset[str]:
    """What the host may call a size: its own names for it, and the kernel's."""
    names: set[str] = set()
    for atom in size.closure:
        if atom.kind in ("hostparam", "config"):
            names.add(str(atom.args[0]).rsplit(".", 1)[-1])
        elif atom.kind == "dim":
            names |= _axis_names(atom, launch)
    for parameter, argument in launch.arguments.items():
        if getattr(argument.value, "poly", None) == size:
            names.add(parameter)
            names |= set(_words(argument.node))
    return frozenset(names)


def _axis_names(dim: Atom, launch: Launch) -> set[str]:
    """`x.shape[2]`, and `x.shape[-1]` if no launch value is a later axis of the same tensor.

    A gradient has the shape of what it is the gradient of: what is known of `k` holds for `dk`.
    """
    axis = dim.args[1]
    own = str(dim.args[0]).rsplit(".", 1)[-1]
    tensors = {own, re.sub(r"^(d_?(?=[a-z]{1,2}$)|grad_)", "", own)}
    later = (
        atom
        for value in launch.values.values()
        for atom in value.closure
        if atom.kind == "dim" and atom.args[0] == dim.args[0] and _number(atom.args[1]) > _number(axis)
    )
    axes = {axis, -1} if _number(axis) > 0 and not any(later) else {axis}
    return {f"{tensor}.shape[{one}]" for tensor in tensors for one in axes}


def _number(axis: object) -> int:
    return axis if isinstance(axis, int) else 0


def _around(launch: Launch) -> tuple[FunctionInfo, ...]:
    """The functions that lead to a launch, and those that these or the launching one call."""
    function = launch.function
    if function is None:
        return ()
    project = launch.module.project
    cache: dict[FunctionInfo, tuple[FunctionInfo, ...]] = project.remembered("around")
    if function not in cache:
        leading: dict[FunctionInfo, None] = {}
        queue = [(function, 0)]
        while queue:
            current, steps = queue.pop(0)
            for caller in callers_by_any_name(current) if steps < MAX_STEPS else ():
                if caller is not function and caller not in leading:
                    leading[caller] = None
                    queue.append((caller, steps + 1))
        for one in [function, *leading]:
            for other in _called_by(one, launch.module):
                if other is not function:
                    leading.setdefault(other)
        cache[function] = tuple(leading)
    return cache[function]


def _called_by(function: FunctionInfo, launching: Module) -> Iterator[FunctionInfo]:
    """The functions that a function calls, of its own module and of the one with the launch.

    Of a method, also those that the constructor of its class calls: it may have asked once for all.
    """
    names = called_names(function, function.module.project)
    for other in function.module.functions:
        if other.class_node is function.class_node is not None and other.name == "__init__":
            names |= called_names(other, function.module.project)
    for module in dict.fromkeys((function.module, launching)):
        yield from (
            other for other in module.functions if other.name in names and other.name not in EVERYONES
        )


def tests_in(function: FunctionInfo) -> frozenset[tuple[str, int | None]]:
    """What a function tests, with the divisor: `n % 64`, and 0 for an unknown one; None for other tests."""
    cache: dict[FunctionInfo, frozenset[tuple[str, int | None]]] = function.module.project.remembered("tests")
    if (known := cache.get(function)) is None:
        tests: list[ast.expr] = []
        for node in function.nodes:
            if isinstance(node, ast.If | ast.Assert | ast.IfExp | ast.While):
                tests.append(node.test)
            elif isinstance(node, ast.Return | ast.Assign) and isinstance(
                node.value, ast.Compare | ast.BoolOp | ast.Call | ast.UnaryOp
            ):
                tests.append(node.value)
        found = {test for expression in tests for test in _tested_in(expression)}
        equal = [pair for expression in tests for pair in _equated_in(expression)]
        found |= {(one, divisor) for one, other in equal for name, divisor in found if name == other}
        known = cache[function] = frozenset(found)
    return known


def _equated_in(test: ast.expr) -> Iterator[tuple[str, str]]:
    """Sizes that a test says to be equal: what holds for one holds for the other."""
    for node in walk(test):
        if (
            isinstance(node, ast.Compare)
            and len(node.ops) == 1
            and isinstance(node.ops[0], ast.Eq | ast.NotEq)
        ):
            for left in _words(node.left):
                for right in _words(node.comparators[0]):
                    yield from ((left, right), (right, left))


def _tested_in(test: ast.expr) -> Iterator[tuple[str, int | None]]:
    for node in walk(test):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod | ast.BitAnd):
            value = node.right.value if isinstance(node.right, ast.Constant) else 0
            divisor = value if isinstance(value, int) else 0
            known = divisor if isinstance(node.op, ast.Mod) else None
            yield from ((word, known) for word in _words(node.left))
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn):
            yield from ((word, None) for word in _words(node.left))


def _words(node: ast.AST) -> Iterator[str]:
    """The names that stand for a size: `n`, `self.n` as `n`, `x.size(1)` as `x.shape[1]`."""
    match node:
        case ast.Name(id=name):
            yield name
        case ast.Subscript(value=ast.Attribute(value=base, attr="shape"), slice=axis):
            yield from (f"{word}.shape[{ast.unparse(axis)}]" for word in _words(base))
        case ast.Call(func=ast.Attribute(value=base, attr="size"), args=[axis]):
            yield from (f"{word}.shape[{ast.unparse(axis)}]" for word in _words(base))
        case ast.Attribute(attr=name):
            yield name
        case ast.BinOp(left=left, right=right):
            yield from _words(left)
            yield from _words(right)
        case ast.Tuple(elts=items):
            for item in items:
                yield from _words(item)
