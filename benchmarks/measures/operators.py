"""The faults that are planted. Each operator says in its docstring what it changes and where that is a fault.

An operator picks places by plain syntax. It asks for evidence in the text that the change does harm (an
index over a block, a bound that is a runtime parameter, a sum over loaded values), since a change without
harm must not be found. What evidence in text cannot tell, such as a check in a caller, is judged by hand in
`harmless.tsv`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from measures.planting import (
    Change,
    Operator,
    as_operand,
    replaced,
    with_argument,
    without_keywords,
)
from measures.reading import File, Function, Launch, called, is_constexpr, is_power_of_2, keyword

OPERATORS: list[Operator] = []
Changes = Callable[[File], Iterator[Change]]


def plants(*codes: str) -> Callable[[Changes], Changes]:
    """Make a function an operator, named after it, whose faults are found by any of these rules."""

    def register(function: Changes) -> Changes:
        OPERATORS.append(Operator(function.__name__.replace("_", "-"), frozenset(codes), function))
        return function

    return register


# --- masks ---------------------------------------------------------------------------------------
def conjuncts(function: Function, mask: ast.expr | None) -> list[ast.Compare] | None:
    """The comparisons `index < extent` that a mask consists of, None where it is anything else."""
    mask = function.value(mask)
    if isinstance(mask, ast.BinOp) and isinstance(mask.op, ast.BitAnd):
        left, right = conjuncts(function, mask.left), conjuncts(function, mask.right)
        return left + right if left is not None and right is not None else None
    while isinstance(mask, ast.Subscript):
        mask = function.value(mask.value)
    if not isinstance(mask, ast.Compare) or len(mask.ops) != 1 or not isinstance(mask.ops[0], ast.Lt):
        return None
    index, extent = function.reach(mask.left), function.reach(mask.comparators[0])
    if not index.is_tile or extent.is_tile or "load" in index.words | extent.words:
        return None
    return [mask] if not _wraps(function, mask.left) else None


def _wraps(function: Function, expression: ast.expr) -> bool:
    """Whether an index is taken modulo something, so that a mask is not what keeps it in."""
    return any(
        isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) and function.reach(node.left).is_tile
        for node in expanded(function, expression)
    )


def _is_ragged(function: Function, comparison: ast.Compare) -> bool:
    """Whether the extent is a runtime parameter, so that a block can pass it."""
    return bool(function.reach(comparison.comparators[0]).names & function.runtime)


def _masked(file: File, name: str, position: int) -> Iterator[tuple[Function, ast.Call, list[ast.Compare]]]:
    """Calls with a mask of comparisons over the index that the pointer has, too."""
    for kernel in file.kernels:
        for call in kernel.calls(name):
            mask = keyword(call, "mask") or (call.args[position] if len(call.args) > position else None)
            parts = conjuncts(kernel, mask) if mask is not None and call.args else None
            if not parts or not all(_is_ragged(kernel, part) for part in parts):
                continue
            if any(isinstance(argument, ast.Starred) for argument in call.args):
                continue
            pointer = kernel.reach(call.args[0])
            indices = [name for part in parts for name in kernel.reach(part.left).names]
            wraps = _wraps(kernel, call.args[0])
            if pointer.is_tile and pointer.names & set(indices) and not wraps:
                yield kernel, call, parts


def _without_mask(call: ast.Call, position: int) -> str:
    bare = ast.Call(call.func, call.args[:position], call.keywords)
    return without_keywords(bare, "mask", "other")


@plants("TL101")
def drop_load_mask(file: File) -> Iterator[Change]:
    """A load loses its mask, which bounded a block by runtime extents."""
    for kernel, call, _ in _masked(file, "load", 1):
        yield Change(kernel, [(call, _without_mask(call, 1))])


@plants("TL101")
def drop_store_mask(file: File) -> Iterator[Change]:
    """A store loses its mask, which bounded a block by runtime extents."""
    for kernel, call, _ in _masked(file, "store", 2):
        yield Change(kernel, [(call, _without_mask(call, 2))])


@plants("TL101")
def drop_atomic_mask(file: File) -> Iterator[Change]:
    """An atomic addition loses its mask."""
    for kernel, call, _ in _masked(file, "atomic_add", 2):
        yield Change(kernel, [(call, _without_mask(call, 2))])


def _two_axes(file: File) -> Iterator[tuple[Function, ast.Call, ast.expr, list[ast.Compare]]]:
    """Loads and stores whose mask, as written or as named, is two comparisons over different indices."""
    for name, position in (("load", 1), ("store", 2)):
        for kernel, call, parts in _masked(file, name, position):
            given = keyword(call, "mask") or call.args[position]
            mask = kernel.value(given)
            if len(parts) != 2 or not isinstance(mask, ast.BinOp):
                continue
            first, second = (ast.unparse(part.left) for part in parts)
            extents = [ast.unparse(kernel.value(part.comparators[0]) or part) for part in parts]
            if first.split("[")[0] != second.split("[")[0] and extents[0] != extents[1]:
                yield kernel, call, given, parts


@plants("TL101", "TL102")
def drop_conjunct(file: File) -> Iterator[Change]:
    """A mask over two axes keeps the comparison of one."""
    for kernel, _, given, _ in _two_axes(file):
        mask = kernel.value(given)
        assert isinstance(mask, ast.BinOp)
        yield Change(kernel, [(given, as_operand(mask.left))])
        yield Change(kernel, [(given, as_operand(mask.right))])


@plants("TL102")
def bound_wrong_extent(file: File) -> Iterator[Change]:
    """One axis of a mask over two is compared with the extent of the other."""
    for kernel, _, given, (first, second) in _two_axes(file):
        mask = kernel.value(given)
        inside = list(ast.walk(mask)) if mask is not None else []
        if mask is not None and first in inside and second in inside:
            wrong = replaced(mask, second.comparators[0], ast.unparse(first.comparators[0]))
            yield Change(kernel, [(given, f"({wrong})")])


# --- block pointers ------------------------------------------------------------------------------
def _checked(file: File) -> Iterator[tuple[Function, ast.Call, ast.Tuple, list[int]]]:
    """Accesses that check axes of a block pointer, and those of the axes whose extent is a parameter."""
    for kernel in file.kernels:
        for call in kernel.calls("load", "store"):
            axes = keyword(call, "boundary_check")
            made = _block_pointer(kernel, call.args[0] if call.args else None)
            if not isinstance(axes, ast.Tuple) or made is None:
                continue
            checked = [axis.value for axis in axes.elts if isinstance(axis, ast.Constant)]
            shape = made.args[1] if len(made.args) > 1 else keyword(made, "shape")
            if not isinstance(shape, ast.Tuple) or len(checked) != len(axes.elts):
                continue
            ragged = [
                axis
                for axis in checked
                if isinstance(axis, int)
                and axis < len(shape.elts)
                and kernel.reach(shape.elts[axis]).names & kernel.runtime
            ]
            yield kernel, call, axes, ragged


def _block_pointer(kernel: Function, pointer: ast.expr | None) -> ast.Call | None:
    """The `tl.make_block_ptr` behind a pointer, through `tl.advance`."""
    if isinstance(pointer, ast.Name):
        values = kernel.assigned.get(pointer.id, [])
        made = [
            value for value in values if isinstance(value, ast.Call) and called(value) == "make_block_ptr"
        ]
        rest = [value for value in values if value not in made]
        if len(made) == 1 and all(
            isinstance(value, ast.Call) and called(value) == "advance" for value in rest
        ):
            return made[0]
    elif isinstance(pointer, ast.Call) and called(pointer) == "make_block_ptr":
        return pointer
    return None


@plants("TL103")
def drop_boundary_check(file: File) -> Iterator[Change]:
    """A block pointer with a ragged axis is no longer checked."""
    for kernel, call, _, ragged in _checked(file):
        if ragged:
            yield Change(kernel, [(call, without_keywords(call, "boundary_check", "padding_option"))])


@plants("TL103")
def halve_boundary_check(file: File) -> Iterator[Change]:
    """Of two checked axes the ragged one is left out."""
    for kernel, call, axes, ragged in _checked(file):
        for axis in ragged if len(axes.elts) == 2 else ():
            kept = next(item for item in axes.elts if getattr(item, "value", None) != axis)
            yield Change(kernel, [(call, with_argument(call, "boundary_check", f"({ast.unparse(kept)},)"))])


# --- shapes --------------------------------------------------------------------------------------
def _block_arguments(file: File) -> Iterator[tuple[Launch, str, ast.expr]]:
    """What launches pass for parameters that are the end of a `tl.arange`."""
    for launch in file.launches:
        for name, argument in launch.arguments.items():
            if launch.kernel.spans(name):
                yield launch, name, argument


@plants("TL201")
def literal_block_96(file: File) -> Iterator[Change]:
    """A launch passes 96 as a block size, where it passed a literal power of two."""
    for launch, name, argument in _block_arguments(file):
        if is_power_of_2(argument):
            yield Change(launch.host, [(argument, "96")], [launch.call, *launch.kernel.spans(name)])


@plants("TL201")
def config_block_96(file: File) -> Iterator[Change]:
    """A tuner's choice holds 96 as a block size."""
    for kernel in file.kernels:
        for decorator in kernel.node.decorator_list:
            for node in ast.walk(decorator):
                if not (isinstance(node, ast.Call) and called(node) == "Config" and node.args):
                    continue
                for key, value in _literal_items(node.args[0]):
                    if kernel.spans(key) and is_power_of_2(value):
                        yield Change(kernel, [(value, "96")], [node, *kernel.spans(key)])


