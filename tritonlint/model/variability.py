"""Which host values change from call to call, and which stay what the model's shape made them.

Sizes are judged by what they are (a leading axis, a count of elements, a length of a list); names on
the host only raise a leaning, and names of kernel parameters say nothing.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeGuard

from tritonlint.finding import Confidence
from tritonlint.model.evaluator import written
from tritonlint.model.facts import possible_values, resolved
from tritonlint.model.kernel import as_the_project_calls_it
from tritonlint.model.symbolic import Atom, Poly
from tritonlint.model.values import Number, Tensor, Value
from tritonlint.syntax import walk

if TYPE_CHECKING:
    from tritonlint.model.launch import Argument, Launch

_VARYING = re.compile(
    r"(^|_)(n_?ctx|(seq|kv|cache|ctx|context|query|prompt)_?len(s|gth)?|lengths?|seqlens?|batch|batch_?size|bsz|bs|nnz|numel|tokens?|"
    r"(num|n|nr|total|valid)_?(tokens?|toks?|reqs?|requests?|seqs|sequences|rows|elements|elems|tasks))(_[qkv])?(_|$)",
    re.IGNORECASE,
)
_SEQUENCE = re.compile(r"(?<![\w.])[NM]?[TL](?!\w)")
"""The letters that papers give a sequence's length, and the number of chunks it is cut into."""
_FIXED = re.compile(
    r"block|heads?($|_)|experts?|return|max_model|max_position|top_?k|^(has|use|is)_|_size_(m|n|k)$|per_|"
    r"draft|speculative|max_(num|elem)|capacity|static",
    re.IGNORECASE,
)
_COUNT_OF_CALL = re.compile(
    r"^((n|num|total|nr)_?(tokens|rows|elements|elems|seqs|reqs|requests)|n?_?numel|seq_?lens?(_[qkv])?"
    r"|batch(_size)?|bsz?|n_?ctx(_[qkv])?|max_seq_?len)$",
    re.IGNORECASE,
)
_MODEL_LETTER = re.compile(r"^(H[QKV]?|K|V|D[KV]?|C|G|NH|in_h|in_w|dim)$", re.IGNORECASE)
_CHANNELS = re.compile(
    r"^(self\.)?(n_?)?(dim|d_?model|hidden(_size|_dim)?|channels?|embed_dim|features|width)$"
)
"""What a host calls the axis that the model fixes, wherever it stands."""
_RATE = re.compile(r"(^|[^a-z])(lr|learning_rate)([^a-z]|$)", re.IGNORECASE)
_ROWS = re.compile(r"(^|_)(n_?)?(rows?|tokens?|batch(es)?|samples?)(_|$)|^(B|BS|M|N|T|L|S)$", re.IGNORECASE)
"""What a kernel calls an axis in front of others that grows with its input."""
_COUNT_OF_MODEL = re.compile(
    r"(^|_)(n|num|nr|local)_?((local|kv?|q)_)?(experts?|heads|layers|channels)(_|$)|^[NH]?_?EXPERTS?$|^NUM_E$"
    r"|draft|(^|_)spec(ulative)?(_|$)|(^|_)static(_|$)|^NV$|^heads$|^world(_size)?$|pool|max_cache|cache_(rows|lines)|table_rows",
    re.IGNORECASE,
)
"""What is called so is counted when the model is built, whatever tensor tells it."""
_WEIGHT = re.compile(
    r"(^|[._])(w|b|wt|q?weights?|bias|code|gamma|beta|embed\w*|table|codebook|centroids?|kernel|filters?|param\w*|cos|sin|scales?|lora\w*)"
    r"(\d*)($|[._\[@])",
    re.IGNORECASE,
)
_GROUPS = re.compile(r"offs|offset|expert|group|rank|flag|barrier|slice_sizes", re.IGNORECASE)
"""Vectors with an entry for each group, expert or device: their length belongs to the model."""
_POOL = re.compile(
    r"cache|pool|paged|pages|(conv|ssm)_?states?|req_to_token|table|history|stash", re.IGNORECASE
)
"""Memory handed out in blocks: all axes but the first are laid down when it is allocated."""
_OWNED = re.compile(r"^self\.")
"""Buffers of a long-lived object keep their sizes."""
_LENGTH_OF_OWN = re.compile(r"\blen\(self\.\w+\)")
_AXIS = re.compile(r"\.(shape\[|size\()")
_RANK_LIKE = re.compile(r"shape|size|dims?$|ndim|kernel", re.IGNORECASE)
_SIZES = frozenset(("dim", "numel", "hostparam", "config", "len"))
_BUCKETED = frozenset(("pow2ceil", "truth", "mod", "environment", "typeattr", "rank"))
FEW = 64
"""A size that cannot pass this has few values."""
COARSE = 4096
"""A quotient by more than this changes so seldom that it is a bucket."""


