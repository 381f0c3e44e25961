"""What a rule is: a code, its documentation, and a generator of findings over the model."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, ClassVar

from tritonlint.finding import Confidence, Finding, Fix, Related, Severity

if TYPE_CHECKING:
    from tritonlint.model import Kernel, Module, Place

_WORD_START = re.compile(r"(?<!^)(?=[A-Z])|(?<=[a-z])(?=\d)")


class Rule:
    """Base class of every rule.

    A rule overrides the narrowest of `check_module` (host code too) and `check` (one kernel at a
    time); the base class walks down. It holds no mutable state: the same instance serves every file.
    The class docstring is the documentation that `tritonlint rule CODE` prints.
    """

    code: ClassVar[str]
    """`TLnnn`; codes never move and are never used twice."""
    severity: ClassVar[Severity]
    """Severity of this rule's findings, unless a finding says otherwise."""
    is_about_speed: ClassVar[bool] = False
    """Whether it finds what is slow rather than wrong: known at LOW in copies of other projects' files
    and in what nothing uses."""

    @classmethod
    def rule_name(cls) -> str:
        """The name derived from the class, as in `unmasked-access`: read it after "allow"."""
        return _WORD_START.sub("-", cls.__name__).lower()

    @classmethod
    def summary(cls) -> str:
        """First line of the documentation."""
        return cls.documentation().splitlines()[0]

    @classmethod
    def documentation(cls) -> str:
        """The whole documentation, in Markdown."""
        return inspect.cleandoc(cls.__doc__ or "")

    def check_module(self, module: Module) -> Iterator[Finding]:
        """Findings of one file; by default those of its kernels."""
        for kernel in module.kernels:
            yield from self.check(kernel)

    def check(self, kernel: Kernel) -> Iterator[Finding]:
        """Findings of one jit function."""
        return iter(())

    def finding(
        self,
        at: Place,
        message: str,
        *,
        confidence: Confidence,
        related: Iterable[Related] = (),
        severity: Severity | None = None,
        fix: Fix | None = None,
    ) -> Finding:
        """A finding of this rule at `at`."""
        return Finding(
            code=self.code,
            name=self.rule_name(),
            message=message,
            severity=severity or self.severity,
            confidence=confidence,
            path=at.path,
            range=at.range,
            kernel=at.kernel_name,
            related=tuple(related),
            fix=fix,
        )
