"""Kernels that nothing in their package uses, as far as names tell.

Others may import anything, so this proves nothing: it says what a maintainer would not miss.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tritonlint.model.context import is_imported
from tritonlint.model.evaluator import called_name
from tritonlint.roots import package_top

if TYPE_CHECKING:
    from pathlib import Path

    from tritonlint.model.kernel import Kernel
    from tritonlint.model.launch import Launch
    from tritonlint.model.module import Module
    from tritonlint.model.project import Project


def is_out_of_use(kernel: Kernel) -> bool:
    """Whether nothing names the kernel, or what launches it, although its file is imported for other things.

    A file that nothing imports may be meant for everyone; a function that registers itself is called by name.
    """
    if is_nowhere_named(kernel):
        return True
    functions = [launch.function for launch in kernel.launches]
    if any(function is None or function.node.decorator_list for function in functions):
        return False
    return is_unreached(kernel.launches) and is_imported(kernel.module)


def is_nowhere_named(kernel: Kernel) -> bool:
    """Whether nothing in the package so much as names a kernel."""
    return not kernel.launches and not is_mentioned(kernel.name, kernel.module)


def is_unreached(launches: tuple[Launch, ...]) -> bool:
    """Whether every launch stands in a function that nothing else in the package so much as names."""
    names = [_outermost_name(launch) for launch in launches]
    return bool(names) and all(
        name is not None and not is_mentioned(name, launch.module)
        for name, launch in zip(names, launches, strict=True)
    )


def is_mentioned(name: str, module: Module) -> bool:
    """Whether a name is used anywhere in the package but where it is defined, or whether nobody can tell.

    To be imported is no use, but for what a package offers in its `__init__.py`.
    """
    if not _is_in_a_package(module):
        return True  # a file by itself: who knows what uses it
    if any(_names(node, name) for node in module.source.nodes):
        return True
    others = module.project.files_mentioning(name, anywhere=True)
    return any(_uses(module.project, path, name) for path in others if path != module.file)


def _uses(project: Project, path: Path, name: str) -> bool:
    """Whether another file uses a name, or what it imports it as; one that cannot be read may."""
    other = project.load(path) if path.name != "__init__.py" else None
    return other is None or any(_names(node, name) for node in other.source.nodes)


def _names(node: ast.AST, name: str) -> bool:
    """Whether a node is a use of a name, also as a string, as `__all__`, registries and `getattr` have it."""
    match node:
        case ast.Name(id=word) | ast.Attribute(attr=word):
            return word == name
        case ast.alias(name=word, asname=other):
            return word == name and other is not None
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items) | ast.Dict(keys=items):
            return any(_spells(item, name) for item in items)
        case ast.Call(args=items):
            return called_name(node) not in _TELLS and any(_spells(item, name) for item in items)
    return False


def _spells(item: ast.expr | None, name: str) -> bool:
    return isinstance(item, ast.Constant) and item.value == name


_TELLS = frozenset("print debug info warning error warn log".split())


def _is_in_a_package(module: Module) -> bool:
    """Whether a folder of the project around a file is a package; those below need not say that they are."""
    file, root = module.file, module.project.root
    around = file.parents if file is not None else ()
    return any(folder.is_relative_to(root) and package_top(folder / "_") is not None for folder in around)


def _outermost_name(launch: Launch) -> str | None:
    """The function, or its class, that a launch stands in."""
    function = launch.function
    return (function.class_node or function.node).name if function is not None else None
