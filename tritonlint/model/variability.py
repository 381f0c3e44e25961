"""Which host values change from call to call, and which stay what the model's shape made them.

Sizes are judged by what they are (a leading axis, a count of elements, a length of a list); names on
the host only raise a leaning, and names of kernel parameters say nothing.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tritonlint.finding import Confidence
from tritonlint.model.facts import possible_values
from tritonlint.model.symbolic import Atom, Poly
from tritonlint.model.values import Number, Tensor

if TYPE_CHECKING:
    from tritonlint.model.launch import Argument, Launch

_VARYING = re.compile(
    r"\b(n_?ctx|(max_)?(seq|kv|cache|ctx|context|query|prompt)_?lens?(gth)?(s|_[qkv])?|(num|n|nr|total|valid)_?"
    r"(tokens?|toks?|reqs?|requests?|seqs|sequences|rows|elements|elems|tasks)|batch|batch_?size|bsz|bs|tokens|lengths?|nnz|numel)\b",
    re.IGNORECASE,
)
_RATE = re.compile(r"(^|[^a-z])(lr|learning_rate)([^a-z]|$)", re.IGNORECASE)
_WEIGHT = re.compile(
    r"(^|[._])(w|b|wt|weights?|bias|gamma|beta|embed\w*|table|codebook|kernel|param\w*|cos|sin|scales?|lora\w*)(\d*)($|[._\[@])",
    re.IGNORECASE,
)
_BUCKETED = frozenset(("pow2ceil", "truth", "mod", "environment", "typeattr"))


@dataclass(frozen=True)
class Variation:
    """Why a host value changes from call to call. `causes` are the sizes behind it."""

    reason: str
    causes: frozenset[Atom]
    confidence: Confidence
    is_stride: bool = False
    is_quotient: bool = False


def variation_of(argument: Argument, launch: Launch) -> Variation | None:
    """Why the value of an argument varies; None where it is static or nothing is known."""
    value = argument.value
    if isinstance(value, Tensor) and not value.sure:
        poly = Poly.of(Atom("hostparam", value.key))
    elif isinstance(value, Number):
        poly = value.poly
    else:
        return None
    if possible_values(poly, launch.facts) is not None or _is_static_name(argument, launch):
        return None
    return _of_poly(poly, argument.node, launch)


def _is_static_name(argument: Argument, launch: Launch) -> bool:
    names = {node.id for node in ast.walk(argument.node) if isinstance(node, ast.Name)}
    return bool(names & set(launch.module.policy.static_names))


def _of_poly(poly: Poly, node: ast.AST, launch: Launch) -> Variation | None:
    found: list[Variation] = []
    for atom in sorted(poly.surface, key=lambda item: item.kind):
        variation = _of_atom(atom, node, launch)
        if variation is not None:
            found.append(variation)
    if not found:
        return None
    best = max(found, key=lambda item: item.confidence.rank)
    causes = frozenset().union(*(item.causes for item in found))
    return Variation(
        best.reason,
        causes,
        best.confidence,
        all(v.is_stride for v in found),
        any(v.is_quotient for v in found),
    )


def _of_atom(atom: Atom, node: ast.AST, launch: Launch) -> Variation | None:
    kind = atom.kind
    if kind in _BUCKETED:
        return None
    if kind == "numel":
        return _varies(atom, "a number of elements", Confidence.HIGH)
    if kind == "len":
        return _varies(atom, "the length of a list", Confidence.HIGH)
    if kind == "extreme" and str(atom.args[1]) != "items":
        return _varies(atom, f"the {atom.args[0]} of `{atom.args[1]}`", Confidence.HIGH)
    if kind == "item":
        return _varies(atom, "a value read back from the device", Confidence.HIGH)
    if kind == "loopvar":
        return _varies(atom, "a loop variable", Confidence.HIGH)
    if kind == "dim":
        return _of_dim(atom, node, launch)
    if kind == "stride":
        return _of_stride(atom, launch)
    if kind in ("hostparam", "config"):
        return _of_name(atom, node)
    if kind in ("cdiv", "floordiv"):
        inner = _of_poly(atom.args[0], node, launch)
        if inner is not None:
            return Variation(
                f"a quotient of {inner.reason}", inner.causes, inner.confidence, is_quotient=True
            )
    return None


def _varies(atom: Atom, reason: str, confidence: Confidence) -> Variation:
    return Variation(reason, frozenset((atom,)), confidence)


def rank_of(key: str, launch: Launch) -> int | None:
    """The number of axes of a host tensor, where an unpacking or an allocation told."""
    host = launch.module.host(launch.function)
    return host.ranks.get(key)


def _of_dim(atom: Atom, node: ast.AST, launch: Launch) -> Variation | None:
    key, axis = str(atom.args[0]), atom.args[1]
    rank = rank_of(key, launch)
    if not isinstance(axis, int):
        return None
    last = axis == -1 or (rank is not None and rank > 1 and axis == rank - 1)
    if axis == 0 and not last and not _WEIGHT.search(key):
        return _varies(atom, f"the leading axis of `{key}`", Confidence.HIGH)
    if not last and not _WEIGHT.search(key) and _VARYING.search(_words(node)):
        return _varies(atom, f"axis {axis} of `{key}`", Confidence.MEDIUM)
    return None


def _of_stride(atom: Atom, launch: Launch) -> Variation | None:
    """A stride that spans an inner axis which itself may vary: all but the last two."""
    key, axis = str(atom.args[0]), atom.args[1]
    least = launch.module.host(launch.function).least_ranks.get(key)
    rank = rank_of(key, launch) or rank_of(key.split(".")[0], launch) or least
    if isinstance(axis, int) and rank is not None and 0 <= axis < rank - 2 and not _WEIGHT.search(key):
        cause = Atom("stride", "any")
        return Variation(
            f"a stride of `{key}` that spans a whole batch",
            frozenset((cause,)),
            Confidence.MEDIUM,
            is_stride=True,
        )
    return None


def _of_name(atom: Atom, node: ast.AST) -> Variation | None:
    """A host argument whose own name says that it varies."""
    key = str(atom.args[0])
    words = _words(node) + " " + key
    if _RATE.search(words):
        return _varies(atom, "a learning rate", Confidence.MEDIUM)
    if atom.kind == "hostparam" and _VARYING.fullmatch(key):
        return _varies(atom, f"a size named `{key}`", Confidence.MEDIUM)
    return None


def _words(node: ast.AST) -> str:
    """The host's own words for a value."""
    if isinstance(node, ast.Name | ast.Attribute | ast.Subscript | ast.Call | ast.BinOp):
        return ast.unparse(node)
    return ""
