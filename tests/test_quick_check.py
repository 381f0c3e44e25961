"""The check at a keystroke: where it says that it is sure, it says what a whole check says."""

from __future__ import annotations

import contextlib

import pytest

from tritonlint.config import Options, SettingsFinder
from tritonlint.lsp.checker import Checker, Stopped

HEAD = "import torch\nimport triton\nimport triton.language as tl\n"


def kernel(name, index="o", mask="o < n"):
    return f"""
@triton.jit
def {name}(x, y, n, B: tl.constexpr):
    o = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + {index})
    tl.store(y + o, v, mask={mask})
"""


def host(*kernels, block=128):
    launches = "".join(f"    {one}[(triton.cdiv(n, {block}),)](x, y, n, B={block})\n" for one in kernels)
    return f"\ndef host(x):\n    y = torch.empty_like(x)\n    n = x.numel()\n{launches}"


HELPER = f"{HEAD}\n@triton.jit\ndef helper(o, n):\n    return o\n"
TUNED = (
    f"{HEAD}\n@triton.autotune(configs=[triton.Config({{'B': 128}}), triton.Config({{'B': 256}})], key=['n'])"
    + kernel("k", "o, mask=o < n")
    + "\ndef host(x):\n    y = torch.empty_like(x)\n    k[lambda m: (1,)](x, y, x.numel())\n"
)
WIDTH = f"""{HEAD}
@triton.jit
def k(x, n, B: tl.constexpr):
    o = tl.arange(0, B)
    tl.store(x + o, 1, mask=o < n)

def host(x, width):
    k[(1,)](x, width, B=width)
"""
BESIDE = f"""{HEAD}
@triton.jit
def k(y, n,
      B: tl.constexpr, L): tl.store(y + tl.arange(0, L), 1)

def host(x):
    for i in range(100):
        k[(1,)](x, i, B=i, L=16)
"""
RENAMED = f"{HEAD}\n@triton.jit\ndef add(o, n):\n    return o % n\n\nplus = add\n{kernel('k', 'plus(o, n)')}{host('k')}"
TWO = HEAD + kernel("a") + kernel("b") + host("a", "b")
ASCEND = HEAD + kernel("k", "o, mask=o < n  # a\n    ") + host("k", block=48)


def said(findings):
    return sorted(
        (one.code, one.range.start.line, one.range.start.column, one.confidence, one.message, one.fix)
        for one in findings
    )


@pytest.fixture
def desk(tmp_path):
    """A folder, and a checker for the texts in it."""
    (tmp_path / "pyproject.toml").touch()

    class Desk(Checker):
        def put(self, name, text):
            file = tmp_path / name
            file.parent.mkdir(exist_ok=True)
            file.write_text(text, "utf-8")
            self.whole(file, text)
            return file

        def whole(self, file, text):
            return said(self.check(file, text, tmp_path, lambda: None))

        def key(self, file, text):
            return self.quick(file, text, tmp_path, lambda: None)

        def stopped(self, file, text):
            def stop():
                raise Stopped

            with contextlib.suppress(Stopped):
                self.quick(file, text, tmp_path, stop)

        def anew(self, file, text):
            return said(Checker().check(file, text, tmp_path, lambda: None))

    return Desk()


