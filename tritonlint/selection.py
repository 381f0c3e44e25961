"""Which rules a run asks for: `TL101`, `unmasked-access`, `TL1`, `ALL`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tritonlint import catalog
from tritonlint.nearest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable

ALL = "ALL"
_PREFIX = re.compile(r"[A-Z]+[0-9]*")


class SelectorError(Exception):
    """A selector that names no rule; the message says which and what is nearest."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The selectors in force, as codes, prefixes and `ALL`. An empty `select` means the default rules."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()

    def enables(self, code: str) -> bool:
        """Whether the rule `code` runs. The longest selector that fits decides; `ignore` wins a tie."""
        if code in catalog.UNSUPPRESSIBLE:
            return True
        if self.select:
            wanted = _longest(self.select, code)
        else:
            wanted = -1 if code in catalog.OFF_BY_DEFAULT else 0
        return wanted > _longest(self.ignore, code)


def _longest(selectors: tuple[str, ...], code: str) -> int:
    """Length of the longest selector that fits `code`: 0 for `ALL`, -1 for none."""
    lengths = [0 if selector == ALL else len(selector) for selector in selectors if fits(selector, code)]
    return max(lengths, default=-1)


def fits(selector: str, code: str) -> bool:
    """Whether a parsed selector covers `code`."""
    return selector == ALL or code.startswith(selector)


def parse_selectors(written: Iterable[str], packs: tuple[str, ...]) -> tuple[str, ...]:
    """Turn selectors as a user writes them, comma lists included, into codes, prefixes and `ALL`.

    Packs are imported only for a selector that the built-in table does not know.

    Raises:
        SelectorError: a selector names nothing.
        catalog.PackError: a pack had to be loaded and could not be.
    """
    words = [word.strip() for item in written for word in item.split(",") if word.strip()]
    return tuple(_parse(word, packs) for word in words)


def _parse(word: str, packs: tuple[str, ...]) -> str:
    found = _look_up(word, catalog.NAMES)
    if found is None and packs != catalog.DEFAULT_PACKS:
        found = _look_up(word, catalog.load(packs).names)
    if found is None:
        known = [*catalog.NAMES, *catalog.NAMES.values(), ALL]
        raise SelectorError(f"there is no rule `{word}`{did_you_mean(word, known)}")
    return found


def _look_up(word: str, names: dict[str, str]) -> str | None:
    """The code, prefix or `ALL` that `word` stands for; None for a word that stands for nothing."""
    upper = word.upper()
    if upper == ALL or upper in names:
        return upper
    for code, name in names.items():
        if name == word.lower():
            return code
    if _PREFIX.fullmatch(upper) and any(code.startswith(upper) for code in names):
        return upper
    return None
