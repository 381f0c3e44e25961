"""Notebooks in an editor: to a client each cell is a text of its own, to the engine they are one file."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import replace

from lsprotocol import types

from tritonlint.finding import Cells, Edit, Finding, Fix, Related


def file_of(notebook: types.NotebookDocument, source_of: Callable[[str], str]) -> str:
    """A notebook's file as it would be saved, as far as the engine reads it.

    Args:
        notebook: the cells that the client tells of.
        source_of: the text of a cell, by its address.
    """
    cells = [
        {"cell_type": "code", "metadata": {}, "outputs": [], "source": source_of(cell.document)}
        if cell.kind == types.NotebookCellKind.Code
        else {"cell_type": "markdown", "metadata": {}, "source": ""}
        for cell in notebook.cells
    ]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4})


def by_cell(findings: Iterable[Finding], notebook: types.NotebookDocument) -> dict[str, list[Finding]]:
    """The findings of each code cell, by its address, in lines of the cell."""
    found: dict[str, list[Finding]] = {
        cell.document: [] for cell in notebook.cells if cell.kind == types.NotebookCellKind.Code
    }
    for finding in findings:
        number = finding.cells.place(finding.range)[0] if finding.cells is not None else 1
        if number <= len(notebook.cells):
            found.setdefault(notebook.cells[number - 1].document, []).append(_inside(finding, number))
    return found


def _inside(finding: Finding, number: int) -> Finding:
    """A finding as the text of its cell has it; a fix that changes other cells, too, is left out."""
    cells = finding.cells
    if cells is None:
        return finding
    related = tuple(_related(one, finding, cells, number) for one in finding.related)
    fix = _fix(finding.fix, finding, cells, number) if finding.fix is not None else None
    return replace(finding, range=cells.place(finding.range)[1], related=related, fix=fix, cells=None)


def _related(one: Related, finding: Finding, cells: Cells, number: int) -> Related:
    if one.path != finding.path:
        return one
    there, inside = cells.place(one.range)
    where = "" if there == number else f" (in cell {there})"
    return Related(one.path, inside, f"{one.message}{where}")


def _fix(fix: Fix, finding: Finding, cells: Cells, number: int) -> Fix | None:
    edits = []
    for edit in fix.edits:
        there, inside = cells.place(edit.range)
        if edit.path != finding.path or there != number:
            return None
        edits.append(Edit(edit.path, inside, edit.text))
    return Fix(fix.title, fix.applicability, tuple(edits))