def _literal_items(node: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                yield key.value, value


@plants("TL201")
def arange_96(file: File) -> Iterator[Change]:
    """`tl.arange(0, 64)` becomes `tl.arange(0, 96)`."""
    for kernel in file.kernels:
        for call in kernel.calls("arange"):
            if len(call.args) == 2 and is_power_of_2(call.args[1]):
                yield Change(kernel, [(call.args[1], "96")])


@plants("TL202")
def unrounded_block(file: File) -> Iterator[Change]:
    """A size is no longer rounded up by `next_power_of_2` before it becomes a block size."""
    seen = set()
    for launch, _, argument in _block_arguments(file):
        value = launch.host.value(argument)
        if isinstance(value, ast.Call) and called(value) == "next_power_of_2" and value not in seen:
            seen.add(value)
            if value.args and not isinstance(value.args[0], ast.Constant):
                yield Change(launch.host, [(value, as_operand(value.args[0]))], [launch.call])


# --- numerics ------------------------------------------------------------------------------------
def _accumulators(kernel: Function) -> Iterator[tuple[ast.expr, list[ast.AST]]]:
    """The `tl.float32` of zeros to which a loop behind them adds, and the statements that add.

    A `static_range` is no loop: its first round makes the sum whatever is added.
    """
    for name, values in kernel.assigned.items():
        for value in values:
            if not (isinstance(value, ast.Call) and called(value) in ("zeros", "full")):
                continue
            dtype = keyword(value, "dtype") or (value.args[-1] if len(value.args) > 1 else None)
            around = _loops(kernel, value)
            adds = [
                node
                for node in kernel.nodes
                if _adds(node, name) and any(not _is_static(loop) for loop in _loops(kernel, node) - around)
            ]
            if dtype is not None and ast.unparse(dtype) == "tl.float32" and adds:
                yield dtype, adds


def _loops(kernel: Function, node: ast.AST) -> set[ast.For | ast.While]:
    """The loops around a node."""
    found = set()
    at: ast.AST | None = node
    while at is not None:
        if isinstance(at, ast.For | ast.While):
            found.add(at)
        at = kernel.parents.get(at)
    return found


def _is_static(loop: ast.For | ast.While) -> bool:
    return isinstance(loop, ast.For) and "static_range" in ast.unparse(loop.iter)


def _adds(node: ast.AST, name: str) -> bool:
    if isinstance(node, ast.AugAssign):
        return isinstance(node.op, ast.Add) and isinstance(node.target, ast.Name) and node.target.id == name
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == name:
        value = node.value
        if isinstance(value, ast.Call) and called(value) == "dot":
            return any(isinstance(item, ast.Name) and item.id == name for item in ast.walk(value))
        return isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add) and name in ast.unparse(value)
    return False


