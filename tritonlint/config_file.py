"""Options as a TOML file gives them: read, checked, and explained where they are wrong."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tritonlint import catalog
from tritonlint.config import ConfigError, Options
from tritonlint.grades import Confidence, Severity
from tritonlint.nearest import did_you_mean
from tritonlint.patterns import compile_patterns
from tritonlint.policy import Policy
from tritonlint.selection import SelectorError, parse_selectors

if TYPE_CHECKING:
    from collections.abc import Callable
    from enum import StrEnum
    from pathlib import Path

_VERSION = re.compile(r"([0-9]+)\.([0-9]+)(\.[0-9]+)?")
_TARGET = re.compile(r"[a-z]+:[a-z0-9_+-]+")


def read_options(file: Path, *, root: Path, required: bool) -> Options | None:
    """Read the options of one file, whose patterns are relative to `root`.

    None for a pyproject.toml without a `[tool.tritonlint]` table, unless `required`.

    Raises:
        ConfigError: the file cannot be read, is no TOML, or holds an unknown key or a bad value.
    """
    text = _text_of(file)
    if file.name == "pyproject.toml" and "tritonlint" not in text and not required:
        return None
    table = _table_of(file, text)
    if table is None and not required:
        return None
    return _Reader(file, root, text).options({} if table is None else table)


def stated_keys(file: Path) -> dict[str, int | None]:
    """The keys that a file sets, as `fail-on` and `autotune.allowed-paths`, each with its line if known.

    Raises:
        ConfigError: as for `read_options`.
    """
    text = _text_of(file)
    reader, table = _Reader(file, file.parent, text), _table_of(file, text)
    found: dict[str, int | None] = {}
    for key, value in table.items() if isinstance(table, dict) else ():
        inner = value if key in ("autotune", "constexpr") and isinstance(value, dict) else {}
        found |= {f"{key}.{name}": reader.line_of(name) for name in inner} or {key: reader.line_of(key)}
    return found


def _table_of(file: Path, text: str) -> object:
    """The table that speaks of tritonlint; None for a pyproject.toml without one."""
    import tomllib

    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{file}: not valid TOML: {error}") from error
    if file.name != "pyproject.toml":
        return document
    tool = document.get("tool")
    return tool.get("tritonlint") if isinstance(tool, dict) else None


def _text_of(file: Path) -> str:
    try:
        return file.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise ConfigError(f"{file}: cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file}: not valid UTF-8, which TOML requires: {error.reason}") from error


class _Reader:
    """Turns the table of one file into `Options`, or into an error that points at the line."""

    def __init__(self, file: Path, root: Path, text: str) -> None:
        self._file = file
        self._root = root
        self._lines = text.splitlines()

    def options(self, table: object) -> Options:
        """Everything the table says."""
        said = self._read(table, _KEYS, "tritonlint")
        packs = said.get("packs", catalog.DEFAULT_PACKS)
        for key in ("select", "ignore"):
            if key in said:
                said[key] = self._selectors(key, said[key], packs)
        if "per_file_ignores" in said:
            said["per_file_ignores"] = tuple(
                (pattern, self._selectors(pattern, words, packs))
                for pattern, words in said["per_file_ignores"]
            )
        if "baseline" in said:
            said["baseline"] = self._file.absolute().parent / said["baseline"]
        policy = self._policy(said)
        return Options(**said, policy=policy, file=self._file, root=self._root)

    def _policy(self, said: dict[str, Any]) -> Policy:
        """What rules are told, taken out of what is said."""
        autotune = self._read(said.pop("autotune", {}), _AUTOTUNE_KEYS, "autotune")
        constexpr = self._read(said.pop("constexpr", {}), _CONSTEXPR_KEYS, "constexpr")
        return Policy(
            target_version=said.pop("target_version", ()),
            target=said.pop("target", ()),
            tuning_paths=autotune.get("allowed_paths", ()),
            tuning_switches=autotune.get("environment_switches", ()),
            static_names=constexpr.get("static_names", ()),
            root=self._root,
        )

    def _read(self, table: object, keys: dict[str, Callable[[Any], Any]], name: str) -> dict[str, Any]:
        """Check one table against the keys it may have."""
        if not isinstance(table, dict):
            raise self._error(name, f"`{name}` must be a table, not {_show(table)}")
        values = {}
        for key, value in table.items():
            if key not in keys:
                raise self._error(key, f"unknown key `{key}` in `{name}`{_nearest_key(key, keys)}")
            try:
                values[key.replace("-", "_")] = keys[key](value)
            except ValueError as error:
                raise self._error(key, f"`{key}` = {_show(value)} {error}") from error
        return values

    def _selectors(self, key: str, words: tuple[str, ...], packs: tuple[str, ...]) -> tuple[str, ...]:
        try:
            return parse_selectors(words, packs)
        except SelectorError as error:
            raise self._error(key, f"`{key}`: {error}") from error
        except catalog.PackError as error:
            raise self._error("packs", str(error)) from error

    def _error(self, key: str, message: str) -> ConfigError:
        line = self.line_of(key)
        return ConfigError(f"{self._file}:{line}: {message}" if line else f"{self._file}: {message}")

    def line_of(self, key: str) -> int | None:
        """The line that most likely sets `key`: TOML readers keep no positions, so the text is searched."""
        assignment = re.compile(rf"""(^|[\s.{{,"']){re.escape(key)}["']?\s*=""")
        header = re.compile(rf"""^\s*\[(.*[\[."'\s])?{re.escape(key)}["'\s]*\]""")
        ours = self._file.name != "pyproject.toml"
        for number, line in enumerate(self._lines, start=1):
            if line.lstrip().startswith("[") and self._file.name == "pyproject.toml":
                ours = "tritonlint" in line
            if ours and (assignment.search(line) or header.search(line)):
                return number
        return None


def _nearest_key(key: str, keys: dict[str, Callable[[Any], Any]]) -> str:
    return did_you_mean(key.replace("_", "-"), keys) or f"; its keys are {', '.join(keys)}"


def _show(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)


def _strings(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError("is not a list of strings")
    return tuple(value)


def _path(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError('is not the path of a file, as "tritonlint-baseline.json"')
    return value


def _patterns(value: Any) -> tuple[str, ...]:
    patterns = _strings(value)
    try:
        compile_patterns(patterns)
    except ValueError as error:
        raise ValueError(f"holds a pattern that is not valid in a .gitignore: {error}") from error
    return patterns


def _patterns_to_strings(value: Any) -> tuple[tuple[str, tuple[str, ...]], ...]:
    if not isinstance(value, dict):
        raise ValueError('is not a table of patterns, as `"tests/*" = ["TL301"]`')
    _patterns(list(value))
    return tuple((pattern, _strings(words)) for pattern, words in value.items())


def _one_of(choices: type[StrEnum]) -> Callable[[Any], StrEnum]:
    def parse(value: Any) -> StrEnum:
        valid = [choice.value for choice in choices]
        if value not in valid:
            hint = did_you_mean(value, valid) if isinstance(value, str) else ""
            raise ValueError(f"is not one of {', '.join(valid)}{hint}")
        return choices(value)

    return parse


def _versions(value: Any) -> tuple[tuple[int, int], ...]:
    if isinstance(value, float):
        raise ValueError("is a number, in which 3.1 and 3.10 are the same: write it in quotes")
    versions = []
    for item in _strings([value] if isinstance(value, str) else value):
        match = _VERSION.fullmatch(item)
        if match is None:
            raise ValueError('is not a version of Triton, as "3.6", or a list of them')
        versions.append((int(match[1]), int(match[2])))
    return tuple(versions)


def _targets(value: Any) -> tuple[str, ...]:
    targets = _strings([value] if isinstance(value, str) else value)
    if not all(_TARGET.fullmatch(target) for target in targets):
        raise ValueError('is not a target, as "cuda:90" or "hip:gfx942", or a list of them')
    return targets


def _table(value: Any) -> Any:
    return value


_KEYS: dict[str, Callable[[Any], Any]] = {
    "select": _strings,
    "ignore": _strings,
    "per-file-ignores": _patterns_to_strings,
    "exclude": _patterns,
    "min-confidence": _one_of(Confidence),
    "fail-on": _one_of(Severity),
    "baseline": _path,
    "target-version": _versions,
    "target": _targets,
    "packs": _strings,
    "autotune": _table,
    "constexpr": _table,
}

_AUTOTUNE_KEYS: dict[str, Callable[[Any], Any]] = {
    "allowed-paths": _patterns,
    "environment-switches": _strings,
}

_CONSTEXPR_KEYS: dict[str, Callable[[Any], Any]] = {"static-names": _strings}
