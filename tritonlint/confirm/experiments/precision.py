"""Does a wider accumulator make the result better? The kernel as it is and as fixed, against a wider one."""

from __future__ import annotations

from typing import Any

import torch

from tritonlint.confirm.capture import TunedLaunch
from tritonlint.confirm.copies import Copies
from tritonlint.confirm.experiment import (
    Experiment,
    Lab,
    Outcome,
    confirmed,
    distance,
    not_reached,
    not_testable,
    refuted,
    sizes_of,
)
from tritonlint.confirm.launches import Launch
from tritonlint.confirm.rewritten import fixed
from tritonlint.finding import Finding

RATIO = 1.5
"""So many times the error of the fixed kernel is the least that counts as worse."""
MEANINGLESS = 0.05
"""Where even the fixed kernel is so far off, terms cancel and the error is one of their rounding."""
_NARROW = (torch.float16, torch.bfloat16)


class Precision(Experiment):
    """TL501, TL502: relative errors against the fixed kernel on the same values in float32.

    Values of a half type are exact in float32, also as operands of a TF32 product, so that the reference
    only rounds where it adds, with 24 bits.
    """

    codes = ("TL501", "TL502")

    def try_launch(
        self, finding: Finding, launch: Launch, tuned: TunedLaunch | None, lab: Lab
    ) -> Outcome | None:
        """See `Experiment.try_launch`."""
        if finding.code == "TL502" and not _has_half(launch):
            return refuted(f"no tensor of this launch has a half type ({sizes_of(finding, launch)})")
        if not lab.backend.is_gpu:
            return not_testable("the interpreter adds with more bits than a GPU")
        better = fixed(finding, launch)
        before, plain, mended = lab.copies(launch), lab.run(launch), lab.run(better)
        names = [name for name in plain.changed(before) if plain.tensors[name].is_floating_point()]
        if not names:
            return not_testable("it writes no floating-point tensor")
        wide = _widened(better, lab)
        errors = []
        for name in names:
            exact = wide.tensors[name]
            own, other = distance(plain.tensors[name], exact), distance(mended.tensors[name], exact)
            errors.append((own, other, name))
        own, other, name = max(errors)
        said = sizes_of(finding, launch)
        sizes = f"; {said}" if said else ""
        numbers: dict[str, Any] = {
            "error": own,
            "fixed_error": other,
            "tensor": name,
            "launch": said,
        }
        if other > MEANINGLESS:
            text = f"`{name}` is too near 0 to compare: relative error {own:.2g}, fixed {other:.2g}{sizes}"
            return not_reached(text, **numbers)
        if own > RATIO * other and own > 1e-6:
            ratio = f", {own / other:.1f} times" if other > 0 else ""
            return confirmed(
                f"relative error of `{name}` {own:.2g}, fixed {other:.2g}{ratio}{sizes}", **numbers
            )
        return refuted(f"relative error of `{name}` {own:.2g}, fixed {other:.2g}{sizes}", **numbers)


def _has_half(launch: Launch) -> bool:
    """Whether something in half precision is passed, if only as a part of an argument."""
    plain = [one for one in launch.arguments.values() if isinstance(one, torch.Tensor)]
    others = [
        one for one in launch.arguments.values() if not isinstance(one, torch.Tensor | int | float | None)
    ]
    return bool(others) or any(one.dtype not in (torch.float32, torch.float64) for one in plain)


def _widened(launch: Launch, lab: Lab) -> Copies:
    """The results of a launch whose half-precision tensors are float32."""
    arguments = {
        name: _wide(value) if isinstance(value, torch.Tensor) and value.dtype in _NARROW else value
        for name, value in launch.arguments.items()
    }
    return lab.run(launch.with_arguments(arguments))


def _wide(tensor: torch.Tensor) -> torch.Tensor:
    """The values of a tensor in float32, with the same strides."""
    wide = torch.empty_strided(tensor.size(), tensor.stride(), dtype=torch.float32, device=tensor.device)
    return wide.copy_(tensor.detach())
