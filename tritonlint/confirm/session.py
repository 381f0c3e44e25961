"""Claims meet launches: which findings a launch can settle, the experiments on it, the verdicts."""

from __future__ import annotations

import os
import sys
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any

import torch
from triton.runtime.jit import JITFunction

from tritonlint.config import SettingsFinder
from tritonlint.confirm import experiments
from tritonlint.confirm.backends import Backend
from tritonlint.confirm.capture import Caller, TunedLaunch, Tuning
from tritonlint.confirm.copies import Copies, TooLarge
from tritonlint.confirm.experiment import Experiment, Lab, Outcome, not_testable
from tritonlint.confirm.launches import Launch, reached
from tritonlint.confirm.probe_interpreted import OutOfTime
from tritonlint.engine import Context, check_file, mentions_triton
from tritonlint.evidence import Entry, Evidence, digest, with_entry
from tritonlint.files import Found
from tritonlint.finding import Finding, Verdict
from tritonlint.roots import package_top

LAUNCHES = 3
"""So many launches that differ are tried for each finding; the first that confirms it ends the search."""
_STANDING = (Verdict.CONFIRMED, Verdict.NOT_REACHED, Verdict.REFUTED, Verdict.NOT_TESTABLE)
"""Of several answers the first of these stands."""


@dataclass
class Claim:
    """A finding, and what has been found out about it."""

    finding: Finding
    experiment: Experiment | None
    outcomes: list[Outcome] = field(default_factory=list)
    seen: set[tuple[object, ...]] = field(default_factory=set)
    """The signatures of launches that were tried."""
    launches: int = 0
    """How often its kernel was launched."""

    @property
    def is_open(self) -> bool:
        """Whether another launch could say more."""
        settled = any(outcome.verdict is Verdict.CONFIRMED for outcome in self.outcomes)
        return self.experiment is not None and not settled and len(self.seen) < LAUNCHES


