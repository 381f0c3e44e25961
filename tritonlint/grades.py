"""What findings are sorted by: how bad, how sure, and what a run said.

Apart from `finding`, so that settings can be read where nothing is found.
"""

from __future__ import annotations

import enum


class Severity(enum.StrEnum):
    """How bad a finding is if it is true."""

    ERROR = "error"
    """The kernel crashes, does not compile, or computes something wrong."""
    WARNING = "warning"
    """The kernel is slow or fragile."""
    NOTE = "note"

    @property
    def rank(self) -> int:
        """0 for the mildest, rising with severity."""
        return ("note", "warning", "error").index(self.value)


class Confidence(enum.StrEnum):
    """How much the model knows about a finding; see `docs/accuracy.md` for what each level is held to."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"

    @property
    def rank(self) -> int:
        """0 for the least sure, rising with confidence."""
        return ("low", "medium", "high").index(self.value)


class Verdict(enum.StrEnum):
    """What a run on real tensors said about a finding. Of several answers the one that comes first stands."""

    CONFIRMED = "confirmed"
    REFUTED = "refuted"
    NOT_REACHED = "not-reached"
    NOT_TESTABLE = "not-testable"
    UNTESTED = "untested"

    @property
    def rank(self) -> int:
        """0 for the one that stands before all others."""
        return list(Verdict).index(self)
