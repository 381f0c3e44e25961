"""Programs that ask for a GPU, on a machine without one: their tensors go to the CPU instead."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import torch
from torch.overrides import TorchFunctionMode

from tritonlint.confirm.backends import CAPABILITY


class _OnCpu(TorchFunctionMode):
    """Every mention of a CUDA device means the CPU."""

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if function is torch.Tensor.cuda:
            return args[0]
        if function == torch.Tensor.is_cuda.__get__:  # made anew each time that it is asked for
            return True
        kwargs = {name: _moved(value) for name, value in (kwargs or {}).items() if name != "pin_memory"}
        return function(*map(_moved, args), **kwargs)


def _moved(value: Any) -> Any:
    is_text = isinstance(value, str) and (value == "cuda" or value.startswith("cuda:"))
    if is_text or (isinstance(value, torch.device) and value.type == "cuda"):
        return torch.device("cpu")
    return value


class _Properties:
    name = "no GPU: tritonlint confirm --device cpu"
    major, minor = CAPABILITY // 10, CAPABILITY % 10
    multi_processor_count = 132
    total_memory = 80 << 30
    warp_size = 32
    L2_cache_size = 50 << 20
    max_threads_per_multi_processor = 2048
    regs_per_multiprocessor = 65536
    shared_memory_per_block_optin = 232448
    shared_memory_per_multiprocessor = 233472


@contextmanager
def installed() -> Iterator[None]:
    """While this lasts, `device="cuda"` and `.cuda()` give tensors on the CPU, and `torch.cuda` answers."""
    answers: dict[str, Any] = {
        "is_available": lambda: True,
        "device_count": lambda: 1,
        "current_device": lambda: 0,
        "set_device": lambda device: None,
        "synchronize": lambda device=None: None,
        "empty_cache": lambda: None,
        "init": lambda: None,
        "is_bf16_supported": lambda *_, **__: True,
        "get_device_name": lambda device=None: _Properties.name,
        "get_device_capability": lambda device=None: (_Properties.major, _Properties.minor),
        "get_device_properties": lambda device=None: _Properties,
        "manual_seed": lambda seed: None,
        "manual_seed_all": lambda seed: None,
        "max_memory_allocated": lambda device=None: 0,
        "memory_allocated": lambda device=None: 0,
        "reset_peak_memory_stats": lambda device=None: None,
        "get_rng_state_all": list,
        "device": _Device,
    }
    patches = [mock.patch.object(torch.cuda, name, answer) for name, answer in answers.items()]
    with _OnCpu():
        for patch in patches:
            patch.start()
        try:
            yield
        finally:
            for patch in reversed(patches):
                patch.stop()


class _Device:
    """`torch.cuda.device(...)`: of several devices the only one."""

    def __init__(self, device: Any = None) -> None:
        self.idx = 0

    def __enter__(self) -> None:
        """There is nothing to switch to."""

    def __exit__(self, *_: Any) -> None:
        """There is nothing to switch back to."""
