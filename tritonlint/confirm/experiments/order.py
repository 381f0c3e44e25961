"""Does another order of programs pay, and is it an order at all? The kernel as it is and as fixed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from statistics import median
from typing import Any

import torch

from tritonlint.confirm.capture import TunedLaunch
from tritonlint.confirm.experiment import (
    NOISE,
    Experiment,
    Lab,
    Outcome,
    confirmed,
    distance,
    not_testable,
    refuted,
    sizes_of,
)
from tritonlint.confirm.launches import Launch
from tritonlint.confirm.rewritten import fixed
from tritonlint.finding import Finding

ROUNDS = 15
"""Each kernel is timed so often, by turns, so that a clock that drifts weighs on both."""
GAIN = 1.02
"""The least ratio of times that counts as faster."""


class Order(Experiment):
    """TL601: times by turns, with equal results, and what the launch touches against the L2 cache."""

    codes = ("TL601",)
    needs_gpu = "time by program order shows on a GPU only"

    def try_launch(
        self, finding: Finding, launch: Launch, tuned: TunedLaunch | None, lab: Lab
    ) -> Outcome | None:
        """See `Experiment.try_launch`."""
        better = fixed(finding, launch)
        wrong = _difference(launch, better, lab)
        if wrong is not None:
            return not_testable(f"the fixed kernel gives another `{wrong}`")
        return _timed(finding, launch, better, lab)


class SameTiles(Experiment):
    """TL602: an order that is one gives the same results as the right formula."""

    codes = ("TL602",)

    def try_launch(
        self, finding: Finding, launch: Launch, tuned: TunedLaunch | None, lab: Lab
    ) -> Outcome | None:
        """See `Experiment.try_launch`."""
        better = fixed(finding, launch)
        wrong = _difference(launch, better, lab)
        if wrong is not None:
            return confirmed(
                f"`{wrong}` differs from what the right order gives; {sizes_of(finding, launch)}"
            )
        if not lab.backend.is_gpu:
            return not_testable("results are equal; whether it costs time shows on a GPU only")
        return _timed(finding, launch, better, lab)


def _timed(finding: Finding, launch: Launch, better: Launch, lab: Lab) -> Outcome:
    """Whether a kernel with another order is faster."""
    copies = lab.copies(launch)
    pair = [one.with_arguments(copies.arguments) for one in (launch, better)]
    own, other = _times(pair, lab)
    ratios = sorted(one / two for one, two in zip(own, other, strict=True))
    ratio = median(ratios)
    low, high = ratios[len(ratios) // 4], ratios[-1 - len(ratios) // 4]
    touched = sum(tensor.numel() * tensor.element_size() for tensor in copies.tensors.values())
    cache = torch.cuda.get_device_properties(torch.cuda.current_device()).L2_cache_size
    text = (
        f"grouped order is {ratio:.3f} times as fast (quartiles {low:.3f} to {high:.3f}); "
        f"{touched / 2**20:.0f} MiB touched, {cache / 2**20:.0f} MiB of L2; {sizes_of(finding, launch)}"
    )
    numbers: dict[str, Any] = {
        "milliseconds": own,
        "grouped": other,
        "ratio": ratio,
        "touched": touched,
        "cache": cache,
        "launch": sizes_of(finding, launch),
    }
    return (confirmed if ratio >= GAIN and low > 1.0 else refuted)(text, **numbers)


def _difference(launch: Launch, better: Launch, lab: Lab) -> str | None:
    """The tensor that two versions of a kernel leave different, if any."""
    before, plain, mended = lab.copies(launch), lab.run(launch), lab.run(better)
    for name in plain.changed(before) or mended.changed(before):
        if distance(plain.tensors[name], mended.tensors[name]) > NOISE:
            return name
    return None


def _times(pair: list[Launch], lab: Lab) -> tuple[list[float], list[float]]:
    """Milliseconds of each of two launches, taken by turns."""
    flushed = torch.empty(256 << 20, dtype=torch.int8, device="cuda")

    def timed(run: Callable[[], Any]) -> float:
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        flushed.zero_()
        start.record()
        run()
        end.record()
        end.synchronize()
        return float(start.elapsed_time(end))

    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(3):
        for launch in pair:
            lab.backend.launch(launch)
    for turn in range(ROUNDS):
        for index in (0, 1) if turn % 2 else (1, 0):
            times[index].append(timed(partial(lab.backend.launch, pair[index])))
    return times
