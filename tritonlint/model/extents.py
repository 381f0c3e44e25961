"""Tile extents and the values that launches and configurations give them."""

from __future__ import annotations

import ast
import enum
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tritonlint.model.checked_sizes import is_tested_by_name
from tritonlint.model.checks import is_tested_elsewhere
from tritonlint.model.evaluator import written
from tritonlint.model.facts import may_say_power_of_2
from tritonlint.model.kernel import Kernel, Place, as_callers_make_it, launches_of
from tritonlint.model.logic import Formula
from tritonlint.model.padding import covers_a_row, is_padded
from tritonlint.model.powers import (
    Origin,
    is_power,
    is_power_if_parts_are,
    leaves_of,
    origin_of,
    power_of_2,
)
from tritonlint.model.proof import Proof
from tritonlint.model.records import TileShape, Trace
from tritonlint.model.symbolic import ONE, Atom, Poly
from tritonlint.model.tuning import tuned_parameters
from tritonlint.model.values import Number
from tritonlint.syntax import walk

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


class Custom(enum.Enum):
    """What is to be thought of a size that nothing rounds to a power of two."""

    PADDED = "padded"
    """The tile is masked against the very size it was made from: a greater extent was meant."""
    ANY = "any"
    """Computed, or the length of what one tile covers: nothing makes it a power of two."""
    OFTEN_POWER = "often a power"
    """A head size, a page, a block that the caller chose: sizes that are powers of two by custom."""
    TESTED = "tested"
    """The package tests a size of this name, or the callers pass powers of two."""


@dataclass(frozen=True)
class OpenExtent:
    """A host size that reaches a tile extent and is not rounded to a power of two."""

    tile: TileShape
    launch: Launch
    parameter: str
    place: Place
    """Where the size was computed."""
    passed: Place
    """Where it is passed to the kernel."""
    size: Poly
    origin: Origin
    custom: Custom


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
            poly = tile.extent.substitute({parameters[0]: value.poly})
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
    raw = _raw_extents(module)
    for launch in module.launches:
        trace = module.project.trace(launch.kernel.info)
        seen: set[str] = set()
        for tile in trace.tiles:
            atom = tile.extent.atom
            if atom is not None and atom.kind == "param" and atom.args[0] not in seen:
                found = _open(tile, str(atom.args[0]), launch, trace, raw)
                if found is not None:
                    seen.add(str(atom.args[0]))
                    yield found


def _raw_extents(module: Module) -> dict[FunctionInfo | None, frozenset[Atom]]:
    """By host function, the sizes that its launches pass to tile extents as they are."""
    found: dict[FunctionInfo | None, set[Atom]] = {}
    for launch in module.launches:
        for tile in module.project.trace(launch.kernel.info).tiles:
            atom = launch.on_host(tile.extent).atom
            is_plain = tile.extent.atom is not None and tile.extent.atom.kind == "param"
            if is_plain and atom is not None and atom.kind in ("dim", "hostparam", "config"):
                found.setdefault(launch.function, set()).add(atom)
    return {function: frozenset(atoms) for function, atoms in found.items()}


def _open(
    tile: TileShape,
    parameter: str,
    launch: Launch,
    trace: Trace,
    raw: dict[FunctionInfo | None, frozenset[Atom]],
) -> OpenExtent | None:
    argument = launch.arguments.get(parameter)
    if argument is None or argument.by_default or launch.cuts_away(tile.conditions):
        return None
    size = launch.on_host(tile.extent)
    facts = (*launch.facts, *(launch.formula_on_host(condition) for condition in tile.conditions))
    if size == tile.extent or power_of_2(size, facts) is not Proof.UNKNOWN:
        return None
    if any(leaf.kind in _NEVER_SIZES for leaf in leaves_of(size)):
        return None
    origin = origin_of(size, _sizes_at(launch, parameter))
    padded = is_padded(launch, trace, tile.extent, size)
    if origin is Origin.UNKNOWN and not padded:
        return None
    place = definition_place(launch, argument.node)
    passed = _passed_at(launch, argument.node)
    found = OpenExtent(tile, launch, parameter, place, passed, size, origin, Custom.TESTED)
    found = replace(found, custom=_custom(found, trace, facts, padded, raw.get(launch.function, frozenset())))
    private = launch.function is not None and launch.function.name.startswith("_")
    if found.custom not in (Custom.ANY, Custom.PADDED) and not private:
        return found  # to ask the callers takes long
    if _callers_pass_powers(launch, tile.extent):
        if private:
            return None
        if not padded:
            return replace(found, custom=Custom.TESTED)  # a public function may be called from elsewhere, too
    return found


def _callers_pass_powers(launch: Launch, extent: Poly) -> bool:
    calls = as_callers_make_it(launch)
    return bool(calls) and all(power_of_2(one.on_host(extent), one.facts) is Proof.YES for one in calls)