@dataclass(frozen=True)
class Variation:
    """Why a host value changes from call to call. `causes` are the sizes behind it."""

    reason: str
    causes: frozenset[Atom]
    confidence: Confidence
    kind: str = "size"
    """`size`, `stride`, `loop` or `rate`."""
    is_quotient: bool = False


def variation_of(name: str, launch: Launch) -> Variation | None:
    """Why what a launch gives a parameter varies; None where it is static or nothing is known.

    A leading axis that is 1 or a weight's in every call that the project makes may still vary for those
    who import the function: what is known of it is LOW.
    """
    variation = _variation(launch.arguments[name], launch)
    if variation is None or variation.confidence is Confidence.LOW:
        return variation
    calls = [call for call in as_the_project_calls_it(launch) if name in call.arguments]
    if calls and all(_is_settled(call.arguments[name].value, call) for call in calls):
        return replace(variation, confidence=Confidence.LOW)
    return variation


def _is_settled(value: Value, launch: Launch) -> bool:
    """Whether a number is constant, or made of nothing but the axes of weights."""
    if not isinstance(value, Number):
        return False
    sizes = value.poly.closure
    return all(atom.kind == "dim" and _is_weight(str(atom.args[0]), launch) for atom in sizes)


def _variation(argument: Argument, launch: Launch) -> Variation | None:
    value = argument.value
    if isinstance(value, Tensor) and not value.sure:
        poly = Poly.of(Atom("hostparam", value.key))
    elif isinstance(value, Number):
        poly = value.poly
    else:
        return None
    if possible_values(poly, launch.facts) is not None or _is_static_name(argument, launch):
        return None
    names = {*_parameters_of(poly, launch), *re.findall(r"\w+", _words(argument.node))}
    if any(_COUNT_OF_MODEL.search(name) for name in names):
        return None
    node = argument.node if argument.node is not launch.node else ast.Pass()  # the call tells no name
    return _of_poly(poly, node, launch)


def _is_static_name(argument: Argument, launch: Launch) -> bool:
    names = {node.id for node in walk(argument.node) if isinstance(node, ast.Name)}
    owned = isinstance(argument.node, ast.Call | ast.Subscript) and _OWNED.match(ast.unparse(argument.node))
    return bool(owned or names & set(launch.module.policy.static_names))


def _of_poly(poly: Poly, node: ast.AST, launch: Launch) -> Variation | None:
    if _is_ratio(poly.atom) or _is_leading_and_columns(poly, launch):
        return None
    found: list[Variation] = []
    for atom in sorted(poly.surface - _pieces(poly), key=lambda item: (item.kind, repr(item))):
        variation = _of_atom(atom, node, launch)
        if variation is not None:
            factors = max(len(monomial) for monomial in poly.terms if atom in monomial)
            product = f"a product with {variation.reason}" if factors > 1 else variation.reason
            found.append(replace(variation, reason=product))
    if not found:
        return None
    best = max(found, key=lambda item: item.confidence.rank)
    causes = frozenset().union(*(item.causes for item in found))
    quotient = any(item.is_quotient for item in found)
    return Variation(best.reason, causes, best.confidence, best.kind, quotient)


def _pieces(poly: Poly) -> frozenset[Atom]:
    """What cancels to the length of a piece in `min(n, i + step) - i`: the step, but for the last piece."""
    found: set[Atom] = set()
    for atom in poly.surface:
        if atom.kind != "min":
            continue
        for start in poly.surface:
            cut = any(start in option.surface for option in atom.args[0])
            if start.kind == "loopvar" and cut and poly.coefficient(start) == -poly.coefficient(atom):
                found |= {atom, start}
    return frozenset(found)


