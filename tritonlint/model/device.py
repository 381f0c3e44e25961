"""Evaluates a jit function: what `tl.*` means, and a record of everything it does.

Facts about Triton follow its own sources, 3.0 to 3.9; where versions differ the comment says so.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from tritonlint.model import symbolic
from tritonlint.model.arithmetic import as_boolean, as_condition, broadcast
from tritonlint.model.dtypes import (
    BOOL,
    FP32,
    INT32,
    INT64,
    UNKNOWN_DTYPE,
    DType,
    element_of,
    named,
    promote,
)
from tritonlint.model.evaluator import Evaluator, assigned_names, called_name
from tritonlint.model.library import canonical
from tritonlint.model.logic import Formula, both, either, less
from tritonlint.model.records import (
    Access,
    Accumulation,
    Assignment,
    BlockAccess,
    CallSite,
    Cast,
    Compared,
    Definition,
    DescriptorAccess,
    Dot,
    HelperCall,
    Loop,
    Reduction,
    StaticUse,
    TileShape,
    Trace,
    Where,
)
from tritonlint.model.symbolic import ONE, ZERO, Atom, Poly
from tritonlint.model.values import (
    NONE,
    UNKNOWN_VALUE,
    BlockPointer,
    Choice,
    Descriptor,
    External,
    FunctionValue,
    KernelValue,
    ModuleValue,
    NoneValue,
    Number,
    Scope,
    Sequence,
    Shape,
    Text,
    TypeValue,
    Unknown,
    Value,
    deps_of,
    integer,
    option_of,
    truth,
)

if TYPE_CHECKING:
    from tritonlint.model.module import FunctionInfo

MAX_INLINE_DEPTH = 12
MAX_INLINED = 500
"""Calls of helpers that are inlined for one root; what the others do is unknown."""
_PER_CALL = (
    "scope",
    "function",
    "calls",
    "returned",
    "return_grounds",
    "definitions",
    "path_key",
    "statement",
)
"""What a call of a helper replaces while it runs."""
TRITON_LANGUAGE = "triton.language."
_LANGUAGES = (TRITON_LANGUAGE, "triton.experimental.gluon.language.")
_ELEMENTWISE = frozenset(
    "exp exp2 log log2 log10 log1p expm1 sin cos tan "
    "tanh sqrt sqrt_rn rsqrt sigmoid abs erf erfinv floor ceil fma "
    "div_rn fdiv umulhi clamp softmax fast_expf fast_dividef rint "
    "round trunc pow acos asin atan atan2 sinh cosh "
    "isnan isinf isfinited finitef fmod fabs relu silu gelu math".split()
)
_WIDE_ONLY = frozenset("exp exp2 log log2 sin cos sqrt sqrt_rn rsqrt sigmoid softmax erf tanh".split())
_OF_INTEGERS = (ast.FloorDiv, ast.LShift, ast.RShift, ast.BitAnd, ast.BitOr, ast.BitXor)
_IDENTITY = frozenset(
    "multiple_of max_contiguous max_constancy "
    "debug_barrier assume_aligned convert_layout set_auto_layout".split()
)
_REDUCTIONS = frozenset("sum max min xor_sum reduce argmax argmin reduce_or any all".split())
_SCANS = frozenset("cumsum cumprod associative_scan".split())
_ATOMICS = frozenset(
    "atomic_add atomic_max atomic_min atomic_and atomic_or atomic_xor atomic_xchg atomic_cas".split()
)
_OPERATORS: dict[str, type[ast.operator]] = {
    "__lshift__": ast.LShift,
    "__rshift__": ast.RShift,
    "__and__": ast.BitAnd,
    "__or__": ast.BitOr,
    "__xor__": ast.BitXor,
    "__add__": ast.Add,
    "__sub__": ast.Sub,
    "__mul__": ast.Mult,
}
"""Operators called by the names of their methods."""
_METHODS = (
    _REDUCTIONS
    | _SCANS
    | _ELEMENTWISE
    | frozenset(
        "reshape view trans permute expand_dims broadcast_to ravel "
        "split cast flip sort gather cdiv histogram".split()
    )
)
Arguments = dict[str, Value]


class DeviceEvaluator(Evaluator):
    """Evaluates one jit function, helpers inlined with the caller's arguments."""

    def __init__(
        self, root: FunctionInfo, parameters: dict[str, Value], pointers: frozenset[str] = frozenset()
    ) -> None:
        super().__init__(Scope(root.module, root.scope(), root))
        self.function = root
        self.scope.names.update(parameters)
        self.trace = Trace(root)
        self.pointers = pointers
        self.constexprs = frozenset(p.name for p in root.parameters if p.is_constexpr)
        self.loops: list[Loop] = []
        self.calls_inlined = 0
        self.calls: tuple[CallSite, ...] = ()
        self.definitions: dict[str, Definition] = {}
        self.replaced: Definition | None = None
        self.discarded: ast.Call | None = None

    # --- names ----------------------------------------------------------------------------------
    def missing(self, node: ast.Name) -> Value:
        value = self.function.module.name(node.id)
        if value is None:
            return External(f"builtins.{node.id}")
        return _settled(value)

    def attribute(self, node: ast.Attribute, value: Value) -> Value:
        value = _settled(value)
        if isinstance(value, External):
            return _library(canonical(f"{value.name}.{node.attr}"))
        if isinstance(value, ModuleValue):
            return _settled(value.module.name(node.attr) or UNKNOWN_VALUE)
        if isinstance(value, Number):
            return self._number_attribute(node, value)
        if isinstance(value, TypeValue):
            return self._type_attribute(node, value)
        if isinstance(value, Descriptor | BlockPointer) and node.attr == "dtype":
            return TypeValue(element_of_base(self, value.base))
        return Unknown(deps_of(value))

    def _number_attribute(self, node: ast.Attribute, value: Number) -> Value:
        if node.attr in ("dtype", "type"):
            return TypeValue(value.dtype, value)
        if node.attr == "shape" and value.shape is not None:
            return Sequence(tuple(Number(dim, INT32, static=True) for dim in value.shape))
        if node.attr == "T":
            return permuted(value, (1, 0))
        if node.attr == "value":
            return value
        return Unknown(value.dependencies)

    def _type_attribute(self, node: ast.Attribute, value: TypeValue) -> Value:
        if node.attr in ("element_ty", "scalar") and value.of is not None:
            base = self.base_of(value.of.poly)
            return (
                TypeValue(element_of(base))
                if base and not value.dtype.is_known
                else TypeValue(value.dtype, value.of)
            )
        if node.attr in ("element_ty", "scalar", "type", "dtype"):
            return value
        return Number(Poly.of(Atom("typeattr", str(value.dtype), node.attr)), INT32, static=True)

    def subscript(self, node: ast.Subscript, value: Value) -> Value:
        value = _settled(value)
        if isinstance(value, Sequence):
            index = self.evaluate(node.slice)
            number = index.poly.integer if isinstance(index, Number) else None
            if number is not None and value.exact and -len(value.items) <= number < len(value.items):
                return value.items[number]
            return Unknown(deps_of(value))
        if isinstance(value, Number):
            return self._indexed(node, value)
        return Unknown(deps_of(value))

    def _indexed(self, node: ast.Subscript, value: Number) -> Value:
        """`x[:, None]` and its like: new dimensions of extent 1."""
        items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        new = [isinstance(item, ast.Constant) and item.value is None for item in items]
        if not all(is_new or isinstance(item, ast.Slice) for is_new, item in zip(new, items, strict=True)):
            return Unknown(value.dependencies)
        kept = len(items) - sum(new)
        if value.shape is not None and kept < len(value.shape):
            new += [False] * (len(value.shape) - kept)
        return expanded(value, new)

    # --- bookkeeping ----------------------------------------------------------------------------
    def where(self, node: ast.AST) -> Where:
        """The place of a record about `node`."""
        return Where(self.function, node, self.calls, self.statement)

    def out_of_budget(self) -> None:
        self.trace.complete = False

    def assigned(self, name: str, value: Value, node: ast.AST) -> Value:
        if (
            isinstance(value, Number)
            and value.static
            and isinstance(node, ast.Assign | ast.AugAssign | ast.NamedExpr)
        ):
            value = replace(value, static=False)  # a plain assignment turns a constexpr into a tensor
        if self.recording:
            where = self.where(node)
            if not isinstance(node, ast.AugAssign):
                self.replaced = self.definitions.get(name)
                if self.replaced is None or not self._is_carried(value, name):
                    dtype = value.dtype if isinstance(value, Number) else UNKNOWN_DTYPE
                    self.definitions[name] = Definition(where, dtype, name)
            self.trace.assignments.append(
                Assignment(where, name, value, tuple(self.conditions), tuple(self.loops))
            )
        return value

    def accumulated(
        self, node: ast.AST, name: str, before: Value, added: Value, after: Value, part: ast.AST
    ) -> None:
        if (
            self.recording
            and isinstance(before, Number)
            and isinstance(added, Number)
            and isinstance(after, Number)
        ):
            start = self.definitions.get(name)
            if isinstance(node, ast.Assign) and self.replaced is not None:
                start = self.definitions[name] = self.replaced  # `x = x + y` defines nothing new
            where = self.where(node)
            handing = {atom.args[0] for atom in self._carrying(before, name)}
            loops = tuple(loop for loop in self.loops if loop.trip.args[0] in handing)
            unrolled = bool(handing) and handing <= {loop.trip.args[0] for loop in loops if loop.static}
            if handing and not unrolled and before.dtype.literal and before.dtype.is_integer:
                self._mark_integers(added)  # a loop keeps the type that a name starts with
            self.trace.accumulations.append(
                Accumulation(where, name, before, added, after, start, part, bool(handing), unrolled, loops)
            )

    def _is_carried(self, value: Value, name: str) -> bool:
        """Whether a value comes from an earlier iteration of a loop that is being run."""
        return isinstance(value, Number) and bool(self._carrying(value, name))

    def _carrying(self, value: Number, name: str) -> set[Atom]:
        """What stands for the loops that hand a value on, under this name or, to a helper, under another."""
        whole = value.poly.atom
        marks = {
            atom
            for atom in value.dependencies
            if atom.kind == "carried" and (atom == whole or atom.args[-1] == name)
        }
        return (marks | {atom for atom in value.poly.surface if atom.kind == "trip"}) & self.running

    def operate(self, node: ast.AST, operator: ast.operator, left: Value, right: Value) -> Value:
        left, right = _settled(left), _settled(right)
        result = super().operate(node, operator, left, right)
        if isinstance(result, Number) and result.poly.atom is not None:
            self.trace.recipes.pop(result.poly.atom, None)  # of a call that starts at the same place
        if isinstance(result, Number) and result.is_tile:
            picks = isinstance(operator, ast.Mult) and (_is_equation(left) or _is_equation(right))
            result = result.of_origin("selected" if picks else "computed")
        if isinstance(left, Number) and isinstance(right, Number) and isinstance(result, Number):
            if isinstance(operator, ast.Mult | ast.Div | ast.FloorDiv | ast.Mod):
                self._mark_scalars(left, right)
            if isinstance(operator, _OF_INTEGERS):
                self._mark_integers(left, right)
            if self.recording and (left.is_tile or right.is_tile):
                kind = type(operator).__name__
                self.trace.arithmetic.append((self.where(node), kind, left, right, result))
        return result

    def _mark_scalars(self, *values: Number) -> None:
        for value in values:
            atom = value.poly.atom
            if atom is not None and atom.kind == "param":
                self.trace.scalars.add(atom.args[0])

    def _mark_integers(self, *values: Number) -> None:
        """Remember that elements of these types are integers, or booleans."""
        for value in values:
            if value.dtype.is_known:
                continue
            self.trace.integers |= value.dtype.elements
            if not value.dtype.elements:  # `(count + BLOCK - 1) // BLOCK`: the sum's type is not known
                bases = (self.base_of(atom.args[0]) for atom in value.poly.surface if atom.kind == "load")
                self.trace.integers |= {base for base in bases if base is not None}

    def compared(self, node: ast.Compare, operator: ast.cmpop, left: Value, right: Value) -> Number:
        if isinstance(left, Number) and isinstance(right, Number):
            self._mark_scalars(left, right)
            if self.recording:
                kind = type(operator).__name__
                self.trace.comparisons.append(Compared(self.where(node), left, right, kind))
        return super().compared(node, operator, left, right)

    def none_test(self, operator: ast.cmpop, left: Value) -> Formula | None:
        return (
            None
            if isinstance(left, Number) and left.poly.atom is not None and left.poly.atom.kind == "param"
            else super().none_test(operator, left)
        )

    def base_of(self, address: Poly) -> str | None:
        """The pointer parameter an address starts from, if it is plain which."""
        names = [
            monomial[0].args[0]
            for monomial, factor in address.terms.items()
            if factor == 1 and len(monomial) == 1 and monomial[0].kind == "param"
        ]
        names = [name for name in names if name not in self.constexprs]
        sure = [name for name in names if name in self.pointers]
        if len(sure) == 1:
            return str(sure[0])
        if len(names) > 1:
            names = [name for name in names if name not in self.trace.scalars] or names
            order = {parameter.name: i for i, parameter in enumerate(self.trace.root.parameters)}
            names.sort(key=lambda name: order.get(name, 0))
        return str(names[0]) if names else None

    # --- loops ----------------------------------------------------------------------------------
    def loop_over(self, node: ast.For | ast.AsyncFor) -> None:
        source = node.iter
        bounds = self._range_bounds(source) if isinstance(source, ast.Call) else None
        if bounds is None:
            self.havoc(node)
            return
        start, stop, step, static = bounds
        trip = Atom("trip", self.site(node))
        variable = Number(
            start.poly + step.poly * Poly.of(trip),
            INT64 if INT64 in (start.dtype, stop.dtype) else INT32,
            static=static,
            deps=start.deps | stop.deps,
        )
        name = node.target.id if isinstance(node.target, ast.Name) else None
        loop = Loop(self.where(node), trip, start.poly, stop.poly, step.poly, static, name)

        def enter() -> None:
            self.bind(node.target, variable, node)
            if step.poly.terms and all(factor < 0 for factor in step.poly.terms.values()):
                self.conditions.append(less(stop.poly, variable.poly))
            else:
                self.conditions.append(less(variable.poly, stop.poly))

        if not static:
            self.trace.runtime_trips.add(trip)
        self.loops.append(loop)
        self.loop_body(node, node.body, enter, trip)
        self.loops.pop()

    def _range_bounds(self, call: ast.Call) -> tuple[Number, Number, Number, bool] | None:
        callee = _settled(self.evaluate(call.func))
        if not (isinstance(callee, External) and callee.name.rsplit(".", 1)[-1] in ("range", "static_range")):
            return None
        values = [_settled(self.evaluate(arg)) for arg in call.args]
        named_args = {
            k.arg: _settled(self.evaluate(k.value))
            for k in call.keywords
            if k.arg in ("arg1", "arg2", "step", "start", "end")
        }
        values += list(named_args.values())
        numbers = [
            value if isinstance(value, Number) else opaque_number(self, call, value) for value in values
        ]
        if not 1 <= len(numbers) <= 3:
            return None
        static = callee.name.endswith("static_range")
        if static and self.recording:
            for value in values:
                self.trace.static_uses.append(StaticUse(self.where(call), "a `static_range` bound", value))
        self._mark_scalars(*numbers)
        self._mark_integers(*numbers)
        start, stop = (integer(0), numbers[0]) if len(numbers) == 1 else (numbers[0], numbers[1])
        return start, stop, numbers[2] if len(numbers) == 3 else integer(1), static

    # --- calls ----------------------------------------------------------------------------------
    def _expr(self, node: ast.Expr) -> None:
        self.discarded = node.value if isinstance(node.value, ast.Call) else None
        self.evaluate(node.value)
        self.discarded = None

    def call(self, node: ast.Call) -> Value:
        discarded = self.discarded is node
        if isinstance(node.func, ast.Attribute):
            owner = _settled(self.evaluate(node.func.value))
            if isinstance(owner, Number | BlockPointer | Descriptor | TypeValue):
                return self._method(node, node.func.attr, owner)
            callee = self.attribute(node.func, owner)
        else:
            callee = _settled(self.evaluate(node.func))
        if isinstance(node.func, ast.Attribute) and node.func.attr == "to" and isinstance(owner, Unknown):
            return self._converted(node, owner)
        if isinstance(callee, KernelValue):
            return self._helper(node, callee.info, discarded)
        if isinstance(callee, FunctionValue) and callee.info.is_constexpr_function:
            args = [self.evaluate(arg) for arg in node.args]
            return self._compile_time(callee.info.name, args)
        if isinstance(callee, External):
            return self._external(node, callee.name)
        arguments = [self.evaluate(arg) for arg in node.args] + [
            self.evaluate(k.value) for k in node.keywords
        ]
        return Unknown(frozenset().union(*(deps_of(value) for value in arguments)))

    def _converted(self, node: ast.Call, owner: Unknown) -> Value:
        """`.to(tl.float16)` of something unknown: its type is known from here on."""
        target = next(
            (k.value for k in node.keywords if k.arg == "dtype"), node.args[0] if node.args else None
        )
        dtype = _dtype(self.evaluate(target)) if target is not None else None
        if dtype is None or not dtype.is_float:
            return owner
        return Number(self._data(node), dtype, None, deps=owner.deps, origin="cast")

    def _compile_time(self, name: str, args: list[Value]) -> Value:
        polys = tuple(arg.poly for arg in args if isinstance(arg, Number))
        static = all(isinstance(arg, Number) and arg.static for arg in args)
        if name == "next_power_of_2" and len(polys) == 1:
            return Number(symbolic.next_power_of_2(polys[0]), INT32, static=static)
        return Number(Poly.of(Atom("call", name, polys)), INT32, static=static)

    def _method(
        self, node: ast.Call, name: str, owner: Number | BlockPointer | Descriptor | TypeValue
    ) -> Value:
        args = [self.evaluate(arg) for arg in node.args]
        keywords = {k.arg: self.evaluate(k.value) for k in node.keywords if k.arg}
        if isinstance(owner, TypeValue):
            return Number(Poly.of(Atom("typeattr", str(owner.dtype), name)), BOOL, static=True)
        if name in ("load", "store", "atomic_add", "gather", "scatter") and not isinstance(
            owner, BlockPointer
        ):
            return self._descriptor_access(node, name, owner, args, keywords)
        if isinstance(owner, Number):
            if name == "to":
                return self._cast(node, [owner, *args], keywords)
            if name in _METHODS:
                return self._builtin(node, name, [owner, *args], keywords)
            if name in _OPERATORS and len(args) == 1:
                return self.operate(node, _OPERATORS[name](), owner, args[0])
            return Unknown(owner.dependencies)
        return Unknown(deps_of(owner))

    def _external(self, node: ast.Call, name: str) -> Value:
        args: list[Value] = []
        for arg in node.args:
            value = self.evaluate(arg)
            if isinstance(arg, ast.Starred) and isinstance(value, Sequence):
                args += value.items
            else:
                args.append(value)
        keywords = {k.arg: self.evaluate(k.value) for k in node.keywords if k.arg}
        short = name.rsplit(".", 1)[-1]
        if name.startswith(_LANGUAGES) or name.startswith(("triton.", "builtins.")) or "libdevice" in name:
            return self._builtin(node, short, args, keywords)
        return self._unknown_call(node, args, keywords)

    def _unknown_call(self, node: ast.Call, args: list[Value], keywords: Arguments) -> Value:
        deps: frozenset[Atom] = frozenset().union(*(deps_of(value) for value in (*args, *keywords.values())))
        return Unknown(deps)

    def _builtin(self, node: ast.Call, name: str, args: list[Value], keywords: Arguments) -> Value:
        if name not in ("load", "store") and name not in _ATOMICS:
            args = [_settled(arg) for arg in args]  # a mask that may be None must stay a choice
        handler = _HANDLERS.get(name)
        if handler is not None:
            return handler(self, node, args, keywords)
        if name in _ATOMICS:
            return self._atomic(node, name, args, keywords)
        if name in _REDUCTIONS or name in _SCANS:
            return self._reduce(node, name, args, keywords)
        if name in _IDENTITY and args:
            return args[0]
        if name.startswith("rand") and args:
            shape = _shapes(args)
            return Number(self._data(node), FP32, shape, deps=_all_deps(args))
        return self._elementwise(node, name, args)

    def _elementwise(self, node: ast.Call, name: str, args: list[Value]) -> Value:
        numbers = [arg for arg in args if isinstance(arg, Number)]
        if not numbers:
            return self._unknown_call(node, args, {})
        dtype = numbers[0].dtype
        for number in numbers[1:]:
            dtype = promote(dtype, number.dtype)
        if name == "abs" and numbers[0].poly.constant is not None:
            return replace(numbers[0], poly=Poly.const(abs(numbers[0].poly.constant)))
        if name in _WIDE_ONLY:
            if dtype.elements and not dtype.is_known:
                self.trace.wide.add(dtype.elements)
            dtype = dtype if dtype.name == "fp64" else FP32  # these take float32 and float64 alone
        elif name not in _ELEMENTWISE:
            dtype = UNKNOWN_DTYPE if not dtype.is_float else dtype
        loads = frozenset().union(*(n.loads for n in numbers))
        data = self._made(node, name, *numbers)
        return Number(data, dtype, _shapes(args), deps=_all_deps(args), loads=loads)

    def _made(self, node: ast.AST, name: str, *operands: Number) -> Poly:
        """Data, with a record of how it came about."""
        poly = self._data(node)
        data = poly.atom
        if data is not None and not any(data in operand.dependencies for operand in operands):
            self.trace.recipes[data] = (name, operands)
        return poly

    def _data(self, node: ast.AST) -> Poly:
        """Data of which nothing is known. What starts at one place, `x.abs().exp()`, shares it."""
        data = Atom("data", self.site(node))
        self.trace.recipes.pop(data, None)
        return Poly.of(data)

    # --- helpers --------------------------------------------------------------------------------
    def _helper(self, node: ast.Call, info: FunctionInfo, discarded: bool) -> Value:
        args = [self.evaluate(arg) for arg in node.args if not isinstance(arg, ast.Starred)]
        starred = any(isinstance(arg, ast.Starred) for arg in node.args)
        keywords = {k.arg: self.evaluate(k.value) for k in node.keywords if k.arg}
        deps = _all_deps([*args, *keywords.values()])
        if self.calls_inlined >= MAX_INLINED:
            self.out_of_budget()
            return Unknown(deps)
        if (
            starred
            or len(self.calls) >= MAX_INLINE_DEPTH
            or any(site.caller is info for site in self.calls)
            or info is self.function
        ):
            return Unknown(deps)
        bound = self._bound(info, args, keywords)
        if bound is None:
            return Unknown(deps)
        writes = len(self.trace.accesses), len(self.trace.block_accesses), len(self.trace.descriptor_accesses)
        result = self._inlined(node, info, bound, self._handed_over(node, info, bound))
        after = len(self.trace.accesses), len(self.trace.block_accesses), len(self.trace.descriptor_accesses)
        if self.recording:
            call = HelperCall(
                self.where(node), info, tuple(bound.values()), discarded, writes == after, result
            )
            self.trace.calls.append(call)
        return result

    def _bound(self, info: FunctionInfo, args: list[Value], keywords: Arguments) -> dict[str, Value] | None:
        """Parameters of a helper with the caller's values; None where they do not fit."""
        if len(args) > len(info.parameters):
            return None
        names: dict[str, Value] = {}
        for parameter, value in zip(info.parameters, args, strict=False):
            names[parameter.name] = value
        names.update(keywords)
        for parameter in info.parameters:
            if parameter.name not in names:
                if parameter.default is None:
                    return None
                names[parameter.name] = self._default(info, parameter.default)
        return names

    def _handed_over(
        self, node: ast.Call, info: FunctionInfo, values: dict[str, Value]
    ) -> dict[str, Definition]:
        """What gave a helper's parameters their values: what a caller made is not made anew."""
        given = dict(zip((parameter.name for parameter in info.parameters), node.args, strict=False))
        given.update({word.arg: word.value for word in node.keywords if word.arg})
        found = {}
        for name, argument in given.items():
            known = self.definitions.get(argument.id) if isinstance(argument, ast.Name) else None
            value = values[name]
            dtype = value.dtype if isinstance(value, Number) else UNKNOWN_DTYPE
            found[name] = known or Definition(self.where(argument), dtype, name)
        return found

    def _default(self, info: FunctionInfo, node: ast.expr) -> Value:
        value = info.module.constant(node)
        return value if value is not None else UNKNOWN_VALUE

    def _inlined(
        self, node: ast.Call, info: FunctionInfo, names: dict[str, Value], definitions: dict[str, Definition]
    ) -> Value:
        outer = self.__dict__.copy()
        held = len(self.conditions)
        self.calls_inlined += 1
        self.trace.functions.add(info)
        self.calls = (*self.calls, CallSite(self.function, node))
        self.path_key = (*self.path_key, node.lineno, node.col_offset, info.name)
        self.scope = Scope(info.module, info.scope(), info)
        self.scope.names.update(names)
        self.function, self.returned, self.return_grounds = info, [], set()
        self.definitions = definitions
        self.run(info.node.body)
        result = self.result(self.site(node))
        del self.conditions[held:]
        for name in _PER_CALL:
            setattr(self, name, outer[name])
        return result

    # --- tiles ----------------------------------------------------------------------------------
    def _arange(self, node: ast.Call, args: list[Value], keywords: Arguments) -> Value:
        start = keywords.get("start", args[0] if args else UNKNOWN_VALUE)
        end = keywords.get("end", args[1] if len(args) > 1 else UNKNOWN_VALUE)
        for bound in (start, end):
            self._needs_static(node, "a bound of `tl.arange`", bound)
        if not (isinstance(start, Number) and isinstance(end, Number)):
            return Number(Poly.of(Atom("tile", self.site(node))), INT32, None, deps=_all_deps([start, end]))
        extent = end.poly - start.poly
        self._tile(node, "the range of `tl.arange`", extent, end)
        return Number(start.poly + Poly.of(Atom("arange", ZERO, extent, 0)), INT32, (extent,))

    def _tile(self, node: ast.AST, what: str, extent: Poly, value: Number) -> None:
        if self.recording:
            self.trace.tiles.append(TileShape(self.where(node), what, extent, value, tuple(self.conditions)))

    def _needs_static(self, node: ast.AST, what: str, value: Value) -> None:
        if self.recording:
            self.trace.static_uses.append(StaticUse(self.where(node), what, value))

    def _shape(self, node: ast.AST, value: Value | None, what: str) -> Shape | None:
        """A shape argument; every dimension must be static and a power of two."""
        value = _settled(value) if value is not None else None
        items = (
            value.items
            if isinstance(value, Sequence) and value.exact
            else (value,)
            if isinstance(value, Number)
            else None
        )
        if items is None:
            return None
        dims: list[Poly] = []
        for i, item in enumerate(items):
            item = _settled(item)
            self._needs_static(node, f"a dimension of `{what}`", item)
            if isinstance(item, Number):
                dims.append(item.poly)
                self._tile(node, f"dimension {i} of `{what}`", item.poly, item)
            else:
                dims.append(Poly.of(Atom("dim?", self.site(node), i)))
        return tuple(dims)

    def _full(self, node: ast.Call, args: list[Value], keywords: Arguments) -> Value:
        name = called_name(node)
        shape = self._shape(node, keywords.get("shape", args[0] if args else None), f"tl.{name}")
        if name == "full":
            value = keywords.get("value", args[1] if len(args) > 1 else UNKNOWN_VALUE)
            dtype = _dtype(keywords.get("dtype", args[2] if len(args) > 2 else None))
        else:
            value, dtype = integer(0), _dtype(keywords.get("dtype", args[1] if len(args) > 1 else None))
        if isinstance(value, Number):
            dtype = dtype if dtype is not None else value.dtype
            return Number(value.poly, dtype, shape, value.formula, deps=value.deps)
        return Number(self._data(node), dtype or UNKNOWN_DTYPE, shape, deps=deps_of(value))

    def _like(self, node: ast.Call, args: list[Value], keywords: Arguments) -> Value:
        model = args[0] if args else UNKNOWN_VALUE
        if isinstance(model, Number):
            return Number(ZERO, model.dtype, model.shape)
        return UNKNOWN_VALUE

    # --- memory ---------------------------------------------------------------------------------
    def _load(self, node: ast.Call, args: list[Value], keywords: Arguments) -> Value:
        bound = _by_name(("pointer", "mask", "other", "boundary_check", "padding_option"), args, keywords)
        pointer = bound.get("pointer", UNKNOWN_VALUE)
        if isinstance(pointer, BlockPointer):
            return self._block_access(node, "load", pointer, bound.get("boundary_check"))
        if not isinstance(pointer, Number):
            return Unknown(deps_of(pointer))
        index = len(self.trace.accesses)
        self._access(node, "load", pointer, bound.get("mask"), bound.get("other"), None)
        mask = bound.get("mask")
        shape = broadcast(pointer.shape, mask.shape) if isinstance(mask, Number) else pointer.shape
        loads = frozenset((index,)) if self.recording else frozenset()
        deps = pointer.dependencies | (deps_of(mask) if mask is not None else frozenset())
        return Number(
            Poly.of(Atom("load", pointer.poly)), self._element(pointer), shape, deps=deps, loads=loads
        )

    def _element(self, pointer: Number) -> DType:
        """The element type behind a pointer."""
        if pointer.dtype.is_known and not pointer.dtype.literal and pointer.dtype not in (INT32, INT64):
            return pointer.dtype
        base = self.base_of(pointer.poly)
        return element_of(base) if base else UNKNOWN_DTYPE

    def _access(
        self,
        node: ast.Call,
        kind: str,
        pointer: Number,
        mask: Value | None,
        other: Value | None,
        value: Value | None,
    ) -> None:
        if not self.recording:
            return
        unknown = False
        formula: Number | None = None
        if isinstance(mask, Number):
            formula = as_boolean(mask)
        elif mask is not None and not isinstance(mask, NoneValue):
            unknown = True
        for atom in pointer.poly.surface:
            index_base = self.base_of(atom.args[0]) if atom.kind == "load" else None
            if index_base is not None:
                self.trace.integers.add(index_base)
        conditions, loops = tuple(self.conditions), tuple(self.loops)
        index = len(self.trace.accesses)
        self.trace.accesses.append(
            Access(self.where(node), kind, pointer, formula, unknown, other, value, conditions, loops, index)
        )

    def _store(self, node: ast.Call, args: list[Value], keywords: Arguments) -> Value:
        bound = _by_name(("pointer", "value", "mask", "boundary_check"), args, keywords)
        pointer = bound.get("pointer", UNKNOWN_VALUE)
        if isinstance(pointer, BlockPointer):
            self._block_access(node, "store", pointer, bound.get("boundary_check"))
        elif isinstance(pointer, Number):
            self._access(node, "store", pointer, bound.get("mask"), None, bound.get("value"))
        return NONE

    def _atomic(self, node: ast.Call, name: str, args: list[Value], keywords: Arguments) -> Value:
        order = ("pointer", "cmp", "val") if name == "atomic_cas" else ("pointer", "val", "mask")
        bound = _by_name(order, args, keywords)
        pointer = bound.get("pointer", UNKNOWN_VALUE)
        if not isinstance(pointer, Number):
            return UNKNOWN_VALUE
        self._access(node, name, pointer, bound.get("mask"), None, bound.get("val"))
        return Number(
            self._data(node),
            self._element(pointer),
            pointer.shape,
            deps=pointer.dependencies,
        )

    def _block_access(self, node: ast.Call, kind: str, pointer: BlockPointer, checked: Value | None) -> Value:
        axes: frozenset[int] | None = frozenset()
        checked = _settled(checked) if checked is not None else None
        if isinstance(checked, Sequence) and checked.exact:
            numbers = [item.poly.integer if isinstance(item, Number) else None for item in checked.items]
            rank = len(pointer.block_shape)
            axes = None if None in numbers else frozenset(n % rank for n in numbers if n is not None and rank)
        elif isinstance(checked, Number):
            number = checked.poly.integer
            axes = None if number is None else frozenset((number,))
        elif checked is not None and not isinstance(checked, NoneValue):
            axes = None
        if self.recording:
            self.trace.block_accesses.append(
                BlockAccess(
                    self.where(node),
                    kind,
                    pointer,
                    axes,
                    (*self.conditions, *pointer.under),
                    tuple(self.loops),
                )
            )
        deps = deps_of(pointer)
        return Number(
            Poly.of(Atom("blockload", pointer.base, pointer.offsets)),
            element_of_base(self, pointer.base),
            pointer.block_shape,
            deps=deps,
        )

    def _make_block_ptr(self, node: ast.Call, args: list[Value], keywords: Arguments) -> Value:
        bound = _by_name(("base", "shape", "strides", "offsets", "block_shape", "order"), args, keywords)
        base = bound.get("base")
        parts = [self._numbers(node, bound.get(name)) for name in ("shape", "strides", "offsets")]
        block = self._shape(node, bound.get("block_shape"), "tl.make_block_ptr")
        if not isinstance(base, Number) or block is None or None in parts:
            return Unknown(_all_deps(list(bound.values())))
        shape, strides, offsets = (part or () for part in parts)
        return BlockPointer(base.poly, shape, strides, offsets, block, node)

    def _numbers(self, node: ast.AST, value: Value | None) -> tuple[Poly, ...] | None:
        value = _settled(value) if value is not None else None
        if not (isinstance(value, Sequence) and value.exact):
            return None
        return tuple(
            item.poly if isinstance(item, Number) else opaque_number(self, node, item, i).poly
            for i, item in enumerate(value.items)
        )

    def _advance(self, node: ast.Call, args: list[Value], keywords: Arguments) -> Value:
        bound = _by_name(("base", "offsets"), args, keywords)
        base, offsets = bound.get("base"), self._numbers(node, bound.get("offsets"))
        if isinstance(base, BlockPointer) and offsets is not None and len(offsets) == len(base.offsets):
            moved = tuple(a + b for a, b in zip(base.offsets, offsets, strict=True))
            return replace(base, offsets=moved)
        return base if base is not None else UNKNOWN_VALUE

    def _make_descriptor(self, node: ast.Call, args: list[Value], keywords: Arguments) -> Value:
        bound = _by_name(("base", "shape", "strides", "block_shape"), args, keywords)
        base, shape = bound.get("base"), self._numbers(node, bound.get("shape"))
        block = self._shape(node, bound.get("block_shape"), "tl.make_tensor_descriptor")
        if isinstance(base, Number):
            return Descriptor(base.poly, shape or (), block or (), element_of_base(self, base.poly))
        return UNKNOWN_VALUE

    def _descriptor_access(
        self, node: ast.Call, name: str, owner: Number | Descriptor, args: list[Value], keywords: Arguments
    ) -> Value:
        offsets = self._numbers(node, keywords.get("offsets", args[0] if args else None)) or ()
        if not offsets and len(args) > 1:
            offsets = self._numbers(node, Sequence(tuple(args))) or ()
        base = owner.base if isinstance(owner, Descriptor) else owner.poly
        block = (
            owner.block_shape
            if isinstance(owner, Descriptor)
            else tuple(Poly.of(Atom("block", base, i)) for i in range(len(offsets)))
        )
        dtype = owner.dtype if isinstance(owner, Descriptor) else element_of_base(self, base)
        deps: frozenset[Atom] = base.closure.union(*(offset.closure for offset in offsets))
        if self.recording:
            kind = "store" if name in ("store", "scatter") else name
            self.trace.descriptor_accesses.append(
                DescriptorAccess(self.where(node), kind, base, offsets, block, tuple(self.loops), deps)
            )
        return Number(Poly.of(Atom("blockload", base, offsets)), dtype, block, deps=deps)

    def _descriptor_function(self, node: ast.Call, args: list[Value], keywords: Arguments) -> Value:
        """`tl.load_tensor_descriptor(desc, offsets)` and the experimental spellings before it."""
        stores = "store" in called_name(node)
        lists = [arg for arg in args[1:] if isinstance(arg, Sequence)]
        owner = args[0] if args else UNKNOWN_VALUE
        if not isinstance(owner, Number | Descriptor):
            return Unknown(_all_deps(args))
        offsets = [lists[0]] if lists else []
        if len(lists) > 1 and isinstance(owner, Number):
            block = self._shape(node, lists[1], f"tl.{called_name(node)}") or ()
            owner = Descriptor(owner.poly, (), block, element_of_base(self, owner.poly))
        return self._descriptor_access(node, "store" if stores else "load", owner, list(offsets), keywords)

    # --- arithmetic -----------------------------------------------------------------------------
    def _cast(self, node: ast.Call, args: list[Value], keywords: Arguments) -> Value:
        value = args[0] if args else UNKNOWN_VALUE
        target = keywords.get("dtype", args[1] if len(args) > 1 else None)
        if not isinstance(value, Number):
            return value
        dtype = _dtype(target) or UNKNOWN_DTYPE
        if self.recording:
            self.trace.casts.append(Cast(self.where(node), value, dtype))
        if value.formula is not None and not dtype.is_integer:
            return Number(value.poly, dtype, value.shape, None, value.static, value.deps, value.loads)
        origin = "cast" if dtype != value.dtype and value.origin else value.origin
        return replace(value, dtype=dtype, origin=origin)

    def _dot(self, node: ast.Call, args: list[Value], keywords: Arguments) -> Value:
        bound = _by_name(
            ("input", "other", "acc", "input_precision", "allow_tf32", "max_num_imprecise_acc", "out_dtype"),
            args,
            keywords,
        )
        left, right = bound.get("input", UNKNOWN_VALUE), bound.get("other", UNKNOWN_VALUE)
        acc, out = bound.get("acc"), bound.get("out_dtype")
        return self._product(node, left, right, acc, out)

    def _dot_scaled(self, node: ast.Call, args: list[Value], keywords: Arguments) -> Value:
        bound = _by_name(
            ("lhs", "lhs_scale", "lhs_format", "rhs", "rhs_scale", "rhs_format", "acc"), args, keywords
        )
        left, right = bound.get("lhs", UNKNOWN_VALUE), bound.get("rhs", UNKNOWN_VALUE)
        return self._product(node, left, right, bound.get("acc"), bound.get("out_dtype"))

    def _product(
        self, node: ast.Call, left: Value, right: Value, acc: Value | None, out: Value | None
    ) -> Value:
        dtype = _dtype(out) or FP32
        if isinstance(left, Number) and isinstance(right, Number):
            if left.dtype.is_integer and right.dtype.is_integer:
                dtype = INT32
            elif dtype.is_half and (left.dtype.name == "bf16" or left.dtype.name == "fp32"):
                dtype = FP32  # out_dtype=float16 is ignored for bf16 and fp32 operands
        shape: Shape | None = None
        if isinstance(left, Number) and isinstance(right, Number) and left.shape and right.shape:
            shape = (*left.shape[:-1], right.shape[-1])
        acc = None if isinstance(acc, NoneValue) else acc
        start = self._start_of_accumulator(node, acc) if acc is not None else None
        deps = deps_of(left) | deps_of(right) | (deps_of(acc) if acc is not None else frozenset())
        deps = frozenset(atom for atom in deps if atom.kind not in ("load", "blockload"))
        data = self._data(node)
        result = Number(data, dtype, shape, deps=deps, origin="computed")
        if self.recording:
            self.trace.dots.append(
                Dot(
                    self.where(node),
                    left,
                    right,
                    acc,
                    start,
                    out,
                    result,
                    tuple(self.loops),
                    tuple(self.conditions),
                )
            )
        return result

    def _start_of_accumulator(self, node: ast.Call, acc: Value) -> Definition | None:
        """What gave the name passed as `acc` its value before the loop."""
        given = next(
            (k.value for k in node.keywords if k.arg == "acc"), node.args[2] if len(node.args) > 2 else None
        )
        start = self.definitions.get(given.id) if isinstance(given, ast.Name) else None
        if start is None or not isinstance(given, ast.Name) or self._is_carried(acc, given.id):
            return start
        dtype = acc.dtype if isinstance(acc, Number) else UNKNOWN_DTYPE
        return Definition(start.where, dtype, start.name)

    def _reduce(self, node: ast.Call, name: str, args: list[Value], keywords: Arguments) -> Value:
        operand = args[0] if args else keywords.get("input", UNKNOWN_VALUE)
        axis = keywords.get("axis", args[1] if len(args) > 1 else NONE)
        if isinstance(operand, Sequence):
            parts = tuple(self._reduced(node, name, part, axis, None) for part in operand.items)
            return Sequence(parts, operand.exact)
        result = self._reduced(node, name, operand, axis, keywords.get("dtype"))
        if name in ("max", "min") and "return_indices" in keywords:
            return Sequence(
                (result, Number(Poly.of(Atom("index", self.site(node))), INT32, None)), exact=True
            )
        return result

    def _reduced(self, node: ast.Call, name: str, operand: Value, axis: Value, dtype: Value | None) -> Value:
        if not isinstance(operand, Number):
            return Unknown(deps_of(operand))
        number = axis.poly.integer if isinstance(axis, Number) else None
        shape: Shape | None = None
        if name in _SCANS:
            shape = operand.shape
        elif isinstance(axis, NoneValue) or (operand.shape is not None and len(operand.shape) == 1):
            shape = ()
        elif (
            operand.shape is not None
            and number is not None
            and -len(operand.shape) <= number < len(operand.shape)
        ):
            number %= len(operand.shape)
            shape = operand.shape[:number] + operand.shape[number + 1 :]
        given = _dtype(dtype)
        result_type = given or (INT32 if name.startswith("arg") else operand.dtype)
        if given is None and name in ("max", "min"):
            result_type = FP32 if operand.dtype.is_half else operand.dtype  # these widen what is half
            result_type = result_type if result_type.is_known else UNKNOWN_DTYPE
        extent: Poly | None = None
        if operand.shape is not None and len(operand.shape) == 1:
            extent = operand.shape[0]
        elif (
            operand.shape is not None
            and number is not None
            and -len(operand.shape) <= number < len(operand.shape)
        ):
            extent = operand.shape[number]
        result = Number(
            self._data(node),
            result_type,
            shape,
            deps=operand.dependencies,
            loads=operand.loads,
        )
        if self.recording:
            self.trace.reductions.append(
                Reduction(self.where(node), name, operand, dtype, result, extent, tuple(self.conditions))
            )
        return result

    def _where(self, node: ast.Call, args: list[Value], keywords: Arguments) -> Value:
        bound = _by_name(("condition", "x", "y"), args, keywords)
        condition, one, two = (bound.get(name, UNKNOWN_VALUE) for name in ("condition", "x", "y"))
        if not (isinstance(condition, Number) and isinstance(one, Number) and isinstance(two, Number)):
            return Number(
                self._data(node),
                UNKNOWN_DTYPE,
                None,
                deps=_all_deps([condition, one, two]),
            )
        formula = as_condition(condition)
        shape = broadcast(condition.shape, broadcast(one.shape, two.shape))
        deps = condition.deps | one.deps | two.deps
        loads = condition.loads | one.loads | two.loads
        if one.formula is not None and two.formula is not None:
            chosen = either(both(formula, one.formula), both(formula.negated(), two.formula))
            return replace(truth(chosen, shape, deps=deps), loads=loads)
        dtype = promote(one.dtype, two.dtype)
        if one.poly == two.poly:
            return Number(one.poly, dtype, shape, deps=deps, loads=loads)
        if dtype.is_float:
            return Number(
                self._made(node, "where", condition, one, two),
                dtype,
                shape,
                deps=deps | one.poly.closure | two.poly.closure | condition.dependencies,
                loads=loads,
                origin=_selection(formula, one, two),
            )
        pick = Atom("where", formula, one.poly, two.poly)
        self.trace.recipes[pick] = ("where", (condition, one, two))
        poly = Poly.of(pick)
        origin = _selection(formula, one, two)
        return Number(poly, dtype, shape, deps=deps, loads=loads, origin=origin)

    def _gather(self, node: ast.Call, args: list[Value], keywords: Arguments) -> Value:
        """`tl.gather(src, index, axis)`: elements of `src` in the shape of `index`."""
        source, index = (args[0], args[1]) if len(args) > 1 else (UNKNOWN_VALUE, keywords.get("index"))
        if not isinstance(source, Number) or not isinstance(index, Number):
            return Unknown(_all_deps([*args, *keywords.values()]))
        data = self._data(node)
        deps = source.dependencies | index.dependencies
        return Number(data, source.dtype, index.shape, deps=deps, loads=source.loads, origin=source.origin)

    def _extreme(self, node: ast.Call, args: list[Value], keywords: Arguments) -> Value:
        numbers = [arg for arg in args if isinstance(arg, Number)]
        numbers += [v for k, v in keywords.items() if k in ("x", "y") and isinstance(v, Number)]
        if not numbers or len(numbers) < len(args):
            return self._unknown_call(node, args, keywords)
        if len(numbers) == 1:
            return self._reduce(node, called_name(node), args, keywords)
        self._mark_scalars(*numbers)
        result = numbers[0]
        fold = symbolic.minimum if called_name(node) in ("min", "minimum") else symbolic.maximum
        for other in numbers[1:]:
            dtype = promote(result.dtype, other.dtype)
            is_data = dtype.is_float and not (result.static and other.static)
            name, values = called_name(node), (result, other)
            poly = self._made(node, name, *values) if is_data else fold(result.poly, other.poly)
            if poly.atom is not None:
                self.trace.recipes.setdefault(poly.atom, (name, values))
            deps = result.dependencies | other.dependencies if is_data else result.deps | other.deps
            static = result.static and other.static
            result = Number(
                poly,
                dtype,
                broadcast(result.shape, other.shape),
                None,
                static,
                deps,
                result.loads | other.loads,
            )
        return result

    def _cdiv(self, node: ast.Call, args: list[Value], keywords: Arguments) -> Value:
        bound = _by_name(("x", "div"), args, keywords)
        left, right = bound.get("x", UNKNOWN_VALUE), bound.get("div", UNKNOWN_VALUE)
        if not (isinstance(left, Number) and isinstance(right, Number)):
            return Unknown(deps_of(left) | deps_of(right))
        self._mark_scalars(left, right)
        self._mark_integers(left, right)
        self._needs_constants(node, left, right)
        static = left.static and right.static
        return Number(
            symbolic.ceil_divide(left.poly, right.poly),
            promote(left.dtype, right.dtype),
            broadcast(left.shape, right.shape),
            None,
            static,
            left.deps | right.deps,
        )

    def _needs_constants(self, node: ast.Call, *numbers: Value) -> None:
        """`triton.cdiv` and its like are host functions: in a kernel they take constants only."""
        callee = _settled(self.evaluate(node.func))
        if self.recording and isinstance(callee, External) and callee.name.count(".") == 1:
            self.trace.constants += [one for one in numbers if isinstance(one, Number)]

    def _next_power(self, node: ast.Call, args: list[Value], keywords: Arguments) -> Value:
        self._needs_constants(node, *args)
        return self._compile_time("next_power_of_2", args)

    def _program_id(self, node: ast.Call, args: list[Value], keywords: Arguments) -> Value:
        axis = keywords.get("axis", args[0] if args else integer(0))
        number = axis.poly.integer if isinstance(axis, Number) else None
        kind = "pid" if called_name(node) == "program_id" else "programs"
        return Number(Poly.of(Atom(kind, number if number is not None else "?")), INT32)

    def _swizzle2d(self, node: ast.Call, args: list[Value], keywords: Arguments) -> Value:
        bound = _by_name(("i", "j", "size_i", "size_j", "size_g"), args, keywords)
        polys = tuple(v.poly if isinstance(v, Number) else ZERO for v in bound.values())
        deps = _all_deps(list(bound.values()))
        rows, columns = (
            Number(Poly.of(Atom(kind, *polys)), INT32, (), deps=deps) for kind in ("swizzle_i", "swizzle_j")
        )
        return Sequence((rows, columns))

    # --- shapes ---------------------------------------------------------------------------------
    def _expand_dims(self, node: ast.Call, args: list[Value], keywords: Arguments) -> Value:
        value = args[0] if args else UNKNOWN_VALUE
        axis = keywords.get("axis", args[1] if len(args) > 1 else UNKNOWN_VALUE)
        if not isinstance(value, Number) or value.shape is None:
            return Unknown(deps_of(value))
        axes = axis.items if isinstance(axis, Sequence) else (axis,)
        numbers = [item.poly.integer for item in axes if isinstance(item, Number)]
        rank = len(value.shape) + len(numbers)
        places = {number % rank for number in numbers if number is not None}
        return expanded(value, [i in places for i in range(rank)])

    def _broadcast_to(self, node: ast.Call, args: list[Value], keywords: Arguments) -> Value:
        value = args[0] if args else UNKNOWN_VALUE
        target = keywords.get("shape", args[1] if len(args) == 2 else Sequence(tuple(args[1:])))
        shape = self._shape(node, target, "tl.broadcast_to")
        return replace(value, shape=shape) if isinstance(value, Number) else Unknown(deps_of(value))

    def _broadcast(self, node: ast.Call, args: list[Value], keywords: Arguments) -> Value:
        numbers = [arg for arg in args if isinstance(arg, Number)]
        if len(numbers) != 2:
            return Unknown(_all_deps(args))
        shape = broadcast(numbers[0].shape, numbers[1].shape)
        return Sequence(tuple(replace(number, shape=shape) for number in numbers))

    def _reshape(self, node: ast.Call, args: list[Value], keywords: Arguments) -> Value:
        value = args[0] if args else UNKNOWN_VALUE
        target = keywords.get("shape", args[1] if len(args) == 2 else Sequence(tuple(args[1:])))
        shape = self._shape(node, target, "tl.reshape") if len(args) > 1 or "shape" in keywords else None
        if not isinstance(value, Number):
            return Unknown(deps_of(value))
        return self._scrambled(node, value, shape)

    def _scrambled(self, node: ast.AST, value: Number, shape: Shape | None) -> Number:
        """The same elements in another arrangement: which axis is which is lost."""
        if value.poly.constant is not None:
            return replace(value, shape=shape)
        formula = None
        if value.formula is not None:
            formula = Formula("opaque", Poly.of(Atom("reshaped", value.poly)))
        return replace(value, poly=Poly.of(Atom("reshaped", value.poly)), shape=shape, formula=formula)

    def _trans(self, node: ast.Call, args: list[Value], keywords: Arguments) -> Value:
        value = args[0] if args else UNKNOWN_VALUE
        if not isinstance(value, Number):
            return Unknown(deps_of(value))
        rest = args[1:] or [v for k, v in keywords.items() if k in ("dims", "order")]
        if len(rest) == 1 and isinstance(rest[0], Sequence):
            rest = list(rest[0].items)
        order = [item.poly.integer if isinstance(item, Number) else None for item in rest]
        if not order:
            return permuted(value, (1, 0))
        if None in order:
            return self._scrambled(node, value, None)
        return permuted(value, tuple(i for i in order if i is not None))

    def _split(self, node: ast.Call, args: list[Value], keywords: Arguments) -> Value:
        value = args[0] if args else UNKNOWN_VALUE
        if not isinstance(value, Number):
            return Unknown(deps_of(value))
        half = self._scrambled(node, value, value.shape[:-1] if value.shape else None)
        return Sequence((half, half))

    def _joined(self, node: ast.Call, args: list[Value], keywords: Arguments) -> Value:
        numbers = [arg for arg in args if isinstance(arg, Number)]
        dtype = numbers[0].dtype if numbers else UNKNOWN_DTYPE
        return Number(Poly.of(Atom("joined", self.site(node))), dtype, None, deps=_all_deps(args))

    # --- statements about the kernel ------------------------------------------------------------
    def _assume(self, node: ast.Call, args: list[Value], keywords: Arguments) -> Value:
        condition = args[0] if args else keywords.get("cond", UNKNOWN_VALUE)
        if called_name(node) == "static_assert":
            self._needs_static(node, "the condition of `tl.static_assert`", condition)
        formula = self.truth_of(condition)
        self.conditions.append(formula)
        if self.recording:
            self.trace.facts.append(formula)
        return NONE

    def _constexpr(self, node: ast.Call, args: list[Value], keywords: Arguments) -> Value:
        value = args[0] if args else UNKNOWN_VALUE
        return replace(value, static=True) if isinstance(value, Number) else value

    def _pointer_type(self, node: ast.Call, args: list[Value], keywords: Arguments) -> Value:
        return args[0] if args else UNKNOWN_VALUE

    def _nothing(self, node: ast.Call, args: list[Value], keywords: Arguments) -> Value:
        return NONE

    def _length(self, node: ast.Call, args: list[Value], keywords: Arguments) -> Value:
        value = args[0] if args else UNKNOWN_VALUE
        return integer(len(value.items)) if isinstance(value, Sequence) and value.exact else Unknown()

    def _to_number(self, node: ast.Call, args: list[Value], keywords: Arguments) -> Value:
        if (
            args
            and isinstance(args[0], Text)
            and args[0].value.strip("+-").lower() in ("inf", "infinity", "nan")
        ):
            return Number(Poly.of(Atom(args[0].value.strip("+").lower())), FP32, static=True)
        return args[0] if args else integer(0)

    def annotated(self, value: Value, annotation: ast.expr) -> Value:
        return value

    def stored_into(self, target: ast.Subscript | ast.Attribute, value: Value) -> None:
        return None


