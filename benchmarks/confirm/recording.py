"""What catching launches costs where nothing is flagged: two layers of liger-kernel, forward and backward.

`python benchmarks/confirm/recording.py` runs an RMS norm and a SwiGLU layer, a batch of passes plain and the
next with its launches caught, by turns in one process, since two processes differ by more than what is looked
for: once with a rule selected that finds nothing in these layers, once with all rules.
Needs a GPU and liger-kernel on the path.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from statistics import median
from time import perf_counter

import torch
from liger_kernel.ops.rms_norm import LigerRMSNormFunction
from liger_kernel.ops.swiglu import LigerSiLUMulFunction

from tritonlint.config import Options, SettingsFinder
from tritonlint.confirm import backends
from tritonlint.confirm.capture import Capture
from tritonlint.confirm.session import Session

BATCHES = 60
PASSES = 20
LAUNCHES = 2000


def layers() -> Callable[[], None]:
    """One pass through both layers, forward and backward, until the GPU is done."""
    x = torch.randn(8, 2048, 4096, device="cuda", dtype=torch.bfloat16, requires_grad=True)
    weight = torch.ones(4096, device="cuda", dtype=torch.bfloat16, requires_grad=True)
    gate = torch.randn_like(x, requires_grad=True)

    def run() -> None:
        y = LigerRMSNormFunction.apply(x, weight, 1e-6, 0.0, "llama", False)
        LigerSiLUMulFunction.apply(gate, y).sum().backward()
        torch.cuda.synchronize()

    return run


def small_launch() -> Callable[[], None]:
    """One launch that takes the GPU no time: what is timed is Python's part of it."""
    small = torch.zeros(1, 64, device="cuda", requires_grad=True)
    return lambda: LigerSiLUMulFunction.apply(small, small)


def microseconds(run: Callable[[], None], passes: int, caught: AbstractContextManager[object]) -> float:
    """What one pass takes."""
    with caught:
        torch.cuda.synchronize()
        start = perf_counter()
        for _ in range(passes):
            run()
        torch.cuda.synchronize()
        return 1e6 * (perf_counter() - start) / passes


def compare(name: str, run: Callable[[], None], passes: int, capture: Capture) -> None:
    """Print what passes take, plain and caught by turns."""
    for _ in range(2):
        microseconds(run, passes, nullcontext())
        microseconds(run, passes, capture.installed())
    pairs = [
        (microseconds(run, passes, nullcontext()), microseconds(run, passes, capture.installed()))
        for _ in range(BATCHES)
    ]
    plain, caught = (median(times) for times in zip(*pairs, strict=True))
    ratio = median(caught / plain for plain, caught in pairs)
    print(f"{name}: plain {plain:.1f} us, caught {caught:.1f} us; ratio of neighbours {ratio:.4f}")


def main() -> None:
    """Print the times and their ratios."""
    backend = backends.choose("gpu", 60.0, None)
    for name, selected in (("nothing flagged", Options(select=("TL201",))), ("all rules", Options())):
        session = Session(backend, SettingsFinder(selected))
        capture = Capture(backend, session)
        compare(f"{name}, two layers", layers(), PASSES, capture)
        compare(f"{name}, a small launch", small_launch(), LAUNCHES, capture)
        open_claims = sum(claim.is_open for claim in session.claims)
        print(
            f"  {sum(session.launches.values())} launches, {len(session.claims)} claims, {open_claims} open"
        )


if __name__ == "__main__":
    main()
