"""TL301."""

from __future__ import annotations

from collections.abc import Iterator

from tritonlint.finding import Applicability, Confidence, Finding, Fix, Severity
from tritonlint.model import Module, Place, Proof
from tritonlint.model.context import is_script
from tritonlint.model.tuning import names_in
from tritonlint.model.tunings import Tuning, tunings_of
from tritonlint.rule import Rule
from tritonlint_rules.autotune._changes import keyword_added

MOST_NAMES = 4
"""So many names of a key are shown."""


class AutotuneInProduction(Rule):
    """`@triton.autotune` left on in library code.

    ## What it does
    Reports a tuner with two or more configurations outside tests, benchmarks, examples and scripts,
    unless its results are cached (`cache_results=True`, or the package sets `TRITON_CACHE_AUTOTUNING`),
    an environment switch gates it, or the project allows tuning in that path. Where every caller has
    to ask for tuning, or nothing in the package names what launches the kernel, confidence is low. A
    tuner that is rebuilt on every call is reported with high confidence: it throws its results away.

    ## Why is this bad?
    Each new key compiles and benchmarks every configuration while a request or a training step
    waits: 20 configurations and 5 shapes are 100 compilations and 100 benchmarks. Timing decides, so
    two ranks or two runs can pick different kernels and different rounding.

    ## Example
    ```python
    import triton
    import triton.language as tl

    @triton.autotune(  # expect: autotune-in-production
        configs=[triton.Config({"BLOCK": 256}), triton.Config({"BLOCK": 1024})],
        key=["n"],
    )
    @triton.jit
    def copy_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
        offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        inside = offsets < n
        tl.store(y_ptr + offsets, tl.load(x_ptr + offsets, mask=inside), mask=inside)
    ```

    ## Use instead
    ```python
    import triton
    import triton.language as tl

    @triton.jit
    def copy_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
        offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        inside = offsets < n
        tl.store(y_ptr + offsets, tl.load(x_ptr + offsets, mask=inside), mask=inside)
    ```

    ## Fix safety
    `cache_results=True` keeps what was measured on disk, so that a process tunes only what none has tuned
    before. Unsafe, since Triton before 3.4 does not know it. With `--evidence` of a
    run, the tuner keeps the configuration that won, or asks a table of winners first.

    ## References
    - vllm-project/vllm#37188, flagos-ai/FlagGems#4625, Dao-AILab/flash-attention#2239
    - `cache_results` exists from Triton 3.4; `TRITON_CACHE_AUTOTUNING=1` does the same from outside
    """

    code = "TL301"
    severity = Severity.WARNING
    is_about_speed = True

    def check_module(self, module: Module) -> Iterator[Finding]:
        if is_script(module) or module.policy.allows_tuning(module.file):
            return
        for tuning in tunings_of(module):
            if tuning.several is Proof.NO or tuning.cached or tuning.measured or not tuning.tuned.canonical:
                continue
            if not tuning.rebuilt and (tuning.gated or tuning.several is Proof.UNKNOWN):
                continue
            confidence = Confidence.HIGH if tuning.rebuilt and not tuning.gated else Confidence.MEDIUM
            if tuning.idle or ((tuning.may_be_one or tuning.switched) and not tuning.rebuilt):
                confidence = Confidence.LOW
            yield self.finding(
                Place(module.source, tuning.node, tuning.kernel_name),
                _message(tuning),
                confidence=confidence,
                fix=_fix(module, tuning),
            )


def _fix(module: Module, tuning: Tuning) -> Fix | None:
    edit = None if tuning.rebuilt else keyword_added(module, tuning.tuned, "cache_results=True")
    return Fix("cache the results on disk", Applicability.UNSAFE, (edit,)) if edit is not None else None


def _message(tuning: Tuning) -> str:
    name = f"`{tuning.kernel_name}`" if tuning.kernel_name else "the kernel"
    if tuning.rebuilt and tuning.function is not None:
        every = "every call with more than one configuration" if tuning.may_be_one else "every call"
        return f"`{tuning.function.name}` builds a new tuner for {name} on every call, so {every} tunes"
    if tuning.pruned:
        count = f"up to {tuning.most} of {tuning.count}" if tuning.most else f"up to {tuning.count}"
    else:
        count = f"{'' if tuning.exact else 'about '}{tuning.count}"
    return f"{name} tunes over {count} configurations at run time, once for each new {_key(tuning)}"


def _key(tuning: Tuning) -> str:
    names = names_in(tuning.tuned.key) or ()
    shown = [f"`{name}`" for name in names[:MOST_NAMES]] + ["..."] * (len(names) > MOST_NAMES)
    return f"({', '.join(shown)})" if len(shown) > 1 else shown[0] if shown else "combination of types"
