"""What IPython adds to Python, replaced by Python of the same lines; what else stays where it is.

A magic is looked for only where a statement can start, so that `% 2` or `!= 3` on the second line of an
expression and the text of a string are left alone.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import NamedTuple

from tritonlint.parsing import parses

_CELL_MAGIC = re.compile(r"\s*%%(\S*)")
_PYTHON_BODIES = frozenset("capture debug ipytest memit mprun prun time timeit".split())
"""Magics of a whole cell that run it as Python, in the same names; other bodies are files and languages."""
_CELL_MARK = re.compile(r"^#[ \t]*%%", re.MULTILINE)
"""What starts a cell in a Python file, for editors and for Jupytext's percent format."""

_ESCAPED = re.compile(r"\s*[%!?,;/]")
_HELP = re.compile(r"[^#'\"]*\?\s*;?\s*$")
_ASSIGNED = re.compile(r"(?P<target>\s*[A-Za-z_][\w.,\s\[\]'\"*]*=\s*)[%!]")
_TIMED = re.compile(r"(?P<indent>\s*)(?:(?P<target>[\w.,\s\[\]'\"*]*=\s*))?%(?:time|timeit|prun|memit)\b")
_OPTIONS = re.compile(r"(?:\s+-[A-Za-z]+(?:\s*\d+)?(?=\s|$))*\s*")
_BARE = re.compile(
    r"\s*(?:cat|cd|clear|conda|cp|env|less|load_ext|ls|mamba|matplotlib|micromamba|mkdir|mv|nvcc|pip|pip3|reload_ext|"
    r"rm|rmdir|run|uv)\s+[\w./~\"'$-]"
)
"""Commands that IPython takes without a `%` in front, where nothing else has the name."""

_OPENING = re.compile(r"#|\"\"\"|'''|[\"'()\[\]{}]")
_CLOSING = {
    quote: re.compile(rf"(?:\\.|(?!{quote}).)*({quote})?") for quote in ('"""', "'''", '"', "'")
}  # fmt: skip


def cell_code(text: str) -> str | None:
    """The code of a notebook's cell as Python of the same lines; None for a cell that is not Python's.

    Lines end in line feeds. A cell under `%%bash` or `%%writefile` and the like is another program's text.
    """
    lines = text.split("\n")
    for number, line in enumerate(lines):
        magic = _CELL_MAGIC.match(line)
        if magic is not None:
            if magic[1] not in _PYTHON_BODIES:
                return None
            lines[number] = ""
        elif line.strip() and not line.lstrip().startswith("#"):
            break
    return "\n".join(_without_magics(lines))


def has_cells(text: str) -> bool:
    """Whether a Python file is divided into cells by lines that start with `# %%`."""
    return "%%" in text and _CELL_MARK.search(text) is not None


def file_code(text: str) -> str:
    """The code of a Python file that is divided into cells, as Python of the same lines."""
    starts = [0, *(match.start() for match in _CELL_MARK.finditer(text)), len(text)]
    parts = [text[start:end] for start, end in pairwise(starts)]
    return "".join(code if (code := cell_code(part)) is not None else _blank(part) for part in parts)


def _blank(text: str) -> str:
    return "\n" * text.count("\n")


class _Inside(NamedTuple):
    """What a line starts inside of."""

    brackets: int = 0
    quote: str = ""
    continued: bool = False


_STATEMENT = _Inside()


def _without_magics(lines: list[str]) -> list[str]:
    found: list[str] = []
    inside = _STATEMENT
    goes_on = False  # a command that a backslash continues
    for line in lines:
        is_magic = goes_on or (inside == _STATEMENT and _is_magic(line))
        if is_magic:
            found.append("" if goes_on else _replacement(line))
            goes_on = line.endswith("\\")
        else:
            found.append(line)
            inside = _behind(line, inside)
    return found


def _is_magic(line: str) -> bool:
    if _ESCAPED.match(line) or _ASSIGNED.match(line) or _HELP.match(line):
        return True
    return _BARE.match(line) is not None and not parses(line.strip())


def _replacement(line: str) -> str:
    """Python for a line with a magic: what it measures, at its column, else a statement that does nothing."""
    timed = _TIMED.match(line)
    if timed is not None:
        options = _OPTIONS.match(line, timed.end())
        start = options.end() if options is not None else timed.end()
        lead = timed["indent"] + (timed["target"] or "if 1: ")
        kept = lead + " " * (start - len(lead)) + line[start:]
        if start >= len(lead) and parses(kept.strip()):
            return kept
    assigned = _ASSIGNED.match(line)
    if assigned is not None and not _ESCAPED.match(line):
        return assigned["target"] + "_"
    return line[: len(line) - len(line.lstrip())] + "pass"


def _behind(line: str, inside: _Inside) -> _Inside:
    """What the next line starts inside of."""
    brackets, quote, at = inside.brackets, inside.quote, 0
    while at < len(line):
        if quote:
            match = _CLOSING[quote].match(line, at)
            assert match is not None
            at = match.end()
            if match[1] or (len(quote) == 1 and not line.endswith("\\")):
                quote = ""
            continue
        opening = _OPENING.search(line, at)
        if opening is None:
            break
        sign, at = opening[0], opening.end()
        if sign == "#":
            return _Inside(brackets, "")
        if sign in "([{":
            brackets += 1
        elif sign in ")]}":
            brackets = max(brackets - 1, 0)
        else:
            quote = sign
    if len(quote) == 1 and not line.endswith("\\"):
        quote = ""
    return _Inside(brackets, quote, not quote and line.endswith("\\"))
