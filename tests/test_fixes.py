"""Fixes: what they change, what they leave as it is, and when they are not made."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from measures import cases
from tritonlint import edits
from tritonlint.config import SettingsFinder
from tritonlint.evidence import Entry, Evidence, digest
from tritonlint.finding import Edit, Position, Range, Verdict
from tritonlint.fixer import fix, silence
from tritonlint.run import check_paths
from tritonlint.source import Source

FOLDERS = [folder for folder in cases.folders() if folder.name.startswith("p")]
NOT_FIXED = {
    "p1-even-k-parity": "the host's flag is computed by the wrong number, and which is right is not written anywhere",
    "p1-helper-scale-tail": "the helper has neither the mask nor the name of the index that its caller bounds",
    "p1-memset-rounded-up": "the kernel is not given the size at which it would have to stop",
    "p2-acc-shape-72": "the extent is also the width of a row: it takes a parameter and a mask more",
    "p2-hidden-7168": "the extent is also the width of a row: it takes a parameter and a mask more",
    "p2-nope-plus-rope-192": "the extent is also the width of a row: it takes a parameter and a mask more",
    "p6-descriptor-gemm-row-order": "the tile has no name for its row and column that could be given others",
    "p6-wrong-axis-modulo": "which of the two counts is the wrong one is not written anywhere",
}


def fixed(folder, *, unsafe=True):
    """What fixing a folder comes to, written."""
    run = check_paths([folder])
    result = fix(run.findings, SettingsFinder(), lambda path: folder, unsafe=unsafe)
    result.write()
    return result


def codes(folder):
    return {finding.code for finding in check_paths([folder]).findings}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_the_case_is_fixed_or_says_why_not(folder, tmp_path):
    bad = tmp_path / "bad.py"
    bad.write_bytes((folder / "bad.py").read_bytes())
    pitfall = f"TL{cases.read(folder)['pitfall']}"
    fixed(tmp_path)
    left = {code for code in codes(tmp_path) if code.startswith(pitfall)}
    assert bool(left) is (folder.name in NOT_FIXED)
    ast.parse(bad.read_bytes())
    again = bad.read_bytes()
    assert not fixed(tmp_path).after
    assert bad.read_bytes() == again


KERNEL = """import torch
import triton
import triton.language as tl


@triton.jit
def scale(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)  # où
    x = tl.load(x_ptr + at, mask=at < n){load}
    tl.store({store})


def run(x: torch.Tensor):
    y = torch.empty_like(x)
    scale[(triton.cdiv(x.numel(), 128),)](x, y, x.numel(), BLOCK=128)
    return y
