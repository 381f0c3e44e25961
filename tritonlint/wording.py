"""Words that several parts of the program say in the same way."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """`1 finding`, `2 findings`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
