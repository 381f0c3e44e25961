"""How sums in half precision are weighed, shared by the rules about them."""

from __future__ import annotations

from collections.abc import Iterator

from tritonlint.finding import Confidence, Related
from tritonlint.model import Place
from tritonlint.model.precision import Halfness, HalfSum
from tritonlint.model.records import Where

_CONFIDENCE = {Halfness.SHOWN: Confidence.HIGH, Halfness.EXPECTED: Confidence.MEDIUM}


def confidence_of(item: HalfSum) -> Confidence:
    """HIGH where the type is shown, MEDIUM where the kernel expects it, else LOW, as of a sum of few terms.

    LOW also where the sum over a tile is cast to a wider type by hand before it is added up: that is meant.
    MEDIUM at most where only the sum over a tile is in half: some kernels trade that for speed.
    """
    if item.is_short or item.is_promoted:
        return Confidence.LOW
    if item.is_per_tile and item.halfness is Halfness.SHOWN:
        return Confidence.MEDIUM
    return _CONFIDENCE.get(item.halfness, Confidence.LOW)


def place_of(where: Where) -> Place:
    """A record's place."""
    return Place(where.function.module.source, where.node, where.function.name)


def launch_note(item: HalfSum) -> Iterator[Related]:
    """The launch that shows the type."""
    if item.launch is not None:
        yield Place(item.launch.module.source, item.launch.node).note(
            "launched here with half-precision tensors"
        )


def type_of(item: HalfSum) -> str:
    """The type in words."""
    if item.dtype.is_known:
        return f"`{item.dtype}`"
    names = sorted({name.lstrip("=") for name in item.dtype.elements})
    if not names:
        return "half precision"
    if len(names) == 1:
        return f"the type of `{names[0]}`"
    return "the types of " + ", ".join(f"`{name}`" for name in names[:-1]) + f" and `{names[-1]}`"
