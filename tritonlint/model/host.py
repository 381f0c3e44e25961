"""Evaluates host code: sizes, allocations, configurations, decorators, and the launches themselves."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Iterable
from collections.abc import Sequence as Items
from dataclasses import replace
from typing import TYPE_CHECKING

from tritonlint.model import symbolic
from tritonlint.model.dtypes import INT32, UNKNOWN_DTYPE, DType, named
from tritonlint.model.evaluator import ALLOWANCE, BUDGET, Evaluator, called_name, written
from tritonlint.model.launch import Argument, Launch
from tritonlint.model.library import canonical
from tritonlint.model.logic import Formula, both, equal, opaque
from tritonlint.model.returned import returned_types
from tritonlint.model.symbolic import ONE, Atom, Poly
from tritonlint.model.tensors import TensorMethods
from tritonlint.model.values import (
    NONE,
    UNKNOWN_VALUE,
    Choice,
    ClassValue,
    Config,
    External,
    FunctionValue,
    HeuristicsValue,
    Instance,
    JitDecorator,
    KernelValue,
    LambdaValue,
    Launcher,
    LazyImport,
    Mapping,
    Meta,
    ModuleValue,
    NoneValue,
    Number,
    Partial,
    Scope,
    Sequence,
    SizesOf,
    Tensor,
    Text,
    Tuned,
    TypeValue,
    Unknown,
    Value,
    deps_of,
    integer,
    kept,
    option_of,
    truth,
)

if TYPE_CHECKING:
    from tritonlint.model.module import FunctionInfo, Module, Parameter

MAX_ITEMS = 2048
_ROUNDS_UP = re.compile(r"^_*next_?pow(er)?(_?of)?_?(2|two)$")
MAX_CALLS = 5
"""Host functions inlined inside one another."""
EXTRA = 8_000
"""What may be spent on a host function that is run once more, with long callees."""
MAX_LEARNED = 24
"""Conditions that one call leaves behind, those on numbers first."""
MAX_ROUNDS = 2000
"""Statements that a loop over known items, and those around it, are written out to."""
_OF_TEXT = frozenset("lower upper strip casefold".split())
"""Methods of a text that keep what it says."""
_OPTIONS = frozenset(
    "num_warps num_stages num_ctas maxnreg enable_fp_fusion "
    "extern_libs debug launch_cooperative_grid launch_pdl waves_per_eu "
    "matrix_instr_nonkdim kpack schedule_hint allow_flush_denorm "
    "grid warmup stream device num_buffers_warp_spec "
    "num_consumer_groups reg_dec_producer reg_inc_consumer cluster_dims ptx_options ir_override".split()
)
_JITS = {
    "triton.jit": False,
    "triton.language.jit": False,
    "triton.experimental.gluon.jit": True,
    "gluon.jit": True,
}
Arguments = dict[str, Value]


class HostEvaluator(TensorMethods, Evaluator):
    """Evaluates a module body (`function` None) or one host function, recording launches and tunings."""

    def __init__(self, module: Module, function: FunctionInfo | None, scope: Scope, inlined: int = 0) -> None:
        super().__init__(scope)
        self.module = module
        self.function = function
        self.calls_around = inlined
        self._origin = (module.dotted, function.qualified_name if function is not None else "")
        self._unknowns = 0
        self.launches: list[Launch] = []
        self.inlined: list[Launch] = []
        """Launches in functions that were called here, with this caller's arguments and facts."""
        self.entered: set[FunctionInfo] = set()
        """The functions that were called here and run from end to end."""
        self.unfolded: frozenset[FunctionInfo] = frozenset()
        """Functions that are run where they are called, however long they are."""
        self.tunings: list[tuple[Tuned, FunctionInfo | None]] = []
        self.tuned_kernels: dict[int, KernelValue] = {}
        """Kernels by the node of the tuner they were given to."""
        self.least_ranks = {}
        self.fixed_sizes = {}
        self.learned = {}
        self.ranks: dict[str, int] = {}
        self.names: dict[str, str] = {}
        """The local a tensor was first given to, by its key: what a person calls it."""
        self.in_loop = 0
        self.rounds = 1
        """How often the loops around that are written out run what is inside."""
        self.applied: tuple[ast.Lambda, ...] = ()
        """The lambdas being called."""

    def _unique(self) -> tuple[object, ...]:
        """What names one unknown number: the same in every run, whatever was evaluated before."""
        self._unknowns += 1
        return (*self._origin, *self.path_key, self._unknowns)

    def keep_allowance(self) -> None:
        """Leave a part of the budget for what is asked for later: decorators, constants of the module."""
        self.spent = min(self.spent, BUDGET - ALLOWANCE)

    def hurry(self) -> None:
        """Take a small part of the budget: this is run besides what is run in any case."""
        self.spent = BUDGET - ALLOWANCE - EXTRA

    @property
    def is_exhausted(self) -> bool:
        """Whether the budget was spent, so that something was left out."""
        return self.spent >= BUDGET - ALLOWANCE

    def run_function(self) -> None:
        """Evaluate the function with unknown arguments."""
        if self.function is None:
            return
        for i, parameter in enumerate(self.function.parameters):
            self.scope.names[parameter.name] = self._parameter(parameter, i)
        arguments = self.function.node.args
        for extra in (arguments.vararg, arguments.kwarg):
            if extra is not None:
                self.scope.names[extra.arg] = Unknown()
        forward = self._method_beside("forward") if self.function.name == "backward" else None
        if forward is not None:
            # What it made sure of holds for the tensors that it saved.
            self._learn_from(self.module.host(forward))
            self._type_gradients(self.module.host(forward).returned)
        self.run(self.function.node.body)

    def _type_gradients(self, returned: Items[Value]) -> None:
        """Gradients have the element types of what `forward` returned, in order."""
        assert self.function is not None
        owner = self.function.class_node
        if owner is None or not _is_of_autograd(owner):
            return
        if any(isinstance(value, Sequence) and not value.exact for value in returned):
            return
        rows = [value.items if isinstance(value, Sequence) else (value,) for value in returned]
        for i, parameter in enumerate(self.function.parameters[1:]):
            outputs = [row[i] for row in rows if i < len(row)]
            types = {value.dtype for value in outputs if isinstance(value, Tensor) and value.dtype.name}
            gradient = self.scope.names[parameter.name]
            if len(types) == 1 and len(outputs) == len(rows) and isinstance(gradient, Tensor):
                self.scope.names[parameter.name] = replace(gradient, dtype=types.pop())

    def _method_beside(self, name: str) -> FunctionInfo | None:
        """A method of the class that this function is one of."""
        own = self.function.class_node if self.function is not None else None
        others = (info for info in self.module.functions if info.name == name and info.class_node is own)
        return next(others, None) if own is not None else None

    def _parameter(self, parameter: Parameter, position: int) -> Value:
        assert self.function is not None
        name, annotation = parameter.name, parameter.node.annotation
        if position == 0 and self.function.class_node is not None and name in ("self", "cls"):
            return Instance("self", self.function.class_node.name)
        words = written(annotation) if annotation is not None else ""
        default = parameter.default
        if isinstance(default, ast.Constant) and isinstance(default.value, int | float):
            dtype = "int64" if isinstance(default.value, int) else "fp32"
            return Number(Poly.of(Atom("config", name, default.value)), DType(dtype))
        if isinstance(default, ast.UnaryOp) and isinstance(default.op, ast.USub | ast.UAdd):
            value = default.operand.value if isinstance(default.operand, ast.Constant) else None
            if isinstance(value, int | float):
                value = -value if isinstance(default.op, ast.USub) else value
                return Number(Poly.of(Atom("config", name, value)), DType("int64"))
        if isinstance(default, ast.Name):
            named_default = self.module.constant(default)
            number = named_default.poly.integer if isinstance(named_default, Number) else None
            if number is not None:
                return Number(Poly.of(Atom("config", name, number)), DType("int64"))
        if words in ("int", "float", "bool"):
            return Number(
                Poly.of(Atom("hostparam", name)), named({"int": "int64"}.get(words, words)) or UNKNOWN_DTYPE
            )
        return Tensor(name, sure="Tensor" in words or "tensor" in words)

    def assigned(self, name: str, value: Value, node: ast.AST) -> Value:
        if isinstance(value, Tensor) and not value.key.isidentifier():
            self.names.setdefault(value.key, name)
        return value

    def evaluate_in(self, node: ast.expr, scope: Scope) -> Value:
        """The value of an expression in another scope."""
        outer, self.scope = self.scope, scope
        try:
            return self.evaluate(node)
        finally:
            self.scope = outer

    # --- names and definitions ------------------------------------------------------------------
    def missing(self, node: ast.Name) -> Value:
        value = self.module.name(node.id)
        return value if value is not None else External(f"builtins.{node.id}")

    def define(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
        if isinstance(node, ast.ClassDef):
            self.scope.names[node.name] = ClassValue(node, self.module, node.name)
            return
        info = self.module.by_node.get(node)
        self.scope.names[node.name] = (
            self.apply_decorators(info, self.scope) if info is not None else UNKNOWN_VALUE
        )

    def apply_decorators(self, info: FunctionInfo, scope: Scope) -> Value:
        """What a function is after its decorators, innermost first."""
        value: Value = FunctionValue(info)
        spent = self.spent
        self.keep_allowance()
        for decorator in reversed(info.node.decorator_list):
            value = self.wrapped(self.evaluate_in(decorator, scope), value, decorator)
        self.spent = max(spent, self.spent)
        return value

    def wrapped(self, decorator: Value, value: Value, node: ast.expr) -> Value:
        """`decorator(value)`."""
        decorator = option_of(decorator, JitDecorator, Tuned, HeuristicsValue, External)
        if isinstance(decorator, External) and decorator.name in _JITS:
            decorator = JitDecorator(Mapping(()), _JITS[decorator.name])
        if isinstance(decorator, JitDecorator):
            if isinstance(value, FunctionValue):
                return KernelValue(value.info, (decorator,))
            return value
        if isinstance(value, KernelValue):
            if isinstance(decorator, Tuned):
                self.tuned_kernels[id(decorator.node)] = value
            if isinstance(decorator, Tuned | HeuristicsValue):
                return replace(value, wrappers=(decorator, *value.wrappers))
            name = decorator.name if isinstance(decorator, External) else written(node)[:60]
            return replace(value, wrappers=(External(name), *value.wrappers))
        return value

    def attribute(self, node: ast.Attribute, value: Value) -> Value:
        value = option_of(value, Tensor, ModuleValue, External)
        name = node.attr
        if isinstance(value, External):
            return _external(canonical(f"{value.name}.{name}"))
        if isinstance(value, ModuleValue):
            return value.module.name(name) or UNKNOWN_VALUE
        if isinstance(value, Tensor):
            return self.tensor_attribute(value, name)
        if isinstance(value, Instance):
            return self._field(value, name)
        if isinstance(value, KernelValue) and name == "fn":
            return replace(value, wrappers=value.wrappers[1:]) if len(value.wrappers) > 1 else value
        if isinstance(value, TypeValue):
            return Number(Poly.of(Atom("typeattr", str(value.dtype), name)))
        if isinstance(value, ClassValue):
            return self._class_attribute(value, name)
        if isinstance(value, Number) and value.poly.atom is not None and value.poly.atom.kind == "hostparam":
            return self.tensor_attribute(Tensor(str(value.poly.atom.args[0]), sure=False), name)
        return Unknown(deps_of(value))

    def _field(self, value: Instance, name: str) -> Value:
        known = self.kept_on(value.key, name)
        return known if known is not None else Tensor(f"{value.key}.{name}", origin="attribute", sure=False)

    def kept_on(self, key: str, name: str) -> Value | None:
        """What was stored as `key.name`: here, in `__init__` for `self`, in `forward` for `ctx`."""
        known = self.scope.names.get(f"{key}.{name}")
        if known is not None or self.function is None or self.function.class_node is None:
            return known
        wanted = {"self": "__init__", "ctx": "forward"}.get(key)
        if wanted is None or self.function.name in (wanted, "setup_context"):
            return None
        for info in self.module.functions:
            if info.name == wanted and info.class_node is self.function.class_node:
                return self.module.host(info).scope.names.get(f"{key}.{name}")
        return None

    def _class_attribute(self, value: ClassValue, name: str) -> Value:
        for statement in value.node.body:
            if isinstance(statement, ast.FunctionDef) and statement.name == name:
                info = value.module.by_node.get(statement)
                return FunctionValue(info) if info is not None else UNKNOWN_VALUE
        if name == "apply":
            forward = self._class_attribute(value, "forward")
            if isinstance(forward, FunctionValue) and _is_of_autograd(value.node):
                return FunctionValue(forward.info, Instance("ctx"))
        return Tensor(f"{value.name}.{name}", origin="attribute", sure=False)

    def stored_into(self, target: ast.Subscript | ast.Attribute, value: Value) -> None:
        if isinstance(target, ast.Attribute):
            owner = self.evaluate(target.value)
            if isinstance(owner, Instance | Tensor):
                self.scope.names[f"{owner.key}.{target.attr}"] = value
        elif isinstance(target.value, ast.Name):
            owner = self.scope.names.get(target.value.id, UNKNOWN_VALUE)
            key = self.evaluate(target.slice)
            if isinstance(owner, Mapping):
                items = (*owner.items, (key.value, value)) if isinstance(key, Text) else owner.items
                exact = owner.exact and isinstance(key, Text)
                self.scope.names[target.value.id] = kept(Mapping(items, exact))

    def subscript(self, node: ast.Subscript, value: Value) -> Value:
        kernels = self._kernels(value)
        value = option_of(value, KernelValue, Tensor, Sequence)
        if kernels:
            return Launcher(
                kernels, LambdaValue(ast.Lambda(args=_NO_ARGS, body=node.slice), self.scope), node=node
            )
        index = self.evaluate(node.slice) if not isinstance(node.slice, ast.Slice) else UNKNOWN_VALUE
        if isinstance(value, Meta):
            if isinstance(index, Text):
                known = value.arguments.get(index.value)
                return known if known is not None else Number(Poly.of(Atom("param", index.value)), INT32)
            return UNKNOWN_VALUE
        if isinstance(value, Mapping):
            return (value.get(index.value) if isinstance(index, Text) else None) or UNKNOWN_VALUE
        if isinstance(value, Sequence):
            return self._item(node, value, index)
        if isinstance(value, SizesOf):
            return self.stride_of(value.tensor, index) if value.strides else self.size_of(value.tensor, index)
        if isinstance(value, Tensor):
            return self.tensor_item(node, value, index)
        return Unknown(deps_of(value))

    def _item(self, node: ast.Subscript, value: Sequence, index: Value) -> Value:
        if isinstance(node.slice, ast.Slice):
            bounds = [
                self.evaluate(bound) if bound is not None else NONE
                for bound in (node.slice.lower, node.slice.upper, node.slice.step)
            ]
            ends = [None if isinstance(bound, NoneValue) else _whole_number(bound) for bound in bounds]
            known = all(
                isinstance(bound, NoneValue) or end is not None
                for bound, end in zip(bounds, ends, strict=True)
            )
            if value.exact and known and ends[2] != 0:
                return Sequence(value.items[slice(*ends)])
            return Sequence(value.items, exact=False)
        number = index.poly.integer if isinstance(index, Number) else None
        if number is not None and value.exact and -len(value.items) <= number < len(value.items):
            return value.items[number]
        if value.items and len(value.items) <= 8:
            result = value.items[0]
            for other in value.items[1:]:
                result = self.join(result, other, self.site(node))
            return result
        return Unknown(deps_of(value))

    def _kernels(self, value: Value) -> tuple[KernelValue, ...]:
        if isinstance(value, KernelValue):
            return (value,)
        if isinstance(value, Choice):
            return tuple(option for option in value.options if isinstance(option, KernelValue))
        return ()

    def _tuple(self, node: ast.Tuple | ast.List | ast.Set) -> Value:
        """`*x.shape, y` assigned to five names says that `x` has four axes."""
        wanted, self.wanted = self.wanted, None
        stars = [e for e in node.elts if isinstance(e, ast.Starred)]
        if wanted is not None and len(stars) == 1:
            sizes = self.evaluate(stars[0].value)
            rank = wanted - (len(node.elts) - 1)
            if rank > 0 and not (isinstance(sizes, Sequence) and sizes.exact):
                # What the star stands for may not be known, but how much it is: the others keep their places.
                starred: list[Value] = [UNKNOWN_VALUE] * rank
                if isinstance(sizes, SizesOf):
                    self.ranks.setdefault(sizes.tensor.shape_key, rank)
                    starred = [self.size_of(sizes.tensor, integer(i)) for i in range(rank)]
                parts: list[Value] = []
                for element in node.elts:
                    parts += starred if element is stars[0] else [self.evaluate(element)]
                return Sequence(tuple(parts))
        return super()._tuple(node)

    def unpack(self, value: Value, targets: Items[ast.expr]) -> list[Value]:
        if isinstance(value, SizesOf) and value.strides:
            self.ranks.setdefault(value.tensor.shape_key, len(targets))
            return [self.stride_of(value.tensor, integer(i)) for i in range(len(targets))]
        if isinstance(value, SizesOf):
            return self.unpacked_sizes(value.tensor, targets)
        if isinstance(value, Tensor):
            return [
                replace(value, key=f"{value.key}[{i}]", like="", dims=None, origin="derived", sure=False)
                for i in range(len(targets))
            ]
        if isinstance(value, Choice):
            return self._unpacked_choice(value, targets)
        parts = super().unpack(value, targets)
        site = self.site(self.statement)
        return [
            Tensor(f"unpacked@{site[-2]}:{site[-1]}[{i}]", origin="derived", sure=False)
            if isinstance(part, Unknown) and not part.deps
            else part
            for i, part in enumerate(parts)
        ]

    def _unpacked_choice(self, value: Choice, targets: Items[ast.expr]) -> list[Value]:
        """Unpack every option and join the parts one by one."""
        rows = [self.unpack(option, targets) for option in value.options if not isinstance(option, NoneValue)]
        if not rows:
            return [UNKNOWN_VALUE] * len(targets)
        result = rows[0]
        outer, self.grounds = self.grounds, self.grounds | value.grounds
        for row in rows[1:]:
            site = self.site(self.statement)
            pairs = enumerate(zip(result, row, strict=True))
            result = [self.join(a, b, (*site, i)) for i, (a, b) in pairs]
        self.grounds = outer
        return result

    # --- loops ----------------------------------------------------------------------------------
    def loop_over(self, node: ast.For | ast.AsyncFor) -> None:
        source = self.evaluate(node.iter)
        items = self.items_of(source)
        size = len(items) * len(node.body) if items is not None else 0
        if items is not None and size <= 200 and size * self.rounds <= MAX_ROUNDS:
            outer = self.rounds
            self.rounds *= max(len(items), 1)
            for item in items:
                self.bind(node.target, item, node)
                if not self.run(node.body):
                    break
            self.rounds = outer
            return
        self.in_loop += 1
        site = self.site(node)

        def enter() -> None:
            self.bind(node.target, self._unknown_item(source, site), node)

        self.loop_body(node, node.body, enter)
        self.in_loop -= 1

    def _unknown_item(self, source: Value, site: object) -> Value:
        if isinstance(source, Sequence) and source.items:
            first = source.items[0]
            if (
                isinstance(first, Number)
                and first.poly.atom is not None
                and first.poly.atom.kind == "loopvar"
            ):
                return first
            if isinstance(first, Number) and not source.exact:
                return Number(Poly.of(Atom("loopvar", (), site)), first.dtype, deps=deps_of(source))
            if len(source.items) == 1 and not source.exact:
                return first
        key = source.key if isinstance(source, Tensor) else "loop"
        return Tensor(
            f"{key}[*]@{site[-2] if isinstance(site, tuple) else site}", origin="derived", sure=False
        )

    def items_of(self, value: Value) -> tuple[Value, ...] | None:
        """The items to iterate over, None where they are not known.

        Of several lists the shortest stands for all; what is made from it may be longer.
        """
        if isinstance(value, Choice) and all(isinstance(o, Sequence) and o.exact for o in value.options):
            lists = [option.items for option in value.options if isinstance(option, Sequence)]
            self.guessed = True
            return min(lists, key=len)
        if isinstance(value, Sequence) and value.exact and len(value.items) <= MAX_ITEMS:
            return value.items
        return None

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> Value:
        outer = self.scope
        self.scope = Scope(self.module, outer, outer.function)
        found: list[Value] = []
        exact = self._generate(node.generators, lambda: found.append(self.evaluate(node.elt)), found)
        self.scope = outer
        return Sequence(tuple(found), exact)

    guessed = False

    def _generate(
        self, generators: list[ast.comprehension], emit: Callable[[], None], found: list[Value]
    ) -> bool:
        if not generators:
            emit()
            return True
        first, rest = generators[0], generators[1:]
        source = self.evaluate(first.iter)
        self.guessed = False
        items = self.items_of(source)
        exact = items is not None and not self.guessed
        if items is None:
            items = (self._unknown_item(source, self.site(first.iter)),)
        for item in items:
            if len(found) > MAX_ITEMS:
                return False
            self.bind(first.target, item, first.target)
            tests = [self.condition(test) for test in first.ifs]
            if any(test.known is False for test in tests):
                continue
            exact = exact and all(test.known is True for test in tests)
            exact = self._generate(rest, emit, found) and exact
        return exact

    # --- calls ----------------------------------------------------------------------------------
    def call(self, node: ast.Call) -> Value:
        if isinstance(node.func, ast.Attribute):
            owner = self.evaluate(node.func.value)
            result = self._method(node, node.func.attr, owner)
            if result is not None:
                return result
            callee = self.attribute(node.func, owner)
        else:
            callee = self.evaluate(node.func)
        args, keywords, complete = self._arguments(node)
        return self.apply(node, callee, args, keywords, complete=complete)

    def _arguments(self, node: ast.Call) -> tuple[list[Value], Arguments, bool]:
        args: list[Value] = []
        keywords: Arguments = {}
        complete = True
        for arg in node.args:
            value = self.evaluate(arg)
            if not complete:
                continue  # behind `*strides` of unknown length nobody knows which parameter this is
            if not isinstance(arg, ast.Starred):
                args.append(value)
            elif isinstance(value, Sequence) and value.exact:
                args += value.items
            else:
                complete = False
        for keyword in node.keywords:
            value = self.evaluate(keyword.value)
            if keyword.arg is not None:
                keywords[keyword.arg] = value
            elif isinstance(value, Mapping):
                keywords.update(value.items)
                complete = complete and value.exact
            else:
                for option in value.options if isinstance(value, Choice) else ():
                    keywords.update(option.items if isinstance(option, Mapping) else ())
                complete = False
        return args, keywords, complete

    def apply(
        self, node: ast.Call, callee: Value, args: list[Value], keywords: Arguments, *, complete: bool = True
    ) -> Value:
        """The value of `callee(*args, **keywords)`."""
        if isinstance(callee, Choice) and not self._kernels(callee):
            chosen = option_of(callee, External, FunctionValue, Launcher)
            if chosen is not callee:
                result = self.apply(node, chosen, args, keywords, complete=complete)
                if isinstance(result, Tuned):  # `autotune = triton.autotune if TUNE else as_it_is`
                    return replace(result, grounds=result.grounds | callee.grounds)
                return result
        match callee:
            case Launcher():
                return self._launch(node, callee, args, keywords, complete)
            case Partial():
                merged = {**dict(callee.kwargs), **keywords}
                return self.apply(node, callee.function, [*callee.args, *args], merged, complete=complete)
            case JitDecorator() | Tuned() | HeuristicsValue():
                return self.wrapped(callee, args[0] if args else UNKNOWN_VALUE, node.func)
            case LambdaValue():
                return self.apply_lambda(callee, args, keywords)
            case FunctionValue() | ClassValue() if _looks_like_tuner(_called_name(callee), args, keywords):
                return self._tuned(node, args, keywords, canonical=False)
            case FunctionValue():
                return self._host_call(node, callee, args, keywords, complete)
            case External():
                return self._external_call(node, callee.name, args, keywords, complete)
            case ClassValue():
                return Instance(f"{callee.name}@{self.site(node)}", callee.name)
            case Tensor():
                return self._opaque(node, f"{callee.key}()", [callee, *args])
        return self._opaque(node, "", [*args, *keywords.values()])

    def _opaque(self, node: ast.Call, name: str, args: Iterable[Value]) -> Tensor:
        """The result of a call nothing is known of."""
        name = name or f"{written(node.func)[:40]}()"
        return Tensor(f"{name}@{node.lineno}:{node.col_offset}", origin="derived", sure=False, node=node)

    def apply_lambda(self, value: LambdaValue, args: list[Value], keywords: Arguments) -> Value:
        """Call a lambda; one that calls itself gives something unknown."""
        if value.node in self.applied:
            return UNKNOWN_VALUE
        outer, self.applied = self.applied, (*self.applied, value.node)
        scope = Scope(value.scope.module, value.scope, value.scope.function)
        names = [a.arg for a in (*value.node.args.posonlyargs, *value.node.args.args)]
        for name, default in zip(reversed(names), reversed(value.node.args.defaults), strict=False):
            scope.names[name] = self.evaluate_in(default, value.scope)
        scope.names.update(zip(names, args, strict=False))
        scope.names.update({k: v for k, v in keywords.items() if k in names})
        result = self.evaluate_in(value.node.body, scope)
        self.applied = outer
        return result

    def _host_call(
        self, node: ast.Call, callee: FunctionValue, args: list[Value], keywords: Arguments, complete: bool
    ) -> Value:
        """A call of a host function of the project: evaluated with these arguments, launches apart.

        Of a long one only what stops bad arguments is looked at.
        """
        info = callee.info
        if _ROUNDS_UP.match(info.name) and len(args) == 1 and not keywords:
            return self._next_power(node, args, keywords)  # however it goes about it
        body = self._worth_running(info)
        if (
            not complete
            or not body
            or self.calls_around >= MAX_CALLS
            or isinstance(info.node, ast.AsyncFunctionDef)
        ):
            return self._result_unrun(node, info, args)
        inner = HostEvaluator(
            info.module, info, Scope(info.module, info.scope(), info), self.calls_around + 1
        )
        inner.depth = self.depth
        inner.loops_around = self.loops_around
        inner.rounds = self.rounds
        inner.path_key = (*self.path_key, node.lineno, node.col_offset)
        inner._origin = self._origin
        inner.ranks = self.ranks
        inner.names = self.names
        inner.fixed_sizes = self.fixed_sizes
        inner.spent = self.spent
        inner.recording = self.recording
        inner.unfolded = self.unfolded
        inner.conditions = list(self.conditions)
        names = list(info.parameters)
        values = ([callee.bound] if callee.bound is not None else []) + args
        for parameter in names:
            if parameter.default is not None:
                inner.scope.names[parameter.name] = info.module.constant(parameter.default)
            else:
                inner.scope.names[parameter.name] = Tensor(parameter.name, origin="derived", sure=False)
        inner.scope.names.update(zip((p.name for p in names), values, strict=False))
        inner.scope.names.update({k: v for k, v in keywords.items() if info.parameter(k)})
        vararg = info.node.args.vararg
        if vararg is not None:
            inner.scope.names[vararg.arg] = Sequence(tuple(values[len(names) :]))
        inner.run(body)
        self.spent = inner.spent
        self._learn_from(inner)
        for key, types in inner.learned.items():
            self.learned.setdefault(key, set()).update(types)
        self.inlined += [*inner.launches, *inner.inlined]
        self.entered |= inner.entered
        if len(body) < len(info.node.body):
            return self._result_unrun(node, info, args)
        self.entered.add(info)
        return inner.result(self.site(node))

    def _result_unrun(self, node: ast.Call, info: FunctionInfo, args: Iterable[Value]) -> Value:
        """What a function returns that is not run for this call: no more than element types are known."""
        whole = self._opaque(node, f"{info.name}()", args)
        types = returned_types(info) if info.is_long else ()
        if not any(dtype.is_known for dtype in types):
            return whole
        if len(types) == 1:
            return replace(whole, dtype=types[0])
        return Sequence(
            tuple(replace(whole, key=f"{whole.key}[{i}]", dtype=dtype) for i, dtype in enumerate(types))
        )

    def _learn_from(self, inner: HostEvaluator) -> None:
        """Keep what a call made sure of: conditions that hold on every way out of it."""
        exits = inner.exits or [tuple(inner.conditions)]
        common = [formula for formula in exits[0] if all(formula in other for other in exits[1:])]
        news = [formula for formula in common if formula not in self.conditions]
        news.sort(key=lambda formula: not formula.is_arithmetic)
        self.conditions += news[:MAX_LEARNED]

    def _worth_running(self, info: FunctionInfo) -> list[ast.stmt]:
        """What of a function is run where it is called: nothing of itself, the guards of a long one."""
        if info is self.function or info.module.source is None:
            return []
        is_long = info.is_long and info not in self.unfolded
        return [line for line in info.node.body if _is_guard(line)] if is_long else info.node.body

    # --- launches -------------------------------------------------------------------------------
    def _method(self, node: ast.Call, name: str, owner: Value) -> Value | None:
        """A method call on a value of ours; None where it is an ordinary attribute call."""
        kernels = self._kernels(owner)
        if kernels and name in ("run", "warmup"):
            args, keywords, complete = self._arguments(node)
            grid = keywords.pop("grid", UNKNOWN_VALUE)
            return self._launch(node, Launcher(kernels, grid, node=node), args, keywords, complete)
        owner = option_of(owner, Tensor, Sequence, Mapping)
        if isinstance(owner, Tensor):
            args, keywords, complete = self._arguments(node)
            if name == "save_for_backward" and complete:
                self.scope.names[f"{owner.key}.saved_tensors"] = Sequence(tuple(args))
            return self.tensor_method(node, owner, name, args, keywords)
        if isinstance(owner, Sequence | Mapping):
            return self._container_method(node, name, owner)
        if isinstance(owner, Number):
            if name in ("bit_length", "bit_count"):
                return Number(Poly.of(Atom(name, owner.poly)), deps=owner.deps)
            if name in ("item", "__int__"):
                return owner
            atom = owner.poly.atom
            if atom is not None and atom.kind == "environment" and name in _OF_TEXT:
                return owner
            if atom is not None and atom.kind == "hostparam":
                args, keywords, _ = self._arguments(node)
                return self.tensor_method(node, Tensor(str(atom.args[0]), sure=False), name, args, keywords)
        if isinstance(owner, Instance) and self.function is not None and owner.key == "self":
            return self._self_call(node, name)
        return None

    def _self_call(self, node: ast.Call, name: str) -> Value | None:
        info = self._method_beside(name)
        if info is None:
            return None
        args, keywords, complete = self._arguments(node)
        return self._host_call(node, FunctionValue(info, Instance("self")), args, keywords, complete)

    def _container_method(self, node: ast.Call, name: str, owner: Sequence | Mapping) -> Value | None:
        args, keywords, _ = self._arguments(node)
        if isinstance(owner, Mapping):
            if name == "get" and args and isinstance(args[0], Text):
                found = owner.get(args[0].value)
                if found is not None:
                    return found
                return args[1] if len(args) > 1 and owner.exact else NONE if owner.exact else UNKNOWN_VALUE
            if name == "values":
                return Sequence(tuple(v for _, v in owner.items), owner.exact)
            if name == "keys":
                return Sequence(tuple(Text(k) for k, _ in owner.items), owner.exact)
            if name == "items":
                return Sequence(tuple(Sequence((Text(k), v)) for k, v in owner.items), owner.exact)
            if (
                name == "update"
                and isinstance(node.func, ast.Attribute)
                and isinstance(node.func.value, ast.Name)
            ):
                extra = args[0] if args and isinstance(args[0], Mapping) else Mapping((), not args)
                items = (*owner.items, *extra.items, *keywords.items())
                self.scope.names[node.func.value.id] = kept(Mapping(items, owner.exact and extra.exact))
                return NONE
            return UNKNOWN_VALUE
        if (
            name in ("append", "extend", "insert")
            and isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
        ):
            added: tuple[Value, ...] = (args[-1],) if args and name != "extend" else ()
            exact = owner.exact
            if name == "extend" and args and isinstance(args[0], Sequence):
                added, exact = args[0].items, exact and args[0].exact
            elif name == "extend":
                exact = False
            longer = Sequence(owner.items + added, exact and not self.in_loop)
            self.scope.names[node.func.value.id] = kept(longer)
            return NONE
        if name == "copy":
            return owner
        return UNKNOWN_VALUE

    def _launch(
        self, node: ast.Call, launcher: Launcher, args: list[Value], keywords: Arguments, complete: bool
    ) -> Value:
        if not self.recording:
            return NONE
        for kernel in launcher.kernels:
            self._record_launch(
                node,
                kernel,
                launcher,
                [*launcher.args, *args],
                {**dict(launcher.kwargs), **keywords},
                complete,
            )
        return NONE

    def _record_launch(
        self,
        node: ast.Call,
        kernel: KernelValue,
        launcher: Launcher,
        args: list[Value],
        keywords: Arguments,
        complete: bool,
    ) -> None:
        info = kernel.info
        nodes = self._argument_nodes(node, args)
        arguments: dict[str, Argument] = {}
        problems: list[str] = []
        if len(args) > len(info.parameters) and info.node.args.vararg is None:
            problems.append(f"{len(args)} positional arguments for {len(info.parameters)} parameters")
        for parameter, value, where in zip(info.parameters, args, nodes, strict=False):
            arguments[parameter.name] = Argument(value, where)
        written = {k.arg: k.value for k in node.keywords if k.arg}
        options: Arguments = {}
        for name, value in keywords.items():
            if info.parameter(name) is not None:
                arguments[name] = Argument(value, written.get(name, node))
            else:
                options[name] = value
        for parameter in info.parameters:
            if parameter.name not in arguments and parameter.default is not None:
                value = info.module.constant(parameter.default)
                arguments[parameter.name] = Argument(value, parameter.default, by_default=True)
        self._apply_heuristics(kernel, arguments, node)
        grid = self._grid(launcher.grid, {name: argument.value for name, argument in arguments.items()})
        grid_node = launcher.node.slice if isinstance(launcher.node, ast.Subscript) else launcher.node
        self.launches.append(
            Launch(
                kernel, self.module, self.function, node, arguments, options, grid, grid_node,
                tuple(self.conditions), self.in_loop > 0, complete, tuple(problems), self.names,
            )
        )  # fmt: skip

    def _argument_nodes(self, node: ast.Call, args: list[Value]) -> list[ast.AST]:
        """What each argument was written as: the whole call for those that came out of a `*`."""
        stars = [i for i, arg in enumerate(node.args) if isinstance(arg, ast.Starred)]
        if not stars and len(node.args) == len(args):
            return list(node.args)
        first, tail = (stars[0], len(node.args) - stars[-1] - 1) if stars else (0, 0)
        if first + tail > len(args):
            return [node] * len(args)
        unpacked: list[ast.AST] = [node] * (len(args) - first - tail)
        return [*node.args[:first], *unpacked, *node.args[len(node.args) - tail :]]

    def _apply_heuristics(self, kernel: KernelValue, arguments: dict[str, Argument], node: ast.AST) -> None:
        values = {name: argument.value for name, argument in arguments.items()}
        for wrapper in kernel.wrappers:
            if isinstance(wrapper, HeuristicsValue):
                for name, function in wrapper.values.items:
                    value = self.with_meta(function, values)
                    values[name] = value
                    where = function.node if isinstance(function, LambdaValue) else wrapper.node
                    arguments[name] = Argument(value, where)

    def with_meta(self, function: Value, values: dict[str, Value]) -> Value:
        """Call a grid function or a heuristic with the kernel's arguments."""
        meta = Meta(Mapping(tuple(values.items()), exact=False))
        if isinstance(function, LambdaValue):
            return self.apply_lambda(function, [meta], {})
        if isinstance(function, FunctionValue):
            name = ast.Name(id=function.info.name)
            call = ast.Call(func=name, args=[], keywords=[], lineno=function.info.node.lineno, col_offset=0)
            return self._host_call(call, function, [meta], {}, complete=True)
        return UNKNOWN_VALUE

    def _grid(self, value: Value, arguments: dict[str, Value]) -> tuple[Poly, ...] | None:
        if isinstance(value, LambdaValue) and value.node.args is _NO_ARGS:
            value = self.evaluate_in(value.node.body, value.scope)
        if isinstance(value, Choice):
            value = option_of(value, LambdaValue, FunctionValue, Sequence)
        if isinstance(value, LambdaValue | FunctionValue):
            value = self.with_meta(value, arguments)
        if isinstance(value, Sequence) and value.exact:
            numbers = [self.as_number(item) for item in value.items]
            return tuple(
                number.poly if number is not None else Poly.of(Atom("unknown", "grid", i))
                for i, number in enumerate(numbers)
            )
        return None

    # --- libraries ------------------------------------------------------------------------------
    def _external_call(
        self, node: ast.Call, name: str, args: list[Value], keywords: Arguments, complete: bool
    ) -> Value:
        short = name.rsplit(".", 1)[-1]
        if short in ("constexpr",) and args:
            return args[0]
        handler = _CALLS.get(name) or (
            _CALLS.get(f"builtins.{short}") if name.startswith("builtins.") else None
        )
        if handler is not None:
            return handler(self, node, args, keywords)
        if name in _JITS:
            return self._jit(args, keywords, gluon=_JITS[name])
        if name.startswith("triton.") and short in (
            "autotune",
            "heuristics",
            "Config",
            "cdiv",
            "next_power_of_2",
        ):
            return _CALLS[f"triton.{short}"](self, node, args, keywords)
        if name.startswith("torch."):
            made = self.torch_call(node, name, args, keywords)
            if made is not None:
                return made
        if _looks_like_tuner(short, args, keywords):
            return self._tuned(node, args, keywords, canonical=False)
        if short == "make_kernel" or not args:
            return self._opaque(node, f"{name}()", args)
        if short == "cdiv" or short == "ceil_div" or short == "divup":
            return _CALLS["triton.cdiv"](self, node, args, keywords)
        if short == "next_power_of_2":
            return _CALLS["triton.next_power_of_2"](self, node, args, keywords)
        return self._opaque(node, f"{name}()", args)

    def _jit(self, args: list[Value], keywords: Arguments, *, gluon: bool) -> Value:
        decorator = JitDecorator(Mapping(tuple(keywords.items())), gluon)
        if args and isinstance(args[0], FunctionValue):
            return KernelValue(args[0].info, (decorator,))
        return decorator

    def _tuned(
        self, node: ast.Call, args: list[Value], keywords: Arguments, *, canonical: bool = True
    ) -> Value:
        configs = keywords.pop("configs", args[0] if args else UNKNOWN_VALUE)
        key = keywords.pop("key", args[1] if len(args) > 1 else Sequence(()))
        grounds = frozenset(atom.kind for formula in self.conditions for atom in formula.closure)
        tuned = Tuned(configs, key, node, Mapping(tuple(keywords.items())), canonical, grounds)
        if self.recording:
            self.tunings.append((tuned, self.function))
        return tuned

    def _autotune(self, node: ast.Call, args: list[Value], keywords: Arguments) -> Value:
        return self._tuned(node, args, keywords)

    def _heuristics(self, node: ast.Call, args: list[Value], keywords: Arguments) -> Value:
        values = args[0] if args else keywords.get("values", UNKNOWN_VALUE)
        return HeuristicsValue(values if isinstance(values, Mapping) else Mapping((), exact=False), node)

    def _config(self, node: ast.Call, args: list[Value], keywords: Arguments) -> Value:
        kwargs = keywords.pop("kwargs", args[0] if args else Mapping(()))
        options = dict(zip(("num_warps", "num_stages", "num_ctas"), args[1:], strict=False))
        options.update(keywords)
        return Config(
            kwargs if isinstance(kwargs, Mapping) else Mapping((), exact=False),
            Mapping(tuple(options.items())),
            node,
            pre_hook="pre_hook" in options and not isinstance(options["pre_hook"], NoneValue),
        )

    def _cdiv(self, node: ast.Call, args: list[Value], keywords: Arguments) -> Value:
        numbers = self.numbers([*args, *keywords.values()])
        if len(numbers) != 2:
            return UNKNOWN_VALUE
        return Number(
            symbolic.ceil_divide(numbers[0].poly, numbers[1].poly), deps=numbers[0].deps | numbers[1].deps
        )

    def _next_power(self, node: ast.Call, args: list[Value], keywords: Arguments) -> Value:
        numbers = self.numbers(args or list(keywords.values()))
        return (
            Number(symbolic.next_power_of_2(numbers[0].poly), deps=numbers[0].deps)
            if numbers
            else UNKNOWN_VALUE
        )

    def numbers(self, values: Iterable[Value]) -> list[Number]:
        """The values as numbers; an object of unknown kind counts as one."""
        return [number for number in map(self.as_number, values) if number is not None]

    def as_number(self, value: Value) -> Number | None:
        """A value as a number, None if it cannot be one."""
        if isinstance(value, Number):
            return value
        if isinstance(value, Tensor) and not value.sure:
            return Number(Poly.of(Atom("config" if "." in value.key else "hostparam", value.key)))
        if isinstance(value, Choice):
            options = [self.as_number(option) for option in value.options]
            polys = frozenset(option.poly for option in options if option is not None)
            return Number(Poly.of(Atom("either", polys, "choice", value.grounds))) if polys else None
        if isinstance(value, Unknown):
            return Number(Poly.of(Atom("unknown", self._unique())), deps=value.deps)
        return None

    def operate(self, node: ast.AST, operator: ast.operator, left: Value, right: Value) -> Value:
        if isinstance(operator, ast.FloorDiv) and isinstance(left, Number) and isinstance(right, Number):
            negative = _negated_ceiling(left.poly, right.poly)
            if negative is not None:
                return Number(negative, deps=left.deps | right.deps)
        if (isinstance(left, Tensor) and left.sure) or (isinstance(right, Tensor) and right.sure):
            return self.tensor_arithmetic(node, left, right)
        if isinstance(left, Tensor | Number) and isinstance(right, Tensor | Number):
            one, two = self.as_number(left), self.as_number(right)
            if one is not None and two is not None:
                return super().operate(node, operator, one, two)
        return super().operate(node, operator, left, right)

    def compared(self, node: ast.Compare, operator: ast.cmpop, left: Value, right: Value) -> Number:
        if (
            isinstance(left, SizesOf | Sequence)
            and isinstance(right, SizesOf | Sequence)
            and isinstance(operator, ast.Eq | ast.NotEq)
        ):
            formula = self._same_sizes(left, right)
            return truth(formula if isinstance(operator, ast.Eq) else formula.negated())
        if isinstance(left, TypeValue) and self._is_demanded(node, operator):
            self._learn_dtype(left, right)
        if isinstance(left, Tensor) and isinstance(right, NoneValue) and not left.sure:
            absent = opaque(Poly.of(Atom("absent", left.key)))  # one word for each place that asks
            absent = absent if isinstance(operator, ast.Is | ast.Eq) else absent.negated()
            return truth(absent, static=True, deps=deps_of(left))
        if isinstance(left, Tensor) and not left.sure and isinstance(right, Number | Sequence):
            left = self.as_number(left) or left
        if isinstance(right, Tensor) and not right.sure and isinstance(left, Number):
            right = self.as_number(right) or right
        return super().compared(node, operator, left, right)

    def none_test(self, operator: ast.cmpop, left: Value) -> Formula | None:
        if isinstance(left, Number) and left.poly.atom is not None and left.poly.atom.kind == "hostparam":
            return None
        return super().none_test(operator, left)

    def _same_sizes(self, left: Value, right: Value) -> Formula:
        if isinstance(left, SizesOf) and isinstance(right, SizesOf):
            pairs = range(self.ranks.get(left.tensor.shape_key, 4))
            return both(*(self._same_dim(left, right, i) for i in pairs))
        sizes, items = (left, right) if isinstance(left, SizesOf) else (right, left)
        if isinstance(sizes, SizesOf) and isinstance(items, Sequence) and items.exact:
            self.ranks.setdefault(sizes.tensor.shape_key, len(items.items))
            parts = []
            for i, item in enumerate(items.items):
                size = self.size_of(sizes.tensor, integer(i))
                number = self.as_number(item)
                if number is not None and isinstance(size, Number):
                    parts.append(equal(size.poly, number.poly))
            return both(*parts)
        return opaque(Poly.of(Atom("shapes", self.site(self.statement))))

    def _same_dim(self, left: SizesOf, right: SizesOf, i: int) -> Formula:
        one, two = self.size_of(left.tensor, integer(i)), self.size_of(right.tensor, integer(i))
        assert isinstance(one, Number)
        assert isinstance(two, Number)
        return equal(one.poly, two.poly)

    def _builtin_extreme(self, node: ast.Call, args: list[Value], keywords: Arguments) -> Value:
        if len(args) == 1 and isinstance(args[0], Sequence) and args[0].exact:
            args = list(args[0].items)
        numbers = self.numbers(args)
        fold = symbolic.minimum if called_name(node) == "min" else symbolic.maximum
        if len(args) == 1 or len(numbers) != len(args) or not numbers:
            source = args[0] if args else UNKNOWN_VALUE
            name = source.key if isinstance(source, Tensor) else "items"
            return Number(Poly.of(Atom("extreme", called_name(node), name)), deps=deps_of(source))
        deps: frozenset[Atom] = frozenset().union(*(n.deps for n in numbers))
        return Number(fold(*(n.poly for n in numbers)), deps=deps)

    def _length(self, node: ast.Call, args: list[Value], keywords: Arguments) -> Value:
        value = args[0] if args else UNKNOWN_VALUE
        if isinstance(value, Sequence) and value.exact:
            return integer(len(value.items))
        if isinstance(value, SizesOf):
            rank = self.ranks.get(value.tensor.shape_key)
            return integer(rank) if rank else Number(Poly.of(Atom("rank", value.tensor.shape_key)))
        if isinstance(value, Tensor):
            return self.size_of(value, integer(0)) if value.sure else Number(Poly.of(Atom("len", value.key)))
        return Number(Poly.of(Atom("len", written(node.args[0]) if node.args else "")), deps=deps_of(value))

    def _range(self, node: ast.Call, args: list[Value], keywords: Arguments) -> Value:
        numbers = [n for number in self.numbers(args) if (n := number.poly.integer) is not None]
        if len(numbers) == len(args) and 1 <= len(numbers) <= 3 and 0 not in numbers[2:]:
            whole = range(*numbers)
            if not whole[128:]:
                return Sequence(tuple(integer(i) for i in whole))
        bounds = tuple(number.poly for number in self.numbers(args))
        return Sequence((Number(Poly.of(Atom("loopvar", bounds, self.site(node)))),), exact=False)

    def _sequence(self, node: ast.Call, args: list[Value], keywords: Arguments) -> Value:
        if not args:
            return Mapping(tuple(keywords.items())) if called_name(node) == "dict" else Sequence(())
        value = args[0]
        if called_name(node) == "dict":
            base = value if isinstance(value, Mapping) else Mapping((), exact=False)
            return Mapping((*base.items, *keywords.items()), base.exact)
        if isinstance(value, Sequence):
            return value
        if isinstance(value, SizesOf):
            return value
        return value if isinstance(value, Tensor) else Sequence((), exact=False)

    def _product(self, node: ast.Call, args: list[Value], keywords: Arguments) -> Value:
        pools = [self.items_of(arg) for arg in args]
        if any(pool is None for pool in pools) or math.prod(len(pool or ()) for pool in pools) > MAX_ITEMS:
            firsts = tuple(pool[0] if pool else UNKNOWN_VALUE for pool in pools)
            return Sequence((Sequence(firsts),), exact=False)
        rows: list[tuple[Value, ...]] = [()]
        for pool in pools:
            rows = [(*row, item) for row in rows for item in pool or ()]
        return Sequence(tuple(Sequence(row) for row in rows))

    def _zip(self, node: ast.Call, args: list[Value], keywords: Arguments) -> Value:
        pools = [self.items_of(arg) for arg in args]
        if any(pool is None for pool in pools):
            return Sequence((), exact=False)
        return Sequence(tuple(Sequence(row) for row in zip(*(pool or () for pool in pools), strict=False)))

    def _enumerate(self, node: ast.Call, args: list[Value], keywords: Arguments) -> Value:
        pool = self.items_of(args[0]) if args else None
        if pool is None:
            return UNKNOWN_VALUE
        return Sequence(tuple(Sequence((integer(i), item)) for i, item in enumerate(pool)))

    def _same(self, node: ast.Call, args: list[Value], keywords: Arguments) -> Value:
        number = self.as_number(args[0]) if args else None
        return number if number is not None else UNKNOWN_VALUE

    def _ceil(self, node: ast.Call, args: list[Value], keywords: Arguments) -> Value:
        number = self.as_number(args[0]) if args else None
        if number is None:
            return UNKNOWN_VALUE
        atom = number.poly.atom
        if atom is not None and atom.kind == "div":
            return Number(symbolic.ceil_divide(atom.args[0], atom.args[1]))
        return Number(Poly.of(Atom("ceil", number.poly)), deps=number.deps)

    def _sqrt(self, node: ast.Call, args: list[Value], keywords: Arguments) -> Value:
        number = self.as_number(args[0]) if args else None
        return Number(Poly.of(Atom("sqrt", number.poly)), deps=number.deps) if number else UNKNOWN_VALUE

    def _partial(self, node: ast.Call, args: list[Value], keywords: Arguments) -> Value:
        if not args:
            return UNKNOWN_VALUE
        function = args[0]
        if isinstance(function, Launcher):
            return replace(
                function, args=(*function.args, *args[1:]), kwargs=(*function.kwargs, *keywords.items())
            )
        if (isinstance(function, External) and "autotune" in function.name) or (
            isinstance(function, External) and function.name in _JITS
        ):
            return Partial(function, tuple(args[1:]), tuple(keywords.items()))
        return Partial(function, tuple(args[1:]), tuple(keywords.items()))

    def _import_module(self, node: ast.Call, args: list[Value], keywords: Arguments) -> Value:
        if args and isinstance(args[0], Text):
            return self.module.imported(LazyImport(args[0].value, 0, None))
        return UNKNOWN_VALUE

    def _environment(self, node: ast.Call, args: list[Value], keywords: Arguments) -> Value:
        name = args[0].value if args and isinstance(args[0], Text) else "?"
        return Number(Poly.of(Atom("environment", name)))

    def _sum(self, node: ast.Call, args: list[Value], keywords: Arguments) -> Value:
        source = args[0] if args else UNKNOWN_VALUE
        if isinstance(source, Sequence) and source.exact:
            total = Poly.const(0)
            for number in self.numbers(source.items):
                total = total + number.poly
            return Number(total)
        name = source.key if isinstance(source, Tensor) else "items"
        return Number(Poly.of(Atom("extreme", "sum", name)))

    def _bool(self, node: ast.Call, args: list[Value], keywords: Arguments) -> Value:
        value = args[0] if args else NONE
        return truth(self.truth_of(value), static=True, deps=deps_of(value))

    def _prod(self, node: ast.Call, args: list[Value], keywords: Arguments) -> Value:
        source = args[0] if args else UNKNOWN_VALUE
        if isinstance(source, Sequence) and source.exact:
            total = ONE
            for number in self.numbers(source.items):
                total = total * number.poly
            return Number(total)
        if isinstance(source, SizesOf):
            return Number(source.tensor.size)
        return Number(
            Poly.of(Atom("product of", source.key if isinstance(source, Tensor) else self._unique()))
        )

    def _sorted(self, node: ast.Call, args: list[Value], keywords: Arguments) -> Value:
        return args[0] if args else UNKNOWN_VALUE

    def _filtered(self, node: ast.Call, args: list[Value], keywords: Arguments) -> Value:
        kept = args[1] if len(args) == 2 else UNKNOWN_VALUE
        return replace(kept, exact=False) if isinstance(kept, Sequence) else kept

    def _is_demanded(self, node: ast.Compare, operator: ast.cmpop) -> bool:
        """Whether the function goes on only where a comparison says that two things are the same."""
        if isinstance(self.statement, ast.Assert):
            return isinstance(operator, ast.Eq | ast.In | ast.Is)
        if not isinstance(self.statement, ast.If) or not isinstance(
            operator, ast.NotEq | ast.NotIn | ast.IsNot
        ):
            return False
        test = self.statement.test
        parts = test.values if isinstance(test, ast.BoolOp) else [test]
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):  # one thing, several allowed
            asked = {written(part.left) if isinstance(part, ast.Compare) else "" for part in parts}
            parts = parts if len(asked) == 1 else []
        return node in parts and isinstance(self.statement.body[-1], ast.Raise)

    def _learn_dtype(self, left: TypeValue, right: Value) -> None:
        """`x.dtype == torch.float16` where it is demanded settles the type of `x` by its key."""
        types = (
            [right]
            if isinstance(right, TypeValue)
            else list(right.items)
            if isinstance(right, Sequence)
            else []
        )
        names = {item.dtype.name for item in types if isinstance(item, TypeValue)}
        if left.dtype.elements and names and None not in names:
            for key in left.dtype.elements:
                self.learned.setdefault(key, set()).update(name for name in names if name)