@plants("TL501")
def half_accumulator(file: File) -> Iterator[Change]:
    """What a loop adds up starts as `tl.float16` zeros."""
    for kernel in file.kernels:
        for dtype, adds in _accumulators(kernel):
            yield Change(kernel, [(dtype, "tl.float16")], adds)


@plants("TL501")
def half_dot(file: File) -> Iterator[Change]:
    """A product of half-precision tiles that a loop adds up is computed in float16.

    Where an operand is float32 or bfloat16, Triton takes no float16 result.
    """
    for kernel in file.kernels:
        for call in kernel.calls("dot"):
            if _loops(kernel, call) and len(call.args) == 2 and not keyword(call, "out_dtype"):
                statement = kernel.statement(call)
                wide = {"float32", "bfloat16"} & kernel.reach(ast.Tuple(call.args, ast.Load())).words
                if isinstance(statement, ast.AugAssign) and statement.value is call and not wide:
                    yield Change(kernel, [(call, with_argument(call, "out_dtype", "tl.float16"))])


@plants("TL502")
def drop_upcast(file: File) -> Iterator[Change]:
    """Loaded values are no longer converted to float32 before `tl.sum`."""
    for kernel in file.kernels:
        sums = [call for call in kernel.calls("sum") if call.args]
        for cast in kernel.nodes:
            if not (isinstance(cast, ast.Call) and called(cast) == "to" and len(cast.args) == 1):
                continue
            loaded = kernel.value(cast.func.value) if isinstance(cast.func, ast.Attribute) else None
            is_load = isinstance(loaded, ast.Call) and called(loaded) == "load"
            if not is_load or ast.unparse(cast.args[0]) != "tl.float32":
                continue
            used = [call for call in sums if _sums_halves(kernel, call.args[0], cast)]
            if used:
                assert isinstance(cast.func, ast.Attribute)
                yield Change(kernel, [(cast, as_operand(cast.func.value))], list(used))


