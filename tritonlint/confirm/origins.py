"""Which parameter a pointer was made from, as far as the front end of Triton lets it be seen.

A guess that is wrong costs time and no more: an address is then outside the tensor that it is compared with
first, and is looked at anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import triton.language as tl
from triton.compiler.code_generator import CodeGenerator
from triton.language.semantic import TritonSemantic as Semantic

_KEEP = (
    "add",
    "sub",
    "splat",
    "broadcast_impl_shape",
    "expand_dims",
    "reshape",
    "permute",
    "bitcast",
    "cast",
)
"""What makes a pointer of a pointer."""
_known: dict[int, str] = {}
"""By what the compiler calls a value, which copies of its Python object share."""


def origin(value: Any) -> str | None:
    """The parameter that a pointer comes from."""
    return _known.get(value.handle.id()) if _is_pointer(value) else None


@contextmanager
def tracked(names: set[str]) -> Iterator[None]:
    """While this lasts, pointers know which of these parameters they come from."""
    old = {name: getattr(Semantic, name) for name in _KEEP if hasattr(Semantic, name)}
    named = CodeGenerator.set_value

    def set_value(generator: Any, name: str, value: Any) -> None:
        if _is_pointer(value) and origin(value) is None:
            # A pointer that a loop or a branch hands on is a new value under an old name.
            came_from = origin(generator.lscope.get(name))
            if came_from is None and name in names and getattr(generator, "is_kernel", False):
                came_from = name
            _note(value, came_from)
        named(generator, name, value)

    for name, method in old.items():
        setattr(Semantic, name, _keeping(method))
    CodeGenerator.set_value = set_value
    try:
        yield
    finally:
        _known.clear()
        CodeGenerator.set_value = named
        for name, method in old.items():
            setattr(Semantic, name, method)


def _keeping(method: Callable[..., Any]) -> Callable[..., Any]:
    def kept(semantic: Any, *arguments: Any, **options: Any) -> Any:
        result = method(semantic, *arguments, **options)
        if _is_pointer(result):
            came_from = {origin(one) for one in arguments if _is_pointer(one)}
            _note(result, came_from.pop() if len(came_from) == 1 else None)
        return result

    return kept


def _note(value: Any, name: str | None) -> None:
    if name is None:
        _known.pop(value.handle.id(), None)
    else:
        _known[value.handle.id()] = name


def _is_pointer(value: Any) -> bool:
    return isinstance(value, tl.tensor) and value.type.scalar.is_ptr()
