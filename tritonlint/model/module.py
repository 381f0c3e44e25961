"""One file of Triton source: its functions, its module-level names, its kernels and launches."""

from __future__ import annotations

import ast
import re
from bisect import bisect_left
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, TypeGuard

from tritonlint.model.library import canonical
from tritonlint.model.values import (
    Choice,
    ClassValue,
    External,
    FunctionValue,
    KernelValue,
    LazyImport,
    ModuleValue,
    Scope,
    Unknown,
    Value,
)
from tritonlint.policy import Policy
from tritonlint.syntax import bodies, header, walk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tritonlint.model.host import HostEvaluator
    from tritonlint.model.kernel import Kernel
    from tritonlint.model.launch import Launch
    from tritonlint.model.project import Project
    from tritonlint.source import Source

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
MAX_LINES = 80
"""A longer host function is not run for each of its calls."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a function. `is_constexpr` follows Triton: the annotation names `constexpr`."""

    name: str
    node: ast.arg
    default: ast.expr | None
    is_constexpr: bool
    keyword_only: bool = False


class FunctionInfo:
    """A `def` anywhere in a file."""

    def __init__(
        self, node: FunctionNode, module: Module, outer: FunctionInfo | None, class_node: ast.ClassDef | None
    ) -> None:
        self.node = node
        self.module = module
        self.outer = outer
        self.class_node = class_node

    @property
    def name(self) -> str:
        """The name in the `def`."""
        return self.node.name

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """Every node of the function, those nearer to its root first."""
        return tuple(walk(self.node))

    @property
    def is_long(self) -> bool:
        """Whether of a call of it only what it refuses is looked at: to run it each time takes too long."""
        return (self.node.end_lineno or 0) - self.node.lineno > MAX_LINES

    @property
    def body_nodes(self) -> Iterator[ast.AST]:
        """Every node of the body: a decorator is called by the module, a default by whoever defines it."""
        outside = {id(inner) for part in header(self.node) for inner in walk(part)} | {id(self.node)}
        return (inner for inner in self.nodes if id(inner) not in outside)

    @cached_property
    def qualified_name(self) -> str:
        """The dotted name inside the module."""
        parts = [self.name]
        if self.class_node is not None:
            parts.append(self.class_node.name)
        if self.outer is not None:
            parts.append(self.outer.qualified_name)
        return ".".join(reversed(parts))

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """The named parameters in order; `*args` and `**kwargs` are left out."""
        arguments = self.node.args
        plain = [*arguments.posonlyargs, *arguments.args]
        missing = len(plain) - len(arguments.defaults)
        defaults: list[ast.expr | None] = [None] * missing + list(arguments.defaults)
        found = [Parameter(a.arg, a, d, self._is_constexpr(a)) for a, d in zip(plain, defaults, strict=True)]
        for arg, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
            found.append(Parameter(arg.arg, arg, default, self._is_constexpr(arg), keyword_only=True))
        return tuple(found)

    def parameter(self, name: str) -> Parameter | None:
        """The parameter called `name`."""
        return next((p for p in self.parameters if p.name == name), None)

    def _is_constexpr(self, arg: ast.arg) -> bool:
        """Triton looks for the word in the annotation's text; a renamed import counts only as an object."""
        if arg.annotation is None:
            return False
        for node in walk(arg.annotation):
            if isinstance(node, ast.Attribute) and "constexpr" in node.attr:
                return True
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and "constexpr" in node.value:
                return True
            if isinstance(node, ast.Name):
                if "constexpr" in node.id:
                    return True
                value = self.module.scope_names.get(node.id)
                renamed = isinstance(value, LazyImport) and value.name == "constexpr"
                if renamed and not self.module.has_string_annotations:
                    return True
        return False

    @cached_property
    def is_constexpr_function(self) -> bool:
        """Whether it is decorated with `triton.constexpr_function`."""
        return any("constexpr_function" in _last_name(decorator) for decorator in self.node.decorator_list)

    def scope(self) -> Scope | None:
        """The names of the enclosing functions."""
        return self.module.scope_of(self.outer) if self.outer is not None else None

    def __repr__(self) -> str:
        return f"<{self.qualified_name} in {self.module.source.path}>"


