"""Does a constant cost a compilation for each value? The kernel is compiled for some, as is and fixed."""

from __future__ import annotations

from time import perf_counter
from typing import Any

from tritonlint.confirm.backends import compiled, private_cache
from tritonlint.confirm.capture import TunedLaunch
from tritonlint.confirm.experiment import (
    Experiment,
    Lab,
    Outcome,
    confirmed,
    names_in,
    not_testable,
    refuted,
)
from tritonlint.confirm.experiments.compiling import COMPILER, last_line
from tritonlint.confirm.launches import Launch, fresh
from tritonlint.confirm.rewritten import NoFix, fixed
from tritonlint.finding import Finding

VALUES = 6
"""For so many values the kernel is compiled, or for fewer if that takes too long."""


class Recompiles(Experiment):
    """TL401: compilations over distinct values, with the annotation and without it."""

    codes = ("TL401",)

    def try_launch(
        self, finding: Finding, launch: Launch, tuned: TunedLaunch | None, lab: Lab
    ) -> Outcome | None:
        """See `Experiment.try_launch`."""
        names = [
            name
            for name in names_in(finding, launch.constants)
            if type(launch.arguments[name]) in (int, float)
        ]
        if not names:
            return None
        name, seen = names[0], launch.arguments[names[0]]
        limit = lab.backend.seconds / 2
        for step in (16, 1) if isinstance(seen, int) else (seen / 16 or 1.0,):
            values = [seen + step * times for times in range(VALUES)]
            try:
                before, seconds = _compilations(
                    launch.with_function(fresh(launch.function)), name, values, limit
                )
                break
            except Exception as error:  # noqa: BLE001 - the kernel takes other values than these
                refused = last_line(str(error))
        else:
            return not_testable(f"it does not compile for values of `{name}` other than {seen}: {refused}")
        values = values[: len(before)]
        try:
            after, fixed_seconds = _compilations(fixed(finding, launch), name, values, limit)
        except NoFix as reason:
            text = f"{before[-1]} compilations and {seconds:.2f} s for {len(values)} values of `{name}`"
            return not_testable(f"{text}; {reason}")
        except Exception as error:  # noqa: BLE001 - the compiler needs the constant, and says so
            return refuted(f"`{name}` is needed at compile time: {last_line(str(error))}", COMPILER)
        if len(after) < len(before):
            return not_testable(f"{len(before)} compilations as a runtime argument take over {limit:.0f} s")
        numbers = {"values": values, "before": before, "after": after, "seconds": [seconds, fixed_seconds]}
        text = (
            f"{before[-1]} compilations and {seconds:.2f} s for {len(values)} values of `{name}`, "
            f"{after[-1]} and {fixed_seconds:.2f} s as a runtime argument"
        )
        return (confirmed if after[-1] < before[-1] else refuted)(text, COMPILER, **numbers)


def _compilations(launch: Launch, name: str, values: list[Any], limit: float) -> tuple[list[int], float]:
    """How many compilations there were after each value, and the seconds of all.

    Two are made in any case; none is begun after `limit` seconds.
    """
    counts: list[int] = []
    start = perf_counter()
    kernels: dict[int, Any] = {}  # by identity, which no two share while both are kept
    with private_cache():
        for value in values:
            if len(counts) > 1 and perf_counter() - start > limit:
                break
            kernel = compiled(launch.with_arguments({**launch.arguments, name: value}))
            kernels[id(kernel)] = kernel
            counts.append(len(kernels))
    return counts, perf_counter() - start