def _sums_halves(kernel: Function, summed: ast.expr, cast: ast.AST) -> bool:
    """Whether the sum is made of `cast` and, but for it, of loaded values and nothing in float32."""
    inside = {id(node) for node in expanded(kernel, summed)}
    if id(cast) not in inside:
        return False
    rest = kernel.reach(summed, without=cast)
    wider = {"float32", "exp", "exp2", "log", "log2", "sqrt", "rsqrt", "sigmoid", "where", "int32"}
    floats = wider & (rest.words | rest.names)
    if isinstance(kernel.value(summed), ast.Compare):
        return False
    names = rest.names & kernel.runtime
    plain = [name for name in names if not (name.lower().endswith("ptr") or name[0].isupper())]
    return not floats and "load" in rest.words and not plain


def expanded(kernel: Function, expression: ast.expr) -> Iterator[ast.AST]:
    """Every node of an expression and of what the names in it stand for."""
    seen: set[str] = set()
    todo: list[ast.AST] = [expression]
    while todo:
        for node in ast.walk(todo.pop()):
            yield node
            if isinstance(node, ast.Name) and node.id not in seen:
                seen.add(node.id)
                todo += [value for value in kernel.assigned.get(node.id, []) if value is not None]


@plants("TL502")
def round_before_sum(file: File) -> Iterator[Change]:
    """float32 values are rounded to float16 just before `tl.sum`."""
    for kernel in file.kernels:
        for call in kernel.calls("sum"):
            if not call.args or isinstance(kernel.value(call.args[0]), ast.Compare):
                continue
            reach = kernel.reach(call.args[0])
            if "float32" in reach.words and not reach.words & {"int32", "int64", "int1", "int8"}:
                argument = call.args[0]
                yield Change(kernel, [(argument, as_operand(argument) + ".to(tl.float16)")], [call])


# --- program order -------------------------------------------------------------------------------
def _grouped(kernel: Function) -> Iterator[tuple[ast.Assign, ast.Assign, str, str]]:
    """The two assignments of a grouped order, the linear id and the number of tiles in a row."""
    if not any(kernel.calls("dot")):
        return
    assigns = [
        node
        for node in kernel.nodes
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    ]
    for columns in assigns:
        match columns.value:
            case ast.BinOp(
                ast.BinOp(ast.Name(pid), ast.Mod(), ast.Name(group)), ast.FloorDiv(), ast.Name(rows_in_group)
            ):
                whole = kernel.value(ast.Name(group))
                if not isinstance(whole, ast.BinOp) or not isinstance(whole.op, ast.Mult):
                    continue
                factors = [side.id for side in (whole.left, whole.right) if isinstance(side, ast.Name)]
                tiles = [name for name in factors if name not in {p.arg for p in kernel.parameters}]
                for rows in assigns:
                    value = rows.value
                    is_sum = isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add)
                    in_group = rows_in_group in ast.unparse(value) and "%" in ast.unparse(value)
                    if is_sum and in_group and len(tiles) == 1 and len(factors) == 2:
                        yield rows, columns, pid, tiles[0]