def _is_rest_of_a_tensor(atom: Atom, launch: Launch) -> bool:
    """`x.numel() // x.shape[0]`: what is left of a tensor without its leading axis, or without another's.

    So is what is left after a size of another tensor for which there is a program each: the tokens. Of a
    weight, the leading axis counts widths.
    """
    if atom.kind != "floordiv":
        return False
    keys = {a.args[0] for a in atom.args[0].closure if a.kind == "numel"}
    sizes = [a for a in atom.args[1].closure if a.kind == "dim"]
    return bool(keys) and any(
        _is_leading(size, launch) or (size.args[0] not in keys and _has_a_program_each(size, launch))
        for size in sizes
    )


def _is_leading(size: Atom, launch: Launch) -> bool:
    return size.args[1] == 0 and not _is_weight(str(size.args[0]), launch)


def _is_ratio(atom: Atom | None) -> bool:
    """`heads // kv_heads`: inner axes of two tensors, one by the other."""
    if atom is None or atom.kind not in ("floordiv", "cdiv"):
        return False
    over, under = (part.atom for part in atom.args[:2])
    return _is_inner(over) and _is_inner(under) and over.args[0] != under.args[0]


def _is_inner(atom: Atom | None) -> TypeGuard[Atom]:
    return atom is not None and atom.kind == "dim" and atom.args[1] != 0


def _is_divided_into_groups(atom: Atom, launch: Launch) -> bool:
    """Whether a size is also the upper half of a ratio: a number of heads."""
    return any(
        _is_ratio(other) and other.args[0] == Poly.of(atom)
        for argument in launch.arguments.values()
        if isinstance(argument.value, Number)
        for other in argument.value.poly.closure
    )


def _is_leading_and_columns(poly: Poly, launch: Launch) -> bool:
    """`packed.shape[0] * 32 // bits` as the columns of an output: the tensor is a packed weight."""
    sizes = {atom for atom in poly.closure if atom.kind == "dim"}
    if not sizes or any(atom.args[1] != 0 for atom in sizes):
        return False
    return any(not sizes & rows.closure for rows in _rows_over(poly, launch))


def _rows_over(columns: Poly, launch: Launch) -> Iterator[Poly]:
    """The numbers of rows of the launch's matrices that have this many columns."""
    for argument in launch.arguments.values():
        value = argument.value
        if isinstance(value, Tensor) and value.dims is not None and value.dims[1:] == (columns,):
            yield value.dims[0]


def _of_atom(atom: Atom, node: ast.AST, launch: Launch) -> Variation | None:
    kind = atom.kind
    if kind in _BUCKETED or _has_few_values(atom, launch):
        return None
    if kind == "numel":
        return _of_count(atom, launch)
    if kind == "len":
        if _RANK_LIKE.search(str(atom.args[0])) or _LENGTH_OF_OWN.search(_words(node)):
            return None
        return _varies(atom, "the length of a list", Confidence.HIGH)
    if kind == "extreme" and str(atom.args[1]) != "items":
        return _varies(atom, f"the {atom.args[0]} of `{atom.args[1]}`", Confidence.HIGH)
    if kind == "item":
        truth_value = re.search(r"\b(any|all)\b|is_", str(atom.args[0]))
        return None if truth_value else _varies(atom, "a value read back from the device", Confidence.HIGH)
    if kind == "loopvar":
        return _of_loop_variable(atom, node, launch)
    if kind == "dim":
        return _of_dim(atom, node, launch)
    if kind == "stride":
        return _of_stride(atom, node, launch)
    if kind in ("hostparam", "config"):
        return _of_name(atom, node)
    if kind in ("cdiv", "floordiv"):
        return _of_quotient(atom, node, launch)
    if kind in ("min", "max", "either"):
        return _of_extreme(atom, node, launch)
    return None


def _has_few_values(atom: Atom, launch: Launch) -> bool:
    """Whether the launch is only made where a size, or a product with it, is small."""
    for fact in resolved(launch.facts):
        bound = fact.poly.terms.get((), 0) if fact.kind == "ge" else 0
        if 0 < bound <= FEW and any(
            factor < 0 and atom in monomial and all(other.kind in _SIZES for other in monomial)
            for monomial, factor in fact.poly.terms.items()
        ):
            rest = [factor for monomial, factor in fact.poly.terms.items() if monomial]
            return all(factor < 0 for factor in rest)
    return False


