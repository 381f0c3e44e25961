"""Kernels compiled for a GPU that need not be there, with types and constants as their launches give them.

`torch` is stood in for by a name that takes everything: what is compiled is the kernel, not the host code.
"""

from __future__ import annotations

import importlib.util
import sys
import types
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tritonlint.model import Kernel, Project
from tritonlint.model.exposure import base_of
from tritonlint.model.values import NoneValue, Number, Tensor, Text, TypeValue

CAPABILITY = 90
"""Of the GPU compiled for: Hopper."""
_TYPES = {
    "int64": "i64",
    "int32": "i32",
    "int8": "i8",
    "uint8": "u8",
    "int1": "i1",
    "bool": "i1",
    "fp64": "fp64",
}
_FALLBACKS = ("fp16", "fp32", "i8")
_KNOWN = frozenset(
    ("fp16", "bf16", "fp32", "fp64", "i1", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")
)


@dataclass(frozen=True)
class Compiled:
    """What came of one kernel: nothing in `error` if it compiled; `skipped` says what was not known."""

    kernel: str
    error: str = ""
    skipped: str = ""


class _Anything(types.ModuleType):
    """A module or value whose every attribute, call and item is another one."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Anything(name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return args[0] if len(args) == 1 and isinstance(args[0], types.FunctionType) else _Anything("call")

    def __getitem__(self, item: Any) -> Any:
        return _Anything("item")

    def __mro_entries__(self, bases: Any) -> tuple[type, ...]:
        return (object,)

    def __or__(self, other: Any) -> Any:
        return self

    __ror__ = __or__


def compile_file(file: Path) -> Iterator[Compiled]:
    """Every kernel of a file that is launched in it, compiled as its first launch would have it."""
    module = Project(file.parent).load(file)
    namespace = _loaded(file)
    for kernel in module.kernels if module is not None else ():
        function = getattr(namespace, kernel.name, None)
        while function is not None and type(function).__name__ != "JITFunction":
            function = getattr(function, "fn", None)
        if function is None or not kernel.launches:
            yield Compiled(kernel.name, skipped="no launch is seen")
            continue
        # Where nothing tells what a pointer holds, it holds what the kernel compiles with.
        answers = (_compiled(kernel, function, element) for element in _FALLBACKS)
        first = next(answers)
        yield first if not first.error else next((one for one in answers if not one.error), first)


def _loaded(file: Path) -> types.ModuleType:
    for name in ("torch", "torch.nn", "torch.nn.functional"):
        sys.modules[name] = _Anything(name)
    spec = importlib.util.spec_from_file_location(f"compiled_{abs(hash(file))}", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _compiled(kernel: Kernel, function: Any, open_element: str) -> Compiled:
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    launch = kernel.launches[0].variants[0]
    trace = kernel.module.project.trace(kernel.info)
    addressed = {base_of(access.address.poly, trace, kernel.launches) for access in trace.accesses}
    signature: dict[str, str] = {}
    constants: dict[tuple[int, ...], Any] = {}
    for position, parameter in enumerate(kernel.parameters):
        argument = launch.arguments.get(parameter.name)
        value = argument.value if argument is not None else None
        if parameter.is_constexpr or isinstance(value, NoneValue):
            signature[parameter.name], constants[position,] = "constexpr", _constant(value)
        elif (isinstance(value, Tensor) and value.sure) or parameter.name in addressed:
            signature[parameter.name] = "*" + _element(value, kernel, parameter.name, open_element)
        else:
            signature[parameter.name] = _scalar(value)
    try:
        source = ASTSource(fn=function, signature=signature, constexprs=constants)
        triton.compile(source, target=GPUTarget("cuda", CAPABILITY, 32))
    except Exception as error:  # noqa: BLE001 - whatever the compiler says of a kernel is an answer
        text = str(error).strip().splitlines()
        return Compiled(kernel.name, error=f"{type(error).__name__}: {text[-1] if text else ''}"[:200])
    return Compiled(kernel.name)


def _constant(value: object) -> Any:
    if isinstance(value, Number):
        number = value.poly.constant
        if number is not None:
            return (
                bool(number)
                if value.dtype.name == "bool"
                else int(number)
                if number == int(number)
                else float(number)
            )
        return 64 if value.formula is None else True  # any width will do; of a flag, one of its values
    if isinstance(value, Text):
        return value.value
    if isinstance(value, TypeValue):
        import triton.language as tl

        return {"fp16": tl.float16, "bf16": tl.bfloat16, "fp32": tl.float32}.get(str(value.dtype.name))
    return None if isinstance(value, NoneValue) else 64


def _element(tensor: object, kernel: Kernel, name: str, otherwise: str) -> str:
    known = tensor.dtype.name if isinstance(tensor, Tensor) else None
    if known is not None:
        return _TYPES.get(known, known if known in _KNOWN else "fp16")
    integers = kernel.module.project.trace(kernel.info).integers
    return "i64" if name in integers else otherwise


def _scalar(value: object) -> str:
    if isinstance(value, Number) and (value.dtype.is_float or value.dtype.name == "fp32"):
        return "fp32"
    return "i32"
