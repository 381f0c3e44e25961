"""Half precision: which values are, as the kernel or its launches show, and which sums round."""

from __future__ import annotations

import ast
import enum
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tritonlint.model.dtypes import DType, element_of
from tritonlint.model.evaluator import called_name
from tritonlint.model.exposure import base_of
from tritonlint.model.facts import are_equal, resolved
from tritonlint.model.kernel import Kernel, as_callers_make_it, as_the_project_calls_it, launches_of
from tritonlint.model.records import Access, Accumulation, Definition, Dot, Reduction, Trace, Where
from tritonlint.model.symbolic import ONE, Poly
from tritonlint.model.values import Choice, Number, Tensor, TypeValue, Value
from tritonlint.syntax import mentions, walk

if TYPE_CHECKING:
    from tritonlint.model.launch import Launch

_KEPT_WIDE = re.compile(
    r"(^|_)(part(ial)?s?|probs?|sums?|sq|lse|stats?|mean|rstd|moments?|amax|mix|workspace|acc|scratch|"
    r"lens?|lengths?|seqlens?|counts?|cnts?|nums?|sizes?|ids?|idxs?|ind(ex|ices)|indptr|offs(ets?)?|slots?|locs?|pos|positions?|"
    r"masked_m|masks?|table|labels?|targets?)(_|\d|$)|Probs?$|[Pp]artial",
    re.IGNORECASE,
)
"""Partial results, which kernels keep in float32 between them, and whole numbers."""
_EXPERTS_OF_A_TOKEN = re.compile(r"(^|_)(n|num)?_?top_?k(_|$)|experts_per_tok", re.IGNORECASE)
FEW = 8
"""So many terms lose at most three bits more than one."""
HALF = frozenset(("fp16", "bf16"))


class Halfness(enum.Enum):
    """How sure it is that a type is float16 or bfloat16."""

    SHOWN = "shown"
    """The kernel says so, or a launch does."""
    EXPECTED = "expected"
    """Open, but the kernel is written for it: it widens loads, or casts results back."""
    OPEN = "open"
    NO = "no"


def halfness(
    dtype: DType, trace: Trace, launches: tuple[Launch, ...], *, presumed: bool = False
) -> tuple[Halfness, Launch | None]:
    """Whether values of a type are half, and the launch that shows it.

    `presumed`: what callers pass is taken for half where nothing says otherwise, as it is in practice; what
    the host allocates, views or looks up is not, since it may be of any type.
    """
    if dtype.is_known:
        return (Halfness.SHOWN if dtype.is_half else Halfness.NO), None
    dtype = DType(elements=dtype.elements - trace.integers)
    if any(wide <= dtype.elements for wide in trace.wide):
        return Halfness.NO, None
    if not dtype.elements:
        return Halfness.OPEN, None
    answers = [(_at_launch(dtype, launch), launch) for launch in launches]
    for answer, launch in answers:
        if answer is Halfness.SHOWN:
            return answer, launch
    if answers and all(answer is Halfness.NO for answer, _ in answers):
        return Halfness.NO, None
    seen = [(_at_launch(dtype, view), view) for launch in launches for view in as_callers_make_it(launch)]
    for answer, view in seen:
        if answer is Halfness.SHOWN:
            return answer, view
    if seen and all(answer is Halfness.NO for answer, _ in seen):
        return Halfness.OPEN, None  # others may call with another type
    if any(name.startswith("=") for name in dtype.elements):
        return Halfness.OPEN, None  # the caller chooses the type, and knows why
    if _is_workspace(dtype, trace, launches) or any(_KEPT_WIDE.search(name) for name in dtype.elements):
        return Halfness.OPEN, None
    expected = (
        expects_half(trace, dtype)
        or _writes_wider(trace, launches)
        or (presumed and any(_is_passed_in(dtype, launch) for launch in launches))
    )
    calls = [call for launch in launches for call in as_the_project_calls_it(launch)] if expected else []
    if calls and all(_at_launch(dtype, call) is Halfness.NO for call in calls):
        expected = False
    return (Halfness.EXPECTED if expected else Halfness.OPEN), None


def _is_passed_in(dtype: DType, launch: Launch) -> bool:
    """Whether a type depends on nothing but tensors that the caller of the host function passed."""
    tensors = [launch.tensor(name) for name in dtype.elements]
    return all(tensor is not None and tensor.origin == "input" for tensor in tensors)


