"""Fixes, tried: on the cases, and on copies of published packages.

Every core case is copied, fixed with `--fix --unsafe-fixes` and checked again, and so is every package that
is named. Where Triton is installed, the kernels that changed are compiled for CUDA capability 9.0 before and
after, which takes no GPU. Exits with 1 if a file no longer parses, a fixed finding is still reported, a
finding is new, a second run changes anything, or a kernel compiles no more.
"""

from __future__ import annotations

import importlib.util
import json
import shutil
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from functools import partial
from pathlib import Path

import click

from measures import cases, packages
from measures.compiling import compile_file
from measures.fixing import FixedPackage, fix_copy
from tritonlint.config import SettingsFinder
from tritonlint.fixer import fix
from tritonlint.run import check_paths

_PATH = click.Path(path_type=Path)


@click.command(help=__doc__)
@click.option("--corpus", type=_PATH, default=packages.DEFAULT_CORPUS, help="The packages' folder.")
@click.option("--package", "names", multiple=True, help="Only these packages; `none` for the cases alone.")
@click.option("--processes", default=2, show_default=True)
@click.option("--json", "json_file", type=_PATH, help="Write what came of the packages to this file.")
def main(corpus: Path, names: tuple[str, ...], processes: int, json_file: Path | None) -> None:
    """Fix and compile."""
    compiles = importlib.util.find_spec("triton") is not None
    chosen = [one for one in packages.pinned() if (one.name in names or not names)]
    folders = [folder for one in chosen if (folder := one.folder(corpus)).is_dir()]
    results: list[FixedPackage] = []
    with ProcessPoolExecutor(processes, max_tasks_per_child=1) as pool:
        for result in pool.map(partial(_package, compiles=compiles), folders):
            results.append(result)
            _show(result)
    if results:
        _sum(results)
    if json_file is not None:
        json_file.write_text(json.dumps([asdict(one) for one in results], indent=1), encoding="utf-8")
    worse = _cases(compiles=compiles)
    sys.exit(bool(worse) or not all(one.sound for one in results))


def _package(folder: Path, *, compiles: bool) -> FixedPackage:
    with tempfile.TemporaryDirectory() as scratch:
        return fix_copy(folder, Path(scratch).resolve(), compiles=compiles)


def _show(one: FixedPackage) -> None:
    click.echo(
        f"{one.name:28} fixed {one.fixed:3} of {one.found:3} in {one.files:3} files; "
        f"kernels: {one.compiled} compile, {one.same_failure} fail as before"
    )
    for title in ("unsound", "not_silent", "new", "broken", "mended", "dropped"):
        for line in getattr(one, title):
            click.echo(f"    {title}: {line}")
    if one.again:
        click.echo(f"    a second run changes {one.again} files")
    for reason, count in one.skipped.most_common():
        click.echo(f"    {count} not compiled: {reason}")


def _sum(results: list[FixedPackage]) -> None:
    total = {
        name: sum(getattr(one, name) for one in results)
        for name in ("found", "fixed", "files", "again", "compiled", "same_failure")
    }
    lists = {
        name: sum(len(getattr(one, name)) for one in results)
        for name in ("unsound", "not_silent", "new", "broken", "mended", "dropped")
    }
    changed = sum(bool(one.files) for one in results)
    click.echo(f"{len(results)} packages, {changed} changed: {total | lists}")


def _cases(*, compiles: bool) -> int:
    """Fix and compile the cases; how many kernels compile no more."""
    silent: list[str] = []
    folders = [folder for folder in cases.folders() if folder.name.startswith("p")]
    before_ok = after_ok = kernels = worse = 0
    with tempfile.TemporaryDirectory() as scratch:
        for folder in folders:
            copy = Path(scratch) / folder.name
            copy.mkdir()
            shutil.copy(folder / "bad.py", copy)
            run = check_paths([copy])
            result = fix(run.findings, SettingsFinder(), lambda path, copy=copy: copy, unsafe=True)
            before = list(compile_file(copy / "bad.py")) if compiles else []
            result.write()
            changed = copy / "fixed.py"  # a name of its own: modules are kept by their file
            shutil.copy(copy / "bad.py", changed)
            (copy / "bad.py").unlink()
            pitfall = f"TL{cases.read(folder)['pitfall']}"
            left = [one.code for one in check_paths([copy]).findings if one.code.startswith(pitfall)]
            silent += [] if left else [folder.name]
            after = list(compile_file(changed)) if compiles else []
            for one, two in zip(before, after, strict=True):
                kernels += 1
                before_ok += not (one.error or one.skipped)
                after_ok += not (two.error or two.skipped)
                if two.skipped or two.error:
                    worse += not (one.error or one.skipped)
                    was = one.error or one.skipped or "compiled"
                    click.echo(f"  {folder.name} {two.kernel}: {two.skipped or two.error} (was: {was})")
    click.echo(f"{len(silent)} of {len(folders)} cases are silent after their fixes")
    if compiles:
        import triton

        click.echo(
            f"Triton {triton.__version__}: of {kernels} kernels {before_ok} compiled before "
            f"and {after_ok} after; {worse} compile no more"
        )
    return worse


if __name__ == "__main__":
    main()
