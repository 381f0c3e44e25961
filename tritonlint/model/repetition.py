"""Running a kernel once more: whether it leaves in memory what the run before left there.

A tuner does that hundreds of times. A store is safe where the stored value is `f(x)` of the `x` that was
there and `f(f(x)) == f(x)`, or where it does not depend on what was there.
"""

from __future__ import annotations

from tritonlint.model.logic import FALSE, TRUE, Formula
from tritonlint.model.proof import Proof
from tritonlint.model.records import Access, Trace
from tritonlint.model.symbolic import ONE, ZERO, Atom, Poly
from tritonlint.model.values import Number, Value, deps_of

_SETTLING = frozenset("abs ceil floor round rint nearbyint trunc relu".split())
"""Each keeps what the others give as it is, so that chains of them may be applied again."""
_CLAMPING = frozenset("max min maximum minimum clamp".split())


def is_repeatable(read: Access, write: Access, trace: Trace) -> Proof:
    """Whether a kernel that reads and overwrites one place writes the same there in its next run.

    Nothing else may depend on what was read: a second output would be made from the overwritten value.
    """
    old = Atom("load", read.address.poly)
    if write.value is None or (not isinstance(write.value, Number) and old not in deps_of(write.value)):
        return Proof.UNKNOWN
    if write.kind != "store" or not isinstance(write.value, Number) or not _settles(write.value, old, trace):
        return Proof.NO
    if trace.block_accesses or trace.descriptor_accesses:
        return Proof.NO  # what those store is not recorded
    others = (access for access in trace.accesses if access.is_write and access is not write)
    shows = any(_depends(access, old) for access in others) or _is_under(write, old)
    return Proof.NO if shows else Proof.YES


def _depends(access: Access, old: Atom) -> bool:
    values: list[Value] = [value for value in (access.value, access.mask) if value is not None]
    return any(old in deps_of(value) for value in (access.address, *values)) or _is_under(access, old)


def _is_under(access: Access, old: Atom) -> bool:
    """Whether a branch around the access tests the old value."""
    return any(old in condition.closure for condition in access.conditions)


def _settles(value: Number, old: Atom, trace: Trace) -> bool:
    """Whether a value, as a function of what was there, gives the same when it is applied again."""
    if old not in value.dependencies or value.poly == Poly.of(old):
        return True
    atom = value.poly.atom
    if atom is None:
        return False
    if atom.kind == "truth":
        return _rises(atom.args[0], old)
    name, operands = trace.recipes.get(atom, ("", ()))
    if name in _SETTLING:
        return _is_chain(operands[0], _SETTLING, old, trace)
    if name in _CLAMPING:
        return _is_chain(value, _CLAMPING, old, trace)
    if name == "where":  # one of the two is the old value, the other knows nothing of it
        return all(_is_old(operand, old) or old not in operand.dependencies for operand in operands[1:])
    return False


def _is_old(value: Number, old: Atom) -> bool:
    """Whether a value is what was there, in another type perhaps."""
    return value.poly == Poly.of(old)


def _is_chain(value: Number, names: frozenset[str], old: Atom, trace: Trace) -> bool:
    """Whether only these functions, with other operands that know nothing of it, change the old value."""
    while not _is_old(value, old):
        atom = value.poly.atom
        name, operands = trace.recipes.get(atom, ("", ())) if atom is not None else ("", ())
        inner = [operand for operand in operands if old in operand.dependencies]
        if name not in names or len(inner) != 1:
            return False
        value = inner[0]
    return True


def _rises(formula: Formula, old: Atom) -> bool:
    """Whether a condition holds of 1 where it held of the old value, and fails of 0 where it failed.

    So it is with `x != 0` and all that `&` and `|` make of it, not with `x == 0`: what was stored as a
    truth is tested in the next run.
    """
    if old not in formula.closure:
        return True
    if formula.kind in ("and", "or"):
        return all(_rises(part, old) for part in formula.parts)
    return _at(formula, old, ONE) == TRUE and _at(formula, old, ZERO) == FALSE


def _at(formula: Formula, old: Atom, value: Poly) -> Formula:
    return formula.map(lambda poly: poly.substitute({old: value}))