def _of_extreme(atom: Atom, node: ast.AST, launch: Launch) -> Variation | None:
    """`min(n, 65536)` and `n if dense else 0` vary as `n` does; a low bound leaves few values."""
    numbers = [poly.integer for poly in atom.args[0]]
    if atom.kind == "min" and any(number is not None and number <= FEW for number in numbers):
        return None
    if atom.kind == "either" and any(number is not None and number > 1 for number in numbers):
        return None  # a bucket for all that is larger
    parts = [_of_poly(poly, node, launch) for poly in sorted(atom.args[0], key=repr) if poly.constant is None]
    found = [part for part in parts if part is not None]
    if atom.kind == "min" and len(found) < len(parts):
        return None  # what it is cut to does not vary, and most calls reach it
    best = max(found, key=lambda part: part.confidence.rank, default=None)
    if best is not None and atom.kind == "either":
        return replace(best, confidence=Confidence.MEDIUM) if len(found) == len(parts) else None
    return best


def _varies(atom: Atom, reason: str, confidence: Confidence, kind: str = "size") -> Variation:
    return Variation(reason, frozenset((atom,)), confidence, kind)


def _of_quotient(atom: Atom, node: ast.AST, launch: Launch) -> Variation | None:
    if _is_rest_of_a_tensor(atom, launch):
        return None
    inner = _of_poly(atom.args[0], node, launch)
    divisor = atom.args[1].integer
    if inner is None or (divisor is not None and divisor >= COARSE):
        return None
    reason = inner.reason if inner.is_quotient else f"a quotient of {inner.reason}"
    by = _of_poly(atom.args[1], ast.Pass(), launch) if divisor is None else None
    each = by is not None and by.confidence is not Confidence.LOW  # `tokens // requests`: so many for each
    sure = Confidence.LOW if each or _keeps_no_rows(atom, launch) else inner.confidence
    return Variation(reason, inner.causes, sure, inner.kind, is_quotient=True)


def _keeps_no_rows(quotient: Atom, launch: Launch) -> bool:
    """Whether the elements of a tensor are divided by one of its axes that is not the last.

    What is left may be widths and heads, with the tokens divided out.
    """
    whole, by = quotient.args[0].atom, quotient.args[1].atom
    if whole is None or by is None or (whole.kind, by.kind) != ("numel", "dim"):
        return False
    axis, rank = by.args[1], rank_of(str(by.args[0]), launch)
    return axis != -1 and not (rank is not None and axis == rank - 1)


def _of_count(atom: Atom, launch: Launch) -> Variation | None:
    key = str(atom.args[0])
    name = _called(key, launch)
    if _POOL.search(name) and not _counts_programs(atom, launch):
        return None
    if re.search(r"\[\d+\]$|\)$", name) or _is_weight(key, launch) or _is_width(atom, launch):
        return None
    is_vector = rank_of(key, launch) in (None, 1)
    if (is_vector and _GROUPS.search(name)) or _OWNED.match(key):
        return None
    counted = _counts_programs(atom, launch)
    sure = Confidence.HIGH if counted else Confidence.MEDIUM
    return _varies(atom, f"the number of elements of `{name}`", sure)


def _of_loop_variable(atom: Atom, node: ast.AST, launch: Launch) -> Variation | None:
    """A loop variable varies as its bounds do; an unknown collection counts as varying."""
    bounds = atom.args[0]
    if bounds and all(_is_fixed(bound, launch) for bound in bounds):
        return None
    return _varies(atom, "a loop variable", Confidence.MEDIUM, "loop")


def _is_fixed(bound: Poly, launch: Launch) -> bool:
    """Whether a loop bound is a constant, an element's size, or a width that the model fixes."""
    for atom in bound.closure:
        if atom.kind == "dim":
            rank = rank_of(str(atom.args[0]), launch)
            inner = atom.args[1] == -1 or (rank is not None and rank > 1 and atom.args[1] == rank - 1)
            if not inner and not (rank is not None and rank >= 4 and atom.args[1] == 2):
                return False
        elif atom.kind not in ("itemsize", "typeattr", "config", "cdiv", "floordiv", "min", "max", "rank"):
            return False
    return True


