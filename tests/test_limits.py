"""Sources that would take for ever, or too deep: each ends in time, and what is known beside it is still found."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap

import pytest

SECONDS = 20

SEEN = """\
import torch
import triton
import triton.language as tl


@triton.jit
def seen(x_ptr, out_ptr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at))


def launch_seen(x: torch.Tensor):
    out = torch.empty_like(x)
    seen[(triton.cdiv(x.numel(), 128),)](x, out, BLOCK=128)


"""


def indented(text, depth=1):
    return textwrap.indent(text, "    " * depth)


def in_kernel(body, before=""):
    return (
        f"{before}\n@triton.jit\ndef odd(x, n, m, B: tl.constexpr):\n    o = tl.program_id(0) * B + tl.arange(0, B)\n"
        f"{indented(body)}\n    tl.store(x + o, 1.0)\n\n\n"
        "def launch_odd(x: torch.Tensor, m):\n    odd[(triton.cdiv(x.numel(), 64),)](x, x.numel(), m, B=64)\n"
    )


def in_host(body):
    return f"def odd(x, n, m):\n{indented(body)}\n    seen[(n,)](x, x, BLOCK=128)\n"


def in_module(body):
    return f"n = torch.x\nm = torch.y\nx = torch.empty(8)\n{body}\nseen[(8,)](x, x, BLOCK=128)\n"


PLACES = {"kernel": in_kernel, "host": in_host, "module": in_module}


def lines(*parts):
    return "\n".join(parts)


def nested(head, depth, inner):
    levels = [f"{'    ' * i}{head.format(i=i)}" for i in range(depth)]
    return lines(*levels, "    " * depth + inner)


def findings(text, tmp_path):
    """What the command line finds in one file, within a limit of time."""
    (tmp_path / "tritonlint.toml").write_text("")
    (tmp_path / "source.py").write_text(text)
    options = ["--select", "ALL", "--min-confidence", "low", "--output-format", "json"]
    command = [sys.executable, "-m", "tritonlint", "check", *options, "source.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode in (0, 1), done.stderr[-2000:]
    return [(item["code"], item["range"]["start"]["line"]) for item in json.loads(done.stdout)]


CASES = {
    "squares": lines("y = 3", *["y = y * y"] * 45, "z = y + n"),
    "pairs": lines("y = n", *["y = (y, y)"] * 45, "z = y + 1"),
    "lists": lines("y = n", *["y = [y, y]"] * 45, "z = y + 1", "w = y == y"),
    "doubled list": lines("y = [n]", *["y = y + y"] * 30),
    "extended list": lines("y = [n]", *["y.extend(y)"] * 30),
    "updated mapping": lines('y = {"a": n}', *["y.update(y)"] * 30),
    "unknown loops": nested("for i{i} in x:", 19, "m = n + m"),
    "while loops": nested("while n > {i}:", 19, "m = n + m"),
    "counted loops": nested("for i{i} in range(4):", 16, "m = n + m"),
    "conditions": lines("y = n < 3", *["y = (y & (m < n)) | (y & (m > 1))"] * 60, "z = y == y"),
    "bad steps": lines(
        "for i in range(1, 5, 0):\n    m = n",
        "for i in range(1, 5, 1, 1):\n    m = n",
        "for i in range(10**30):\n    m = n",
    ),
    "huge floats": lines(
        "k = " + "*".join(["10**63"] * 7),
        "a = k * 1.5",
        "b = k / 3",
        "c = k + 0.5",
        "d = k % 1.5",
        "e = -k // 1.5",
    ),
    "infinite floats": lines(
        "a = 1e400", "b = a - a", "c = a // 2", "d = a % 2", "e = min(a, 2)", "f = a == a"
    ),
    "huge literal": lines("a = 0x" + "f" * 20000, "b = n < a", "c = n + a"),
    "long sum": "y = " + " + ".join(["n"] * 900),
    "long attribute": "y = n" + ".a" * 900,
    "long subscript": "y = n" + "[0]" * 900,
    "long calls": "y = n" + ".a(1)" * 400,
    "long minus": "y = " + "-" * 900 + "n",
    "long not": "y = " + "not " * 900 + "n",
    "long conditional": "y = " + "n if m else " * 900 + "n",
    "swapped": lines("a = x", "b = m", *["if n > 1:\n    a, b = b, a"] * 45),
    "else-if": lines("if n == 0:\n    m = n", *[f"elif n == {i}:\n    m = {i}" for i in range(1, 400)]),
    "cubes": lines("y = n", *["y = y * y + m"] * 45, "z = y % n"),
    "chosen": lines("y = n", *["y = max(y, n // y) if y > m else min(y + 1, y // m)"] * 45),
    "nested branches": nested("if n > {i}:", 90, "m = n"),
    "nested lists": "y = " + "[" * 90 + "n" + " for i in x]" * 90,
    "many conditions": lines("y = n < 3", *[f"y = y & (m < {i})" for i in range(900)]),
    "long lambda": "y = " + "lambda: " * 90 + "n",
}
OWN = {
    "nested launches": in_host(nested("for i{i} in x:", 19, "seen[(n,)](x, x, BLOCK=128)")),
    "helpers": "".join(
        f"@triton.jit\ndef f{i}(x, B: tl.constexpr):\n    return f{i + 1}(x, B) + f{i + 1}(x + 1, B)\n\n\n"
        for i in range(60)
    )
    + "@triton.jit\ndef f60(x, B: tl.constexpr):\n    return x\n\n\n"
    + in_kernel("m = f0(m, B)"),
    "helpers calling each other": "".join(
        f"@triton.jit\ndef f{i}(x, B: tl.constexpr):\n    return {' + '.join(f'f{j}(x, B)' for j in range(12) if j != i)}\n\n\n"
        for i in range(12)
    )
    + in_kernel("m = f0(m, B)"),
    "many accumulations": in_kernel(lines("acc = 0.0", *["acc += tl.load(x + o, mask=o < n)"] * 1500)),
    "many stores": in_kernel(
        lines(*[f"tl.store(x + o + {i}, tl.load(x + o, mask=o < n), mask=o < n)" for i in range(2000)])
    ),
    "odd defaults": "def odd(x, n, flag=~0, other=not True, third=-'a'):\n    seen[(n,)](x, x, BLOCK=128)\n",
    "huge block": f"def odd(x, n):\n    seen[(n,)](x, x, BLOCK=0x{'f' * 5000})\n",
    "huge range": in_kernel(f"p = tl.arange(0, 0x{'f' * 20000})\ntl.store(x + p, 1.0)"),
    "lambda of itself": "Z = lambda x: Z(x) + Z(x)\nZ(1)\n" + in_host("z = Z(1)"),
    "self-application": "Y = lambda f: f(f)\nY(Y)\n" + in_host("z = Y(Y)"),
}
EVERY = [
    pytest.param(make(body), id=f"{name} in a {place}")
    for name, body in CASES.items()
    for place, make in PLACES.items()
]
EVERY += [pytest.param(text, id=name) for name, text in OWN.items()]


@pytest.mark.parametrize("text", EVERY)
def test_ends_in_time_with_what_is_known_beside(text, tmp_path):
    found = findings(SEEN + text, tmp_path)
    assert ("TL101", 9) in found
    assert not [code for code, _ in found if code.startswith("TL9")]


def test_a_long_module_leaves_something_for_the_defaults_of_helpers(tmp_path):
    many = f"v = {' + '.join(['1'] * 80)}\n" * 500
    helper = (
        "@triton.jit\ndef part(x, WIDTH: tl.constexpr = 40 + 8):\n"
        "    return tl.load(x + tl.arange(0, WIDTH))\n\n\n"
        "@triton.jit\ndef odd(x, out):\n    tl.store(out, tl.sum(part(x)))\n"
    )
    assert "TL201" in {code for code, _ in findings(SEEN + many + helper, tmp_path)}
