"""Kernels that nothing in their package uses, as far as names tell.

Others may import anything, so this proves nothing: it says what a maintainer would not miss.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tritonlint.model.kernel import launches_of
from tritonlint.roots import package_top

if TYPE_CHECKING:
    from tritonlint.model.launch import Launch
    from tritonlint.model.module import FunctionInfo, Module


def is_nowhere_named(info: FunctionInfo) -> bool:
    """Whether nothing in the package so much as names a jit function."""
    return not launches_of(info) and not is_mentioned(info.name, info.module)


def is_unreached(launches: tuple[Launch, ...]) -> bool:
    """Whether every launch stands in a function that nothing else in the package so much as names."""
    names = [_outermost_name(launch) for launch in launches]
    return bool(names) and all(
        name is not None and not is_mentioned(name, launch.module)
        for name, launch in zip(names, launches, strict=True)
    )


def is_mentioned(name: str, module: Module) -> bool:
    """Whether a name stands anywhere in the package but where it is defined, or whether nobody can tell."""
    if not _is_in_a_package(module):
        return True  # a file by itself: who knows what uses it
    if len(re.findall(rf"\b{re.escape(name)}\b", module.source.text)) > 1:
        return True
    return any(path != module.file for path in module.project.files_mentioning(name, anywhere=True))


def _is_in_a_package(module: Module) -> bool:
    """Whether a folder of the project around a file is a package; those below need not say that they are."""
    file, root = module.file, module.project.root
    around = file.parents if file is not None else ()
    return any(folder.is_relative_to(root) and package_top(folder / "_") is not None for folder in around)


def _outermost_name(launch: Launch) -> str | None:
    """The function, or its class, that a launch stands in."""
    function = launch.function
    return (function.class_node or function.node).name if function is not None else None
