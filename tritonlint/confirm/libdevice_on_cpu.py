"""The functions of CUDA's `libdevice` for Triton's interpreter, which has none of them.

By name: what torch calls the same is taken as it is, rounding modes of sums and products are left out, and
conversions follow their names (`float2int_rd`). The names are those of `triton.language.extra.libdevice`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
import torch
import triton.language as tl
from triton.runtime import interpreter

_MODULE = re.compile(r"triton\.language\.extra(\.\w+)?\.libdevice")
_NUMBERS = {
    "float": (np.float32, tl.float32),
    "double": (np.float64, tl.float64),
    "int": (np.int32, tl.int32),
    "uint": (np.uint32, tl.uint32),
    "ll": (np.int64, tl.int64),
    "longlong": (np.int64, tl.int64),
    "ull": (np.uint64, tl.uint64),
}
_KINDS = "|".join(_NUMBERS)
_CONVERTED = re.compile(rf"({_KINDS})2({_KINDS})(?:_r(?P<mode>[nduz]))?")
_REREAD = re.compile(rf"({_KINDS})_as_({_KINDS})")
_ROUND: dict[str, Callable[..., Any]] = {
    "n": torch.round,
    "d": torch.floor,
    "u": torch.ceil,
    "z": torch.trunc,
}
_LIKE_TORCH = {"rint": "round", "nearbyint": "round", "isfinited": "isfinite"}
_LIKE_SPECIAL = {
    "cyl_bessel_i0": "i0",
    "cyl_bessel_i1": "i1",
    "j0": "bessel_j0",
    "j1": "bessel_j1",
    "y0": "bessel_y0",
    "y1": "bessel_y1",
    "normcdf": "ndtr",
    "normcdfinv": "ndtri",
}
_OWN: dict[str, Callable[..., Any]] = {
    "cbrt": lambda x: torch.sign(x) * torch.abs(x) ** (1 / 3),
    "cospi": lambda x: torch.cos(x * torch.pi),
    "div": torch.true_divide,
    "divide": torch.true_divide,
    "exp10": lambda x: 10.0**x,
    "fdim": lambda x, y: torch.clamp(x - y, min=0),
    "finitef": torch.isfinite,
    "fma": lambda x, y, z: x * y + z,
    "llrint": lambda x: torch.round(x).long(),
    "llround": lambda x: _half_away(x).long(),
    "rcbrt": lambda x: torch.sign(x) * torch.abs(x) ** (-1 / 3),
    "rcp": torch.reciprocal,
    "rhypot": lambda x, y: 1 / torch.hypot(x, y),
    "round": lambda x: _half_away(x),
    "saturatef": lambda x: torch.clamp(x, 0, 1),
    "sinpi": lambda x: torch.sin(x * torch.pi),
    "tgamma": lambda x: torch.exp(torch.lgamma(x)),
}
"""What torch has under no name, or under the name of another function."""


class Unknown(NotImplementedError):
    """No such function is known here."""


def of(function: Any) -> Callable[..., Any] | None:
    """What the interpreter calls instead of a function of `libdevice`; None for any other object."""
    return _replacements(len(sys.modules)).get(id(function))


@cache
def _modules(loaded: int) -> list[Any]:
    """Those of so many that are loaded: the question is asked of every name that a kernel can see."""
    return [module for name, module in list(sys.modules.items()) if _MODULE.fullmatch(name)]


@cache
def _replacements(loaded: int) -> dict[int, Callable[..., Any]]:
    """By the identity of what stands in the modules, which are never unloaded."""
    return {
        id(function): partial(call, name)
        for module in _modules(loaded)
        for name, function in vars(module).items()
        if not name.startswith("_") and callable(function) and name != "core"
    }


def in_modules() -> list[tuple[dict[str, Any], str]]:
    """Where functions of `libdevice` stand: the names of each module of them."""
    return [
        (vars(module), name)
        for module in _modules(len(sys.modules))
        for name, value in list(vars(module).items())
        if of(value) is not None
    ]


def call(name: str, *arguments: Any, **_: Any) -> Any:
    """The value of a function of `libdevice` for values of the interpreter.

    Raises:
        Unknown: it is not one of those that are known here.
    """
    values = [tl.core._unwrap_if_constexpr(one) for one in arguments]
    tensors = [one for one in values if isinstance(one, tl.core.tensor)]
    if not tensors:
        raise Unknown(f"`libdevice.{name}` of plain numbers is not known to the interpreter")
    data = [one.handle.data if isinstance(one, tl.core.tensor) else one for one in values]
    if match := _CONVERTED.fullmatch(name):
        kind = _NUMBERS[match[2]]
        number = torch.as_tensor(data[0])
        if match[2] not in ("float", "double"):
            number = _ROUND[match["mode"] or "z"](number)
        return _made(number.numpy().astype(kind[0]), kind[1], tensors)
    if match := _REREAD.fullmatch(name):
        kind = _NUMBERS[match[2]]
        return _made(np.ascontiguousarray(data[0]).view(kind[0]), kind[1], tensors)
    result = _function(name)(*(torch.as_tensor(one) for one in data))
    if result.dtype == torch.bool:  # flags are `int` in CUDA
        return _made(result.numpy().astype(np.int32), tl.int32, tensors)
    if result.dtype == torch.int64:
        return _made(result.numpy(), tl.int64, tensors)
    dtype = tensors[0].type.scalar
    return _made(result.numpy().astype(tensors[0].handle.data.dtype), dtype, tensors)


def _function(name: str) -> Callable[..., Any]:
    plain = re.sub(r"_r[nduz]$", "", name)
    if plain.startswith("fast_"):
        plain = plain.removeprefix("fast_").removesuffix("f")
    if plain in _OWN:
        return _OWN[plain]
    found = getattr(torch, _LIKE_TORCH.get(plain, plain), None)
    found = found or getattr(torch.special, _LIKE_SPECIAL.get(plain, plain), None)
    if found is None:
        raise Unknown(f"`libdevice.{name}` is not known to the interpreter")
    return found


def _half_away(x: torch.Tensor) -> torch.Tensor:
    """As C rounds: halves away from zero."""
    return torch.trunc(x + torch.copysign(torch.full_like(x, 0.5), x))


def _made(data: Any, dtype: Any, like: list[Any]) -> Any:
    widest = max(like, key=lambda one: one.handle.data.size)
    kind = widest.type.with_element_ty(dtype) if widest.type.is_block() else dtype
    return tl.core.tensor(interpreter.TensorHandle(data, dtype), kind)
