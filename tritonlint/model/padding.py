"""Tiles that a mask cuts to the size they cover: their extent was meant to be rounded up."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tritonlint.model.records import Compared, Trace
from tritonlint.model.symbolic import ONE, ZERO, Atom, Poly

if TYPE_CHECKING:
    from tritonlint.model.launch import Launch

_STEPS = frozenset(("pid", "programs", "trip", "carried", "left", "unknown"))
_FIRST = frozenset(("pid", "trip"))
_GREATER = {"Lt": False, "LtE": False, "Gt": True, "GtE": True}


def is_padded(launch: Launch, trace: Trace, extent: Poly, size: Poly) -> bool:
    """Whether a mask over the first tile says nothing at all where its extent is `size` itself.

    `lanes < n` over `BLOCK` lanes is idle if `BLOCK` is `n`, and so is the boundary check of a block
    pointer: whoever wrote it had a greater `BLOCK` in mind.
    """
    for slack in _least_slack(trace, extent):
        least = slack.substitute({atom: ZERO for atom in slack.closure if atom.kind in _FIRST})
        if least != ZERO and launch.on_host(least) == ZERO:
            return True
    for access in trace.block_accesses:
        axes = zip(access.pointer.shape, access.pointer.block_shape, strict=False)
        for axis, (length, block) in enumerate(axes):
            checked = axis in (access.checked or ())
            if checked and block == extent and length != extent and launch.on_host(length) == size:
                return True
    return False


def covers_a_row(trace: Trace, extent: Poly) -> bool:
    """Whether one tile takes all of an axis: its lanes are compared with a length as they are."""
    for lanes, slack in _upper_bounds(trace, extent):
        limit = slack + Poly.of(lanes)
        steps = any(atom.kind in _STEPS for atom in limit.surface)
        if not steps and limit.constant is None and not limit.closure & extent.closure:
            return True
    return False


def _least_slack(trace: Trace, extent: Poly) -> Iterator[Poly]:
    """What is left of each comparison `... >= 0` at that end of the tile where it is least."""
    for lanes, slack, sign in _bounds(trace, extent):
        rest = slack - Poly.of(lanes).scaled(sign)
        yield rest if sign > 0 else rest - lanes.args[1] + ONE


def _upper_bounds(trace: Trace, extent: Poly) -> Iterator[tuple[Atom, Poly]]:
    for lanes, slack, sign in _bounds(trace, extent):
        if sign < 0:
            yield lanes, slack


def _bounds(trace: Trace, extent: Poly) -> Iterator[tuple[Atom, Poly, int]]:
    """Comparisons of a tile's lanes as `slack >= 0`, with the sign that the lanes have in it."""
    for comparison in trace.comparisons:
        slack = _slack(comparison)
        for atom in slack.surface if slack is not None else ():
            sign = slack.terms.get((atom,)) if slack is not None else None
            made_of_it = atom.kind == "arange" and extent.closure <= atom.args[1].closure
            if made_of_it and sign in (1, -1):
                assert slack is not None
                yield atom, slack, 1 if sign == 1 else -1


def _slack(comparison: Compared) -> Poly | None:
    if comparison.operator not in _GREATER:
        return None
    less, more = comparison.left.poly, comparison.right.poly
    if _GREATER[comparison.operator]:
        less, more = more, less
    return more - less if comparison.operator.endswith("E") else more - less - ONE
