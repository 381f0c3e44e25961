"""Many files in, findings out: what was known before from the cache, the rest spread over processes.

The answer is the same whatever the number of processes and whether anything came from the cache.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from tritonlint import catalog
from tritonlint.config import Settings, SettingsFinder
from tritonlint.files import Found, discover, display_path, mentions_triton
from tritonlint.grades import Verdict
from tritonlint.roots import project_root

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tritonlint.cache import Known, ProjectCache
    from tritonlint.engine import Context
    from tritonlint.finding import Finding
    from tritonlint.rule import Rule

STDIN = "<stdin>"
"""The path that findings show for a text without a name."""


@dataclass(slots=True)
class Run:
    """What one run saw and found."""

    findings: list[Finding] = field(default_factory=list)
    files: int = 0
    """Files that were read."""
    read: set[str] = field(default_factory=set)
    """Where they lie on disk."""
    triton_files: int = 0
    """Those of them that mention Triton, and so were checked."""
    failing: bool = False
    """Whether a finding is at or above the severity at which the settings of its file fail."""
    errors: list[str] = field(default_factory=list)
    """Files and folders that could not be read, in words."""
    incomplete: bool = False
    """Whether one of them was asked for by name, so that an answer is missing."""
    given: dict[Path, Path] = field(default_factory=dict)
    """The folder of the command line under which each file with a finding was found."""
    packs: set[tuple[str, ...]] = field(default_factory=set)
    """The rule packs that files were checked with."""
    seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    """Where the time of all processes went: by rule, for parsing, and for finding and reading files."""
    took: dict[str, float] = field(default_factory=dict)
    """Seconds by file."""

    @property
    def rules(self) -> dict[str, type[Rule]]:
        """The documented rules of every pack in question, by code."""
        return {c: rule for packs in sorted(self.packs) for c, rule in catalog.load(packs).documented.items()}

    def add(self, findings: list[Finding], settings: Settings) -> None:
        """Count the findings of one checked file."""
        self.triton_files += 1
        self.findings += findings
        self.packs.add(settings.packs)
        self.failing |= any(finding.severity.rank >= settings.fail_on.rank for finding in findings)

    def weigh(self, findings: list[Finding], finder: SettingsFinder) -> None:
        """Take findings over in place of those there were; what a run refuted fails no build."""
        self.findings = findings
        self.failing = any(
            finding.severity.rank >= finder.of_file(Path(finding.path)).fail_on.rank
            for finding in findings
            if finding.verdict is not Verdict.REFUTED
        )


@dataclass(frozen=True, slots=True)
class Task:
    """A file to check, and its content."""

    found: Found
    data: bytes
    settings: Settings


@dataclass(frozen=True, slots=True)
class Answer:
    """What checking some files gave, in their order."""

    findings: tuple[tuple[Finding, ...], ...]
    took: tuple[float, ...]
    seconds: dict[str, float]


FEW = 8
"""So many files or fewer are checked faster by one process than others are started."""
CHUNKS = 6
"""Pieces of work for each process: many enough that none waits long for the last one."""


def check_paths(
    paths: Iterable[Path],
    finder: SettingsFinder | None = None,
    *,
    jobs: int = 1,
    cache: Path | None = None,
    tell: Callable[[int, int], None] | None = None,
) -> Run:
    """Check files and folders.

    Args:
        paths: what to check.
        finder: gives the settings of every file.
        jobs: the number of processes.
        cache: the folder of the cache, None to check everything anew.
        tell: is told how many of how many files are done, now and then.

    Raises:
        ConfigError: a configuration file cannot be used.
        PackError: a rule pack cannot be loaded.
    """
    finder = finder or SettingsFinder()
    run, start = Run(), perf_counter()
    named = {os.path.abspath(path): path for path in paths}

    def note_error(path: Path, error: OSError) -> None:
        run.errors.append(f"{display_path(path)}: cannot be read: {error.strerror or error}")
        run.incomplete |= os.path.abspath(path) in named

    caches = _Caches(cache)
    tasks: list[Task] = []
    for found in discover(named.values(), finder, note_error):
        settings = finder.of_file(found.file)
        known = caches.find(found, settings)
        if known is None:
            try:
                data = found.file.read_bytes()
            except OSError as error:
                note_error(found.file, error)
                continue
        run.files += 1
        run.read.add(str(found.file))
        if known is not None and known.checked:
            run.add(list(known.findings), settings)
            if known.findings:
                run.given[found.file] = found.given
        elif known is None and mentions_triton(data):
            tasks.append(Task(found, data, settings))
        elif known is None:
            caches.keep(found, settings, None)
    run.seconds["finding and reading files"] += perf_counter() - start
    for task, findings in _spread(tasks, run, jobs, tell) if tasks else ():
        run.add(list(findings), task.settings)
        if findings:
            run.given[task.found.file] = task.found.given
        caches.keep(task.found, task.settings, findings)
    caches.save()
    run.findings.sort(key=lambda finding: finding.sort_key)
    return run


class _Caches:
    """The caches of the projects that the files of a run belong to; none without a folder."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._by_root: dict[Path, ProjectCache] = {}

    def of(self, found: Found, settings: Settings) -> ProjectCache | None:
        """The cache of a file's project."""
        if self._folder is None:
            return None
        from tritonlint.cache import ProjectCache

        root = project_root(found.file, found.given)
        if root not in self._by_root:
            self._by_root[root] = ProjectCache(self._folder, root, settings.packs)
        return self._by_root[root]

    def find(self, found: Found, settings: Settings) -> Known | None:
        """What is known of a file."""
        cache = self.of(found, settings)
        return cache.find(found.file, settings) if cache is not None else None

    def keep(self, found: Found, settings: Settings, findings: Iterable[Finding] | None) -> None:
        """Remember what was found in a file; None if it has nothing to do with Triton."""
        cache = self.of(found, settings)
        if cache is not None:
            cache.keep(found.file, settings, findings)

    def save(self) -> None:
        """Write all that is new."""
        for cache in self._by_root.values():
            cache.save()


