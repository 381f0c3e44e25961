"""A launch: the host's arguments bound to a kernel's parameters, the grid, and what is known there."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from tritonlint.model.logic import Formula
from tritonlint.model.symbolic import Atom, Poly
from tritonlint.model.tuning import configurations
from tritonlint.model.values import Choice, KernelValue, NoneValue, Number, Tensor, Tuned, Value

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
    names: Mapping[str, str] = field(default_factory=dict)
    """What the host calls its tensors, by their keys."""

    @cached_property
    def variants(self) -> tuple[Launch, ...]:
        """The launch under each configuration that its tuner may pick; itself where none are known."""
        tuned = self.kernel.tuned
        settings = _settings(tuned) if tuned is not None else []
        found = tuple(self._under(setting) for setting in settings[:MAX_VARIANTS])
        return found if found and len(settings) <= MAX_VARIANTS else (*found, self)

    @property
    def is_pruned(self) -> bool:
        """Whether the tuner drops configurations by a function of the arguments."""
        tuned = self.kernel.tuned
        return tuned is not None and tuned.options.get("prune_configs_by") is not None

    def _under(self, setting: Mapping[str, Argument]) -> Launch:
        known = {Atom("param", n): a.value.poly for n, a in setting.items() if isinstance(a.value, Number)}

        def settled(poly: Poly) -> Poly:
            return poly.substitute(known)

        arguments = {
            name: replace(arg, value=_settled(arg.value, settled)) for name, arg in self.arguments.items()
        }
        grid = tuple(settled(poly) for poly in self.grid) if self.grid is not None else None
        return replace(self, arguments={**arguments, **setting}, grid=grid)

    @cached_property
    def values(self) -> dict[Atom, Poly]:
        """Kernel parameters that are numbers on the host, as a substitution."""
        found: dict[Atom, Poly] = {}
        for name, argument in self.arguments.items():
            number = _number_or_none(argument.value)
            if number is not None:
                found[Atom("param", name)] = number.poly
            elif isinstance(argument.value, Tensor) and not argument.value.sure:
                kind = "config" if "." in argument.value.key else "hostparam"
                found[Atom("param", name)] = Poly.of(Atom(kind, argument.value.key))
        return found

    @cached_property
    def _on_host(self) -> dict[Poly, Poly]:
        """What `on_host` has been asked so far: a kernel's conditions come up again and again."""
        return {}

    def on_host(self, poly: Poly) -> Poly:
        """A kernel expression in terms of the host's sizes."""
        known = self._on_host.get(poly)
        if known is None:
            known = self._on_host[poly] = poly.substitute(self.values)
        return known

    @cached_property
    def _conditions_on_host(self) -> dict[Formula, Formula]:
        """The same of `formula_on_host`."""
        return {}

    def formula_on_host(self, formula: Formula) -> Formula:
        """A kernel condition in terms of the host's sizes."""
        known = self._conditions_on_host.get(formula)
        if known is None:
            known = self._conditions_on_host[formula] = formula.map(self.on_host)
        return known

    def cuts_away(self, conditions: Iterable[Formula]) -> bool:
        """Whether its compile-time arguments make one of the conditions of a place false."""
        return any(self.formula_on_host(condition).known is False for condition in conditions)

    def tensor(self, parameter: str) -> Tensor | None:
        """The host tensor given for a pointer parameter."""
        argument = self.arguments.get(parameter)
        value = argument.value if argument is not None else None
        if isinstance(value, Choice):
            tensors = [option for option in value.options if isinstance(option, Tensor)]
            value = tensors[0] if len(tensors) == 1 else None
        return value if isinstance(value, Tensor) else None


def _number_or_none(value: Value) -> Number | None:
    """A number, also one that may be None instead: a kernel that computes with it was not given None."""
    if isinstance(value, Choice):
        rest = [option for option in value.options if not isinstance(option, NoneValue)]
        value = rest[0] if len(rest) == 1 else value
    return value if isinstance(value, Number) else None


MAX_VARIANTS = 16


def _settings(tuned: Tuned) -> list[dict[str, Argument]]:
    """The distinct values that configurations give to meta-parameters."""
    found: dict[object, dict[str, Argument]] = {}
    for config in configurations(tuned).items:
        numbers = {name: value for name, value in config.kwargs.items if isinstance(value, Number)}
        key = tuple(
            sorted(
                (name, value.poly.constant)
                for name, value in numbers.items()
                if value.poly.constant is not None
            )
        )
        found.setdefault(key, {name: Argument(value, config.node) for name, value in numbers.items()})
    return list(found.values())


def _settled(value: Value, change: Callable[[Poly], Poly]) -> Value:
    """A number with meta-parameters replaced, also inside conditions."""
    if not isinstance(value, Number):
        return value
    formula = value.formula.map(change) if value.formula is not None else None
    return replace(value, poly=change(value.poly), formula=formula)
