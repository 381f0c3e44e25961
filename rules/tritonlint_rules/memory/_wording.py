"""How exposed accesses are weighed and described, shared by the rules about masks."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

from tritonlint.finding import Confidence, Related
from tritonlint.model import Place, Proof
from tritonlint.model.exposure import Exposure
from tritonlint.model.records import Where
from tritonlint.model.symbolic import Poly
from tritonlint.model.values import Number

_VERBS = {"load": "reads", "store": "writes"}


def confidence_of(exposure: Exposure) -> Confidence:
    """HIGH where a twin's mask and a launch agree, MEDIUM on the word of either, LOW for a bare width.

    LOW also where the package tests the size on the way and nobody can say to what end, for an index
    through a quotient, which passes the end of its last group only, and where a launch alone speaks about
    a tensor that was allocated with other sizes.
    """
    if exposure.kind != "extent" and (exposure.stays_in_its_group or _may_be_settled(exposure)):
        return Confidence.LOW
    if exposure.is_pruned_away or exposure.lies_in_padded_rows or exposure.loads_sentinels:
        return Confidence.LOW
    if exposure.kind == "sentinel" and exposure.is_tested_by_another:
        return Confidence.LOW  # a helper is written for all that call it
    if exposure.kind in ("sentinel", "extent", "scatter"):
        return Confidence.MEDIUM
    if exposure.sibling is None:
        return _without_a_twin(exposure)
    if exposure.is_made_over:
        return Confidence.LOW
    if exposure.tail.ragged is Proof.YES:
        return Confidence.HIGH if exposure.ends_there is Proof.YES else Confidence.MEDIUM
    if exposure.kind == "index" and not exposure.tail.stepped:
        return Confidence.LOW
    axis = exposure.axis
    # A literal width beside a literal limit: two parts of a row, each as it should be.
    if axis is not None and not axis.steps and axis.extent.constant is not None:
        return Confidence.LOW
    if axis is None or axis.steps or exposure.sibling_is_same_tensor or exposure.sibling_is_same_place:
        return Confidence.MEDIUM
    certain = exposure.launch is None or (exposure.witnesses >= 2 and exposure.is_block)
    return Confidence.MEDIUM if certain else Confidence.LOW


def _may_be_settled(exposure: Exposure) -> bool:
    """Whether a test of the size may answer for the access: not where the kernel masks its tiles elsewhere."""
    steps = exposure.axis is not None and exposure.axis.steps
    return exposure.is_tested_somehow and not (steps and exposure.witnesses >= 2)


def _without_a_twin(exposure: Exposure) -> Confidence:
    """How far a launch, or the kernel's own loops, can be trusted where nothing else masks the index."""
    axis = exposure.axis
    if exposure.kind == "open" and not _is_plain(exposure):
        return Confidence.LOW
    if exposure.tail.ragged is Proof.YES:
        if exposure.ends_there is not Proof.YES or (axis is not None and axis.extent.constant is not None):
            return Confidence.LOW
        return Confidence.HIGH if exposure.kind == "index" else Confidence.MEDIUM
    if axis is None or not axis.steps:
        return Confidence.LOW
    if exposure.kind == "index":
        return Confidence.MEDIUM if exposure.tail.stepped else Confidence.LOW
    if _walks_a_table(exposure.tail.size):
        return Confidence.LOW
    if (exposure.tail.stepped and _is_clear(exposure.tail.size)) or exposure.hinted:
        return Confidence.MEDIUM
    return Confidence.LOW


def _is_plain(exposure: Exposure) -> bool:
    """Whether the tiles are counted along a size that is the tensor's own, and not by a product along K.

    Where nothing else in the kernel masks the index, a loop over K in whole blocks, or a size put together
    by the host, is more often a convention between packing and kernel than a mistake.
    """
    size = exposure.tail.size
    if exposure.axis is None or size is None:
        return True
    if exposure.walks_matrix and exposure.flag is None:
        return False
    if exposure.is_looped and all(atom.kind == "hostparam" for atom in size.closure):
        return False
    return all(atom.kind in _OWN_SIZES for atom in size.closure)


_OWN_SIZES = frozenset(("dim", "numel", "len", "hostparam", "product of", "cdiv", "floordiv", "param"))


