"""Recall on planted faults: kernels on which a rule is silent, changed so that it must speak.

A plant counts as found where one of its rules reports it, at medium confidence or above, on a line of the
change or on one that the operator names (the loop that adds up, the launch that passes the value).
`harmless.tsv` names the plants that do no harm, each with its reason; they are listed and not counted.
"""

from __future__ import annotations

import random
import re
import sys
import warnings
from collections import defaultdict
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from measures.operators import OPERATORS
from measures.packages import Package, read_table
from measures.planting import Operator, Plant
from measures.reading import File
from tritonlint.syntax import first_line

MARGIN = 4
"""How many times more places are drawn than wanted, since on some the rule is not silent to begin with."""
_ANY_EXTENT = frozenset(("ascend", "npu", "cambricon", "mlu", "kunlunxin"))
"""Words in the paths of kernels for compilers that take tiles of any extent."""
_OF_EXTENTS = frozenset(("TL201", "TL202"))
_COPIES = frozenset(("third_party", "vendor"))
"""Folders with copies of other projects' files, where advice on speed is no more than mentioned."""
_OF_SPEED = frozenset(("TL301", "TL303", "TL401", "TL601", "TL602"))
_CACHES_TUNING = b"TRITON_CACHE_AUTOTUNING"
"""What a package sets to keep the results of tuning on disk: one tuner more does no harm there."""
_TESTS = ("test", "bench", "example", "conftest")


@dataclass(frozen=True)
class Place:
    """Where an operator can plant a fault."""

    operator: str
    package: str
    path: str
    """`<package>/<version>/...`."""
    line: int
    function: str
    order: int
    """Of several at one line, which."""

    @property
    def key(self) -> tuple[str, str, int]:
        """What a row of `harmless.tsv` names."""
        return (self.operator, self.path, self.line)


@dataclass(frozen=True)
class Outcome:
    """What became of one plant."""

    place: Place
    silent: bool
    """Whether the rule said nothing about the function before."""
    found: bool
    elsewhere: tuple[str, ...]
    """What the rule, or another of the same operator, reported in the function instead."""


def _applicable(text: str) -> File | None:
    if "triton" not in text or "jit" not in text:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return File(text)
    except (SyntaxError, ValueError, RecursionError):
        return None


def places_in(path: Path, package: str, relative: str) -> list[tuple[Place, str]]:
    """Every place in a file, with the text of its function, by which copies are told."""
    file = _applicable(path.read_bytes().decode("utf-8-sig", "replace"))
    if file is None:
        return []
    found = []
    any_extent = bool(_ANY_EXTENT & set(re.split(r"[^a-z0-9]+", relative.lower().replace("_", "/"))))
    is_copy = not _COPIES.isdisjoint(relative.lower().split("/"))
    for operator in OPERATORS:
        if (any_extent and operator.codes <= _OF_EXTENTS) or (is_copy and operator.codes <= _OF_SPEED):
            continue
        texts = {function.name: file.data[slice(*file.span(function.node))] for function in file.functions}
        counts: dict[int, int] = defaultdict(int)
        for plant in operator.plants(file):
            order = counts[plant.old_line]
            counts[plant.old_line] += 1
            place = Place(operator.name, package, relative, plant.old_line, plant.function, order)
            found.append((place, f"{operator.name} {hash(texts[plant.function])}"))
    return found


def draw(packages: list[Package], corpus: Path, each: int, seed: int, jobs: int) -> list[Place]:
    """Places for every operator, packages taking turns; a function and its copies give one place each."""
    files = [
        (path, package.name, path.relative_to(corpus).as_posix())
        for package in packages
        for path in sorted(package.folder(corpus).rglob("*.py"))
        if not any(word in path.relative_to(corpus).as_posix() for word in _TESTS)
    ]
    by_operator: dict[str, dict[str, list[tuple[Place, str]]]] = defaultdict(lambda: defaultdict(list))
    with ProcessPoolExecutor(jobs) as pool:
        for found in pool.map(places_in, *zip(*files, strict=True), chunksize=32):
            for place, text in found:
                by_operator[place.operator][place.package].append((place, text))
    for name in {name for path, name, _ in files if _CACHES_TUNING in path.read_bytes()}:
        by_operator["tune-in-production"].pop(name, None)
    drawn: list[Place] = []
    for operator in OPERATORS:
        chance = random.Random(f"{seed} {operator.name}")
        drawn += _spread(by_operator[operator.name], each * MARGIN, chance)
    return drawn


def _spread(
    by_package: dict[str, list[tuple[Place, str]]], wanted: int, chance: random.Random
) -> list[Place]:
    names = sorted(by_package)
    chance.shuffle(names)
    queues = {name: chance.sample(by_package[name], len(by_package[name])) for name in names}
    seen: set[str] = set()
    drawn: list[Place] = []
    while any(queues.values()) and len(drawn) < wanted:
        for name in names:
            while queues[name]:
                place, text = queues[name].pop()
                if text not in seen:
                    seen.add(text)
                    drawn.append(place)
                    break
    return drawn[:wanted]


def plants_of(text: str, wanted: Iterable[Place]) -> Iterator[tuple[Place, Plant]]:
    """The faults at some places of a file."""
    file = File(text)
    by_operator: dict[str, list[Place]] = defaultdict(list)
    for place in wanted:
        by_operator[place.operator].append(place)
    for operator in OPERATORS:
        places = {(place.line, place.order): place for place in by_operator.get(operator.name, [])}
        counts: dict[int, int] = defaultdict(int)
        for plant in operator.plants(file) if places else ():
            key = (plant.old_line, counts[plant.old_line])
            counts[plant.old_line] += 1
            if key in places:
                yield places[key], plant


