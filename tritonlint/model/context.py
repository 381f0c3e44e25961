"""What kind of file a kernel stands in: a library's, or a test, a benchmark, an example, a script."""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tritonlint.model.module import Module

_FOLDERS = frozenset(
    "test tests testing benchmark benchmarks bench "
    "benches example examples tutorial tutorials script scripts "
    "demo demos tool tools docs experiments perf profiling playground notebooks".split()
)
_FILE = re.compile(
    r"^(test_|bench|tune_|tuning_|profile_|example_|demo_|conftest\.py|setup\.py)|"
    r"(_test|_tests|_bench|_benchmark|_benchmarks|_example|_tutorial)\.py$"
)
_MEASURES = re.compile(r"\b(do_bench|do_bench_cudagraph|perf_report)\b")


def is_script(module: Module) -> bool:
    """Whether a file is no library code: a test, benchmark, example or script.

    Its folder or name says so, it measures with `triton.testing`, or it runs something under
    `if __name__ == "__main__"`.
    """
    return _by_path(_inside(module)) or _by_content(module)


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
    if _MEASURES.search(module.source.text):
        return True
    return any(isinstance(node, ast.If) and _is_main_guard(node.test) for node in module.source.tree.body)


def _is_main_guard(test: ast.expr) -> bool:
    return (
        isinstance(test, ast.Compare)
        and isinstance(test.left, ast.Name)
        and test.left.id == "__name__"
        and any(isinstance(c, ast.Constant) and c.value == "__main__" for c in test.comparators)
    )
