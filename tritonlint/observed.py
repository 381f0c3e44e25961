"""Findings that only a run can make: `tritonlint confirm --explore`. `check` never reports them."""

from __future__ import annotations

from tritonlint.finding import Severity
from tritonlint.rule import Rule


class OutOfBoundsAccess(Rule):
    """An access left its tensor in a launch, and nothing in the source had said so.

    ## What it does
    Reports, under `tritonlint confirm --explore`, every load, store and atomic of which an active lane lay
    outside the tensors of the launch, where no rule had claimed it: pointers made of data, sizes that only
    the caller knows, boundary checks against a shape that is not the tensor's.

    ## Why is this bad?
    A read past a tensor returns whatever lies there, mostly without an error, since allocators hand out
    whole pages; a write destroys another tensor.

    ## Example
    The index comes from data, so that no rule can know it, and one of the rows is past the last:

    ```text
    embed.py:9:9: error TL100 out-of-bounds-access: `tl.load` leaves `table_ptr` in a launch
    ```

    ## Use instead
    Mask the access by the extent of the tensor, or check on the host what is passed.

    ## Fix safety
    There is no fix: which extent was meant is not known.

    ## References
    - `docs/confirm.md`
    """

    code = "TL100"
    severity = Severity.ERROR


class MaskedLoadWithoutOther(Rule):
    """A result depends on lanes that a mask switched off.

    ## What it does
    Reports, under `tritonlint confirm --explore`, masked loads without `other=` whose switched-off lanes
    reach a result: the launch is made with two different values in them, and the results differ.

    ## Why is this bad?
    Triton leaves such lanes undefined. They are 0 on NVIDIA's GPUs today, which hides it, and anything
    elsewhere.

    ## Example
    A maximum over a row of negative numbers, of which the lanes behind the end take part:

    ```text
    softmax.py:11:9: warning TL111 masked-load-without-other: lanes that the mask switches off reach `out_ptr`
    ```

    ## Use instead
    Give the value that changes nothing: `other=0.0` for a sum, `other=-float("inf")` for a maximum.

    ## Fix safety
    There is no fix: which value is neutral depends on what is done with it.

    ## References
    - [Triton documentation: `triton.language.load`](https://triton-lang.org/main/python-api/generated/triton.language.load.html)
    """

    code = "TL111"
    severity = Severity.WARNING


class StoreRace(Rule):
    """The result of a kernel depends on the order in which its programs run.

    ## What it does
    Reports, under `tritonlint confirm --explore`, kernels without atomics whose results differ when the same
    launch is made again, or with its programs in the opposite order.

    ## Why is this bad?
    A GPU promises no order. Programs that write one address, or read what another writes, give a result
    that changes with the load of the machine, the size of the grid, and the GPU.

    ## Example
    Every program adds to one cell by a load and a store:

    ```text
    count.py:7:1: error TL116 store-race: the programs of `count` write `out_ptr` by turns
    ```

    ## Use instead
    Let each program write cells of its own, or add with `tl.atomic_add`.

    ## Fix safety
    There is no fix.

    ## References
    - `docs/confirm.md`
    """

    code = "TL116"
    severity = Severity.ERROR


OBSERVED_RULES: tuple[type[Rule], ...] = (OutOfBoundsAccess, MaskedLoadWithoutOther, StoreRace)
