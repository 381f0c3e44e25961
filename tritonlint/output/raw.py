"""Places in files as they are on disk, for readers that show a notebook as the JSON it is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from tritonlint.notebook import Notebook, read
from tritonlint.parsing import ParseFailure

if TYPE_CHECKING:
    from tritonlint.finding import Finding, Range
    from tritonlint.output import RenderContext


class RawPlaces:
    """Where findings stand in the text of their files; each notebook is read once."""

    def __init__(self, context: RenderContext) -> None:
        self._context = context
        self._notebooks: dict[str, Notebook | None] = {}

    def range(self, finding: Finding, path: str, where: Range) -> Range:
        """A place that a finding names in `path`; in lines of its cell if the notebook is gone."""
        cells = finding.cells_of(path)
        if cells is None:
            return where
        notebook = self._notebook(path)
        raw = notebook.raw_range(where) if notebook is not None else None
        return raw or cells.place(where)[1]

    def text(self, finding: Finding, path: str, new: str) -> str:
        """What is written in `path` for a new text: in the strings of a notebook, as JSON spells it."""
        return new if finding.cells_of(path) is None else json.dumps(new)[1:-1]

    def _notebook(self, path: str) -> Notebook | None:
        if path not in self._notebooks:
            data = self._context.texts.get(path)
            try:
                self._notebooks[path] = read(Path(path).read_bytes() if data is None else data)
            except (OSError, ParseFailure):
                self._notebooks[path] = None
        return self._notebooks[path]
