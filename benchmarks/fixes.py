"""Fixes, tried: `python benchmarks/fixes.py` on the cases, compiled where Triton is installed.

Every core case is copied, fixed with `--fix --unsafe-fixes` and checked again, and the kernels of both are
compiled for CUDA capability 9.0, which takes no GPU. What is printed are the cases that are silent, and the
kernels that compile, before and after.
"""

from __future__ import annotations

import importlib.util
import shutil
import sys
import tempfile
from pathlib import Path

import click

from measures import cases
from measures.compiling import compile_file
from tritonlint.config import SettingsFinder
from tritonlint.fixer import fix
from tritonlint.run import check_paths


@click.command(help=__doc__)
def main() -> None:
    """Fix and compile."""
    compiles = importlib.util.find_spec("triton") is not None
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
    sys.exit(bool(worse))


if __name__ == "__main__":
    main()
