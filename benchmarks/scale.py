"""Many packages at once: `python benchmarks/scale.py FOLDER --engine pool` or `--engine ray`.

FOLDER holds one package in each of its folders. A package is one task: its files share one context, since a
launch in one may speak for a kernel in another, and what was read of it is gone with the task. Findings go
to standard output as JSON lines; how fast it went goes to standard error. `--engine ray` needs `ray`.
"""

from __future__ import annotations

import json
import os
import re
import resource
import sys
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

import click

from tritonlint.engine import Context, check_source
from tritonlint.roots import python_files

_JIT = re.compile(rb"^[ \t]*@triton\.jit\b", re.MULTILINE)
MILLION = 1_000_000


@dataclass(frozen=True)
class Answer:
    """What came of one package."""

    name: str
    files: int
    kernels: int
    findings: list[dict[str, object]]
    cpu: float
    """Seconds of one core."""
    peak: int
    """The most memory that the process has held so far, in MiB."""


def check_package(folder: Path) -> Answer:
    """Check every file of a package: a pure function of the folder, so that any engine can run it."""
    start, context = time.process_time(), Context()
    files = kernels = 0
    findings: list[dict[str, object]] = []
    for name in python_files(folder):
        file = Path(name)
        data = file.read_bytes()
        files, kernels = files + 1, kernels + len(_JIT.findall(data))
        shown = file.relative_to(folder.parent).as_posix()
        found = check_source(data, shown, file=file, root=folder, context=context)
        findings += [{"path": one.path, "line": one.range.start.line, "code": one.code} for one in found]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    return Answer(folder.name, files, kernels, findings, time.process_time() - start, peak)


def by_pool(folders: Iterable[Path], workers: int) -> Iterator[Answer]:
    """The packages under the standard library's process pool."""
    with ProcessPoolExecutor(workers) as pool:
        for future in as_completed([pool.submit(check_package, folder) for folder in folders]):
            yield future.result()


def by_ray(folders: Iterable[Path], workers: int) -> Iterator[Answer]:
    """The packages as tasks of Ray, which may run on other machines that see the same folders."""
    import ray

    ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False)
    task = ray.remote(num_cpus=1)(check_package)
    waiting = [task.remote(folder) for folder in folders]
    while waiting:
        ready, waiting = ray.wait(waiting)
        yield from ray.get(ready)
    ray.shutdown()


ENGINES = {"pool": by_pool, "ray": by_ray}


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--engine", type=click.Choice(sorted(ENGINES)), default="pool", show_default=True)
@click.option("--workers", default=os.cpu_count() or 1, show_default="one for each core")
def main(folder: Path, engine: str, workers: int) -> None:
    """Check every package in FOLDER and tell how fast it went."""
    packages = sorted(path for path in folder.resolve().iterdir() if path.is_dir())
    start, answers = time.perf_counter(), []
    for answer in ENGINES[engine](packages, workers):
        answers.append(answer)
        print(f"\r{len(answers)} of {len(packages)}", end="", file=sys.stderr, flush=True)
        for finding in sorted(answer.findings, key=str):
            print(json.dumps(finding))
    wall = time.perf_counter() - start
    cpu, kernels = sum(a.cpu for a in answers), sum(a.kernels for a in answers)
    print(
        f"\n{engine}, {workers} workers: {sum(a.files for a in answers):,} files, {kernels:,} kernels, "
        f"{sum(len(a.findings) for a in answers):,} findings in {wall:.1f} s ({cpu:.1f} s of one core); "
        f"largest process {max(a.peak for a in answers)} MiB\n"
        f"one core: {sum(a.files for a in answers) / cpu:.0f} files/s, {kernels / cpu:.1f} kernels/s; "
        f"a million kernels: {cpu / kernels * MILLION / 3600:.0f} core hours",
        file=sys.stderr,
    )


if __name__ == "__main__":
    main()
