"""The built-in rules. This tuple is the table of contents; the order is that of the codes."""

from tritonlint.rule import Rule
from tritonlint_rules.autotune.autotune_in_production import AutotuneInProduction
from tritonlint_rules.autotune.autotune_side_effects import AutotuneSideEffects
from tritonlint_rules.autotune.unbounded_autotune_key import UnboundedAutotuneKey
from tritonlint_rules.memory.partial_mask import PartialMask
from tritonlint_rules.memory.unchecked_block_pointer import UncheckedBlockPointer
from tritonlint_rules.memory.unmasked_access import UnmaskedAccess
from tritonlint_rules.numerics.half_precision_accumulator import HalfPrecisionAccumulator
from tritonlint_rules.numerics.half_precision_reduction import HalfPrecisionReduction
from tritonlint_rules.ordering.broken_grouping import BrokenGrouping
from tritonlint_rules.ordering.ungrouped_gemm import UngroupedGemm
from tritonlint_rules.shapes.non_power_of_2_block import NonPowerOf2Block
from tritonlint_rules.shapes.unrounded_block import UnroundedBlock
from tritonlint_rules.specialization.constexpr_required import ConstexprRequired
from tritonlint_rules.specialization.runtime_value_as_constexpr import RuntimeValueAsConstexpr

RULES: tuple[type[Rule], ...] = (
    UnmaskedAccess,
    PartialMask,
    UncheckedBlockPointer,
    NonPowerOf2Block,
    UnroundedBlock,
    AutotuneInProduction,
    AutotuneSideEffects,
    UnboundedAutotuneKey,
    RuntimeValueAsConstexpr,
    ConstexprRequired,
    HalfPrecisionAccumulator,
    HalfPrecisionReduction,
    UngroupedGemm,
    BrokenGrouping,
)
