"""What the user probably meant."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def did_you_mean(written: str, valid: Iterable[str]) -> str:
    """`; did you mean ...?` for the valid word nearest to the written one, or nothing."""
    import difflib

    by_key = {word.lower(): word for word in valid}
    near = difflib.get_close_matches(written.lower(), by_key, n=1, cutoff=0.6)
    return f"; did you mean `{by_key[near[0]]}`?" if near else ""