@pytest.mark.parametrize(
    ("text", "old", "new", "is_sure"),
    [
        (TWO, "x + o)", "x + o, mask=o < n)", True),
        (TWO, "    v = ", "    z = 1\n    v = ", True),
        (TUNED, "tl.store", "tl.atomic_add", True),
        (TUNED.replace("tl.store", "tl.atomic_add"), "tl.atomic_add", "tl.store", True),
        (TUNED, "    v = ", "    do_bench = 1\n    v = ", True),
        (WIDTH, "tl.arange(0, B)", "tl.arange(0, 16)", True),
        (RENAMED, "return o % n", "return o", True),
        (ASCEND, "# a", "# torch_npu", True),
        (BESIDE, "      B: tl", "          B: tl", False),
        (TWO, "    v = ", "    # tritonlint: ignore-file[TL101]\n    v = ", False),
        (TWO, "x + o)\n", "x + o)\u00a0\n", False),
        (TWO.replace("(0) * B +", "(0) * B \\\n        +"), "* B \\\n", "* B \\ \n", False),
        (TWO, "B=128)", "B=96)", False),
    ],
)
def test_a_sure_answer_is_that_of_a_whole_check(desk, text, old, new, is_sure):
    file = desk.put("a.py", text)
    assert old in text
    changed = text.replace(old, new, 1)
    quick = desk.key(file, changed)
    assert quick.is_sure is is_sure
    if is_sure:
        assert said(quick.findings) == desk.anew(file, changed)
    assert desk.whole(file, changed) == desk.anew(file, changed)


def test_a_key_that_the_next_one_stops_loses_nothing(desk):
    text = HEAD + kernel("a") + kernel("b") + kernel("c") + host("a", "b", "c")
    file = desk.put("a.py", text)
    text = text.replace("    v = ", "    z = 1\n    v = ", 1)
    desk.stopped(file, text)
    at = text.rindex("    v = ")
    text = text[:at] + "    z = 1\n" + text[at:]
    quick = desk.key(file, text)
    assert quick.is_sure
    assert said(quick.findings) == desk.anew(file, text)


def test_what_is_undone_is_undone_for_other_files(desk):
    helper = desk.put("a.py", HELPER)
    text = HEAD + "from a import helper\n" + kernel("k", "helper(o, n)") + host("k")
    file = desk.put("b.py", text)
    desk.stopped(helper, HELPER.replace("return o", "return o % n"))
    broken = HELPER.replace("return o", "return o % n +")
    desk.key(helper, broken)
    desk.whole(helper, broken)
    desk.whole(file, text)
    desk.key(helper, HELPER)
    desk.whole(helper, HELPER)
    assert desk.whole(file, text) == desk.anew(file, text)


def test_a_project_around_another_learns_of_its_edits(desk, tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "pyproject.toml").touch()
    (tmp_path / "sub" / "__init__.py").touch()
    helper = desk.put("sub/a.py", HELPER)
    text = HEAD + "from sub.a import helper\n" + kernel("k", "helper(o, n)") + host("k")
    file = desk.put("top.py", text)
    desk.whole(helper, HELPER)
    assert desk.whole(file, text) != []
    assert desk.key(helper, HELPER.replace("return o", "return o % n")).is_sure
    assert desk.whole(file, text) == []


def test_nothing_is_sure_while_another_text_or_the_settings_are_newer(desk):
    helper = desk.put("a.py", HELPER)
    text = HEAD + "from a import helper\n" + kernel("k", "helper(o, n)") + kernel("l", "helper(o, n)")
    text += host("k", "l")
    file = desk.put("b.py", text)
    assert desk.key(helper, HELPER.replace("return o", "return o % n")).is_sure
    longer = text.replace("    v = ", "    z = 1\n    v = ", 1)
    assert not desk.key(file, longer).is_sure
    desk.whole(file, longer)
    assert desk.key(file, text).is_sure
    desk.refresh(SettingsFinder(Options(ignore=("TL101",))))
    assert not desk.key(file, longer).is_sure
    assert desk.whole(file, longer) == []


def test_a_question_about_a_text_changes_nothing(desk, tmp_path):
    text = HEAD + kernel("k") + "\ndef other():\n    return 1\n"
    launching = HEAD + "from a import k\n" + host("k", block=48)
    desk.put("b.py", launching)
    file = desk.put("a.py", text)
    changed = text.replace("return 1", "return 2")
    assert not desk.key(file, changed).is_sure
    desk.module_of(file, changed, tmp_path)
    desk.key(file, text)
    assert desk.whole(file, text) == desk.anew(file, text)