class Session:
    """The findings of every file whose kernels a program launches, and what its launches say of them.

    Args:
        backend: where experiments are made.
        finder: gives the settings of every file.
        tell: is told in a few words what is being done.
    """

    def __init__(
        self, backend: Backend, finder: SettingsFinder, tell: Callable[[str], None] | None = None
    ) -> None:
        self.backend, self.lab = backend, Lab(backend)
        self.claims: list[Claim] = []
        self.troubles: list[str] = []
        """What went wrong with experiments, in words."""
        self.launches: defaultdict[str, int] = defaultdict(int)
        """By kernel."""
        self._finder, self._tell = finder, tell or (lambda text: None)
        self._context = Context()
        self._read: dict[str, list[Claim]] = {}
        self._tunings: defaultdict[int, list[Tuning]] = defaultdict(list)
        self._tuned_names: dict[int, set[tuple[str, str]]] = {}
        self._reached: dict[int, list[tuple[str, str]]] = {}

    def read(self, file: Path) -> list[Claim]:
        """The claims of a file; it is checked the first time it is asked for."""
        path = os.path.realpath(file)
        if path not in self._read:
            self._read[path] = []
            try:
                data = Path(path).read_bytes()
            except OSError:
                return []
            if mentions_triton(data):
                self._tell(f"checking {os.path.basename(path)}")
                self._read[path] = self._check(Path(path), data)
                self.claims += self._read[path]
        return self._read[path]

    def _check(self, path: Path, data: bytes) -> list[Claim]:
        settings = self._finder.of_file(path)
        found = Found(path, package_top(path) or path.parent)
        return [
            Claim(finding, experiments.of(finding.code))
            for finding in check_file(found, data, settings, self._context)
        ]

    # --- what a capture tells ------------------------------------------------------------------

    def launched(self, launch: Launch, caller: Caller | None, tuned: TunedLaunch | None) -> None:
        """Make the experiments that a launch allows, before it happens."""
        self.launches[launch.name] += 1
        for claim in self._claims_of(launch, caller):
            claim.launches += 1
            if claim.is_open and launch.signature not in claim.seen:
                claim.seen.add(launch.signature)
                self._tell(f"{claim.finding.code} in {launch.name}")
                outcome = self._try(claim, launch, tuned)
                if outcome is not None:
                    claim.outcomes.append(outcome)

    def _claims_of(self, launch: Launch, caller: Caller | None) -> list[Claim]:
        """The claims on a kernel or on what it calls, in its files and in the one that launches it."""
        key = id(launch.function)
        if key not in self._reached:
            self._reached[key] = [
                (one.fn.__name__, os.path.realpath(one.fn.__code__.co_filename))
                for one in reached(launch.function)
            ]
        names = {name for name, _ in self._reached[key]}
        files = dict.fromkeys(file for _, file in self._reached[key])
        if caller is not None:
            files[os.path.realpath(caller.file)] = None
        claims = [claim for file in files for claim in self.read(Path(file))]
        return [claim for claim in claims if _speaks_of(claim.finding, names, caller)]

    def _try(self, claim: Claim, launch: Launch, tuned: TunedLaunch | None) -> Outcome | None:
        experiment = claim.experiment
        assert experiment is not None
        if experiment.needs_gpu is not None and not self.backend.is_gpu:
            return not_testable(experiment.needs_gpu)
        start, state = monotonic(), _random_state()
        try:
            return experiment.try_launch(claim.finding, launch, tuned, self.lab)
        except TooLarge as error:
            return not_testable(str(error))
        except OutOfTime:
            return not_testable(
                f"took longer than {monotonic() - start:.0f} s ({launch.programs:,} programs)"
            )
        except Exception as error:  # noqa: BLE001 - an experiment that fails says nothing of the program
            return not_testable(f"the experiment failed: {_said(error)}")
        finally:
            _restore(state)

    def keep(self, kernel: JITFunction, arguments: Mapping[str, Any]) -> Copies | None:
        """Copies of what a tuner is about to work on, where a finding says that this changes them."""
        file = Path(kernel.fn.__code__.co_filename)
        claims = [one for one in self.read(file) if one.finding.kernel == kernel.fn.__name__]
        if any(one.is_open and one.experiment is not None and one.experiment.needs_before for one in claims):
            tensors = {name: value for name, value in arguments.items() if name in kernel.arg_names}
            return Copies(tensors, self.backend.memory)
        return None

    def tuned(self, tuning: Tuning) -> None:
        """Remember what an autotuner decided."""
        self._tunings[id(tuning.kernel)].append(tuning)
        code = tuning.kernel.fn.__code__
        self._tuned_names.setdefault(id(tuning.kernel), set()).add(
            (tuning.kernel.fn.__name__, os.path.realpath(code.co_filename))
        )

    def broke(self, error: Exception, kernel: str) -> None:
        """Keep what nobody foresaw: it belongs into the report, not into the user's program."""
        self.troubles.append(f"launches of `{kernel}` could not be looked at: {_said(error)}")

    # --- at the end ----------------------------------------------------------------------------

    def finish(self) -> tuple[list[Finding], Evidence]:
        """The findings with their verdicts, and the evidence."""
        evidence, findings = Evidence(), []
        digests: dict[tuple[str, str | None], str] = {}
        for claim in self.claims:
            finding = claim.finding
            outcome = self._verdict(claim)
            place = (finding.path, finding.kernel)
            if place not in digests:
                digests[place] = digest(Path(finding.path).read_bytes(), finding.kernel)
            entry = Entry(
                finding.fingerprint,
                finding.code,
                finding.kernel,
                finding.path,
                finding.range.start.line,
                outcome.verdict,
                outcome.text,
                outcome.backend or self.backend.name,
                digests[place],
                outcome.details,
            )
            evidence.add(entry)
            findings.append(with_entry(finding, entry))
        return sorted(findings, key=lambda one: one.sort_key), evidence

    def _verdict(self, claim: Claim) -> Outcome:
        if claim.experiment is None:
            return not_testable("no experiment settles this rule")
        weighed = claim.experiment.weigh(claim.finding, self._tunings_of(claim.finding))
        outcomes = [*claim.outcomes, *([weighed] if weighed is not None else [])]
        for verdict in _STANDING:
            fitting = [outcome for outcome in outcomes if outcome.verdict is verdict]
            if verdict is Verdict.REFUTED and len(fitting) > 1:
                first = fitting[0]
                text = f"{first.text} (and in {len(fitting) - 1} more kinds of launch)"
                return Outcome(verdict, text, first.details, first.backend)
            if fitting:
                return fitting[0]
        if claim.launches:
            return Outcome(
                Verdict.NOT_REACHED,
                f"launched {claim.launches} time{'s' * (claim.launches > 1)}, but this place was not reached",
            )
        return Outcome(Verdict.NOT_REACHED, "its kernel was not launched")

    def _tunings_of(self, finding: Finding) -> list[Tuning]:
        path = os.path.realpath(finding.path)
        exact = [key for key, names in self._tuned_names.items() if (finding.kernel, path) in names]
        loose = [
            key for key, names in self._tuned_names.items() if finding.kernel in {name for name, _ in names}
        ]
        return [tuning for key in exact or loose for tuning in self._tunings[key]]


def _speaks_of(finding: Finding, names: set[str], caller: Caller | None) -> bool:
    """Whether a finding is about a kernel, or stands in the host function that launches it."""
    if finding.kernel is not None or caller is None:
        return finding.kernel in names
    in_function = caller.first <= finding.range.start.line <= caller.last
    return in_function and os.path.realpath(finding.path) == os.path.realpath(caller.file)


def _said(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[-1][:160] if lines else 'no word'}"


def _random_state() -> tuple[object, object]:
    device = (
        torch.cuda.get_rng_state_all() if torch.cuda.is_available() and torch.cuda.is_initialized() else None
    )
    return torch.get_rng_state(), device


def _restore(state: tuple[object, object]) -> None:
    torch.set_rng_state(state[0])
    if state[1] is not None:
        torch.cuda.set_rng_state_all(state[1])


def tell_on(stream: object) -> Callable[[str], None] | None:
    """What says on a terminal what is being done; None where it is no terminal."""
    if not (hasattr(stream, "isatty") and stream.isatty()):
        return None

    def tell(text: str) -> None:
        print(f"\r\x1b[Ktritonlint: {text[:70]}", end="\r", file=sys.stderr, flush=True)  # noqa: T201

    return tell