def _is_workspace(dtype: DType, trace: Trace, launches: tuple[Launch, ...]) -> bool:
    """Whether a kernel keeps its float32 sums in what it reads here, cast for other outputs only."""
    cast_to = {name for cast in trace.casts if cast.value.origin for name in cast.dtype.elements}
    if not cast_to - dtype.elements:
        return False
    kept = dtype.elements - cast_to
    return any(
        base in kept
        and isinstance(access.value, Number)
        and access.value.dtype.is_wide
        and access.value.origin
        for base, access in _writes(trace, launches)
    )


def _writes_wider(trace: Trace, launches: tuple[Launch, ...]) -> bool:
    """Whether launches allocate float32 for what the kernel writes, as one does for half inputs."""
    tensors = (launch.tensor(base) for base, _ in _writes(trace, launches) for launch in launches)
    return any(
        tensor is not None and tensor.origin == "fresh" and tensor.dtype.name == "fp32" for tensor in tensors
    )


def _writes(trace: Trace, launches: tuple[Launch, ...]) -> Iterator[tuple[str, Access]]:
    """What a kernel writes, and to which of its pointers."""
    for access in trace.accesses:
        base = base_of(access.address.poly, trace, launches) if access.is_write else None
        if base is not None:
            yield base, access


def _at_launch(dtype: DType, launch: Launch) -> Halfness:
    """What a launch's tensors say of a type that depends on them. One float32 operand widens all."""
    answers = {_parameter_type(name, launch) for name in dtype.elements}
    if any(names and not names & HALF for names in answers):
        return Halfness.NO
    if answers and all(names and names <= HALF for names in answers):
        return Halfness.SHOWN
    return Halfness.OPEN


def _parameter_type(name: str, launch: Launch) -> frozenset[str]:
    """The element types a launch may give a pointer parameter (`=name`: a type passed as argument)."""
    if name.startswith("="):
        argument = launch.arguments.get(name[1:])
        return _named_types(argument.value) if argument is not None else frozenset()
    tensor = launch.tensor(name)
    return _tensor_type(tensor, launch) if tensor is not None else frozenset()


def _named_types(value: Value) -> frozenset[str]:
    """The types a dtype argument can name; empty where one cannot be told."""
    if isinstance(value, TypeValue):
        return frozenset((value.dtype.name,)) if value.dtype.name else frozenset()
    if isinstance(value, Choice):
        parts = [_named_types(option) for option in value.options]
        return frozenset().union(*parts) if all(parts) else frozenset()
    return frozenset()


def _tensor_type(tensor: Tensor, launch: Launch) -> frozenset[str]:
    if tensor.dtype.name:
        return frozenset((tensor.dtype.name,))
    learned = launch.module.host(launch.function).learned
    keys = tensor.dtype.elements or {tensor.key}
    found: set[str] = set()
    for key in {*keys, tensor.key, tensor.key.split(".")[0]}:
        found |= learned.get(key, set())
    return frozenset(found)


def expects_half(trace: Trace, dtype: DType) -> bool:
    """Whether a kernel is written for half inputs: it widens loads or casts results back.

    A value of the very type in question that is cast to another's shows nothing: it may be the wider one.
    """
    for cast in trace.casts:
        widens = cast.dtype.name == "fp32" and cast.value.dtype.elements & dtype.elements
        own = bool(cast.value.dtype.elements) and cast.value.dtype.elements <= dtype.elements
        narrows = (
            cast.dtype.elements and cast.value.origin and (not own or cast.dtype.elements <= dtype.elements)
        )
        if widens or narrows:
            return True
    return False


@dataclass(frozen=True)
class HalfSum:
    """A sum in half precision. `kind` is accumulator, dot, atomic, reduction or addend.

    `is_short`: of a few terms, such as the experts of a token. `is_per_tile`: each product is summed in half,
    and these sums are added up in float32; `is_promoted`: by a cast that is written out.
    """

    kind: str
    where: Where
    at: Where
    dtype: DType
    halfness: Halfness
    launch: Launch | None
    name: str
    is_short: bool = False
    is_per_tile: bool = False
    is_promoted: bool = False


