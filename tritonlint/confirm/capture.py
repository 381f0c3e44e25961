"""Catches the launches of a running program, and what its autotuners do.

Every way to launch a kernel ends in `JITFunction.run`: subscripts, autotuners, heuristics, wrappers of
packages. What an autotuner tries out is not a launch of the program; what it decides on is.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from time import perf_counter
from types import CodeType, FrameType
from typing import Any, Protocol

import triton
from triton.runtime.autotuner import Autotuner
from triton.runtime.jit import JITFunction

from tritonlint.confirm.backends import Backend
from tritonlint.confirm.copies import Copies
from tritonlint.confirm.launches import Launch, PerKernel, bound, jitted, kind

_TRITON = str(Path(triton.__file__).parent)
_OWN = str(Path(__file__).parent)


@dataclass(frozen=True)
class Tuning:
    """One time that an autotuner tried its configurations."""

    kernel: JITFunction
    key: tuple[Any, ...]
    key_names: tuple[str, ...]
    configs: int
    seconds: float
    winner: str
    winner_values: Mapping[str, Any]
    timings: tuple[tuple[str, float], ...]
    """Milliseconds by configuration."""


@dataclass
class TunedLaunch:
    """A launch as an autotuner got it."""

    tuner: Autotuner
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    before: Copies | None = None
    """The arguments as they were before anything was tried, if the listener wants them."""
    was_tried: bool = False
    """Whether this launch made the tuner try its configurations, which may have changed the arguments."""


@dataclass(frozen=True)
class Caller:
    """The function that launches a kernel."""

    code: CodeType

    @property
    def file(self) -> str:
        """The file it stands in, without links."""
        return os.path.realpath(self.code.co_filename)

    @property
    def lines(self) -> tuple[int, int]:
        """Its first and its last line."""
        numbers = [line for _, _, line in self.code.co_lines() if line]
        return min(numbers, default=0), max(numbers, default=0)


class Listener(Protocol):
    """What is told of a program's launches."""

    def wants(self, kernel: JITFunction, code: CodeType | None) -> bool:
        """Whether a launch of a kernel by this code is of interest: asked each time, so it must be quick."""

    def launched(self, launch: Launch, caller: Caller | None, tuned: TunedLaunch | None) -> None:
        """A kernel is about to be launched."""

    def keep(self, kernel: JITFunction, arguments: Mapping[str, Any]) -> Copies | None:
        """An autotuner is about to try its configurations: copies of the arguments, if they matter."""

    def tuned(self, tuning: Tuning) -> None:
        """An autotuner has tried its configurations."""

    def broke(self, error: Exception, kernel: str) -> None:
        """Experiments on a launch failed in a way that none of them foresaw."""


