"""The order in which the programs of a GEMM visit its output tiles."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tritonlint.model import symbolic
from tritonlint.model.evaluator import called_name
from tritonlint.model.gemms import Gemm, gemms, is_by_program
from tritonlint.model.records import Where
from tritonlint.model.symbolic import Atom, Poly
from tritonlint.model.values import NoneValue, Number
from tritonlint.model.variability import rank_of

if TYPE_CHECKING:
    from tritonlint.model.kernel import Kernel
    from tritonlint.model.launch import Launch
    from tritonlint.model.module import FunctionInfo


def is_plain(gemm: Gemm) -> bool:
    """Whether tiles are visited row by row or column by column."""
    rows, columns = gemm.rows.atom, gemm.columns.atom
    if rows is not None and columns is not None and rows.kind == columns.kind == "pid":
        return bool(rows.args[0] != columns.args[0])
    return _runs_through(gemm.columns, gemm.rows) or _runs_through(gemm.rows, gemm.columns)


def _runs_through(inner: Poly, outer: Poly) -> bool:
    """Whether one index counts all its tiles while the other stays: `linear % tiles`, `linear // tiles`.

    What becomes of the quotient afterwards (a second remainder, a shift by rank) changes which row comes
    next, and not that a row is walked from end to end.
    """
    atom = inner.atom
    if atom is None or atom.kind != "mod":
        return False
    linear, tiles = atom.args
    quotient = symbolic.floor_divide(linear, tiles).atom
    if quotient is None or quotient not in outer.closure:
        return False
    stays = Poly.of(Atom("row"))
    rest = outer.substitute({quotient: stays})
    return not any(is_by_program(Poly.of(found)) for found in rest.closure)


@dataclass(frozen=True)
class Mismatch:
    """`linear % modulus` beside `linear // divisor`: some tiles twice, others never."""

    where: Where
    modulus: Poly
    divisor: Poly


def mismatched_splits(kernel: Kernel) -> Iterator[Mismatch]:
    """Splits of one program id by different numbers of tiles, where nothing else is made of it."""
    trace = kernel.module.project.trace(kernel.info)
    if not trace.dots:
        return
    taken = {index.atom for gemm in gemms(kernel) for index in (gemm.rows, gemm.columns)}
    splits: dict[Poly, dict[Atom, Where]] = {}
    for assignment in trace.assignments:
        if isinstance(assignment.value, Number) and _counts_programs(assignment.value):
            for atom in assignment.value.poly.closure:
                if atom.kind in ("floordiv", "mod"):
                    splits.setdefault(atom.args[0], {}).setdefault(atom, assignment.where)
    for halves in splits.values():
        outer = [atom for atom in halves if atom.kind == "floordiv"]
        inner = [atom for atom in halves if atom.kind == "mod"]
        if len(halves) != 2 or not outer or not inner:
            continue
        divisor, modulus = outer[0].args[1], inner[0].args[1]
        are_tiles = {outer[0], inner[0]} <= taken or (_counts_tiles(divisor) and _counts_tiles(modulus))
        if divisor != modulus and are_tiles and halves[outer[0]].function is kernel.info:
            yield Mismatch(min(halves.values(), key=_line), modulus, divisor)


def _counts_programs(value: Number) -> bool:
    return any(atom.kind in ("pid", "carried") for atom in value.dependencies)


def _counts_tiles(number: Poly) -> bool:
    return number.atom is not None and number.atom.kind == "cdiv"


def _line(where: Where) -> int:
    return int(getattr(where.node, "lineno", 0))


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
        node.id for node in kernel.info.nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
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


def dropped_remaps(kernel: Kernel) -> Iterator[tuple[str, ast.AST]]:
    """Calls that remap program ids and whose result is thrown away: their names and places."""
    trace = kernel.module.project.trace(kernel.info)
    for node in kernel.info.nodes:
        call = node.value if isinstance(node, ast.Expr) else None
        if isinstance(call, ast.Call) and getattr(call.func, "attr", "") == "swizzle2d":
            yield "tl.swizzle2d", call
    for helper in trace.calls:
        if not (helper.discarded and kernel.mine(helper.where) and is_pure(helper.callee)):
            continue
        numbers = [arg for arg in helper.args if isinstance(arg, Number)]
        remaps = any(atom.kind == "pid" for number in numbers for atom in number.poly.closure)
        if remaps and not isinstance(helper.result, NoneValue):
            yield helper.callee.name, helper.where.node


_ARITHMETIC = frozenset(
    "cdiv min max minimum maximum where swizzle2d program_id num_programs to cast abs int range static_range "
    "multiple_of max_contiguous assume static_assert constexpr".split()
)


def is_pure(function: FunctionInfo) -> bool:
    """Whether a helper only computes: no memory, no assembly, no call of anything but arithmetic."""
    calls = [node for node in function.nodes if isinstance(node, ast.Call)]
    return {called_name(call) for call in calls} <= _ARITHMETIC


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


def adds_up_in_memory(gemm: Gemm) -> bool:
    """Whether a program goes on to add whole tiles to memory, one after the other.

    That takes more than its product does, and the order decides who waits for whom, too.
    """
    return any(
        access.kind not in ("load", "store")
        and len(access.address.shape or ()) > 1
        and any(loop not in gemm.dot.loops for loop in access.loops)
        for access in gemm.trace.accesses
    )


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
