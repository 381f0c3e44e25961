"""How exposed accesses are weighed and described, shared by the rules about masks."""

from __future__ import annotations

from collections.abc import Iterator

from tritonlint.finding import Confidence, Related
from tritonlint.model import Kernel, Place, Proof
from tritonlint.model.exposure import Exposure, constexprs_of
from tritonlint.model.records import Where
from tritonlint.model.symbolic import Poly

_VERBS = {"load": "reads", "store": "writes"}


def confidence_of(exposure: Exposure) -> Confidence:
    """HIGH with a launch or a twin's mask at hand, MEDIUM for a stepped index, LOW for a bare width."""
    if exposure.kind == "sentinel" or exposure.tail.ragged is Proof.YES or exposure.sibling is not None:
        return Confidence.MEDIUM if exposure.kind == "extent" else Confidence.HIGH
    axis = exposure.axis
    if axis is None or not axis.steps:
        return Confidence.LOW
    if exposure.kind == "index":
        return Confidence.MEDIUM if exposure.tail.stepped else Confidence.LOW
    if exposure.tail.stepped or exposure.hinted:
        return Confidence.MEDIUM
    if exposure.launch is None and _is_row_stride(exposure):
        return Confidence.MEDIUM
    return Confidence.LOW


def _is_row_stride(exposure: Exposure) -> bool:
    """Whether the axis walks rows of a tensor (a runtime stride) by program id."""
    axis = exposure.axis
    if axis is None or any(atom.kind == "trip" for step in axis.steps for atom in step.closure):
        return False
    static = constexprs_of(exposure.trace)
    return any(atom.kind == "param" and atom.args[0] not in static for atom in axis.stride.surface)


def index_of(exposure: Exposure) -> str:
    """The unbounded index in a few words."""
    assert exposure.axis is not None
    text = str(exposure.axis.index)
    return text if len(text) <= 60 else f"... + {Poly.of(exposure.axis.arange)}"


def limit_of(exposure: Exposure) -> str:
    """The size the index should stay below, as far as it is known."""
    if exposure.sibling is not None:
        return f"`{exposure.sibling.limit}`"
    if exposure.tail.size is not None:
        return f"`{exposure.tail.size}`"
    return "the tensor's size"


def verb_of(exposure: Exposure) -> str:
    """What the access does to memory."""
    return _VERBS.get(exposure.access.kind, "updates")


def place_of(kernel: Kernel, where: Where) -> Place:
    """The place of a record, in whichever file it stands."""
    return Place(where.function.module.source, where.node, where.function.name)


def related_of(kernel: Kernel, exposure: Exposure) -> Iterator[Related]:
    """The places that show it: the twin's mask, the launch, the callers."""
    if exposure.sibling is not None:
        yield place_of(kernel, exposure.sibling.where).note(
            f"the same index is kept below `{exposure.sibling.limit}` here"
        )
    launch = exposure.launch
    if launch is not None:
        size = f", {exposure.tail.size} rounded up to whole tiles" if exposure.tail.size is not None else ""
        yield Place(launch.module.source, launch.node, None).note(f"launched here{size}")
    for call in exposure.access.where.calls:
        yield Place(call.caller.module.source, call.node, call.caller.name).note(
            f"called here by `{call.caller.name}`"
        )


def strongest(found: list[Exposure]) -> Exposure:
    """The exposure with the best evidence among those of one access."""
    return max(found, key=lambda exposure: confidence_of(exposure).rank)
