"""A kernel as a fix would have it, ready to be launched beside the one that is there."""

from __future__ import annotations

import ast
import os
import tempfile
from pathlib import Path
from typing import Any

from triton.runtime.jit import JITFunction

from tritonlint import edits
from tritonlint.confirm.launches import Launch, fresh, reached
from tritonlint.finding import Finding
from tritonlint.source import Source

FOLDER = tempfile.TemporaryDirectory(prefix="tritonlint-fixed-")
"""Where the fixed texts lie as long as the process lives: Triton reads a kernel's source from its file."""


class NoFix(ValueError):
    """There is no fixed kernel to compare with; the message says why."""


def fixed(finding: Finding, launch: Launch) -> Launch:
    """The launch of the kernel with the fix of a finding in it.

    Raises:
        NoFix: the finding has no fix, or its fix is not in the kernel's text.
    """
    if finding.fix is None:
        raise NoFix("it has no fix to compare with")
    texts = _changed(finding)
    namespaces: dict[int, dict[str, Any]] = {}
    replaced: dict[int, JITFunction] = {}
    functions = reached(launch.function)
    for function in functions:
        file = os.path.realpath(function.fn.__code__.co_filename)
        if file not in texts:
            continue
        path, tree = texts[file]
        node = _definition(tree, function)
        if node is None or _same(node, function):
            continue
        replaced[id(function)] = _compiled(node, path, function, namespaces)
    if not replaced:
        raise NoFix("its fix is not in the kernel's own text")
    changed = set(replaced)
    for function in functions:  # callers of what changed see it through a namespace of their own
        if id(function) in changed or not changed & {id(one) for one in reached(function)}:
            continue
        path = function.fn.__code__.co_filename
        node = _definition(ast.parse(Path(path).read_bytes()), function)
        if node is None:
            raise NoFix(f"`{function.fn.__name__}` cannot be found in its file")
        replaced[id(function)] = _compiled(node, path, function, namespaces)
    for namespace in namespaces.values():
        for name, value in list(namespace.items()):
            if isinstance(value, JITFunction) and id(value) in replaced:
                namespace[name] = replaced[id(value)]
    return launch.with_function(replaced[id(launch.function)])


def _changed(finding: Finding) -> dict[str, tuple[str, ast.Module]]:
    """By file, where its fixed text lies, and the tree of it."""
    assert finding.fix is not None
    by_file: dict[str, list[Any]] = {}
    for edit in finding.fix.edits:
        by_file.setdefault(os.path.realpath(edit.path), []).append(edit)
    texts = {}
    for file, made in by_file.items():
        text = edits.apply(Source.from_bytes(Path(file).read_bytes(), file).text, made)
        folder = tempfile.mkdtemp(dir=FOLDER.name)
        path = Path(folder, Path(file).name)
        path.write_text(text, encoding="utf-8")
        texts[file] = (str(path), ast.parse(text))
    return texts


def _definition(tree: ast.Module, function: JITFunction) -> ast.FunctionDef | None:
    """The function of that name, of several the one at the same place among them."""
    named = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.name == function.fn.__name__
    ]
    line = function.fn.__code__.co_firstlineno
    return min(named, key=lambda node: abs(node.lineno - line), default=None)


def _same(node: ast.FunctionDef, function: JITFunction) -> bool:
    old = _definition(ast.parse(Path(function.fn.__code__.co_filename).read_bytes()), function)
    return old is not None and _plain(old) == _plain(node)


def _plain(node: ast.FunctionDef) -> str:
    return ast.dump(ast.Module([*node.body, ast.Expr(node.args)], []))  # type: ignore[arg-type]


def _compiled(
    node: ast.FunctionDef, path: str, function: JITFunction, namespaces: dict[int, dict[str, Any]]
) -> JITFunction:
    """The function of a node, in a copy of the globals that the old one has."""
    node.decorator_list = []
    old = function.fn
    key = id(old.__globals__)
    if key not in namespaces:
        namespaces[key] = dict(old.__globals__)
    namespace = namespaces[key]
    for name, cell in zip(old.__code__.co_freevars, old.__closure__ or (), strict=False):
        namespace.setdefault(name, cell.cell_contents)
    exec(compile(ast.Module([node], []), path, "exec"), namespace)
    namespace[node.name] = fresh(function, namespace[node.name])  # a kernel to its callers
    return namespace[node.name]
