"""What the host knows of its tensors: sizes, strides, element types, and which ones are the same."""

from __future__ import annotations

import ast
from collections.abc import Sequence as Items
from dataclasses import replace
from typing import TYPE_CHECKING

from tritonlint.model import symbolic
from tritonlint.model.dtypes import UNKNOWN_DTYPE, DType, element_of, named
from tritonlint.model.evaluator import Evaluator, written
from tritonlint.model.symbolic import ONE, ZERO, Atom, Poly
from tritonlint.model.values import (
    UNKNOWN_VALUE,
    Number,
    Sequence,
    SizesOf,
    Tensor,
    Text,
    TypeValue,
    Unknown,
    Value,
    deps_of,
    integer,
)

if TYPE_CHECKING:
    from tritonlint.model.module import Module

_SAME = frozenset(
    "contiguous clone detach cuda cpu requires_grad_ mul_ add_ "
    "sub_ div_ copy_ zero_ fill_ relu abs neg pin_memory "
    "float half bfloat16 double int long bool type to sigmoid exp sqrt masked_fill clamp byte".split()
)
_OF_ONE_TYPE = frozenset("sum mean cumsum squeeze expand repeat flip roll narrow select".split())
"""Methods whose result has the element type of their tensor, if that is a floating-point type."""
_CASTS = {
    "float": "fp32",
    "half": "fp16",
    "bfloat16": "bf16",
    "double": "fp64",
    "int": "int32",
    "long": "int64",
    "bool": "bool",
}
_MAKERS = frozenset("empty zeros ones full randn rand randint empty_strided rand_like tensor".split())
_LIKE = frozenset("empty_like zeros_like ones_like full_like randn_like rand_like".split())
_NEW = frozenset("new_empty new_zeros new_ones new_full".split())
_NAMED_SIZES = ("shape", "size")
Arguments = dict[str, Value]