"""

STORES = [
    "y_ptr + at, x * 2",
    "y_ptr + at, x * 2,",
    "y_ptr + at,\n             x * 2,  # twice\n             ",
    "y_ptr + at, (x * 2)",
    "y_ptr + at, ((x\n              * 2)  # twice\n             )",
    "\n        y_ptr + at,\n        x * 2,\n    ",
    "y_ptr + at, \\\n        x * 2",
    "pointer=y_ptr + at, value=x * 2",
]


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    store=st.sampled_from(STORES),
    comment=st.sampled_from(["", "  # kept", "  # )(,"]),
    newline=st.sampled_from(["\n", "\r\n", "\r"]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "latin-1"]),
    is_nested=st.booleans(),
    ends=st.booleans(),
)
def test_only_the_mask_is_new(tmp_path, store, comment, newline, encoding, is_nested, ends):
    assume((newline, encoding) != ("\r", "latin-1"))  # Python itself then takes the file for UTF-8
    text = KERNEL.format(load=comment, store=store)
    if is_nested:
        text = "import os\nif os.sep:\n" + "".join(
            f"    {line}" if line.strip() else line for line in text.splitlines(True)
        )
    if encoding == "latin-1":
        text = "# -*- coding: latin-1 -*-\n" + text
    text = text if ends else text.rstrip("\n")
    file = tmp_path / "kernel.py"
    before = text.replace("\n", newline).encode(encoding)
    file.write_bytes(before)
    result = fixed(tmp_path, unsafe=False)
    after = file.read_bytes()
    assert [finding.code for finding in result.applied] == ["TL101"]
    assert after.replace(b", mask=at < n", b"") == before.replace(b", mask=at < n", b"")
    assert after.count(b"mask=at < n") == 2
    ast.parse(after)
    assert not fixed(tmp_path).after


def test_mode_and_links_stay(tmp_path):
    real = tmp_path / "real" / "kernel.py"
    real.parent.mkdir()
    real.write_text(KERNEL.format(load="", store=STORES[0]), encoding="utf-8")
    real.chmod(0o640)
    (tmp_path / "package").mkdir()
    link = tmp_path / "package" / "kernel.py"
    link.symlink_to(real)
    fixed(tmp_path / "package")
    assert link.is_symlink()
    assert real.stat().st_mode & 0o777 == 0o640
    assert "mask=at < n)\n\n" in real.read_text("utf-8")
    assert sorted(os.listdir(real.parent)) == ["kernel.py"]


def test_a_fix_that_brings_another_finding_is_dropped(tmp_path):
    (tmp_path / "kernel.py").write_text(
        KERNEL.format(load="", store="y_ptr + at, x * 2, mask=at < n"), encoding="utf-8"
    )
    run = check_paths([tmp_path])
    assert not run.findings
    (tmp_path / "kernel.py").write_text(KERNEL.format(load="", store=STORES[0]), encoding="utf-8")
    (finding,) = check_paths([tmp_path]).findings
    broken = Edit(finding.path, finding.fix.edits[0].range, ", mask=at <")
    wrong = type(finding.fix)("nonsense", finding.fix.applicability, (broken,))
    idle = type(finding.fix)(
        "nothing", finding.fix.applicability, (Edit(finding.path, broken.range, ", cache_modifier=''"),)
    )
    for attempt, reason in ((wrong, "would not be sound"), (idle, "would still be reported")):
        from dataclasses import replace

        result = fix([replace(finding, fix=attempt)], SettingsFinder(), lambda path: tmp_path)
        assert [text for _, text in result.dropped if reason in text]


def test_edits_that_touch_are_refused():
    one = Edit("a.py", Range(Position(1, 1), Position(1, 3)), "x")
    two = Edit("a.py", Range(Position(1, 2), Position(1, 4)), "y")
    with pytest.raises(edits.Overlap):
        edits.apply("abcd\n", [one, two])
    assert edits.overlap([one], [two])
    assert not edits.overlap([one], [one])


def test_items_go_with_their_commas():
    source = Source("a.py", "key = ['a', 'b',  # b\n       'c']\n")
    items = source.tree.body[0].value
    for gone, left in (((0,), ["b", "c"]), ((1,), ["a", "c"]), ((1, 2), ["a"]), ((0, 1, 2), [])):
        changed = edits.apply(source.text, edits.without_items(source, items, [items.elts[i] for i in gone]))
        assert ast.literal_eval(ast.parse(changed).body[0].value) == left


def command(folder, *arguments):
    return subprocess.run(
        [sys.executable, "-m", "tritonlint", "check", "--no-cache", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        encoding="utf-8",
    )


def test_the_diff_applies_and_changes_nothing_itself(tmp_path):
    file = tmp_path / "kernel.py"
    file.write_text(KERNEL.format(load="", store=STORES[0]), encoding="utf-8")
    before = file.read_bytes()
    answer = command(tmp_path, "--diff", ".")
    assert (answer.returncode, file.read_bytes()) == (1, before)
    assert "would fix 1 finding in 1 file" in answer.stderr
    subprocess.run(
        ["git", "apply", "-"], cwd=tmp_path, input=answer.stdout, text=True, check=True, encoding="utf-8"
    )
    assert command(tmp_path, ".").returncode == 0
    assert command(tmp_path, "--diff", ".").returncode == 0


def test_a_file_that_cannot_be_changed_keeps_no_other_from_it(tmp_path):
    text = KERNEL.format(load="", store=STORES[0])
    hopeless = tmp_path / f"a{'b' * 248}.py"  # there is no room for a name beside it
    for file in (hopeless, tmp_path / "kernel.py"):
        file.write_text(text, encoding="utf-8")
    answer = command(tmp_path, "--fix", ".")
    assert answer.returncode == 2
    assert "fixed 1 finding in 1 file\n" in answer.stderr
    assert f"1 file cannot be changed: {hopeless.name}: File name too long" in answer.stderr
    assert hopeless.read_text("utf-8") == text
    assert (tmp_path / "kernel.py").read_text("utf-8") != text


def test_a_diff_takes_no_format_its_file(tmp_path):
    (tmp_path / "kernel.py").write_text(KERNEL.format(load="", store=STORES[0]), encoding="utf-8")
    answer = command(tmp_path, "--diff", "--output-format", "json:found.json", ".")
    assert answer.stdout.startswith("--- a/kernel.py")
    assert [one["code"] for one in json.loads((tmp_path / "found.json").read_bytes())] == ["TL101"]


def test_unsafe_fixes_wait_to_be_asked_for(tmp_path):
    folder = next(folder for folder in FOLDERS if folder.name == "p3-product-of-configs")
    file = tmp_path / "kernel.py"
    file.write_bytes((folder / "bad.py").read_bytes())
    answer = command(tmp_path, "--fix", ".")
    assert file.read_bytes() == (folder / "bad.py").read_bytes()
    assert "more with --unsafe-fixes" in answer.stderr
    answer = command(tmp_path, "--fix", "--unsafe-fixes", ".")
    assert 'key=["M", "N", "K"], cache_results=True)' in file.read_text("utf-8")
    assert "fixed" in answer.stderr


def test_standard_input_cannot_be_changed():
    text = KERNEL.format(load="", store=STORES[0])
    answer = subprocess.run(
        [sys.executable, "-m", "tritonlint", "check", "--fix", "-"],
        input=text.encode(),
        capture_output=True,
        check=False,
    )
    assert answer.returncode == 2
    assert b"give the file as a path" in answer.stderr


# --- comments that ignore ----------------------------------------------------------------------------

BARE = """import torch
import triton
import triton.language as tl