def feeds_a_product(item: HalfSum) -> bool:
    """Whether what a product gives goes, without a cast, into an operand of another one."""
    nodes, derived = item.where.function.nodes, set[str]()
    statements = [node for node in nodes if isinstance(node, ast.Assign)]
    for _ in statements:
        known = len(derived)
        for statement in statements:
            own = any(node in (item.where.node, item.at.node) for node in ast.walk(statement))
            if own or any(mentions(statement.value, name) for name in derived):
                derived |= {target.id for target in statement.targets if isinstance(target, ast.Name)}
        if len(derived) == known:
            break
    products = [node for node in nodes if isinstance(node, ast.Call) and called_name(node) == "dot"]
    return any(
        mentions(operand, name)
        for call in products
        for operand in call.args[:2]
        if not (isinstance(operand, ast.Call) and called_name(operand) == "to")
        for name in derived
    )


def half_accumulators(kernel: Kernel) -> Iterator[HalfSum]:
    """Loop-carried sums, dots and atomics of the kernel's own body that add up in half."""
    for trace in kernel.traces:
        launches = launches_of(trace.root)
        yield from _carried(kernel, trace, launches)
        yield from _dots(kernel, trace, launches)
        yield from _atomics(kernel, trace, launches)


def _carried(kernel: Kernel, trace: Trace, launches: tuple[Launch, ...]) -> Iterator[HalfSum]:
    for item in trace.accumulations:
        for start in _starts(item.start, trace) if item.carried else ():
            before = item.before.dtype
            if not kernel.mine(start.where) or before.literal:
                continue
            wide = item.added.dtype.is_wide or item.after.dtype.is_wide
            if start.dtype.is_half:
                if wide and item.unrolled:
                    continue  # the name takes the wider type at the first addition
                before = start.dtype  # what is added may be wider: the author chose half all the same
            elif wide or not _is_own_type(before) or not _may_be_float(item.added, trace):
                continue
            answer, launch = halfness(before, trace, launches)
            if answer is not Halfness.NO:
                short = _is_over_a_few(item)
                yield HalfSum(
                    "accumulator", start.where, item.where, before, answer, launch, item.name, short
                )


def _is_over_a_few(item: Accumulation) -> bool:
    """Whether a sum has a handful of terms: by a literal, or one for each expert of a token."""
    return bool(item.loops) and all(_is_a_few(loop.stop - loop.start) for loop in item.loops)


def _is_a_few(trips: Poly) -> bool:
    number, atom = trips.integer, trips.atom
    if number is not None:
        return number <= FEW
    return (
        atom is not None
        and atom.kind == "param"
        and _EXPERTS_OF_A_TOKEN.search(str(atom.args[0])) is not None
    )


def _starts(start: Definition | None, trace: Trace) -> Iterator[Definition]:
    """What an accumulator starts with, and what it is reset to in a loop: `acc = tl.zeros(...)` again."""
    if start is None:
        return
    yield start
    for other in trace.assignments:
        value, where = other.value, other.where
        same = other.name == start.name and where.function is start.where.function
        if not (same and other.loops and isinstance(value, Number)) or where.node is start.where.node:
            continue
        if value.dtype.is_half and value.poly.constant is not None:
            yield Definition(where, value.dtype, start.name)


def _is_own_type(dtype: DType) -> bool:
    return dtype.is_half or bool(dtype.elements)


def _may_be_float(value: Number, trace: Trace) -> bool:
    """Whether what is added is no integer: loads with an integer `other` are taken as integers."""
    if value.dtype.is_known:
        return value.dtype.is_float
    for index in value.loads:
        access = trace.accesses[index] if index < len(trace.accesses) else None
        other = access.other if access is not None else None
        if isinstance(other, Number) and other.dtype.is_integer and other.poly.constant != 0:
            return False
        if isinstance(other, Number) and other.dtype.is_float:
            return True
    return bool(value.dtype.elements - trace.integers)


