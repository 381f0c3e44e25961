"""The order in which the programs of a GEMM visit its output tiles.

A GEMM here is a `tl.dot` in a loop over K whose operands both move with that loop, one along the rows
and the other along the columns of the output. What tile a program takes is read off the addresses.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tritonlint.model.bounds import axes_of, offset_of
from tritonlint.model.exposure import base_of, constexprs_of
from tritonlint.model.kernel import Kernel, launches_of
from tritonlint.model.records import Assignment, Dot, HelperCall, Loop, Trace, Where
from tritonlint.model.symbolic import ZERO, Atom, Poly
from tritonlint.model.values import NoneValue, Number, Sequence, Value
from tritonlint.model.variability import rank_of

if TYPE_CHECKING:
    from tritonlint.model.launch import Launch
    from tritonlint.model.module import FunctionInfo


@dataclass(frozen=True)
class Gemm:
    """A tiled matrix product: `rows` and `columns` say which tile a program takes."""

    dot: Dot
    loop: Loop
    rows: Poly
    columns: Poly
    row_extent: Poly
    column_extent: Poly
    trace: Trace
    first: Where
    launches: tuple[Launch, ...]
    batches: int
    """Program indices, besides rows and columns, that both operands move with."""


@dataclass(frozen=True)
class TileStep:
    """A whole-tile movement of an operand by program id, and the extent of its tile."""

    index: Poly
    extent: Poly


def gemms(kernel: Kernel) -> Iterator[Gemm]:
    """The matrix products whose program order the kernel itself decides."""
    trace = kernel.module.project.trace(kernel.info)
    launches = launches_of(kernel.info)
    seen: set[tuple[Poly, Poly]] = set()
    for dot in trace.dots:
        for gemm in _of_dot(dot, trace, launches):
            if (gemm.rows, gemm.columns) not in seen:
                seen.add((gemm.rows, gemm.columns))
                yield gemm


@dataclass(frozen=True)
class Operand:
    """How an operand of a dot moves: its steps by program id, and every atom its address mentions."""

    steps: tuple[TileStep, ...]
    mentions: frozenset[Atom]

    def follows(self, index: Poly) -> bool:
        """Whether the address changes with a tile index in any way."""
        atom = index.atom
        return atom is not None and atom in self.mentions


def _of_dot(dot: Dot, trace: Trace, launches: tuple[Launch, ...]) -> Iterator[Gemm]:
    if not dot.loops:
        return
    loop = dot.loops[-1]
    left, right = (_operand(side, loop, trace, launches) for side in (dot.left, dot.right))
    if left is None or right is None or len(left.steps) != 1 or len(right.steps) != 1:
        return
    rows, columns = left.steps[0], right.steps[0]
    if rows.index == columns.index or right.follows(rows.index) or left.follows(columns.index):
        return
    bounds = loop.start.closure | loop.stop.closure
    if any(index.atom in bounds for index in (rows.index, columns.index)) or not _only_accumulates(dot, loop):
        return
    first = _first_statement(trace, rows.index, columns.index)
    known = rows.index.closure | columns.index.closure
    shared = {atom for atom in left.mentions & right.mentions if atom.kind in ("pid", "floordiv", "mod")}
    batches = sum(_is_by_program(Poly.of(atom)) for atom in shared - known)
    extents = rows.extent, columns.extent
    yield Gemm(dot, loop, rows.index, columns.index, *extents, trace, first, launches, batches)


def _only_accumulates(dot: Dot, loop: Loop) -> bool:
    """Whether the loop does nothing with the accumulator but add to it: a state that decays is no GEMM."""
    statement = dot.where.statement
    if dot.where.function is not loop.where.function or statement is None:
        return True
    target = statement.targets[0] if isinstance(statement, ast.Assign) else getattr(statement, "target", None)
    if not isinstance(target, ast.Name):
        return False
    for node in ast.walk(loop.where.node):
        if not isinstance(node, ast.stmt) or hasattr(node, "body") or _has_dot(node):
            continue
        if any(isinstance(inner, ast.Name) and inner.id == target.id for inner in ast.walk(node)):
            return False
    return True


def _has_dot(node: ast.stmt) -> bool:
    return any(isinstance(inner, ast.Attribute) and inner.attr.startswith("dot") for inner in ast.walk(node))


def _operand(value: Value, loop: Loop, trace: Trace, launches: tuple[Launch, ...]) -> Operand | None:
    """How an operand moves; None if it does not move with the loop over K, or not as a matrix does."""
    if not isinstance(value, Number) or loop.trip not in value.dependencies:
        return None
    found: dict[Poly, TileStep] = {}
    mentions: frozenset[Atom] = frozenset()
    for index in sorted(value.loads):
        address = trace.accesses[index].address.poly if index < len(trace.accesses) else ZERO
        if loop.trip not in address.closure:
            continue
        mentions |= address.closure
        offset = offset_of(address, base_of(address, trace, launches))
        axes = axes_of(offset, constexprs_of(trace))[0]
        if any(axis.through_quotient and any(map(_is_by_program, axis.steps)) for axis in axes):
            return None
        for axis in axes:
            for step in axis.steps:
                if _is_by_program(step) and loop.trip not in step.closure:
                    found.setdefault(step, TileStep(step, axis.extent))
        found.update(_wrapped(offset, loop))
    for atom in value.dependencies:
        if atom.kind == "blockload" and value.shape is not None:
            mentions |= atom.closure
            for offset in atom.args[1]:
                for extent in value.shape:
                    part = _program_part(offset.split_by(extent)[0], loop)
                    if part is not None:
                        found.setdefault(part, TileStep(part, extent))
    return Operand(tuple(found.values()), mentions)


def _program_part(tiles: Poly, loop: Loop) -> Poly | None:
    """The part of a tile count that program ids make up, without the loop's own steps."""
    terms = {m: f for m, f in tiles.terms.items() if not any(loop.trip in atom.closure for atom in m)}
    step = Poly({m: f for m, f in terms.items() if _is_by_program(Poly({m: f}))})
    return step if step.terms else None


