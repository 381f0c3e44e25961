"""TL601."""

from __future__ import annotations

from collections.abc import Iterator

from tritonlint.finding import Confidence, Finding, Severity
from tritonlint.model import Kernel, Place
from tritonlint.model.gemms import Gemm, gemms
from tritonlint.model.order import (
    adds_up_in_memory,
    batch_runs_fastest,
    has_narrow_side,
    idle_group_parameter,
    is_plain,
    shows_sizes,
    walks_few_rows,
)
from tritonlint.rule import Rule
from tritonlint_rules.ordering._changes import grouped


class UngroupedGemm(Rule):
    """A tiled GEMM that visits its output row by row or column by column.

    ## What it does
    Finds `tl.dot` loops over K whose operands walk the rows and the columns of the output by program
    id, and reads the order off the addresses: `pid // n` with `pid % n`, or two grid axes, in 1-D, 2-D,
    batched and persistent kernels. Attention, whose operands do not both move with the loop, thin
    tiles (16 or fewer rows) and grids of one row of tiles are left alone.

    ## Why is this bad?
    Programs that run at the same time share rows of one operand and nothing of the other, so that one
    is read again from memory for every row of tiles. Grouped order measured 1.05 times as fast at
    8192 cubed and 1.13 to 1.18 at 16384 on an H200; at 4096, where all fits the L2, it is even.

    ## Example
    ```python
    import triton
    import triton.language as tl

    @triton.jit
    def matmul_kernel(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
        pid = tl.program_id(0)
        tiles_n = tl.cdiv(N, BN)
        pid_m = pid // tiles_n  # expect: ungrouped-gemm
        pid_n = pid % tiles_n
        m = pid_m * BM + tl.arange(0, BM)
        n = pid_n * BN + tl.arange(0, BN)
        acc = tl.zeros((BM, BN), dtype=tl.float32)
        for start in range(0, K, BK):
            k = start + tl.arange(0, BK)
            a = tl.load(a_ptr + m[:, None] * K + k[None, :], mask=(m < M)[:, None] & (k < K)[None, :], other=0.0)
            b = tl.load(b_ptr + k[:, None] * N + n[None, :], mask=(k < K)[:, None] & (n < N)[None, :], other=0.0)
            acc = tl.dot(a, b, acc)
        tl.store(c_ptr + m[:, None] * N + n[None, :], acc, mask=(m < M)[:, None] & (n < N)[None, :])
    ```

    ## Use instead
    ```python
    import triton
    import triton.language as tl

    @triton.jit
    def matmul_kernel(
        a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr
    ):
        pid = tl.program_id(0)
        tiles_m, tiles_n = tl.cdiv(M, BM), tl.cdiv(N, BN)
        pid_m, pid_n = tl.swizzle2d(pid // tiles_n, pid % tiles_n, tiles_m, tiles_n, GROUP)
        m = pid_m * BM + tl.arange(0, BM)
        n = pid_n * BN + tl.arange(0, BN)
        acc = tl.zeros((BM, BN), dtype=tl.float32)
        for start in range(0, K, BK):
            k = start + tl.arange(0, BK)
            a = tl.load(a_ptr + m[:, None] * K + k[None, :], mask=(m < M)[:, None] & (k < K)[None, :], other=0.0)
            b = tl.load(b_ptr + k[:, None] * N + n[None, :], mask=(k < K)[:, None] & (n < N)[None, :], other=0.0)
            acc = tl.dot(a, b, acc)
        tl.store(c_ptr + m[:, None] * N + n[None, :], acc, mask=(m < M)[:, None] & (n < N)[None, :])
    ```

    ## Fix safety
    `tl.swizzle2d` behind the lines that compute the tile, in groups of eight rows: results stay the same, speed
    should be measured, so it is unsafe. Given for one-dimensional grids of `cdiv` by `cdiv` tiles and for
    two-dimensional ones, where the index on axis 1 is grouped, since axis 0 runs fastest.

    ## References
    - vllm-project/vllm#45126, pytorch/pytorch#151705, triton-lang/triton#4424
    """

    code = "TL601"
    severity = Severity.WARNING
    is_about_speed = True

    def check(self, kernel: Kernel) -> Iterator[Finding]:
        for gemm in gemms(kernel):
            if is_plain(gemm) and idle_group_parameter(kernel) is None:
                yield self.finding(
                    Place(kernel.module.source, gemm.first.node, kernel.name),
                    f"the tiles of this GEMM are visited in plain order: rows by `{_short(gemm.rows)}`, "
                    f"columns by `{_short(gemm.columns)}`, so that neighbours share one operand and read the "
                    "other anew",
                    confidence=_confidence(gemm),
                    related=[
                        Place(
                            gemm.dot.where.function.module.source,
                            gemm.dot.where.node,
                            gemm.dot.where.function.name,
                        ).note("the product")
                    ],
                    fix=grouped(kernel, gemm),
                )
                return


def _short(index: object) -> str:
    text = str(index)
    return text if len(text) <= 60 else text[:57] + "..."


def _confidence(gemm: Gemm) -> Confidence:
    """Low where order gains nothing, for few tiles (by batch and head, by expert, short) or costlier work."""
    if walks_few_rows(gemm) or has_narrow_side(gemm) or batch_runs_fastest(gemm) or adds_up_in_memory(gemm):
        return Confidence.LOW
    if gemm.loop.static or ((gemm.batches > 1 or gemm.ragged) and not gemm.gathered):
        return Confidence.LOW
    return Confidence.HIGH if shows_sizes(gemm) and not gemm.batches else Confidence.MEDIUM
