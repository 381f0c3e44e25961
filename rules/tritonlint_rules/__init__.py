"""The built-in rules. This tuple is the table of contents; the order is that of the codes."""

from tritonlint.rule import Rule

from tritonlint_rules.memory.partial_mask import PartialMask
from tritonlint_rules.memory.unmasked_access import UnmaskedAccess

RULES: tuple[type[Rule], ...] = (
    UnmaskedAccess,
    PartialMask,
)
