"""The names of Triton's own things, under whichever of their spellings a file uses."""

from __future__ import annotations

import re
from functools import lru_cache

_ALIASES = (
    ("triton.language.math.", "triton.language."),
    ("triton.language.core.", "triton.language."),
    ("triton.language.standard.", "triton.language."),
    ("triton.runtime.jit.", "triton."),
    ("triton.runtime.autotuner.", "triton."),
    ("triton.runtime.", "triton."),
)
_FORK = re.compile(
    r"^[a-z_]*triton[a-z_]*(?=\.(language|experimental|runtime|jit|autotune|Config|cdiv|heuristics|next_power_of_2)\b)"
    r"|^[a-z_]+_triton$"
)


@lru_cache(maxsize=1 << 12)
def canonical(dotted: str) -> str:
    """The name under which the rest of the model knows a library's thing; forks count as Triton."""
    dotted = _FORK.sub("triton", dotted)
    for prefix, short in _ALIASES:
        if dotted.startswith(prefix):
            return short + dotted[len(prefix) :]
    return dotted
