"""Element types: Triton's promotion rules, and types that only a launch decides.

The rules are those of `semantic.computation_type_impl` in Triton 3.0 to 3.9.
"""

from __future__ import annotations

from dataclasses import dataclass

_HALF = frozenset({"fp16", "bf16"})
_FLOATS = ("fp64", "fp32", "fp16", "bf16")
_NAMES = {
    "float64": "fp64",
    "float32": "fp32",
    "float16": "fp16",
    "bfloat16": "bf16",
    "double": "fp64",
    "float": "fp32",
    "half": "fp16",
    "int1": "bool",
    "bool": "bool",
    "long": "int64",
    "int": "int32",
    "short": "int16",
}
_INTEGERS = ("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")


@dataclass(frozen=True, slots=True)
class DType:
    """An element type.

    `name` is Triton's short name where the type is known. Otherwise `elements` holds the pointer
    parameters whose element types decide it; with neither, nothing is known.
    `literal` marks a Python number, which gives way to any tile's type.
    """

    name: str | None = None
    elements: frozenset[str] = frozenset()
    literal: bool = False

    @property
    def is_known(self) -> bool:
        """Whether the type is settled without a launch."""
        return self.name is not None

    @property
    def is_half(self) -> bool:
        """Whether this is certainly float16 or bfloat16."""
        return self.name in _HALF

    @property
    def is_wide(self) -> bool:
        """Whether this is certainly float32 or float64."""
        return self.name in ("fp32", "fp64")

    @property
    def is_float(self) -> bool:
        """Whether this is certainly a floating-point type."""
        return self.name is not None and self.name.startswith(("fp", "bf"))

    @property
    def is_integer(self) -> bool:
        """Whether this is certainly an integer or boolean type."""
        return self.name in _INTEGERS

    def __str__(self) -> str:
        if self.name:
            return LONG_NAMES.get(self.name, self.name)
        if self.elements:
            return "/".join(f"{name}.dtype.element_ty" for name in sorted(self.elements))
        return "unknown"


UNKNOWN_DTYPE = DType()
FP32, FP16, BF16, FP64 = DType("fp32"), DType("fp16"), DType("bf16"), DType("fp64")
INT32, INT64, BOOL = DType("int32"), DType("int64"), DType("bool")
LITERAL_INT = DType("int32", literal=True)
LITERAL_FLOAT = DType("fp32", literal=True)
LONG_NAMES = {"fp64": "float64", "fp32": "float32", "fp16": "float16", "bf16": "bfloat16"}


def named(name: str) -> DType | None:
    """The type that `tl.<name>` or `torch.<name>` names, None if it names none."""
    short = _NAMES.get(name, name)
    if short in _FLOATS or short in _INTEGERS or short.startswith(("fp8", "float8")):
        return DType(short)
    return None


def element_of(parameter: str) -> DType:
    """The element type of the pointer parameter."""
    return DType(elements=frozenset((parameter,)))


def promote(left: DType, right: DType, *, division: bool = False) -> DType:
    """The type in which Triton computes `left op right`; `division` for `/` and `%`."""
    if left.literal and right.literal:
        return DType("fp32", literal=True) if left.is_float or right.is_float or division else left
    if left.literal or right.literal:
        tile, number = (right, left) if left.literal else (left, right)
        return _with_literal(tile, number, division)
    if left == right:
        return _divided(left) if division else left
    if left.name and right.name:
        return _promote_known(left.name, right.name, division)
    return _promote_open(left, right, division)


def _with_literal(tile: DType, number: DType, division: bool) -> DType:
    if division:
        return _divided(tile)
    if tile.is_integer and number.is_float:
        return FP32
    return DType(tile.name, tile.elements)


def _divided(dtype: DType) -> DType:
    if dtype.name == "fp64":
        return dtype
    return FP32 if dtype.is_known else UNKNOWN_DTYPE


def _promote_known(left: str, right: str, division: bool) -> DType:
    names = {left, right}
    if "fp64" in names:
        return FP64
    floats = [name for name in names if name.startswith(("fp", "bf"))]
    if "fp32" in names or (division and floats):
        return FP32
    if "fp16" in names:
        return FP16
    if "bf16" in names:
        return FP32
    if floats:
        return FP16 if len(floats) == 2 else FP32
    if division:
        return FP32
    ranked = sorted(names, key=_INTEGERS.index if names <= set(_INTEGERS) else str)
    return DType(ranked[-1])


def _promote_open(left: DType, right: DType, division: bool) -> DType:
    """At least one side waits for a launch."""
    for side in (left, right):
        if side.name in ("fp64", "fp32"):
            return FP32 if side.name == "fp32" else FP64
    if division:
        return UNKNOWN_DTYPE
    if not (left.is_known or left.elements) or not (right.is_known or right.elements):
        return UNKNOWN_DTYPE
    if left.is_known or right.is_known:
        open_side, known = (right, left) if left.is_known else (left, right)
        if known.is_integer:
            return open_side
        if known.is_half:
            return DType(elements=open_side.elements)
        return UNKNOWN_DTYPE
    return DType(elements=left.elements | right.elements)
