"""Masks that would bound an access: those that the kernel has at hand, and those its indices and sizes give.

A mask is only offered if the model, asked again with it, finds nothing exposed.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations

from tritonlint.model.arithmetic import as_condition
from tritonlint.model.bounds import Axis
from tritonlint.model.device import expanded
from tritonlint.model.dtypes import BOOL
from tritonlint.model.exposure import Exposure, exposed_by
from tritonlint.model.kernel import launches_of
from tritonlint.model.logic import both, compare, less
from tritonlint.model.records import Access, Assignment, Trace
from tritonlint.model.symbolic import ONE, Atom, Poly
from tritonlint.model.values import Number, Shape

MAX_TRIED = 24
"""Masks that are tried on one access before it is given up."""
_STRIDE = re.compile(r"stride|pitch|(^|_)ld[abc]?$", re.IGNORECASE)


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
    at_hand = [mask for named in _named(access, trace) for mask in _views(named, shape)]
    single = [*at_hand, *_derived(exposures, shape), *_without_sentinels(exposures, shape)]
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


def _before(access: Access, trace: Trace) -> list[Assignment]:
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


def _derived(exposures: list[Exposure], shape: Shape) -> Iterator[Mask]:
    """`offsets < n` for each exposed axis, by the name of the index and that of its limit."""
    for exposure in exposures:
        axis, limit = exposure.axis, _limit_of(exposure)
        if axis is None or limit is None or axis.divisor is not None:
            continue
        name, size = limit
        index = _index_of(axis, exposure.access, exposure.trace, shape)
        if index is not None:
            value = index.value
            condition = Number(value.poly, BOOL, value.shape, less(value.poly, size))
            text, _, suffix = index.text.partition("[")
            text = f"{text} < {name}"
            yield Mask(f"({text})[{suffix}" if suffix else text, condition, is_at_hand=False)


def _without_sentinels(exposures: list[Exposure], shape: Shape) -> Iterator[Mask]:
    """`labels != ignore_index`, for a loaded index that the kernel compares so elsewhere."""
    for exposure in exposures:
        sibling = exposure.sibling if exposure.kind == "sentinel" else None
        for comparison in exposure.trace.comparisons:
            test, limit = comparison.where.node, comparison.right.poly
            is_it = sibling is not None and comparison.where is sibling.where
            if not is_it or not isinstance(test, ast.Compare):
                continue
            name, value = ast.unparse(test.left), comparison.left
            if not any(item.name == name for item in _before(exposure.access, exposure.trace)):
                continue
            differs = comparison.operator in ("Eq", "NotEq")
            formula = compare("ne" if differs else "ge", value.poly - limit)
            text = f"{name} {'!=' if differs else '>='} {ast.unparse(test.comparators[0])}"
            for view in _views(
                Mask("", replace(value, formula=formula, dtype=BOOL), is_at_hand=False), shape
            ):
                yield replace(view, text=f"({text}){view.text}" if view.text else text)


def _index_of(axis: Axis, access: Access, trace: Trace, shape: Shape) -> Mask | None:
    """The index along an axis in the words of the kernel: a name it has, or `pid * BLOCK + lanes`."""
    names: dict[str, Number] = {}
    for item in reversed(_before(access, trace)):
        if isinstance(item.value, Number):
            names.setdefault(item.name, item.value)
    for wanted in (axis.index, Poly.of(axis.arange)):
        for name, value in names.items():
            views = _views(Mask(name, value, is_at_hand=False), shape)
            for view in (view for view in views if view.value.poly == wanted):
                if wanted == axis.index:
                    return view
                steps = [_named_as(step, names) for step in axis.steps]
                extent = axis.extent.atom
                if None in steps or extent is None or extent.kind != "param":
                    continue
                text, _, suffix = view.text.partition("[")
                whole = " + ".join([*(f"{step} * {extent.args[0]}" for step in steps), text])
                text = f"{whole}[{suffix}" if suffix else whole
                return Mask(text, replace(view.value, poly=axis.index), is_at_hand=False)
    return None


def _named_as(value: Poly, names: Mapping[str, Number]) -> str | None:
    return next((name for name, known in names.items() if known.poly == value and known.shape == ()), None)


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
        named = [name for name in parameters if not _STRIDE.search(name)]  # whose value may be a size's
        sizes += [name for name in named if launch.on_host(parameters[name]) == size]
    return (sizes[0], parameters[sizes[0]]) if sizes else None


def _views(mask: Mask, shape: Shape) -> Iterator[Mask]:
    """A mask with as many axes as the access has: as it is, or along one axis of two."""
    own = mask.value.shape
    if own is None:
        return
    if len(own) == len(shape):
        if all(mine in (theirs, ONE) for mine, theirs in zip(own, shape, strict=True)):
            yield mask
    elif len(own) == 1 and len(shape) == 2:
        for at, index in enumerate(("[:, None]", "[None, :]")):
            wide = expanded(mask.value, [at == 1, at == 0])
            if own[0] == shape[at] and isinstance(wide, Number):
                yield replace(mask, text=f"{mask.text}{index}", value=wide)


def _joined(one: Mask, two: Mask) -> Mask:
    formula = both(as_condition(one.value), as_condition(two.value))
    value = replace(one.value, formula=formula)
    return Mask(f"{one.operand} & {two.operand}", value, one.is_at_hand and two.is_at_hand)
