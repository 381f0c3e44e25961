"""Claims meet launches: which findings a launch can settle, the experiments on it, the verdicts."""

from __future__ import annotations

import ast
import contextlib
import io
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import monotonic
from types import CodeType
from typing import Any, TextIO

import torch
from triton.runtime.jit import JITFunction

from tritonlint.config import SettingsFinder
from tritonlint.confirm import experiments, observations
from tritonlint.confirm.backends import Backend
from tritonlint.confirm.capture import Caller, TunedLaunch, Tuning
from tritonlint.confirm.copies import Copies, TooLarge
from tritonlint.confirm.experiment import Experiment, Lab, Outcome, not_reached, not_testable
from tritonlint.confirm.experiments.bounds import Bounds
from tritonlint.confirm.exploring import Observed, explore
from tritonlint.confirm.launches import Launch, PerKernel, reached
from tritonlint.confirm.probe_interpreted import OutOfTime
from tritonlint.confirm.rewritten import NoFix
from tritonlint.engine import Context, check_file
from tritonlint.evidence import Entry, Evidence, digest, with_entry
from tritonlint.files import Found, mentions_triton
from tritonlint.finding import Confidence, Finding, Verdict
from tritonlint.roots import package_top
from tritonlint.syntax import first_line
from tritonlint.wording import counted

LAUNCHES = 3
"""So many launches that differ are tried for each finding; the first that confirms it ends the search."""
ATTEMPTS = 4 * LAUNCHES
"""So many are tried if some say nothing: they take another branch, for instance."""


@dataclass(eq=False)
class Claim:
    """A finding, and what has been found out about it."""

    finding: Finding
    experiment: Experiment | None
    outcomes: list[Outcome] = field(default_factory=list)
    seen: set[tuple[object, ...]] = field(default_factory=set)
    """The signatures of launches that were tried."""
    file: str = ""
    """The file of the finding, without links."""
    lines: tuple[int, int] | None = None
    """Those of the kernel that it stands in, None if it stands elsewhere: at a launch, at a tuner."""
    is_guess: bool = False
    """Whether `check` would not show it, for its low confidence: it counts only if it is confirmed."""

    @property
    def is_open(self) -> bool:
        """Whether another launch could say more."""
        if self.experiment is None or len(self.seen) >= ATTEMPTS:
            return False
        verdicts = [outcome.verdict for outcome in self.outcomes]
        telling = len(verdicts) - verdicts.count(Verdict.NOT_REACHED)
        return telling < LAUNCHES and Verdict.CONFIRMED not in verdicts


@dataclass
class Watched:
    """A kernel, launched by one function: what its launches can settle, and whether that is done with."""

    kernel: JITFunction
    launcher: CodeType | None
    """Both are kept, since an identity is used again for another object once its owner is gone."""
    claims: list[Claim]
    launches: int = 0
    is_done: bool = False