def rank_of(key: str, launch: Launch) -> int | None:
    """The number of axes of a host tensor, where an unpacking, an allocation or an assert told."""
    host = launch.module.host(launch.function)
    known = host.ranks.get(key)
    if known is None:
        values = possible_values(Poly.of(Atom("rank", key)), launch.facts)
        known = next(iter(values)) if values is not None and len(values) == 1 else None
    return known


def _of_dim(atom: Atom, node: ast.AST, launch: Launch) -> Variation | None:
    """A leading axis, or an inner one that the grid cuts into tiles or whose name says so."""
    key, axis = str(atom.args[0]), atom.args[1]
    rank = rank_of(key, launch)
    if not isinstance(axis, int) or _is_weight(key, launch) or _is_width(atom, launch):
        return None
    if _is_divided_into_groups(atom, launch) or _OWNED.match(key):
        return None
    if any(_COUNT_OF_MODEL.search(one) for one in _parameters_of(Poly.of(atom), launch)):
        return None
    name = _called(key, launch)
    if (axis != 0 and _POOL.search(name)) or _CHANNELS.search(_words(node)):
        return None
    if axis != 0 and any(_CHANNELS.search(other) for other in _parameters_of(Poly.of(atom), launch)):
        return None
    if axis == -1 or (rank is not None and rank > 1 and axis == rank - 1):
        return None
    counted = _counts_programs(atom, launch)
    if axis == 0:
        reason = f"the leading axis of `{name}`"
        if _POOL.search(name) and not counted:
            return _varies(atom, reason, Confidence.LOW)  # its pages, or the requests it holds
        if _is_packed(launch):
            return _varies(atom, reason, Confidence.LOW)  # one batch, unless it counts the tokens
        if counted or is_named(node):
            return _varies(atom, reason, Confidence.HIGH)
        if rank is None or rank < 2:
            return None
        rows = any(_ROWS.search(name) for name in _parameters_of(Poly.of(atom), launch))
        return _varies(atom, reason, Confidence.MEDIUM if rows else Confidence.LOW)
    tiled = rank is not None and rank >= 3 and _is_tiled(atom, launch)
    if (is_named(node) and not _is_bare_size(node)) or (tiled and not _FIXED.search(_words(node))):
        return _varies(atom, f"axis {axis} of `{name}`", Confidence.MEDIUM)
    return None


def _is_packed(launch: Launch) -> bool:
    """Whether a host function only takes sequences laid end to end, in a batch of one."""
    return launch.function is not None and any(
        isinstance(statement, ast.Assert)
        and re.match(r"cu_?seq\w* is not None", ast.unparse(statement.test)) is not None
        for statement in launch.function.node.body
    )


def _parameters_of(size: Poly, launch: Launch) -> Iterator[str]:
    """The kernel's own names for a size of the host."""
    yield from (str(p.args[0]) for p, value in launch.values.items() if value == size)


def is_named(node: ast.AST) -> bool:
    """Whether the host's own words for a value say that it changes from call to call."""
    words = _words(node)
    if _SEQUENCE.search(words):
        return True
    return any(_VARYING.search(word) and not _FIXED.search(word) for word in re.findall(r"\w+", words))


def is_model_letter(name: str, variation: Variation) -> bool:
    """Whether a parameter has a letter that papers give to heads, widths and chunks, and an inner axis."""
    inner = all(atom.kind == "dim" and atom.args[1] != 0 for atom in variation.causes)
    return bool(_MODEL_LETTER.match(name)) and (inner or name == "C")


def _counts_programs(atom: Atom, launch: Launch) -> bool:
    """Whether the grid grows with a size."""
    return any(atom in poly.closure for poly in launch.grid or ())


def _has_a_program_each(atom: Atom, launch: Launch) -> bool:
    return any(atom in poly.surface for poly in launch.grid or ())


def _is_tiled(atom: Atom, launch: Launch) -> bool:
    """Whether the grid cuts a size into tiles: an axis of data, however it is called.

    In a product of sizes that is cut, any factor may be a number of heads.
    """
    return any(
        inner.kind == "cdiv" and (atom,) in inner.args[0].terms
        for poly in launch.grid or ()
        for inner in poly.closure
    )