@plants("TL601")
def flatten_order(file: File) -> Iterator[Change]:
    """A grouped order becomes row by row: `pid // tiles_n` and `pid % tiles_n`."""
    for kernel in file.kernels:
        for rows, columns, pid, tiles in _grouped(kernel):
            edits = [(rows.value, f"{pid} // {tiles}"), (columns.value, f"{pid} % {tiles}")]
            yield Change(kernel, edits, [rows, columns])  # type: ignore[arg-type]


@plants("TL601", "TL602")
def discard_remap(file: File) -> Iterator[Change]:
    """A grouped order is computed under other names, and the plain one is used."""
    for kernel in file.kernels:
        for rows, columns, pid, tiles in _grouped(kernel):
            names = [ast.unparse(statement.targets[0]) for statement in (rows, columns)]
            edits = [
                (rows, f"{names[0]} = {pid} // {tiles}; grouped_m = {ast.unparse(rows.value)}"),
                (columns, f"{names[1]} = {pid} % {tiles}; grouped_n = {ast.unparse(columns.value)}"),
            ]
            yield Change(kernel, edits, [rows, columns])  # type: ignore[arg-type]
        for call in kernel.calls("swizzle2d"):
            statement = kernel.statement(call)
            if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Tuple):
                names = [node.id for node in statement.targets[0].elts if isinstance(node, ast.Name)]
                given = [node.id for node in call.args[:2] if isinstance(node, ast.Name)]
                if names == given:
                    yield Change(kernel, [(statement, ast.unparse(call))])


@plants("TL602")
def mismatched_split(file: File) -> Iterator[Change]:
    """One id is split by two different numbers of tiles: `pid // tiles_n` and `pid % tiles_m`."""
    for kernel in file.kernels:
        if not any(kernel.calls("dot")):
            continue
        for node in kernel.nodes:
            match node:
                case ast.Assign(value=ast.BinOp(ast.Name(pid), ast.Mod(), ast.Name(tiles) as right)):
                    pass
                case _:
                    continue
            halves = [other for other in kernel.nodes if _divides(other, pid, tiles)]
            count = kernel.value(ast.Name(tiles))
            others = [name for name in kernel.assigned if name != tiles and _counts_tiles(kernel, name)]
            if len(halves) == 1 and len(others) == 1 and count is not None and _counts_tiles(kernel, tiles):
                yield Change(kernel, [(right, others[0])], [*halves])


def _divides(node: ast.AST, pid: str, tiles: str) -> bool:
    match node:
        case ast.Assign(value=ast.BinOp(ast.Name(a), ast.FloorDiv(), ast.Name(b))):
            return (a, b) == (pid, tiles)
    return False


def _counts_tiles(kernel: Function, name: str) -> bool:
    value = kernel.value(ast.Name(name))
    return isinstance(value, ast.Call) and called(value) == "cdiv"


# --- specialization and tuning -------------------------------------------------------------------
def _sizes(file: File) -> Iterator[tuple[Launch, str]]:
    """Parameters for which a launch passes the number of elements of a tensor of its caller."""
    seen = set()
    for launch in file.launches:
        for name, argument in launch.arguments.items():
            value = launch.host.value(argument)
            if (launch.kernel.name, name) not in seen and _is_numel(launch.host, value):
                seen.add((launch.kernel.name, name))
                yield launch, name


def _is_numel(host: Function, value: ast.expr | None) -> bool:
    """`x.numel()` of a parameter that is no weight."""
    if (
        not isinstance(value, ast.Call)
        or called(value) != "numel"
        or not isinstance(value.func, ast.Attribute)
    ):
        return False
    base = value.func.value
    owned = isinstance(base, ast.Name) and base.id in {p.arg for p in host.parameters}
    weight = isinstance(base, ast.Name) and any(
        word in base.id.lower() for word in ("weight", "param", "grad")
    )
    return owned and not weight and base.id != "self"  # type: ignore[attr-defined]