def _is_of_autograd(node: ast.ClassDef) -> bool:
    """Whether `C.apply(...)` runs `C.forward(ctx, ...)`, as in a `torch.autograd.Function`."""
    return any(ast.unparse(base).rpartition(".")[2] == "Function" for base in node.bases)


def _is_guard(statement: ast.stmt) -> bool:
    """Whether a statement does nothing but stop bad arguments: an assertion, or `if ...: raise`."""
    if isinstance(statement, ast.If):
        return len(statement.body) == 1 and isinstance(statement.body[0], ast.Raise) and not statement.orelse
    return isinstance(statement, ast.Assert)


def _external(name: str) -> Value:
    dtype = named(name.rsplit(".", 1)[-1]) if name.startswith(("torch.", "triton.language.")) else None
    if dtype is not None and name.count(".") <= 2:
        return TypeValue(dtype)
    return External(canonical(name))


def _looks_like_tuner(name: str, args: list[Value], keywords: Arguments) -> bool:
    """Whether a third party's call makes a tuner: its name says so and it is given configurations."""
    if "tun" not in name.lower():
        return False
    given = keywords.get("configs", args[0] if args else None)
    if isinstance(given, Sequence) and any(isinstance(item, Config) for item in given.items):
        return True
    return "configs" in keywords and "key" in keywords


