"""What an expression can be: the values that kernels and host code compute with.

One family serves both sides. `Number` is any scalar or tile; the rest are the Python objects that
matter for Triton: tuples, types, tensors, kernels, configurations, functions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from tritonlint.model.dtypes import BOOL, LITERAL_FLOAT, LITERAL_INT, UNKNOWN_DTYPE, DType
from tritonlint.model.logic import Formula
from tritonlint.model.symbolic import Atom, Poly

if TYPE_CHECKING:
    from tritonlint.model.module import FunctionInfo, Module

Shape = tuple[Poly, ...]
MAX_SIZE, MAX_DEPTH = 100_000, 30
"""Of a value with everything inside it, written out. Beyond them it is unknown."""


class Value:
    """Base of all values. `extent` is its size and depth, as if it shared nothing with itself."""

    __slots__ = ()
    extent: ClassVar[tuple[int, int]] = (1, 1)


def _extent(parts: Iterable[Value]) -> tuple[int, int]:
    size = depth = 0
    for part in parts:
        size, depth = size + part.extent[0], max(depth, part.extent[1])
    return size + 1, depth + 1


def kept(value: Value) -> Value:
    """The value, unknown if there is too much inside."""
    size, depth = value.extent
    return value if size <= MAX_SIZE and depth <= MAX_DEPTH else Unknown(deps_of(value))


@dataclass(frozen=True, slots=True)
class Unknown(Value):
    """A value nothing is known of, except the atoms it was computed from."""

    deps: frozenset[Atom] = frozenset()


@dataclass(slots=True, unsafe_hash=True)  # as good as frozen, which would take three times as long to make
class Number(Value):
    """A scalar or a tile of numbers, pointers or truth values. Nothing assigns to its fields.

    `poly` is the value per element (a pointer is its parameter plus an offset in elements).
    `shape` is the tile's, `()` for a scalar, None if unknown. `formula` is set for conditions.
    `static` says that Triton knows the value when it compiles. `deps` holds every atom the value
    was computed from, also through loads and reductions.
    """

    poly: Poly
    dtype: DType = UNKNOWN_DTYPE
    shape: Shape | None = ()
    formula: Formula | None = None
    static: bool = False
    deps: frozenset[Atom] = frozenset()
    loads: frozenset[int] = frozenset()
    """Indices of the recorded loads this value flows from."""
    origin: str = ""
    """`computed` for the result of tile arithmetic, `cast` for one rounded to another type."""

    @property
    def dependencies(self) -> frozenset[Atom]:
        """Atoms of the value itself and of all it was computed from."""
        return self.poly.closure | self.deps

    def of_origin(self, origin: str) -> Number:
        """The same value with another origin; `replace` would take several times as long."""
        return Number(
            self.poly, self.dtype, self.shape, self.formula, self.static, self.deps, self.loads, origin
        )

    @property
    def is_tile(self) -> bool:
        """Whether the value certainly has more than a scalar's shape."""
        return self.shape is not None and len(self.shape) > 0


@dataclass(frozen=True, slots=True)
class Text(Value):
    """A string."""

    value: str


@dataclass(frozen=True, slots=True)
class NoneValue(Value):
    """`None`."""


@dataclass(frozen=True, slots=True)
class TypeValue(Value):
    """An element type as a value: `tl.float32`, `x.dtype.element_ty`, `torch.half`.

    `of` is the number whose `.dtype` it is: a pointer's `.element_ty` needs it.
    """

    dtype: DType
    of: Number | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Sequence(Value):
    """A tuple or list. `exact` is False where there may be more or other items."""

    items: tuple[Value, ...]
    exact: bool = True
    extent: tuple[int, int] = field(init=False, repr=False, compare=False)  # type: ignore[misc]

    def __post_init__(self) -> None:
        object.__setattr__(self, "extent", _extent(self.items))


@dataclass(frozen=True, slots=True)
class Mapping(Value):
    """A dictionary with string keys. `exact` is False where there may be more."""

    items: tuple[tuple[str, Value], ...]
    exact: bool = True
    extent: tuple[int, int] = field(init=False, repr=False, compare=False)  # type: ignore[misc]

    def __post_init__(self) -> None:
        object.__setattr__(self, "extent", _extent(value for _, value in self.items))

    def get(self, key: str) -> Value | None:
        """The value under `key`, the last if it was set twice."""
        for name, value in reversed(self.items):
            if name == key:
                return value
        return None


