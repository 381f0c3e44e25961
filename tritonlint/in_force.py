"""The settings in force for a path, and where each comes from: a file, the command line, or nowhere."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tritonlint import catalog
from tritonlint.config import Options, Settings
from tritonlint.files import display_path
from tritonlint.patterns import matches


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a value was said."""

    file: str | None = None
    line: int | None = None
    key: str | None = None
    option: str | None = None

    def __str__(self) -> str:
        if self.option is not None:
            return self.option
        return f"{self.file}:{self.line}" if self.line is not None else str(self.file)


@dataclass(frozen=True, slots=True)
class Setting:
    """A value in force, as plain data; without an origin it is the default."""

    key: str
    value: Any
    origins: tuple[Origin, ...]


@dataclass(frozen=True, slots=True)
class InForce:
    """All that decides what is found in a file, or below a folder."""

    path: str
    file: str | None
    """The configuration file."""
    settings: tuple[Setting, ...]
    ignored_here: tuple[tuple[str, tuple[str, ...]], ...]
    """The patterns of `per-file-ignores` that fit the path, and what they silence."""
    is_excluded: bool
    rules: tuple[str, ...]
    """The codes that run."""
    silent: tuple[str, ...]
    """The codes that exist and do not run."""


def in_force(path: Path, settings: Settings, command_line: Options) -> InForce:
    """What holds for a path.

    Args:
        path: a file or a folder; it need not exist.
        settings: of the path, as `SettingsFinder` has them.
        command_line: what the command line says.

    Raises:
        ConfigError: the configuration file changed and is bad now.
        PackError: a rule pack cannot be loaded.
    """
    is_folder = path.is_dir()
    ignored = () if is_folder else settings.ignored_in(path)
    known = catalog.load(settings.packs)
    checks = [code for code in known.documented if code not in catalog.OBSERVED]
    running = tuple(code for code in checks if settings.enables(code, ignored))
    return InForce(
        path=display_path(path),
        file=display_path(settings.file) if settings.file is not None else None,
        settings=tuple(_settings(settings, command_line)),
        ignored_here=tuple(
            (pattern, selectors)
            for pattern, selectors in settings.per_file_ignores
            if not is_folder and matches((pattern,), settings.root, path)
        ),
        is_excluded=_is_excluded(path, settings),
        rules=running,
        silent=tuple(code for code in checks if code not in running),
    )


def _is_excluded(path: Path, settings: Settings) -> bool:
    """Whether a walk leaves out a path or a folder above it."""
    absolute = Path(os.path.abspath(path))
    above = [folder for folder in absolute.parents if settings.root and folder.is_relative_to(settings.root)]
    return settings.excludes(absolute, folder=absolute.is_dir()) or any(
        settings.excludes(folder, folder=True) for folder in above if folder != settings.root
    )


def _settings(settings: Settings, command_line: Options) -> list[Setting]:
    from tritonlint.config_file import stated_keys

    lines = stated_keys(settings.file) if settings.file is not None else {}
    shown = display_path(settings.file) if settings.file is not None else None
    policy = settings.policy
    baseline = display_path(settings.baseline) if settings.baseline is not None else None
    values: dict[str, Any] = {
        "select": settings.selection.select or None,
        "ignore": settings.selection.ignore,
        "per-file-ignores": dict(settings.per_file_ignores),
        "exclude": settings.exclude,
        "min-confidence": settings.min_confidence.value,
        "fail-on": settings.fail_on.value,
        "baseline": baseline,
        "target-version": [f"{major}.{minor}" for major, minor in policy.target_version],
        "target": policy.target,
        "packs": settings.packs,
        "autotune.allowed-paths": policy.tuning_paths,
        "autotune.environment-switches": policy.tuning_switches,
        "constexpr.static-names": policy.static_names,
    }
    found = []
    for key, value in values.items():
        in_file = [Origin(shown, lines[key], key)] if key in lines else []
        said = getattr(command_line, key.replace("-", "_"), None) is not None
        option = [Origin(option=f"--{key}")] if said else []
        if key == "ignore" and command_line.select is None:
            origins = in_file + option  # they add up
        elif key == "ignore":
            origins = option  # `--select` puts both of the file's aside
        else:
            origins = option or in_file
        found.append(Setting(key, value, tuple(origins)))
    return found


def as_json(found: InForce) -> str:
    """For programs."""
    return (
        json.dumps(
            {
                "path": found.path,
                "file": found.file,
                "settings": {
                    one.key: {"value": one.value, "from": [asdict(origin) for origin in one.origins]}
                    for one in found.settings
                },
                "per_file_ignores": [{"pattern": one, "rules": rules} for one, rules in found.ignored_here],
                "excluded": found.is_excluded,
                "rules": found.rules,
                "rules_off": found.silent,
            },
            indent=2,
        )
        + "\n"
    )


def as_text(found: InForce) -> str:
    """For people."""
    width = max(len(one.key) for one in found.settings)
    lines = [f"path: {found.path}", f"configuration: {found.file or 'none'}", ""]
    for one in found.settings:
        origin = " and ".join(map(str, one.origins)) or "default"
        lines.append(f"{one.key:<{width}} = {_shown(one)}  ({origin})")
    lines.append("")
    for pattern, selectors in found.ignored_here:
        lines.append(f'silenced here by per-file-ignores: {", ".join(selectors)}, for "{pattern}"')
    if found.is_excluded:
        lines.append("excluded: checked only if it is named")
    lines.append(f"rules that run: {' '.join(found.rules)}")
    lines.append(f"rules that do not: {' '.join(found.silent) or 'none'}")
    return "".join(line + "\n" for line in lines)


def _shown(setting: Setting) -> str:
    """A value as TOML has it."""
    if setting.value is None:
        return "the rules that are on by default" if setting.key == "select" else "none"
    if isinstance(setting.value, dict):
        pairs = ", ".join(f"{json.dumps(key)} = {json.dumps(value)}" for key, value in setting.value.items())
        return "{ " + pairs + " }" if pairs else "{}"
    return json.dumps(setting.value, ensure_ascii=False)
