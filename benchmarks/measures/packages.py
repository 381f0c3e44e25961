"""The published packages that everything is measured on: pinned, downloaded by pip, never installed.

A corpus folder holds `<package>/<version>/...`, the Python files of each distribution. `packages.tsv` pins
them and tells how many functions each has under `@triton.jit`.
"""

from __future__ import annotations

import csv
import os
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
DEFAULT_CORPUS = HERE / "corpus"
_KEPT = (".py", ".pyi", ".ipynb")
_PLATFORMS = ("any", *(f"manylinux_2_{minor}_x86_64" for minor in (17, 27, 28, 31, 34, 35, 39)))
_PLATFORMS += ("manylinux1_x86_64", "manylinux2014_x86_64", "linux_x86_64")
_BUILD_NEEDS = (
    "torch==2.13.0 setuptools wheel setuptools-scm setuptools-rust packaging ninja cmake jinja2 numpy"
)
_NEWER_PYTHON = ("hilbertsfc", "parallax-kernel")  # their wheels ask for 3.12


@dataclass(frozen=True)
class Package:
    """One pinned distribution."""

    name: str
    version: str
    kind: str
    """What it is for: training, serving, attention ..."""
    form: str
    """`wheel` or `sdist`."""
    jit_functions: int

    def folder(self, corpus: Path) -> Path:
        """Where its files lie in a corpus folder."""
        return corpus / self.name / self.version

    @cached_property
    def requirement(self) -> str:
        """What pip is asked for."""
        return f"{self.name}=={self.version}"


def read_table(name: str) -> list[dict[str, str]]:
    """The rows of a table beside this package, by column."""
    with (HERE / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def pinned() -> list[Package]:
    """Every package of `packages.tsv`."""
    packages = []
    for row in read_table("packages.tsv"):
        name, version = row["requirement"].split("==")
        packages.append(Package(name, version, row["kind"], row["form"], int(row["jit_functions"])))
    return packages


def present(corpus: Path, names: tuple[str, ...] = ()) -> list[Package]:
    """The packages that lie in a corpus folder; only those called `names`, if any are given."""
    packages = [package for package in pinned() if package.folder(corpus).is_dir()]
    return [package for package in packages if not names or package.name in names]


def download(corpus: Path) -> list[str]:
    """Fetch what is missing, and say for each package that could not be had why.

    Wheels need pip alone. Source distributions run their own build to name their files, so those need an
    environment with torch, which is made for the purpose and removed.
    """
    failures = []
    missing = [package for package in pinned() if not package.folder(corpus).is_dir()]
    for package in (one for one in missing if one.form == "wheel"):
        python = "3.12" if package.name in _NEWER_PYTHON else "3.11"
        options = ["--only-binary=:all:", "--python-version", python]
        options += [word for platform in _PLATFORMS for word in ("--platform", platform)]
        failures += _fetch(package, corpus, [sys.executable, "-m", "pip"], options)
    sources = [one for one in missing if one.form == "sdist"]
    if sources:
        with tempfile.TemporaryDirectory() as folder:
            venv.create(folder, with_pip=True)
            pip = [str(Path(folder, "bin", "python")), "-m", "pip"]
            subprocess.run([*pip, "install", "--quiet", *_BUILD_NEEDS.split()], check=True)
            for package in sources:
                failures += _fetch(package, corpus, pip, ["--no-build-isolation", "--no-binary=:all:"])
    return failures


def _fetch(package: Package, corpus: Path, pip: list[str], options: list[str]) -> list[str]:
    environment = os.environ | {
        "VLLM_TARGET_DEVICE": "empty",
        "VLLM_VERSION_OVERRIDE": package.version,
        "FLASH_ATTENTION_SKIP_CUDA_BUILD": "TRUE",
    }
    print(f"downloading {package.requirement}", file=sys.stderr)
    with tempfile.TemporaryDirectory() as folder:
        command = [*pip, "download", "--quiet", "--no-deps", "--dest", folder, *options, package.requirement]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        archives = sorted(Path(folder).iterdir())
        if done.returncode or not archives:
            return [f"{package.requirement}: {done.stderr.strip()[-300:]}"]
        _unpack(archives[0], package.folder(corpus))
    return []


def _unpack(archive: Path, folder: Path) -> None:
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            wheel.extractall(folder, [name for name in wheel.namelist() if name.endswith(_KEPT)])
    else:
        with tarfile.open(archive) as source:
            members = [one for one in source.getmembers() if one.isfile() and one.name.endswith(_KEPT)]
            source.extractall(folder, members, filter="data")