Handler = Callable[[DeviceEvaluator, ast.Call, list[Value], Arguments], Value]
_D = DeviceEvaluator
_HANDLERS: dict[str, Handler] = {
    "arange": _D._arange,
    "zeros": _D._full,
    "full": _D._full,
    "zeros_like": _D._like,
    "load": _D._load,
    "store": _D._store,
    "make_block_ptr": _D._make_block_ptr,
    "advance": _D._advance,
    "make_tensor_descriptor": _D._make_descriptor,
    "_experimental_make_tensor_descriptor": _D._make_descriptor,
    "load_tensor_descriptor": _D._descriptor_function,
    "store_tensor_descriptor": _D._descriptor_function,
    "_experimental_descriptor_load": _D._descriptor_function,
    "_experimental_descriptor_store": _D._descriptor_function,
    "dot": _D._dot,
    "dot_scaled": _D._dot_scaled,
    "where": _D._where,
    "gather": _D._gather,
    "min": _D._extreme,
    "max": _D._extreme,
    "minimum": _D._extreme,
    "maximum": _D._extreme,
    "cdiv": _D._cdiv,
    "next_power_of_2": _D._next_power,
    "program_id": _D._program_id,
    "num_programs": _D._program_id,
    "swizzle2d": _D._swizzle2d,
    "expand_dims": _D._expand_dims,
    "broadcast_to": _D._broadcast_to,
    "broadcast": _D._broadcast,
    "reshape": _D._reshape,
    "view": _D._reshape,
    "ravel": _D._reshape,
    "trans": _D._trans,
    "permute": _D._trans,
    "split": _D._split,
    "join": _D._joined,
    "cat": _D._joined,
    "interleave": _D._joined,
    "cast": _D._cast,
    "to": _D._cast,
    "assume": _D._assume,
    "static_assert": _D._assume,
    "device_assert": _D._assume,
    "constexpr": _D._constexpr,
    "pointer_type": _D._pointer_type,
    "static_print": _D._nothing,
    "device_print": _D._nothing,
    "print": _D._nothing,
    "debug_barrier": _D._nothing,
    "len": _D._length,
    "float": _D._to_number,
    "int": _D._to_number,
    "bool": _D._to_number,
}


