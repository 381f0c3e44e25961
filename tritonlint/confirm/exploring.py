"""What a launch shows that no finding claims: accesses out of bounds, undefined lanes, races.

Each is a difference that was seen, with the place where it comes from. Kernels for which an experiment could
hang or means nothing are left out: programs that wait for each other, and pointers made of numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from triton.language.semantic import TritonSemantic as Semantic

from tritonlint.confirm.copies import Copies
from tritonlint.confirm.experiment import NOISE, Lab, Outcome, confirmed, distance
from tritonlint.confirm.experiments.bounds import measured
from tritonlint.confirm.launches import Launch, makes_pointers, reached
from tritonlint.confirm.undefined_lanes import VALUE, Poisoned
from tritonlint.observed import MaskedLoadWithoutOther, OutOfBoundsAccess, StoreRace
from tritonlint.rule import Rule

_WAITS = re.compile(r"\bwhile\b|\batomic_(?:cas|xchg)\b|inline_asm")
"""In the text of a kernel whose programs may wait for each other, or look at the machine."""
_ATOMIC = re.compile(r"\batomic_\w+")
SINGLE_SITES = 8
"""So many loads are poisoned one by one, to say which it is."""


@dataclass(frozen=True)
class Observed:
    """One thing that a launch showed."""

    rule: type[Rule]
    file: str
    line: int
    column: int | None
    """None where the whole function is meant, whose `def` stands on the line."""
    message: str
    outcome: Outcome


def explore(launch: Launch, lab: Lab) -> Iterator[Observed]:
    """What a launch shows.

    Raises:
        TooLarge: there is not enough memory for copies.
        Exception: whatever the kernel or the compiler raises.
    """
    if makes_pointers(launch.function):
        return
    yield from _out_of_bounds(launch, lab)
    text = "\n".join(function.src for function in reached(launch.function))
    if _WAITS.search(text):
        return
    yield from _undefined_lanes(launch, lab)
    if launch.programs > 1 and not _ATOMIC.search(text):
        yield from _race(launch, lab)


def _out_of_bounds(launch: Launch, lab: Lab) -> Iterator[Observed]:
    for site in lab.probe(launch):
        if site.bad:
            which = f"`{site.tensor}`" if site.tensor is not None else "every tensor"
            message = f"`tl.{site.kind}` leaves {which} in a launch, and no rule had claimed it"
            message = message.replace("`tl.atomic`", "an atomic")
            outcome = measured(site, launch, launch.described())
            yield Observed(OutOfBoundsAccess, site.file, site.line, site.column, message, outcome)


def _undefined_lanes(launch: Launch, lab: Lab) -> Iterator[Observed]:
    every = Poisoned(launch)
    plain, poisoned = _poisoned(launch, lab, every, 0), _poisoned(launch, lab, every)
    if not every.sites or not _differ(plain, poisoned):
        return
    for site in list(every.sites)[:SINGLE_SITES]:
        name = _differ(plain, _poisoned(launch, lab, Poisoned(launch, site)))
        if name is not None:
            file, line, column = site
            message = f"lanes that the mask of this load switches off reach `{name}`, and it has no `other`"
            text = f"`{name}` changes with what is in them; {launch.described()}"
            yield Observed(MaskedLoadWithoutOther, file, line, column, message, confirmed(text, tensor=name))


def _poisoned(launch: Launch, lab: Lab, poison: Poisoned, value: int = VALUE) -> Copies:
    copies = lab.copies(launch)
    with poison.installed(copies, value, is_gpu=lab.backend.is_gpu):
        return lab.run_rebuilt(launch, copies)


def _race(launch: Launch, lab: Lab) -> Iterator[Observed]:
    plain, again = lab.run(launch), lab.run(launch)
    with _reversed_programs():
        reverse = lab.run_rebuilt(launch)
    for how, other in (("when it is launched again", again), ("with its programs in reverse", reverse)):
        name = _differ(plain, other)
        if name is not None:
            code = launch.function.fn.__code__
            message = f"what `{launch.name}` leaves in `{name}` depends on the order of its programs"
            text = f"`{name}` differs {how}; {launch.described()}"
            outcome = confirmed(text, tensor=name)
            yield Observed(StoreRace, code.co_filename, code.co_firstlineno, None, message, outcome)
            return


@contextmanager
def _reversed_programs() -> Iterator[None]:
    """While this lasts, the first program of a grid is the last, on each axis."""
    own = Semantic.program_id

    def reverse(semantic: Any, axis: int) -> Any:
        last = semantic.sub(semantic.num_programs(axis), semantic.to_tensor(1), False)
        return semantic.sub(last, own(semantic, axis), False)

    Semantic.program_id = reverse
    try:
        yield
    finally:
        Semantic.program_id = own


def _differ(one: Copies, other: Copies) -> str | None:
    """The tensor of which two runs leave different values, if any."""
    for name in one.changed(other):
        if distance(one.tensors[name], other.tensors[name]) > NOISE:
            return name
    return None