class Module:
    """A parsed file of the project. Everything is computed when first asked for."""

    def __init__(self, source: Source, project: Project, file: Path | None, dotted: str) -> None:
        self.source = source
        self.project = project
        self.file = file
        self.dotted = dotted
        self.policy = Policy()
        self._scope: Scope | None = None
        self._evaluated = False
        self._star_imports: list[tuple[str, int]] = []
        self._function_scopes: dict[FunctionInfo, Scope] = {}
        self._hosts: dict[FunctionInfo | None, HostEvaluator] = {}
        self._unfolded: dict[tuple[FunctionInfo, frozenset[FunctionInfo]], HostEvaluator] = {}
        self.replaced: list[list[ast.stmt]] = []
        """The bodies that functions had before; see `editing`."""

    def __repr__(self) -> str:
        return f"<module {self.source.path}>"

    @cached_property
    def has_string_annotations(self) -> bool:
        """Whether `from __future__ import annotations` is in force."""
        return any(
            isinstance(node, ast.ImportFrom)
            and node.module == "__future__"
            and any(a.name == "annotations" for a in node.names)
            for node in self.source.tree.body
        )

    @cached_property
    def takes_any_extent(self) -> bool:
        """Whether the file is for a compiler that takes extents that are no powers of two.

        Triton for Ascend, Cambricon and Kunlunxin does; packages keep such kernels in folders of those names.
        """
        path = self.source.path
        if self.file is not None and self.project.root.parent in self.file.parents:
            path = self.file.relative_to(self.project.root.parent).as_posix()
        words = set(re.split(r"[^a-z0-9]+", path.lower().replace("_", "/")))
        return (
            bool(words & {"ascend", "npu", "cambricon", "mlu", "kunlunxin"})
            or "torch_npu" in self.source.text
        )

    @cached_property
    def functions(self) -> tuple[FunctionInfo, ...]:
        """Every function in the file, in order."""
        found: list[FunctionInfo] = []
        # No recursion: every `elif` is a level deeper than the one before it.
        waiting: list[tuple[ast.stmt, FunctionInfo | None, ast.ClassDef | None]] = []
        waiting += [(node, None, None) for node in reversed(self.source.tree.body)]
        while waiting:
            node, outer, class_node = waiting.pop()
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                outer, class_node = FunctionInfo(node, self, outer, class_node), None
                found.append(outer)
            elif isinstance(node, ast.ClassDef):
                class_node = node
            inner = [statement for body in bodies(node) for statement in body]
            waiting += [(statement, outer, class_node) for statement in reversed(inner)]
        return tuple(found)

    @cached_property
    def calls(self) -> frozenset[int]:
        """The identities of every call in the file."""
        return frozenset(id(node) for node in self.source.nodes if isinstance(node, ast.Call))

    @cached_property
    def by_node(self) -> dict[ast.AST, FunctionInfo]:
        """Functions by their syntax node."""
        return {info.node: info for info in self.functions}

    # --- names ----------------------------------------------------------------------------------
    @property
    def scope_names(self) -> dict[str, Value]:
        """Module-level names as far as they have been evaluated."""
        return self.scope.names

    @property
    def scope(self) -> Scope:
        """The module's own names. Evaluated once; a cyclic import sees what is there so far."""
        if self._scope is None:
            self._scope = Scope(self)
        if not self._evaluated:
            self._evaluated = True
            evaluator = self.host(None)
            for statement in self.source.tree.body:
                if not _run(evaluator, [statement], partial(evaluator.run, [statement])):
                    break
            evaluator.keep_allowance()
            self._star_imports = evaluator.star_imports
        return self._scope

    def name(self, name: str) -> Value | None:
        """The value of a module-level name, imports followed."""
        value = self.scope.names.get(name)
        if isinstance(value, LazyImport):
            return self.imported(value)
        if isinstance(value, Choice) and any(isinstance(option, LazyImport) for option in value.options):
            options = (self.imported(o) if isinstance(o, LazyImport) else o for o in value.options)
            return Choice(tuple(options))
        if value is not None:
            return value
        for dotted, level in self._star_imports:
            module = self.project.find_module(dotted, level, self)
            if module is None:
                known = _STAR.get(dotted)
                if known and name in known:
                    return External(f"{dotted}.{name}")
            elif module is not self and name in module.scope.names:
                return module.name(name)
        return None

    def names_for(self, info: FunctionInfo) -> set[str]:
        """Other names under which this file imports or keeps a jit function."""
        found = set()
        for name, value in self._aliases:
            if isinstance(value, LazyImport) and value.name == info.name and name != info.name:
                value = self.imported(value)
            if isinstance(value, KernelValue) and value.info is info and name != info.name:
                found.add(name)
        return found

    @cached_property
    def _aliases(self) -> list[tuple[str, Value]]:
        """The module-level names of kernels, and of imports that go by another name here."""
        return [
            (name, value)
            for name, value in self.scope.names.items()
            if isinstance(value, KernelValue) or (isinstance(value, LazyImport) and value.name != name)
        ]

    def imported(self, item: LazyImport) -> Value:
        """What an import names: a thing of the project, or of a library outside it."""
        module = self.project.find_module(item.module, item.level, self)
        if item.name is None:
            return ModuleValue(module) if module is not None else External(canonical(item.module))
        if module is not None and module is not self:
            value = module.name(item.name)
            if value is not None and not _is_nothing(value):
                return value
            inner = self.project.find_module(f"{item.module}.{item.name}".strip("."), item.level, self)
            if inner is not None:
                return ModuleValue(inner)
        elif module is None and item.level:
            inner = self.project.find_module(
                item.name if not item.module else f"{item.module}.{item.name}", item.level, self
            )
            if inner is not None:
                return ModuleValue(inner)
        if item.name in _CONVENTIONS and not item.module.startswith("triton"):
            return External(_CONVENTIONS[item.name])
        return External(canonical(f"{item.module}.{item.name}".lstrip(".")))

    def spelled(self, name: str) -> str | None:
        """How this file writes a thing of a library: `tl.zeros` for `triton.language.zeros`."""
        named = list(self.scope.names.items())
        # What is imported from Triton itself comes first: to follow other imports may read more files.
        direct = [
            (n, v) for n, v in named if isinstance(v, LazyImport) and v.module.split(".")[0] == "triton"
        ]
        for candidates in (direct, named):
            found = []
            for local, value in candidates:
                known = self.imported(value) if isinstance(value, LazyImport) else value
                if isinstance(known, External) and f"{name}.".startswith(f"{known.name}."):
                    found.append(local + name[len(known.name) :])
            if found:
                return min(found, key=len)
        return None

    def constant(self, node: ast.expr) -> Value:
        """The value of an expression over module-level names."""
        return self.host(None).evaluate_in(node, self.scope)

    # --- evaluation -----------------------------------------------------------------------------
    def host(self, function: FunctionInfo | None) -> HostEvaluator:
        """The evaluator of the module body (None) or of one host function; each runs once."""
        from tritonlint.model.host import HostEvaluator

        if function not in self._hosts:
            if function is None:
                if self._scope is None:
                    self._scope = Scope(self)
                self._hosts[None] = HostEvaluator(self, None, self._scope)
            else:
                evaluator = HostEvaluator(self, function, Scope(self, function.scope(), function))
                self._hosts[function] = evaluator
                self._function_scopes[function] = evaluator.scope
                _run(evaluator, function.node.body, evaluator.run_function)
        return self._hosts[function]

    def host_running(self, function: FunctionInfo, callees: tuple[FunctionInfo, ...]) -> HostEvaluator:
        """The evaluator of a host function in which calls of `callees` are run, however long they are."""
        from tritonlint.model.host import HostEvaluator

        long = frozenset(callee for callee in callees if callee.is_long)
        if not long:
            return self.host(function)
        if (function, long) not in self._unfolded:
            evaluator = HostEvaluator(self, function, Scope(self, function.scope(), function))
            evaluator.unfolded = long
            evaluator.hurry()
            self._unfolded[function, long] = evaluator
            _run(evaluator, function.node.body, evaluator.run_function)
        return self._unfolded[function, long]

    def scope_of(self, function: FunctionInfo) -> Scope:
        """The local names of a host function after it ran."""
        self.host(function)
        return self._hosts[function].scope

    @cached_property
    def kernel_values(self) -> tuple[KernelValue, ...]:
        """Every jit function of the file, decorated or wrapped by a call, in order."""
        found: dict[FunctionInfo, KernelValue] = {}
        for info in self.functions:
            if info.node.decorator_list:
                value = self.decorated(info)
                if isinstance(value, KernelValue):
                    found[info] = value
        for value in list(self.scope.names.values()):
            if isinstance(value, KernelValue) and value.info.module is self:
                known = found.get(value.info)
                if known is None or len(value.wrappers) > len(known.wrappers):
                    found[value.info] = value
        return tuple(sorted(found.values(), key=lambda value: value.info.node.lineno))

    def decorated(self, info: FunctionInfo) -> Value:
        """What a function is after its decorators."""
        scope = Scope(self, self.scope_of(info.outer)) if info.outer is not None else self.scope
        return self.host(None).apply_decorators(info, scope)

    @cached_property
    def kernels(self) -> tuple[Kernel, ...]:
        """The jit functions of this file as rules see them."""
        from tritonlint.model.kernel import Kernel

        return tuple(Kernel(value, self) for value in self.kernel_values)

    @cached_property
    def launches(self) -> tuple[Launch, ...]:
        """Every launch in this file, host functions in order, then the module body."""
        found: list[Launch] = []
        kernels = {value.info for value in self.kernel_values}
        for info in self.functions:
            if info not in kernels and self.may_launch(info):
                found += self.host(info).launches
        if self._launching_lines:
            self.scope  # noqa: B018 - evaluates the body
            found += self.host(None).launches
        return tuple(found)

    def may_launch(self, function: FunctionInfo) -> bool:
        """Whether a subscript is called, or `.run` or `.warmup`, anywhere in a function."""
        at = bisect_left(self._launching_lines, function.node.lineno)
        lines = self._launching_lines[at : at + 1]
        return bool(lines) and lines[0] <= (function.node.end_lineno or function.node.lineno)

    @cached_property
    def _launching_lines(self) -> list[int]:
        """The lines on which something that may be a launch stands, in order."""
        return sorted(node.lineno for node in self.source.nodes if self._may_be_launch(node))

    def _may_be_launch(self, node: ast.AST) -> TypeGuard[ast.expr]:
        if isinstance(node, ast.Call):
            called = node.func
            is_run = isinstance(called, ast.Attribute) and called.attr in ("run", "warmup")
            return is_run or isinstance(called, ast.Subscript)
        return (
            isinstance(node, ast.Subscript)
            and isinstance(node.ctx, ast.Load)
            and isinstance(node.value, ast.Name)
            and node.value.id in self._kernel_names
        )

    @cached_property
    def _kernel_names(self) -> frozenset[str]:
        return frozenset(value.info.name for value in self.kernel_values)


