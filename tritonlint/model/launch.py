"""A launch: the host's arguments bound to a kernel's parameters, the grid, and what is known there."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from tritonlint.model.logic import Formula
from tritonlint.model.symbolic import Atom, Poly
from tritonlint.model.values import Choice, KernelValue, Number, Tensor, Value

if TYPE_CHECKING:
    from tritonlint.model.module import FunctionInfo, Module


@dataclass(frozen=True, slots=True)
class Argument:
    """The value of one parameter at a launch, and the host expression it was written as."""

    value: Value
    node: ast.AST
    by_default: bool = False


@dataclass(eq=False)
class Launch:
    """One `kernel[grid](...)`.

    `grid` holds the sizes of the axes where they are known; a meta-parameter in it stands as the
    kernel's own parameter. `facts` are the conditions that hold on the host where the launch is.
    `complete` is False where `*args` or `**kwargs` of unknown content take part.
    """

    kernel: KernelValue
    module: Module
    function: FunctionInfo | None
    node: ast.Call
    arguments: dict[str, Argument]
    options: dict[str, Value]
    grid: tuple[Poly, ...] | None
    grid_node: ast.AST | None
    facts: tuple[Formula, ...]
    in_loop: bool
    complete: bool = True
    problems: tuple[str, ...] = field(default=())

    @cached_property
    def values(self) -> dict[Atom, Poly]:
        """Kernel parameters that are numbers on the host, as a substitution."""
        found: dict[Atom, Poly] = {}
        for name, argument in self.arguments.items():
            if isinstance(argument.value, Number):
                found[Atom("param", name)] = argument.value.poly
            elif isinstance(argument.value, Tensor) and not argument.value.sure:
                kind = "config" if "." in argument.value.key else "hostparam"
                found[Atom("param", name)] = Poly.of(Atom(kind, argument.value.key))
        return found

    def on_host(self, poly: Poly) -> Poly:
        """A kernel expression in terms of the host's sizes."""
        values = self.values
        return poly.substitute(values.get)

    def formula_on_host(self, formula: Formula) -> Formula:
        """A kernel condition in terms of the host's sizes."""
        return formula.map(self.on_host)

    def tensor(self, parameter: str) -> Tensor | None:
        """The host tensor given for a pointer parameter."""
        argument = self.arguments.get(parameter)
        value = argument.value if argument is not None else None
        if isinstance(value, Choice):
            tensors = [option for option in value.options if isinstance(option, Tensor)]
            value = tensors[0] if len(tensors) == 1 else None
        return value if isinstance(value, Tensor) else None
