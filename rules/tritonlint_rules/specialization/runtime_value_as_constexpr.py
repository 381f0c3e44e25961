"""TL401."""

from __future__ import annotations

from collections.abc import Iterator

from tritonlint import edits
from tritonlint.finding import Applicability, Confidence, Finding, Fix, Related, Severity
from tritonlint.model import Kernel, Place
from tritonlint.model.specialization import VaryingConstexpr, decides, varying_constexprs
from tritonlint.rule import Rule


class RuntimeValueAsConstexpr(Rule):
    """A value that changes from call to call is passed as a `tl.constexpr`.

    ## What it does
    Judges every `tl.constexpr` parameter by what the launches pass: numbers of elements, leading axes
    of inputs, lengths, values read back from the device, loop variables, learning rates, strides that
    span a batch, and quotients of these. Widths, head sizes, constants, asserted values and whatever
    went through `next_power_of_2` are static. A parameter that tile shapes or `static_range` need at
    compile time is left alone.

    ## Why is this bad?
    Every distinct value compiles a new kernel: 24 sequence lengths took 1.49 s of compilation where
    two variants and 0.07 s would do, and the cache never stops growing.

    ## Example
    ```python
    import triton
    import triton.language as tl

    @triton.jit
    def double_kernel(x_ptr, y_ptr, n: tl.constexpr, BLOCK: tl.constexpr):  # expect: runtime-value-as-constexpr
        offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        inside = offsets < n
        tl.store(y_ptr + offsets, tl.load(x_ptr + offsets, mask=inside) * 2, mask=inside)

    def double(x, y):
        double_kernel[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel(), BLOCK=1024)
    ```

    ## Use instead
    ```python
    import triton
    import triton.language as tl

    @triton.jit
    def double_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
        offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        inside = offsets < n
        tl.store(y_ptr + offsets, tl.load(x_ptr + offsets, mask=inside) * 2, mask=inside)

    def double(x, y):
        double_kernel[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel(), BLOCK=1024)
    ```

    ## Fix safety
    Dropping the annotation is safe where the kernel only computes and compares with the value. It is unsafe
    where a branch depends on it, both sides of which are then compiled, or where it goes on to a helper.

    ## References
    - sgl-project/sglang#40371, ROCm/aiter#4545, fla-org/flash-linear-attention#1207
    - names that are static in a project: `constexpr.static-names` in the settings
    """

    code = "TL401"
    severity = Severity.WARNING
    is_about_speed = True

    def check(self, kernel: Kernel) -> Iterator[Finding]:
        groups: dict[object, list[VaryingConstexpr]] = {}
        for item in varying_constexprs(kernel):
            groups.setdefault(item.cause, []).append(item)
        for items in groups.values():
            first = max(items, key=lambda item: item.variation.confidence.rank)
            items.sort(key=lambda item: item is not first)
            yield self.finding(
                Place(kernel.module.source, first.parameter.node, kernel.name),
                f"`{first.parameter.name}` is `tl.constexpr`, but launches pass {first.value}: "
                "every new value compiles a new kernel",
                confidence=max(
                    (item.variation.confidence for item in items), key=lambda c: Confidence(c).rank
                ),
                related=_related(kernel, items),
                fix=_fix(kernel, items),
            )


def _fix(kernel: Kernel, items: list[VaryingConstexpr]) -> Fix:
    names = [item.parameter.name for item in items]
    source = kernel.module.source
    safe = not any(decides(kernel, name) for name in names)
    return Fix(
        f"drop `tl.constexpr` from {', '.join(f'`{name}`' for name in names)}",
        Applicability.SAFE if safe else Applicability.UNSAFE,
        tuple(edits.with_annotation(source, item.parameter.node, None) for item in items),
    )


def _related(kernel: Kernel, items: list[VaryingConstexpr]) -> Iterator[Related]:
    for item in items[1:]:
        place = Place(kernel.module.source, item.parameter.node, kernel.name)
        yield place.note(f"so does `{item.parameter.name}`")
    for item in items:
        place = Place(item.source_module.source, item.node)
        yield place.note(f"`{item.parameter.name}` is {item.variation.reason} here")