# --- running -------------------------------------------------------------------------------------
@cache
def _context(root: Path):  # type: ignore[no-untyped-def]
    """What a worker knows of a project: its files, read once."""
    from tritonlint.engine import Context

    context = Context()
    context.project(root)
    return context


def check(text: str, codes: frozenset[str], path: Path, root: Path):  # type: ignore[no-untyped-def]
    """Findings at medium confidence or above, were this the text of the file at `path`."""
    from tritonlint.config import Settings
    from tritonlint.engine import check_source
    from tritonlint.selection import Selection

    settings = Settings(selection=Selection(tuple(sorted(codes))))
    context = _context(root).renewed()
    return check_source(text, path.name, settings, file=path, root=root, context=context)


def run_places(path: Path, root: Path, places: list[Place]) -> list[Outcome]:
    """Plant each fault of one file and see whether it is found."""
    text = path.read_bytes().decode("utf-8-sig", "replace")
    outcomes = []
    for place, plant in plants_of(text, places):
        before = check(text, plant.codes, path, root)
        span = _span(text, plant.function, place.line)
        silent = not any(_is_about(finding, plant.function, span) for finding in before)
        if not silent:
            outcomes.append(Outcome(place, False, False, ()))
            continue
        after = check(plant.text, plant.codes, path, root)
        found = any(plant.lines & lines_of(finding) for finding in after)
        known = {finding.message for finding in before}
        stray = tuple(f"{f.code}:{f.range.start.line}" for f in after if f.message not in known)
        outcomes.append(Outcome(place, True, found, () if found else stray[:4]))
    return outcomes


def lines_of(finding) -> set[int]:  # type: ignore[no-untyped-def]
    """The line of a finding and those of its related places in the same file."""
    return {
        finding.range.start.line,
        *(place.range.start.line for place in finding.related if place.path == finding.path),
    }


def _span(text: str, function: str, line: int) -> range:
    spans = [
        range(first_line(node), (node.end_lineno or 0) + 1)
        for node in (item.node for item in File(text).functions)
        if node.name == function
    ]
    return next((span for span in spans if line in span), range(line, line + 1))


def _is_about(finding, function: str, span: range) -> bool:  # type: ignore[no-untyped-def]
    return finding.kernel == function or any(line in span for line in lines_of(finding))


def run(places: list[Place], corpus: Path, each: int, jobs: int) -> list[Outcome]:
    """The first `each` plants of every operator whose rule was silent before."""
    from tritonlint.roots import project_root

    outcomes: list[Outcome] = []
    wanted = {operator.name: each for operator in OPERATORS}
    rest = list(places)
    with ProcessPoolExecutor(jobs) as pool:
        while rest:
            batch: list[Place] = []
            later: list[Place] = []
            room = dict(wanted)
            for place in rest:
                (batch if room[place.operator] > 0 else later).append(place)
                room[place.operator] -= 1
            if not batch:
                break
            by_file: dict[str, list[Place]] = defaultdict(list)
            for place in batch:
                by_file[place.path].append(place)
            runs = []
            for path, in_file in sorted(by_file.items()):
                root = project_root(corpus / path, corpus / "/".join(path.split("/")[:2]))
                runs.append(pool.submit(run_places, corpus / path, root, in_file))
            for done, future in enumerate(runs, 1):
                for outcome in future.result():
                    outcomes.append(outcome)
                    wanted[outcome.place.operator] -= outcome.silent
                _progress(done, len(runs))
            rest = [place for place in later if wanted[place.operator] > 0]
    order = {place: index for index, place in enumerate(places)}
    return sorted((one for one in outcomes if one.silent), key=lambda one: order[one.place])


def _progress(done: int, of: int) -> None:
    if sys.stderr.isatty():
        print(f"\rplanted faults: {done} of {of} files", end="" if done < of else "\n", file=sys.stderr)


# --- figures -------------------------------------------------------------------------------------
@dataclass
class Recall:
    """How one operator fared."""

    operator: str
    planted: int = 0
    """Those that do harm."""
    found: int = 0
    harmless: int = 0
    missed: list[str] = field(default_factory=list)

    @property
    def rate(self) -> float:
        """Found of planted, 1 where nothing was planted."""
        return self.found / self.planted if self.planted else 1.0


def harmless() -> dict[tuple[str, str, int], str]:
    """Plants that do no harm, with the reason."""
    rows = read_table("harmless.tsv")
    return {(row["operator"], row["path"], int(row["line"])): row["reason"] for row in rows}


def recall(outcomes: list[Outcome]) -> list[Recall]:
    """Figures for each operator, in the order of the operators."""
    excused = harmless()
    table = {operator.name: Recall(operator.name) for operator in OPERATORS}
    for outcome in outcomes:
        row = table[outcome.place.operator]
        if outcome.place.key in excused and not outcome.found:
            row.harmless += 1
            continue
        row.planted += 1
        row.found += outcome.found
        if not outcome.found:
            place = outcome.place
            row.missed.append(
                f"{place.path}:{place.line} {place.function} {' '.join(outcome.elsewhere)}".strip()
            )
    return list(table.values())


def by_name(name: str) -> Operator:
    """The operator called `name`."""
    return next(operator for operator in OPERATORS if operator.name == name)
