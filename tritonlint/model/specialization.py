"""What is fixed at compile time: constexpr parameters with values that vary, and missing ones."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tritonlint.model.kernel import Kernel, launches_of
from tritonlint.model.records import StaticUse, Trace
from tritonlint.model.values import Number
from tritonlint.model.variability import Variation, is_model_letter, variation_of
from tritonlint.syntax import mentions, walk

if TYPE_CHECKING:
    from tritonlint.model.launch import Launch
    from tritonlint.model.module import Module, Parameter


MOST_LETTERS = 40
"""Of an expression of the host's that is shown as it stands."""
_UNCLEAR = frozenset(("data", "call", "unknown", "typeattr", "either", "carried", "left"))


@dataclass(frozen=True)
class VaryingConstexpr:
    """A constexpr parameter, and the launch whose argument for it varies."""

    parameter: Parameter
    variation: Variation
    launch: Launch
    node: ast.AST
    source_module: Module

    @property
    def value(self) -> str:
        """The value as the host writes it, where that is short, and why it varies."""
        words = ast.unparse(self.node) if isinstance(self.node, ast.expr) else ""
        is_short = 0 < len(words) <= MOST_LETTERS and not isinstance(self.node, ast.Lambda | ast.Constant)
        reason = self.variation.reason
        return f"`{words}`, {reason}" if is_short and f"`{words}`" not in reason else reason

    @property
    def cause(self) -> str:
        """What parameters with one reason to vary have in common: one edit mends them all."""
        return self.variation.kind


def varying_constexprs(kernel: Kernel) -> Iterator[VaryingConstexpr]:
    """Constexpr parameters that launches give varying values and that nothing needs at compile time."""
    trace = kernel.module.project.trace(kernel.info)
    needed = needed_at_compile_time(trace)
    for parameter in kernel.parameters:
        if not parameter.is_constexpr or parameter.name in needed:
            continue
        best: VaryingConstexpr | None = None
        for launch in kernel.launches:
            argument = launch.arguments.get(parameter.name)
            if argument is None or argument.by_default:
                continue
            variation = variation_of(parameter.name, launch)
            if variation is None or is_model_letter(parameter.name, variation):
                continue
            if best is None or variation.confidence.rank > best.variation.confidence.rank:
                in_kernel = isinstance(argument.node, ast.Lambda) or not _stands_in(argument.node, launch)
                module = kernel.module if in_kernel else launch.module
                best = VaryingConstexpr(parameter, variation, launch, argument.node, module)
        if best is not None:
            yield best


def _stands_in(node: ast.AST, launch: Launch) -> bool:
    return any(inner is node for inner in walk(launch.node))


def needed_at_compile_time(trace: Trace) -> frozenset[str]:
    """Parameters in tile shapes, `static_range` bounds and other places that need a constant."""
    names: set[str] = set()
    used = [use.value for use in trace.static_uses if isinstance(use.value, Number)]
    for value in (*used, *trace.constants):
        names |= {str(a.args[0]) for a in value.poly.closure if a.kind == "param"}
    for tile in trace.tiles:
        names |= {str(a.args[0]) for a in tile.extent.closure if a.kind == "param"}
    return frozenset(names)


def decides(kernel: Kernel, name: str) -> bool:
    """Whether a parameter does more in a kernel than take part in arithmetic and comparisons of tiles.

    A branch on it is left out at compile time as long as it is `tl.constexpr`, and a helper that it is handed
    to may need it so.
    """
    for node in kernel.info.nodes:
        match node:
            case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test) | ast.Assert(test=test):
                if mentions(test, name):
                    return True
            case ast.Call(args=args, keywords=keywords):
                handed = [*args, *(keyword.value for keyword in keywords)]
                known = isinstance(node.func, ast.Name) and node.func.id in _BUILT_IN
                library = isinstance(node.func, ast.Attribute)
                if not (known or library) and any(mentions(value, name) for value in handed):
                    return True
    return False


_BUILT_IN = frozenset(("range", "min", "max", "float", "int", "abs"))


def missing_constexprs(kernel: Kernel) -> Iterator[tuple[StaticUse, Trace]]:
    """Places in the kernel's own body that need a constant and certainly get a runtime value."""
    for trace in kernel.traces:
        if not _is_launched(trace):
            continue
        for use in trace.static_uses:
            if (
                kernel.mine(use.where)
                and isinstance(use.value, Number)
                and not use.value.static
                and _is_runtime(use.value, trace)
            ):
                yield use, trace


def _is_launched(trace: Trace) -> bool:
    """Whether the root is a kernel of its own rather than a helper whose callers were not seen."""
    if launches_of(trace.root):
        return True
    names = {node.attr for node in trace.root.nodes if isinstance(node, ast.Attribute)}
    returns = any(isinstance(n, ast.Return) and n.value is not None for n in trace.root.nodes)
    return "program_id" in names and not returns


def _is_runtime(value: Number, trace: Trace) -> bool:
    """Whether a number is known only when the kernel runs."""
    if value.poly.constant is not None:
        return True  # a literal held in a plain local, which Triton makes a tensor
    static = {p.name for p in trace.root.parameters if p.is_constexpr}
    atoms = value.poly.closure
    if any(atom.kind in _UNCLEAR for atom in atoms):
        return False
    if any(atom.kind == "trip" for atom in atoms):
        return any(atom in trace.runtime_trips for atom in atoms)
    return any(
        atom.kind in ("pid", "programs", "load") or (atom.kind == "param" and atom.args[0] not in static)
        for atom in atoms
    ) or all(atom.kind == "param" for atom in atoms)