def _wrapped(offset: Poly, loop: Loop) -> dict[Poly, TileStep]:
    """Steps inside a wrapped or clamped index: `(pid * BLOCK + arange) % M`, `where(i < M, i, 0)`."""
    found: dict[Poly, TileStep] = {}
    for atom in offset.surface:
        inner = atom.args[0] if atom.kind == "mod" else atom.args[1] if atom.kind == "where" else None
        if not isinstance(inner, Poly):
            continue
        for axis in axes_of(inner, frozenset())[0]:
            for monomial, factor in inner.terms.items():
                step = Poly({monomial: factor}).exact_quotient(axis.extent)
                if step is not None and _is_by_program(step) and loop.trip not in step.closure:
                    found.setdefault(step, TileStep(step, axis.extent))
    return found


def _is_by_program(step: Poly) -> bool:
    return any(atom.kind in ("pid", "swizzle_i", "swizzle_j") for atom in step.closure)


def _first_statement(trace: Trace, rows: Poly, columns: Poly) -> Where:
    """The first statement of the kernel that computes a tile index."""
    wanted = (rows, columns)
    for assignment in trace.assignments:
        if assignment.where.function is trace.root and _computes(assignment, wanted):
            return assignment.where
    return Where(trace.root, trace.root.node)


def _computes(assignment: Assignment, wanted: tuple[Poly, Poly]) -> bool:
    values = assignment.value.items if isinstance(assignment.value, Sequence) else (assignment.value,)
    for value in values:
        if isinstance(value, Number):
            if value.poly in wanted:
                return True
            if any(
                w.atom is not None and w.atom.kind != "pid" and w.atom in value.poly.closure for w in wanted
            ):
                return True
    return False


# --- orders -----------------------------------------------------------------------------------------
def is_plain(gemm: Gemm) -> bool:
    """Whether tiles are visited row by row or column by column."""
    rows, columns = gemm.rows.atom, gemm.columns.atom
    if rows is None or columns is None:
        return False
    if rows.kind == "pid" and columns.kind == "pid":
        return bool(rows.args[0] != columns.args[0])
    return _splits(rows, columns) or _splits(columns, rows)


def _splits(outer: Atom, inner: Atom) -> bool:
    """`linear // tiles` and `linear % tiles`, also with the outer one reduced once more."""
    if inner.kind != "mod":
        return False
    linear, tiles = inner.args
    if outer.kind == "floordiv":
        return bool(outer.args[0] == linear and outer.args[1] == tiles)
    if outer.kind == "mod":
        quotient = outer.args[0].atom
        return quotient is not None and quotient.kind == "floordiv" and quotient.args == (linear, tiles)
    return False


def mismatched_split(gemm: Gemm) -> tuple[Poly, Poly] | None:
    """`linear % a` beside `linear // b` with different tile counts: some tiles twice, others never."""
    for outer, inner in ((gemm.rows.atom, gemm.columns.atom), (gemm.columns.atom, gemm.rows.atom)):
        if outer is None or inner is None or outer.kind != "floordiv" or inner.kind != "mod":
            continue
        linear, modulus = inner.args
        if (
            outer.args[0] == linear
            and outer.args[1] != modulus
            and not _other_splits(gemm, linear, {outer, inner})
        ):
            return modulus, outer.args[1]
    return None


def _other_splits(gemm: Gemm, linear: Poly, known: set[Atom]) -> bool:
    """Whether the program id is split a third way, as for a batch or a split of K."""
    for assignment in gemm.trace.assignments:
        if isinstance(assignment.value, Number):
            for atom in assignment.value.poly.closure:
                is_split = atom.kind in ("floordiv", "mod") and atom.args[0] == linear
                if is_split and atom not in known:
                    return True
    return False


