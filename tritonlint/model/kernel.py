"""A jit function as rules see it: its parameters, launches, tuning, and what it does in every context."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

from tritonlint.finding import Range, Related
from tritonlint.model.context import is_script
from tritonlint.model.device import DeviceEvaluator
from tritonlint.model.dtypes import UNKNOWN_DTYPE, DType, named
from tritonlint.model.evaluator import called_name
from tritonlint.model.records import Trace, Where
from tritonlint.model.symbolic import Atom, Poly
from tritonlint.model.values import (
    ClassValue,
    FunctionValue,
    HeuristicsValue,
    KernelValue,
    Number,
    Tensor,
    Tuned,
    Value,
)

if TYPE_CHECKING:
    from tritonlint.model.exposure import Exposure
    from tritonlint.model.launch import Launch
    from tritonlint.model.module import FunctionInfo, Module, Parameter
    from tritonlint.model.project import Project
    from tritonlint.source import Source

MAX_CONTEXTS = 12
"""Root kernels through which one helper is judged."""


@dataclass(frozen=True)
class Place:
    """A node in a file, for findings and related notes."""

    source: Source
    node: ast.AST
    kernel_name: str | None = None

    @property
    def path(self) -> str:
        """The file as findings show it."""
        return self.source.path

    @property
    def range(self) -> Range:
        """Where the node stands."""
        return self.source.range_of(self.node)

    @property
    def line(self) -> int:
        """The line the node starts on, from 1."""
        return self.range.start.line

    @property
    def text(self) -> str:
        """The source of the node on one line."""
        return self.source.segment(self.node)

    def note(self, message: str) -> Related:
        """This place as a related note of a finding."""
        return Related(self.path, self.range, message)


class Kernel:
    """One jit function of a file."""

    def __init__(self, value: KernelValue, module: Module) -> None:
        self.value = value
        self.info = value.info
        self.module = module

    def __repr__(self) -> str:
        return f"<kernel {self.name}>"

    @property
    def name(self) -> str:
        """The function's name."""
        return self.info.name

    @property
    def node(self) -> ast.FunctionDef | ast.AsyncFunctionDef:
        """The function's syntax node."""
        return self.info.node

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """Its parameters in order."""
        return self.info.parameters

    @property
    def tuned(self) -> Tuned | None:
        """Its autotuner, if any."""
        return self.value.tuned

    @property
    def heuristics(self) -> tuple[HeuristicsValue, ...]:
        """Its `triton.heuristics`, outermost first."""
        return tuple(w for w in self.value.wrappers if isinstance(w, HeuristicsValue))

    def place(self, node: ast.AST) -> Place:
        """A node of this kernel's file as a place."""
        return Place(self.module.source, node, self.name)

    # --- launches and callers -------------------------------------------------------------------
    @cached_property
    def launches(self) -> tuple[Launch, ...]:
        """Every launch of the kernel in the project."""
        return launches_of(self.info)

    @cached_property
    def roots(self) -> tuple[FunctionInfo, ...]:
        """The jit functions through which this one is reached: itself, or its outermost callers."""
        return roots_of(self.info)

    @cached_property
    def traces(self) -> tuple[Trace, ...]:
        """What happens in each of these contexts."""
        return tuple(self.module.project.trace(root) for root in self.roots)

    @cached_property
    def exposures(self) -> tuple[Exposure, ...]:
        """Every exposed axis of its accesses, in every context: two rules ask for them."""
        from tritonlint.model.exposure import exposures_of
        from tritonlint.model.scatter import scatters_of

        return (*exposures_of(self), *scatters_of(self))

    def mine(self, where: Where) -> bool:
        """Whether a record stands in this kernel's own body."""
        return where.function is self.info


def launches_of(info: FunctionInfo) -> tuple[Launch, ...]:
    """Every launch of a jit function in its project, its own file first.

    A launch in a private function is seen through that function's callers, whose arguments and facts
    it then has; a public function may be called from anywhere and is taken as it stands.
    """
    known: dict[FunctionInfo, tuple[Launch, ...]] = info.module.project.remembered("launches")
    if info not in known:
        found: dict[int, Launch] = {}
        for module in modules_knowing(info):
            for launch in module.launches:
                if launch.kernel.info is info:
                    for seen in _through_callers(launch) or (launch,):
                        found[id(seen)] = seen
        known[info] = tuple(found.values())
    return known[info]


def _through_callers(launch: Launch) -> tuple[Launch, ...]:
    """A launch as each caller of its private function makes it; empty where that cannot be told."""
    function = launch.function
    if function is None or not function.name.startswith("_") or function.name.startswith("__"):
        return ()
    return as_callers_make_it(launch)


def as_callers_make_it(launch: Launch) -> tuple[Launch, ...]:
    """A launch with the arguments and facts of each caller of its function; empty where one is not seen."""
    function = launch.function
    if function is None or function.name.startswith("__"):
        return ()
    project = launch.module.project
    cache: dict[FunctionInfo, tuple[Launch, ...]] = project.remembered("inlined")
    if function not in cache:
        cache[function] = ()  # a cycle of callers sees nothing
        found: list[Launch] = []
        for caller in host_callers(function):
            inlined = [la for la in caller.module.host(caller).inlined if la.function is function]
            if not inlined:
                found = []
                break
            found += inlined
        cache[function] = tuple(found)
    return _same_launch(launch, cache[function])