def _passed_at(launch: Launch, node: ast.AST) -> Place:
    """An argument at the launch; what a heuristic computes stands beside the kernel."""
    at_launch = any(inner is node for inner in walk(launch.node))
    module = launch.module if at_launch else launch.kernel.info.module
    return Place(module.source, node)


def _custom(
    found: OpenExtent, trace: Trace, facts: tuple[Formula, ...], padded: bool, raw: frozenset[Atom]
) -> Custom:
    size, leaves = found.size, leaves_of(found.size)
    if leaves and all(may_say_power_of_2(Poly.of(leaf), facts) for leaf in leaves):
        return Custom.TESTED
    if not padded:
        if any(_is_group_of_scales(atom) for atom in size.closure) or any(_is_page(leaf) for leaf in leaves):
            return Custom.OFTEN_POWER
        if _is_half_of_a_head(found):
            return Custom.OFTEN_POWER
        if size.atom not in leaves and raw.issuperset(leaves) and is_power_if_parts_are(size, raw):
            return Custom.TESTED  # those sizes are tiles themselves: they are the ones to look at
        if found.origin is not Origin.COMPUTED and not _is_length_of_a_row(found, trace):
            return Custom.OFTEN_POWER
    # Last what may lead through many files.
    launch = found.launch
    if is_tested_elsewhere(size, ONE, launch, rounded=True):
        return Custom.TESTED
    if padded:
        return Custom.PADDED
    tested = is_tested_by_name(launch, found.passed.node) or is_tested_elsewhere(size, ONE, launch)
    return Custom.TESTED if tested else Custom.ANY


def _is_group_of_scales(atom: Atom) -> bool:
    """Whether a size is how many values share a scale: those of quantization are powers of two."""
    if atom.kind not in ("floordiv", "cdiv"):
        return False
    whole, groups = (part.atom for part in atom.args[:2])
    if whole is None or groups is None or whole.kind != "dim" or groups.kind != "dim":
        return False
    return bool(_SCALES.search(str(groups.args[0])))


def _is_half_of_a_head(found: OpenExtent) -> bool:
    """Whether a size is what rotary embeddings turn: half of a head, by the names of it."""
    atom = found.size.atom
    if atom is None or atom.kind != "floordiv" or atom.args[1].integer != 2:
        return False
    node = found.passed.node
    words = written(node) if isinstance(node, ast.expr) else ""
    names = (found.parameter, words, *(str(leaf.args[0]) for leaf in leaves_of(found.size)))
    return any(_HEAD.search(name) or _ROTARY.search(name) for name in names)


def _is_page(size: Atom) -> bool:
    """Whether a size is an axis of a paged cache: its pages are powers of two."""
    return size.kind == "dim" and size.args[1] != 0 and bool(_PAGED.search(str(size.args[0])))


def _is_length_of_a_row(found: OpenExtent, trace: Trace) -> bool:
    """Whether one tile covers a row, and the size has no name that speaks of a head or a block."""
    name = _name_of(found)
    if name is None or _BLOCK.search(name) or _HEAD.search(name) or _HEAD.search(found.parameter):
        return False
    return covers_a_row(trace, found.tile.extent)


def _name_of(found: OpenExtent) -> str | None:
    """What the host calls a size: the name it is passed under, or that of the argument itself."""
    node = found.passed.node
    if found.size.atom is not None and found.size.atom.kind == "hostparam":
        return str(found.size.atom.args[0])
    return node.id if isinstance(node, ast.Name) else None


_NEVER_SIZES = frozenset(("config", "environment"))
_BLOCK = re.compile(r"(?i:block|blk|tile|chunk|page|group|pad|pow|np2|align|kernel)|^B[A-Z]{1,2}$|^bs$")
_PAGED = re.compile(r"(?i)(^|_)(kv?|v|key|value)_?cache|paged|(^|_)pool")
_SCALES = re.compile(r"(?i)scale|zeros|absmax|(^|_)s(f|fa|fb)?$|^[AB]s$")
_HEAD = re.compile(r"(?i:head_?(?:dim|size)|dim_?head|dmodel|d_?head|d_?state|^hd$|^d[kv]$)")
_ROTARY = re.compile(r"(?i)rope|rot(ary|_|$)|cos_?sin")


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


def definition_place(launch: Launch, node: ast.AST) -> Place:
    """Where the host computed an argument: the last assignment of its name before the launch."""
    if isinstance(node, ast.Name) and launch.function is not None:
        best: ast.AST | None = None
        for statement in launch.function.nodes:
            if (
                isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign)
                and statement.lineno < node.lineno
            ):
                targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
                names = {n.id for target in targets for n in walk(target) if isinstance(n, ast.Name)}
                if node.id in names and (best is None or statement.lineno >= best.lineno):  # type: ignore[attr-defined]
                    best = statement
        if best is not None:
            return Place(launch.module.source, best)
    return _passed_at(launch, node)
