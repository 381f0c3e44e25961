"""Block pointers as plain pointers and masks, so that a probe sees the addresses behind them.

A boundary check bounds the shape that a kernel declares, not the memory: only the addresses tell. Triton up
to 3.7 keeps a block pointer as one value of its own; here it is base, shape, strides and offsets,
which pass through loops and branches as several values do. Later Triton does the same itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import triton.language as tl
from triton.language.semantic import TritonSemantic as Semantic


class _Type(tl.core.base_type):
    """Of a block pointer: what is known when the kernel is compiled."""

    def __init__(self, parts: tuple[Any, ...], rank: int, widths: tuple[int, ...]) -> None:
        self.parts, self.rank, self.widths = parts, rank, widths

    @property
    def scalar(self) -> Any:
        """The pointer type of its elements, as of a block of pointers."""
        return self.parts[0]

    @property
    def element_ty(self) -> Any:
        """What a pointer to a block points to."""
        return tl.block_type(self.parts[0].element_ty, list(self.widths))

    def _unflatten_ir(self, handles: list[Any], cursor: int) -> tuple[Any, int]:
        values = [
            tl.tensor(handle, kind)
            for handle, kind in zip(handles[cursor : cursor + len(self.parts)], self.parts, strict=True)
        ]
        return _Value(values, self.rank, self.widths), cursor + len(self.parts)

    def _flatten_ir_types(self, builder: Any, out: list[Any]) -> None:
        out.extend(part.to_ir(builder) for part in self.parts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Type) and (self.parts, self.widths) == (other.parts, other.widths)

    def __hash__(self) -> int:
        return hash((self.rank, self.widths))

    def mangle(self) -> str:
        """Its part of the name of a function that takes it."""
        return "BP" + "_".join([*(part.mangle() for part in self.parts), *map(str, self.widths)])

    def __str__(self) -> str:
        return f"block pointer to {self.element_ty}"


class _Value(tl.core.base_value):
    """A block pointer: base, then shape, strides and offsets by axis."""

    def __init__(self, values: list[Any], rank: int, widths: tuple[int, ...]) -> None:
        self.values = values
        self.type = _Type(tuple(one.type for one in values), rank, widths)

    @property
    def dtype(self) -> Any:
        """As of Triton's own: what the kernel asks for the element type."""
        return self.type.scalar

    def part(self, number: int) -> list[Any]:
        """Shape, strides or offsets: 0, 1 or 2."""
        rank = self.type.rank
        return self.values[1 + number * rank : 1 + (number + 1) * rank]

    def moved(self, offsets: list[Any]) -> _Value:
        """The same with other offsets."""
        rank = self.type.rank
        return _Value([*self.values[: 1 + 2 * rank], *offsets], rank, self.type.widths)

    def _flatten_ir(self, handles: list[Any]) -> None:
        handles.extend(one.handle for one in self.values)


@contextmanager
def plain_block_pointers() -> Iterator[None]:
    """While this lasts they are plain; nothing changes where Triton has none of its own kind."""
    if not hasattr(Semantic, "_load_block_pointer"):
        yield
        return
    old = Semantic.make_block_ptr, Semantic.advance, Semantic.load, Semantic.store
    advance, load, store = old[1:]

    def made(s: Any, base: Any, shape: Any, strides: Any, offsets: Any, block_shape: Any, order: Any) -> Any:
        parts = [one for part in (shape, strides, offsets) for one in _values(s, part)]
        widths = tuple(_plain(one) for one in block_shape)
        return _Value([base, *parts], len(widths), widths)

    def advanced(s: Any, pointer: Any, offsets: Any) -> Any:
        if not isinstance(pointer, _Value):
            return advance(s, pointer, offsets)
        steps = zip(pointer.part(2), _values(s, offsets), strict=True)
        return pointer.moved([s.add(one, two, False) for one, two in steps])

    def loaded(s: Any, pointer: Any, mask: Any, other: Any, checks: Any, padding: Any, *rest: Any) -> Any:
        if not isinstance(pointer, _Value):
            return load(s, pointer, mask, other, checks, padding, *rest)
        addresses, inside = _spread(s, pointer, checks)
        fill = None
        if inside is not None and padding:
            element = addresses.type.scalar.element_ty
            nan = padding == "nan" and element.is_floating()
            fill = s.scalar_constant(float("nan") if nan else 0, element)
        return load(s, addresses, inside, fill, (), "", *rest)

    def stored(s: Any, pointer: Any, value: Any, mask: Any, checks: Any, *rest: Any) -> Any:
        if not isinstance(pointer, _Value):
            return store(s, pointer, value, mask, checks, *rest)
        addresses, inside = _spread(s, pointer, checks)
        return store(s, addresses, value, inside, (), *rest)

    Semantic.make_block_ptr, Semantic.advance, Semantic.load, Semantic.store = (
        made,
        advanced,
        loaded,
        stored,
    )
    try:
        yield
    finally:
        Semantic.make_block_ptr, Semantic.advance, Semantic.load, Semantic.store = old


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, tl.constexpr) else value


def _values(s: Any, part: Any) -> list[Any]:
    items = part if isinstance(part, list | tuple | tl.tuple) else [part]
    return [s.cast(s.to_tensor(one), tl.int64) for one in items]


def _spread(s: Any, pointer: Any, checks: Any) -> tuple[Any, Any]:
    """The addresses of a block, and where its checked axes lie inside the declared shape."""
    base, sizes = pointer.values[0], list(pointer.type.widths)
    shape, strides, offsets = (pointer.part(number) for number in range(3))
    checked = {_plain(one) for one in (checks if isinstance(checks, list | tuple | tl.tuple) else [checks])}
    reach, inside = None, None
    for axis, width in enumerate(sizes):
        index = s.cast(s.arange(0, width), tl.int64)
        index = s.add(index, s.splat(offsets[axis], [width]), False)
        part = s.mul(index, s.splat(strides[axis], [width]), False)
        reach = (
            _along(s, part, axis, sizes)
            if reach is None
            else s.add(reach, _along(s, part, axis, sizes), False)
        )
        if axis in checked:
            below = s.less_than(index, s.splat(shape[axis], [width]))
            above = s.greater_equal(index, s.splat(s.scalar_constant(0, tl.int64), [width]))
            here = _along(s, s.and_(below, above), axis, sizes)
            inside = here if inside is None else s.and_(inside, here)
    return s.add(s.splat(base, sizes), reach, False), inside


def _along(s: Any, value: Any, axis: int, sizes: list[int]) -> Any:
    """A row of values as one axis of a block."""
    for other in range(len(sizes)):
        if other != axis:
            value = s.expand_dims(value, other)
    return s.broadcast_impl_shape(value, sizes)
