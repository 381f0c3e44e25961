"""What `--version` prints: tritonlint and its rule packs, told without importing a rule."""

from __future__ import annotations

import os
from importlib.machinery import PathFinder

from tritonlint import __version__

_BUILT_IN = "tritonlint_rules"


def text() -> str:
    """`tritonlint 0.1.0 (rules: tritonlint_rules 0.1.0, 14 rules)`."""
    packs = _packs_here() or (_BUILT_IN,)
    return f"tritonlint {__version__} (rules: {'; '.join(map(_described, packs))})"


def _packs_here() -> tuple[str, ...]:
    """The packs in force in the working directory, if its configuration names any.

    What cannot be read is no matter of `--version`; a configuration is loaded only if it speaks of packs.
    """
    folder = os.getcwd()
    while True:
        for name in ("tritonlint.toml", "pyproject.toml"):
            said = _content(os.path.join(folder, name))
            if "packs" in said and (name == "tritonlint.toml" or "tritonlint" in said):
                return _configured()
        above = os.path.dirname(folder)
        if above == folder:
            return ()
        folder = above


def _configured() -> tuple[str, ...]:
    from pathlib import Path

    from tritonlint.config import ConfigError, SettingsFinder

    try:
        return SettingsFinder().of_folder(Path.cwd()).packs
    except ConfigError:
        return ()


def _described(pack: str) -> str:
    """A pack with its version and the number of its rules, as far as they can be told."""
    words = [pack]
    version = __version__ if pack == _BUILT_IN else _version_of(pack)
    if version is not None:
        words.append(version)
    count = _count(pack)
    return " ".join(words) + (f", {count} rules" if count is not None else "")


def _version_of(pack: str) -> str | None:
    from importlib.metadata import packages_distributions, version

    names = packages_distributions().get(pack.partition(".")[0], ())
    return version(names[0]) if names else None


def _count(pack: str) -> int | None:
    """The length of a pack's `RULES`, where its source writes them as one tuple of names."""
    found, path = None, None
    for part in pack.split("."):
        found = PathFinder.find_spec(part, path)
        if found is None:
            return None
        path = list(found.submodule_search_locations or [])
    if found is None:
        return None
    # No pattern of `re`: compiling one takes longer than all the rest.
    statement = ("\n" + _content(found.origin or "")).partition("\nRULES")[2].partition("\n\n")[0]
    written = statement.partition("= (")[2].partition(")")[0]
    names = [name.strip() for name in written.split(",") if name.strip()]
    return len(names) if names and all(map(str.isidentifier, names)) else None


def _content(file: str) -> str:
    try:
        with open(file, encoding="utf-8", errors="replace") as opened:
            return opened.read()
    except OSError:
        return ""