@triton.jit
def scale(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + at, tl.load(x_ptr + at)){said}


def run(x: torch.Tensor):
    y = torch.empty_like(x)
    scale[(triton.cdiv(x.numel(), 128),)](
        x, y, x.numel(), BLOCK=128
    )
    return y
"""


def silenced(folder, reason="checked by the caller"):
    result = silence(check_paths([folder]).findings, SettingsFinder(), lambda path: folder, reason)
    result.write()
    return result


@pytest.mark.parametrize(
    ("said", "written"),
    [
        ("", "  # tritonlint: ignore[TL101] checked by the caller"),
        ("  # where?", "  # where?  # tritonlint: ignore[TL101] checked by the caller"),
        ("  # tritonlint: ignore[TL902] x", "  # tritonlint: ignore[TL902, TL101] x"),
    ],
)
def test_a_comment_ignores_what_is_found(tmp_path, said, written):
    file = tmp_path / "kernel.py"
    file.write_text(BARE.format(said=said), encoding="utf-8", newline="\r\n")
    result = silenced(tmp_path)
    assert {finding.code for finding in result.applied} == {"TL101"}
    assert file.read_bytes() == BARE.format(said=written).replace("\n", "\r\n").encode()
    assert check_paths([tmp_path]).findings == []
    assert silenced(tmp_path).after == {}


def test_findings_of_one_statement_share_a_comment(tmp_path):
    (tmp_path / "kernel.py").write_text(BARE.format(said=""), encoding="utf-8")
    assert len(silenced(tmp_path).applied) == 2
    assert (tmp_path / "kernel.py").read_text("utf-8").count("tritonlint") == 1


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    store=st.sampled_from(STORES),
    comment=st.sampled_from(["", "  # kept", "  # )(,", "  "]),
    newline=st.sampled_from(["\n", "\r\n", "\r"]),
    ends=st.booleans(),
)
def test_a_comment_goes_behind_any_statement(tmp_path, store, comment, newline, ends):
    text = KERNEL.format(load=comment, store=store)
    file = tmp_path / "kernel.py"
    file.write_bytes((text if ends else text.rstrip("\n")).replace("\n", newline).encode())
    assert silenced(tmp_path).applied
    assert check_paths([tmp_path]).findings == []
    ast.parse(file.read_bytes())


def test_the_command_fixes_first_and_ignores_what_is_left(tmp_path):
    (tmp_path / "kernel.py").write_text(BARE.format(said=""), encoding="utf-8")
    shown = command(tmp_path, "--diff", "--add-ignores", "old code", ".")
    assert shown.returncode == 1
    assert "would ignore 2 findings in 1 file" in shown.stderr
    assert (
        "+    tl.store(y_ptr + at, tl.load(x_ptr + at))  # tritonlint: ignore[TL101] old code" in shown.stdout
    )
    done = command(tmp_path, "--add-ignores", "old code", ".")
    assert (done.returncode, "ignored 2 findings in 1 file" in done.stderr) == (0, True)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--add-ignores", ""], "takes a reason: one line"),
        (["--add-ignores", "a\nb"], "takes a reason: one line"),
        (["--add-ignores", "see #12"], "takes a reason: one line"),
        (["--add-ignores", "x", "--fix", "--diff"], "shows one change"),
    ],
)
def test_what_cannot_be_asked_for(tmp_path, arguments, said):
    (tmp_path / "kernel.py").write_text(BARE.format(said=""), encoding="utf-8")
    answer = command(tmp_path, *arguments, ".")
    assert (answer.returncode, said in answer.stderr) == (2, True)


# --- winners that a run measured ---------------------------------------------------------------------

TUNED = """import torch
import triton
import triton.language as tl

