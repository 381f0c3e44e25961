"""Tile extents and the values that launches and configurations give them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tritonlint.model.bounds import visible_aranges
from tritonlint.model.kernel import Kernel, Place, launches_of
from tritonlint.model.powers import Origin, is_power, origin_of, power_of_2
from tritonlint.model.proof import Proof
from tritonlint.model.records import TileShape, Trace
from tritonlint.model.symbolic import Atom, Poly
from tritonlint.model.tuning import tuned_parameters
from tritonlint.model.values import Number

if TYPE_CHECKING:
    from tritonlint.model.launch import Launch
    from tritonlint.model.module import FunctionInfo, Module


@dataclass(frozen=True)
class KnownExtent:
    """A tile extent with a value that is certainly no power of two, and the place that gives it."""

    tile: TileShape
    value: int
    source: Place | None
    source_says: str


@dataclass(frozen=True)
class OpenExtent:
    """A host size that reaches a tile extent and is not rounded to a power of two.

    `padded` says that the tile is masked against the very size it was made from: padding was meant.
    """

    tile: TileShape
    launch: Launch
    parameter: str
    place: Place
    size: Poly
    origin: Origin
    padded: bool


def known_extents(kernel: Kernel) -> Iterator[KnownExtent]:
    """Extents of the kernel's own tiles that are known and wrong."""
    for trace in kernel.traces:
        root = _root_kernel(kernel, trace.root)
        tuned = tuned_parameters(root) if root is not None else {}
        for tile in trace.tiles:
            if kernel.mine(tile.where):
                yield from _known(tile, launches_of(trace.root), tuned)


def _root_kernel(kernel: Kernel, root: FunctionInfo) -> Kernel | None:
    return next((k for k in root.module.kernels if k.info is root), None)


def _known(tile: TileShape, launches: tuple[Launch, ...], tuned: dict) -> Iterator[KnownExtent]:  # type: ignore[type-arg]
    number = tile.extent.integer
    if number is not None:
        if number > 0 and not is_power(number):
            yield KnownExtent(tile, number, None, "")
        return
    parameters = [atom for atom in tile.extent.closure if atom.kind == "param"]
    for launch in launches:
        if launch.cuts_away(tile.conditions):
            continue
        number = launch.on_host(tile.extent).integer
        if number is not None and number > 0 and not is_power(number):
            mentioned = {atom.args[0] for atom in parameters}
            names = [name for name in launch.arguments if name in mentioned]
            node = launch.arguments[names[0]].node if names else launch.node
            by_default = bool(names) and launch.arguments[names[0]].by_default
            module = tile.where.function.module if by_default else launch.module
            yield KnownExtent(
                tile, number, Place(module.source, node), f"`{tile.extent}` is {number} at this launch"
            )
    if len(parameters) == 1 and parameters[0].args[0] in tuned:
        for config, value in tuned[parameters[0].args[0]]:
            poly = tile.extent.substitute({parameters[0]: value.poly}.get)
            number = poly.integer
            if number is not None and number > 0 and not is_power(number):
                source = tile.where.function.module.source
                yield KnownExtent(
                    tile,
                    number,
                    Place(source, config.node),
                    f"`{tile.extent}` is {number} in this configuration",
                )


def open_extents(module: Module) -> Iterator[OpenExtent]:
    """Host sizes that the launches of a file pass to tile extents unrounded."""
    for launch in module.launches:
        trace = module.project.trace(launch.kernel.info)
        for tile in trace.tiles:
            atom = tile.extent.atom
            if atom is not None and atom.kind == "param":
                found = _open(tile, str(atom.args[0]), launch, trace)
                if found is not None:
                    yield found


def _open(tile: TileShape, parameter: str, launch: Launch, trace: Trace) -> OpenExtent | None:
    argument = launch.arguments.get(parameter)
    if argument is None or argument.by_default or launch.cuts_away(tile.conditions):
        return None
    size = launch.on_host(tile.extent)
    facts = (*launch.facts, *(launch.formula_on_host(condition) for condition in tile.conditions))
    if size == tile.extent or power_of_2(size, facts) is not Proof.UNKNOWN:
        return None
    origin = origin_of(size, _sizes_at(launch, parameter))
    if origin is Origin.UNKNOWN:
        return None
    padded = any(launch.on_host(limit) == size for limit in _limits(trace, tile.extent))
    place = definition_place(launch, argument.node)
    return OpenExtent(tile, launch, parameter, place, size, origin, padded)


def _sizes_at(launch: Launch, besides: str) -> frozenset[Atom]:
    """Host values that a launch also uses as sizes: in runtime arguments, in its grid."""
    found: set[Atom] = set()
    for name, argument in launch.arguments.items():
        parameter = launch.kernel.info.parameter(name)
        if (
            name != besides
            and parameter is not None
            and not parameter.is_constexpr
            and isinstance(argument.value, Number)
        ):
            found |= argument.value.poly.closure
    for poly in launch.grid or ():
        for atom in poly.closure:
            if atom.kind == "cdiv":
                found |= atom.args[0].closure
    return frozenset(atom for atom in found if atom.kind == "hostparam")


def _limits(trace: Trace, extent: Poly) -> Iterator[Poly]:
    """Limits, other than the extent itself, that masks put on a whole tile of this extent."""
    for access in trace.accesses:
        formula = access.mask.formula if access.mask is not None else None
        for part in formula.conjuncts() if formula is not None else ():
            if part.kind != "ge":
                continue
            for arange in visible_aranges(part.poly):
                if arange.args[1] == extent and arange in part.poly.surface:
                    limit = part.poly + Poly.of(arange) + Poly.const(1)
                    if limit != extent and not visible_aranges(limit):
                        yield limit


def definition_place(launch: Launch, node: ast.AST) -> Place:
    """Where the host computed an argument: the last assignment of its name before the launch."""
    if isinstance(node, ast.Name) and launch.function is not None:
        best: ast.AST | None = None
        for statement in ast.walk(launch.function.node):
            if (
                isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign)
                and statement.lineno < node.lineno
            ):
                targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
                names = {n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)}
                if node.id in names and (best is None or statement.lineno >= best.lineno):  # type: ignore[attr-defined]
                    best = statement
        if best is not None:
            return Place(launch.module.source, best)
    return Place(launch.module.source, node)
