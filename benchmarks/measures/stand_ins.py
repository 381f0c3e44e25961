"""What kernels are compiled without: `torch`, a GPU's driver, and whatever else a package imports.

A name that takes everything stands in for each module that is missing, and for what a module of the tree does
not reach because it fails on the way. So what can be compiled is the kernel, not the host code around it.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import sys
import types
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CAPABILITY = 90
"""Of the GPU that is compiled for: Hopper."""
_ABSENT = ("torch", "torchvision")  # even where they are installed: without a GPU they say so at import


class Anything(types.ModuleType):
    """A module or value whose every attribute, call and item is another one."""

    __version__ = "2.9.0"
    __path__: list[str] = []  # noqa: RUF012 - what makes it a package to the import system

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Anything(name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:  # noqa: D102 - as a decorator, it changes nothing
        only = args[0] if len(args) == 1 and not kwargs else None
        return (
            only if isinstance(only, type | types.FunctionType) or hasattr(only, "fn") else Anything("call")
        )

    def _other(self, *_: Any) -> Any:
        return Anything("item")

    __getitem__ = __add__ = __radd__ = __mul__ = __rmul__ = __sub__ = __rsub__ = __or__ = __ror__ = _other
    __floordiv__ = __truediv__ = __and__ = __mod__ = __neg__ = __invert__ = __enter__ = _other

    def __mro_entries__(self, bases: Any) -> tuple[type, ...]:
        return (object,)

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    def __exit__(self, *_: Any) -> None:
        return None

    def __ge__(self, other: Any) -> bool:
        return True

    __gt__ = __le__ = __lt__ = __ge__

    def __int__(self) -> int:
        return 9

    __index__ = __int__


class _StandIns(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Behind all finders: what none of them knows is there, and takes everything."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec:
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        return Anything(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        """There is nothing to run."""


class _Absent(_StandIns):
    """Before all finders, for what is to be absent."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        return super().find_spec(name) if name.partition(".")[0] in _ABSENT else None


class _Tolerant(importlib.machinery.SourceFileLoader):
    """Runs a module as far as it goes; names behind the place where it fails take everything."""

    def exec_module(self, module: types.ModuleType) -> None:
        try:
            super().exec_module(module)
        except Exception:  # noqa: BLE001 - of foreign code anything may come
            module.__dict__["__getattr__"] = Anything("missing").__getattr__


class _Tree(importlib.abc.MetaPathFinder):
    """The modules under some folder, each loaded tolerantly."""

    def __init__(self, folder: Path) -> None:
        self.folder = str(folder)

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: Any = None) -> Any:
        inside = [one for one in path or () if one.startswith(self.folder)] if path else [self.folder]
        spec = importlib.machinery.PathFinder.find_spec(name, inside) if inside else None
        if spec is not None and isinstance(spec.loader, importlib.machinery.SourceFileLoader):
            spec.loader = _Tolerant(name, spec.loader.path)
        return spec


@contextmanager
def installed(folder: Path) -> Iterator[None]:
    """While this lasts, imports find the modules of a folder, the installed Triton, and stand-ins else."""
    import triton.backends
    from triton.runtime.driver import driver

    for backend in triton.backends.backends.values():
        backend.driver.is_active = staticmethod(lambda: True)
    driver.set_active(_Driver())
    before = sys.meta_path[:]
    sys.meta_path[:] = [_Absent(), _Tree(folder), *before, _StandIns()]
    try:
        yield
    finally:
        sys.meta_path[:] = before
        for name, module in list(sys.modules.items()):
            if isinstance(module, Anything):
                del sys.modules[name]


class _Driver:
    """Of a GPU that is not there; what asks for more than its name gets a stand-in."""

    utils: Any = Anything("utils")

    def get_current_target(self) -> Any:
        from triton.backends.compiler import GPUTarget

        return GPUTarget("cuda", CAPABILITY, 32)

    def get_current_device(self) -> int:
        return 0

    def __getattr__(self, name: str) -> Any:
        return Anything(name)
