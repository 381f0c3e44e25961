"""Three-valued answers: a rule reports on YES, or on a stated suspicion, never on plain ignorance."""

from __future__ import annotations

import enum


class Proof(enum.Enum):
    """What the model can show of a statement."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"

    def __bool__(self) -> bool:
        raise TypeError("a Proof has three values: compare with `is Proof.YES`")

    def negated(self) -> Proof:
        """The answer to the opposite statement."""
        return {Proof.YES: Proof.NO, Proof.NO: Proof.YES, Proof.UNKNOWN: Proof.UNKNOWN}[self]

    @staticmethod
    def of(value: bool | None) -> Proof:
        """YES, NO, or UNKNOWN for None."""
        return Proof.UNKNOWN if value is None else Proof.YES if value else Proof.NO


YES, NO, UNKNOWN = Proof.YES, Proof.NO, Proof.UNKNOWN