@dataclass(frozen=True, slots=True)
class Meta(Value):
    """The dictionary of kernel arguments that a grid function or a heuristic is called with."""

    arguments: Mapping


@dataclass(frozen=True, slots=True)
class External(Value):
    """Something of a library outside the project, by its dotted name."""

    name: str


@dataclass(frozen=True, slots=True)
class ModuleValue(Value):
    """A module of the project."""

    module: Module = field(repr=False)


@dataclass(frozen=True, slots=True)
class FunctionValue(Value):
    """A function of the project, jit or host; `bound` holds a leading `self`."""

    info: FunctionInfo = field(repr=False)
    bound: Value | None = None


@dataclass(frozen=True, slots=True)
class LambdaValue(Value):
    """A lambda with the names it saw."""

    node: ast.Lambda = field(compare=False)
    scope: Scope = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ClassValue(Value):
    """A class of the project."""

    node: ast.ClassDef = field(compare=False)
    module: Module = field(repr=False, compare=False)
    name: str


@dataclass(frozen=True, slots=True)
class Instance(Value):
    """`self`, or an object a project class made; `key` tells one from another."""

    key: str
    class_name: str | None = None


@dataclass(frozen=True, slots=True)
class Tensor(Value):
    """A host object that is, or may be, a tensor.

    `key` names where it came from: equal keys are the same object. `like` is the key whose sizes it
    shares. `origin` is `input` (a parameter), `attribute`, `fresh` (allocated here) or `derived`.
    `sure` is False where nothing shows that it is a tensor rather than some other object.
    """

    key: str
    like: str = ""
    dims: tuple[Poly, ...] | None = None
    dtype: DType = UNKNOWN_DTYPE
    origin: str = "input"
    contiguous: bool = False
    sure: bool = True
    node: ast.AST | None = field(default=None, compare=False)
    made: frozenset[tuple[Poly, ...]] = frozenset()
    """The sizes of the allocations that it is on one of several ways: `padded if n < width else x`."""

    @property
    def shape_key(self) -> str:
        """The key that names its sizes."""
        return self.like or self.key

    @property
    def size(self) -> Poly:
        """The number of elements."""
        if self.dims is None:
            return Poly.of(Atom("numel", self.shape_key))
        total = Poly.const(1)
        for dim in self.dims:
            total = total * dim
        return total


@dataclass(frozen=True, slots=True)
class SizesOf(Value):
    """`x.shape` (or `x.stride()`) of a tensor whose rank is not known."""

    tensor: Tensor
    strides: bool = False


@dataclass(frozen=True, slots=True)
class LazyImport(Value):
    """An imported name, looked up when it is first used: `name` of `module`, or the module itself."""

    module: str
    level: int
    name: str | None


@dataclass(frozen=True, slots=True)
class Config(Value):
    """One `triton.Config`: meta-parameters and launch options, and where it was written."""

    kwargs: Mapping
    options: Mapping
    node: ast.AST = field(compare=False)
    pre_hook: bool = False


@dataclass(frozen=True, slots=True)
class Tuned(Value):
    """What `triton.autotune(...)`, or a decorator that looks like it, was told."""

    configs: Value
    key: Value
    node: ast.AST = field(compare=False)
    options: Mapping = field(default_factory=lambda: Mapping(()))
    canonical: bool = True
    """False for a third party's tuner."""
    grounds: frozenset[str] = frozenset()
    """Kinds of atoms in the conditions under which it was made."""


@dataclass(frozen=True, slots=True)
class HeuristicsValue(Value):
    """What `triton.heuristics({...})` was told: parameter to function."""

    values: Mapping
    node: ast.AST = field(compare=False)


@dataclass(frozen=True, slots=True)
class JitDecorator(Value):
    """`triton.jit` or `triton.jit(...)` waiting for its function."""

    options: Mapping
    gluon: bool = False


@dataclass(frozen=True, slots=True)
class KernelValue(Value):
    """A jit function as the host sees it, with the wrappers around it, outermost first."""

    info: FunctionInfo = field(repr=False)
    wrappers: tuple[Value, ...] = ()

    @property
    def tuned(self) -> Tuned | None:
        """The autotuner around the function, if any."""
        return next((wrapper for wrapper in self.wrappers if isinstance(wrapper, Tuned)), None)