class Session:
    """The findings of every file whose kernels a program launches, and what its launches say of them.

    Args:
        backend: where experiments are made.
        finder: gives the settings of every file.
        tell: is told in a few words what is being done.
        explores: whether to look for what no finding claims, too.
    """

    def __init__(
        self,
        backend: Backend,
        finder: SettingsFinder,
        tell: Callable[[str], None] | None = None,
        *,
        explores: bool = False,
    ) -> None:
        self.backend, self.lab = backend, Lab(backend)
        self.claims: list[Claim] = []
        self.troubles: list[str] = []
        """What went wrong with experiments, in words."""
        self._finder, self._tell, self._explores = finder, tell or (lambda text: None), explores
        self._explored: PerKernel[set[tuple[object, ...]]] = PerKernel(lambda kernel: set())
        """The signatures of the launches of each kernel that were explored."""
        self._observed: list[Observed] = []
        self._folder = os.getcwd()
        """Where findings are relative to, wherever the program goes meanwhile."""
        self._context = Context()
        self._read: dict[str, list[Claim]] = {}
        self._texts: dict[str, bytes] = {}
        self._tunings: list[Tuning] = []
        self._watched: dict[tuple[int, int], Watched] = {}
        """By the identities of a kernel and of the code launching it; to hash code is to hash all of it."""

    @property
    def launches(self) -> dict[str, int]:
        """How often the program launched each kernel, by its name."""
        counts: Counter[str] = Counter()
        for one in self._watched.values():
            counts[one.kernel.fn.__name__] += one.launches
        return dict(counts)

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
                with self._at_home():
                    self._read[path] = self._check(Path(path), data)
                self.claims += self._read[path]
        return self._read[path]

    def _check(self, path: Path, data: bytes) -> list[Claim]:
        settings = self._finder.of_file(path)
        found = Found(path, package_top(path) or path.parent)
        try:
            tree = ast.parse(data)
        except (SyntaxError, ValueError):
            tree = ast.Module([], [])  # then there is one finding, and it says so
        self._texts[str(path)] = data
        everything = replace(settings, min_confidence=Confidence.LOW)
        return [
            Claim(
                finding,
                experiments.of(finding.code),
                file=str(path),
                lines=_lines_of(tree, finding),
                is_guess=finding.confidence.rank < settings.min_confidence.rank,
            )
            for finding in check_file(found, data, everything, self._context)
        ]

    @contextlib.contextmanager
    def _at_home(self) -> Iterator[None]:
        """In the folder that the run started in, and without what experiments would print."""
        with contextlib.chdir(self._folder), contextlib.redirect_stdout(io.StringIO()):
            yield

    # --- what a capture tells ------------------------------------------------------------------

    def wants(self, kernel: JITFunction, code: CodeType | None) -> bool:
        """Whether a claim on it is open, or nobody has looked yet."""
        watched = self._watched.get((id(kernel), id(code)))
        if watched is None:
            watched = self._watched[id(kernel), id(code)] = Watched(kernel, code, [])
            watched.claims = self._claims_on(kernel, Caller(code) if code is not None else None)
        watched.launches += 1
        return not watched.is_done

    def launched(self, launch: Launch, caller: Caller | None, tuned: TunedLaunch | None) -> None:
        """Make the experiments that a launch allows, before it happens."""
        signature = launch.signature
        watched = self._watched[id(launch.function), id(caller.code if caller is not None else None)]
        for claim in watched.claims:
            if claim.is_open and signature not in claim.seen:
                claim.seen.add(signature)
                self._tell(f"{claim.finding.code} in {launch.name}")
                with self._at_home():
                    outcome = self._try(claim, launch, tuned)
                if outcome is not None:
                    claim.outcomes.append(outcome)
        explored = self._explored.of(launch.function)
        if self._explores and signature not in explored and len(explored) < LAUNCHES:
            explored.add(signature)
            self._explore(launch)
        explores = self._explores and len(explored) < LAUNCHES
        watched.is_done = not explores and not any(claim.is_open for claim in watched.claims)

    def _explore(self, launch: Launch) -> None:
        """Look for what no finding claims."""
        self._tell(f"exploring {launch.name}")
        state = _random_state()
        try:
            with self._at_home():
                self._observed += explore(launch, self.lab)
        except TooLarge as reason:
            self.troubles.append(f"`{launch.name}` could not be explored: {reason}")
        except OutOfTime:
            self.troubles.append(f"`{launch.name}` could not be explored in {self.backend.seconds:.0f} s")
        except Exception as error:  # noqa: BLE001 - no experiment may end the user's program
            self.troubles.append(f"`{launch.name}` could not be explored: {_said(error)}")
        finally:
            _restore(state)

    def _claims_on(self, kernel: JITFunction, caller: Caller | None) -> list[Claim]:
        """The claims on a kernel or on what it calls, in its files and in the one that launches it."""
        codes = [one.fn.__code__ for one in reached(kernel)]
        functions = [(one.co_name, os.path.realpath(one.co_filename), one.co_firstlineno) for one in codes]
        files = dict.fromkeys(file for _, file, _ in functions)
        if caller is not None:
            files[caller.file] = None
        claims = [claim for file in files for claim in self.read(Path(file))]
        return [claim for claim in claims if _speaks_of(claim, functions, caller)]

    def _try(self, claim: Claim, launch: Launch, tuned: TunedLaunch | None) -> Outcome | None:
        experiment = claim.experiment
        assert experiment is not None
        if experiment.needs_gpu is not None and not self.backend.is_gpu:
            return not_testable(experiment.needs_gpu)
        start, state = monotonic(), _random_state()
        try:
            return experiment.try_launch(claim.finding, launch, tuned, self.lab)
        except (NoFix, TooLarge) as reason:
            return not_testable(str(reason))
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
        self._tunings.append(tuning)

    def broke(self, error: Exception, kernel: str) -> None:
        """Keep what nobody foresaw: it belongs into the report, not into the user's program."""
        self.troubles.append(f"launches of `{kernel}` could not be looked at: {_said(error)}")

    # --- at the end ----------------------------------------------------------------------------

    def finish(self) -> tuple[list[Finding], Evidence]:
        """The findings with their verdicts, and the evidence."""
        with self._at_home():
            return self._finished()

    def _finished(self) -> tuple[list[Finding], Evidence]:
        self.claims += list(self._observations())
        evidence, findings = Evidence(), []
        digests: dict[tuple[str, str | None], str] = {}
        for claim in self.claims:
            finding = claim.finding
            outcome = self._verdict(claim)
            if claim.is_guess and outcome.verdict is not Verdict.CONFIRMED:
                continue
            place = (finding.path, finding.kernel)
            if place not in digests:
                digests[place] = digest(self._texts[claim.file], finding.kernel)
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

    def _observations(self) -> Iterator[Claim]:
        """What exploring showed and no claim on an access of those lines says already."""
        claimed = {
            (claim.file, line)
            for claim in self.claims
            if isinstance(claim.experiment, Bounds)
            for line in range(claim.finding.range.start.line, claim.finding.range.end.line + 1)
        }
        new = [one for one in self._observed if (os.path.realpath(one.file), one.line) not in claimed]
        for file, finding, outcome in observations.findings(new, self._finder):
            path = os.path.realpath(file)
            self._texts.setdefault(path, file.read_bytes())
            yield Claim(finding, None, [outcome], file=path)

    def _verdict(self, claim: Claim) -> Outcome:
        outcomes = list(claim.outcomes)
        if claim.experiment is None and not outcomes:
            return not_testable("no experiment settles this rule")
        if claim.experiment is not None:
            tunings = self._tunings_of(claim.finding)
            weighed = claim.experiment.weigh(claim.finding, tunings, is_timed=self.backend.is_gpu)
            outcomes += [weighed] if weighed is not None else []
        for verdict in Verdict:
            fitting = [outcome for outcome in outcomes if outcome.verdict is verdict]
            if verdict is Verdict.REFUTED and len(fitting) > 1:
                first = fitting[0]
                others = counted(len(fitting) - 1, "other kind")
                text = f"{first.text} (and in {others} of launch)"
                return replace(first, text=text)
            if fitting:
                return fitting[0]
        launches = sum(one.launches for one in self._watched.values() if claim in one.claims)
        if launches:
            times = counted(launches, "time")
            return not_reached(f"launched {times}, but this place was not reached")
        return not_reached("its kernel was not launched")

    def _tunings_of(self, finding: Finding) -> list[Tuning]:
        path = os.path.realpath(finding.path)
        named = [one for one in self._tunings if one.kernel.fn.__name__ == finding.kernel]
        here = [one for one in named if os.path.realpath(one.kernel.fn.__code__.co_filename) == path]
        return here or named


