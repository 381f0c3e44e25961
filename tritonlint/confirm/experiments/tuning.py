"""What autotuners cost, what they decide, and whether trying out changes the result."""

from __future__ import annotations

import copy
from collections import Counter
from typing import Any

from tritonlint.confirm.capture import TunedLaunch, Tuning
from tritonlint.confirm.copies import Copies
from tritonlint.confirm.experiment import (
    NOISE,
    Experiment,
    Lab,
    Outcome,
    confirmed,
    distance,
    names_in,
    not_reached,
    refuted,
)
from tritonlint.confirm.launches import Launch
from tritonlint.finding import Finding
from tritonlint.wording import counted


class TuningCost(Experiment):
    """TL301: the benchmarks and seconds that tuning took in this run, and what won."""

    codes = ("TL301",)

    def weigh(self, finding: Finding, tunings: list[Tuning], *, is_timed: bool) -> Outcome | None:
        """See `Experiment.weigh`."""
        if not tunings:
            return not_reached("nothing was tuned")
        seconds = sum(tuning.seconds for tuning in tunings)
        tried = sum(tuning.configs for tuning in tunings)
        tries = f"{counted(len(tunings), 'key')} tuned, {counted(tried, 'benchmark')}"
        if not is_timed:
            return confirmed(f"{tries}; their times, and what wins, show on a GPU", benchmarks=tried)
        winners = Counter(tuning.winner for tuning in tunings)
        text = f"{tries}, {seconds:.1f} s; {counted(len(winners), 'winner')}: {winners.most_common(1)[0][0]}"
        return confirmed(text, winners=_winners(tunings), seconds=seconds, benchmarks=tried)


class TuningKey(Experiment):
    """TL303: how often a change of the key alone made the tuner try everything again."""

    codes = ("TL303",)

    def weigh(self, finding: Finding, tunings: list[Tuning], *, is_timed: bool) -> Outcome | None:
        """See `Experiment.weigh`."""
        if not tunings:
            return not_reached("nothing was tuned")
        names = names_in(finding, tunings[0].key_names)
        at = [index for index, name in enumerate(tunings[0].key_names) if name in names]
        values = {tuple(tuning.key[index] for index in at) for tuning in tunings}
        rest = {tuple(part for index, part in enumerate(tuning.key) if index not in at) for tuning in tunings}
        seconds = sum(tuning.seconds for tuning in tunings)
        numbers: dict[str, Any] = {"winners": _winners(tunings), "seconds": seconds} if is_timed else {}
        who = ", ".join(f"`{name}`" for name in names) or "the key"
        if len(values) < 2:
            return not_reached(f"one value of {who} was seen", **numbers)
        if len(tunings) <= len(rest):
            return refuted(
                f"{counted(len(values), 'value')} of {who} seen, and none of them made it tune again",
                **numbers,
            )
        text = (
            f"tuned {len(tunings)} times{f' in {seconds:.1f} s' * is_timed} for "
            f"{counted(len(values), 'value')} of {who}, {len(rest)} without it"
        )
        won = f"; {counted(len({tuning.winner for tuning in tunings}), 'winner')}" if is_timed else ""
        return confirmed(text + won, **numbers)


class SideEffects(Experiment):
    """TL302: a launch with tuning against one that is pinned to the winner, on copies each."""

    codes = ("TL302",)
    needs_before = True

    def try_launch(
        self, finding: Finding, launch: Launch, tuned: TunedLaunch | None, lab: Lab
    ) -> Outcome | None:
        """See `Experiment.try_launch`."""
        if tuned is None or (tuned.was_tried and tuned.before is None):
            return None
        if len(tuned.tuner.configs) < 2:
            return not_reached("its tuner has one configuration and tries nothing")
        if tuned.before is not None:
            kept = {name: value for name, value in tuned.before.arguments.items() if name in launch.arguments}
            launch = launch.with_arguments({**launch.arguments, **kept})
        before = lab.copies(launch)
        pinned, again = lab.run(launch), lab.run(launch)
        names = pinned.changed(before)
        claimed = names_in(finding, launch.arguments)
        if claimed and not set(claimed) & set(names):
            return not_reached(f"this launch does not change `{claimed[0]}`")
        after = self._tuned(tuned, launch, lab)
        worst, far = "", 0.0
        for name in names:
            noise = distance(again.tensors[name], pinned.tensors[name])
            apart = distance(after.tensors[name], pinned.tensors[name])
            if apart > max(10 * noise, NOISE) and apart >= far:
                worst, far = name, apart
        if not worst:
            return refuted("a tuned run gives what a pinned one does", outputs=names)
        differ = (after.tensors[worst] != pinned.tensors[worst]).sum().item()
        total = after.tensors[worst].numel()
        text = f"after tuning, {differ:,} of {total:,} elements of `{worst}` differ from a pinned run"
        return confirmed(f"{text}, by {far:.2g} of its length", tensor=worst, differ=differ, relative=far)

    def _tuned(self, tuned: TunedLaunch, launch: Launch, lab: Lab) -> Copies:
        """The results of a run that tunes first: what every configuration leaves behind is in them."""
        copies = lab.copies(launch)
        tuner = copy.copy(tuned.tuner)
        tuner.cache, tuner.cache_results = {}, False
        tuner.__dict__["do_bench"] = _tried_thrice
        tuner.__dict__.pop("_do_bench", None)
        known = copies.arguments
        positional = zip(tuner.arg_names, tuned.args, strict=False)
        args = tuple(known.get(name, value) for name, value in positional)
        kwargs = {name: known.get(name, value) for name, value in tuned.kwargs.items()}
        tuner.run(*args, **kwargs)
        lab.backend.synchronize()
        return copies


def _tried_thrice(call: Any, quantiles: Any = None, **options: Any) -> list[float]:
    """In the place of a benchmark, which launches a kernel some hundred times."""
    for _ in range(3):
        call()
    return [1.0] * len(quantiles or (0.5, 0.2, 0.8))


def _winners(tunings: list[Tuning]) -> list[dict[str, Any]]:
    """What won for which key, as plain values: the fix that pins reads it."""
    return [
        {
            "key": dict(zip(tuning.key_names, map(_plain, tuning.key), strict=False)),
            "winner": {
                name: _plain(value) for name, value in tuning.winner_values.items() if value is not None
            },
            "seconds": tuning.seconds,
            "timings": [list(one) for one in tuning.timings if one[1] == one[1] and one[1] != float("inf")],
        }
        for tuning in tunings
    ]


def _plain(value: Any) -> Any:
    return value if isinstance(value, bool | int | float | str) or value is None else str(value)
