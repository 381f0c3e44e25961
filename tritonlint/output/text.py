"""What formats share: how a place and untrusted text are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tritonlint.finding import Cells, Range


def place(path: str, where: Range, cells: Cells | None = None) -> str:
    """`path:line:column`, which terminals and editors make a link of; in cells, `path:cell 3:line:column`."""
    if cells is None:
        return f"{printable(path)}:{where.start.line}:{where.start.column}"
    number, inside = cells.place(where)
    return f"{printable(path)}:cell {number}:{inside.start.line}:{inside.start.column}"


def printable(text: str) -> str:
    """Text from a checked file, with control characters escaped: they could drive the terminal."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else _escape(char) for char in text)


def encodable(text: str) -> str:
    """Text that every parser of JSON takes: a file name that is no UTF-8 brings halves of surrogate pairs."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _escape(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")
