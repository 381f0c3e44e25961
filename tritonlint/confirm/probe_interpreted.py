"""The bounds probe without a GPU: Triton's interpreter, every address compared with the tensors."""

from __future__ import annotations

import inspect
import operator
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from time import monotonic
from types import CodeType
from typing import Any

import numpy as np
import triton
import triton.language as tl
from triton.runtime import interpreter
from triton.runtime.jit import JITFunction

from tritonlint.confirm import libdevice_on_cpu
from tritonlint.confirm.copies import Copies, Span
from tritonlint.confirm.launches import Launch, PerKernel
from tritonlint.confirm.sites import BINS, Site


class OutOfTime(TimeoutError):
    """An interpreted launch took longer than it may."""


class _Rewritten:
    """Kernels as the interpreter takes them, and the names that it leaves in the globals of their modules."""

    def __init__(self) -> None:
        self._functions = PerKernel(self._rewritten)
        self.indents: dict[CodeType, int] = {}
        """How far each was moved to the left: columns are counted from there."""
        self._left: dict[int, tuple[dict[str, Any], dict[str, Any]]] = {}
        self._lent: list[tuple[dict[str, Any], str, Any]] = []
        """Names that stand for something else until `named` is over: where, which, and what they were."""

    def of(self, function: JITFunction) -> interpreter.InterpretedFunction:
        """A kernel, rewritten once."""
        return self._functions.of(function)

    def _rewritten(self, function: JITFunction) -> interpreter.InterpretedFunction:
        names = function.fn.__globals__
        before = set(names)
        rewritten = interpreter.InterpretedFunction(function.fn)
        self.indents[rewritten.rewrite().__code__] = _indent_of(function)
        rewritten.pre_run_hooks = function.pre_run_hooks
        _, left = self._left.setdefault(id(names), (names, {}))
        if "range" not in before:
            names["range"] = _device_range
        left.update({name: names[name] for name in names.keys() - before})
        self._lend([(names, name) for name in list(names)])
        return rewritten

    def _lend(self, places: list[tuple[dict[str, Any], str]]) -> None:
        """Functions of `libdevice` become those of the CPU."""
        for names, name in places:
            if (other := libdevice_on_cpu.of(names[name])) is not None:
                self._lent.append((names, name, names[name]))
                names[name] = other

    @contextmanager
    def named(self) -> Iterator[None]:
        """While this lasts, the names are there; afterwards every module has those of its author."""
        mine = [
            (names, {name: value for name, value in left.items() if name not in names})
            for names, left in self._left.values()
        ]
        for names, missing in mine:
            names.update(missing)
        is_outer = not self._lent
        self._lend(libdevice_on_cpu.in_modules())
        self._lend([(names, name) for names, _ in self._left.values() for name in list(names)])
        try:
            yield
        finally:
            while is_outer and self._lent:
                names, name, value = self._lent.pop()
                names[name] = value
            for names, left in self._left.values():
                for name, value in left.items():
                    if names.get(name) is value:
                        del names[name]


def _device_range(*bounds: Any) -> Iterator[Any]:
    """A loop's variable is a value of the device, too, with `.to` and all."""
    for number in range(*(operator.index(bound) for bound in bounds)):
        handle = interpreter.TensorHandle(np.array([number], dtype=np.int32), tl.int32)
        yield tl.core.tensor(handle, tl.int32)


def _indent_of(function: JITFunction) -> int:
    lines, _ = inspect.getsourcelines(function.fn)
    return len(lines[0]) - len(lines[0].lstrip())


_REWRITTEN = _Rewritten()
_TRITON = os.path.dirname(triton.__file__) + os.sep
_OWN = os.path.dirname(__file__) + os.sep


