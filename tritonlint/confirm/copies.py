"""Copies of a launch's tensors, each between guards, so that no experiment touches what is the user's.

Tensors that share memory share it in the copies, too. What lies past the end of one storage is a guard and
never another tensor, so that an overrun is seen as one even where the allocator put a neighbour there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

GUARD = 1 << 20
"""Bytes before and behind each storage; a multiple of every element size and alignment in use."""
POISON = 0xFF
"""What guards are filled with: NaN as a floating-point number of any width, -1 as an integer."""


class TooLarge(MemoryError):
    """The copies would take more memory than there is for them."""


@dataclass(frozen=True)
class Span:
    """Where one tensor of a launch lies."""

    name: str
    start: int
    """Its first byte."""
    end: int
    """Behind the last byte that its shape and strides reach."""
    storage_start: int
    storage_end: int
    element_size: int
    shape: tuple[int, ...]


class Copies:
    """The arguments of a launch, copied.

    Args:
        arguments: by parameter.
        limit: bytes that the copies may take.

    Raises:
        TooLarge: they would take more.
    """

    def __init__(self, arguments: Mapping[str, Any], limit: int) -> None:
        self._storages: dict[int, tuple[Any, Any]] = {}
        self._limit = limit
        self.taken = 0
        self.spans: list[Span] = []
        self.tensors: dict[str, torch.Tensor] = {}
        self.arguments = {name: self._copied(value, name) for name, value in arguments.items()}

    def _copied(self, value: Any, name: str) -> Any:
        if isinstance(value, torch.Tensor):
            return self._tensor(value, name)
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return type(value)(
                *(self._copied(one, f"{name}.{at}") for at, one in zip(value._fields, value, strict=True))
            )
        if isinstance(value, tuple | list):
            return type(value)(self._copied(one, f"{name}[{index}]") for index, one in enumerate(value))
        base = getattr(value, "base", None)
        if isinstance(base, torch.Tensor):  # a tensor descriptor, or a tensor read as another type
            return self._wrapped(value, self._tensor(base, name))
        return value

    def _wrapped(self, value: Any, base: torch.Tensor) -> Any:
        import copy

        other = copy.copy(value)
        other.base = base
        if hasattr(other, "data"):
            other.data = base.data
        return other

    def _tensor(self, tensor: torch.Tensor, name: str) -> torch.Tensor:
        with torch.no_grad():
            plain = tensor.detach()
            storage = plain.untyped_storage()
            if storage.data_ptr() not in self._storages:
                self._storages[storage.data_ptr()] = (self._guarded(storage, plain.device), storage)
            buffer, _ = self._storages[storage.data_ptr()]
            size = plain.element_size()
            offset = GUARD // size + plain.storage_offset()
            other = torch.empty(0, dtype=plain.dtype, device=plain.device)
            other.set_(buffer.untyped_storage(), offset, plain.size(), plain.stride())
        start = buffer.data_ptr() + GUARD
        first = start + plain.storage_offset() * size
        reach = sum((extent - 1) * stride for extent, stride in zip(plain.shape, plain.stride(), strict=True))
        end = first + (reach + 1) * size if plain.numel() else first
        self.spans.append(Span(name, first, end, start, start + storage.nbytes(), size, tuple(plain.shape)))
        self.tensors[name] = other
        return other

    def _guarded(self, storage: Any, device: torch.device) -> torch.Tensor:
        length = storage.nbytes()
        self.taken += length + 2 * GUARD
        if self.taken > self._limit:
            raise TooLarge(f"copies of its arguments take more than {self._limit / 2**30:.1f} GiB")
        padded = -(-length // 512) * 512
        buffer = torch.empty((padded + 2 * GUARD,), dtype=torch.uint8, device=device)
        _fill(buffer, storage)
        return buffer

    @property
    def views(self) -> list[tuple[int, int]]:
        """The addresses of the tensors, first and behind the last, each range once."""
        return sorted({(span.start, span.end) for span in self.spans})

    @property
    def storages(self) -> list[tuple[int, int]]:
        """The addresses of what the tensors lie in, each range once."""
        return sorted({(span.storage_start, span.storage_end) for span in self.spans})

    @property
    def device(self) -> torch.device:
        """Where they lie; the current GPU if there are none."""
        return next((one.device for one in self.tensors.values() if one.is_cuda), torch.device("cuda"))

    def reset(self) -> None:
        """Make them equal to the arguments again, guards too."""
        for buffer, storage in self._storages.values():
            _fill(buffer, storage)

    def changed(self, before: Copies) -> list[str]:
        """The tensors whose values differ from those of other copies of the same launch, in order."""
        return [name for name, one in self.tensors.items() if not _same(one, before.tensors[name])]


def _fill(buffer: torch.Tensor, storage: Any) -> None:
    length = storage.nbytes()
    buffer.fill_(POISON)
    plain = torch.empty(0, dtype=torch.uint8, device=buffer.device).set_(storage, 0, (length,), (1,))
    buffer[GUARD : GUARD + length] = plain


def _same(one: torch.Tensor, other: torch.Tensor) -> bool:
    return bool(torch.equal(_bits(one), _bits(other)))


def _bits(tensor: torch.Tensor) -> torch.Tensor:
    """Values as integers, so that NaN equals itself."""
    integers = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
    plain = tensor.contiguous()
    return plain.view(integers[tensor.element_size()]) if tensor.element_size() in integers else plain
