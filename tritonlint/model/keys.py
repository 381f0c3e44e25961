"""Autotune keys and the values that launches give them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tritonlint.finding import Confidence
from tritonlint.model.specialization import needed_at_compile_time
from tritonlint.model.tuning import names_in
from tritonlint.model.values import Tensor
from tritonlint.model.variability import Variation, is_model_letter, is_named, rank_of, variation_of

if TYPE_CHECKING:
    from tritonlint.model.launch import Launch
    from tritonlint.model.tunings import Tuning

_IS_FOR_THE_TUNER = re.compile(r"(?i)cache_?key")
"""A quotient by such a name was made to tune seldom."""
_MEASURED = frozenset(("len", "extreme", "item", "loopvar"))


@dataclass(frozen=True)
class UnboundedKey:
    """A name in a key, and the launch that shows that its value does not repeat."""

    name: str
    reason: str
    is_bucket: bool
    """Whether it is a quotient: one value stands for many sizes."""
    confidence: Confidence
    launch: Launch
    node: ast.AST


def unbounded_keys(tuning: Tuning) -> Iterator[UnboundedKey]:
    """The names in a tuner's key whose values do not repeat from call to call.

    A tuner of the project's own that is given a `strategy` rounds the values it keeps.
    """
    if tuning.tuned.options.get("strategy") is not None:
        return
    for name in names_in(tuning.tuned.key) or ():
        for launch in tuning.launches:
            argument = launch.arguments.get(name)
            if argument is None:
                continue
            if isinstance(argument.value, Tensor) and argument.value.sure:
                yield UnboundedKey(name, "a tensor", False, Confidence.HIGH, launch, argument.node)
                break
            variation = variation_of(name, launch)
            confidence = _confidence(variation, launch, argument.node) if variation is not None else None
            if variation is not None and is_model_letter(name, variation):
                continue
            if variation is not None and confidence is not None:
                is_list = all(atom.kind == "len" for atom in variation.causes)
                if is_list and name in needed_at_compile_time(
                    launch.module.project.trace(launch.kernel.info)
                ):
                    confidence = Confidence.LOW  # a kernel of its own for each length, and few lengths
                if variation.is_quotient and _IS_FOR_THE_TUNER.search(name):
                    confidence = Confidence.LOW
                yield UnboundedKey(
                    name, variation.reason, variation.is_quotient, confidence, launch, argument.node
                )
                break


def _confidence(variation: Variation, launch: Launch, node: ast.AST) -> Confidence | None:
    """How sure it is that a key does not repeat; None for the plain sizes that people tune on.

    The leading axis of a matrix and a number of elements are what `key=["M", "N", "K"]` means to
    hold. A batch axis in front of two or more others, a length or a quotient is not.
    """
    if any(atom.kind in _MEASURED for atom in variation.causes):
        return Confidence.HIGH
    if variation.is_quotient and any(atom.kind == "dim" for atom in variation.causes):
        return Confidence.MEDIUM
    if all(atom.kind == "numel" for atom in variation.causes):
        return Confidence.MEDIUM if is_named(node) else None
    for atom in sorted(variation.causes, key=repr):
        if atom.kind in ("hostparam", "config"):
            return Confidence.MEDIUM
        if atom.kind == "dim":
            rank = rank_of(str(atom.args[0]), launch)
            if (rank is not None and rank >= 3) or variation.confidence is Confidence.MEDIUM:
                return Confidence.MEDIUM
    return Confidence.MEDIUM if is_named(node) else None