# --- small pieces ---------------------------------------------------------------------------------
def _settled(value: Value) -> Value:
    """The one option that can be meant, where an import was guarded or a faster twin stands by."""
    if not isinstance(value, Choice):
        return value
    for option in value.options:  # `exp = libdevice.fast_expf if FAST else tl.exp`
        if isinstance(option, External) and option.name.removeprefix(TRITON_LANGUAGE).count(".") == 0:
            return option
    return option_of(value, External, KernelValue, Number, (BlockPointer, Descriptor))


def _library(name: str) -> Value:
    """A library's attribute; element types and infinities are values of their own."""
    if name.startswith(_LANGUAGES) or name.startswith(("torch.", "triton.language")):
        dtype = named(name.rsplit(".", 1)[-1])
        if dtype is not None:
            return TypeValue(dtype)
    if name in ("math.pi", "math.inf"):
        return Number(Poly.of(Atom(name)), FP32, static=True)
    return External(name)


def _by_name(order: tuple[str, ...], args: list[Value], keywords: Arguments) -> Arguments:
    bound = dict(zip(order, args, strict=False))
    bound.update(keywords)
    return {name: value if name == "mask" else _settled(value) for name, value in bound.items()}


def _dtype(value: Value | None) -> DType | None:
    """The type a dtype argument names; None where there is none or it cannot be told."""
    value = _settled(value) if value is not None else None
    if isinstance(value, TypeValue):
        return value.dtype
    if isinstance(value, Text):
        return named(value.value)
    if isinstance(value, Number) and value.poly.atom is not None and value.poly.atom.kind == "param":
        return DType(
            elements=frozenset((f"={value.poly.atom.args[0]}",))
        )  # a constexpr dtype, named at the launch
    return None


