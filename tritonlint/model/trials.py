"""What trial runs of a tuner leave behind: sums that go on, values overwritten, places of other trials."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tritonlint.model.effects import Effects, Touch, effects_of, may_join, overwrites_what_it_reads
from tritonlint.model.evaluator import called_name
from tritonlint.model.logic import Formula
from tritonlint.model.module import FunctionInfo
from tritonlint.model.proof import Proof
from tritonlint.model.records import Access, Trace
from tritonlint.model.repetition import is_repeatable
from tritonlint.model.symbolic import Atom, Poly
from tritonlint.model.tuning import configurations, names_in, option
from tritonlint.model.values import Number, Tuned

if TYPE_CHECKING:
    from tritonlint.model.launch import Launch
    from tritonlint.model.tunings import Tuning


@dataclass(frozen=True)
class Remnant:
    """One way in which a run depends on the runs before it.

    `kind` is `updated` (an atomic addition), `overwritten` (read, then written), `aliased` (`read` and
    `name` are one tensor at a launch) or `slots` (each program fills one place of a buffer of zeros).
    """

    kind: str
    name: str
    """The parameter to restore."""
    touches: tuple[Touch, ...] = ()
    read: str = ""
    launch: Launch | None = None
    sure: bool = True


def remnants_of(tuning: Tuning, trace: Trace) -> Iterator[Remnant]:
    """What the runs of a tuned kernel leave to those that follow, and the tuner is not told of."""
    told = {
        name
        for key in ("restore_value", "reset_to_zero")
        for name in names_in(option(tuning.tuned, key)) or ()
    }
    effects = {name: effect for name, effect in effects_of(trace).items() if name not in told}
    for name, effect in effects.items():
        update = _going_on(effect, tuning)
        pair = overwrites_what_it_reads(effect, trace)
        if update is not None:
            sure = _is_idle(update, tuning) is _is_reset(update, effect) is Proof.NO
            yield Remnant("updated", name, (update,), sure=sure)
        elif pair is not None and (off := _is_off(pair.read, tuning)) is not Proof.YES:
            sure = pair.sure and off is Proof.NO
            yield Remnant("overwritten", name, (pair.read, pair.write), sure=sure)
    for launch in tuning.launches:
        alias, slots = _aliases(launch, trace, effects), _stale_slots(launch, tuning.tuned, effects)
        yield from (remnant for remnant in (alias, slots) if remnant is not None)
        if alias is not None or slots is not None:
            return


def is_restored(tuned: Tuned) -> bool:
    """Whether a hook, or a list that cannot be read, may restore what tuning overwrites."""
    if option(tuned, "pre_hook") is not None or any(
        config.pre_hook for config in configurations(tuned).items
    ):
        return True
    return any(names_in(option(tuned, name)) is None for name in ("restore_value", "reset_to_zero"))


def _going_on(effects: Effects, tuning: Tuning) -> Access | None:
    """An atomic addition to what the run before left, the surest of several."""
    answers = {
        _is_idle(update, tuning): update
        for update in reversed(effects.updates)
        if _is_reset(update, effects) is not Proof.YES
    }
    return answers.get(Proof.NO) or answers.get(Proof.UNKNOWN)


def _is_reset(update: Access, effects: Effects) -> Proof:
    """Whether a kernel stores a number where it then adds, so that every run starts afresh.

    UNKNOWN where it stores one elsewhere in the same buffer.
    """
    answer = Proof.NO
    for write in effects.writes:
        if not isinstance(write, Access) or write.index > update.index:
            continue
        if not isinstance(write.value, Number) or write.value.poly.constant is None:
            continue
        extra = [condition for condition in write.conditions if condition not in update.conditions]
        by_one = all(atom.kind == "pid" for condition in extra for atom in condition.closure)
        if by_one and write.address.poly == update.address.poly and write.mask in (None, update.mask):
            return Proof.YES
        answer = Proof.UNKNOWN
    return answer


def _aliases(launch: Launch, trace: Trace, effects: dict[str, Effects]) -> Remnant | None:
    """Parameters that share a tensor, where what one writes changes what the other reads next time."""
    found: Remnant | None = None
    names = [name for name in effects if launch.tensor(name) is not None]
    for written in names:
        for read in names:
            one, two = launch.tensor(written), launch.tensor(read)
            if read == written or one is None or two is None or one.key != two.key:
                continue
            answers = set(_next_runs(launch, trace, (read, effects[read]), (written, effects[written])))
            if Proof.NO in answers:
                return Remnant("aliased", written, read=read, launch=launch)
            if Proof.UNKNOWN in answers:
                found = Remnant("aliased", written, read=read, launch=launch, sure=False)
    return found


def _next_runs(
    launch: Launch, trace: Trace, source: tuple[str, Effects], target: tuple[str, Effects]
) -> Iterator[Proof]:
    """For each read of one parameter and write of the other, whether the next run writes the same."""
    for read in source[1].reads:
        for write in (*target[1].writes, *target[1].updates):
            if not (_is_live(read, launch) and _is_live(write, launch) and may_join(read, write)):
                continue
            if not (isinstance(read, Access) and isinstance(write, Access)):
                yield Proof.NO
            elif _offset(read, source[0]) == _offset(write, target[0]):
                yield is_repeatable(read, write, trace)
            else:
                yield Proof.NO if isinstance(write.value, Number) else Proof.UNKNOWN


def _offset(access: Access, base: str) -> Poly:
    return access.address.poly - Poly.of(Atom("param", base))


def _is_live(touch: Touch, launch: Launch) -> bool:
    """Whether what a launch passes lets it get there, under some configuration perhaps."""
    return not launch.cuts_away(getattr(touch, "conditions", ()))


def _stale_slots(launch: Launch, tuned: Tuned, effects: dict[str, Effects]) -> Remnant | None:
    """A buffer of zeros of which each program fills one place, where the tuner picks how many programs.

    A trial with more programs leaves its numbers behind, beyond those that the last run overwrites.
    """
    varied = _varied(tuned, launch)
    counted = {axis for axis, size in enumerate(launch.grid or ()) if not varied.isdisjoint(size.closure)}
    for name, effect in effects.items():
        tensor = launch.tensor(name)
        made = tensor.node if tensor is not None else None
        if not isinstance(made, ast.Call) or "zeros" not in called_name(made) or effect.reads:
            continue
        for write in effect.writes:
            if isinstance(write, Access) and _is_live(write, launch):
                offset = _offset(write, name)
                numbered = any(a.kind == "pid" and a.args[0] in counted for a in offset.surface)
                if numbered and varied.isdisjoint(offset.closure):
                    return Remnant("slots", name, (write,), launch=launch)
    return None


def _varied(tuned: Tuned, launch: Launch) -> frozenset[Atom]:
    """Meta-parameters that differ between configurations; where those cannot be read, all there are."""
    settings = [dict(config.kwargs.items) for config in configurations(tuned).items]
    names = set().union(*settings)
    if not settings:
        return frozenset(Atom("param", p.name) for p in launch.kernel.info.parameters) - {
            Atom("param", name) for name in launch.arguments
        }
    return frozenset(Atom("param", name) for name in names if len({s.get(name) for s in settings}) > 1)


def _is_idle(touch: Touch, tuning: Tuning) -> Proof:
    """Whether an access stands under a condition that every configuration, or launch, makes false.

    UNKNOWN also where the condition is about a parameter that only configurations which cannot be read give.
    """
    off = _is_off(touch, tuning)
    if off is not Proof.NO:
        return off
    every = configurations(tuning.tuned)
    given = {name for launch in tuning.launches for name in launch.arguments}
    conditions = getattr(touch, "conditions", ())
    asked = {atom.args[0] for part in conditions for atom in part.closure if atom.kind == "param"}
    return Proof.NO if every.exact or every.items or asked <= given else Proof.UNKNOWN


def _is_off(touch: Touch, tuning: Tuning) -> Proof:
    """Whether no configuration and no launch that is seen leads to an access.

    UNKNOWN for a switch that is off unless a launch that is not seen turns it on, and where the host checks
    something together with the tuning: `assert not (accumulate and autotune)`.
    """
    conditions = getattr(touch, "conditions", ())
    settings = [
        {Atom("param", name): value.poly for name, value in config.kwargs.items if isinstance(value, Number)}
        for config in configurations(tuning.tuned).items
    ]
    if settings and all(_any_fails(conditions, known) for known in settings):
        return Proof.YES
    launches = tuning.launches
    if launches and not any(_is_live(touch, launch) for launch in launches):
        return Proof.YES
    if any(_says_when_not_to_tune(fact) for launch in launches for fact in launch.facts):
        return Proof.UNKNOWN
    given = {name for launch in launches for name in launch.arguments}
    off = tuning.kernel is not None and _any_fails(conditions, _defaults(tuning.kernel.info, given))
    return Proof.UNKNOWN if off else Proof.NO


def _says_when_not_to_tune(fact: Formula) -> bool:
    return any(
        part.kind == "or"
        and any(isinstance(arg, str) and "tune" in arg.lower() for atom in part.closure for arg in atom.args)
        for part in fact.conjuncts()
    )


def _defaults(kernel: FunctionInfo, given: Collection[str]) -> dict[Atom, Poly]:
    """Parameters that no launch is seen to pass, with the numbers or truth values they then have."""
    return {
        Atom("param", parameter.name): Poly.const(int(parameter.default.value))
        for parameter in kernel.parameters
        if parameter.name not in given
        and isinstance(parameter.default, ast.Constant)
        and isinstance(parameter.default.value, int)
    }


def _any_fails(conditions: Iterable[Formula], known: dict[Atom, Poly]) -> bool:
    return any(_under(condition, known).known is False for condition in conditions)


def _under(condition: Formula, known: dict[Atom, Poly]) -> Formula:
    """A condition with the parameters of one configuration put in."""
    return condition.map(lambda poly: poly.substitute(known))
