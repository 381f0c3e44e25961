# ruff: noqa: N803, D103 - kernels are named as in every textbook
"""What the bounds probe costs on a GPU beside `compute-sanitizer --tool memcheck`, and what each sees.

Times of a probed launch against a plain one, for a streaming add and for GEMMs of 4096 cubed: the first look
(`probe_flags`), which is all there is where nothing is outside, and the one that counts (`probe_compiled`).
Then two overruns inside memory of PyTorch's allocator. `python benchmarks/confirm/probes.py [--no-memcheck]`.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from statistics import median
from time import perf_counter
from typing import Any

import torch
import triton
import triton.language as tl

from tritonlint.confirm import backends
from tritonlint.confirm.copies import Copies
from tritonlint.confirm.launches import Launch, bound, fresh
from tritonlint.confirm.origins import tracked
from tritonlint.confirm.probe_compiled import CompiledProbe
from tritonlint.confirm.probe_flags import FlagProbe


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


@triton.jit
def matmul_by_pointers(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    a_tile, b_tile = a + m[:, None] * K + k[None, :], b + k[:, None] * N + n[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k0 in range(0, K, BK):
        x = tl.load(a_tile, mask=(m < M)[:, None] & (k < K - k0)[None, :], other=0.0)
        y = tl.load(b_tile, mask=(k < K - k0)[:, None] & (n < N)[None, :], other=0.0)
        acc = tl.dot(x, y, acc)
        a_tile += BK
        b_tile += BK * N
    tl.store(c + m[:, None] * N + n[None, :], acc.to(tl.float16), mask=(m < M)[:, None] & (n < N)[None, :])


@triton.jit
def copied(x, out, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + at, tl.load(x + at))


def launches() -> dict[str, Launch]:
    """The launches that are timed, by name."""
    n, size = 1 << 26, 4096
    x, y, z = (torch.randn(n, device="cuda") for _ in range(3))
    gemm = (*(torch.randn(size, size, device="cuda").half() for _ in range(3)), size, size, size)
    narrow = {"BM": 128, "BN": 128, "BK": 32, "num_warps": 8}
    wide = {"BM": 128, "BN": 256, "BK": 64, "num_warps": 8}
    return {
        "streaming add, 2**26": bound(add, (x, y, z, n), {"B": 1024}, (n // 1024,)),
        "GEMM 4096, 128 x 128 x 32": bound(matmul, gemm, narrow, (32, 32)),
        "GEMM 4096, 128 x 256 x 64": bound(matmul, gemm, wide, (32, 16)),
        "GEMM 4096, pointers advance": bound(matmul_by_pointers, gemm, narrow, (32, 32)),
    }


def overruns() -> dict[str, Launch]:
    """Accesses past a tensor where no allocation of CUDA ends: by itself, and inside a larger storage."""
    x, out = torch.ones(1000, device="cuda"), torch.empty(1024, device="cuda")
    view = torch.ones(4096, device="cuda")[:1000]
    return {
        "24 elements past a tensor, inside the allocator": bound(copied, (x, out), {"B": 1024}, (1,)),
        "24 elements past a view, inside its storage": bound(copied, (view, out), {"B": 1024}, (1,)),
    }


def milliseconds(launch: Launch, backend: backends.Backend, rounds: int = 20) -> float:
    """The median time of a launch, each with a cold L2 cache."""
    flushed = torch.empty(256 << 20, dtype=torch.int8, device="cuda")
    times = []
    for turn in range(rounds + 3):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        flushed.zero_()
        start.record()
        backend.launch(launch)
        end.record()
        end.synchronize()
        if turn >= 3:  # the first compile, and warm up
            times.append(float(start.elapsed_time(end)))
    return median(times)


def probed(launch: Launch, backend: backends.Gpu, kind: type[Any]) -> tuple[float, float]:
    """Milliseconds of a probed launch, and the seconds of the first with its compilation."""
    probe = kind(launch, Copies(launch.arguments, backend.memory))
    start = perf_counter()
    probe.run(backend.launch)
    first = perf_counter() - start
    with tracked(set(probe.copies.tensors)), probe.installed(), backends.private_cache():
        own = launch.with_function(fresh(launch.function)).with_arguments(probe.copies.arguments)
        return milliseconds(own, backend), first


def memcheck(name: str) -> str | None:
    """What this program prints of one launch under memcheck; None where there is none."""
    if "--no-memcheck" in sys.argv or shutil.which("compute-sanitizer") is None:
        return None
    command = ["compute-sanitizer", "--tool", "memcheck", sys.executable, __file__, "--only", name]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def only(name: str) -> None:
    """One launch and nothing else, for memcheck."""
    backend = backends.Gpu(60.0, None)
    known = {**launches(), **overruns()} if name in overruns() else launches()
    print(f"milliseconds {milliseconds(known[name], backend, rounds=5)}")


def main() -> None:
    """Print the table."""
    if "--only" in sys.argv:
        only(sys.argv[-1])
        return
    backend = backends.Gpu(60.0, None)
    print(f"{torch.cuda.get_device_name()}, triton {triton.__version__}, torch {torch.__version__}")
    for name, launch in launches().items():
        plain = milliseconds(launch, backend)
        line = [f"{name}: plain {plain:.3f} ms"]
        for label, kind in (("first look", FlagProbe), ("counting", CompiledProbe)):
            time, first = probed(launch, backend, kind)
            line.append(f"{label} {time:.3f} ms ({time / plain:.2f} times; {first:.2f} s with compiling)")
        said = memcheck(name)
        if said is not None:
            time = float(re.findall(r"milliseconds (\S+)", said)[-1])
            line.append(f"memcheck {time:.3f} ms ({time / plain:.2f} times)")
        print("; ".join(line), flush=True)
    for name, launch in overruns().items():
        sites = backend.probe(launch, Copies(launch.arguments, backend.memory))
        said = memcheck(name)
        errors = re.findall(r"ERROR SUMMARY: (\d+) error", said) if said is not None else []
        seen = ", ".join(
            f"{site.kind} {site.outside} outside, {site.past_view} past the view" for site in sites
        )
        print(f"{name}: probe: {seen}; memcheck: {errors[-1] if errors else 'not run'} errors", flush=True)


if __name__ == "__main__":
    main()
