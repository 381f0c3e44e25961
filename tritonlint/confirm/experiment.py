"""What an experiment is given and what it answers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import torch

from tritonlint.confirm.backends import Backend, private_cache
from tritonlint.confirm.capture import TunedLaunch, Tuning
from tritonlint.confirm.copies import Copies
from tritonlint.confirm.launches import Launch, PerKernel, fresh
from tritonlint.confirm.sites import Site
from tritonlint.finding import Finding, Verdict

NOISE = 1e-3
"""Relative difference under which two results count as equal: sums in another order are no error."""
_CODE = re.compile(r"`([A-Za-z_]\w*)`")


@dataclass(frozen=True)
class Outcome:
    """What one experiment said of one finding."""

    verdict: Verdict
    text: str
    """One line, without a full stop."""
    details: dict[str, Any] = field(default_factory=dict)
    """Numbers for the report: lists and plain values only."""
    backend: str | None = None
    """What spoke, if not the backend of the session."""


def confirmed(text: str, backend: str | None = None, **details: Any) -> Outcome:
    """The claim is true."""
    return Outcome(Verdict.CONFIRMED, text, details, backend)


def refuted(text: str, backend: str | None = None, **details: Any) -> Outcome:
    """The claim is not true of what was launched."""
    return Outcome(Verdict.REFUTED, text, details, backend)


def not_reached(text: str, backend: str | None = None, **details: Any) -> Outcome:
    """What was launched does not come to the point that the claim is about."""
    return Outcome(Verdict.NOT_REACHED, text, details, backend)


def not_testable(text: str) -> Outcome:
    """Nothing here can tell."""
    return Outcome(Verdict.NOT_TESTABLE, text)


class Lab:
    """Where experiments are made: the backend, and what has been measured of a launch already."""

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self._probes: PerKernel[dict[tuple[object, ...], list[Site]]] = PerKernel(lambda function: {})

    def copies(self, launch: Launch) -> Copies:
        """Copies of the arguments of a launch, between guards.

        Raises:
            TooLarge: there is not enough memory for them.
        """
        return Copies(launch.arguments, self.backend.memory)

    def probe(self, launch: Launch) -> list[Site]:
        """Where the accesses of a launch lie; launches that are alike are probed once."""
        known, signature = self._probes.of(launch.function), launch.signature
        if signature not in known:
            known[signature] = self.backend.probe(launch, self.copies(launch))
        return known[signature]

    def run(self, launch: Launch, copies: Copies | None = None) -> Copies:
        """Run a launch on copies of its arguments, new ones if none are given; they hold the results."""
        copies = copies or self.copies(launch)
        self.backend.launch(launch.with_arguments(copies.arguments))
        self.backend.synchronize()
        return copies

    def run_rebuilt(self, launch: Launch, copies: Copies | None = None) -> Copies:
        """Run a launch of a kernel that is compiled anew, with whatever is put into the front end now."""
        with private_cache():
            return self.run(launch.with_function(fresh(launch.function)), copies)


class Experiment:
    """Settles findings of some rules by looking at launches, one at a time."""

    codes: tuple[str, ...] = ()
    needs_gpu: str | None = None
    """What only a GPU shows, for experiments that need one."""
    needs_before = False
    """Whether it needs the arguments as they were before an autotuner tried anything."""

    def try_launch(
        self, finding: Finding, launch: Launch, tuned: TunedLaunch | None, lab: Lab
    ) -> Outcome | None:
        """What a launch says of a finding; None if it says nothing.

        Raises:
            TooLarge: there is not enough memory.
            NoFix: there is no fixed kernel to compare with.
            Exception: whatever the kernel or the compiler raises.
        """
        return None

    def weigh(self, finding: Finding, tunings: list[Tuning], *, is_timed: bool) -> Outcome | None:
        """What the tunings of the kernel say of a finding, at the end of the program.

        Without times, as on a CPU, nobody knows which configuration wins.
        """
        return None


def names_in(finding: Finding, known: Iterable[str]) -> list[str]:
    """Names that the message of a finding has in backticks and that are known, in order."""
    there = set(known)
    return list(dict.fromkeys(name for name in _CODE.findall(finding.message) if name in there))


def sizes_of(finding: Finding, launch: Launch) -> str:
    """The numbers of a launch in a few words, those that the finding names first."""
    return launch.described(names_in(finding, launch.arguments))


def distance(one: torch.Tensor, other: torch.Tensor) -> float:
    """How far two tensors are apart, relative to the length of the second; NaN equals NaN."""
    a, b = one.double().flatten(), other.double().flatten()
    both = torch.isnan(a) & torch.isnan(b)
    a, b = a.masked_fill(both, 0.0), b.masked_fill(both, 0.0)
    length = float(torch.linalg.vector_norm(b))
    apart = float(torch.linalg.vector_norm(a - b))
    return apart / length if length else apart
