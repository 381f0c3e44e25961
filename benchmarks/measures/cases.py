"""Cases: a fault taken from a public report in code of our own, and a good twin that looks like it.

A case is right if the fault is found on one of its lines, nothing else is said of the bad file, and the
good file is silent. `case.toml` is described in `fixtures/cases/README.md`.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from measures.packages import HERE
from tritonlint import catalog
from tritonlint.config import Settings
from tritonlint.engine import check_source

CASES = HERE.parent / "fixtures" / "cases"
_CORE = re.compile(r"TL[1-6]0[1-9]")
KINDS = {
    "masked-load-no-other": "TL111",
    "wrong-padding-value": "TL112",
    "int32-overflow": "TL113",
    "where-evaluates-both-arms": "TL114",
    "logical-operator-on-block": "TL115",
    "store-race": "TL116",
    "missing-barrier": "TL117",
    "tail-never-processed": "TL118",
    "tensor-numel-limit": "TL211",
    "dot-min-size": "TL212",
    "autotune-key-missing": "TL311",
    "non-constexpr-global": "TL411",
    "tf32-default": "TL511",
    "c-style-division": "TL512",
    "grid-axis-limit": "TL702",
    "layout-assumption": "TL703",
    "device-guard": "TL704",
}
"""The rule of a kind beyond the six core pitfalls. While it is not built, its cases must be silent."""


def folders(cases: Path = CASES) -> list[Path]:
    """Every case, by name."""
    return sorted(file.parent for file in cases.glob("*/case.toml"))


def read(folder: Path) -> dict[str, Any]:
    """What `case.toml` says."""
    return tomllib.loads((folder / "case.toml").read_text("utf-8"))


def problems(folder: Path) -> list[str]:
    """What is wrong with the answer to one case, in words; nothing if it is right."""
    case = read(folder)
    pitfall = case["pitfall"]
    built = {rule.code for rule in catalog.load(catalog.DEFAULT_PACKS).rules}
    own = re.compile(rf"TL{pitfall}0[1-9]" if isinstance(pitfall, int) else KINDS[pitfall])
    is_built = isinstance(pitfall, int) or KINDS[pitfall] in built
    wanted = {*case["bad_lines"], *case.get("alt_lines", [])}
    bad, good = _found(folder / "bad.py"), _found(folder / "good.py")
    found = []
    if is_built and not any(own.fullmatch(code) and line in wanted for code, line in bad):
        found.append(f"missed, wanted on one of {sorted(wanted)}: {case['why']}")
    for code, line in bad:
        fair = line in wanted and (own.fullmatch(code) or code in case.get("also", []))
        if (own.fullmatch(code) or _CORE.fullmatch(code)) and not fair:
            found.append(f"bad.py:{line} stray {code}")
    found += [
        f"good.py:{line} false {code}" for code, line in good if own.fullmatch(code) or _CORE.fullmatch(code)
    ]
    return found


def _found(file: Path) -> list[tuple[str, int]]:
    """Code and line of each finding that a user sees. The case's folder is its whole project."""
    findings = check_source(file.read_bytes(), file.name, Settings(), file=file, root=file.parent)
    return [(finding.code, finding.range.start.line) for finding in findings]
