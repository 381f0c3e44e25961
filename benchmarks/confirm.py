# ruff: noqa: N803, D103 - kernels are named as in every textbook
"""What the experiments of `tritonlint confirm` cost on a GPU: times of a probed launch against a plain one.

A streaming add and a GEMM of 4096 cubed are launched plain, with the bounds probe, and with all that a first
launch costs beside it (copies, a compilation). Prints one line for each.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any

import torch
import triton
import triton.language as tl

from tritonlint.confirm import backends
from tritonlint.confirm.experiment import Lab
from tritonlint.confirm.launches import bound, fresh
from tritonlint.confirm.probe_compiled import CompiledProbe


@triton.jit
def add(x, y, z, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(z + at, tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n)


@triton.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k0 in range(0, K, BK):
        k = k0 + tl.arange(0, BK)
        x = tl.load(a + m[:, None] * K + k[None, :], mask=(m < M)[:, None] & (k < K)[None, :], other=0.0)
        y = tl.load(b + k[:, None] * N + n[None, :], mask=(k < K)[:, None] & (n < N)[None, :], other=0.0)
        acc = tl.dot(x, y, acc)
    tl.store(c + m[:, None] * N + n[None, :], acc.to(tl.float16), mask=(m < M)[:, None] & (n < N)[None, :])


def main() -> None:
    """Time both kernels."""
    backend = backends.choose("gpu", 60.0, None)
    n, size = 1 << 26, 4096
    x, y, z = (torch.randn(n, device="cuda") for _ in range(3))
    a, b, c = (torch.randn(size, size, device="cuda").half() for _ in range(3))
    launches = {
        "streaming add, 2**26": bound(add, (x, y, z, n), {"B": 1024}, (n // 1024,)),
        "GEMM, 4096 cubed": bound(
            matmul, (a, b, c, size, size, size), {"BM": 128, "BN": 128, "BK": 32, "num_warps": 8}, (32, 32)
        ),
    }
    for name, launch in launches.items():
        plain = timed(lambda launch=launch: backend.launch(launch))
        copies = Lab(backend).copies(launch)
        probe = CompiledProbe(launch, copies)
        start = perf_counter()
        sites = probe.run(backend.launch)
        first = perf_counter() - start
        with probe._installed(), backends.private_cache():
            again = launch.with_function(fresh(launch.function)).with_arguments(copies.arguments)
            probed = timed(lambda again=again: backend.launch(again))
        bad = sum(site.bad for site in sites)
        print(
            f"{name}: plain {plain:.3f} ms, probed {probed:.3f} ms ({probed / plain:.1f} times), "
            f"first probed launch with its compilation {first:.2f} s, {len(sites)} sites, {bad} bad lanes"
        )


def timed(run: Any) -> float:
    """Milliseconds of a launch."""
    return float(triton.testing.do_bench(run))


if __name__ == "__main__":
    main()
