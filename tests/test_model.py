"""What the model makes of a source, said in the source itself: a rule's failure is seldom a model failure in disguise.

In `fixtures/model`, a comment at the end of a line says what the model must answer there:

    # revealed: ...         the value of each name the line assigns, in order, separated by `;`
    # revealed-dtype: ...   its element type
    # revealed-shape: ...   its shape
    # bounded: ...          for each load and store of the line, in each context, whether something keeps its
                            tile axes inside: `yes`, `no`, `unknown`, or `none` where no axis is open
    # arguments: n = ...    values of a launch's arguments, in the host's terms
    # grid: ...             the sizes of a launch's grid
    # facts: ...            what is known on the host where the launch is

A value that the model knows nothing of but its place shows as its name, or as `...`.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from tritonlint.model import Project, Proof
from tritonlint.model.bounds import axes_of, offset_of, report
from tritonlint.model.dtypes import DType, named, promote
from tritonlint.model.exposure import base_of, constexprs_of
from tritonlint.model.kernel import launches_of
from tritonlint.model.values import Number, Sequence
from tritonlint.source import Source

FIXTURES = Path(__file__).parent.parent / "fixtures" / "model"
COMMENT = re.compile(r"#\s*(revealed-dtype|revealed-shape|revealed|bounded|arguments|grid|facts):\s*([^#]*)")


@cache
def module_of(name):
    file = FIXTURES / name
    return Project(FIXTURES).module(Source.read(file, name), file)


def module_from(text, tmp_path, name="source.py"):
    (tmp_path / "tritonlint.toml").write_text("")
    (tmp_path / name).write_text(text)
    return Project(tmp_path).module(Source.read(tmp_path / name, name), tmp_path / name)


def comments():
    for file in sorted(FIXTURES.glob("*.py")):
        for number, line in enumerate(file.read_text("utf-8").splitlines(), start=1):
            for match in COMMENT.finditer(line):
                case = (file.name, number, match[1], match[2].strip())
                yield pytest.param(*case, id=f"{file.stem}:{number}:{match[1]}")


@pytest.mark.parametrize(("name", "line", "question", "answer"), list(comments()))
def test_what_the_comment_says(name, line, question, answer):
    assert ANSWERS[question](module_of(name), line) == answer


def test_every_file_asks_something():
    asked = {parameter.values[0] for parameter in comments()}
    assert asked == {file.name for file in FIXTURES.glob("*.py")}


# --- the device side ---------------------------------------------------------------------------------


def assigned_at(module, line):
    """Each value that a line gives a name, once, in the order of the names."""
    found = {}
    for kernel in module.kernels:
        for trace in kernel.traces:
            for item in trace.assignments:
                if kernel.mine(item.where) and item.where.node.lineno == line:
                    found.setdefault((item.name, shown(item.value)), item.value)
    assert found, f"nothing is assigned on line {line}"
    return list(found.values())


def shown(value):
    if isinstance(value, Sequence):
        return "(" + ", ".join(shown(item) for item in value.items) + ")"
    assert isinstance(value, Number)
    return str(value.poly)


def values_at(module, line):
    return "; ".join(shown(value) for value in assigned_at(module, line))


def types_at(module, line):
    return "; ".join(str(value.dtype) for value in assigned_at(module, line))


def shapes_at(module, line):
    def shape(value):
        sizes = ", ".join(str(size) for size in value.shape)
        return f"({sizes},)" if len(value.shape) == 1 else f"({sizes})"

    return "; ".join(shape(value) for value in assigned_at(module, line))


def bounds_at(module, line):
    answers = []
    for kernel in module.kernels:
        for trace in kernel.traces:
            answers += [
                bounded(access, trace)
                for access in trace.accesses
                if kernel.mine(access.where) and access.where.node.lineno == line
            ]
    assert answers, f"there is no access on line {line}"
    return ", ".join(answers)


def bounded(access, trace):
    address = access.address.poly
    offset = offset_of(address, base_of(address, trace, launches_of(trace.root)))
    axes, _ = axes_of(offset, constexprs_of(trace))
    answers = {report(axis, access).bounded for axis in axes}
    for proof in (Proof.NO, Proof.UNKNOWN, Proof.YES):
        if proof in answers:
            return proof.value
    return "none"


# --- the host side -----------------------------------------------------------------------------------


def launch_at(module, line):
    (launch,) = [launch for launch in module.launches if launch.node.lineno == line]
    return launch


def arguments_at(module, line):
    """The arguments that the comment asks for, and no others."""
    launch = launch_at(module, line)
    comment = module.source.text.splitlines()[line - 1]
    (said,) = [match[2] for match in COMMENT.finditer(comment) if match[1] == "arguments"]
    names = re.findall(r"(\w+) = ", said)
    return ", ".join(f"{name} = {launch.values[name_of(launch, name)]}" for name in names)


def name_of(launch, name):
    (atom,) = [atom for atom in launch.values if atom.args[0] == name]
    return atom


def grid_at(module, line):
    return ", ".join(str(size) for size in launch_at(module, line).grid)


def facts_at(module, line):
    return ", ".join(str(fact) for fact in launch_at(module, line).facts)


ANSWERS = {
    "revealed": values_at,
    "revealed-dtype": types_at,
    "revealed-shape": shapes_at,
    "bounded": bounds_at,
    "arguments": arguments_at,
    "grid": grid_at,
    "facts": facts_at,
}


def test_launches_are_found_in_every_form():
    lines = (FIXTURES / "launches.py").read_text("utf-8").splitlines()
    marked = {number for number, line in enumerate(lines, start=1) if COMMENT.search(line)}
    assert {launch.node.lineno for launch in module_of("launches.py").launches} == marked


# --- promotion ---------------------------------------------------------------------------------------

TYPES = {
    name: named(name) for name in ("int8", "int32", "int64", "float16", "bfloat16", "float32", "float64")
}
TYPES["2"] = DType("int32", literal=True)
TYPES["2.0"] = DType("fp32", literal=True)


@pytest.mark.parametrize(
    ("left", "right", "result", "divided"),
    [
        ("float16", "float16", "float16", "float32"),
        ("float16", "bfloat16", "float16", "float32"),
        ("float16", "float32", "float32", "float32"),
        ("float16", "float64", "float64", "float64"),
        ("float16", "int32", "float16", "float32"),
        ("float16", "2", "float16", "float32"),
        ("float16", "2.0", "float16", "float32"),
        ("bfloat16", "bfloat16", "bfloat16", "float32"),
        ("bfloat16", "int32", "float32", "float32"),
        ("bfloat16", "float32", "float32", "float32"),
        ("bfloat16", "2", "bfloat16", "float32"),
        ("bfloat16", "2.0", "bfloat16", "float32"),
        ("float32", "int64", "float32", "float32"),
        ("float32", "float64", "float64", "float64"),
        ("int8", "int32", "int32", None),
        ("int8", "2", "int8", None),
        ("int8", "2.0", "float32", None),
        ("int32", "int64", "int64", None),
        ("int32", "2", "int32", None),
    ],
)
def test_promotion(left, right, result, divided):
    for one, two in ((left, right), (right, left)):
        assert str(promote(TYPES[one], TYPES[two])) == result
        if divided:
            assert str(promote(TYPES[one], TYPES[two], division=True)) == divided


def test_a_type_that_only_a_launch_decides_stays_open():
    open_type = DType(elements=frozenset(("x_ptr",)))
    assert promote(open_type, TYPES["2.0"]) == open_type
    assert str(promote(open_type, TYPES["float32"])) == "float32"
    both = promote(open_type, DType(elements=frozenset(("w_ptr",))))
    assert both.elements == {"x_ptr", "w_ptr"}
    assert not both.is_known


# --- three-valued answers ----------------------------------------------------------------------------


def test_a_proof_refuses_to_be_a_truth_value():
    for proof in Proof:
        with pytest.raises(TypeError, match="three values"):
            bool(proof)


def test_opposites_of_proofs():
    assert Proof.YES.negated() is Proof.NO
    assert Proof.NO.negated() is Proof.YES
    assert Proof.UNKNOWN.negated() is Proof.UNKNOWN
    assert [Proof.of(value) for value in (True, False, None)] == [Proof.YES, Proof.NO, Proof.UNKNOWN]


# --- what must come to an end ------------------------------------------------------------------------

HEADER = "import triton\nimport triton.language as tl\n\n"
CYCLE = HEADER + "@triton.jit\ndef f(x):\n    return g(x)\n\n@triton.jit\ndef g(x):\n    return f(x)\n"
DEEP = (
    HEADER + "@triton.jit\ndef f(x, n):\n    y = n\n" + "".join(f"    y = y * {i} + y\n" for i in range(200))
)
NESTED = (
    HEADER
    + "@triton.jit\ndef f(x, n):\n"
    + "".join("    " * (i + 1) + f"for i{i} in range(n):\n" for i in range(15))
    + "    " * 16
    + "tl.store(x, 0)\n"
)
WIDE = (
    HEADER
    + "@triton.jit\ndef f(x, n):\n    y = n\n"
    + "".join(f"    if n > {i}:\n        y = y + {i}\n    else:\n        y = y - {i}\n" for i in range(60))
)


@pytest.mark.parametrize("text", [CYCLE, DEEP, NESTED, WIDE], ids=["cycle", "deep", "nested", "wide"])
def test_evaluation_ends(text, tmp_path):
    module = module_from(text, tmp_path)
    for kernel in module.kernels:
        for trace in kernel.traces:
            assert trace.root.module is module


# --- launches and kernels belong together by name, not by spelling -----------------------------------


def test_a_launch_belongs_to_the_kernel_its_name_means(tmp_path):
    text = (
        HEADER + "@triton.jit\ndef k(x, B: tl.constexpr):\n    tl.store(x + tl.arange(0, B), 0)\n\n"
        "def other(k, x):\n    k[(1,)](x, B=3)\n\n"
        "def own(x):\n    k[(1,)](x, B=4)\n"
    )
    module = module_from(text, tmp_path)
    (kernel,) = module.kernels
    assert [str(launch.arguments["B"].value.poly) for launch in kernel.launches] == ["4"]


def test_contexts_of_a_helper_are_its_outermost_callers():
    helpers = {kernel.name: kernel for kernel in module_of("helpers.py").kernels}
    assert [root.name for root in helpers["tile"].roots] == ["caller"]
    assert [root.name for root in helpers["caller"].roots] == ["caller"]


def test_parameters_that_are_known_at_compile_time():
    kernels = {kernel.name: kernel for kernel in module_of("launches.py").kernels}
    assert [p.name for p in kernels["kernel"].parameters if p.is_constexpr] == ["BLOCK"]


ASYNC = """
import torch
import triton


@triton.jit
def kernel(x, n):
    pass


async def host(x: torch.Tensor, streams):
    {head}
        n = 4
        kernel[(8,)](x, n)
    {tail}
"""


@pytest.mark.parametrize(
    ("head", "tail"),
    [
        ("try:", "except ValueError:\n        pass"),
        ("try:", "except* ValueError:\n        pass"),
        ("with streams as s:", ""),
        ("async with streams as s:", ""),
        ("for s in streams:", ""),
        ("async for s in streams:", ""),
    ],
)
def test_a_launch_is_seen_in_every_form_of_a_block(head, tail, tmp_path):
    module = module_from(ASYNC.format(head=head, tail=tail), tmp_path)
    (launch,) = module.launches
    assert shown(launch.arguments["n"].value) == "4"
