"""Rules that fail, each in another way, beside one that works."""

from __future__ import annotations

from sample_pack import BareLoad

from tritonlint.finding import Confidence, Severity
from tritonlint.rule import Rule


class DividesByZero(Rule):
    """Fails in kernels whose name begins with `bad`."""

    code = "RP101"
    severity = Severity.ERROR

    def check(self, kernel):
        if kernel.name.startswith("bad"):
            raise ZeroDivisionError("division by zero")
        where = kernel.module.source.range_of(kernel.node)
        yield self.finding(_Spot(kernel, where), "seen", confidence=Confidence.HIGH)


class FailsOnModule(Rule):
    """Fails in host code, while it holds a kernel in a variable."""

    code = "RP102"
    severity = Severity.ERROR

    def check_module(self, module):
        for kernel in module.kernels:
            raise KeyError(kernel.name)
        yield


class NeverReturns(Rule):
    """Calls itself until the stack is full."""

    code = "RP103"
    severity = Severity.ERROR

    def check(self, kernel):
        yield from self.check(kernel)


class _Spot:
    def __init__(self, kernel, where):
        self.path, self.range, self.kernel_name = kernel.module.source.path, where, kernel.name


class ReportsElsewhere(Rule):
    """Reports a file that it was not asked about."""

    code = "RP104"
    severity = Severity.ERROR

    def check(self, kernel):
        spot = _Spot(kernel, kernel.module.source.range_of(kernel.node))
        spot.path = "elsewhere.py"
        yield self.finding(spot, "seen", confidence=Confidence.HIGH)


RULES = (DividesByZero, FailsOnModule, NeverReturns, ReportsElsewhere, BareLoad)
