"""The tuners of a file: decorators on kernels, and tuners built by a call."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tritonlint.model.context import is_script
from tritonlint.model.disuse import is_mentioned, is_unreached
from tritonlint.model.evaluator import called_name, written
from tritonlint.model.kernel import is_never_made, launches_of
from tritonlint.model.proof import Proof
from tritonlint.model.tuning import configurations, option
from tritonlint.model.values import Choice, FunctionValue, KernelValue, Mapping, Number, Tuned, Value
from tritonlint.syntax import first_line, walk

if TYPE_CHECKING:
    from tritonlint.model.launch import Launch
    from tritonlint.model.logic import Formula
    from tritonlint.model.module import FunctionInfo, Module
    from tritonlint.model.project import Project


@dataclass(frozen=True)
class Tuning:
    """One `triton.autotune(...)`: as a decorator, or called in `function`.

    `gated` says that an environment variable decides whether there is anything to tune.
    """

    tuned: Tuned
    node: ast.AST
    kernel: KernelValue | None
    function: FunctionInfo | None
    gated: bool
    module: Module | None = None

    @property
    def kernel_name(self) -> str | None:
        """The tuned kernel, if it is known."""
        return self.kernel.info.name if self.kernel is not None else None

    @property
    def several(self) -> Proof:
        """Whether there are two or more configurations."""
        return configurations(self.tuned).several

    @property
    def may_be_one(self) -> bool:
        """Whether the host has a list of a single configuration that it may give instead."""
        return configurations(self.tuned).may_be_one

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
        """Whether results are, or may be, kept on disk: this tuner is told so, or all of them are."""
        if self.module is not None and _keeps_all_results(self.module.project):
            return True
        value = option(self.tuned, "cache_results")
        return value is not None and not (
            isinstance(value, Number) and value.formula is not None and value.formula.known is False
        )

    @property
    def rebuilt(self) -> bool:
        """Whether every call of a host function builds the tuner anew."""
        return self.function is not None and not _is_remembered(self.function, self.node)

    @property
    def switched(self) -> bool:
        """Whether every launch stands under a caller's own choice to tune, or takes its kernel from one."""
        if self.module is not None and _is_chosen_by_switch(self._names, self.module):
            return True
        if self.launches and all(_is_made_by_choice(launch) for launch in self.launches):
            return True
        if self.function is not None and _stands_under_switch(self.node, self.function.node.body):
            return True
        return bool(self.launches) and all(_is_asked_for(launch) for launch in self.launches)

    @property
    def unused(self) -> bool:
        """Whether nothing in the package so much as names the tuned kernel."""
        if self.kernel is None or self.module is None or launches_of(self.kernel.info):
            return False
        return not any(is_mentioned(name, self.module) for name in self._names)

    @property
    def idle(self) -> bool:
        """Whether nothing in the package gets as far as this tuner."""
        if self.unused or is_unreached(self.launches):
            return True
        return bool(self.launches) and all(is_never_made(launch) for launch in self.launches)

    @property
    def pruned(self) -> bool:
        """Whether some configurations may be dropped before any is timed."""
        return option(self.tuned, "prune_configs_by") is not None

    @property
    def measured(self) -> bool:
        """Whether it asks a table first: what prunes its configurations looks them up in a dictionary.

        Then a key in the table is not tuned, and tuning is for those that nobody has measured.
        """
        value = self._prunes_by("early_config_prune")
        if not isinstance(value, FunctionValue):
            return False
        tables = {
            target.id
            for statement in value.info.module.source.tree.body
            if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Dict)
            for target in statement.targets
            if isinstance(target, ast.Name)
        }
        return any(
            isinstance(node, ast.Attribute)
            and node.attr == "get"
            and isinstance(node.value, ast.Name)
            and node.value.id in tables
            for node in value.info.nodes
        )

    @property
    def most(self) -> int | None:
        """The number of configurations that a performance model leaves to be timed, where it says."""
        value = self._prunes_by("top_k")
        most = value.poly.integer if isinstance(value, Number) else None
        return most if most is not None and most < self.count else None

    def _prunes_by(self, name: str) -> Value | None:
        pruned = option(self.tuned, "prune_configs_by")
        return dict(pruned.items).get(name) if isinstance(pruned, Mapping) else None

    @property
    def _names(self) -> frozenset[str]:
        """What the tuned kernel is called: its own name, or the one that the tuner's result is given."""
        given = {
            target.id
            for statement in (self.module.source.nodes if self.module is not None else ())
            if isinstance(statement, ast.Assign) and _holds(statement.value, self.node)
            for target in statement.targets
            if isinstance(target, ast.Name)
        }
        return frozenset(given or ({self.kernel.info.name} if self.kernel is not None else ()))

    @property
    def launches(self) -> tuple[Launch, ...]:
        """The launches that go through this tuner; where none is known to, those of the plain kernel."""
        if self.kernel is None:
            return ()
        found = launches_of(self.kernel.info)
        own = tuple(
            la for la in found if la.kernel.tuned is not None and la.kernel.tuned.node is self.tuned.node
        )
        return own or tuple(la for la in found if la.kernel.tuned is None)


