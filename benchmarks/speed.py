"""How long it takes, beside what others take: `python benchmarks/speed.py --corpus CORPUS`.

Every row is measured in turns with the command it is held against, so that a busy machine slows both. What
is printed are minimum and median of the wall-clock times, and the ratio of the medians beside its goal.
ruff must be on the PATH, and flake8 and libcst in some Python: `--beside /path/to/python` says which.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path

import click

from measures.packages import DEFAULT_CORPUS

HERE = Path(__file__).parent.parent

SLICES = """
import ast, sys, time
import libcst
from pathlib import Path
text, start = [], time.process_time()
for path in sorted(Path(sys.argv[1]).rglob("*.py")):
    data = path.read_bytes()
    if b"triton" not in data:
        continue
    try:
        tree = ast.parse(data)
    except (SyntaxError, ValueError):
        continue
    lines = data.decode("utf-8", "replace").splitlines(keepends=True)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and any("jit" in ast.unparse(d) for d in node.decorator_list):
            text.append("if 1:\\n" + "".join(" " + line for line in lines[node.lineno - 1 : node.end_lineno]))
start = time.process_time()
for each in text:
    try:
        libcst.parse_module(each)
    except Exception:
        pass
print(time.process_time() - start)
"""
"""CPU seconds that libcst takes for the kernels of a folder alone: where a linter on libcst would start."""


@dataclass
class Row:
    """One measure, its runs in seconds, and the least that the ratio of the medians should be."""

    what: str
    beside: str
    goal: float
    ours: list[float] = field(default_factory=list)
    theirs: list[float] = field(default_factory=list)

    @property
    def ratio(self) -> float:
        """Our median by theirs."""
        return statistics.median(self.ours) / statistics.median(self.theirs)


os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
"""What is measured is compiled to bytecode, as an installed package is, also where it lies in a checkout."""


def wall(*command: str) -> Callable[[], float]:
    """The wall-clock seconds of a command."""

    def once() -> float:
        start = time.perf_counter()
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        return time.perf_counter() - start

    return once


def cpu(*command: str) -> Callable[[], float]:
    """The CPU seconds of a command and its processes."""

    def once() -> float:
        before = os.times()
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        after = os.times()
        return after.children_user + after.children_system - before.children_user - before.children_system

    return once


PEAK = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024)
"""
"""The most memory, in MiB, that the largest process of a command held."""


def printed(*command: str) -> Callable[[], float]:
    """The number that a command prints."""
    return lambda: float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


@click.command(help=__doc__)
@click.option("--corpus", type=click.Path(path_type=Path, exists=True), default=DEFAULT_CORPUS)
@click.option("--beside", default=sys.executable, help="A Python that has flake8 and libcst.")
@click.option("--runs", default=3, show_default=True)
@click.option("--json", "output", type=click.Path(path_type=Path))
def main(corpus: Path, beside: str, runs: int, output: Path | None) -> None:
    """Measure."""
    with tempfile.TemporaryDirectory() as scratch:
        rows = [row for row in _rows(corpus.resolve(), beside, Path(scratch), runs) if row is not None]
    click.echo(f"Python {platform.python_version()}, {os.cpu_count()} cores, {runs} runs; seconds")
    click.echo(
        f"{'measure':26}{'ours: min':>10}{'median':>8}{'beside: min':>13}{'median':>8}{'ratio':>7}{'goal':>6}"
    )
    for row in rows:
        ours, theirs = statistics.median(row.ours), statistics.median(row.theirs)
        click.echo(
            f"{row.what:26}{min(row.ours):10.2f}{ours:8.2f}{min(row.theirs):13.2f}{theirs:8.2f}{row.ratio:7.2f}"
            f"{row.goal:6.2f}  {'met' if row.ratio <= row.goal else 'NOT MET'}, {row.beside}"
        )
    if output is not None:
        output.write_text(json.dumps([asdict(row) | {"ratio": row.ratio} for row in rows], indent=1) + "\n")


