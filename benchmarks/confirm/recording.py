"""What catching launches costs where nothing is flagged: two layers of liger-kernel, forward and backward.

`python benchmarks/confirm/recording.py` runs this file plain and under `tritonlint confirm`, five times each
by turns, and prints the medians. Needs a GPU and liger-kernel on the path.
"""

from __future__ import annotations

import re
import subprocess
import sys
from statistics import median
from time import perf_counter

ROUNDS = 200
RUNS = 5


def layers() -> None:
    """Print the milliseconds of one pass through an RMS norm and a SwiGLU layer."""
    import torch
    from liger_kernel.ops.rms_norm import LigerRMSNormFunction
    from liger_kernel.ops.swiglu import LigerSiLUMulFunction

    x = torch.randn(8, 2048, 4096, device="cuda", dtype=torch.bfloat16, requires_grad=True)
    weight = torch.ones(4096, device="cuda", dtype=torch.bfloat16, requires_grad=True)
    gate = torch.randn_like(x, requires_grad=True)
    times = []
    for turn in range(ROUNDS + 20):
        torch.cuda.synchronize()
        start = perf_counter()
        y = LigerRMSNormFunction.apply(x, weight, 1e-6, 0.0, "llama", False)
        LigerSiLUMulFunction.apply(gate, y).sum().backward()
        torch.cuda.synchronize()
        if turn >= 20:
            times.append(perf_counter() - start)
    print(f"milliseconds {1e3 * median(times):.4f}")


def main() -> None:
    """Print both times and their ratio."""
    plain = [sys.executable, __file__, "--layers"]
    recorded = [sys.executable, "-m", "tritonlint", "confirm", "--device", "gpu", __file__, "--layers"]
    times: dict[str, list[float]] = {"plain": [], "recorded": []}
    for _ in range(RUNS):
        for name, command in (("plain", plain), ("recorded", recorded)):
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            said = re.search(r"milliseconds (\S+)", done.stdout)
            if said is None:
                raise SystemExit(f"{name}: {done.stdout}{done.stderr}")
            times[name].append(float(said[1]))
    own, other = median(times["plain"]), median(times["recorded"])
    print(f"plain {own:.3f} ms, recorded {other:.3f} ms, {100 * (other / own - 1):+.1f} %: {times}")
    print(done.stderr[-600:])


if __name__ == "__main__":
    layers() if "--layers" in sys.argv else main()
