"""Tiles put into grouped order, shared by the rules about it."""

from __future__ import annotations

import ast

from tritonlint import edits
from tritonlint.finding import Applicability, Fix
from tritonlint.model import Kernel
from tritonlint.model.gemms import Gemm
from tritonlint.model.records import Assignment
from tritonlint.model.symbolic import ONE, Atom, Poly, ceil_divide
from tritonlint.model.values import Number

GROUP = "8"
"""Rows of tiles in a group, as in Triton's tutorial, where the kernel has no parameter for it."""


def grouped(kernel: Kernel, gemm: Gemm, group: str = GROUP) -> Fix | None:
    """`tl.swizzle2d` behind the statements that compute the tile: rows and columns by name, counts by the grid."""
    swizzle = kernel.module.spelled("triton.language.swizzle2d")
    rows, columns = _named(kernel, gemm, gemm.rows), _named(kernel, gemm, gemm.columns)
    order = (
        _order(kernel, gemm, rows.name, columns.name) if rows is not None and columns is not None else None
    )
    if swizzle is None or order is None or rows is None or columns is None:
        return None
    last = max((rows, columns), key=lambda item: getattr(item.where.node, "lineno", 0)).where.node
    if not isinstance(last, ast.Assign):
        return None
    first, second, counts = order
    line = f"{first}, {second} = {swizzle}({first}, {second}, {counts}, {group})"
    edit = edits.line_behind(kernel.module.source, last, line)
    return Fix(f"group the tiles with `{swizzle}`", Applicability.UNSAFE, (edit,))


def _named(kernel: Kernel, gemm: Gemm, index: Poly) -> Assignment | None:
    """The one assignment that gives the kernel a name for a number, outside of loops, where the product is."""
    found = [
        item
        for item in gemm.trace.assignments
        if kernel.mine(item.where)
        and isinstance(item.value, Number)
        and item.value.poly == index
        and set(item.conditions) <= set(gemm.dot.conditions)
        and not item.loops
    ]
    return found[0] if len(found) == 1 else None


def _order(kernel: Kernel, gemm: Gemm, rows: str, columns: str) -> tuple[str, str, str] | None:
    """The indices in the order in which `tl.swizzle2d` takes them, and the counts of tiles along them.

    It takes the index that runs slower first; of a grid of two axes, that is axis 1.
    """
    programs = kernel.module.spelled("triton.language.num_programs")
    axes = [_program_axis(index) for index in (gemm.rows, gemm.columns)]
    if axes in ([0, 1], [1, 0]) and programs is not None:
        slow, fast = (columns, rows) if axes == [0, 1] else (rows, columns)
        return slow, fast, f"{programs}(1), {programs}(0)"
    quotient, rest = gemm.rows.atom, gemm.columns.atom
    if quotient is None or rest is None or (quotient.kind, rest.kind) != ("floordiv", "mod"):
        return None
    across = quotient.args[1]
    down = _rows_of_tiles(kernel, gemm, across)
    beside = _count_as_written(kernel, gemm, across)
    return (rows, columns, f"{down}, {beside}") if down is not None and beside is not None else None


def _program_axis(index: Poly) -> int | None:
    atom = index.atom
    return atom.args[0] if atom is not None and atom.kind == "pid" else None


def _rows_of_tiles(kernel: Kernel, gemm: Gemm, across: Poly) -> str | None:
    """How many rows of tiles there are, by the grid of every launch or what sends idle programs home.

    Where no launch is seen, by the mask of the rows.
    """
    for parameter in kernel.parameters:
        down = ceil_divide(Poly.of(Atom("param", parameter.name)), gemm.row_extent)
        if gemm.launches and all(
            launch.grid is not None
            and len(launch.grid) == 1
            and launch.on_host(down * across) == launch.on_host(launch.grid[0])
            for launch in gemm.launches
        ):
            return _count_as_written(kernel, gemm, down)
    linear = gemm.rows.atom
    for condition in gemm.dot.conditions if linear is not None else ():
        if condition.kind == "ge" and linear is not None:
            whole = condition.poly + linear.args[0] + ONE  # `pid < rows * columns`
            rows = whole.exact_quotient(across)
            if rows is not None:
                return _count_as_written(kernel, gemm, rows)
    for comparison in () if gemm.launches else gemm.trace.comparisons:
        before = comparison.left.poly - gemm.rows * gemm.row_extent  # `m < M` for the rows of a tile
        if comparison.operator == "Lt" and before.atom is not None and before.atom.kind == "arange":
            return _count_as_written(kernel, gemm, ceil_divide(comparison.right.poly, gemm.row_extent))
    return None


def _count_as_written(kernel: Kernel, gemm: Gemm, count: Poly) -> str | None:
    """A number of tiles by the name it has, or as `tl.cdiv(N, BN)`."""
    named = _named(kernel, gemm, count)
    if named is not None:
        return named.name
    cdiv, atom = kernel.module.spelled("triton.language.cdiv"), count.atom
    if cdiv is None or atom is None or atom.kind != "cdiv":
        return None
    parts = [part.atom for part in atom.args[:2]]
    if any(part is None or part.kind != "param" for part in parts):
        return None
    return f"{cdiv}({', '.join(str(part.args[0]) for part in parts if part is not None)})"


def kept(kernel: Kernel, call: ast.AST) -> Fix | None:
    """The result of a remap in the name of the program id that it was given."""
    if not isinstance(call, ast.Call) or not call.args or not isinstance(call.args[0], ast.Name):
        return None
    edit = edits.inserted_before(kernel.module.source, call, f"{call.args[0].id} = ")
    return Fix(f"keep the result in `{call.args[0].id}`", Applicability.UNSAFE, (edit,))