def tunings_of(module: Module) -> Iterator[Tuning]:
    """Every tuner of a file, decorators first."""
    calls = module.calls
    seen: set[int] = set()
    for kernel in module.kernel_values:
        for wrapper in kernel.wrappers:
            if isinstance(wrapper, Tuned) and id(wrapper.node) in calls and id(wrapper.node) not in seen:
                seen.add(id(wrapper.node))
                yield Tuning(wrapper, _decorator(kernel, wrapper), kernel, None, _is_gated(wrapper), module)
    kernels = {kernel.info.node for kernel in module.kernel_values}
    for function in module.functions:
        if function.node in kernels or not _may_tune(function):
            continue
        host = module.host(function)
        for tuned, owner in host.tunings:
            if owner is function and id(tuned.node) not in seen and id(tuned.node) in calls:
                seen.add(id(tuned.node))
                given = host.tuned_kernels.get(id(tuned.node))
                yield Tuning(tuned, tuned.node, given, function, _is_gated(tuned), module)


def _may_tune(function: FunctionInfo) -> bool:
    """Whether something that is called in a function has to do with tuning, by its name."""
    node, lines = function.node, function.module.source.lines
    spoken = lines[first_line(node) - 1 : node.end_lineno]
    return any("tun" in line for line in spoken) and any(_names_tuner(inner) for inner in function.nodes)