def _called_name(value: Value) -> str:
    if isinstance(value, FunctionValue):
        return value.info.name
    return value.name if isinstance(value, ClassValue) else ""


def _negated_ceiling(left: Poly, right: Poly) -> Poly | None:
    """`-(n) // b` inside `-(-n // b)`: the quotient, negated so that negating it again gives cdiv."""
    if (
        left.terms
        and all(factor < 0 for factor in left.terms.values())
        and right.terms
        and all(f > 0 for f in right.terms.values())
    ):
        return -symbolic.ceil_divide(-left, right)
    if (
        right.terms
        and all(factor < 0 for factor in right.terms.values())
        and left.terms
        and all(f > 0 for f in left.terms.values())
    ):
        return -symbolic.ceil_divide(left, -right)
    return None


_NO_ARGS = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
_H = HostEvaluator
Handler = Callable[[HostEvaluator, ast.Call, list[Value], Arguments], Value]
_CALLS: dict[str, Handler] = {
    "triton.autotune": _H._autotune,
    "triton.heuristics": _H._heuristics,
    "triton.Config": _H._config,
    "triton.cdiv": _H._cdiv,
    "triton.next_power_of_2": _H._next_power,
    "builtins.min": _H._builtin_extreme,
    "builtins.max": _H._builtin_extreme,
    "builtins.bool": _H._bool,
    "builtins.len": _H._length,
    "builtins.range": _H._range,
    "builtins.list": _H._sequence,
    "builtins.tuple": _H._sequence,
    "builtins.set": _H._sequence,
    "builtins.frozenset": _H._sequence,
    "builtins.dict": _H._sequence,
    "builtins.int": _H._same,
    "builtins.float": _H._same,
    "builtins.round": _H._same,
    "builtins.sum": _H._sum,
    "builtins.sorted": _H._sorted,
    "builtins.filter": _H._filtered,
    "builtins.zip": _H._zip,
    "builtins.enumerate": _H._enumerate,
    "itertools.product": _H._product,
    "functools.partial": _H._partial,
    "math.ceil": _H._ceil,
    "importlib.import_module": _H._import_module,
    "torch.library.wrap_triton": _H._sorted,
    "torch._library.triton.wrap_triton": _H._sorted,
    "torch._library.capture_triton": _H._sorted,
    "os.environ.get": _H._environment,
    "os.getenv": _H._environment,
    "math.prod": _H._prod,
    "math.sqrt": _H._sqrt,
}
_ = _OPTIONS


def _whole_number(value: Value) -> int | None:
    return value.poly.integer if isinstance(value, Number) else None
