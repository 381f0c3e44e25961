"""The fix that measurements make possible: an autotuned kernel keeps the configuration that won.

It takes the evidence of a run (`tritonlint confirm --evidence`), in which one configuration won for every key
that was seen. Where several did, which one is right depends on the launch, and the tuner stays.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from tritonlint import edits
from tritonlint.evidence import Evidence
from tritonlint.finding import Applicability, Edit, Finding, Fix, Verdict
from tritonlint.source import ParseFailure, Source

CODE = "TL301"
_DEFAULTS = {"num_warps": 4, "num_stages": 3, "num_ctas": 1}
"""What `triton.Config` takes where nothing is said, since Triton 3.0."""
_OPTIONS = ("num_warps", "num_stages", "num_ctas", "maxnreg")


def with_pins(findings: Iterable[Finding], evidence: Evidence) -> Iterator[Finding]:
    """The findings; those about a tuner with one winner have its configuration as their fix.

    Args:
        findings: with their verdicts.
        evidence: of which a confirmed finding of TL301 has its winners.
    """
    for finding in findings:
        entry = evidence.entries.get(finding.fingerprint)
        if finding.code == CODE and finding.verdict is Verdict.CONFIRMED and entry is not None:
            fix = _pinned(finding, entry.details.get("winners") or [])
            yield finding if fix is None else replace(finding, fix=fix)
        else:
            yield finding


def _pinned(finding: Finding, winners: list[dict[str, Any]]) -> Fix | None:
    different = {tuple(sorted(one["winner"].items())) for one in winners}
    if len(different) != 1:
        return None
    try:
        source = Source.from_bytes(Path(finding.path).read_bytes(), finding.path)
        configs = _configs(source.tree, finding.kernel)
    except (OSError, ParseFailure):
        return None
    if configs is None:
        return None
    winner = dict(next(iter(different)))
    changed = _kept(source, configs, winner)
    if not changed:
        return None
    counted = f"{len(winners)} key" + "s" * (len(winners) != 1)
    said = ", ".join(f"{name}={value}" for name, value in winner.items())
    return Fix(f"keep the configuration that won for {counted}: {said}", Applicability.SAFE, tuple(changed))


def _configs(tree: ast.Module, kernel: str | None) -> ast.expr | None:
    """The configurations at the decorator of a kernel."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == kernel:
            for call in node.decorator_list:
                if isinstance(call, ast.Call) and _last(call.func) == "autotune":
                    return edits.argument_of(call, "configs", 0)
    return None


def _kept(source: Source, configs: ast.expr, winner: dict[str, Any]) -> list[Edit]:
    """The changes that leave one configuration: the one written there, else one written anew."""
    if isinstance(configs, ast.List):
        same = [one for one in configs.elts if _says(one, winner)]
        if len(same) == 1 and len(configs.elts) > 1:
            return edits.without_items(source, configs, [one for one in configs.elts if one is not same[0]])
    makers = {
        ast.unparse(node.func)
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call) and _last(node.func) == "Config"
    }
    if len(makers) != 1 or "pre_hook" in source.text:  # a hook cannot be told from the outside
        return []
    meta = ", ".join(f'"{name}": {value!r}' for name, value in winner.items() if name not in _OPTIONS)
    options = "".join(
        f", {name}={winner[name]!r}"
        for name in _OPTIONS
        if name in winner and winner[name] != _DEFAULTS.get(name)
    )
    return [edits.replaced(source, configs, f"[{makers.pop()}({{{meta}}}{options})]")]


def _says(config: ast.expr, winner: dict[str, Any]) -> bool:
    """Whether a call of `triton.Config` is the configuration that won."""
    if not isinstance(config, ast.Call) or _last(config.func) != "Config":
        return False
    meta = edits.argument_of(config, "kwargs", 0)
    options = dict(_DEFAULTS)
    try:
        values = ast.literal_eval(meta) if meta is not None else {}
        for position, name in enumerate(("num_warps", "num_stages", "num_ctas"), start=1):
            given = edits.argument_of(config, name, position)
            options |= {} if given is None else {name: ast.literal_eval(given)}
    except (ValueError, TypeError):
        return False
    said = {**options, **values}
    return all(said.get(name, value) == value for name, value in winner.items()) and set(values) <= set(
        winner
    )


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
