"""Masks that would bound an access: those that the kernel has at hand, and those its indices and sizes give.

A mask is only offered if the model, asked again with it, finds nothing exposed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations

from tritonlint.model.arithmetic import as_condition
from tritonlint.model.dtypes import BOOL
from tritonlint.model.exposure import Exposure, exposed_by
from tritonlint.model.kernel import launches_of
from tritonlint.model.logic import both, less
from tritonlint.model.records import Access, Trace
from tritonlint.model.symbolic import Atom, Poly
from tritonlint.model.values import Number, Shape

MAX_TRIED = 24
"""Masks that are tried on one access before it is given up."""


@dataclass(frozen=True)
class Mask:
    """A mask in the words of the kernel. `is_at_hand`: the kernel has it by that name already."""

    text: str
    value: Number
    is_at_hand: bool

    @property
    def operand(self) -> str:
        """The text as one side of `&`."""
        is_simple = self.text.isidentifier() or self.text.endswith("]")
        return self.text if is_simple else f"({self.text})"


def mask_for(exposures: list[Exposure]) -> Mask | None:
    """What bounds one access on every axis that is exposed, together with the mask it has."""
    access, trace = exposures[0].access, exposures[0].trace
    shape = access.address.shape
    if access.mask_unknown or shape is None:
        return None
    found = [_fitted(mask, shape) for mask in (*_named(access, trace), *_derived(exposures))]
    single = [mask for mask in found if mask is not None]
    pairs = (_joined(one, two) for one, two in combinations(single, 2))
    for number, mask in enumerate([*single, *pairs] if single else ()):
        if number >= MAX_TRIED:
            break
        if _bounds(mask, access, trace):
            return mask
    return None


def _bounds(mask: Mask, access: Access, trace: Trace) -> bool:
    formula = as_condition(mask.value)
    if access.mask is not None:
        formula = both(as_condition(access.mask), formula)
    masked = replace(access, mask=replace(mask.value, formula=formula), mask_unknown=False)
    return not any(True for _ in exposed_by(masked, trace, launches_of(trace.root)))


def _named(access: Access, trace: Trace) -> Iterator[Mask]:
    """Conditions that were given a name before the access, the last one first."""
    seen: set[str] = set()
    for item in reversed(_before(access, trace)):
        value = item.value
        if item.name not in seen and isinstance(value, Number) and value.formula is not None:
            seen.add(item.name)
            if value.formula.known is None and not value.static:
                yield Mask(item.name, value, is_at_hand=True)


def _before(access: Access, trace: Trace) -> list:  # type: ignore[type-arg]
    """The assignments that certainly came before an access, in its own function and no deeper block."""
    function, line = access.where.function, getattr(access.where.node, "lineno", 0)
    return [
        item
        for item in trace.assignments
        if item.where.function is function
        and getattr(item.where.node, "lineno", 0) < line
        and item.loops == access.loops[: len(item.loops)]
        and set(item.conditions) <= set(access.conditions)
    ]


def _derived(exposures: list[Exposure]) -> Iterator[Mask]:
    """`offsets < n` for each exposed axis, by the name of the index and that of its limit."""
    for exposure in exposures:
        axis, limit = exposure.axis, _limit_of(exposure)
        if axis is None or limit is None or axis.divisor is not None:
            continue
        name, size = limit
        seen: set[str] = set()
        for item in reversed(_before(exposure.access, exposure.trace)):
            value = item.value
            if item.name in seen or not isinstance(value, Number):
                continue
            seen.add(item.name)
            if value.poly == axis.index and value.shape is not None:
                condition = Number(value.poly, BOOL, value.shape, less(value.poly, size))
                yield Mask(f"{item.name} < {name}", condition, is_at_hand=False)
                break


def _limit_of(exposure: Exposure) -> tuple[str, Poly] | None:
    """A parameter of the function that holds the size at which the index must stop."""
    trace, function = exposure.trace, exposure.access.where.function
    if function is not trace.root:
        return None
    parameters = {parameter.name: Poly.of(Atom("param", parameter.name)) for parameter in function.parameters}
    sizes = []
    if exposure.sibling is not None:
        sizes += [name for name, poly in parameters.items() if poly == exposure.sibling.limit]
    launch, size = exposure.launch, exposure.tail.size
    if launch is not None and size is not None:
        sizes += [name for name, poly in parameters.items() if launch.on_host(poly) == size]
    return (sizes[0], parameters[sizes[0]]) if sizes else None


def _fitted(mask: Mask, shape: Shape) -> Mask | None:
    """The mask with as many axes as the access has, None where that cannot be told."""
    own = mask.value.shape
    if own is None:
        return None
    if len(own) == len(shape):
        fits = all(mine in (theirs, Poly.const(1)) for mine, theirs in zip(own, shape, strict=True))
        return mask if fits else None
    if len(own) != 1 or len(shape) != 2 or shape.count(own[0]) != 1:
        return None
    at = shape.index(own[0])
    index = "[:, None]" if at == 0 else "[None, :]"
    wide = replace(mask.value, shape=(own[0], Poly.const(1)) if at == 0 else (Poly.const(1), own[0]))
    text = f"{mask.text}{index}" if mask.text.isidentifier() else f"({mask.text}){index}"
    return replace(mask, text=text, value=wide)


def _joined(one: Mask, two: Mask) -> Mask:
    formula = both(as_condition(one.value), as_condition(two.value))
    value = replace(one.value, formula=formula)
    return Mask(f"{one.operand} & {two.operand}", value, one.is_at_hand and two.is_at_hand)


def written_mask(call: ast.Call, kind: str) -> ast.expr | None:
    """The mask as it is written in an access."""
    for keyword in call.keywords:
        if keyword.arg == "mask":
            return keyword.value
    position = 1 if kind == "load" else 2
    return call.args[position] if position < len(call.args) else None