def _is_width(atom: Atom, launch: Launch) -> bool:
    """Whether a size is also the columns of a matrix, or an axis of a weight: then the model fixes it."""
    leading = atom.kind == "dim" and atom.args[1] == 0
    if leading and any(True for _ in _rows_over(Poly.of(atom), launch)):
        return True
    for fact in launch.facts:
        for part in fact.conjuncts():
            if part.kind == "eq" and atom in part.poly.surface and len(part.poly.terms) == 2:
                other = next((a for a in part.poly.surface if a != atom), None)
                if other is not None and other.kind == "dim" and _is_axis_of_weight(other, launch):
                    return True
    return False


def _is_axis_of_weight(axis: Atom, launch: Launch) -> bool:
    """Whether an axis is a last one, or one of a weight; a `beta` of three axes is an input."""
    key = str(axis.args[0])
    rank = rank_of(key, launch)
    return axis.args[1] == -1 or ((rank is None or rank <= 2) and _is_weight(key, launch))


def _of_stride(atom: Atom, node: ast.AST, launch: Launch) -> Variation | None:
    """A stride varies if one of the axes it spans does."""
    key, axis = str(atom.args[0]), atom.args[1]
    host = launch.module.host(launch.function)
    rank = rank_of(key, launch) or rank_of(key.split(".")[0], launch)
    if not isinstance(axis, int) or axis < 0 or _is_weight(key, launch):
        return None
    name = _called(key, launch)
    if rank is None:
        least = host.least_ranks.get(key, 0)
        if 0 <= axis < least - 2 and _mirrors_varying(launch):
            return _varies(atom, f"a stride of `{name}`", Confidence.LOW, "stride")
        return None
    for inner in range(axis + 1, rank - 1):
        size = Atom("dim", key, inner)
        found = _of_dim(size, ast.Pass(), launch)
        if found is not None:
            named = list(_parameters_of(Poly.of(size), launch))
            fixed = not named or any(_FIXED.search(one) or _MODEL_LETTER.match(one) for one in named)
            sure = Confidence.LOW if fixed else Confidence.MEDIUM
            reason = f"a stride of `{name}` that spans {found.reason}"
            return Variation(reason, frozenset((atom,)), sure, "stride")
    return None


def _mirrors_varying(launch: Launch) -> bool:
    """Whether another stride of the launch is known to vary: outputs follow their inputs."""
    for argument in launch.arguments.values():
        value = argument.value
        if isinstance(value, Number):
            for atom in value.poly.surface:
                is_placed = atom.kind == "stride" and rank_of(str(atom.args[0]), launch) is not None
                if is_placed and _of_stride(atom, argument.node, launch) is not None:
                    return True
    return False


def _of_name(atom: Atom, node: ast.AST) -> Variation | None:
    """A host argument whose own name says that it varies."""
    key = str(atom.args[0])
    words = _words(node) + " " + key
    if _RATE.search(words):
        return _varies(atom, "a learning rate", Confidence.MEDIUM, "rate")
    if atom.kind == "hostparam" and key.isidentifier() and _VARYING.search(key) and not _FIXED.search(key):
        # A greatest length or a stride by tokens may be the model's; a number of tokens is the call's.
        sure = Confidence.MEDIUM if _COUNT_OF_CALL.match(key) else Confidence.LOW
        return _varies(atom, f"`{key}`, whose name says that it changes", sure)
    return None


def _is_weight(key: str, launch: Launch) -> bool:
    return bool(_WEIGHT.search(key) or _WEIGHT.search(_called(key, launch)))


def _called(key: str, launch: Launch) -> str:
    """What the host calls a tensor: the local it was given to, else where it came from."""
    name = launch.names.get(key)
    return name if name is not None else _short(key)


def _short(key: str) -> str:
    """A tensor's origin, without where it was made."""
    return re.split(r"[@|~]|\.(view|contiguous|to|reshape)\b", key)[0] or key


def _words(node: ast.AST) -> str:
    """The host's own words for a value."""
    if isinstance(node, ast.Name | ast.Attribute | ast.Subscript | ast.Call | ast.BinOp):
        return written(node)
    return ""


def _is_bare_size(node: ast.AST) -> bool:
    """Whether a value is written as an axis of a tensor: the words of `tokens.shape[1]` are the tensor's."""
    return isinstance(node, ast.Subscript | ast.Call) and bool(_AXIS.search(ast.unparse(node)))