class InterpretedProbe:
    """Runs launches in the interpreter, and keeps every access inside the tensors it was given.

    Args:
        spans: where the tensors lie; accesses outside their storages are counted and left out.
        grid: of the launch.
    """

    def __init__(self, spans: list[Span], grid: tuple[int, ...], deadline: float | None = None) -> None:
        self._spans = spans
        self._views = np.array([(span.start, span.end) for span in spans], dtype=np.int64).reshape(-1, 2)
        self._storages = np.array(
            sorted({(span.storage_start, span.storage_end) for span in spans}), dtype=np.int64
        ).reshape(-1, 2)
        self._grid = (*grid, 1, 1, 1)[:3]
        self._deadline = deadline
        self.sites: dict[tuple[str, int, int | None, str], Site] = {}

    def kept(self, pointers: Any, mask: Any, kind: str) -> Any:
        """The mask without the lanes that lie in no storage; they and those past a view are counted."""
        if self._deadline is not None and monotonic() > self._deadline:
            raise OutOfTime
        address = pointers.data.astype(np.int64)
        size = max(1, pointers.get_element_ty().primitive_bitwidth // 8)
        active = np.ones(address.shape, bool) if mask is None else np.broadcast_to(mask.data, address.shape)
        active = active.astype(bool)
        in_storage = _inside(address, size, self._storages)
        in_view = _inside(address, size, self._views)
        site = self._site(kind)
        site.lanes += int(active.sum())
        outside, past = active & ~in_storage, active & in_storage & ~in_view
        bad = outside | past
        if bad.any():
            count = int(bad.sum())
            site.outside += int(outside.sum())
            site.past_view += int(past.sum())
            x, y, z = interpreter.interpreter_builder.grid_idx
            number = x + self._grid[0] * (y + self._grid[1] * z)
            site.program = number if site.program is None else min(site.program, number)
            site.by_program[number * BINS // int(np.prod(self._grid))] += count
            site.place(int(address[bad].max()), self._spans)
            site.place(int(address[bad].min()), self._spans)
        return interpreter.TensorHandle(active & in_storage, tl.int1)

    def _site(self, kind: str) -> Site:
        where = (*place(3), kind)
        if where not in self.sites:
            self.sites[where] = Site(*where)
        return self.sites[where]


def _inside(address: Any, size: int, ranges: Any) -> Any:
    found = np.zeros(address.shape, bool)
    for low, high in ranges:
        found |= (address >= low) & (address + size <= high)
    return found


def place(depth: int) -> tuple[str, int, int | None]:
    """The file and line of the innermost frame that is neither Triton's nor ours, and its column from 1.

    Args:
        depth: so many frames further out the search begins.
    """
    frame = sys._getframe(depth)
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith((_TRITON, _OWN)):
            positions = list(frame.f_code.co_positions())
            _, _, column, _ = positions[frame.f_lasti // 2]
            indent = _REWRITTEN.indents.get(frame.f_code, 0)
            return file, frame.f_lineno, None if column is None else column + indent + 1
        frame = frame.f_back  # type: ignore[assignment]
    return "", 0, None


class _Hooks:
    """The places of the interpreter that a probe is put into, once for the process."""

    def __init__(self) -> None:
        self.probe: InterpretedProbe | None = None
        builder = interpreter.InterpreterBuilder
        load, store = builder.create_masked_load, builder.create_masked_store
        rmw, cas = builder.create_atomic_rmw, builder.create_atomic_cas

        def probed_load(own: Any, pointers: Any, mask: Any, *rest: Any, **named: Any) -> Any:
            return load(own, pointers, self._kept(pointers, mask, "load"), *rest, **named)

        def probed_store(own: Any, pointers: Any, value: Any, mask: Any, *rest: Any, **named: Any) -> Any:
            return store(own, pointers, value, self._kept(pointers, mask, "store"), *rest, **named)

        def probed_rmw(own: Any, op: Any, pointers: Any, value: Any, mask: Any, *rest: Any) -> Any:
            return rmw(own, op, pointers, value, self._kept(pointers, mask, "atomic"), *rest)

        def probed_cas(own: Any, pointers: Any, compared: Any, value: Any, *rest: Any) -> Any:
            kept = self._kept(pointers, None, "atomic")
            if kept is not None and not kept.data.all():
                return interpreter.TensorHandle(np.zeros_like(value.data), value.dtype)
            return cas(own, pointers, compared, value, *rest)

        builder.create_masked_load, builder.create_masked_store = probed_load, probed_store
        builder.create_atomic_rmw, builder.create_atomic_cas = probed_rmw, probed_cas
        self._mend_numbers()
        self._mend_arguments()

    def _kept(self, pointers: Any, mask: Any, kind: str) -> Any:
        return mask if self.probe is None else self.probe.kept(pointers, mask, kind)

    def _mend_numbers(self) -> None:
        """NumPy from 2.4 on makes no number of a one-element array; Triton up to 3.6 relies on it."""
        patch = interpreter._patch_lang_tensor

        def mended(tensor: Any, *rest: Any) -> Any:
            answer = patch(tensor, *rest)
            tensor.__index__ = lambda own: int(np.asarray(own.handle.data).reshape(-1)[0])
            return answer

        interpreter._patch_lang_tensor = mended

    def _mend_arguments(self) -> None:
        """Numbers and flags of a launch are values of the device; the interpreter leaves them Python's."""
        convert = interpreter._implicit_cvt

        def mended(argument: Any) -> Any:
            kind = {float: (np.float32, tl.float32), bool: (np.bool_, tl.int1)}.get(type(argument))
            if kind is None:
                return convert(argument)
            handle = interpreter.TensorHandle(np.array([argument], dtype=kind[0]), kind[1])
            return tl.core.tensor(handle, kind[1])

        interpreter._implicit_cvt = mended


@cache
def _hooks() -> _Hooks:
    """Those of this process, put in when they are first needed."""
    return _Hooks()


@contextmanager
def probing(probe: InterpretedProbe) -> Iterator[None]:
    """While this lasts, what the interpreter accesses goes through the probe."""
    hooks = _hooks()
    outer, hooks.probe = hooks.probe, probe
    try:
        yield
    finally:
        hooks.probe = outer


def interpret(launch: Launch) -> None:
    """Run a launch in the interpreter.

    Raises:
        InterpreterError: the interpreter cannot run it.
    """
    _hooks()
    called = JITFunction.__call__
    with _language_kept(), _REWRITTEN.named(), np.errstate(all="ignore"):
        JITFunction.__call__ = lambda own, *args, **kwargs: _REWRITTEN.of(own)(*args, **kwargs)
        try:
            with _constants_of(launch.function):
                _REWRITTEN.of(launch.function).run(grid=launch.grid, warmup=False, **launch.arguments)
        finally:
            JITFunction.__call__ = called


@contextmanager
def _constants_of(function: JITFunction) -> Iterator[None]:
    """The interpreter knows constants by the annotation `tl.constexpr` alone, the compiler by any."""
    executor, names = interpreter.GridExecutor, [one.name for one in function.params if one.is_constexpr]
    made = executor.__init__

    def mended(own: Any, *args: Any, **kwargs: Any) -> None:
        made(own, *args, **kwargs)
        own.constexprs = names

    executor.__init__ = mended
    try:
        yield
    finally:
        executor.__init__ = made


@contextmanager
def _language_kept() -> Iterator[None]:
    """Afterwards `triton.language` is as it was: the interpreter leaves some functions replaced."""
    places = [tl, tl.core, tl.math, tl.core.tensor, tl.core.dtype, tl.core.tensor_descriptor_base]
    before = [(place, dict(vars(place))) for place in places]
    try:
        yield
    finally:
        for place, names in before:
            for name, value in list(vars(place).items()):
                if name not in names:
                    delattr(place, name)
                elif names[name] is not value:
                    setattr(place, name, names[name])


def probe(launch: Launch, copies: Copies, deadline: float | None = None) -> list[Site]:
    """The accesses of a launch on copies that lie in the memory of the CPU.

    Raises:
        InterpreterError: the interpreter cannot run it.
    """
    one = InterpretedProbe(copies.spans, launch.grid, deadline)
    with probing(one):
        interpret(launch.with_arguments(copies.arguments))
    return list(one.sites.values())