def _names_tuner(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and "tun" in called_name(node)


def _decorator(kernel: KernelValue, tuned: Tuned) -> ast.AST:
    """The decorator that made a tuner; the call itself where it was applied by hand."""
    for decorator in kernel.info.node.decorator_list:
        if any(node is tuned.node for node in walk(decorator)):
            return decorator
    return tuned.node


def _is_gated(tuned: Tuned) -> bool:
    """Whether an environment variable decides what, or whether anything, is tuned."""
    if "environment" in tuned.grounds:
        return True
    return isinstance(tuned.configs, Choice) and "environment" in tuned.configs.grounds


def _is_asked_for(launch: Launch) -> bool:
    """Whether a launch is reached only where something called `autotune` says so."""
    if any(_asks_for_tuning(part) for fact in launch.facts for part in fact.conjuncts()):
        return True
    return launch.function is not None and _stands_under_switch(launch.node, launch.function.node.body)


def _stands_under_switch(node: ast.AST, body: list[ast.stmt]) -> bool:
    """Whether a test of something called `autotune` decides, by a branch or an early return, about a node.

    Of `if autotune` it is the body that tunes, of `if not autotune` what comes otherwise; a comparison with
    some mode may stand for either.
    """
    for statement in body:
        test = statement.test if isinstance(statement, ast.If) and _says_tune(statement.test) else None
        negated = isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
        compared = test is not None and any(isinstance(part, ast.Compare) for part in walk(test))
        otherwise = negated or compared
        for name in ("body", "orelse", "finalbody", "handlers"):
            block = getattr(statement, name, [])
            if any(inner is node for part in block for inner in walk(part)):
                asked = test is not None and (otherwise if name == "orelse" else compared or not negated)
                return asked or _stands_under_switch(node, block)
        if isinstance(statement, ast.If) and otherwise and isinstance(statement.body[-1], ast.Return):
            return True
    return False


def _asks_for_tuning(condition: Formula) -> bool:
    """Whether a condition says that something called `autotune` is true."""
    if condition.kind in ("eq", "ge", "not"):
        return False
    return any(
        isinstance(arg, str) and "tun" in arg.lower() for atom in condition.closure for arg in atom.args
    )


def _is_chosen_by_switch(names: frozenset[str], module: Module) -> bool:
    """Whether the file picks one of these kernels by something called `autotune`: `a if autotune else b`."""
    return any(
        isinstance(node, ast.IfExp) and _says_tune(node.test) and any(n in names for n in _names_of(node))
        for node in module.source.nodes
    )


def _is_made_by_choice(launch: Launch) -> bool:
    """Whether the function that launches is itself picked so: `launch = _tuned if autotune else _plain`."""
    function = launch.function
    return function is not None and _is_chosen_by_switch(frozenset((function.name,)), launch.module)


def _says_tune(test: ast.expr) -> bool:
    return any("tun" in name.lower() for name in _names_of(test))


def _names_of(tree: ast.AST) -> Iterator[str]:
    for node in walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr


_KEEPS_RESULTS = "TRITON_CACHE_AUTOTUNING"


def _keeps_all_results(project: Project) -> bool:
    """Whether library code of the project sets the variable that has Triton keep results on disk."""
    known: dict[str, bool] = project.remembered("settings")
    if _KEEPS_RESULTS not in known:
        modules = [project.load(path) for path in project.files_mentioning(_KEEPS_RESULTS)]
        known[_KEEPS_RESULTS] = any(
            _sets_variable(node)
            for module in modules
            if module is not None and not is_script(module)
            for node in module.source.nodes
        )
    return known[_KEEPS_RESULTS]


def _sets_variable(node: ast.AST) -> bool:
    """`os.environ[name] = "1"` or `os.environ.setdefault(name, "1")`."""
    match node:
        case ast.Assign([ast.Subscript(owner, ast.Constant(name))], ast.Constant(value)):
            pass
        case ast.Call(ast.Attribute(owner, "setdefault"), [ast.Constant(name), ast.Constant(value)]):
            pass
        case _:
            return False
    return name == _KEEPS_RESULTS and value != "0" and "environ" in ast.unparse(owner)


def _is_remembered(function: FunctionInfo, node: ast.AST) -> bool:
    """Whether a function keeps the tuner it builds: a cache decorator, a global, an attribute, a factory."""
    if any("cache" in written(decorator) for decorator in function.node.decorator_list):
        return True
    if function.name.startswith(("__init__", "_init")):
        return True
    shared = {
        n for inner in function.nodes if isinstance(inner, ast.Global | ast.Nonlocal) for n in inner.names
    }
    kept: set[str] = set()
    for statement in function.nodes:
        if isinstance(statement, ast.Assign) and _holds(statement.value, node):
            for target in statement.targets:
                if isinstance(target, ast.Attribute | ast.Subscript):
                    return True
                if isinstance(target, ast.Name):
                    kept.add(target.id)
    if kept & shared:
        return True
    return any(_hands_out(statement, node, kept, function) for statement in function.nodes)


def _holds(tree: ast.AST, node: ast.AST) -> bool:
    return any(inner is node for inner in walk(tree))


def _hands_out(statement: ast.AST, node: ast.AST, kept: set[str], function: FunctionInfo) -> bool:
    """Whether a statement returns the tuner, or uses it as a decorator: who calls the function decides."""
    if isinstance(statement, ast.Return) and statement.value is not None:
        returned = {n.id for n in walk(statement.value) if isinstance(n, ast.Name)}
        return bool(returned & kept) or _holds(statement.value, node)
    if isinstance(statement, ast.FunctionDef) and statement is not function.node:
        return any(_holds(decorator, node) for decorator in statement.decorator_list)
    return False