_CALLED_BY = re.compile(r"called here by `(\w+)`")


def _speaks_of(claim: Claim, functions: list[tuple[str, str, int]], caller: Caller | None) -> bool:
    """Whether a finding is about a kernel that is launched, or stands in the function that launches it."""
    finding, lines = claim.finding, claim.lines
    callers = {name for other in finding.related for name in _CALLED_BY.findall(other.message)}
    if callers and not callers & {name for name, _, _ in functions}:
        return False  # of a helper, the finding is about what other kernels hand to it
    if finding.kernel is not None:
        if lines is None:  # at the launch or the tuner of a kernel of that name
            return any(name == finding.kernel for name, _, _ in functions)
        return any(
            (name, file) == (finding.kernel, claim.file) and lines[0] <= first <= lines[1]
            for name, file, first in functions
        )
    if caller is None:
        return False
    first, last = caller.lines
    return claim.file == caller.file and first <= finding.range.start.line <= last


def _lines_of(tree: ast.Module, finding: Finding) -> tuple[int, int] | None:
    """The lines of the function that a finding names, if it stands in it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == finding.kernel:
            first, last = first_line(node), node.end_lineno or node.lineno
            if first <= finding.range.start.line <= last:
                return first, last
    return None


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


def tell_on(stream: TextIO) -> Callable[[str], None] | None:
    """What says on a terminal what is being done; None where it is no terminal."""
    if stream is None or not stream.isatty():  # Python has none where it was closed before it started
        return None
    return lambda text: print(f"\r\x1b[Ktritonlint: {text[:70]}", end="\r", file=stream, flush=True)
