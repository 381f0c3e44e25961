"""The fix that measurements make possible: an autotuned kernel keeps the configuration that won.

It takes the evidence of a run (`tritonlint confirm --evidence`). Where one configuration won for every key,
it is the only one left; where several did, a table tells which, and tuning is the fallback for other keys.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from tritonlint import edits
from tritonlint.evidence import Evidence
from tritonlint.finding import Applicability, Edit, Finding, Fix, Position, Range, Verdict
from tritonlint.model.evaluator import called_name
from tritonlint.source import ParseFailure, Source
from tritonlint.syntax import first_line
from tritonlint.wording import counted

CODE = "TL301"
_DEFAULTS = {"num_warps": 4, "num_stages": 3, "num_ctas": 1}
"""What `triton.Config` takes where nothing is said, since Triton 3.0."""
_PLAIN = (bool, int, float, str)
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
    try:
        source = Source.from_bytes(Path(finding.path).read_bytes(), finding.path)
        found = _tuner(source.tree, finding.kernel)
    except (OSError, ParseFailure):
        return None
    if found is None or not winners:
        return None
    kernel, call = found
    different = {tuple(sorted(one["winner"].items())) for one in winners}
    if len(different) > 1:
        changed = _looked_up(source, kernel, call, winners)
        title = f"look up the configuration that won for each of {len(winners)} keys"
    else:
        winner = winners[0]["winner"]
        configs = edits.argument_of(call, "configs", 0)
        changed = _kept(source, configs, winner) if configs is not None else []
        said = ", ".join(f"{name}={value}" for name, value in winner.items())
        title = f"keep the configuration that won for {counted(len(winners), 'key')}: {said}"
    return Fix(title, Applicability.SAFE, tuple(changed)) if changed else None


def _tuner(tree: ast.Module, kernel: str | None) -> tuple[ast.FunctionDef, ast.Call] | None:
    """A kernel of the module and the call of `triton.autotune` that decorates it."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == kernel:
            for call in node.decorator_list:
                if isinstance(call, ast.Call) and called_name(call) == "autotune":
                    return node, call
    return None


_TABLE = '''{name}_WINNERS = {{
{rows}
}}
"""Configurations that won, by {keys}."""


def _{lower}_winner(configs, named_args, **kwargs):
    """What was measured for this key; another one is tuned."""
    values = {{**named_args, **kwargs}}
    winner = {name}_WINNERS.get({key})
    kept = [one for one in configs if winner is not None and winner.items() <= one.all_kwargs().items()]
    return kept or configs


'''


def _looked_up(
    source: Source, kernel: ast.FunctionDef, call: ast.Call, winners: list[dict[str, Any]]
) -> list[Edit]:
    """The changes that make a tuner ask a table first, which stands above the kernel."""
    names = list(winners[0]["key"])
    plain = all(isinstance(value, _PLAIN) for one in winners for value in one["key"].values())
    known = {node.id for node in ast.walk(source.tree) if isinstance(node, ast.Name)}
    name = f"_{kernel.name.strip('_').upper()}"
    if not names or not plain or f"{name}_WINNERS" in known or any(k.arg is None for k in call.keywords):
        return []
    if edits.argument_of(call, "prune_configs_by") is not None:
        return []
    by_key = {tuple(one["key"].values()): one["winner"] for one in winners}
    if any(one["winner"] != by_key[tuple(one["key"].values())] for one in winners):
        return []  # the type of a tensor decides, and the table has no room for it
    rows = [
        f"    {tuple(one['key'].values())!r}: {_without_defaults(one['winner'])!r},".replace("'", '"')
        for one in winners
    ]
    text = _TABLE.format(
        name=name,
        lower=kernel.name.strip("_").lower(),
        rows="\n".join(dict.fromkeys(rows)),
        keys=", ".join(f"`{one}`" for one in names),
        key="(" + "".join(f'values["{one}"], ' for one in names).rstrip() + ")",
    )
    newline = edits.newline_of(source.text)
    start = Position(first_line(kernel), 1)
    option = f'prune_configs_by={{"early_config_prune": _{kernel.name.strip("_").lower()}_winner}}'
    return [
        Edit(source.path, Range(start, start), text.replace("\n", newline)),
        edits.with_argument(source, call, option),
    ]


def _without_defaults(winner: dict[str, Any]) -> dict[str, Any]:
    """What `all_kwargs` has, so that it can be compared with a part of it."""
    return {name: value for name, value in winner.items() if name != "num_ctas" or value != 1}


def _kept(source: Source, configs: ast.expr, winner: dict[str, Any]) -> list[Edit]:
    """The changes that leave one configuration: the one written there, else one written anew."""
    if isinstance(configs, ast.List):
        same = [one for one in configs.elts if _says(one, winner)]
        if len(same) == 1 and len(configs.elts) > 1:
            return edits.without_items(source, configs, [one for one in configs.elts if one is not same[0]])
    makers = {
        ast.unparse(node.func)
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call) and called_name(node) == "Config"
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
    if not isinstance(config, ast.Call) or called_name(config) != "Config":
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
