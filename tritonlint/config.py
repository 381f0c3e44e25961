"""What is checked and how strictly: *options* are what one place says, *settings* what holds in the end."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from pathlib import Path

from tritonlint import catalog
from tritonlint.grades import Confidence, Severity
from tritonlint.patterns import matches
from tritonlint.policy import Policy
from tritonlint.selection import Selection, fits

FILE_NAMES = ("tritonlint.toml", "pyproject.toml")
"""Where options may stand; in one folder, the first that exists and speaks of tritonlint counts."""


class ConfigError(Exception):
    """Options that cannot be used; the message says where and what would be valid."""


@dataclass(frozen=True, slots=True)
class Options:
    """What one place says: a configuration file or the command line. None means it says nothing."""

    select: tuple[str, ...] | None = None
    ignore: tuple[str, ...] | None = None
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] | None = None
    exclude: tuple[str, ...] | None = None
    min_confidence: Confidence | None = None
    fail_on: Severity | None = None
    baseline: Path | None = None
    packs: tuple[str, ...] | None = None
    policy: Policy | None = None
    file: Path | None = None
    root: Path | None = None
    """The folder that patterns are relative to."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that decides what is found in one file. Plain data: it can be sent to another process."""

    selection: Selection = field(default_factory=Selection)
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    exclude: tuple[str, ...] = ()
    min_confidence: Confidence = Confidence.MEDIUM
    fail_on: Severity = Severity.WARNING
    baseline: Path | None = None
    """The file whose findings are silenced, see `baseline.py`."""
    packs: tuple[str, ...] = catalog.DEFAULT_PACKS
    policy: Policy = field(default_factory=Policy)
    """What rules are told."""
    file: Path | None = None
    """The configuration file these settings came from, if any."""
    root: Path | None = None
    """The folder that patterns are relative to."""

    def ignored_in(self, file: Path | None) -> tuple[str, ...]:
        """The selectors that `per-file-ignores` silences in `file`."""
        if file is None:
            return ()
        return tuple(
            selector
            for pattern, selectors in self.per_file_ignores
            if matches((pattern,), self.root, file)
            for selector in selectors
        )

    def enables(self, code: str, ignored_here: tuple[str, ...] = ()) -> bool:
        """Whether the rule `code` runs in a file for which `ignored_in` gave `ignored_here`."""
        if code in catalog.UNSUPPRESSIBLE:
            return True
        return self.selection.enables(code) and not any(fits(selector, code) for selector in ignored_here)

    def excludes(self, path: Path, *, folder: bool = False) -> bool:
        """Whether a walk leaves out `path`."""
        return matches(self.exclude, self.root, path, folder=folder)


def merge(file: Options, command_line: Options) -> Settings:
    """Settings of a configuration file under a command line, which has the last word.

    `--select` replaces both `select` and `ignore` of the file; `--ignore` alone adds to the file's.
    """
    if command_line.select is not None:
        selection = Selection(command_line.select, command_line.ignore or ())
    else:
        selection = Selection(file.select or (), (file.ignore or ()) + (command_line.ignore or ()))
    settings = Settings(selection=selection, file=file.file, root=file.root)
    for options in (file, command_line):
        said = {name: value for name in _PLAIN if (value := getattr(options, name)) is not None}
        settings = replace(settings, **said)
    return settings


_PLAIN = ("per_file_ignores", "exclude", "min_confidence", "fail_on", "baseline", "packs", "policy")


class SettingsFinder:
    """The settings of any path: the nearest configuration file among its parents, under the command line."""

    def __init__(self, command_line: Options | None = None, config: Path | None = None) -> None:
        """If `config` is given, use it for every path, with patterns relative to the working directory."""
        self._command_line = command_line or Options()
        self._config = config
        self._for_all: Settings | None = None
        self._by_folder: dict[str, Settings] = {}

    def of_file(self, file: Path) -> Settings:
        """Settings of a file.

        Raises:
            ConfigError: its configuration file cannot be used.
        """
        return self.of_folder(os.path.dirname(os.path.abspath(file)))

    def of_folder(self, folder: str | Path) -> Settings:
        """Settings of a folder.

        Raises:
            ConfigError: its configuration file cannot be used.
        """
        known = self._by_folder.get(str(folder))
        above, passed = os.path.abspath(folder), [str(folder)]
        while known is None:
            known = self._by_folder.get(above) or self._stated_in(above)
            passed.append(above)
            above = os.path.dirname(above)
        self._by_folder.update(dict.fromkeys(passed, known))
        return known

    def _stated_in(self, folder: str) -> Settings | None:
        """The settings that start in `folder`, None if those of its parent hold."""
        if self._config is not None:
            if self._for_all is None:
                options = _read(self._config, Path.cwd(), required=True) or Options()
                self._for_all = merge(options, self._command_line)
            return self._for_all
        for name in FILE_NAMES:
            candidate = os.path.join(folder, name)
            if os.path.isfile(candidate):
                found = _read(Path(candidate), Path(folder), required=False)
                if found is not None:
                    return merge(found, self._command_line)
        is_root = os.path.dirname(folder) == folder
        return merge(Options(), self._command_line) if is_root else None


def _read(file: Path, root: Path, *, required: bool) -> Options | None:
    # The reader brings a TOML parser along, which a run without a configuration file need not load.
    from tritonlint.config_file import read_options

    return read_options(file, root=root, required=required)
