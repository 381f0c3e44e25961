"""Block pointers as plain pointers and masks, so that a probe sees the addresses behind them.

A boundary check bounds the shape that a kernel declares, not the memory: only the addresses tell. Triton up
to 3.7 keeps a block pointer as one value of its own; here it is a tuple of base, shape, strides and offsets,
which passes through loops and branches as any tuple does. Later Triton does the same itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import triton.language as tl
from triton.language.semantic import TritonSemantic as Semantic

_MARK = "block pointer"


class BlockPointers:
    """Replaces what the front end does for `tl.make_block_ptr`, `tl.advance`, and access through them."""

    @contextmanager
    def installed(self) -> Iterator[None]:
        """While this lasts; nothing is done where Triton has no block pointers of its own kind."""
        if not hasattr(Semantic, "_load_block_pointer"):
            yield
            return
        old = Semantic.make_block_ptr, Semantic.advance, Semantic.load, Semantic.store
        advance, load, store = old[1:]

        def made(
            s: Any, base: Any, shape: Any, strides: Any, offsets: Any, block_shape: Any, order: Any
        ) -> Any:
            wide = [_values(s, part) for part in (shape, strides, offsets)]
            widths = tl.tuple([tl.constexpr(_plain(one)) for one in block_shape])
            return tl.tuple([base, *map(tl.tuple, wide), widths, tl.constexpr(_MARK)])

        def advanced(s: Any, pointer: Any, offsets: Any) -> Any:
            if not _is_ours(pointer):
                return advance(s, pointer, offsets)
            base, shape, strides, old_offsets, widths, mark = pointer.values
            moved = [
                s.add(one, two, False)
                for one, two in zip(old_offsets.values, _values(s, offsets), strict=True)
            ]
            return tl.tuple([base, shape, strides, tl.tuple(moved), widths, mark])

        def loaded(s: Any, pointer: Any, mask: Any, other: Any, checks: Any, padding: Any, *rest: Any) -> Any:
            if not _is_ours(pointer):
                return load(s, pointer, mask, other, checks, padding, *rest)
            addresses, inside = _spread(s, pointer, checks)
            fill = None
            if inside is not None and padding:
                element = addresses.type.scalar.element_ty
                nan = padding == "nan" and element.is_floating()
                fill = s.scalar_constant(float("nan") if nan else 0, element)
            return load(s, addresses, inside, fill, (), "", *rest)

        def stored(s: Any, pointer: Any, value: Any, mask: Any, checks: Any, *rest: Any) -> Any:
            if not _is_ours(pointer):
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


def _is_ours(value: Any) -> bool:
    parts: Any = value.values if isinstance(value, tl.tuple) else ()
    return len(parts) == 6 and isinstance(parts[5], tl.constexpr) and parts[5].value == _MARK


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, tl.constexpr) else value


def _values(s: Any, part: Any) -> list[Any]:
    items = part if isinstance(part, list | tuple | tl.tuple) else [part]
    return [s.cast(s.to_tensor(one), tl.int64) for one in items]


def _spread(s: Any, pointer: Any, checks: Any) -> tuple[Any, Any]:
    """The addresses of a block, and where its checked axes lie inside the declared shape."""
    base, shape, strides, offsets, widths, _ = pointer.values
    sizes = [one.value for one in widths.values]
    checked = {_plain(one) for one in (checks if isinstance(checks, list | tuple | tl.tuple) else [checks])}
    reach, inside = None, None
    for axis, width in enumerate(sizes):
        index = s.cast(s.arange(0, width), tl.int64)
        index = s.add(index, s.splat(offsets.values[axis], [width]), False)
        part = s.mul(index, s.splat(strides.values[axis], [width]), False)
        reach = (
            _along(s, part, axis, sizes)
            if reach is None
            else s.add(reach, _along(s, part, axis, sizes), False)
        )
        if axis in checked:
            below = s.less_than(index, s.splat(shape.values[axis], [width]))
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
