"""Changes to a call of `triton.autotune`, shared by the rules about it."""

from __future__ import annotations

import ast

from tritonlint import edits
from tritonlint.finding import Edit
from tritonlint.model import Module
from tritonlint.model.values import Tuned


def keyword_added(module: Module, tuned: Tuned, keyword: str) -> Edit | None:
    """The call with one keyword more; None where it does not stand in this file or takes `**options`."""
    call = tuned.node
    if not isinstance(call, ast.Call) or not any(node is call for node in module.source.nodes):
        return None
    if any(known.arg is None or known.arg == keyword.partition("=")[0] for known in call.keywords):
        return None
    return edits.with_argument(module.source, call, keyword)


def argument(tuned: Tuned, name: str, position: int) -> ast.expr | None:
    """What is written for an argument of the call."""
    call = tuned.node
    return edits.argument_of(call, name, position) if isinstance(call, ast.Call) else None
