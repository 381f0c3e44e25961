"""What a client says in `initializationOptions` and in `workspace/didChangeConfiguration`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tritonlint.catalog import DEFAULT_PACKS, PackError
from tritonlint.config import Options, SettingsFinder
from tritonlint.finding import Confidence
from tritonlint.selection import SelectorError, parse_selectors

_RUNS = ("onType", "onSave")


class SettingsError(ValueError):
    """Something that a client says cannot be used; the message says what."""


@dataclass(frozen=True)
class ClientSettings:
    """The settings of an editor, which have the last word as a command line has."""

    options: Options = field(default_factory=Options)
    config: Path | None = None
    evidence: tuple[str, ...] = ()
    runs_on_type: bool = True

    def finder(self) -> SettingsFinder:
        """Gives the settings of files, with what the client says on top."""
        return SettingsFinder(self.options, self.config)

    @classmethod
    def read(cls, said: Any) -> ClientSettings:
        """Read what came, with or without `tritonlint` around it; None and empty values say nothing.

        Raises:
            SettingsError: a value is of another kind than it must be.
        """
        if isinstance(said, Mapping) and isinstance(said.get("tritonlint"), Mapping):
            said = said["tritonlint"]
        if isinstance(said, Mapping) and isinstance(said.get("settings"), Mapping):
            said = said["settings"]
        if not isinstance(said, Mapping):
            return cls()
        run = said.get("run") or _RUNS[0]
        if run not in _RUNS:
            raise SettingsError(f"`tritonlint.run` is `{run}`: it takes `onType` or `onSave`")
        config = said.get("config") or None
        return cls(
            Options(
                select=_selectors(said, "select"),
                ignore=_selectors(said, "ignore"),
                min_confidence=_confidence(said.get("minConfidence")),
            ),
            Path(config) if isinstance(config, str) else None,
            _texts(said, "evidence") or (),
            run == _RUNS[0],
        )


def _confidence(said: Any) -> Confidence | None:
    if not said:
        return None
    try:
        return Confidence(said)
    except ValueError:
        known = ", ".join(f"`{one}`" for one in Confidence)
        raise SettingsError(f"`tritonlint.minConfidence` is `{said}`: it takes {known}") from None


def _selectors(said: Mapping[str, Any], name: str) -> tuple[str, ...] | None:
    words = _texts(said, name)
    if words is None:
        return None
    try:
        return parse_selectors(words, DEFAULT_PACKS)
    except (SelectorError, PackError) as error:
        raise SettingsError(f"`tritonlint.{name}`: {error}") from None


def _texts(said: Mapping[str, Any], name: str) -> tuple[str, ...] | None:
    value = said.get(name) or None
    if value is None:
        return None
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list | tuple) or not all(isinstance(one, str) for one in value):
        raise SettingsError(f"`tritonlint.{name}` must be a list of texts")
    return tuple(value)