# --- processes ----------------------------------------------------------------------------------------
def _spread(
    tasks: list[Task], run: Run, jobs: int, tell: Callable[[int, int], None] | None
) -> Iterator[tuple[Task, tuple[Finding, ...]]]:
    """Check files, by several processes where there are enough; neighbours stay together."""
    done = 0
    for chunk, answer in _answers(tasks, jobs):
        for task, findings, took in zip(chunk, answer.findings, answer.took, strict=True):
            run.took[display_path(task.found.file)] = took
            yield task, findings
        for stage, seconds in answer.seconds.items():
            run.seconds[stage] += seconds
        done += len(chunk)
        if tell is not None:
            tell(done, len(tasks))


def _answers(tasks: list[Task], jobs: int) -> Iterator[tuple[list[Task], Answer]]:
    from tritonlint.engine import Context

    context = Context()
    if jobs <= 1 or len(tasks) <= FEW:
        for task in tasks:
            yield [task], check_tasks([task], context)
        return
    size = max(1, len(tasks) // (jobs * CHUNKS))
    waiting = [tasks[first : first + size] for first in range(0, len(tasks), size)]
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import get_all_start_methods, get_context

    # A fork inherits what has been imported and read; nothing runs beside it that could hold a lock.
    forks = "fork" in get_all_start_methods() and os.name == "posix"
    if forks:
        _prepare(tasks, context, len(tasks) // jobs)
    method = get_context("fork" if forks else "spawn")
    global _inherited
    _inherited = context
    failed: list[list[Task]] = []
    with ProcessPoolExecutor(jobs, mp_context=method) as pool:
        try:
            futures = [(chunk, pool.submit(check_tasks, chunk)) for chunk in waiting]
            for chunk, future in futures:
                try:
                    yield chunk, future.result()
                except BrokenProcessPool:  # killed, perhaps for want of memory
                    failed.append(chunk)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    for chunk in failed:
        yield chunk, check_tasks(chunk, context)


_inherited: Context | None = None
"""What a forked process finds already read."""


def _prepare(tasks: list[Task], context: Context, size: int) -> None:
    """Import and read what all processes will need, before they part.

    A project of up to `size` files, a process's share, is read by those that get a part of it: they forget it
    when they are done, which they cannot with what they inherit.
    """
    for packs in {task.settings.packs for task in tasks}:
        catalog.load(packs)
    roots = Counter(project_root(task.found.file, task.found.given) for task in tasks)
    for root, count in roots.items():
        if count > size:
            context.project(root).read()


def check_tasks(tasks: list[Task], context: Context | None = None) -> Answer:
    """Check some files one after the other, in this process."""
    from tritonlint.engine import Context, check_file

    context = context or _inherited or Context()
    before = dict(context.seconds)
    findings: list[tuple[Finding, ...]] = []
    took: list[float] = []
    for task in tasks:
        start = perf_counter()
        context.keep_near(project_root(task.found.file, task.found.given))
        findings.append(tuple(check_file(task.found, task.data, task.settings, context)))
        took.append(perf_counter() - start)
    spent = {stage: seconds - before.get(stage, 0.0) for stage, seconds in context.seconds.items()}
    return Answer(tuple(findings), tuple(took), spent)


def check_text(data: bytes, file: Path | None, finder: SettingsFinder | None = None) -> Run:
    """Check a text that need not be on disk, such as standard input, as the content of `file`.

    Raises:
        ConfigError: a configuration file cannot be used.
        PackError: a rule pack cannot be loaded.
    """
    finder = finder or SettingsFinder()
    run = Run(files=1)
    if not mentions_triton(data):
        return run
    from tritonlint.engine import check_file, check_source

    if file is None:
        settings = finder.of_folder(Path.cwd())
        run.add(check_source(data, STDIN, settings), settings)
    else:
        settings = finder.of_file(file)
        run.add(check_file(Found(file.absolute(), file.absolute().parent), data, settings), settings)
    return run
