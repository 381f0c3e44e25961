"""Do the lanes of an access leave its tensors? Every address of a launch is compared with where they lie."""

from __future__ import annotations

import os
from typing import Any

import torch

from tritonlint.confirm.capture import TunedLaunch
from tritonlint.confirm.experiment import (
    Experiment,
    Lab,
    Outcome,
    confirmed,
    not_reached,
    not_testable,
    refuted,
    sizes_of,
)
from tritonlint.confirm.launches import Launch, makes_pointers
from tritonlint.confirm.sites import Site, program_index
from tritonlint.finding import Finding


class Bounds(Experiment):
    """TL101, TL102, TL103: the access is made on copies between guards, and its lanes are counted."""

    codes = ("TL101", "TL102", "TL103")

    def try_launch(
        self, finding: Finding, launch: Launch, tuned: TunedLaunch | None, lab: Lab
    ) -> Outcome | None:
        """See `Experiment.try_launch`."""
        if makes_pointers(launch.function):
            return not_testable("the kernel makes pointers of numbers: what they point to is not known")
        sites = sites_of(finding, lab.probe(launch))
        active = sum(site.lanes for site in sites)
        bad = max(sites, key=lambda site: (site.outside, site.past_view), default=None)
        if bad is None or not active:
            return None
        if not bad.bad:
            said_of: dict[str, Any] = {"lanes": active, "launch": sizes_of(finding, launch)}
            text = f"none of {active:,} lanes outside"
            if not is_ragged(launch):
                return not_reached(f"{text}, but every size is a whole number of blocks", **said_of)
            return refuted(text, **said_of)
        return measured(bad, launch, sizes_of(finding, launch))


def measured(site: Site, launch: Launch, sizes: str) -> Outcome:
    """What a probe says of an access with lanes outside; `sizes` are the launch's, in a few words."""
    return confirmed(
        said(site, launch, sizes),
        lanes=site.lanes,
        outside=site.outside,
        past_view=site.past_view,
        tensor=site.tensor,
        offset=site.offset,
        program=list(program_index(site.program or 0, launch.grid)),
        grid=list(launch.grid),
        by_program=site.over_grid(launch.programs),
        launch=sizes,
    )


def is_ragged(launch: Launch) -> bool:
    """Whether a size of the launch is no multiple of a block: elsewhere, no lane could be outside.

    Where it passes no sizes, those of its tensors count.
    """
    blocks = [value for value in launch.constants.values() if type(value) is int and value > 1]
    sizes = [
        value
        for name, value in launch.arguments.items()
        if type(value) is int and value > 1 and name not in launch.constants
    ] or [value.numel() for value in launch.arguments.values() if isinstance(value, torch.Tensor)]
    return not blocks or any(size % block for size in sizes for block in blocks)


def sites_of(finding: Finding, sites: list[Site]) -> list[Site]:
    """The accesses that a finding is about: on its lines, and at its column if several are."""
    path, place = os.path.realpath(finding.path), finding.range
    here = [
        site
        for site in sites
        if place.start.line <= site.line <= place.end.line and os.path.realpath(site.file) == path
    ]
    exact = [site for site in here if (site.line, site.column) == (place.start.line, place.start.column)]
    return exact or here


def said(site: Site, launch: Launch, sizes: str) -> str:
    """The bad lanes of an access in one line."""
    sizes = f"; {sizes}" if sizes else ""
    if site.tensor is None:
        return f"{site.bad:,} of {site.lanes:,} lanes far outside every tensor{sizes}"
    count, where = (site.outside, "outside") if site.outside else (site.past_view, "past")
    lanes = f"{count:,} of {site.lanes:,} lanes {where} `{site.tensor}`"
    if not site.outside:
        lanes += ", inside its storage"
    off = site.offset
    far = (
        f"{off:,} element{'s' * (off != 1)} behind its end" if off > 0 else f"{-off:,} in front of its start"
    )
    index = ", ".join(map(str, program_index(site.program or 0, launch.grid)))
    return f"{lanes}, up to {far}, first in program ({index}){sizes}"
