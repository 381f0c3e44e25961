"""What a project says of itself and a rule may ask: target versions, where tuning is fine, what is static."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tritonlint.patterns import matches


@dataclass(frozen=True, slots=True)
class Policy:
    """The part of the settings that rules see; the rest is for the engine. Empty means nothing is said."""

    target_version: tuple[tuple[int, int], ...] = ()
    """Triton versions the code must work with, as (major, minor)."""
    target: tuple[str, ...] = ()
    """What the code is compiled for, as `cuda:90`."""
    tuning_paths: tuple[str, ...] = ()
    """Path patterns of files in which tuning at run time is accepted: `autotune.allowed-paths`."""
    tuning_switches: tuple[str, ...] = ()
    """Environment variables that gate tuning: `autotune.environment-switches`."""
    static_names: tuple[str, ...] = ()
    """Host-side names whose value never changes in a run: `constexpr.static-names`."""
    root: Path | None = None
    """The folder that path patterns are relative to."""

    def allows_tuning(self, file: Path | None) -> bool:
        """Whether tuning at run time is accepted in `file`."""
        return file is not None and matches(self.tuning_paths, self.root, file)
