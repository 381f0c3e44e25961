"""Calls the operations of liger-kernel and FlashNN at friendly and at ragged sizes, forward and backward.

A program for `tritonlint confirm benchmarks/confirm/packages.py [liger|flashnn|rope ...]`; both packages
must be on the path. An operation that cannot be called is named with its error, and the next one follows.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import torch

SIZES = ((64, 1024), (61, 777))
"""Rows and columns."""


def half(*shape: int) -> torch.Tensor:
    """Numbers that a gradient is wanted for."""
    return torch.randn(shape, device="cuda", dtype=torch.float16, requires_grad=True)


def numbers(high: int, *shape: int) -> torch.Tensor:
    """Random indices below a limit."""
    return torch.randint(0, high, shape, device="cuda")


def bytes_of(*shape: int) -> torch.Tensor:
    """Random int8."""
    return torch.randint(-99, 99, shape, device="cuda", dtype=torch.int8)


def scales(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """Positive numbers near one."""
    return torch.rand(*shape, device="cuda", dtype=dtype) + 0.5


def liger(rows: int, columns: int) -> dict[str, Callable[[], Any]]:
    """Operations of liger-kernel."""
    from liger_kernel import ops

    x, w, b = half(rows, columns), half(columns), half(columns)
    logits, target = half(rows, columns), numbers(columns, rows)
    p, q = half(rows, columns).detach().softmax(-1), half(rows, columns).detach().softmax(-1)
    angles = torch.randn(1, rows, 64, device="cuda", dtype=torch.float16)
    polynomial = (half(3), half())
    return {
        "rms_norm": lambda: ops.LigerRMSNormFunction.apply(x, w, 1e-6, 0.0, "llama", False),
        "layer_norm": lambda: ops.LigerLayerNormFunction.apply(x, w, b, 1e-6),
        "fused_add_rms_norm": lambda: ops.LigerFusedAddRMSNormFunction.apply(x, logits, w, 1e-6)[0],
        "poly_norm": lambda: ops.LigerPolyNormFunction.apply(x, *polynomial, 1e-6, False),
        "group_norm": lambda: ops.LigerGroupNormFunction.apply(
            half(3, 12, columns), half(12), half(12), 12, 4, 1e-6
        ),
        "dyt": lambda: ops.LigerDyTFunction.apply(x, half(1), w, b),
        "swiglu": lambda: ops.LigerSiLUMulFunction.apply(x, logits),
        "geglu": lambda: ops.LigerGELUMulFunction.apply(x, logits),
        "relu_squared": lambda: ops.LigerReLUSquaredFunction.apply(x),
        "softmax": lambda: ops.LigerSoftmaxFunction.apply(x),
        "sparsemax": lambda: ops.LigerSparsemaxFunction.apply(x, -1),
        "rope": lambda: ops.LigerRopeFunction.apply(
            half(2, 6, rows, 64), half(2, 3, rows, 64), angles, angles
        )[0],
        "cross_entropy": lambda: ops.LigerCrossEntropyFunction.apply(logits * 1.0, target, None)[0],
        "fused_linear_cross_entropy": lambda: ops.LigerFusedLinearCrossEntropyFunction.apply(
            x, half(300, columns), numbers(300, rows)
        )[0],
        "kl_div": lambda: ops.LigerKLDivLossFunction.apply(p.log().requires_grad_(), q),
        "jsd": lambda: ops.LigerJSDFunction.apply(p.log().requires_grad_(), q.log()),
        "tvd": lambda: ops.LigerTVDLossFunction.apply(p.clone().requires_grad_(), q),
        "neighborhood_attention": lambda: ops.LigerFusedNeighborhoodAttentionFunction.apply(
            half(1, 2, rows, 32), half(1, 2, rows, 32), half(1, 2, rows, 32)
        ),
    }


def flashnn(rows: int, columns: int) -> dict[str, Callable[[], Any]]:
    """Operations of FlashNN, which has no backward."""
    import flashnn
    from flashnn.triton_kernels import flash_attn_v2, rotary_embedding

    flashnn.set_use_triton(True)
    x = half(rows, columns).detach()
    weight = bytes_of(columns, columns)
    attention = [half(2, rows, 4, 64).detach() for _ in range(3)]
    angles = half(rows, 1, 1, 64).detach()
    return {
        "layer_norm": lambda: flashnn.LayerNorm(columns).to(x)(x),
        "layer_norm_dquant": lambda: flashnn.LayernormDquant(columns).to(x)(x),
        "rms_norm": lambda: flashnn.RMSNorm(columns).to(x)(x),
        "rms_norm_dquant": lambda: flashnn.RMSNormDquant(columns).to(x)(x),
        "dynamic_quantize": lambda: flashnn.DynamicQuantize()(x),
        "gemm_a8w8": lambda: flashnn.GemmA8W8()(
            bytes_of(rows, columns), weight, *(scales(size, dtype=torch.float16) for size in (rows, columns))
        ),
        "gemm_weight_only": lambda: flashnn.GemmWeightOnly()(x, weight, scales(columns, dtype=torch.float16)),
        "flash_attention": lambda: flash_attn_v2.triton_flash_attention_forward(*attention, True),
        "rotary_embedding": lambda: rotary_embedding.triton_rotary_embd_forward(
            half(rows, 2, 4, 64).detach(), half(rows, 2, 2, 64).detach(), angles, angles
        ),
    }


def main() -> None:
    """Call everything, or the packages and operations that are named."""
    wanted = sys.argv[1:]
    for package in (liger, flashnn):
        for rows, columns in SIZES:
            for name, call in package(rows, columns).items():
                if wanted and not {package.__name__, name} & set(wanted):
                    continue
                try:
                    result = call()
                    if isinstance(result, torch.Tensor) and result.requires_grad:
                        result.float().sum().backward()
                    said = "done"
                except Exception as error:  # noqa: BLE001 - one operation must not end the rest
                    said = f"{type(error).__name__}: {str(error).splitlines()[0][:150] if str(error) else ''}"
                print(f"{package.__name__} {name} {rows} x {columns}: {said}", flush=True)


if __name__ == "__main__":
    main()
