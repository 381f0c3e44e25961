"""Kernels compiled for a GPU that need not be there, with types and constants as their launches give them."""

from __future__ import annotations

import importlib
import json
import signal
import sys
import types
from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from measures import stand_ins
from tritonlint.model import Kernel, Project
from tritonlint.model.exposure import base_of
from tritonlint.model.values import NoneValue, Number, Tensor, Text, TypeValue
from tritonlint.roots import package_top

PATIENCE = 20
"""Seconds that one kernel may take: with values guessed, some loops unroll without end."""
_WRAPPED = ("fn", "jit_function", "kernel", "_fn", "func", "__wrapped__")
"""What wrappers call the function they wrap."""
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


def compile_file(file: Path, names: Collection[str] = ()) -> Iterator[Compiled]:
    """Kernels of a file, each compiled as its first launch in that file would have it.

    Args:
        file: of the kernels.
        names: the kernels, even those that nothing launches; by default all that are launched.
    """
    top = package_top(file)
    folder = file.parent if top is None else top.parent
    with stand_ins.installed(folder):
        yield from _each(file, _loaded(file, folder), names)


def _each(file: Path, namespace: types.ModuleType, names: Collection[str]) -> Iterator[Compiled]:
    module = Project(file.parent).load(file)
    for kernel in module.kernels if module is not None else ():
        if names and kernel.name not in names:
            continue
        function = getattr(namespace, kernel.name, None)
        while function is not None and type(function).__name__ != "JITFunction":
            function = next((vars(function)[one] for one in _WRAPPED if one in vars(function)), None)
        if function is None:
            yield Compiled(kernel.name, skipped="running its module does not reach it")
            continue
        if not kernel.launches and not names:
            yield Compiled(kernel.name, skipped="no launch is seen")
            continue
        # Where nothing tells what a pointer holds, it holds what the kernel compiles with.
        answers = (_compiled(kernel, function, element) for element in _FALLBACKS)
        first = next(answers)
        yield first if not first.error else next((one for one in answers if not one.error), first)


def _loaded(file: Path, folder: Path) -> types.ModuleType:
    """The module of a file, as far as it runs; one of a package by its own name, so that its imports work."""
    name = ".".join(file.relative_to(folder).with_suffix("").parts).removesuffix(".__init__")
    known = sys.modules.get(name)
    if known is not None and known.__file__ != str(
        file
    ):  # one folder after the other has a file of this name
        del sys.modules[name]
    return importlib.import_module(name)


def _compiled(kernel: Kernel, function: Any, open_element: str) -> Compiled:
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    arguments = kernel.launches[0].variants[0].arguments if kernel.launches else {}
    trace = kernel.module.project.trace(kernel.info)
    addressed = {base_of(access.address.poly, trace, kernel.launches) for access in trace.accesses}
    signature: dict[str, str] = {}
    constants: dict[tuple[int, ...], Any] = {}
    for position, parameter in enumerate(kernel.parameters):
        argument = arguments.get(parameter.name)
        value = argument.value if argument is not None else None
        if parameter.is_constexpr or isinstance(value, NoneValue):
            signature[parameter.name], constants[position,] = "constexpr", _constant(value)
        elif (isinstance(value, Tensor) and value.sure) or parameter.name in addressed:
            signature[parameter.name] = "*" + _element(value, kernel, parameter.name, open_element)
        else:
            signature[parameter.name] = _scalar(value)
    try:
        source = ASTSource(fn=function, signature=signature, constexprs=constants)
        triton.compile(source, target=GPUTarget("cuda", stand_ins.CAPABILITY, 32))
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


def main() -> None:
    """`python -m measures.compiling FILE NAME...`: what came of the kernels of a file, one JSON line each.

    The alarm ends the process: what the compiler does in C++ nothing else would interrupt.
    """
    for name in sys.argv[2:]:
        signal.alarm(PATIENCE)
        for answer in compile_file(Path(sys.argv[1]), [name]):
            print(json.dumps(asdict(answer)), flush=True)


if __name__ == "__main__":
    main()
