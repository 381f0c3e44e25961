"""TL602."""

from __future__ import annotations

from collections.abc import Iterator

from tritonlint.finding import Confidence, Finding, Severity
from tritonlint.model import Kernel, Place
from tritonlint.model.gemms import gemms
from tritonlint.model.order import (
    dropped_remaps,
    idle_group_parameter,
    is_plain,
    is_swizzled_across,
    mismatched_splits,
)
from tritonlint.rule import Rule
from tritonlint_rules.ordering._changes import grouped, kept


class BrokenGrouping(Rule):
    """A remap of program ids that does not do what it is there for.

    ## What it does
    Reports a call that reorders program ids and whose result is thrown away, a group parameter that a
    GEMM in plain order never reads, a split of one id by different numbers of tiles (`pid % a` with
    `pid // b`), and `tl.swizzle2d(program_id(0), program_id(1), ...)`, which groups along the axis that
    the hardware runs slowest.

    ## Why is this bad?
    The kernel looks grouped and is not; with mismatched tile counts some tiles are computed twice and
    others never.

    ## Example
    ```python
    import triton
    import triton.language as tl

    @triton.jit
    def matmul_kernel(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
        pid = tl.program_id(0)
        tiles_m, tiles_n = tl.cdiv(M, BM), tl.cdiv(N, BN)
        pid_m = pid % tiles_n  # expect: broken-grouping
        pid_n = pid // tiles_m
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
    Keeping the result of a remap is unsafe: every program then computes another tile. An idle group parameter
    is handed to `tl.swizzle2d`, with results as before. A split by the wrong count is left to you.

    ## References
    - intel/intel-xpu-backend-for-triton#5918, ROCm/aiter#5217, meta-pytorch/applied-ai#16
    """

    code = "TL602"
    severity = Severity.ERROR
    is_about_speed = True

    def check(self, kernel: Kernel) -> Iterator[Finding]:
        for name, call in dropped_remaps(kernel):
            message = f"the result of `{name}` is thrown away, so program ids keep their plain order"
            yield self.finding(
                kernel.place(call), message, confidence=Confidence.HIGH, fix=kept(kernel, call)
            )
            return
        for split in mismatched_splits(kernel):
            message = f"tiles are split by `% ({split.modulus})` and `// ({split.divisor})`: some are computed twice, others never"
            yield self.finding(kernel.place(split.where.node), message, confidence=Confidence.HIGH)
            return
        for gemm in gemms(kernel):
            place = Place(kernel.module.source, gemm.first.node, kernel.name)
            idle = idle_group_parameter(kernel)
            if idle is not None and is_plain(gemm):
                message = f"`{idle}` is never read: the tiles of this GEMM are visited in plain order"
                yield self.finding(
                    place,
                    message,
                    confidence=Confidence.HIGH,
                    severity=Severity.WARNING,
                    fix=grouped(kernel, gemm, idle),
                )
                return
            if is_swizzled_across(gemm):
                message = "`tl.swizzle2d` groups rows, but grid axis 0 runs fastest and is its row: swap the axes of the grid"
                yield self.finding(place, message, confidence=Confidence.MEDIUM, severity=Severity.WARNING)
                return