@dataclass(frozen=True, slots=True)
class Choice(Value):
    """One of several values, by a condition that is not known.

    `grounds` holds the kinds of atoms in that condition: `environment`, `mod` ...
    """

    options: tuple[Value, ...]
    grounds: frozenset[str] = field(default=frozenset(), compare=False)
    extent: tuple[int, int] = field(init=False, repr=False, compare=False)  # type: ignore[misc]

    def __post_init__(self) -> None:
        object.__setattr__(self, "extent", _extent(self.options))


@dataclass(frozen=True, slots=True)
class Launcher(Value):
    """`kernel[grid]`, or a partial application of it."""

    kernels: tuple[KernelValue, ...]
    grid: Value
    args: tuple[Value, ...] = ()
    kwargs: tuple[tuple[str, Value], ...] = ()
    node: ast.AST | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Partial(Value):
    """`functools.partial(function, ...)`."""

    function: Value
    args: tuple[Value, ...]
    kwargs: tuple[tuple[str, Value], ...]
    extent: tuple[int, int] = field(init=False, repr=False, compare=False)  # type: ignore[misc]

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "extent", _extent((self.function, *self.args, *(value for _, value in self.kwargs)))
        )


@dataclass(frozen=True, slots=True)
class BlockPointer(Value):
    """`tl.make_block_ptr`: a window of `block_shape` at `offsets` into a tensor of `shape`."""

    base: Poly
    shape: tuple[Poly, ...]
    strides: tuple[Poly, ...]
    offsets: tuple[Poly, ...]
    block_shape: tuple[Poly, ...]
    node: ast.AST = field(compare=False)
    under: tuple[Formula, ...] = ()
    """The compile-time conditions that picked it, where there are others."""


@dataclass(frozen=True, slots=True)
class Descriptor(Value):
    """A tensor descriptor: accesses are clipped to its shape."""

    base: Poly
    shape: tuple[Poly, ...]
    block_shape: tuple[Poly, ...]
    dtype: DType = UNKNOWN_DTYPE


class Scope:
    """Names and their values where a function, a lambda or a module body stands."""

    __slots__ = ("function", "module", "names", "outer")

    def __init__(
        self, module: Module, outer: Scope | None = None, function: FunctionInfo | None = None
    ) -> None:
        self.module = module
        self.outer = outer
        self.function = function
        self.names: dict[str, Value] = {}

    def lookup(self, name: str) -> Value | None:
        """The value of `name` here or in an enclosing function."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names:
                return scope.names[name]
            scope = scope.outer
        return None


UNKNOWN_VALUE = Unknown()
NONE = NoneValue()


def integer(value: int) -> Number:
    """A literal integer."""
    return Number(Poly.const(value), LITERAL_INT, static=True)


def real(value: float) -> Number:
    """A literal float."""
    return Number(Poly.const(value), LITERAL_FLOAT, static=True)


def truth(
    formula: Formula, shape: Shape | None = (), *, static: bool = False, deps: frozenset[Atom] = frozenset()
) -> Number:
    """A condition as a value."""
    return Number(Poly.of(Atom("truth", formula)), BOOL, shape, formula, static, deps)


def option_of(value: Value, *wanted: type[Value] | tuple[type[Value], ...]) -> Value:
    """The option of a choice that is of the first wanted kind present; other values as they are."""
    if isinstance(value, Choice):
        for kind in wanted:
            for option in value.options:
                if isinstance(option, kind):
                    return option
    return value


def deps_of(value: Value) -> frozenset[Atom]:
    """Every atom a value was computed from."""
    if isinstance(value, Number):
        return value.dependencies
    if isinstance(value, Unknown):
        return value.deps
    if isinstance(value, Sequence):
        return frozenset().union(*(deps_of(item) for item in value.items))
    if isinstance(value, BlockPointer):
        polys = (value.base, *value.offsets)
        return frozenset().union(*(poly.closure for poly in polys))
    if isinstance(value, Choice):
        return frozenset().union(*(deps_of(item) for item in value.options))
    return frozenset()
