"""TL303."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tritonlint import edits
from tritonlint.finding import Applicability, Confidence, Finding, Fix, Related, Severity
from tritonlint.model import Module, Place, Proof
from tritonlint.model.context import is_script
from tritonlint.model.keys import UnboundedKey, unbounded_keys
from tritonlint.model.tunings import tunings_of
from tritonlint.model.values import Tuned
from tritonlint.rule import Rule
from tritonlint_rules.autotune._changes import argument


class UnboundedAutotuneKey(Rule):
    """An autotune key that changes at every call: tokens, batch, cache length, a tensor.

    ## What it does
    Looks at the values that the launches pass for the parameters named in `key`. Lengths, batch sizes,
    counts of tokens or elements and quotients of them are reported; the plain sizes of a GEMM (`M`,
    `N`, `K`) are not. Silent where `autotune-in-production` is: tests, benchmarks, scripts.

    ## Why is this bad?
    A value that was not seen before tunes again: every configuration is compiled and timed while the
    request waits. With a cache length in the key that is every generated token.

    ## Example
    ```python
    import triton
    import triton.language as tl

    @triton.autotune(  # expect: unbounded-autotune-key
        configs=[triton.Config({"BLOCK": 256}), triton.Config({"BLOCK": 1024})],
        key=["n"],
    )
    @triton.jit
    def scale_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
        offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        inside = offsets < n
        tl.store(y_ptr + offsets, tl.load(x_ptr + offsets, mask=inside) * 2, mask=inside)

    def scale(cache, out, kv_len: int):
        scale_kernel[lambda meta: (triton.cdiv(kv_len, meta["BLOCK"]),)](cache, out, kv_len)
    ```

    ## Use instead
    ```python
    import triton
    import triton.language as tl

    @triton.autotune(
        configs=[triton.Config({"BLOCK": 256}), triton.Config({"BLOCK": 1024})],
        key=["bucket"],
    )
    @triton.jit
    def scale_kernel(x_ptr, y_ptr, n, bucket, BLOCK: tl.constexpr):
        offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        inside = offsets < n
        tl.store(y_ptr + offsets, tl.load(x_ptr + offsets, mask=inside) * 2, mask=inside)

    def scale(cache, out, kv_len: int):
        grid = lambda meta: (triton.cdiv(kv_len, meta["BLOCK"]),)
        scale_kernel[grid](cache, out, kv_len, triton.next_power_of_2(kv_len))
    ```

    ## Fix safety
    Dropping the name from the key is unsafe: one winner then serves all sizes, which may be slower for some. A
    bucket, such as a `next_power_of_2` of the size passed for the key alone, is left to you.

    ## References
    - fla-org/flash-linear-attention#1037, fla-org/flash-linear-attention#1147
    """

    code = "TL303"
    severity = Severity.WARNING
    is_about_speed = True

    def check_module(self, module: Module) -> Iterator[Finding]:
        if is_script(module) or module.policy.allows_tuning(module.file):
            return
        for tuning in tunings_of(module):
            keys = list(unbounded_keys(tuning)) if tuning.several is not Proof.NO else []
            if keys:
                reasons = ", ".join(dict.fromkeys(f"`{key.name}` ({key.reason})" for key in keys))
                buckets = all(key.is_bucket for key in keys)
                sure = max((key.confidence for key in keys), key=lambda c: Confidence(c).rank)
                again = (
                    "every new quotient tunes again, and there is no last one"
                    if buckets
                    else "every new value tunes again"
                )
                yield self.finding(
                    Place(module.source, tuning.node, tuning.kernel_name),
                    f"the key of `{tuning.kernel_name}` holds {reasons}: {again}",
                    confidence=Confidence.LOW if tuning.may_be_one or tuning.idle or tuning.gated else sure,
                    related=_related(keys),
                    fix=_fix(module, tuning.tuned, {key.name for key in keys}),
                )


def _fix(module: Module, tuned: Tuned, names: set[str]) -> Fix | None:
    key = argument(tuned, "key", 1)
    if not isinstance(key, ast.List | ast.Tuple) or not any(node is key for node in module.source.nodes):
        return None
    gone = [item for item in key.elts if isinstance(item, ast.Constant) and item.value in names]
    shorter = tuple(edits.without_items(module.source, key, gone))
    shown = ", ".join(f"`{name}`" for name in sorted(names))
    return Fix(f"drop {shown} from the key", Applicability.UNSAFE, shorter) if gone else None


def _related(keys: list[UnboundedKey]) -> Iterator[Related]:
    for key in keys:
        yield Place(key.launch.module.source, key.node).note(f"`{key.name}` is {key.reason} here")
