"""Sizes that a package tests for being powers of two, in words the evaluation cannot follow to a launch.

The test may stand in a caller's caller, in the predicate that opens the way to a function, or in a function
beside it. All that can be told is that a size of the same name is tested in the file of the launch, in one
beside it, in one that mentions the launching function, or in one that imports either of them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from tritonlint.model.kernel import MAX_FILES
from tritonlint.syntax import walk

if TYPE_CHECKING:
    from tritonlint.model.launch import Launch
    from tritonlint.model.module import FunctionInfo
    from tritonlint.model.project import Project

_DEPTH = 3
_SHORT = 3
_NAME = r"(?:\w+\.)*(\w+)"
_ALWAYS = (
    re.compile(_NAME + r"\s*&\s*\(\s*(?:\w+\.)*\1\s*-\s*1\s*\)"),
    re.compile(_NAME + r"\.bit_count\(\)\s*[!=]=\s*1\b"),
    re.compile(r"\b\w*is_?\w*(?:power|pow)_?(?:of)?_?(?:2|two)\w*\(\s*" + _NAME),
)
_REQUIRED = (
    re.compile(r"next_power_of_2\(\s*" + _NAME + r"\s*\)\s*[!=]="),
    re.compile(_NAME + r"\s*[!=]=\s*(?:\w+\.)*next_power_of_2\(\s*(?:\w+\.)*\1\s*\)"),
)
_LISTED = re.compile(_NAME + r"\s+(?:not\s+)?in\s*[(\[{]\s*(\d+(?:\s*,\s*\d+)*)")
_REQUIRES = re.compile(r"\bassert\b|\breturn\b")
_NOT_SIZES = frozenset(("shape", "size", "triton", "torch", "math", "self", "min", "max"))


def is_tested_by_name(launch: Launch, node: ast.AST) -> bool:
    """Whether a size of one of the names behind an argument is tested in the files around a launch.

    A name of three letters or less is taken for the same size only in functions that lead to the
    launching one, and in files of the folder that import it. In files that are merely beside, only the
    name of the argument itself counts.
    """
    names = {name.lower() for name in _names_behind(launch, node)}
    direct = {name.lower() for name in _names_in(node)}
    text = launch.module.source.text
    if any(len(name) > _SHORT for name in names & (_names_tested(text) | _names_listed(text))):
        return True
    if names & frozenset().union(*(_names_tested(part) for part in _callers_beside(launch))):
        return True
    home = launch.module.file
    for path, is_linked in _files_around(launch):
        tested = _tested_in(launch.module.project, path)
        near = is_linked and home is not None and path.parent == home.parent
        for name in names if is_linked else direct:
            if (near or len(name) > _SHORT) and any(_same(name, other) for other in tested):
                return True
    return False


def _callers_beside(launch: Launch) -> Iterator[str]:
    """The text of functions of the same file that lead to the launching one, by the names in them."""
    if launch.function is None:
        return
    lines = launch.module.source.lines
    rest = {
        other: "\n".join(lines[other.node.lineno - 1 : other.node.end_lineno])
        for other in launch.module.functions
    }
    rest.pop(launch.function)
    names = {_known_as(launch.function)}
    for _ in range(_DEPTH):
        word = re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted(names)))})\b")
        callers = [other for other, text in rest.items() if word.search(text)]
        names = {_known_as(other) for other in callers}
        if not names:
            return
        for other in callers:
            yield rest.pop(other)


def _known_as(function: FunctionInfo) -> str:
    return function.class_node.name if function.class_node is not None else function.name


def _same(name: str, other: str) -> bool:
    """`main_head_dim` and `head_dim` are one size; `bt` and `t` are two."""
    longer, shorter = (name, other) if len(name) > len(other) else (other, name)
    return longer == shorter or ("_" in shorter and longer.endswith(f"_{shorter}"))


# --- the names of a size --------------------------------------------------------------------------
def _names_behind(launch: Launch, node: ast.AST) -> set[str]:
    """The names in an argument, and in what the launching function assigns to those."""
    found: set[str] = set()
    todo = [(node, 0)]
    while todo:
        expression, depth = todo.pop()
        for name in _names_in(expression):
            if name not in found:
                found.add(name)
                if depth < _DEPTH and launch.function is not None:
                    todo += [(value, depth + 1) for value in _assigned(launch.function.node, name)]
    return found


def _names_in(node: ast.AST) -> Iterator[str]:
    """Variables and attributes of an expression that may be sizes: not what is called, not owners."""
    if isinstance(node, ast.Call):
        for argument in (*node.args, *(word.value for word in node.keywords)):
            yield from _names_in(argument)
    elif isinstance(node, ast.Subscript):
        return  # an item of `x.shape`: only the name it was given says which size it is
    elif isinstance(node, ast.Attribute):
        if node.attr not in _NOT_SIZES:
            yield node.attr
    elif isinstance(node, ast.Name):
        if node.id not in _NOT_SIZES:
            yield node.id
    elif not isinstance(node, ast.Lambda):
        for child in ast.iter_child_nodes(node):
            yield from _names_in(child)


def _assigned(function: ast.AST, name: str) -> Iterator[ast.expr]:
    for statement in walk(function):
        if not isinstance(statement, ast.Assign):
            continue
        for target in statement.targets:
            if isinstance(target, ast.Name) and target.id == name:
                yield statement.value
            elif isinstance(target, ast.Tuple) and isinstance(statement.value, ast.Tuple):
                for one, value in zip(target.elts, statement.value.elts, strict=False):
                    if isinstance(one, ast.Name) and one.id == name:
                        yield value


# --- the tests ------------------------------------------------------------------------------------
def _names_tested(text: str) -> frozenset[str]:
    """Names that a text tests for being powers of two, in small letters."""
    if not any(sign in text for sign in ("&", "pow", "bit_count")):
        return frozenset()  # as most texts: to look for all that it may be written as takes long
    found = {match[1] for pattern in _ALWAYS for match in pattern.finditer(text)}
    found |= {
        match[1] for pattern in _REQUIRED for match in pattern.finditer(text) if _is_required(text, match)
    }
    return frozenset(name.lower() for name in found)


def _names_listed(text: str) -> frozenset[str]:
    """Names that a text compares with a list of powers of two.

    This is as often a choice between ways as a test, so that it counts in the file of the launch alone.
    """
    lists = _LISTED.finditer(text)
    powers = (match for match in lists if all(_is_power(int(item)) for item in match[2].split(",")))
    return frozenset(match[1].lower() for match in powers)


def _is_power(number: int) -> bool:
    return number > 0 and number & (number - 1) == 0


def _is_required(text: str, match: re.Match[str]) -> bool:
    """Whether a comparison stands in an `assert` or a `return`, or a `raise` follows."""
    before = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
    after = text[match.end() : match.end() + 200].splitlines()[:3]
    return _REQUIRES.search(before) is not None or any(line.lstrip().startswith("raise") for line in after)


def _tested_in(project: Project, path: Path) -> frozenset[str]:
    cache: dict[Path, frozenset[str]] = project.remembered("tested names")
    if path not in cache:
        try:
            cache[path] = _names_tested(path.read_text(encoding="utf-8", errors="replace"))
        except OSError:
            cache[path] = frozenset()
    return cache[path]


def _files_around(launch: Launch) -> list[tuple[Path, bool]]:
    """Files that mention the launching function or import one that does, and with False those beside it."""
    function, home = launch.function, launch.module.file
    if function is None or home is None:
        return []
    cache: dict[FunctionInfo, list[tuple[Path, bool]]] = launch.module.project.remembered("files around")
    if function not in cache:
        cache[function] = _searched_around(function, home, launch.module.project)
    return cache[function]


def _searched_around(function: FunctionInfo, home: Path, project: Project) -> list[tuple[Path, bool]]:
    folders = (home.parent, home.parent.parent)
    nearby = [path for path in project.files if path.parent in folders]
    nearby = nearby if len(nearby) <= 8 * MAX_FILES else []
    name = _known_as(function)
    callers = dict.fromkeys(project.files_mentioning(name)) | dict.fromkeys(
        path for path in nearby if _mentions(path, rb"\b%b\b", name)
    )
    near = [home, *(callers if len(callers) <= MAX_FILES else ())]
    found = dict.fromkeys(near)
    for path in near:
        if path.stem != "__init__":
            importers = {*project.files_mentioning(path.stem), *nearby}
            if len(importers) <= 16 * MAX_FILES:
                pattern = rb"^\s*(?:from|import)\s[^\n]*\b%b\b"
                found |= dict.fromkeys(o for o in sorted(importers) if _mentions(o, pattern, path.stem))
    linked = [(path, True) for path in found if path != home][: 2 * MAX_FILES]
    beside = [path for path in nearby if path.parent == home.parent and path not in found]
    return [*linked, *((path, False) for path in beside)]


def _mentions(path: Path, pattern: bytes, word: str) -> bool:
    try:
        text = path.read_bytes()
    except OSError:
        return False
    return re.search(pattern % re.escape(word.encode()), text, re.MULTILINE) is not None
