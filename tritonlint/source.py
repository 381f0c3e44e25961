"""One file's text: decoding, what of it is Python, and where a node stands."""

from __future__ import annotations

import ast
import io
import tokenize
from functools import cached_property
from typing import TYPE_CHECKING

from tritonlint.finding import Position, Range
from tritonlint.parsing import ParseFailure, parsed, parses
from tritonlint.roots import is_notebook
from tritonlint.syntax import walk

if TYPE_CHECKING:
    from pathlib import Path

    from tritonlint.notebook import Notebook

__all__ = ["ParseFailure", "Source", "text_between"]


def text_between(lines: list[str], where: Range) -> str:
    """The text of a range, with line feeds between its lines."""
    taken = lines[where.start.line - 1 : where.end.line]
    if not taken:
        return ""
    taken[-1] = taken[-1][: where.end.column - 1]
    taken[0] = taken[0][where.start.column - 1 :]
    return "\n".join(taken)


class Source:
    """The text of one file.

    `path` is what findings show: relative to the working directory, with `/`. The text of a notebook is that
    of its cells.
    """

    def __init__(
        self, path: str, text: str, encoding: str = "utf-8", notebook: Notebook | None = None
    ) -> None:
        self.path = path
        self.text = text
        self.encoding = encoding
        self.notebook = notebook

    @classmethod
    def read(cls, file: Path, display: str) -> Source:
        """Read `file`.

        Raises:
            OSError: the file cannot be read.
            ParseFailure: it is no text in its declared encoding, holds NUL bytes, or is no sound notebook.
        """
        return cls.from_bytes(file.read_bytes(), display)

    @classmethod
    def from_bytes(cls, data: bytes, display: str) -> Source:
        """Decode as Python does: byte-order mark, then the coding line, then UTF-8; of a notebook, its cells.

        Raises:
            ParseFailure: the bytes do not decode, or hold NUL, or are no sound notebook.
        """
        if is_notebook(display):
            from tritonlint import notebook  # most runs see none

            book = notebook.read(data)
            return cls(display, book.text, notebook=book)
        if b"\0" in data:
            line = data[: data.index(b"\0")].count(b"\n") + 1
            raise ParseFailure("the file holds NUL bytes, so it is no Python source", line)
        try:
            encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
            text = data.decode(encoding)
        except SyntaxError as error:
            raise ParseFailure(str(error)) from error
        except UnicodeDecodeError as error:
            line = data[: error.start].count(b"\n") + 1
            raise ParseFailure(f"the file is not valid {error.encoding}: {error.reason}", line) from error
        except UnicodeError as error:  # some codecs, such as `punycode`, do not say where
            raise ParseFailure(f"the file is not valid {encoding}: {error}") from error
        except LookupError as error:  # what Python knows, but not as an encoding of text, such as `hex`
            raise ParseFailure(str(error)) from error
        return cls(display, text, encoding)

    @cached_property
    def normalized(self) -> str:
        """The text as Python's tokenizer sees it: every line ends in a line feed."""
        return self.text.replace("\r\n", "\n").replace("\r", "\n")

    @cached_property
    def lines(self) -> list[str]:
        """The lines without their ends; only line feeds and carriage returns end a line."""
        return self.normalized.split("\n")

    @cached_property
    def code(self) -> str:
        """The Python in the text, line by line: what IPython adds to it is replaced.

        In a script, only if it has cells (`# %%`) and is no Python as it stands.
        """
        if self.notebook is not None:
            return self.notebook.code
        if "%%" not in self.normalized:
            return self.normalized
        from tritonlint import magics  # most files have no cells

        if not magics.has_cells(self.normalized) or parses(self.normalized):
            return self.normalized
        return magics.file_code(self.normalized)

    @cached_property
    def tree(self) -> ast.Module:
        """The syntax tree.

        Raises:
            ParseFailure: this Python cannot parse the text.
        """
        return parsed(self.code)

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """Every node of the tree, those nearer to its root first.

        Raises:
            ParseFailure: this Python cannot parse the text.
        """
        return tuple(walk(self.tree))

    def range_of(self, node: ast.AST) -> Range:
        """Where `node` stands, in lines and code points from 1.

        A function or class is shown by its `def` line alone, so that a caret does not underline a page.
        """
        line: int = getattr(node, "lineno", 1)
        column: int = getattr(node, "col_offset", 0)
        end_line: int = getattr(node, "end_lineno", None) or line
        end_column: int = getattr(node, "end_col_offset", None) or column
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            end_line, end_column = line, len(self.line_bytes(line).rstrip())
        return Range(self._position(line, column), self._position(end_line, end_column))

    def line_bytes(self, line: int) -> bytes:
        """Line `line` of the code, counted from 1, as UTF-8: the unit of the syntax tree's columns."""
        if 1 <= line <= len(self._code_lines):
            return self._code_lines[line - 1].encode("utf-8", "surrogatepass")
        return b""

    @cached_property
    def _code_lines(self) -> list[str]:
        return self.lines if self.code is self.normalized else self.code.split("\n")

    def text_of(self, node: ast.AST) -> str:
        """The source text of `node`, comments and line feeds included."""
        return text_between(self.lines, self.range_of(node))

    def segment(self, node: ast.AST) -> str:
        """The source text of `node` on one line."""
        return " ".join(self.text_of(node).split())

    def _position(self, line: int, byte_column: int) -> Position:
        text = self.line_bytes(line)
        if text.isascii():
            return Position(line, byte_column + 1)
        return Position(line, len(text[:byte_column].decode("utf-8", "replace")) + 1)
