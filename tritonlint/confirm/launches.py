"""One launch of a kernel: the function, its arguments by name, the grid, the options."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, Generic, TypeVar

import torch
from triton.runtime.jit import JITFunction

T = TypeVar("T")

OPTIONS = frozenset(
    "num_warps num_stages num_ctas maxnreg num_buffers_warp_spec num_consumer_groups reg_dec_producer "
    "reg_inc_consumer enable_fp_fusion allow_fp8e4nv waves_per_eu matrix_instr_nonkdim kpack ir_override "
    "launch_cooperative_grid launch_pdl".split()
)
"""What a launch may say beside the kernel's parameters that matters to how it is compiled."""


@dataclass(frozen=True)
class Launch:
    """What is needed to launch a kernel once more."""

    function: JITFunction
    arguments: Mapping[str, Any]
    """By parameter, in order, with defaults filled in."""
    grid: tuple[int, ...]
    options: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The kernel's name."""
        return str(self.function.fn.__name__)

    @property
    def file(self) -> Path:
        """The file that the kernel stands in."""
        return Path(self.function.fn.__code__.co_filename)

    @property
    def constants(self) -> dict[str, Any]:
        """The arguments of parameters that are compile-time constants."""
        fixed = {parameter.name for parameter in self.function.params if parameter.is_constexpr}
        return {name: value for name, value in self.arguments.items() if name in fixed}

    @property
    def programs(self) -> int:
        """How many programs the grid has."""
        product = 1
        for extent in self.grid:
            product *= int(extent)
        return product

    @property
    def signature(self) -> tuple[object, ...]:
        """What tells launches apart that can behave differently: shapes, types, numbers, constants."""
        return (*((name, kind(value)) for name, value in self.arguments.items()), self.grid)

    def with_arguments(self, arguments: Mapping[str, Any]) -> Launch:
        """The same launch on other arguments."""
        return replace(self, arguments=arguments)

    def with_function(self, function: JITFunction) -> Launch:
        """The same launch of another version of the kernel."""
        return replace(self, function=function)

    def described(self, wanted: Collection[str] = ()) -> str:
        """The numbers of the launch in a few words: those that are wanted first, strides only then."""
        numbers = [name for name, value in self.arguments.items() if isinstance(value, bool | int | float)]
        first = [name for name in numbers if name in wanted]
        rest = [name for name in numbers if name not in wanted and "stride" not in name.lower()]
        return ", ".join(f"{name}={self.arguments[name]}" for name in (*first, *rest)[:8])


def bound(function: JITFunction, args: tuple[Any, ...], kwargs: Mapping[str, Any], grid: Any) -> Launch:
    """A launch as `JITFunction.run` gets it.

    Raises:
        TypeError: the arguments do not fit the kernel, so that the launch itself will fail.
    """
    named = {name: value for name, value in kwargs.items() if name in function.arg_names}
    arguments = _SIGNATURES.of(function).bind(*args, **named)
    arguments.apply_defaults()
    values = dict(arguments.arguments)
    if callable(grid):
        grid = grid(values)
    extents = tuple(int(extent) for extent in (grid if isinstance(grid, tuple | list) else (grid,)))
    return Launch(function, values, extents, {name: kwargs[name] for name in OPTIONS & kwargs.keys()})


def fresh(function: JITFunction, body: FunctionType | None = None) -> JITFunction:
    """The same kernel with nothing compiled yet, or one with another body and the same options."""
    return JITFunction(
        body or function.fn,
        do_not_specialize=function.do_not_specialize,
        do_not_specialize_on_alignment=function.do_not_specialize_on_alignment,
        debug=function.debug,
        noinline=function.noinline,
    )


def jitted(value: object) -> JITFunction | None:
    """The kernel behind wrappers: autotuner, heuristics, and others that keep it as an attribute."""
    for _ in range(8):
        if isinstance(value, JITFunction):
            return value
        if isinstance(value, FunctionType | ModuleType | type) or value is None:
            return None
        attributes = getattr(value, "__dict__", {})
        value = next(
            (attributes[name] for name in ("fn", "jit_function", "_fn", "kernel") if name in attributes), None
        )
    return None


def reached(function: JITFunction) -> list[JITFunction]:
    """A kernel and the jitted functions it can call, as its globals name them."""
    found: dict[int, JITFunction] = {}
    waiting = [function]
    while waiting:
        one = waiting.pop()
        if id(one) not in found:
            found[id(one)] = one
            waiting += _callees(one)
    return list(found.values())


class PerKernel(Generic[T]):
    """A value for each kernel, made when it is first asked for.

    Kernels are told apart by identity, since Triton reads all that one depends on to hash it; they are kept
    alive, since an identity is used again for another object once its owner is gone.
    """

    def __init__(self, make: Callable[[JITFunction], T]) -> None:
        self._make = make
        self._made: dict[int, tuple[JITFunction, T]] = {}

    def of(self, function: JITFunction) -> T:
        """The value for one kernel."""
        if id(function) not in self._made:
            self._made[id(function)] = (function, self._make(function))
        return self._made[id(function)][1]


_SIGNATURES = PerKernel(lambda function: inspect.signature(function.fn))
_MAKES_POINTERS = PerKernel(lambda function: any("pointer_type" in one.src for one in reached(function)))


def makes_pointers(function: JITFunction) -> bool:
    """Whether a kernel, or what it calls, turns numbers into pointers, as of a table of addresses."""
    return _MAKES_POINTERS.of(function)


def _callees(function: JITFunction) -> Iterator[JITFunction]:
    code, names = function.fn.__code__, function.fn.__globals__
    closed = {
        name: cell.cell_contents
        for name, cell in zip(code.co_freevars, function.fn.__closure__ or (), strict=False)
    }
    for name in (*code.co_names, *code.co_freevars):
        value = closed.get(name, names.get(name))
        candidates = [value]
        if isinstance(value, ModuleType) and not value.__name__.startswith("triton"):
            candidates = [getattr(value, other, None) for other in code.co_names]
        for candidate in candidates:
            if (kernel := jitted(candidate)) is not None:
                yield kernel


def kind(value: object) -> object:
    """What a kernel can tell of an argument before it looks at data: shapes, types, plain values."""
    if type(value) in _PLAIN:
        return value
    if isinstance(value, torch.Tensor):
        return (value.dtype, value.shape, value.stride())
    if hasattr(value, "data_ptr") or hasattr(value, "base"):
        base = getattr(value, "base", value)
        shape = getattr(base, "shape", ())
        return (getattr(base, "dtype", ""), tuple(shape), getattr(base, "stride", tuple)())
    if isinstance(value, tuple | list):
        return tuple(kind(one) for one in value)
    return str(value)


_PLAIN = frozenset({bool, int, float, str, type(None)})
