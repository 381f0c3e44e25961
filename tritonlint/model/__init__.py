"""What Triton source means: modules, kernels, values, masks, accesses, dots, loops, launches.

Data flows one way: `source` -> `module`/`project` (names, files) -> `host` and `device` (evaluation)
-> `records` and `launch` -> `kernel` (what rules see) -> `bounds`, `powers`, `variability`, `order`
(answers in three values). Nothing here reports or judges.
"""

from tritonlint.model.kernel import Kernel, Place
from tritonlint.model.launch import Launch
from tritonlint.model.module import Module
from tritonlint.model.project import Project
from tritonlint.model.proof import Proof

__all__ = ["Kernel", "Launch", "Module", "Place", "Project", "Proof"]
