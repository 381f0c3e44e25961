"""A rule pack as a third party would write one, simple enough for a test to know its answers."""

from __future__ import annotations

import ast
from typing import NamedTuple

from tritonlint.finding import Applicability, Confidence, Edit, Fix, Related, Severity
from tritonlint.rule import Rule


class Spot(NamedTuple):
    """A place, as `Rule.finding` wants it."""

    path: str
    range: object
    kernel_name: str | None


def calls(kernel, name):
    """The calls of `name` in a kernel, each with its place."""
    for node in ast.walk(kernel.node):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == name:
            yield node, Spot(kernel.module.source.path, kernel.module.source.range_of(node), kernel.name)


class BareLoad(Rule):
    """A load has no mask."""

    code = "SP101"
    severity = Severity.ERROR

    def check(self, kernel):
        for call, spot in calls(kernel, "tl.load"):
            if len(call.args) + len(call.keywords) == 1:
                title = kernel.module.source.range_of(kernel.node)
                edit = Edit(spot.path, spot.range, "0")
                yield self.finding(
                    spot,
                    f"`{kernel.module.source.segment(call)}` has no mask",
                    confidence=Confidence.HIGH,
                    related=[Related(spot.path, title, "in this kernel")],
                    fix=Fix("load nothing", Applicability.UNSAFE, (edit,)),
                )


class BareStore(Rule):
    """A store has no mask."""

    code = "SP102"
    severity = Severity.WARNING

    def check(self, kernel):
        for call, spot in calls(kernel, "tl.store"):
            if len(call.args) + len(call.keywords) == 2:
                yield self.finding(spot, "a store has no mask", confidence=Confidence.MEDIUM)


class ProgramId(Rule):
    """A kernel asks for its program id."""

    code = "SP201"
    severity = Severity.NOTE

    def check(self, kernel):
        for _, spot in calls(kernel, "tl.program_id"):
            yield self.finding(spot, "a program id", confidence=Confidence.LOW)


RULES = (BareLoad, BareStore, ProgramId)
