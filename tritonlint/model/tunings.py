"""The tuners of a file: decorators on kernels, and tuners built by a call."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tritonlint.model.proof import Proof
from tritonlint.model.tuning import configurations, is_true, option
from tritonlint.model.values import Choice, KernelValue, Number, Tuned, Value

if TYPE_CHECKING:
    from tritonlint.model.module import FunctionInfo, Module


@dataclass(frozen=True)
class Tuning:
    """One `triton.autotune(...)`: as a decorator, or called in `function`."""

    tuned: Tuned
    node: ast.AST
    kernel: KernelValue | None
    function: FunctionInfo | None
    gated: bool

    @property
    def kernel_name(self) -> str | None:
        """The tuned kernel, if it is known."""
        return self.kernel.info.name if self.kernel is not None else None

    @property
    def several(self) -> Proof:
        """Whether there are two or more configurations."""
        return configurations(self.tuned).several

    @property
    def count(self) -> int:
        """The number of configurations that are known of."""
        return len(configurations(self.tuned).items)

    @property
    def exact(self) -> bool:
        """Whether that number is all of them."""
        return configurations(self.tuned).exact

    @property
    def cached(self) -> bool:
        """Whether results are kept on disk."""
        return is_true(option(self.tuned, "cache_results"))

    @property
    def rebuilt(self) -> bool:
        """Whether every call of a host function builds the tuner anew."""
        return self.function is not None and not _is_remembered(self.function, self.node)


def tunings_of(module: Module) -> Iterator[Tuning]:
    """Every tuner of a file, decorators first."""
    seen: set[int] = set()
    for kernel in module.kernel_values:
        for wrapper in kernel.wrappers:
            if (
                isinstance(wrapper, Tuned)
                and _stands_in(module, wrapper.node)
                and id(wrapper.node) not in seen
            ):
                seen.add(id(wrapper.node))
                decorator = _decorator(kernel, wrapper)
                yield Tuning(wrapper, decorator, kernel, None, is_gated(kernel, wrapper, module))
    for function in module.functions:
        if not any(
            isinstance(n, ast.Call) and "autotune" in ast.unparse(n.func) for n in ast.walk(function.node)
        ):
            continue
        if function.node in {k.info.node for k in module.kernel_values}:
            continue
        for tuned, owner in module.host(function).tunings:
            if owner is function and id(tuned.node) not in seen and _stands_in(module, tuned.node):
                seen.add(id(tuned.node))
                yield Tuning(tuned, tuned.node, None, function, gated=False)


def _stands_in(module: Module, node: ast.AST) -> bool:
    return any(node is other for other in _calls_of(module))


def _calls_of(module: Module) -> tuple[ast.AST, ...]:
    cache: dict[Module, tuple[ast.AST, ...]] = module.project.__dict__.setdefault("_calls", {})
    if module not in cache:
        cache[module] = tuple(node for node in ast.walk(module.source.tree) if isinstance(node, ast.Call))
    return cache[module]


def _decorator(kernel: KernelValue, tuned: Tuned) -> ast.AST:
    """The decorator that made a tuner; the call itself where it was applied by hand."""
    for decorator in kernel.info.node.decorator_list:
        if decorator is tuned.node or any(node is tuned.node for node in ast.walk(decorator)):
            return decorator
    return tuned.node


def is_gated(kernel: KernelValue, tuned: Tuned, module: Module) -> bool:
    """Whether an environment variable decides if and how much is tuned."""
    return _mentions_environment(tuned.configs, module) or any(
        isinstance(option_, Number) and any(a.kind == "environment" for a in option_.dependencies)
        for _, option_ in tuned.options.items
    )


def _mentions_environment(value: Value, module: Module) -> bool:
    return isinstance(value, Choice) and len(value.options) > 1 and "environ" in module.source.text


def _is_remembered(function: FunctionInfo, node: ast.AST) -> bool:
    """Whether a function keeps the tuner it builds: a cache decorator, a global, an attribute, a factory."""
    if any("cache" in ast.unparse(decorator) for decorator in function.node.decorator_list):
        return True
    if function.name.startswith("__init__") or function.name.startswith("_init"):
        return True
    names = {
        name
        for inner in ast.walk(function.node)
        if isinstance(inner, ast.Global | ast.Nonlocal)
        for name in inner.names
    }
    kept: set[str] = set()
    for statement in ast.walk(function.node):
        if isinstance(statement, ast.Assign) and any(inner is node for inner in ast.walk(statement.value)):
            for target in statement.targets:
                if isinstance(target, ast.Attribute | ast.Subscript) or (
                    isinstance(target, ast.Name) and target.id in names
                ):
                    return True
                if isinstance(target, ast.Name):
                    kept.add(target.id)
    for statement in ast.walk(function.node):
        if isinstance(statement, ast.Return) and statement.value is not None:
            returned = {n.id for n in ast.walk(statement.value) if isinstance(n, ast.Name)}
            if returned & kept or any(inner is node for inner in ast.walk(statement.value)):
                return True  # a factory: who calls it decides
        if isinstance(statement, ast.FunctionDef) and statement is not function.node:
            if any(inner is node for d in statement.decorator_list for inner in ast.walk(d)):
                return True
    return False
