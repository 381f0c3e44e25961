"""What a kernel does, as recorded while it was evaluated: accesses, dots, sums, tiles, loops, calls."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tritonlint.model.dtypes import DType
from tritonlint.model.logic import Formula
from tritonlint.model.symbolic import Atom, Poly
from tritonlint.model.values import BlockPointer, Number, Value

if TYPE_CHECKING:
    from tritonlint.model.bounds import Sighting
    from tritonlint.model.module import FunctionInfo


@dataclass(frozen=True, slots=True)
class CallSite:
    """A call of one jit function inside another."""

    caller: FunctionInfo
    node: ast.Call


@dataclass(frozen=True, slots=True)
class Where:
    """The place a record was made: the function that holds the node, and the calls that led there."""

    function: FunctionInfo
    node: ast.AST
    calls: tuple[CallSite, ...] = ()
    statement: ast.stmt | None = None


@dataclass(frozen=True, slots=True)
class Loop:
    """A `for` over a range. In iteration `trip` (from 0) the variable is `start + step * trip`."""

    where: Where
    trip: Atom
    start: Poly
    stop: Poly
    step: Poly
    static: bool
    variable: str | None


@dataclass(frozen=True, slots=True)
class Access:
    """A load, store or atomic through a pointer.

    `mask` is None where none was given; `conditions` are those of the enclosing branches, loops and
    early returns. `value` is what a store writes, `other` what a load's masked lanes read.
    """

    where: Where
    kind: str
    address: Number
    mask: Number | None
    mask_unknown: bool
    other: Value | None
    value: Value | None
    conditions: tuple[Formula, ...]
    loops: tuple[Loop, ...]
    index: int

    @property
    def is_write(self) -> bool:
        """Whether memory changes."""
        return self.kind != "load"


@dataclass(frozen=True, slots=True)
class BlockAccess:
    """A load or store through a block pointer. `checked` is None where it is not a plain tuple."""

    where: Where
    kind: str
    pointer: BlockPointer
    checked: frozenset[int] | None
    conditions: tuple[Formula, ...]
    loops: tuple[Loop, ...]


@dataclass(frozen=True, slots=True)
class DescriptorAccess:
    """A load or store through a tensor descriptor."""

    where: Where
    kind: str
    base: Poly
    offsets: tuple[Poly, ...]
    block_shape: tuple[Poly, ...]
    loops: tuple[Loop, ...]
    deps: frozenset[Atom]


@dataclass(frozen=True, slots=True)
class Definition:
    """Where a name got its value, other than from an earlier iteration, and the type it had then."""

    where: Where
    dtype: DType
    name: str


@dataclass(frozen=True, slots=True)
class Dot:
    """A `tl.dot`. `acc` is its accumulator argument, `result` what it returns.

    `start` is what the accumulator was before the loop that hands it on.
    """

    where: Where
    left: Value
    right: Value
    acc: Value | None
    start: Definition | None
    out_dtype: Value | None
    result: Number
    loops: tuple[Loop, ...]
    conditions: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Reduction:
    """A reduction or scan: `op` is sum, max, cumsum ... `dtype` is the one asked for, if any."""

    where: Where
    op: str
    operand: Number
    dtype: Value | None
    result: Number
    extent: Poly | None
    conditions: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Accumulation:
    """A name that a loop adds to: its value before, what is added, and where both stand.

    `start` is what gave the name its value before the loop.
    """

    where: Where
    name: str
    before: Number
    added: Number
    after: Number
    start: Definition | None
    added_node: ast.AST
    carried: bool
    """Whether the value before is what an earlier iteration left."""
    unrolled: bool
    """Whether only loops that are unrolled hand it on, so that its type may change on the way."""
    loops: tuple[Loop, ...]
    """The `for` loops that hand it on."""


@dataclass(frozen=True, slots=True)
class TileShape:
    """An extent that must be a power of two: an `arange` range or one dimension of a tile."""

    where: Where
    what: str
    extent: Poly
    value: Number
    conditions: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class StaticUse:
    """A place where Triton needs a compile-time value."""

    where: Where
    what: str
    value: Value


@dataclass(frozen=True, slots=True)
class HelperCall:
    """A call of a jit helper; `discarded` where it is a statement of its own."""

    where: Where
    callee: FunctionInfo
    args: tuple[Value, ...]
    discarded: bool
    pure: bool
    result: Value


@dataclass(frozen=True, slots=True)
class Assignment:
    """A name given a value, in program order."""

    where: Where
    name: str
    value: Value
    conditions: tuple[Formula, ...]
    loops: tuple[Loop, ...]


@dataclass(frozen=True, slots=True)
class Compared:
    """A comparison of two numbers."""

    where: Where
    left: Number
    right: Number
    operator: str


@dataclass(frozen=True, slots=True)
class Cast:
    """A conversion to another element type."""

    where: Where
    value: Number
    dtype: DType


class Trace:
    """Everything one evaluation of a kernel recorded. Lists are in program order."""

    def __init__(self, root: FunctionInfo) -> None:
        self.root = root
        self.accesses: list[Access] = []
        self.block_accesses: list[BlockAccess] = []
        self.descriptor_accesses: list[DescriptorAccess] = []
        self.dots: list[Dot] = []
        self.reductions: list[Reduction] = []
        self.accumulations: list[Accumulation] = []
        self.tiles: list[TileShape] = []
        self.static_uses: list[StaticUse] = []
        self.constants: list[Number] = []
        """What is handed to functions of the host, which the compiler runs."""
        self.calls: list[HelperCall] = []
        self.functions: set[FunctionInfo] = {root}
        """The jit functions whose bodies took part."""
        self.assignments: list[Assignment] = []
        self.comparisons: list[Compared] = []
        self.arithmetic: list[tuple[Where, str, Number, Number, Number]] = []
        self.casts: list[Cast] = []
        self.recipes: dict[Atom, tuple[str, tuple[Number, ...]]] = {}
        """How data was computed, as far as a function of it may matter: its name and operands."""
        self.facts: list[Formula] = []
        """What `tl.static_assert`, `tl.assume` and `tl.device_assert` state."""
        self.scalars: set[str] = set()
        """Parameters used as numbers: multiplied, compared, divided."""
        self.integers: set[str] = set()
        """Pointer parameters whose elements are used as integers: as indices, bounds, operands of `//`."""
        self.wide: set[frozenset[str]] = set()
        """Pointer parameters whose elements, together, have a type that `tl.exp` takes: no half one."""
        self.runtime_trips: set[Atom] = set()
        """The iteration counts of loops that run on the device."""
        self.returned: list[Value] = []
        self.sightings: dict[tuple[object, ...], list[Sighting]] = {}
        """Limits by range, extent and steps of an axis, as `bounds.sightings` found them."""
        self.limits: dict[tuple[Poly, Poly], list[tuple[Formula, Where, Access | None]]] | None = None
        """The inequalities of masks by the ranges they speak of, once `bounds.sightings` gathered them."""
        self.equal_loops: dict[Atom, Poly] | None = None
        """The iteration count of each loop as that of the first over the same range, once it is known."""
        self.complete = True
        """False where the evaluation ran out of its budget and left something out."""
