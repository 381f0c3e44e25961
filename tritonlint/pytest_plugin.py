"""`pytest --tritonlint`: settles findings with the launches that a test suite makes anyway.

Silent unless asked. Under pytest-xdist every worker makes the experiments of its own tests, and the process
that started them merges what they found out into one summary and one evidence file.
"""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tritonlint.evidence import Evidence
    from tritonlint.finding import Finding

_KEY = "tritonlint"


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options of `tritonlint confirm` that make sense in a test suite."""
    group = parser.getgroup("tritonlint", "settle findings in Triton kernels by running them")
    group.addoption("--tritonlint", action="store_true", help="Make the experiments and report verdicts.")
    group.addoption("--tritonlint-evidence", metavar="FILE", help="Write what was found out to this file.")
    group.addoption("--tritonlint-device", choices=["auto", "gpu", "cpu"], default="auto")
    group.addoption("--tritonlint-explore", action="store_true", help="As --explore of tritonlint confirm.")
    group.addoption("--tritonlint-seconds", type=float, default=60.0, help="For one experiment.")


def pytest_configure(config: pytest.Config) -> None:
    """Put the recorder in place, if it is asked for."""
    if config.getoption("--tritonlint") or config.getoption("--tritonlint-evidence"):
        config.pluginmanager.register(_Recorder(config), "tritonlint-recorder")


class _Recorder:
    """Records in this process; in the one that starts workers, only collects."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.is_worker = hasattr(config, "workerinput")
        self.starts_workers = not self.is_worker and bool(config.getoption("numprocesses", None))
        self.collected: list[dict[str, Any]] = []
        self._stack = contextlib.ExitStack()
        self._session: Any = None

    def pytest_sessionstart(self) -> None:
        """Catch launches from now on."""
        if self.starts_workers:
            return
        try:
            from tritonlint.confirm import backends, cuda_on_cpu
            from tritonlint.confirm.capture import Capture
            from tritonlint.confirm.session import Session
        except ImportError as error:
            raise pytest.UsageError(f"--tritonlint needs Triton, torch and numpy: {error}") from error
        from tritonlint.config import SettingsFinder

        try:
            backend = backends.choose(
                self.config.getoption("--tritonlint-device"),
                self.config.getoption("--tritonlint-seconds"),
                None,
            )
        except RuntimeError as error:
            raise pytest.UsageError(str(error)) from error
        self._session = Session(
            backend, SettingsFinder(), explores=self.config.getoption("--tritonlint-explore")
        )
        self._stack.enter_context(Capture(backend, self._session).installed())
        if not backend.is_gpu:
            self._stack.enter_context(cuda_on_cpu.installed())

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        """Stop catching, and say what was found out."""
        if self._session is None:
            return
        self._stack.close()
        from tritonlint import serial

        findings, evidence = self._session.finish()
        answer = {
            "evidence": evidence.as_json(),
            "launches": sum(self._session.launches.values()),
            "backend": self._session.backend.name,
            "troubles": self._session.troubles,
            "findings": [serial.to_data(finding) for finding in findings],
        }
        if self.is_worker:
            self.config.workeroutput[_KEY] = json.dumps(answer)  # type: ignore[attr-defined]
        else:
            self.collected.append(answer)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """A worker is done: take over what it found out."""
        answer = getattr(node, "workeroutput", {}).get(_KEY)
        if answer is not None:
            self.collected.append(json.loads(answer))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Show the verdicts, and write the evidence."""
        if self.is_worker or not self.collected:
            return
        from tritonlint.output.verdicts import summary

        evidence = self._merged()
        launches = sum(one["launches"] for one in self.collected)
        backend = ", ".join(sorted({one["backend"] for one in self.collected}))
        terminalreporter.section("tritonlint")
        for trouble in sorted({trouble for one in self.collected for trouble in one["troubles"]}):
            terminalreporter.write_line(trouble)
        for line in summary(self._findings(evidence), launches, backend).splitlines():
            terminalreporter.write_line(line)
        file = self.config.getoption("--tritonlint-evidence")
        if file:
            evidence.write(Path(file))

    def _merged(self) -> Evidence:
        from tritonlint.evidence import Evidence

        merged = Evidence()
        for one in self.collected:
            for entry in Evidence.from_json(one["evidence"]).entries.values():
                merged.add(entry)
        return merged

    def _findings(self, evidence: Evidence) -> list[Finding]:
        """What was found in some process, with the verdict that stands."""
        from tritonlint import serial
        from tritonlint.evidence import with_entry

        known = {
            finding.fingerprint: finding
            for one in self.collected
            for finding in map(serial.from_data, one["findings"])
        }
        return [with_entry(known[entry.fingerprint], entry) for entry in evidence.entries.values()]
