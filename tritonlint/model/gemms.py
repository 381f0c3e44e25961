"""The tiled matrix products of a kernel, and which tile of the output a program takes.

A GEMM here is a `tl.dot` in a loop over K whose operands both move with that loop, one along the rows
and the other along the columns of the output. What tile a program takes is read off the addresses.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tritonlint.model.bounds import axes_of, offset_of, visible_aranges
from tritonlint.model.exposure import base_of, constexprs_of
from tritonlint.model.kernel import Kernel, launches_of
from tritonlint.model.records import Assignment, Dot, Loop, Trace, Where
from tritonlint.model.symbolic import ZERO, Atom, Poly
from tritonlint.model.values import Choice, Number, Sequence, Shape, Value, deps_of
from tritonlint.syntax import mentions, walk

if TYPE_CHECKING:
    from tritonlint.model.launch import Launch
    from tritonlint.model.module import FunctionInfo

_SCALING = frozenset("to load trans broadcast_to expand_dims".split())
_OPAQUE = frozenset(("carried", "left", "either", "data", "unknown", "call"))
"""What stands for a pointer that a loop or a branch changes: only its parts are known."""
_MEMORY = frozenset(("load", "blockload", "data"))


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
    gathered: bool
    """Whether a table names the rows of a tile, as where tokens are sorted by their expert."""
    ragged: bool
    """Whether the products have sizes of their own, read from memory or found by a search."""


@dataclass(frozen=True)
class TileStep:
    """A whole-tile movement of an operand by program id, and the extent of its tile."""

    index: Poly
    extent: Poly
    gathered: bool = False


def gemms(kernel: Kernel) -> tuple[Gemm, ...]:
    """The matrix products whose program order the kernel itself decides."""
    known: dict[FunctionInfo, tuple[Gemm, ...]] = kernel.module.project.remembered("gemms")
    if kernel.info not in known:
        known[kernel.info] = tuple(_gemms_of(kernel))
    return known[kernel.info]


def _gemms_of(kernel: Kernel) -> Iterator[Gemm]:
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
    """How an operand of a dot moves: its steps by program id, and what its addresses mention.

    `mentions` leaves out what stands inside loads: an expert that a row of tiles looks up is no movement
    along the rows. `tables` are those loads.
    """

    steps: dict[Poly, TileStep]
    mentions: frozenset[Atom]
    tables: frozenset[Atom]
    shape: Shape | None

    @property
    def everything(self) -> frozenset[Atom]:
        """What its addresses depend on, tables included."""
        return self.mentions.union(*(table.closure for table in self.tables))

    def follows(self, index: Poly) -> bool:
        """Whether the address changes with a tile index in any way but through a table."""
        return any(atom in self.mentions for atom in index.surface if is_by_program(Poly.of(atom)))

    def step(self, shared: set[Poly], axis: int) -> TileStep | None:
        """The step that is this operand's own, along an axis of its tile where there are several."""
        own = [step for index, step in self.steps.items() if index not in shared]
        if len(own) > 1 and self.shape is not None and len(self.shape) == 2:
            own = [step for step in own if step.extent == self.shape[axis]]
        return own[0] if len(own) == 1 else None


def _of_dot(dot: Dot, trace: Trace, launches: tuple[Launch, ...]) -> Iterator[Gemm]:
    if not dot.loops:
        return
    loop = dot.loops[-1]
    left, right = (_operand(side, loop, trace, launches) for side in (dot.left, dot.right))
    if left is None or right is None:
        return
    split = left.steps.keys() & right.steps.keys()  # of K, or a batch: no movement over the output
    rows, columns = left.step(split, 0), right.step(split, 1)
    if rows is None or columns is None:
        return
    if right.follows(rows.index) or left.follows(columns.index):
        return
    moving = {atom for index in (rows.index, columns.index) for atom in index.surface if atom.kind != "param"}
    if moving & (loop.start.closure | loop.stop.closure) or not _only_accumulates(dot, loop):
        return
    known = rows.index.closure | columns.index.closure
    shared = {atom for atom in left.everything & right.everything if atom.kind in ("pid", "floordiv", "mod")}
    batches = {atom for atom in shared - known if is_by_program(Poly.of(atom))}
    batches -= {atom for index in split for atom in index.surface}
    yield Gemm(
        dot, loop, rows.index, columns.index, rows.extent, columns.extent, trace,
        _first_statement(trace, rows.index, columns.index), launches, len(batches),
        gathered=rows.gathered or columns.gathered,
        ragged=_is_ragged(left, right, dot, loop, batches),
    )  # fmt: skip


