"""Which rules exist: the table of every code, and the rule packs that settings name.

The table is plain data, so that a selector can be checked without importing a single rule.
"""

from __future__ import annotations

import importlib
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from tritonlint.nearest import did_you_mean

if TYPE_CHECKING:
    from types import ModuleType

    from tritonlint.rule import Rule

DEFAULT_PACKS = ("tritonlint_rules",)

NAMES: dict[str, str] = {
    "TL100": "out-of-bounds-access",
    "TL101": "unmasked-access",
    "TL102": "partial-mask",
    "TL103": "unchecked-block-pointer",
    "TL111": "masked-load-without-other",
    "TL112": "wrong-padding-value",
    "TL113": "offset-overflow",
    "TL114": "access-under-where",
    "TL115": "logical-operator-on-tile",
    "TL116": "store-race",
    "TL117": "missing-barrier",
    "TL118": "tail-never-processed",
    "TL201": "non-power-of-2-block",
    "TL202": "unrounded-block",
    "TL211": "tile-too-large",
    "TL212": "dot-tile-too-small",
    "TL301": "autotune-in-production",
    "TL302": "autotune-side-effects",
    "TL303": "unbounded-autotune-key",
    "TL311": "incomplete-autotune-key",
    "TL401": "runtime-value-as-constexpr",
    "TL402": "constexpr-required",
    "TL411": "global-not-constexpr",
    "TL501": "half-precision-accumulator",
    "TL502": "half-precision-reduction",
    "TL511": "implicit-tf32",
    "TL512": "truncating-division",
    "TL601": "ungrouped-gemm",
    "TL602": "broken-grouping",
    "TL701": "launch-mismatch",
    "TL702": "grid-axis-limit",
    "TL703": "layout-assumption",
    "TL704": "wrong-device",
    "TL801": "unsupported-python",
    "TL802": "removed-api",
    "TL901": "invalid-syntax",
    "TL902": "unused-suppression",
    "TL903": "rule-failed",
}
"""Every code of the project, whether its rule is built yet or not. Codes never move."""

OFF_BY_DEFAULT = frozenset({"TL511"})
"""Codes that run only where a selector names them, their prefix, or `ALL`."""

OBSERVED = frozenset({"TL100", "TL111", "TL116"})
"""Codes that only a run can report: a comment for one of them is needed whether `check` sees why or not."""

UNSUPPRESSIBLE = frozenset({"TL901", "TL903"})
"""Codes that no selector, comment or threshold can silence: they say that something was not checked."""

_CODE = re.compile(r"[A-Z]+[0-9]+")


class PackError(Exception):
    """A rule pack that cannot be loaded; the message says what to change."""


@dataclass(frozen=True, slots=True)
class Catalog:
    """The rules of some packs, ready to run, and the documentation of the engine's own."""

    rules: tuple[Rule, ...]
    documented: dict[str, type[Rule]]
    """Every rule class by code, the engine's own included, in the order of codes."""

    @property
    def names(self) -> dict[str, str]:
        """Every known code and its name: those of the table and those the packs add."""
        return NAMES | {code: rule.rule_name() for code, rule in self.documented.items()}


@lru_cache(maxsize=8)
def load(packs: tuple[str, ...]) -> Catalog:
    """Import the packs and gather their rules.

    Raises:
        PackError: a pack is missing, breaks on import, or holds something that is no rule.
    """
    from tritonlint.builtin import ENGINE_RULES
    from tritonlint.observed import OBSERVED_RULES

    documented: dict[str, type[Rule]] = {rule.code: rule for rule in (*ENGINE_RULES, *OBSERVED_RULES)}
    rules: list[type[Rule]] = []
    for pack in packs:
        for rule in _rules_of(pack):
            _refuse_clash(rule, pack, documented)
            documented[rule.code] = rule
            rules.append(rule)
    rules.sort(key=lambda rule: rule.code)
    return Catalog(tuple(rule() for rule in rules), dict(sorted(documented.items())))


def _rules_of(pack: str) -> tuple[type[Rule], ...]:
    from tritonlint.rule import Rule

    rules = getattr(_import(pack), "RULES", None)
    if not isinstance(rules, tuple | list):
        raise PackError(f"rule pack `{pack}` has no `RULES`: a pack defines `RULES = (SomeRule, ...)`")
    for rule in rules:
        if not (isinstance(rule, type) and issubclass(rule, Rule)):
            raise PackError(f"`{pack}.RULES` holds {rule!r}, which is no subclass of `tritonlint.rule.Rule`")
        if not _CODE.fullmatch(getattr(rule, "code", "")):
            raise PackError(
                f"`{pack}.{rule.__name__}` needs a `code` of capital letters and digits, as `XY101`"
            )
    return tuple(rules)


def _import(pack: str) -> ModuleType:
    try:
        return importlib.import_module(pack)
    except ModuleNotFoundError as error:
        if error.name is not None and (pack == error.name or pack.startswith(error.name + ".")):
            hint = did_you_mean(pack, DEFAULT_PACKS)
            raise PackError(f"there is no module `{pack}` to load rules from{hint}") from error
        raise PackError(f"rule pack `{pack}` needs a module that is not installed: {error}") from error
    except Exception as error:
        from tritonlint.failure import describe

        raise PackError(f"rule pack `{pack}` cannot be imported: {describe(error)}") from error


def _refuse_clash(rule: type[Rule], pack: str, documented: dict[str, type[Rule]]) -> None:
    taken = documented.get(rule.code)
    if taken is not None:
        raise PackError(f"`{pack}.{rule.__name__}` uses code {rule.code}, which is `{taken.rule_name()}`'s")
    reserved = NAMES.get(rule.code)
    if reserved is not None and reserved != rule.rule_name():
        raise PackError(f"`{pack}.{rule.__name__}` uses code {rule.code}, which is reserved for `{reserved}`")