@plants("TL401")
def constexpr_size(file: File) -> Iterator[Change]:
    """The number of elements of an argument becomes `tl.constexpr`."""
    for launch, name in _sizes(file):
        parameter = next((p for p in launch.kernel.parameters if p.arg == name), None)
        if parameter is not None and not is_constexpr(parameter):
            yield Change(launch.kernel, [(parameter, f"{name}: tl.constexpr")], [launch.call])


_TOKEN_COUNTS = frozenset("T n_tokens num_tokens total_tokens n_elements seqlen seq_len N_CTX L".split())


def _tunes(tuner: ast.Call) -> bool:
    """Whether a tuner has more to choose from than one written configuration."""
    configs = keyword(tuner, "configs") or (tuner.args[0] if tuner.args else None)
    return not isinstance(configs, ast.List) or len(configs.elts) != 1


@plants("TL303")
def key_of_tokens(file: File) -> Iterator[Change]:
    """A number of tokens or elements, known by its name or from the launch, joins the key of a tuner."""
    sizes = {(launch.kernel.name, name) for launch, name in _sizes(file)}
    for kernel in file.kernels:
        for call, key in _tuners(kernel, "key"):
            words = [item.value for item in key.elts if isinstance(item, ast.Constant)]
            for name in sorted(kernel.runtime - set(words)):
                named = name in _TOKEN_COUNTS and name.lower() not in kernel.pointers
                if (named and _tunes(call)) or (kernel.name, name) in sizes:
                    text = ast.unparse(ast.List([*key.elts, ast.Constant(name)], ast.Load()))
                    yield Change(kernel, [(key, text)], [call])


def _tuners(kernel: Function, name: str) -> Iterator[tuple[ast.Call, ast.List]]:
    for decorator in kernel.node.decorator_list:
        if isinstance(decorator, ast.Call) and "autotune" in called(decorator):
            value = keyword(decorator, name)
            if isinstance(value, ast.List):
                yield decorator, value


@plants("TL302")
def drop_restore(file: File) -> Iterator[Change]:
    """A tuner is no longer told to restore or reset what its kernel adds to, or reads and overwrites."""
    for kernel in file.kernels:
        for option in ("restore_value", "reset_to_zero"):
            for call, names in _tuners(kernel, option):
                if not _changes_again(kernel, {i.value for i in names.elts if isinstance(i, ast.Constant)}):
                    continue
                edit = (call, without_keywords(call, option))
                yield Change(
                    kernel, [edit], [*kernel.node.decorator_list, *kernel.calls("store", "atomic_add")]
                )


def _changes_again(kernel: Function, names: set[object]) -> bool:
    """Whether a second run finds something else than the first: a sum, or what it reads and overwrites."""
    touched = {
        kind: {name for call in kernel.calls(kind) if call.args for name in kernel.reach(call.args[0]).names}
        for kind in ("atomic_add", "load", "store")
    }
    return bool(names & (touched["atomic_add"] | (touched["load"] & touched["store"])))


@plants("TL301")
def tune_in_production(file: File) -> Iterator[Change]:
    """A kernel with one way to run gets a tuner with two."""
    for kernel in file.kernels:
        decorators = kernel.node.decorator_list
        plain = len(decorators) == 1 and ast.unparse(decorators[0]) == "triton.jit"
        if plain and any(launch.kernel is kernel for launch in file.launches):
            configs = "[triton.Config({}, num_warps=4), triton.Config({}, num_warps=8)]"
            indent = " " * kernel.node.col_offset
            text = f"triton.autotune(configs={configs}, key=[])\n{indent}@triton.jit"
            yield Change(kernel, [(decorators[0], text)])


@plants("TL402")
def drop_constexpr(file: File) -> Iterator[Change]:
    """A block size is no longer `tl.constexpr`.

    Only in kernels that are launched: a helper gets a constant as a constant whatever it declares.
    """
    calls = (node for kernel in file.kernels for node in kernel.nodes if isinstance(node, ast.Call))
    helpers = {called(call) for call in calls}
    for kernel in file.kernels:
        if kernel.name in helpers or not any(kernel.calls("program_id")):
            continue
        for parameter in kernel.parameters:
            spans = kernel.spans(parameter.arg)
            if is_constexpr(parameter) and spans and len(kernel.assigned[parameter.arg]) == 1:
                yield Change(kernel, [(parameter, parameter.arg)], list(spans))
