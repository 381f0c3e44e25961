"""All fixes on a copy of a package: what is fixed, what is new, and whether its kernels still compile."""

from __future__ import annotations

import ast
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from measures.compiling import PATIENCE, Compiled
from measures.packages import HERE
from tritonlint.config import SettingsFinder
from tritonlint.finding import Finding
from tritonlint.fixer import fix
from tritonlint.run import check_paths

_NUMBERS = re.compile(r"0x[0-9a-f]+|\d+")


@dataclass
class FixedPackage:
    """What came of one package."""

    name: str
    found: int = 0
    fixed: int = 0
    files: int = 0
    unsound: list[str] = field(default_factory=list)
    """Files that no longer parse."""
    not_silent: list[str] = field(default_factory=list)
    """Findings that were fixed and are still there."""
    new: list[str] = field(default_factory=list)
    """Findings that were not there before."""
    again: int = 0
    """Files that a second run changes."""
    dropped: list[str] = field(default_factory=list)
    """Fixes that failed their trial."""
    compiled: int = 0
    """Changed kernels that compile before and after."""
    mended: list[str] = field(default_factory=list)
    """Those that compile only after."""
    same_failure: int = 0
    """Those that fail before and after, in the same way."""
    broken: list[str] = field(default_factory=list)
    """Those that compile no more, or fail in another way."""
    skipped: Counter[str] = field(default_factory=Counter)
    """Those that could not be asked, by reason."""

    @property
    def sound(self) -> bool:
        """Whether nothing went wrong."""
        return not (self.unsound or self.not_silent or self.new or self.again or self.broken)


def fix_copy(source: Path, scratch: Path, *, compiles: bool) -> FixedPackage:
    """Fix a copy of a package's folder, check it again, and compile the kernels that changed in both."""
    result = FixedPackage(source.parent.name)
    before, after = scratch / "before", scratch / "after"
    shutil.copytree(source, before)
    shutil.copytree(source, after)
    os.chdir(after)  # so that findings before and after are known by the same paths
    found = check_paths([Path()]).findings
    fixes = fix(found, SettingsFinder(), lambda path: Path(), unsafe=True)
    fixes.write()
    left = check_paths([Path()]).findings
    had, has = _counted(found), _counted(left)
    done = _counted(fixes.applied)
    result.found, result.fixed, result.files = len(found), len(fixes.applied), len(fixes.after)
    result.new = [str(key) for key in has if has[key] > had[key]]
    result.not_silent = [str(key) for key in done if has[key] > max(had[key] - done[key], 0)]
    result.dropped = [f"{one.path}:{one.range.start.line} {one.code}: {why}" for one, why in fixes.dropped]
    result.again = len(fix(left, SettingsFinder(), lambda path: Path(), unsafe=True).after)
    for path in sorted(fixes.after):
        inside = path.relative_to(after.resolve())
        try:
            names = changed_kernels((before / inside).read_bytes(), path.read_bytes())
        except SyntaxError:
            result.unsound.append(str(inside))
            continue
        if compiles and names:
            _compare(_compile(before / inside, names), _compile(path, names), str(inside), result)
    return result


def changed_kernels(before: bytes, after: bytes) -> list[str]:
    """The jitted functions whose text changed, or that call one of the same file whose text did.

    Raises:
        SyntaxError: one of the texts is no Python.
    """
    old, new = _functions(before), _functions(after)
    changed = {name for name, node in new.items() if ast.dump(node) != ast.dump(old.get(name, ast.Pass()))}
    mentions = {
        name: {one.id for one in ast.walk(node) if isinstance(one, ast.Name)} & new.keys()
        for name, node in new.items()
    }
    while more := {name for name, used in mentions.items() if used & changed} - changed:
        changed |= more
    called = {one for name, used in mentions.items() for one in used - {name}}
    return sorted(changed - called)


def _functions(data: bytes) -> dict[str, ast.FunctionDef]:
    return {
        node.name: node
        for node in ast.walk(ast.parse(data))
        if isinstance(node, ast.FunctionDef) and any("jit" in ast.unparse(one) for one in node.decorator_list)
    }


def _counted(findings: Iterable[Finding]) -> Counter[tuple[str, str, str | None]]:
    return Counter((finding.code, finding.path, finding.kernel) for finding in findings)


def _compile(file: Path, names: list[str]) -> dict[str, Compiled]:
    """What came of some kernels: each process goes as far as it can, the next one goes on behind it."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(HERE), *filter(None, sys.path)))}
    answers: dict[str, Compiled] = {}
    while rest := [name for name in names if name not in answers]:
        command = [sys.executable, "-m", "measures.compiling", str(file), *rest]
        status, output, errors = _run_alone(command, environment)
        for line in output.splitlines():
            if line.startswith('{"kernel"'):
                one = Compiled(**json.loads(line))
                answers[one.kernel] = one
        reason = f"more than {PATIENCE} s" if status == -signal.SIGALRM else _last(errors)
        stuck = next((name for name in rest if name not in answers), None)
        if stuck is not None:
            answers[stuck] = Compiled(stuck, skipped=reason)
    return answers


def _run_alone(command: list[str], environment: dict[str, str]) -> tuple[int, str, str]:
    """Run a process, end what it leaves behind (an assembler that is not done), and give what it wrote."""
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        child = subprocess.Popen(
            command, env=environment, cwd=HERE, stdout=output, stderr=errors, start_new_session=True
        )
        status = child.wait()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        output.seek(0)
        errors.seek(0)
        return status, output.read(), errors.read()


def _last(text: str) -> str:
    return (text.strip().splitlines() or ["no word"])[-1][:120]


def _compare(
    before: dict[str, Compiled], after: dict[str, Compiled], file: str, result: FixedPackage
) -> None:
    for name in sorted(before.keys() | after.keys()):
        one = before.get(name, Compiled(name, skipped="no answer"))
        two = after.get(name, Compiled(name, skipped="no answer"))
        if one.skipped or two.skipped:
            result.skipped[one.skipped or two.skipped] += 1
        elif not two.error:
            result.compiled += not one.error
            result.mended += [f"{file} {name}: {one.error}"] if one.error else []
        elif _kind(one.error) == _kind(two.error):
            result.same_failure += 1
        else:
            result.broken.append(f"{file} {name}: {two.error} (was: {one.error or 'compiled'})")


def _kind(error: str) -> str:
    """A message without its numbers: lines move when others are added."""
    return _NUMBERS.sub("#", error)
