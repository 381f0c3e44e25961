"""Masks put where they are missing, shared by the rules about accesses."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from tritonlint import edits
from tritonlint.finding import Applicability, Confidence, Edit, Fix
from tritonlint.model.exposure import Exposure
from tritonlint.model.masks import mask_for
from tritonlint.model.records import Access, Trace
from tritonlint_rules.memory._wording import confidence_of

_NEUTRAL = {"sum": "0.0", "cumsum": "0.0", "max": 'float("-inf")', "min": 'float("inf")'}
"""What a reduction is to read in lanes that are off."""


def masked(exposure: Exposure, every: Iterable[Exposure]) -> Fix | None:
    """One access under the mask that bounds it, beside the one it has; not for what is LOW."""
    if confidence_of(exposure) is Confidence.LOW:
        return None
    access, trace = exposure.access, exposure.trace
    exposures = [one for one in every if one.access is access]
    call, source = access.where.node, access.where.function.module.source
    if not isinstance(call, ast.Call) or any(one.kind == "scatter" for one in exposures):
        return None
    if any(isinstance(argument, ast.Starred) for argument in call.args):
        return None
    mask = mask_for(exposures)
    if mask is None:
        return None
    old = edits.argument_of(call, "mask", 1 if access.kind == "load" else 2)
    changes: list[Edit] = []
    if old is None:
        other = _other(access, trace, call)
        changes.append(edits.with_argument(source, call, f"mask={mask.text}{other}"))
    else:
        before = source.text_of(old)
        is_simple = isinstance(old, ast.Name | ast.Subscript | ast.Call)
        joined = f"{before if is_simple else f'({before})'} & {mask.operand}"
        changes.append(edits.replaced(source, old, joined))
    kind = Applicability.SAFE if mask.is_at_hand or exposure.sibling is not None else Applicability.UNSAFE
    return Fix(f"mask with `{mask.text}`", kind, tuple(changes))


def _other(access: Access, trace: Trace, call: ast.Call) -> str:
    """What lanes that are off read, where a reduction or a product takes them in."""
    if access.kind != "load" or edits.argument_of(call, "other") is not None:
        return ""
    for item in trace.reductions:
        if access.index in item.operand.loads and item.op in _NEUTRAL:
            return f", other={_NEUTRAL[item.op]}"
    for dot in trace.dots:
        if any(access.index in getattr(side, "loads", ()) for side in (dot.left, dot.right)):
            return ", other=0.0"
    return ""