def is_swizzled_across(gemm: Gemm) -> bool:
    """`tl.swizzle2d(program_id(0), program_id(1), ...)`: grouped along the axis that runs slowest."""
    for index in (gemm.rows, gemm.columns):
        atom = index.atom
        ids = (Poly.of(Atom("pid", 0)), Poly.of(Atom("pid", 1)))
        if atom is not None and atom.kind.startswith("swizzle") and atom.args[:2] == ids:
            return True
    return False


_GROUP_WIDTH = re.compile(r"^groupe?(_size)?_[mn]$|^groupe?$", re.IGNORECASE)
"""Names that mean the width of a group of tiles where no launch tells: `groups` may be a convolution's."""


def idle_group_parameter(kernel: Kernel) -> str | None:
    """A compile-time parameter that names a group and is never read."""
    read = {
        node.id
        for node in ast.walk(kernel.node)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }
    for parameter in kernel.parameters:
        if parameter.is_constexpr and parameter.name not in read and "group" in parameter.name.lower():
            given = [
                la.arguments[parameter.name].value for la in kernel.launches if parameter.name in la.arguments
            ]
            widths = [value.poly.integer if isinstance(value, Number) else None for value in given]
            if all(width is not None and width > 1 for width in widths) and (
                widths or _GROUP_WIDTH.search(parameter.name)
            ):
                return parameter.name
    return None


def dropped_remaps(kernel: Kernel) -> Iterator[HelperCall]:
    """Calls of pure helpers on program ids whose result is thrown away."""
    trace = kernel.module.project.trace(kernel.info)
    for call in trace.calls:
        if not (call.discarded and kernel.mine(call.where) and is_pure(call.callee)):
            continue
        if isinstance(call.result, NoneValue):
            continue
        if any(
            isinstance(arg, Number) and any(a.kind == "pid" for a in arg.poly.closure) for arg in call.args
        ):
            yield call


_ARITHMETIC = frozenset(
    "cdiv min max minimum maximum where swizzle2d program_id num_programs to cast abs int range static_range "
    "multiple_of max_contiguous assume static_assert constexpr".split()
)


def is_pure(function: FunctionInfo) -> bool:
    """Whether a helper only computes: no memory, no assembly, no call of anything but arithmetic."""
    calls = [node for node in ast.walk(function.node) if isinstance(node, ast.Call)]
    names = {c.func.attr if isinstance(c.func, ast.Attribute) else getattr(c.func, "id", "") for c in calls}
    return names <= _ARITHMETIC


def batch_runs_fastest(gemm: Gemm) -> bool:
    """Whether neighbouring programs belong to different products, so that they share nothing."""
    return gemm.batches > 0 and Atom("pid", 0) not in gemm.rows.closure | gemm.columns.closure


def shows_sizes(gemm: Gemm) -> bool:
    """Whether a launch shows how large the product is; without a batch any launch will do."""
    if not gemm.batches:
        return bool(gemm.launches)
    for launch in gemm.launches:
        sizes = [_size_in_grid(launch.on_host(e), e, launch) for e in (gemm.row_extent, gemm.column_extent)]
        if all(size is not None and size.atom is not None and size.atom.kind == "dim" for size in sizes):
            return True
    return False


def has_narrow_side(gemm: Gemm) -> bool:
    """Whether a launch shows that rows or columns are a head's width: the last axis of four or more."""
    for launch in gemm.launches:
        extents = (gemm.row_extent, gemm.column_extent)
        sizes = [_size_in_grid(launch.on_host(extent), extent, launch) for extent in extents]
        if gemm.batches:
            sizes.append(launch.on_host(gemm.loop.stop - gemm.loop.start))
        if any(_is_head_width(atom, launch) for size in sizes if size is not None for atom in size.closure):
            return True
    return False


def _is_head_width(atom: Atom, launch: Launch) -> bool:
    if atom.kind != "dim":
        return False
    rank = rank_of(str(atom.args[0]), launch)
    return rank is not None and rank >= 4 and atom.args[1] in (-1, rank - 1)


def _size_in_grid(extent: Poly, kernel_extent: Poly, launch: Launch) -> Poly | None:
    """The size that a grid counts in tiles of an extent."""
    for poly in launch.grid or ():
        for atom in poly.closure:
            if atom.kind == "cdiv" and atom.args[1] in (extent, kernel_extent):
                size: Poly = atom.args[0]
                return size
    return None


def walks_few_rows(gemm: Gemm) -> bool:
    """Whether a launch shows that there is one tile of rows, or tiles too thin for order to matter."""
    for launch in gemm.launches:
        extents = [launch.on_host(extent).integer for extent in (gemm.row_extent, gemm.column_extent)]
        if any(extent is not None and extent <= 16 for extent in extents):
            return True
        for index in (gemm.rows, gemm.columns):
            atom = index.atom
            if (
                atom is not None
                and atom.kind == "pid"
                and launch.grid is not None
                and atom.args[0] < len(launch.grid)
            ) and launch.grid[atom.args[0]].integer == 1:
                return True
    return False