def _all_deps(values: list[Value]) -> frozenset[Atom]:
    return frozenset().union(*(deps_of(value) for value in values))


def _shapes(args: list[Value]) -> Shape | None:
    shape: Shape | None = ()
    for arg in args:
        if isinstance(arg, Number):
            shape = broadcast(shape, arg.shape)
    return shape


def _selection(formula: Formula, one: Number, two: Number) -> str:
    """`selected` where an equation keeps one lane and zeroes the rest: summing that rounds nothing."""
    if _has_equation(formula) and two.poly == ZERO:
        return "selected"
    return one.origin or two.origin


def _is_equation(value: Value) -> bool:
    """Whether a value is 1 where an equation holds and 0 elsewhere."""
    atom = value.poly.atom if isinstance(value, Number) else None
    return atom is not None and atom.kind == "truth" and _has_equation(atom.args[0])


def _has_equation(formula: Formula) -> bool:
    return any(part.kind == "eq" for part in formula.conjuncts())


def element_of_base(evaluator: DeviceEvaluator, base: Poly) -> DType:
    """The element type behind the pointer `base`."""
    name = evaluator.base_of(base)
    return element_of(name) if name else UNKNOWN_DTYPE


def opaque_number(evaluator: DeviceEvaluator, node: ast.AST, value: Value, salt: int = 0) -> Number:
    """A number nothing is known of, but for its dependencies."""
    return Number(Poly.of(Atom("unknown", evaluator.site(node), salt)), UNKNOWN_DTYPE, deps=deps_of(value))


