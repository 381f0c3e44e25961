"""What an experiment is given and what it answers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import torch

from tritonlint.confirm.backends import Backend
from tritonlint.confirm.capture import TunedLaunch, Tuning
from tritonlint.confirm.copies import Copies
from tritonlint.confirm.launches import Launch
from tritonlint.confirm.sites import Site
from tritonlint.finding import Finding, Verdict

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
        self._probes: dict[tuple[int, tuple[object, ...]], list[Site]] = {}

    def copies(self, launch: Launch, device: str | None = None) -> Copies:
        """Copies of the arguments of a launch, between guards.

        Raises:
            TooLarge: there is not enough memory for them.
        """
        return Copies(launch.arguments, self.backend.memory, device)

    def probe(self, launch: Launch) -> list[Site]:
        """Where the accesses of a launch lie; launches that are alike are probed once."""
        key = (id(launch.function), launch.signature)
        if key not in self._probes:
            self._probes[key] = self.backend.probe(launch, self.copies(launch))
        return self._probes[key]

    def run(self, launch: Launch) -> Copies:
        """Run a launch on copies of its arguments, which hold the results afterwards."""
        copies = self.copies(launch)
        self.backend.launch(launch.with_arguments(copies.arguments))
        self.backend.synchronize()
        return copies


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


def shared_names(launch: Launch, finding: Finding) -> list[str]:
    """The compile-time constants of a launch that a finding speaks of."""
    return names_in(finding, launch.constants)


def distance(one: torch.Tensor, other: torch.Tensor) -> float:
    """How far two tensors are apart, relative to the length of the second; NaN equals NaN."""
    a, b = one.double().flatten(), other.double().flatten()
    both = torch.isnan(a) & torch.isnan(b)
    a, b = a.masked_fill(both, 0.0), b.masked_fill(both, 0.0)
    length = float(torch.linalg.vector_norm(b))
    apart = float(torch.linalg.vector_norm(a - b))
    return apart / length if length else apart


def written(before: Copies, after: Copies) -> list[str]:
    """The tensors that a launch wrote to, by their values before and after."""
    return after.changed(before)