def _is_ragged(left: Operand, right: Operand, dot: Dot, loop: Loop, batches: set[Atom]) -> bool:
    """Whether a table says for each product of a batch how large it is, or a search which product it is."""
    sizes = left.tables | right.tables | loop.start.closure | loop.stop.closure
    if any(atom.kind == "load" and atom.closure & batches for atom in sizes):
        return True
    around = {each.trip.args[0] for each in dot.loops}
    searched = (atom.args[0] for atom in left.mentions | right.mentions if atom.kind == "left")
    return any(mark.args[0] not in around for mark in searched)


# --- the loop ---------------------------------------------------------------------------------------
def _only_accumulates(dot: Dot, loop: Loop) -> bool:
    """Whether the loop does nothing with the product but add it up: a state that decays is no GEMM."""
    statement = dot.where.statement
    if dot.where.function is not loop.where.function or statement is None:
        return True
    target = statement.targets[0] if isinstance(statement, ast.Assign) else getattr(statement, "target", None)
    if not isinstance(target, ast.Name):
        return False
    others = [node for node in walk(loop.where.node) if _is_simple(node) and node is not statement]
    if isinstance(statement, ast.AugAssign) or dot.acc is not None or _reads(statement, target.id):
        return not any(mentions(node, target.id) for node in others if not _has_dot(node))
    uses = [node for node in others if _reads(node, target.id)]
    sums = {_sum_of_scaled(node) for node in uses}
    return None not in sums and not any(
        name is not None and mentions(node, name) for name in sums for node in others if node not in uses
    )


def _is_simple(node: ast.AST) -> bool:
    return isinstance(node, ast.stmt) and not hasattr(node, "body")


def _reads(node: ast.AST, name: str) -> bool:
    loads = [inner for inner in walk(node) if isinstance(getattr(inner, "ctx", None), ast.Load)]
    return any(isinstance(inner, ast.Name) and inner.id == name for inner in loads)


def _sum_of_scaled(node: ast.AST) -> str | None:
    """The name that `acc += product * scale` or `acc = acc + product * scale` adds to."""
    calls = [inner.func for inner in walk(node) if isinstance(inner, ast.Call)]
    if any(getattr(function, "attr", "") not in _SCALING for function in calls):
        return None
    match node:
        case ast.AugAssign(ast.Name(name), ast.Add()):
            return name
        case ast.Assign([ast.Name(name)], ast.BinOp(ast.Name(before), ast.Add(), _)) if name == before:
            return name
    return None


def _has_dot(node: ast.AST) -> bool:
    return any(isinstance(inner, ast.Attribute) and inner.attr.startswith("dot") for inner in walk(node))


# --- operands ---------------------------------------------------------------------------------------
def _operand(value: Value, loop: Loop, trace: Trace, launches: tuple[Launch, ...]) -> Operand | None:
    """How an operand moves; None if it does not move with the loop over K, or not as a matrix does."""
    depends = deps_of(value)
    if loop.trip not in depends:
        return None
    view = _View()
    for index in sorted(_loads_of(value)):
        if index < len(trace.accesses):
            address = trace.accesses[index].address
            hidden = any(atom.kind in _OPAQUE for atom in address.poly.surface)
            if loop.trip in address.poly.closure:
                view.add(offset_of(address.poly, base_of(address.poly, trace, launches)))
            if hidden and (loop.trip in address.dependencies or _is_carried(address.poly)):
                view.add_parts(address.dependencies)
    if not view.polys:
        loads = [atom for atom in depends if atom.kind == "load" and loop.trip in atom.closure]
        for atom in loads:
            address = atom.args[0]
            view.add(offset_of(address, base_of(address, trace, launches)))
    if view.decomposes():
        return None
    for atom in depends:
        if atom.kind == "blockload" and loop.trip in atom.closure:
            view.add_block(atom)
    shape = value.shape if isinstance(value, Number) else None
    constexprs = constexprs_of(trace)
    steps = {**view.steps(loop, constexprs), **_block_steps(depends, shape, loop, constexprs)}
    return Operand(steps, frozenset(view.atoms), frozenset(view.tables), shape)


def _is_carried(address: Poly) -> bool:
    return any(atom.kind == "carried" for atom in address.surface)


def _loads_of(value: Value) -> frozenset[int]:
    if isinstance(value, Choice):
        return frozenset().union(*(_loads_of(option) for option in value.options))
    return value.loads if isinstance(value, Number) else frozenset()