def moved(poly: Poly, axis_of: Callable[[int], int]) -> Poly:
    """The expression after its tile axes (counted from the last) have moved."""
    lanes = [atom for atom in poly.closure if atom.kind == "arange" and axis_of(atom.args[2]) != atom.args[2]]
    return poly.substitute({a: Poly.of(Atom("arange", *a.args[:2], axis_of(a.args[2]))) for a in lanes})


def _rearranged(value: Number, shape: Shape | None, axis_of: Callable[[int], int]) -> Number:
    formula = value.formula.map(lambda poly: moved(poly, axis_of)) if value.formula is not None else None
    poly = moved(value.poly, axis_of)
    return Number(poly, value.dtype, shape, formula, value.static, value.deps, value.loads, value.origin)


def expanded(value: Number, new: list[bool]) -> Number:
    """The value with dimensions of extent 1 where `new` says so."""
    positions = [len(new) - 1 - i for i, is_new in enumerate(new) if not is_new]
    positions.reverse()  # positions[k]: where the k-th axis from the right goes
    shape: Shape | None = None
    if value.shape is not None:
        dims = list(value.shape)
        shape = tuple(ONE if is_new else (dims.pop(0) if dims else ONE) for is_new in new)
    return _rearranged(value, shape, lambda axis: positions[axis] if axis < len(positions) else axis)


def permuted(value: Number, order: tuple[int, ...]) -> Number:
    """The value with its axes in another order: result axis `i` is axis `order[i]` of the value."""
    rank = len(order)
    if value.shape is not None and len(value.shape) != rank:
        if len(value.shape) < 2:
            return value
        order = (*range(len(value.shape) - 2), len(value.shape) - 1, len(value.shape) - 2)
        rank = len(order)
    target = {rank - 1 - (source % rank): rank - 1 - place for place, source in enumerate(order)}
    shape = tuple(value.shape[source % rank] for source in order) if value.shape is not None else None
    return _rearranged(value, shape, lambda axis: target.get(axis, axis))


_ = assigned_names
