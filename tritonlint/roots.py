"""Which files belong together: the root of a project, the top of a package, the files below a folder."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path

_MARKERS = ("tritonlint.toml", "pyproject.toml", ".git")
NOTEBOOK = ".ipynb"
"""What the names of notebooks end with."""
_SKIPPED = frozenset((".git", "__pycache__", "node_modules", ".venv", "venv", ".tox", ".mypy_cache"))


def project_root(file: Path, given: Path) -> Path:
    """The folder whose files are context for `file`.

    The nearest parent with tritonlint.toml, pyproject.toml or .git; else the topmost package
    folder; else `given`, or its folder if it is a file.
    """
    folder = file.absolute().parent
    root = _root_above(folder)
    if root is not None:
        return root
    return given if given.is_dir() else folder


@lru_cache(maxsize=65536)
def _root_above(folder: Path) -> Path | None:
    """The nearest marked folder, else the topmost package folder."""
    for parent in (folder, *folder.parents):
        # Not `Path.exists`, which raises for a name that is too long for the file system.
        if any(os.path.exists(parent / marker) for marker in _MARKERS):
            return parent
    return package_top(folder / "_")


def is_notebook(path: str) -> bool:
    """Whether a path is a notebook's, by its name."""
    return path.endswith(NOTEBOOK)


def package_top(file: Path) -> Path | None:
    """The topmost folder of the package `file` is in, None if it is in none."""
    return _top_of(file.parent)


@lru_cache(maxsize=65536)
def _top_of(folder: Path) -> Path | None:
    if not os.path.exists(folder / "__init__.py"):
        return None
    return (_top_of(folder.parent) if folder.parent != folder else None) or folder


def python_files(root: Path) -> list[str]:
    """Every Python file under a folder, in order. Pipes are left out: to read one waits for a writer."""
    found: list[str] = []
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(
            name
            for name in folders
            if name not in _SKIPPED and not os.path.exists(os.path.join(folder, name, "pyvenv.cfg"))
        )
        paths = [os.path.join(folder, name) for name in sorted(names) if name.endswith(".py")]
        found += [path for path in paths if os.path.isfile(path)]
    return found