def _run(evaluator: HostEvaluator, body: list[ast.stmt], run: Callable[[], bool | None]) -> bool:
    """Run statements; False if control never reaches the end.

    What is nested too deep to be evaluated leaves the names it may change unknown.
    """
    held, in_loop = len(evaluator.conditions), evaluator.in_loop
    try:
        return run() is not False
    except RecursionError:
        from tritonlint.model.evaluator import assigned_names

        del evaluator.conditions[held:]
        evaluator.in_loop = in_loop
        evaluator.scope.names.update(dict.fromkeys(assigned_names(body), Unknown()))
        return True


_CONVENTIONS = {"triton": "triton", "tl": "triton.language", "gl": "triton.experimental.gluon.language"}
_STAR: dict[str, frozenset[str]] = {
    "triton.language": frozenset(
        "load store arange program_id constexpr zeros dot "
        "float32 float16 int32 int64 cdiv sum max where".split()
    ),
    "triton": frozenset("jit autotune Config cdiv heuristics next_power_of_2".split()),
}


def _is_nothing(value: Value) -> bool:
    return isinstance(value, Unknown) or (
        isinstance(value, Choice) and all(isinstance(o, Unknown) for o in value.options)
    )


def _last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Call):
        node = node.func
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


_ = (ClassValue, FunctionValue)
