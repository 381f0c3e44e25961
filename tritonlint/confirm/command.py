"""`tritonlint confirm`: a program is run with its launches caught, and its findings get verdicts."""

from __future__ import annotations

import contextlib
import gc
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tritonlint.config import SettingsFinder
from tritonlint.confirm import backends, cuda_on_cpu, program
from tritonlint.confirm.capture import Capture
from tritonlint.confirm.session import Session, tell_on
from tritonlint.evidence import Evidence
from tritonlint.finding import Finding


@dataclass(frozen=True)
class Confirmed:
    """What a run of a program came to."""

    status: int
    """The exit status of the program."""
    findings: list[Finding]
    """With their verdicts."""
    evidence: Evidence
    troubles: list[str]
    launches: dict[str, int]
    """By kernel."""
    backend: str


def confirm(
    target: str,
    arguments: Sequence[str],
    finder: SettingsFinder,
    *,
    is_module: bool = False,
    device: str = "auto",
    seconds: float = 60.0,
    memory: float | None = None,
    explores: bool = False,
) -> Confirmed:
    """Run a script or module and settle the findings of the kernels it launches.

    Args:
        target: a script's path, or a module's name.
        arguments: of the program.
        finder: gives the settings of every file.
        is_module: whether `target` is a module.
        device: `auto`, `gpu` or `cpu`.
        seconds: that one experiment may take.
        memory: bytes that its copies may take; by default a part of what is free.
        explores: whether to look for what no finding claims, too.

    Raises:
        RuntimeError: a GPU is asked for and there is none.
    """
    backend = backends.choose(device, seconds, memory)
    session = Session(backend, finder, tell_on(sys.stderr), explores=explores)
    if not is_module:
        session.read(Path(target))
    moved = contextlib.nullcontext() if backend.is_gpu else cuda_on_cpu.installed()
    gc.freeze()  # what was read so far stays, and need not be walked again
    gc.enable()  # the program may count on it
    with Capture(backend, session).installed(), moved:
        status = program.run(target, arguments, is_module=is_module)
    findings, evidence = session.finish()
    return Confirmed(status, findings, evidence, session.troubles, session.launches, backend.name)