def _rows(corpus: Path, beside: str, scratch: Path, runs: int) -> list[Row | None]:
    lint = (sys.executable, "-m", "tritonlint", "check")
    ruff = shutil.which("ruff") or str(Path(sys.executable).with_name("ruff"))
    vllm, fla, gems = (corpus / name for name in ("vllm/0.33.0", "fla-core/0.6.0", "flag-gems/5.0.2"))
    plain, one = scratch / "plain" / "plain.py", scratch / "one" / "one.py"
    for file in (plain, one):
        file.parent.mkdir()
    plain.write_text("x = 1\n")
    longest = fla / "fla/ops/kda/chunk_intra.py"
    if longest.is_file():
        one.write_bytes(longest.read_bytes())
    cache = ("--cache-dir", str(scratch / "cache"))
    ruff_cache = ("--cache-dir", str(scratch / "ruff"))
    flake8 = (beside, "-m", "flake8", "--select", "F")

    def row(
        what: str, theirs: str, goal: float, ours: Callable[[], float], other: Callable[[], float]
    ) -> Row:
        measured = Row(what, theirs, goal)
        with click.progressbar(range(runs), label=f"{what:44}", file=sys.stderr) as bar:
            for _ in bar:
                measured.ours.append(ours())
                measured.theirs.append(other())
        return measured

    def there(folder: Path, *measure: object) -> Row | None:
        return row(*measure) if folder.is_dir() else None  # type: ignore[arg-type]

    cold = {p: wall(*lint, "--no-cache", str(p)) for p in (vllm, fla, gems)}
    warm = {p: wall(*lint, *cache, str(p)) for p in (vllm, gems)}
    for folder, check in warm.items():
        if folder.is_dir():
            check()
    liger, ten, own = corpus / "liger-kernel/0.8.5", scratch / "ten", scratch / "own"
    for number in range(10 if liger.is_dir() else 0):
        for folder in (ten, own):
            shutil.copytree(liger, folder / str(number), ignore=lambda _, names: {"test"} & set(names))
        (own / str(number) / "pyproject.toml").touch()  # a project each, where `ten` is one of all copies
    peak = (sys.executable, "-c", PEAK, *lint, "--no-cache", "--jobs", "1")  # one worker, all of its files
    click_alone = wall(sys.executable, "-c", "import click")
    libcst = wall(beside, "-c", f"import libcst, click; libcst.parse_module(open({str(one)!r}).read())")
    return [
        there(vllm, "vllm 0.33.0, cold", "ruff check --no-cache", 5.0, cold[vllm],
              wall(ruff, "check", "--no-cache", str(vllm))),
        there(vllm, "vllm 0.33.0, warm", "ruff check, warm", 1.3, warm[vllm],
              wall(ruff, "check", *ruff_cache, str(vllm))),
        there(fla, "fla-core 0.6.0, cold", "flake8 --select F", 0.9, cold[fla], wall(*flake8, str(fla))),
        there(gems, "flag-gems 5.0.2, cold", "flake8 --select F", 0.7, cold[gems], wall(*flake8, str(gems))),
        there(gems, "flag-gems 5.0.2, warm", "flake8 --select F", 0.03, warm[gems], wall(*flake8, str(gems))),
        there(vllm, "vllm 0.33.0, CPU", "libcst on its kernels", 2.5, cpu(*lint, "--no-cache", str(vllm)),
              printed(beside, "-c", SLICES, str(vllm))),
        there(fla, "fla-core 0.6.0, CPU", "libcst on its kernels", 2.5, cpu(*lint, "--no-cache", str(fla)),
              printed(beside, "-c", SLICES, str(fla))),
        row("--version", "import click, + 15 ms", 1.0, wall(*lint[:-1], "--version"),
            lambda: click_alone() + 0.015),
        row("a file without Triton", "import click, + 15 ms", 1.0, wall(*lint, "--no-cache", str(plain)),
            lambda: click_alone() + 0.015),
        row("one file of 1,000 lines", "import libcst, parse it", 1.25, wall(*lint, "--no-cache", str(one)),
            libcst) if one.exists() else None,
        there(liger, "ten copies of liger, time", "one copy", 10.5, wall(*lint, "--no-cache", str(ten)),
              wall(*lint, "--no-cache", str(ten / "0"))),
        there(liger, "ten copies in one project, MiB", "one copy", 1.1, printed(*peak, str(ten)),
              printed(*peak, str(ten / "0"))),
        there(liger, "ten copies, each a project, MiB", "one copy", 1.1, printed(*peak, str(own)),
              printed(*peak, str(own / "0"))),
    ]  # fmt: skip


if __name__ == "__main__":
    main()