def _dots(kernel: Kernel, trace: Trace, launches: tuple[Launch, ...]) -> Iterator[HalfSum]:
    summed = {
        id(item.added_node)
        for item in trace.accumulations
        if item.carried and item.start is not None and item.start.dtype.is_half
    }
    wider = [i.added_node for i in trace.accumulations if i.carried and i.before.dtype.is_wide]
    added = {id(node) for tree in wider for node in walk(tree)}
    products = {id(dot.where.node) for dot in trace.dots}
    pairs = [(dot, start) for dot in trace.dots for start in tuple(_starts(dot.start, trace)) or (None,)]
    for dot, start in pairs:
        where = start.where if start is not None else dot.where
        dtype = _sum_type(dot, start)
        if dtype is None or not kernel.mine(where) or id(dot.where.node) in summed:
            continue
        if start is not None and any(id(node) in products for node in walk(where.node)):
            continue  # it goes on with another product, which is spoken of itself
        answer, launch = halfness(dtype, trace, launches)
        if answer is not Halfness.NO:
            per_tile = start is None and id(dot.where.node) in added
            yield HalfSum(
                "dot",
                where,
                dot.where,
                dtype,
                answer,
                launch,
                "",
                is_per_tile=per_tile,
                is_promoted=_is_promoted(where, wider),
            )


def _is_promoted(where: Where, wider: list[ast.AST]) -> bool:
    """Whether the product of one tile is among what is cast and added up `wider`: `acc += part.to(...)`."""
    held = {
        target.id
        for statement in where.function.nodes
        if isinstance(statement, ast.Assign) and any(node is where.node for node in walk(statement.value))
        for target in statement.targets
        if isinstance(target, ast.Name)
    }
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "to"
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id in held
        for node in wider
    )


def _sum_type(dot: Dot, start: Definition | None) -> DType | None:
    """The type in which a product is summed, where that is or may be half."""
    if start is not None and start.dtype.is_half:
        return start.dtype  # whatever `out_dtype` says
    if _is_own_type(dot.result.dtype):
        return dot.result.dtype
    acc = dot.acc.dtype if isinstance(dot.acc, Number) else None
    if acc is not None and _is_own_type(acc) and dot.out_dtype is None:
        return acc  # from Triton 3.8 `out_dtype` follows `acc`
    return None


def _atomics(kernel: Kernel, trace: Trace, launches: tuple[Launch, ...]) -> Iterator[HalfSum]:
    for access in trace.accesses:
        if access.kind != "atomic_add" or not kernel.mine(access.where):
            continue
        base = base_of(access.address.poly, trace, launches)
        if base is None:
            continue
        answer, launch = halfness(element_of(base), trace, launches)
        if answer is Halfness.SHOWN:
            yield HalfSum("atomic", access.where, access.where, element_of(base), answer, launch, base)


def half_reductions(kernel: Kernel) -> Iterator[HalfSum]:
    """`tl.sum`s over half operands, and half results of arithmetic added to a wider sum."""
    for trace in kernel.traces:
        launches = launches_of(trace.root)
        for item in trace.reductions:
            if (
                item.op not in ("sum", "cumsum")
                or not kernel.mine(item.where)
                or item.operand.formula is not None
            ):
                continue
            if item.dtype is not None or item.operand.origin == "selected" or _adds_nothing(item):
                continue
            if not _may_be_float(item.operand, trace):
                continue
            answer, launch = halfness(item.operand.dtype, trace, launches, presumed=True)
            if answer is not Halfness.NO:
                yield HalfSum(
                    "reduction", item.where, item.where, item.operand.dtype, answer, launch, f"tl.{item.op}"
                )
        yield from _addends(kernel, trace, launches)


def _adds_nothing(item: Reduction) -> bool:
    """Whether the reduced axis has one element, by its shape or by the branch around."""
    return item.extent is not None and are_equal(item.extent, ONE, resolved(item.conditions))


def _addends(kernel: Kernel, trace: Trace, launches: tuple[Launch, ...]) -> Iterator[HalfSum]:
    for item in trace.accumulations:
        if (
            not kernel.mine(item.where)
            or item.before.dtype.name != "fp32"
            or not item.added.origin
            or not item.carried
            or any(dot.where.node is item.added_node for dot in trace.dots)
        ):
            continue
        if item.before.dtype.literal or not _may_be_float(item.added, trace):
            continue
        answer, launch = halfness(item.added.dtype, trace, launches, presumed=True)
        if answer is not Halfness.NO:
            yield HalfSum("addend", item.where, item.where, item.added.dtype, answer, launch, item.name)
