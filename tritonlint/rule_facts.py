"""What is true of a rule and written nowhere: whether it offers fixes, and what settles its findings.

Fixes are looked for in the rule's code and by checking the example of its documentation; experiments are read
from the source of `confirm`, which cannot be imported without torch.
"""

from __future__ import annotations

import ast
import inspect
import re
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tritonlint.catalog import DEFAULT_PACKS, OBSERVED
from tritonlint.config import Settings
from tritonlint.engine import check_source
from tritonlint.finding import Confidence, Finding
from tritonlint.selection import ALL, Selection

if TYPE_CHECKING:
    from tritonlint.rule import Rule

_CODES = re.compile(r"^[A-Z]+[0-9]+(, [A-Z]+[0-9]+)*: ")

IMPORTS = "import torch\nimport triton\nimport triton.language as tl\n\n\n"
"""What stands above an example that does not say it."""


def section(rule: type[Rule], title: str) -> str | None:
    """The text under a heading of a rule's documentation."""
    found = re.search(
        rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", rule.documentation(), re.DOTALL | re.MULTILINE
    )
    return found[1].strip() if found else None


def facts(rule: type[Rule], packs: tuple[str, ...] = DEFAULT_PACKS) -> dict[str, Any]:
    """What a program may want to know of a rule.

    Args:
        rule: the rule.
        packs: the packs it is loaded with.
    """
    shown = [finding.fix for finding in _in_example(rule, packs) if finding.fix is not None]
    safety = section(rule, "Fix safety")
    return {
        "is_about_speed": rule.is_about_speed,
        "reported_by": "confirm" if rule.code in OBSERVED else "check",
        "has_fix": bool(shown) or _gives_fixes(rule),
        "fix_in_example": shown[0].applicability.value if shown else None,
        "fix_safety": " ".join(safety.split()) if safety else None,
        "confirmed_by": experiments().get(rule.code),
    }


def _in_example(rule: type[Rule], packs: tuple[str, ...]) -> list[Finding]:
    """What a rule finds in the example of its documentation."""
    blocks = re.findall(r"^```python\n(.*?)^```", section(rule, "Example") or "", re.DOTALL | re.MULTILINE)
    code = "\n\n".join(blocks)
    code = code if "import triton" in code else IMPORTS + code
    if rule.__module__.startswith("tritonlint."):  # its example speaks of the built-in rules
        packs = DEFAULT_PACKS
    settings = Settings(selection=Selection((ALL,)), min_confidence=Confidence.LOW, packs=packs)
    found = check_source(code, "example.py", settings) if blocks else []
    return [finding for finding in found if finding.code == rule.code]


def _gives_fixes(rule: type[Rule]) -> bool:
    """Whether the module of a rule makes findings with a fix."""
    module = inspect.getmodule(rule)
    try:
        tree = ast.parse(inspect.getsource(module)) if module is not None else None
    except (OSError, SyntaxError):  # a pack without its source
        return False
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)] if tree is not None else []
    given = [word.value for call in calls for word in call.keywords if word.arg == "fix"]
    return any(not (isinstance(value, ast.Constant) and value.value is None) for value in given)


@lru_cache(maxsize=1)
def experiments() -> dict[str, str]:
    """How `tritonlint confirm` settles the findings of each rule, in words."""
    how: dict[str, str] = {}
    for file in sorted((Path(__file__).parent / "confirm" / "experiments").glob("*.py")):
        for node in ast.parse(file.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef):
                described = " ".join((ast.get_docstring(node) or "").partition("\n\n")[0].split())
                how |= dict.fromkeys(_codes(node), _CODES.sub("", described))
    return how


def _codes(node: ast.ClassDef) -> tuple[str, ...]:
    """What a class says in `codes = (...)`."""
    for line in node.body:
        if isinstance(line, ast.Assign) and ast.unparse(line.targets[0]) == "codes":
            return tuple(ast.literal_eval(line.value))
    return ()