{before}
@triton.autotune(configs={configs}, key=["n"])
@triton.jit
def scale(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    tl.store(y_ptr + at, x * 2, mask=at < n)


def run(x: torch.Tensor):
    y = torch.empty_like(x)
    scale[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, y, x.numel())
    return y
"""
LISTED = """[
        triton.Config({"BLOCK": 128}, num_warps=4),  # small
        triton.Config({"BLOCK": 1024}, num_warps=8),
        triton.Config({"BLOCK": 1024}, num_warps=8, num_stages=2),
    ]"""
COMPUTED = "[triton.Config({'BLOCK': b}, num_warps=w) for b in (128, 256, 512, 1024) for w in (2, 4, 8)]"
WINNER = {"BLOCK": 1024, "num_warps": 8, "num_ctas": 1, "num_stages": 3}


def evidence_of(folder, *winners):
    (finding,) = [one for one in check_paths([folder]).findings if one.code == "TL301"]
    subject = digest((folder / "kernel.py").read_bytes(), finding.kernel)
    details = {"winners": [{"key": {"n": n}, "winner": one} for n, one in enumerate(winners)]}
    evidence = Evidence()
    evidence.add(
        Entry(
            finding.fingerprint, "TL301", "scale", "", 1, Verdict.CONFIRMED, "tuned", "gpu", subject, details
        )
    )
    evidence.write(folder / "e.json")


@pytest.mark.parametrize(
    ("before", "configs", "left"),
    [
        ("", LISTED, '[\n        triton.Config({"BLOCK": 1024}, num_warps=8),\n    ]'),
        ("", COMPUTED, '[triton.Config({"BLOCK": 1024}, num_warps=8)]'),
        (f"SPACE = {COMPUTED}\n", "SPACE", '[triton.Config({"BLOCK": 1024}, num_warps=8)]'),
    ],
)
def test_a_tuner_is_pinned_to_what_won_everywhere(tmp_path, before, configs, left):
    file = tmp_path / "kernel.py"
    file.write_text(TUNED.format(before=before, configs=configs), encoding="utf-8")
    evidence_of(tmp_path, WINNER, WINNER)
    answer = command(tmp_path, "--fix", "--evidence", "e.json", "--select", "TL301", ".")
    assert "fixed 1 finding in 1 file" in answer.stderr
    assert file.read_text("utf-8") == TUNED.format(before=before, configs=left)
    assert answer.returncode == 0


def test_a_tuner_with_several_winners_asks_a_table(tmp_path):
    file = tmp_path / "kernel.py"
    file.write_text(TUNED.format(before="", configs=LISTED), encoding="utf-8")
    small = {**WINNER, "BLOCK": 128, "num_warps": 4}
    evidence_of(tmp_path, WINNER, small)
    answer = command(tmp_path, "--fix", "--evidence", "e.json", "--select", "TL301,TL303", ".")
    assert "fixed 1 finding in 1 file" in answer.stderr
    text = file.read_text("utf-8")
    assert '(0,): {"BLOCK": 1024, "num_warps": 8, "num_stages": 3},' in text
    assert 'key=["n"], prune_configs_by={"early_config_prune": _scale_winner})' in text
    functions = {}
    table = text[text.index("_SCALE_WINNERS") : text.index("@triton.autotune")]
    exec(table, functions)

    class Config:
        def __init__(self, **values):
            self.values = values

        def all_kwargs(self):
            return self.values

    configs = [Config(**WINNER), Config(**small), Config(**{**WINNER, "num_stages": 2})]
    for n, kept in ((0, configs[:1]), (1, configs[1:2]), (7, configs)):
        assert functions["_scale_winner"](configs, {"n": n, "x_ptr": None}) == kept


# --- changes that a compiler would refuse ------------------------------------------------------------

PRODUCTS = """import torch
import triton
import triton.language as tl


@triton.jit
def attend(q_ptr, k_ptr, o_ptr, N: tl.constexpr):
    at = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    q = tl.load(q_ptr + at)
    k = tl.load(k_ptr + at)
    s = tl.dot(q, k, out_dtype=tl.float16)
    p = s * 2
    tl.store(o_ptr + at, tl.dot({operand}, k))


def run(q: torch.Tensor, k: torch.Tensor):
    assert q.dtype == k.dtype == torch.float16
    o = torch.empty_like(q)
    attend[(1,)](q, k, o, N=64)
    return o
"""


@pytest.mark.parametrize(("operand", "is_fixed"), [("p", False), ("p.to(tl.float16)", True)])
def test_a_product_that_feeds_another_stays_narrow_without_a_cast(tmp_path, operand, is_fixed):
    (tmp_path / "kernel.py").write_text(PRODUCTS.format(operand=operand), encoding="utf-8")
    found = [one for one in check_paths([tmp_path]).findings if one.code == "TL501"]
    assert found
    assert [one.fix is not None for one in found] == [is_fixed] * len(found)


def test_a_number_is_not_cast(tmp_path):
    text = KERNEL.format(load="", store="y_ptr + at, tl.sum(2 * x.to(tl.float16), axis=0)")
    (tmp_path / "kernel.py").write_text(text.replace("x: torch.Tensor", "x: torch.HalfTensor"), "utf-8")
    fixed(tmp_path)
    assert "(2).to" not in (tmp_path / "kernel.py").read_text("utf-8")
    assert "2 * x.to(tl.float16).to(tl.float32)" in (tmp_path / "kernel.py").read_text("utf-8")