class Capture:
    """Tells a listener of the launches of the program while it is installed."""

    def __init__(self, backend: Backend, listener: Listener) -> None:
        self.backend, self.listener = backend, listener
        self._is_own = False
        """Whether the launch that comes is one of an experiment."""
        self._trying = 0
        self._tuned: list[TunedLaunch] = []
        self._told: PerKernel[dict[int, tuple[CodeType | None, set[object]]]] = PerKernel(lambda kernel: {})
        """The launches of each kernel that the listener knows, by the identity of the code that launches."""

    @contextmanager
    def installed(self) -> Iterator[None]:
        """While this lasts, launches are caught; afterwards Triton is as it was."""
        run, tune, bench = JITFunction.run, Autotuner.run, Autotuner._bench

        def caught_run(own: JITFunction, *args: Any, grid: Any, warmup: bool, **kwargs: Any) -> Any:
            # on a GPU this is what recording costs, so nothing is called that need not be
            launch = None
            if not (warmup or self._is_own or self._trying):
                code = _launching(sys._getframe(1))
                if self.listener.wants(own, code) and self._is_new(own, code, args, kwargs, grid):
                    launch = _bound(own, args, kwargs, grid)
                    if launch is not None:
                        self._tell(launch, Caller(code) if code is not None else None)
            if not (warmup or self.backend.is_gpu):
                launch = launch or _bound(own, args, kwargs, grid)
                if launch is not None:
                    return self.backend.launch(launch)
            return run(own, *args, grid=grid, warmup=warmup, **kwargs)

        def caught_tune(own: Autotuner, *args: Any, **kwargs: Any) -> Any:
            return self._tune(tune, own, args, kwargs)

        def caught_bench(own: Autotuner, *args: Any, **kwargs: Any) -> Any:
            self._keep(own)
            self._trying += 1
            try:
                return bench(own, *args, **kwargs)
            finally:
                self._trying -= 1

        JITFunction.run, Autotuner.run, Autotuner._bench = caught_run, caught_tune, caught_bench
        interprets = triton.knobs.runtime.interpret
        if not self.backend.is_gpu:  # kernels are interpreted here, whatever TRITON_INTERPRET says
            triton.knobs.runtime.interpret = False
        try:
            yield
        finally:
            triton.knobs.runtime.interpret = interprets
            JITFunction.run, Autotuner.run, Autotuner._bench = run, tune, bench

    @contextmanager
    def own_launches(self) -> Iterator[None]:
        """While this lasts, launches are not the program's."""
        outer, self._is_own = self._is_own, True
        try:
            yield
        finally:
            self._is_own = outer

    def _is_new(self, own: JITFunction, code: CodeType | None, args: Any, kwargs: Any, grid: Any) -> bool:
        """Whether no launch like it has been told of; to bind arguments takes longer than to ask this."""
        kinds = tuple(map(kind, args)), tuple((name, kind(value)) for name, value in kwargs.items())
        launch = (kinds, None if callable(grid) else grid)
        _, known = self._told.of(own).setdefault(id(code), (code, set()))
        try:
            is_new = launch not in known
            known.add(launch)
        except TypeError:  # the grid is a list, or holds what has no hash
            return True
        return is_new

    def _tell(self, launch: Launch, caller: Caller | None) -> None:
        with self.own_launches():
            try:
                tuned = self._tuned[-1] if self._tuned else None
                fits = tuned is not None and jitted(tuned.tuner) is launch.function
                self.listener.launched(launch, caller, tuned if fits else None)
            except Exception as error:  # noqa: BLE001 - no experiment may end the user's program
                self.listener.broke(error, launch.name)

    def _keep(self, tuner: Autotuner) -> None:
        """Before the first configuration is tried, copies of what it may change, if somebody wants them."""
        tuned = self._tuned[-1] if self._tuned else None
        kernel = jitted(tuner)
        if tuned is None or tuned.tuner is not tuner or tuned.was_tried or kernel is None:
            return
        tuned.was_tried = True
        arguments = dict(zip(tuner.arg_names, tuned.args, strict=False)) | dict(tuned.kwargs)
        try:
            tuned.before = self.listener.keep(kernel, arguments)
        except Exception as error:  # noqa: BLE001 - no experiment may end the user's program
            self.listener.broke(error, kernel.fn.__name__)

    def _tune(self, tune: Callable[..., Any], own: Autotuner, args: Any, kwargs: Any) -> Any:
        if self._is_own:
            return tune(own, *args, **kwargs)
        known, start = set(own.cache), perf_counter()
        self._tuned.append(TunedLaunch(own, args, kwargs))
        keeps = own.__dict__.get("cache_results", False)
        if not self.backend.is_gpu:
            own.cache_results = False  # what is not measured must not be kept
        try:
            return tune(own, *args, **kwargs)
        finally:
            own.cache_results = keeps
            self._tuned.pop()
            kernel = jitted(own)
            for key in [key for key in own.cache if key not in known]:
                if kernel is not None:
                    seconds = getattr(own, "bench_time", None) or perf_counter() - start
                    self.listener.tuned(_tuning(own, kernel, key, seconds))


def _tuning(tuner: Autotuner, kernel: JITFunction, key: Any, seconds: float) -> Tuning:
    winner = tuner.cache[key]
    timings = {}
    for config, took in getattr(tuner, "configs_timings", {}).items():
        timings[_said(config)] = float(took[0] if isinstance(took, list | tuple) else took)
    return Tuning(
        kernel,
        tuple(key),
        tuple(tuner.keys),
        len(timings) or len(tuner.configs),
        seconds,
        _said(winner),
        dict(winner.all_kwargs()),
        tuple(timings.items()),
    )


def _said(config: Any) -> str:
    return ", ".join(f"{name}={value}" for name, value in config.all_kwargs().items() if value is not None)


def _bound(own: JITFunction, args: Any, kwargs: Any, grid: Any) -> Launch | None:
    """A launch as experiments take it; None of one that cannot be made, which will say so itself."""
    try:
        return bound(own, args, kwargs, grid)
    except Exception:  # noqa: BLE001 - whatever the program hands over
        return None


def _launching(frame: FrameType | None) -> CodeType | None:
    """The code that launches: that of the innermost frame that is neither Triton's nor ours."""
    while frame is not None:
        code = frame.f_code
        if _is_users(code.co_filename):
            return code
        frame = frame.f_back
    return None


@cache
def _is_users(file: str) -> bool:
    return not file.startswith((_TRITON, _OWN, "<"))