def _same_launch(launch: Launch, seen: Iterable[Launch]) -> tuple[Launch, ...]:
    """Of what was seen of a function through its callers, what became of one launch."""
    return tuple(la for la in seen if la.node is launch.node and la.kernel.info is launch.kernel.info)


def as_the_project_calls_it(launch: Launch) -> tuple[Launch, ...]:
    """A launch as the outermost functions that lead to it make it, a few calls up; empty where none is seen.

    Others may import and call what lies between: this shows what is usual, and proves nothing.
    """
    return tuple(la for way in _ways_to(launch.function) for la in _same_launch(launch, way.launches))


def is_never_made(launch: Launch) -> bool:
    """Whether the project's own calls of a launch's function, of which there are some, all go past it.

    They pass what turns its branch off. As above, this shows what is usual, and proves nothing.
    """
    if launch.function is None or _is_exported(launch.function):
        return False
    ways = _ways_to(launch.function)
    return bool(ways) and all(way.is_followed and not _same_launch(launch, way.launches) for way in ways)


@dataclass(frozen=True)
class Way:
    """A path of calls from outside to a function, and what the function launches at its end."""

    launches: tuple[Launch, ...]
    is_followed: bool
    """Whether the function was run with what this path passes, all of it."""


def _ways_to(function: FunctionInfo | None) -> tuple[Way, ...]:
    if function is None:
        return ()
    cache: dict[FunctionInfo, tuple[Way, ...]] = function.module.project.remembered("called from above")
    if function not in cache:
        paths = list(islice(_paths_to((function,)), MAX_WAYS + 1))
        cache[function] = tuple(_ways_along((function,))) if len(paths) <= MAX_WAYS else ()
    return cache[function]


def _paths_to(path: tuple[FunctionInfo, ...]) -> Iterator[tuple[FunctionInfo, ...]]:
    """The paths of calls that end with a path, each with one step more."""
    for caller in _outer_callers(path):
        yield (caller, *path)
        yield from _paths_to((caller, *path))


def _outer_callers(path: tuple[FunctionInfo, ...]) -> list[FunctionInfo]:
    """Who calls the first function of a path, but for scripts: a test may ask for anything."""
    callers = callers_by_any_name(path[0]) if len(path) <= MAX_STEPS else []
    return [caller for caller in callers if caller not in path and not is_script(caller.module)]


def _ways_along(path: tuple[FunctionInfo, ...]) -> list[Way]:
    """The ways that end with a path of calls, each from as far outside as it can be followed."""
    found: list[Way] = []
    for caller in _outer_callers(path):
        host = caller.module.host_running(caller, path)
        launches = tuple(la for la in host.inlined if la.function is path[-1])
        here = Way(launches, path[-1] in host.entered and not host.is_exhausted)
        above = _ways_along((caller, *path)) if launches or here.is_followed else []
        above = [way for way in above if way.launches or way.is_followed]
        found += [here, *above] if not above or _is_exported(caller) else above
    return found


def _is_exported(function: FunctionInfo) -> bool:
    """Whether a package offers a function to everyone: its `__init__.py` names it."""
    files = function.module.project.files_mentioning(function.name)
    return any(path.name == "__init__.py" for path in files)


MAX_WAYS = 32
"""Where functions call each other to and fro there are more ways than anyone would wait for."""
MAX_STEPS = 3
"""How many calls up those that lead to a launch are looked for."""
EVERYONES = frozenset(("forward", "backward", "__call__", "__init__", "setup_context", "apply"))
"""Methods that many classes have."""


MAX_FILES = 16
"""A name that more files call than this, such as `run` or `start`, leads nowhere."""


def host_callers(function: FunctionInfo) -> list[FunctionInfo]:
    """Host functions that call a function by a name that resolves to it."""
    if function.class_node is not None and function.name in EVERYONES:
        return []  # a call of `forward` on some object does not say whose
    project = function.module.project
    found: list[FunctionInfo] = []
    home = function.module.file if function.class_node is None else None
    calling_modules = project.modules_mentioning(
        function.name, function.module, anywhere=True, called=True, home=home
    )
    if len(calling_modules) > MAX_FILES:
        return []
    for module in [function.module, *calling_modules]:
        if not _calling(function.name, module):
            continue
        meant = module.name(function.name)
        if isinstance(meant, FunctionValue) and meant.info is not function and function.class_node is None:
            continue
        kernels = {value.info for value in module.kernel_values}
        calling = _calling(function.name, module)
        found.extend(other for other in calling if other is not function and other not in kernels)
    return found


def callers_by_any_name(function: FunctionInfo) -> list[FunctionInfo]:
    """Functions that call this one; of a method that everything has, those that name its class."""
    cache: dict[FunctionInfo, list[FunctionInfo]] = function.module.project.remembered("callers")
    if function not in cache:
        cache[function] = _callers(function)
    return cache[function]