class TensorMethods(Evaluator):
    """The part of the host evaluator that knows tensors."""

    module: Module
    ranks: dict[str, int]
    least_ranks: dict[str, int]
    """The fewest axes a tensor can have, from the strides asked of it."""
    fixed_sizes: dict[tuple[str, int], Poly]
    """Single axes whose size is known although the rank is not, by key and axis."""
    learned: dict[str, set[str]]
    """Element types that asserts settled, by tensor key."""

    def as_number(self, value: Value) -> Number | None:
        """A value as a number, None if it cannot be one."""
        raise NotImplementedError

    def kept_on(self, key: str, name: str) -> Value | None:
        """What was stored as `key.name` before."""
        raise NotImplementedError

    # --- attributes -----------------------------------------------------------------------------
    def tensor_attribute(self, value: Tensor, name: str) -> Value:
        """`value.name`."""
        kept = self.kept_on(value.key, name)
        if kept is not None:
            return kept
        if name == "shape":
            return self._sizes(value)
        if name == "dtype":
            return TypeValue(value.dtype if value.dtype.is_known else element_of(value.key))
        if name in ("T", "mT"):
            axes = [-1, -2] if name == "mT" else []
            return self._permuted(value, "t" if name == "T" else "transpose", axes, "T")
        if name == "ndim":
            rank = self._rank(value)
            return integer(rank) if rank else Number(Poly.of(Atom("rank", value.shape_key)))
        if name in ("data", "grad_fn"):
            return value
        if name == "is_cuda" or name.startswith("is_"):
            return Number(Poly.of(Atom("flag", value.key, name)))
        origin = value.origin if value.origin == "attribute" else "derived"
        return Tensor(f"{value.key}.{name}", origin=origin, sure=name == "grad")

    def _sizes(self, value: Tensor) -> Value:
        if value.dims is not None:
            return Sequence(tuple(Number(dim) for dim in value.dims))
        return SizesOf(value)

    def _rank(self, value: Tensor) -> int | None:
        return len(value.dims) if value.dims is not None else self.ranks.get(value.shape_key)

    def size_of(self, value: Tensor, index: Value) -> Value:
        """`value.shape[index]`."""
        number = index.poly.integer if isinstance(index, Number) else None
        if number is None:
            return Number(Poly.of(Atom("dim", value.shape_key, "?")))
        rank = self._rank(value)
        if value.dims is not None and -len(value.dims) <= number < len(value.dims):
            return Number(value.dims[number])
        if number < 0 and rank:
            number += rank
        fixed = self.fixed_sizes.get((value.shape_key, number))
        return Number(fixed if fixed is not None else Poly.of(Atom("dim", value.shape_key, number)))

    def unpacked_sizes(self, value: Tensor, targets: Items[ast.expr]) -> list[Value]:
        """`a, b, *c = value.shape`."""
        stars = [i for i, target in enumerate(targets) if isinstance(target, ast.Starred)]
        if not stars:
            self.ranks.setdefault(value.shape_key, len(targets))
            return [self.size_of(value, integer(i)) for i in range(len(targets))]
        star = stars[0]
        tail = len(targets) - star - 1
        head = [self.size_of(value, integer(i)) for i in range(star)]
        rest: Value = Sequence((), exact=False)
        return [*head, rest, *(self.size_of(value, integer(i - tail)) for i in range(tail))]

    def tensor_item(self, node: ast.Subscript, value: Tensor, index: Value) -> Value:
        """`value[...]`."""
        text = written(node.slice)[:40]
        derived = Tensor(
            f"{value.key}[{text}]",
            dims=self._sliced_dims(node.slice, value),
            dtype=value.dtype,
            origin="derived",
            sure=value.sure,
        )
        if not value.sure and isinstance(index, Text | Number):
            return replace(derived, origin=value.origin if value.origin == "attribute" else "derived")
        return derived

    def _sliced_dims(self, index: ast.expr, value: Tensor) -> tuple[Poly, ...] | None:
        """Sizes of `x[...]`; of a slice up to some number, that number."""
        items = list(index.elts) if isinstance(index, ast.Tuple) else [index]
        rank = self._rank(value)
        places = [i for i, item in enumerate(items) if _is_the(..., item)]
        if places:
            if rank is None or len(places) > 1:
                return None
            taken = sum(not _is_the(..., item) and not _is_the(None, item) for item in items)
            items[places[0] : places[0] + 1] = [ast.Slice()] * (rank - taken)
        dims: list[Poly] = []
        axis = 0
        for item in items:
            if _is_the(None, item):
                dims.append(ONE)
                continue
            if not isinstance(item, ast.Slice) or item.step is not None:
                return None
            size = self._sliced(item, value, axis)
            if size is None:
                return None
            dims.append(size)
            axis += 1
        for i in range(axis, rank or 0):
            size_here = self.size_of(value, integer(i))
            assert isinstance(size_here, Number)
            dims.append(size_here.poly)
        return tuple(dims) if len(items) > 1 or rank is not None else None

    def _sliced(self, item: ast.Slice, value: Tensor, axis: int) -> Poly | None:
        """The size of `axis` after a slice of it: `[:n]` is taken to lie inside."""
        number = self.as_number(self.size_of(value, integer(axis)))
        whole = number.poly if number is not None else None
        start = self._bound(item.lower, whole) if item.lower is not None else ZERO
        stop = self._bound(item.upper, whole) if item.upper is not None else whole
        if start is None or stop is None:
            return None
        last = whole.integer if whole is not None else None
        if last is not None and start.integer is not None and stop.integer is not None:
            return Poly.const(len(range(last)[start.integer : stop.integer]))
        size = stop - start
        return ZERO if (size.constant or 0) < 0 else size

    def _bound(self, bound: ast.expr, whole: Poly | None) -> Poly | None:
        """Where a slice begins or ends: a negative number, or minus some size, counts from behind."""
        number = self.as_number(self.evaluate(bound))
        if number is None:
            return None
        if not number.poly.terms or any(factor > 0 for factor in number.poly.terms.values()):
            return number.poly
        end = whole + number.poly if whole is not None else None
        return ZERO if end is not None and (end.constant or 0) < 0 else end

    # --- methods --------------------------------------------------------------------------------
    def tensor_method(
        self, node: ast.Call, value: Tensor, name: str, args: list[Value], keywords: Arguments
    ) -> Value:
        """`value.name(*args, **keywords)`."""
        if name in ("size", "stride"):
            return self._size_or_stride(value, name, args, keywords)
        if name in ("numel", "nelement"):
            return Number(value.size)
        if name in ("dim", "ndimension"):
            return self.tensor_attribute(value, "ndim")
        if name == "element_size":
            return Number(Poly.of(Atom("itemsize", value.key)))
        if name in ("item", "tolist"):
            return Number(Poly.of(Atom("item", value.key)))
        if name in ("is_contiguous",):
            return Number(Poly.of(Atom("contiguous", value.key)))
        if name in _SAME:
            return self._kept(value, name, args, keywords)
        if name in ("view", "reshape"):
            return self._viewed(node, value, args)
        if name in ("t", "transpose", "permute"):
            axes = [
                arg.poly.integer for arg in args if isinstance(arg, Number) and arg.poly.integer is not None
            ]
            return self._permuted(value, name, axes, node.lineno)
        if name == "unsqueeze":
            return self._with_an_axis(node, value, args)
        if name in _NEW:
            return fresh_tensor(self, node, args, keywords, value.dtype)
        if name in ("max", "min", "amax", "sum") and not args:
            return replace(value, key=f"{value.key}.{name}()", like="", dims=(), origin="derived")
        if name == "flatten":
            return Tensor(
                f"{value.key}.flatten()",
                dims=(value.size,) if not args else None,
                dtype=value.dtype,
                origin=value.origin,
                sure=True,
            )
        if name == "save_for_backward":
            return UNKNOWN_VALUE
        if name == "get" and not value.sure:
            return Tensor(f"{value.key}.get({', '.join(map(_word, args))})", origin="derived", sure=False)
        return Tensor(
            f"{value.key}.{name}()@{node.lineno}:{node.col_offset}",
            dtype=self._type_kept(value, name, args, keywords),
            origin="derived",
            sure=False,
            node=node,
        )

    def _type_kept(self, value: Tensor, name: str, args: list[Value], keywords: Arguments) -> DType:
        """The element type of what a method such as `sum` gives: its tensor's, or the one asked for."""
        given = [one.dtype for one in (*args, *keywords.values()) if isinstance(one, TypeValue)]
        if given or "dtype" in keywords:
            return given[0] if given else UNKNOWN_DTYPE
        return value.dtype if name in _OF_ONE_TYPE and value.dtype.is_float else UNKNOWN_DTYPE

    def _size_or_stride(self, value: Tensor, name: str, args: list[Value], keywords: Arguments) -> Value:
        index = keywords.get("dim", args[0] if args else None)
        if name == "size":
            return self._sizes(value) if index is None else self.size_of(value, index)
        if index is None:
            rank = self._rank(value)
            if rank is None:
                return SizesOf(value, strides=True)
            return Sequence(tuple(self._stride(value, i) for i in range(rank)))
        number = index.poly.integer if isinstance(index, Number) else None
        return (
            self._stride(value, number)
            if number is not None
            else Number(Poly.of(Atom("stride", value.key, "?")))
        )

    def stride_of(self, value: Tensor, index: Value) -> Value:
        """`value.stride()[index]`."""
        number = index.poly.integer if isinstance(index, Number) else None
        if number is None:
            return Number(Poly.of(Atom("stride", value.key, "?")))
        return self._stride(value, number)

    def _stride(self, value: Tensor, axis: int) -> Number:
        rank = self._rank(value)
        if axis < 0 and rank:
            axis += rank
        self.least_ranks[value.key] = max(self.least_ranks.get(value.key, 0), axis + 1)
        if (
            (value.contiguous or value.origin == "fresh")
            and value.dims is not None
            and 0 <= axis < len(value.dims)
        ):
            span = ONE
            for dim in value.dims[axis + 1 :]:
                span = span * dim
            return Number(span)
        return Number(Poly.of(Atom("stride", value.key, axis)))

    def _kept(self, value: Tensor, name: str, args: list[Value], keywords: Arguments) -> Value:
        """A method whose result has the sizes of its tensor."""
        dtype = value.dtype
        if name in _CASTS:
            dtype = DType(_CASTS[name])
        elif name in ("to", "type"):
            given = [arg for arg in (*args, *keywords.values()) if isinstance(arg, TypeValue)]
            dtype = given[0].dtype if given else dtype
        in_place = name.endswith("_") or name in ("contiguous", "detach", "cuda")
        key = value.key if name.endswith("_") else f"{value.key}.{name}()"
        return Tensor(
            key=key,
            like=value.shape_key,
            dims=value.dims,
            dtype=dtype,
            origin=value.origin
            if in_place or name in ("to", "half", "float", "bfloat16", "clone")
            else "derived",
            contiguous=value.contiguous or name == "contiguous",
            sure=True,
        )

    def _viewed(self, node: ast.Call, value: Tensor, args: list[Value]) -> Value:
        if len(args) == 1 and isinstance(args[0], Sequence | SizesOf):
            target = args[0]
            if isinstance(target, SizesOf):
                return replace(
                    value,
                    key=f"{value.key}.view@{node.lineno}",
                    like=target.tensor.shape_key,
                    dims=target.tensor.dims,
                    sure=True,
                )
            items: Items[Value] = target.items if target.exact else ()
        else:
            items = args
        numbers = [self.as_number(item) for item in items]
        known = [number.poly for number in numbers if number is not None and number.poly.integer != -1]
        dims: list[Poly] = []
        for number in numbers:
            if number is None:
                return Tensor(
                    f"{value.key}.view@{node.lineno}",
                    dtype=value.dtype,
                    origin=value.origin,
                    contiguous=value.contiguous,
                )
            if number.poly.integer == -1:
                rest = ONE
                for poly in known:
                    rest = rest * poly
                dims.append(symbolic.floor_divide(value.size, rest))
            else:
                dims.append(number.poly)
        return Tensor(
            f"{value.key}.view@{node.lineno}",
            dims=tuple(dims) or None,
            dtype=value.dtype,
            origin=value.origin,
            contiguous=value.contiguous,
        )

    def _with_an_axis(self, node: ast.Call, value: Tensor, args: list[Value]) -> Tensor:
        """`x.unsqueeze(axis)`: one axis of one, the others as they were."""
        axis = args[0].poly.integer if args and isinstance(args[0], Number) else None
        rank = self._rank(value)
        key = f"{value.key}.unsqueeze@{node.lineno}:{node.col_offset}"
        result = Tensor(key, dtype=value.dtype, origin="derived", contiguous=value.contiguous)
        if axis is None:
            return result
        if rank is None:
            self.fixed_sizes[result.key, axis] = ONE
            return result
        sizes = [self.size_of(value, integer(i)) for i in range(rank)]
        dims = [size.poly for size in sizes if isinstance(size, Number)]
        dims.insert(axis if axis >= 0 else axis + rank + 1, ONE)
        return replace(result, dims=tuple(dims))

    def _permuted(self, value: Tensor, name: str, axes: list[int], line: object) -> Tensor:
        """`x.t()`, `x.transpose(a, b)`, `x.permute(...)`: the sizes change places where the rank is known."""
        rank = self._rank(value)
        if rank is None and name == "permute":
            rank = len(axes) or None
        elif rank is None and (name == "t" or set(axes) == {0, 1}):
            rank = 2  # of a tensor of unknown rank, the first two axes are most often the only ones
        order = self._order_of_axes(name, axes, rank)
        sizes = [self.size_of(value, integer(axis)) for axis in order]
        dims = tuple(size.poly for size in sizes if isinstance(size, Number))
        return Tensor(
            f"{value.key}.T@{line}",
            dims=dims if dims and len(dims) == rank else None,
            dtype=value.dtype,
            origin=value.origin,
            sure=True,
        )

    @staticmethod
    def _order_of_axes(name: str, axes: list[int], rank: int | None) -> list[int]:
        """The old axis behind each new one; empty where the rank is unknown or the axes do not fit it."""
        if rank is None or any(not -rank <= axis < rank for axis in axes):
            return []
        if name == "permute":
            return [axis % rank for axis in axes] if len(axes) == rank else []
        order = list(range(rank))
        first, second = (axes if len(axes) == 2 else (0, 1)) if rank >= 2 else (0, 0)
        order[first], order[second] = order[second], order[first]
        return order

    def tensor_arithmetic(self, node: ast.AST, left: Value, right: Value) -> Value:
        """An operator on tensors: the sizes of the larger operand are not followed."""
        model = left if isinstance(left, Tensor) and left.sure else right
        assert isinstance(model, Tensor)
        other = right if model is left else left
        like = model.shape_key if isinstance(other, Number) else ""
        line, column = getattr(node, "lineno", 0), getattr(node, "col_offset", 0)
        return Tensor(
            f"{model.key}~@{line}:{column}",
            like=like,
            dims=model.dims if like else None,
            dtype=model.dtype,
            origin="derived",
        )

    # --- torch ----------------------------------------------------------------------------------
    def torch_call(self, node: ast.Call, name: str, args: list[Value], keywords: Arguments) -> Value | None:
        """A call of a torch function; None where nothing particular is known of it."""
        short = name.rsplit(".", 1)[-1]
        if short in _LIKE and args and isinstance(args[0], Tensor):
            model = args[0]
            given = keywords.get("dtype")
            dtype = given.dtype if isinstance(given, TypeValue) else model.dtype
            if not dtype.is_known and not dtype.elements:
                dtype = element_of(model.key)
            return Tensor(
                key=f"{short}@{node.lineno}:{node.col_offset}",
                like=model.shape_key,
                dims=model.dims,
                dtype=dtype,
                origin="fresh",
                node=node,
            )
        if name.endswith("functional.pad") and len(args) > 1 and isinstance(args[0], Tensor):
            return self._padded(node, args[0], args[1])
        if short in _MAKERS:
            return fresh_tensor(self, node, args, keywords, UNKNOWN_DTYPE)
        if short == "arange":
            numbers = [self.as_number(arg) for arg in args]
            dims = (numbers[0].poly,) if len(numbers) == 1 and numbers[0] is not None else None
            return Tensor(f"arange@{node.lineno}", dims=dims, origin="fresh", node=node)
        if short == "numel" and args and isinstance(args[0], Tensor):
            return Number(args[0].size)
        return None

    def _padded(self, node: ast.Call, value: Tensor, widths: Value) -> Tensor:
        """`F.pad(x, (left, right, ...))`, which counts axes from the last."""
        sizes = [self.as_number(self.size_of(value, integer(axis))) for axis in range(self._rank(value) or 0)]
        added = [self.as_number(item) for item in widths.items] if isinstance(widths, Sequence) else [None]
        dims = [size.poly for size in sizes if size is not None]
        if None in added or len(added) > 2 * len(dims):
            dims = []
        for place, number in enumerate(added if dims else ()):
            assert number is not None
            dims[-1 - place // 2] += number.poly
        return Tensor(
            f"pad@{node.lineno}:{node.col_offset}",
            dims=tuple(dims) or None,
            dtype=value.dtype,
            origin="fresh",
            node=node,
        )


def fresh_tensor(
    evaluator: TensorMethods, node: ast.Call, args: list[Value], keywords: Arguments, dtype: DType
) -> Tensor:
    """A tensor allocated by `node`."""
    given = keywords.get("dtype")
    if isinstance(given, TypeValue):
        dtype = given.dtype
    sizes = keywords.get("size", args[0] if args else Unknown())
    like = ""
    dims: tuple[Poly, ...] | None = None
    short = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    if short == "tensor":
        dims = _sizes_of_literal(args[0]) if args else None
    else:
        if isinstance(sizes, SizesOf):
            like, dims = sizes.tensor.shape_key, sizes.tensor.dims
        else:
            items = (
                sizes.items
                if isinstance(sizes, Sequence) and sizes.exact
                else ()
                if isinstance(sizes, Sequence)
                else args
            )
            if short in ("full", "new_full") and not isinstance(sizes, Sequence):
                items = items[:1]
            numbers = [evaluator.as_number(item) for item in items]
            if items is args and any(isinstance(argument, ast.Starred) for argument in node.args):
                numbers = []  # `x.new_empty(n, *y.shape)`
            if numbers and None not in numbers:
                dims = tuple(number.poly for number in numbers if number is not None)
    return Tensor(
        key=f"{short or 'fresh'}@{node.lineno}:{node.col_offset}",
        like=like,
        dims=dims,
        dtype=dtype,
        origin="fresh",
        node=node,
    )


def _sizes_of_literal(value: Value) -> tuple[Poly, ...] | None:
    """The one axis of `torch.tensor([a, b, c])`; a list in a list, or one of unknown length, says nothing."""
    if not isinstance(value, Sequence) or not value.exact or not value.items:
        return None
    plain = all(isinstance(item, Number) for item in value.items)
    return (Poly.const(len(value.items)),) if plain else None


def _is_the(constant: object, node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is constant


def _word(value: Value) -> str:
    return value.value if isinstance(value, Text) else "?"


_ = (named, deps_of, _NAMED_SIZES)
