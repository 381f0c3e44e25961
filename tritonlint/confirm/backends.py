"""What launches run on: a GPU, or the CPU with Triton's interpreter and a driver that only compiles."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from time import monotonic
from types import SimpleNamespace
from typing import Any

import torch
from triton import knobs
from triton.runtime.driver import driver
from triton.runtime.jit import JITFunction

from tritonlint.confirm import probe_interpreted
from tritonlint.confirm.copies import Copies, Span
from tritonlint.confirm.launches import Launch, makes_pointers
from tritonlint.confirm.probe_interpreted import InterpretedProbe, interpret, probing
from tritonlint.confirm.sites import Site

CAPABILITY = 90
"""Of the GPU that is compiled for where there is none."""
_RUN = JITFunction.run


class Backend:
    """How kernels are launched, probed and timed."""

    name: str
    """As it is shown beside what it found out."""
    is_gpu: bool

    def __init__(self, seconds: float, memory: float | None) -> None:
        self.seconds = seconds
        """That one experiment may take."""
        self._memory = memory

    def launch(self, launch: Launch) -> Any:
        """Launch a kernel on arguments that may be written to."""
        raise NotImplementedError

    def probe(self, launch: Launch, copies: Copies) -> list[Site]:
        """Launch a kernel on copies and see where its accesses lie."""
        raise NotImplementedError

    def synchronize(self) -> None:
        """Wait for what was launched."""

    @property
    def memory(self) -> int:
        """Bytes that copies may take."""
        raise NotImplementedError

    def compile(self, launch: Launch) -> None:
        """Compile what a launch would compile, without launching.

        Raises:
            Exception: what the compiler says of the kernel.
        """
        with private_cache():
            compiled(launch)


def compiled(launch: Launch) -> Any:
    """Compile what a launch would compile, into the cache in force."""
    return _RUN(launch.function, grid=launch.grid, warmup=True, **launch.arguments, **launch.options)


class Gpu(Backend):
    """The GPU that is there."""

    is_gpu = True

    def __init__(self, seconds: float, memory: float | None) -> None:
        super().__init__(seconds, memory)
        self.name = f"cuda ({torch.cuda.get_device_name()})" if torch.cuda.is_available() else "gpu"

    def launch(self, launch: Launch) -> Any:
        """Launch it as Triton does."""
        return _RUN(launch.function, grid=launch.grid, warmup=False, **launch.arguments, **launch.options)

    def probe(self, launch: Launch, copies: Copies) -> list[Site]:
        """Launch it with checks built into it: a quick one, and where that objects, one that counts lanes."""
        from tritonlint.confirm.probe_compiled import CompiledProbe
        from tritonlint.confirm.probe_flags import FlagProbe

        with contextlib.suppress(Exception):  # whatever it is, the second look will say it, too
            sites = FlagProbe(launch, copies).run(self.launch)
            if sites is not None:
                return sites
        copies.reset()
        return CompiledProbe(launch, copies).run(self.launch)

    def synchronize(self) -> None:
        """Wait for the GPU."""
        torch.cuda.synchronize()

    @property
    def memory(self) -> int:
        """Less than half of what is free on the GPU."""
        free, _ = torch.cuda.mem_get_info()
        return min(int(free * 0.45), int(self._memory) if self._memory else 2**63)


class Cpu(Backend):
    """No GPU: the interpreter runs kernels, the compiler compiles them for one that is not there."""

    name = "interpreter"
    is_gpu = False

    def launch(self, launch: Launch) -> Any:
        """Run in the interpreter, which keeps every access inside the storages of the arguments."""
        if makes_pointers(launch.function):
            interpret(launch)
            return
        with probing(InterpretedProbe(list(spans_of(launch.arguments.items())), launch.grid)):
            interpret(launch)

    def probe(self, launch: Launch, copies: Copies) -> list[Site]:
        """Run it in the interpreter, as long as an experiment may take."""
        return probe_interpreted.probe(launch, copies, monotonic() + self.seconds)

    @property
    def memory(self) -> int:
        """Less than half of what is free."""
        pages, size = os.sysconf("SC_AVPHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
        return min(int(pages * size * 0.45), int(self._memory) if self._memory else 2**63)


def spans_of(arguments: Iterable[tuple[str, Any]]) -> Iterator[Span]:
    """Where the tensors of a launch lie, each as large as its storage."""
    for name, value in arguments:
        if isinstance(value, tuple | list):
            yield from spans_of((f"{name}[{index}]", one) for index, one in enumerate(value))
            continue
        tensor = value if isinstance(value, torch.Tensor) else getattr(value, "base", None)
        if isinstance(tensor, torch.Tensor):
            storage = tensor.untyped_storage()
            start, end = storage.data_ptr(), storage.data_ptr() + storage.nbytes()
            yield Span(name, start, end, start, end, tensor.element_size(), tuple(tensor.shape))


@contextmanager
def private_cache() -> Iterator[None]:
    """What is compiled meanwhile is kept in a folder of its own, and thrown away."""
    old = knobs.cache.dir
    with tempfile.TemporaryDirectory() as folder:
        knobs.cache.dir = folder
        try:
            yield
        finally:
            knobs.cache.dir = old


class StandIn:
    """A driver for a GPU that is not there: compiling is real, launching is left to the interpreter."""

    class _Utils:
        def load_binary(self, *_: Any) -> tuple[int, ...]:
            """Nothing is loaded."""
            return (1, 1, 32, 0, 1024)

        def unload_module(self, *_: Any) -> None:
            """There is nothing to unload."""

        def get_device_properties(self, device: int) -> dict[str, int]:
            """Of an H100."""
            return {
                "max_shared_mem": 232448,
                "multiprocessor_count": 132,
                "max_num_regs": 65536,
                "warpSize": 32,
                "sm_clock_rate": 1,
                "mem_clock_rate": 1,
                "mem_bus_width": 1,
            }

    utils = _Utils()

    def get_current_target(self) -> Any:
        """What is compiled for."""
        from triton.backends.compiler import GPUTarget

        return GPUTarget("cuda", CAPABILITY, 32)

    def get_current_device(self) -> int:
        """The only one."""
        return 0

    def get_current_stream(self, device: Any = None) -> int:
        """The only one."""
        return 0

    def get_active_torch_device(self) -> torch.device:
        """Where the tensors are."""
        return torch.device("cpu")

    def get_benchmarker(self) -> Any:
        """No time is measured: of several configurations the first is taken."""
        return lambda call, quantiles=None, **_: [1.0] * len(quantiles or (0.5,))

    def get_device_interface(self) -> Any:
        """What `triton.testing.do_bench` times with: everything takes a second, so that it tries once."""
        return SimpleNamespace(synchronize=lambda: None, Event=_Clock)

    def get_empty_cache_for_benchmark(self) -> torch.Tensor:
        """One that is emptied in no time."""
        return torch.empty(1)

    def clear_cache(self, cache: Any) -> None:
        """There is no cache to clear."""

    def map_python_to_cpp_type(self, name: str) -> str:
        """No C++ is generated."""
        return name

    def launcher_cls(self, source: Any, metadata: Any) -> Any:
        """Launches nothing."""
        return lambda *_, **__: None


class _Clock:
    """An event of a GPU that is not there."""

    def __init__(self, **_: Any) -> None:
        """Whatever is asked for."""

    def record(self) -> None:
        """No time is kept."""

    def elapsed_time(self, other: Any) -> float:
        """Milliseconds, the same for all."""
        return 1000.0


def choose(device: str, seconds: float, memory: float | None) -> Backend:
    """The backend for `auto`, `gpu` or `cpu`.

    Raises:
        RuntimeError: a GPU is asked for and there is none.
    """
    there = torch.cuda.is_available()
    if device == "gpu" and not there:
        raise RuntimeError("there is no GPU that torch can use; `--device cpu` takes the interpreter")
    if device == "cpu" or not there:
        with contextlib.suppress(Exception):
            driver.set_active(StandIn())
        return Cpu(seconds, memory)
    return Gpu(seconds, memory)