def _callers(function: FunctionInfo) -> list[FunctionInfo]:
    if function.class_node is None or function.name not in EVERYONES:
        return host_callers(function)
    name, module = function.class_node.name, function.module
    names = {name, *_aliases(function)}
    others = (
        other
        for one in sorted(names)
        for other in module.project.modules_mentioning(one, module, anywhere=True)
    )
    return [
        other
        for one in dict.fromkeys((module, *others))
        if not isinstance(value := one.name(name), ClassValue) or value.node is function.class_node
        for other in one.functions
        if names & _mentioned(other)
    ]


def _aliases(function: FunctionInfo) -> Iterator[str]:
    """What its file calls a function in one word: `attend = Attention.apply`."""
    for name, value in function.module.scope.names.items():
        if isinstance(value, FunctionValue) and value.info is function:
            yield name


def _mentioned(function: FunctionInfo) -> frozenset[str]:
    """The names that stand in a function, but for its own parameters' annotations."""
    cache: dict[FunctionInfo, frozenset[str]] = function.module.project.remembered("mentioned")
    if function not in cache:
        cache[function] = frozenset(n.id for n in function.body_nodes if n.__class__ is ast.Name)
    return cache[function]


def _calling(name: str, module: Module) -> list[FunctionInfo]:
    """The functions of a file that call something by this name."""
    return [one for one in module.functions if name in called_names(one, module.project)]


def modules_knowing(info: FunctionInfo) -> list[Module]:
    """Modules that mention a jit function, by its own name or by one it was imported under."""
    project = info.module.project
    modules: dict[int, Module] = {id(info.module): info.module}
    names, searched = {info.name}, set[str]()
    while names - searched:
        name = min(names - searched)
        searched.add(name)
        home = info.module.file if name == info.name else None
        for module in project.modules_mentioning(name, info.module, home=home):
            modules.setdefault(id(module), module)
            names |= module.names_for(info) if len(searched) < 4 else set()
    return list(modules.values())


def roots_of(info: FunctionInfo) -> tuple[FunctionInfo, ...]:
    """The outermost jit callers of a function, itself if it is launched or never called."""
    found: dict[FunctionInfo, None] = {}
    seen: set[FunctionInfo] = set()
    queue = [info]
    while queue and len(found) < MAX_CONTEXTS:
        current = queue.pop(0)
        if current in seen:
            continue
        seen.add(current)
        callers = [caller for caller in callers_of(current) if caller not in seen]
        if not callers or (current is info and _is_launched(current)):
            found[current] = None
        queue += callers
    return tuple(found) or (info,)


def _is_launched(info: FunctionInfo) -> bool:
    return bool(launches_of(info))


def callers_of(info: FunctionInfo) -> list[FunctionInfo]:
    """Jit functions that call `info` by a name that resolves to it."""
    project = info.module.project
    found: list[FunctionInfo] = []
    for module in [
        info.module,
        *project.modules_mentioning(info.name, info.module, called=True, home=info.module.file),
    ]:
        calling = _calling(info.name, module)  # asked first: to know the kernels takes an evaluation
        found.extend(
            value.info
            for value in (module.kernel_values if calling else ())
            if value.info is not info and value.info in calling and _resolves(value.info, info)
        )
    return found


def called_names(info: FunctionInfo, project: Project) -> frozenset[str]:
    """The last names of everything a function calls or passes on."""
    cache: dict[FunctionInfo, frozenset[str]] = project.remembered("called names")
    if info not in cache:
        cache[info] = frozenset(called_name(n) for n in info.body_nodes if n.__class__ is ast.Call)
    return cache[info]


def _resolves(caller: FunctionInfo, callee: FunctionInfo) -> bool:
    """Whether the callee's name means the callee where the caller stands."""
    value = caller.module.name(callee.name)
    if isinstance(value, KernelValue):
        return value.info is callee
    outer = caller.scope()
    inner = outer.lookup(callee.name) if outer is not None else None
    if isinstance(inner, KernelValue):
        return inner.info is callee
    return value is None and caller.module is not callee.module


def trace_of(info: FunctionInfo) -> Trace:
    """Evaluate a jit function with unknown arguments."""
    pointers: set[str] = set()
    for launch in launches_of(info):
        for name, argument in launch.arguments.items():
            if isinstance(argument.value, Tensor) and argument.value.sure:
                pointers.add(name)
    parameters: dict[str, Value] = {}
    for parameter in info.parameters:
        dtype = annotated_dtype(parameter)
        parameters[parameter.name] = Number(
            Poly.of(Atom("param", parameter.name)), dtype, static=parameter.is_constexpr
        )
    evaluator = DeviceEvaluator(info, parameters, frozenset(pointers))
    evaluator.run(info.node.body)
    evaluator.trace.returned = evaluator.returned
    return evaluator.trace


def annotated_dtype(parameter: Parameter) -> DType:
    """The scalar type that an annotation such as `tl.int64` forces."""
    annotation = parameter.node.annotation
    if isinstance(annotation, ast.Attribute):
        return named(annotation.attr) or UNKNOWN_DTYPE
    return UNKNOWN_DTYPE