class _View:
    """The expressions inside some addresses, those behind tables apart."""

    def __init__(self) -> None:
        self.polys: dict[Poly, bool] = {}
        """Each expression, and whether it is only found inside a load."""
        self.atoms: set[Atom] = set()
        self.tables: set[Atom] = set()

    def add(self, address: Poly) -> None:
        """Look into an address."""
        self._look([address])

    def add_parts(self, atoms: Iterable[Atom]) -> None:
        """Look into what an address was made from; a load among it is a table."""
        apart = [atom for atom in atoms if atom.kind in _MEMORY or atom.kind == "truth"]
        inside = {inner for atom in apart for inner in atom.closure if inner is not atom}
        self._look([atom for atom in atoms if atom not in inside])

    def add_block(self, load: Atom) -> None:
        """Look into the base and the offsets of a block."""
        self._look(list(load.args))

    def _look(self, roots: list[Any]) -> None:
        before = set(self.tables)
        for item in _parts(roots, self.atoms):
            if isinstance(item, Atom):
                self.tables.add(item)
            else:
                self.polys[item] = False
        behind: set[Atom] = set()
        for table in self.tables - before:
            for item in _parts(list(table.args), behind, through=True):
                self.polys.setdefault(item, True)

    def decomposes(self) -> bool:
        """Whether an index is taken apart by quotient and remainder, as the pixels of a convolution."""
        divided = {atom.args[0] for atom in self.atoms if atom.kind == "floordiv"}
        quotients = {Poly.of(atom) for atom in self.atoms if atom.kind == "floordiv"}
        return any(
            atom.kind == "mod" and atom.args[0] in divided | quotients and visible_aranges(atom.args[0])
            for atom in self.atoms
        )

    def steps(self, loop: Loop, constexprs: frozenset[str]) -> dict[Poly, TileStep]:
        """The whole-tile movements by program id, those outside tables first."""
        found: dict[Poly, TileStep] = {}
        for poly, gathered in sorted(self.polys.items(), key=lambda item: item[1]):
            if not is_by_program(poly):
                continue
            for axis in axes_of(poly, constexprs)[0]:
                parts = [step for step in axis.steps if is_by_program(step) and loop.trip not in step.closure]
                index = sum(parts, ZERO)
                if index.terms:
                    found.setdefault(index, TileStep(index, axis.extent, gathered))
        return found


def _parts(roots: list[Any], seen: set[Atom], *, through: bool = False) -> Iterator[Any]:
    """The expressions inside some, and the loads among them, which are entered only where told.

    Conditions are passed by: a mask moves nothing.
    """
    stack = list(roots)
    while stack:
        item = stack.pop()
        if isinstance(item, Poly):
            yield item
            stack += item.surface
        elif isinstance(item, Atom):
            if item in seen or item.kind == "truth":
                continue
            seen.add(item)
            if item.kind in _MEMORY and not through:
                yield item
            else:
                stack += item.args
        elif isinstance(item, tuple | frozenset):
            stack += item


def _block_steps(
    depends: frozenset[Atom], shape: Shape | None, loop: Loop, constexprs: frozenset[str]
) -> dict[Poly, TileStep]:
    """The movements of blocks that are loaded by their offsets."""
    found: dict[Poly, TileStep] = {}
    for atom in depends:
        if atom.kind == "blockload" and loop.trip in atom.closure:
            for offset in atom.args[1]:
                for extent in (*(shape or ()), *_factors(offset, constexprs)):
                    part = _program_part(offset.split_by(extent)[0], loop)
                    if part is not None:
                        found.setdefault(part, TileStep(part, extent))
                        break
    return found


def _factors(offset: Poly, constexprs: frozenset[str]) -> Iterator[Poly]:
    """Parameters that an offset may count in: the block of a descriptor that the host made is not seen."""
    for atom in sorted(offset.surface, key=repr):
        if atom.kind == "param" and atom.args[0] in constexprs:
            yield Poly.of(atom)


def _program_part(tiles: Poly, loop: Loop) -> Poly | None:
    """The part of a tile count that program ids make up, without the loop's own steps."""
    terms = {m: f for m, f in tiles.terms.items() if not any(loop.trip in atom.closure for atom in m)}
    step = Poly({m: f for m, f in terms.items() if is_by_program(Poly({m: f}))})
    return step if step.terms else None


def is_by_program(step: Poly) -> bool:
    """Whether an expression depends on the program id."""
    return any(atom.kind in ("pid", "swizzle_i", "swizzle_j") for atom in step.closure)


# --- where the order is decided ---------------------------------------------------------------------
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