def _is_clear(size: Poly | None) -> bool:
    """Whether it can be told what a loop runs over: `n`, a length in memory, and not a `min` of several."""
    unclear = ("either", "unknown", "carried", "left", "min", "where", "pow")
    return size is not None and all(atom.kind not in unclear for atom in size.closure)


def _walks_a_table(size: Poly | None) -> bool:
    """Whether a loop runs from one entry of a table to the next: the host may have checked them all."""
    kinds = {atom.kind for atom in size.closure} if size is not None else set()
    return "load" in kinds and "carried" in kinds


def index_of(exposure: Exposure) -> str:
    """The unbounded index in a few words: its formula if that is short, else the author's own."""
    assert exposure.axis is not None
    index = exposure.axis.index
    text = str(index)
    if len(text) <= LONGEST:
        return text
    for assignment in exposure.trace.assignments:
        value = assignment.value
        # To write out a long formula takes longer than to find it: only one of as many terms can be it.
        if (
            isinstance(value, Number)
            and len(value.poly.terms) == len(index.terms)
            and str(value.poly) == text
        ):
            return assignment.name
    return f"... + {Poly.of(exposure.axis.arange)}"


LONGEST = 48
"""Formulas longer than this are not read: the author's words, or none, take their place."""


def limit_of(exposure: Exposure) -> str:
    """The size the index should stay below, in the kernel's words where it has some."""
    if exposure.sibling is not None:
        return _quoted(exposure.sibling.limit)
    size = exposure.tail.size
    if size is None:
        return "the tensor's size"
    if exposure.launch is not None:
        own = {p.name for p in exposure.trace.root.parameters}
        names = [str(atom.args[0]) for atom, value in exposure.launch.values.items() if value == size]
        for name in sorted((n for n in names if n in own), key=lambda name: "stride" in name):
            return f"`{name}`"
    return _quoted(size)


def _quoted(size: Poly) -> str:
    text = str(size)
    return f"`{text}`" if len(text) <= LONGEST and _is_readable(size) else "the tensor's size"


def _is_readable(size: Poly) -> bool:
    """Whether a size has no part that only the model has a word for."""
    return not re.search(r"\.\.\.|\?|unknown\(|product of\(|iteration|load\(", str(size))


def verb_of(exposure: Exposure) -> str:
    """What the access does to memory."""
    return _VERBS.get(exposure.access.kind, "updates")


def place_of(where: Where) -> Place:
    """The place of a record, in whichever file it stands."""
    return Place(where.function.module.source, where.node, where.function.name)


def related_of(exposure: Exposure) -> Iterator[Related]:
    """The places that show it: the twin's mask, the launch, the callers."""
    if exposure.sibling is not None and exposure.kind == "sentinel":
        limit = exposure.sibling.limit
        yield place_of(exposure.sibling.where).note(f"the loaded index is compared with `{limit}` here")
    elif exposure.kind == "scatter" and exposure.sibling is not None:
        yield place_of(exposure.sibling.where).note("the index is loaded under a mask here")
    elif exposure.sibling is not None:
        yield place_of(exposure.sibling.where).note(f"the same index is kept below {limit_of(exposure)} here")
    launch = exposure.launch
    if launch is not None:
        yield Place(launch.module.source, launch.node).note(f"launched here{_how(exposure)}")
    for call in exposure.access.where.calls:
        place = Place(call.caller.module.source, call.node, call.caller.name)
        yield place.note(f"called here by `{call.caller.name}`")


def _how(exposure: Exposure) -> str:
    """What the launch shows of the size."""
    size, axis = exposure.tail.size, exposure.axis
    if size is None or axis is None or exposure.launch is None or not _is_readable(size):
        return ""
    return f" with {size}, which nothing makes a multiple of {exposure.launch.on_host(axis.extent)}"


def strongest_by_access(exposures: Iterable[Exposure]) -> Iterator[Exposure]:
    """Of each access, the exposure with the best evidence: one access is one finding."""
    by_access: dict[int, list[Exposure]] = defaultdict(list)
    for exposure in exposures:
        by_access[id(exposure.access.where.node)].append(exposure)
    for found in by_access.values():
        yield max(found, key=lambda exposure: confidence_of(exposure).rank)
