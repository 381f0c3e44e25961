"""Autotuning as declared: configurations, keys, and what the tuner is told to restore."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tritonlint.model.proof import Proof
from tritonlint.model.values import Choice, Config, Mapping, NoneValue, Number, Sequence, Text, Tuned, Value

if TYPE_CHECKING:
    from tritonlint.model.kernel import Kernel


@dataclass(frozen=True)
class Configurations:
    """The configurations of a tuner. `exact` is False where there may be more or other ones."""

    items: tuple[Config, ...]
    exact: bool
    may_be_one: bool = False
    """Whether the host has a list of a single one that it may give instead, where nothing is timed."""

    @property
    def several(self) -> Proof:
        """Whether there is anything to choose from, so that the tuner measures."""
        if len(self.items) > 1:
            return Proof.YES
        return Proof.NO if self.exact else Proof.UNKNOWN


def configurations(tuned: Tuned) -> Configurations:
    """The configurations a tuner was given, as far as they can be read."""
    return _configurations(tuned.configs)


def _configurations(value: Value) -> Configurations:
    if isinstance(value, Sequence):
        items = tuple(item for item in value.items if isinstance(item, Config))
        return Configurations(items, value.exact and len(items) == len(value.items))
    if isinstance(value, Choice):
        lists = [_configurations(option) for option in value.options if isinstance(option, Sequence)]
        if lists:
            fewest = min(lists, key=lambda item: len(item.items))
            exact = all(item.exact for item in lists) and len(lists) == len(value.options)
            exact = exact and all(len(item.items) <= 1 for item in lists)
            return Configurations(fewest.items, exact, fewest.exact and len(fewest.items) == 1)
    return Configurations((), exact=False)


def names_in(value: Value | None) -> tuple[str, ...] | None:
    """A list of names, None where it cannot be read."""
    if value is None or isinstance(value, NoneValue):
        return ()
    if isinstance(value, Sequence) and value.exact and all(isinstance(item, Text) for item in value.items):
        return tuple(item.value for item in value.items if isinstance(item, Text))
    return None


def option(tuned: Tuned, name: str) -> Value | None:
    """An argument of the tuner by its name."""
    return tuned.options.get(name) if isinstance(tuned.options, Mapping) else None


def tuned_parameters(kernel: Kernel) -> dict[str, list[tuple[Config, Number]]]:
    """Meta-parameters that configurations set, with every value and the configuration it stands in."""
    found: dict[str, list[tuple[Config, Number]]] = {}
    if kernel.tuned is not None:
        for config in configurations(kernel.tuned).items:
            for name, value in config.kwargs.items:
                if isinstance(value, Number):
                    found.setdefault(name, []).append((config, value))
    return found
