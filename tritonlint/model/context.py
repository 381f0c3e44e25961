"""What kind of file a kernel stands in: a library's, or a test, a benchmark, an example, a script."""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from tritonlint.model.module import Module

_FOLDERS = frozenset(
    "test tests testing benchmark benchmarks bench "
    "benches example examples tutorial tutorials script scripts "
    "demo demos baseline baselines tool tools docs experiments perf profiling playground notebooks".split()
)
_VENDORED = frozenset("third_party thirdparty 3rdparty vendor vendored _vendor external extern".split())
_FILE = re.compile(
    r"^(test_|bench|tune_|tuning_|profile_|example_|demo_|conftest\.py|setup\.py)|"
    r"(_test|_tests|_bench|_benchmark|_benchmarks|_example|_tutorial)\.py$|\.ipynb$"
)
_MEASURES = frozenset("do_bench do_bench_cudagraph perf_report".split())


def is_script(module: Module) -> bool:
    """Whether a file is no library code: a test, benchmark, example, notebook or script.

    Its folder or name says so, it measures with `triton.testing`, or it runs something under
    `if __name__ == "__main__"`. What a library imports is library code in spite of such an appendix.
    """
    return _by_path(_inside(module)) or (_by_content(module) and not is_imported(module))


def is_vendored(module: Module) -> bool:
    """Whether a file is a copy of another project's, as its folder says: advice on speed belongs there."""
    return any(part in _VENDORED for part in _inside(module).lower().split("/")[:-1])


def _inside(module: Module) -> str:
    """The path inside the project: where the project itself lies says nothing."""
    if module.file is None:
        return module.source.path
    try:
        return module.file.relative_to(module.project.root).as_posix()
    except ValueError:
        return module.file.name


@lru_cache(maxsize=4096)
def _by_path(path: str) -> bool:
    parts = path.lower().split("/")
    return any(part in _FOLDERS for part in parts[:-1]) or bool(_FILE.search(parts[-1]))


def _by_content(module: Module) -> bool:
    if any(isinstance(node, ast.If) and _is_main_guard(node.test) for node in module.source.tree.body):
        return True
    if not any(word in module.source.text for word in _MEASURES):
        return False
    names = (getattr(node, "attr", getattr(node, "id", None)) for node in module.source.nodes)
    return not _MEASURES.isdisjoint(names)


def is_imported(module: Module) -> bool:
    """Whether library code of the project imports a file."""
    project, file = module.project, module.file
    if file is None:
        return False
    known: dict[Path, bool] = project.remembered("imported")
    if file not in known:
        word = file.parent.name if file.stem == "__init__" else file.stem
        paths = [path for path in project.files_mentioning(word, anywhere=True) if path != file]
        importing = (project.load(path) for path in paths if project.imports(path, word))
        known[file] = any(_imports(other, file) for other in importing if other is not None) or any(
            project.spells(path, f"{file.parent.name}.{file.stem}") for path in paths
        )
    return known[file]


def _imports(module: Module, file: Path) -> bool:
    if _by_path(_inside(module)):
        return False
    for node in module.source.nodes:
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
        if isinstance(node, ast.ImportFrom):
            base = node.module or ""
            wanted = [(base, node.level), *((f"{base}.{name}".lstrip("."), node.level) for name in names)]
        else:
            wanted = [(name, 0) for name in names]
        if any(_stands_in(dotted, level, module, file) for dotted, level in wanted):
            return True
    return False


def _stands_in(dotted: str, level: int, importer: Module, file: Path) -> bool:
    if file.stem not in dotted and file.stem != "__init__":
        return False
    parts = tuple(dotted.split("."))
    if level == 0 and len(parts) > 1 and file.with_suffix("").parts[-len(parts) :] == parts:
        return True  # also where a package was moved below another, so that its own name leads nowhere
    found = importer.project.find_module(dotted, level, importer)
    return found is not None and found.file == file


def _is_main_guard(test: ast.expr) -> bool:
    return (
        isinstance(test, ast.Compare)
        and isinstance(test.left, ast.Name)
        and test.left.id == "__name__"
        and any(isinstance(c, ast.Constant) and c.value == "__main__" for c in test.comparators)
    )
