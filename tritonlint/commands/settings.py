"""What the options of a command say of settings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from tritonlint.commands.refusal import Refusal

if TYPE_CHECKING:
    from tritonlint.config import Options, SettingsFinder
    from tritonlint.rule import Rule


def finder_of(options: dict[str, Any]) -> SettingsFinder:
    """The settings of every path, from the files there and these options."""
    from tritonlint.config import SettingsFinder

    return SettingsFinder(said(options), options["config"])


def said(options: dict[str, Any]) -> Options:
    """What these options say of settings."""
    from tritonlint.catalog import PackError
    from tritonlint.config import ConfigError, Options, SettingsFinder
    from tritonlint.grades import Confidence, Severity
    from tritonlint.selection import SelectorError, parse_selectors

    select, ignore, config = options["select"], options["ignore"], options["config"]
    try:
        # A selector may name a rule of a pack, and only the configuration says which packs there are.
        packs = SettingsFinder(config=config).of_folder(Path.cwd()).packs if select or ignore else ()
        return Options(
            select=parse_selectors(select, packs) if select else None,
            ignore=parse_selectors(ignore, packs) if ignore else None,
            min_confidence=Confidence(options["min_confidence"]) if options["min_confidence"] else None,
            fail_on=Severity(options["fail_on"]) if options["fail_on"] else None,
            baseline=options["baseline"].absolute() if options.get("baseline") else None,
        )
    except (ConfigError, PackError, SelectorError) as error:
        raise Refusal(str(error)) from error


def cache_folder(finder: SettingsFinder, given: Path | None) -> Path:
    """Where the cache of this folder is."""
    from tritonlint.cache import folder_of

    return folder_of(finder.of_folder(Path.cwd()), given)


def known_rules(options: dict[str, Any]) -> dict[str, type[Rule]]:
    """Every rule that can be explained, by code."""
    from tritonlint.catalog import load
    from tritonlint.config import SettingsFinder

    return load(SettingsFinder(config=options["config"]).of_folder(Path.cwd()).packs).documented
