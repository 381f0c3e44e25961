"""Jupyter notebooks: their cells are one module, findings name cell and line, fixes change nothing else."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import nbformat
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tritonlint import magics, notebook, notebook_edits
from tritonlint.edits import Overlap
from tritonlint.finding import Edit, Position, Range
from tritonlint.parsing import ParseFailure, parses
from tritonlint.source import Source

NOTEBOOKS = Path(__file__).parent.parent / "fixtures" / "notebooks"
CONCISE = ("--no-cache", "--output-format", "concise")

HEAD = "import torch\nimport triton\nimport triton.language as tl"
KERNEL = """@triton.jit
def fill(x_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + at, 1.0, mask=at < n)
    tl.store(x_ptr + at, 2.0)"""
FOUND = "cell {}:{}:5: error TL101"
"""What is found in `KERNEL`, by its cell and line."""


def code(source, **members):
    return {
        "cell_type": "code",
        "execution_count": None,
        "id": "a",
        "metadata": {},
        "outputs": [],
        "source": source,
    } | members


def words(source):
    return {"cell_type": "markdown", "id": "b", "metadata": {}, "source": source}


def book(*cells, **metadata):
    return {"cells": list(cells), "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


@pytest.fixture
def check(tmp_path, monkeypatch, tritonlint):
    """Write a notebook, or take one as it is, and check it with some options."""
    monkeypatch.chdir(tmp_path)

    def run(contents, *options, name="nb.ipynb"):
        if contents is not None:
            data = contents if isinstance(contents, bytes) else json.dumps(contents, indent=1).encode()
            Path(name).write_bytes(data)
        return tritonlint("check", name, *(options or CONCISE))

    return run


# --- finding and reading -----------------------------------------------------------------------------


def test_the_fixtures_say_what_they_should(tritonlint, monkeypatch):
    monkeypatch.chdir(NOTEBOOKS)
    outcome = tritonlint("check", ".", *CONCISE)
    assert [line.split(" (")[0].split(": ")[:2] for line in outcome.out.splitlines()] == [
        ["broken_cell.ipynb:cell 2:2:19", "error TL901 invalid-syntax"],
        ["broken_cell.ipynb:cell 3:5:5", "error TL101 unmasked-access"],
        ["imports/launches_fills.ipynb:cell 2:2:5", "error TL202 unrounded-block"],
        ["kernel_and_launch.ipynb:cell 3:3:37", "error TL201 non-power-of-2-block"],
        ["kernel_and_launch.ipynb:cell 3:6:5", "error TL101 unmasked-access"],
        ["magics.ipynb:cell 5:5:5", "error TL101 unmasked-access"],
        ["old_format.ipynb:1:1", "error TL901 invalid-syntax"],
    ]
    assert outcome.code == 1
    assert outcome.err == "7 findings in 5 files (7 files read, 7 with Triton)\n"


@pytest.mark.parametrize("file", sorted(NOTEBOOKS.rglob("*.ipynb")), ids=lambda file: file.name)
def test_the_fixtures_are_notebooks(file):
    nbformat.validate(nbformat.reads(file.read_text("utf-8"), as_version=nbformat.NO_CONVERT))


def test_a_walk_finds_notebooks_and_exclude_leaves_them_out(check, tritonlint):
    contents = book(code(HEAD), code(KERNEL))
    assert FOUND.format(2, 5) in check(contents).out
    assert FOUND.format(2, 5) in tritonlint("check", ".", *CONCISE).out
    os.mkdir(".ipynb_checkpoints")
    shutil.copy("nb.ipynb", ".ipynb_checkpoints/nb-checkpoint.ipynb")
    assert tritonlint("check", ".", *CONCISE).err.endswith("(1 file read, 1 with Triton)\n")
    Path("plain.py").touch()
    Path("tritonlint.toml").write_text('exclude = ["*.ipynb"]\n')
    assert tritonlint("check", ".", *CONCISE).err == "no findings (1 file read, 0 with Triton)\n"


def test_standard_input_is_a_notebook_by_its_name(tritonlint):
    text = json.dumps(book(code(HEAD), code(KERNEL))).encode()
    outcome = tritonlint("check", "-", "--stdin-filename", "x.ipynb", stdin=text)
    assert outcome.out.startswith("x.ipynb:cell 2:5:5: error TL101")
    assert "\n5 |     tl.store(x_ptr + at, 2.0)\n" in outcome.out


@pytest.mark.parametrize("as_list", [True, False])
def test_a_source_is_a_list_or_one_string(check, as_list):
    split = (lambda text: text.splitlines(keepends=True)) if as_list else str
    outcome = check(book(words("# Fill"), code(split(HEAD)), words("then"), code(split(KERNEL))))
    assert FOUND.format(4, 5) in outcome.out
    assert outcome.out.count("\n") == 1


def test_the_cache_remembers_cells(check):
    contents = book(words("# Fill"), code(HEAD), code(KERNEL))
    options = ("--cache-dir", "kept", "--output-format", "json")
    first, second = check(contents, *options), check(None, *options)
    assert first == second
    assert json.loads(second.out)[0]["cell"] == 3
    assert check(book(code(HEAD)), *options).out == "[]\n"


@pytest.mark.parametrize(
    "contents",
    [
        book(),
        book(words("about triton")),
        book(code("x = 1 +"), words("about triton")),
        book(code("triton +", outputs=[]), kernelspec={"language": "R"}),
        book(code("triton +"), language_info={"name": "julia"}),
        book(code("triton +", metadata={"vscode": {"languageId": "shellscript"}})),
        book(code(None), code(3), code(["triton +", 3]), {"cell_type": "code", "triton": 1}, 7),
        {"cells": [{"cell_type": "raw", "source": "triton +"}]},
        {"cells": [], "metadata": {"kernelspec": 7, "language_info": {"name": None}}, "triton": 1},
        book(code("%%bash\ntriton (")),
        book(code("")),
        book(code([])),
        book(code("# triton")),
    ],
    ids=range(13),
)
def test_nothing_to_check_is_no_finding(check, contents):
    outcome = check(contents)
    assert (outcome.code, outcome.out) == (0, "")


def test_a_notebook_without_metadata_is_python(check):
    assert FOUND.format(1, 8) in check({"cells": [code(HEAD + "\n" + KERNEL)]}).out


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b'{"cells": [triton', "1:12: error TL901 invalid-syntax: the notebook is not valid JSON"),
        (b'{\n"cells": [],\n"triton"}', "3:9: error TL901 invalid-syntax: the notebook is not valid JSON"),
        (b'{"cells": [],}triton', "1:13: error TL901 invalid-syntax: the notebook is not valid JSON"),
        (b'{"cells": []} triton', "1:15: error TL901 invalid-syntax: the notebook is not valid JSON"),
        (b'{"cells": [{"triton": 1} {}]}', "1:26: error TL901 invalid-syntax: the notebook is not valid"),
        (b'{"triton": "', "1:12: error TL901 invalid-syntax: the notebook is not valid JSON"),
        (b'{"cells": ["triton",', "1:21: error TL901 invalid-syntax: the notebook is not valid JSON"),
        (b'{"cells": [{"source": "tri\0ton triton"', "1:27: error TL901 invalid-syntax: the notebook is not"),
        (
            b'{"triton": 1' + b"1" * 5000,
            "1:1: error TL901 invalid-syntax: the notebook cannot be read: Exceeds",
        ),
        (b'["triton"]', "1:1: error TL901 invalid-syntax: the file is no notebook"),
        (b'{"cells": {"triton": 1}}', "1:1: error TL901 invalid-syntax: the file is no notebook"),
        (b'{"worksheets": ["triton"]}', "1:1: error TL901 invalid-syntax: this notebook has an old format"),
        (b'\xff{"triton"', "1:1: error TL901 invalid-syntax: the file is not valid utf-8"),
        (
            b'{"triton": ' + b"[" * 100_000,
            "1:1: error TL901 invalid-syntax: the notebook is nested too deeply",
        ),
    ],
)
@pytest.mark.parametrize("output", ["concise", "full", "sarif", "github", "json"])
def test_what_is_no_notebook_is_one_finding(check, data, said, output):
    outcome = check(data, "--no-cache", "--output-format", output)
    assert (outcome.code, outcome.err) == (1, "1 finding in 1 file (1 file read, 1 with Triton)\n")
    if output in ("concise", "full"):
        assert outcome.out.startswith(f"nb.ipynb:{said}")
    assert check(data, "--no-cache", "--fix", "--add-ignores", "x").code == 1
    assert Path("nb.ipynb").read_bytes() == data


def test_a_byte_order_mark_stays(check):
    data = b"\xef\xbb\xbf" + json.dumps(book(code(HEAD), code(KERNEL))).encode()
    assert FOUND.format(2, 5) in check(data).out
    assert check(None, "--no-cache", "--fix").code == 0
    assert Path("nb.ipynb").read_bytes() == data.replace(b"2.0)", b"2.0, mask=at < n)")


# --- cells -------------------------------------------------------------------------------------------


def test_a_cell_that_cannot_be_parsed_costs_no_other(check):
    outcome = check(
        book(code(HEAD), code("def f(:\n  '''"), code("x = 'a"), code(KERNEL), code("   y ="), code("z"))
    )
    places = [line.split(": ")[0] for line in outcome.out.splitlines()]
    assert [place.split(":")[1] for place in places] == ["cell 2", "cell 3", "cell 4", "cell 5"]
    assert FOUND.format(4, 5) in outcome.out


def test_a_surrogate_alone_costs_its_cell(check):
    outcome = check(book(code(HEAD), code("x = '\ud800'"), code(KERNEL)))
    assert "cell 2:1:1: error TL901" in outcome.out
    assert FOUND.format(3, 5) in outcome.out


@pytest.mark.parametrize("between", ["x = 1", "%%bash\necho triton", "%%writefile k.py\nimport triton"])
def test_a_cell_more_changes_no_fingerprint(check, between):
    options = ("--no-cache", "--output-format", "json")
    (alone,) = json.loads(check(book(code(HEAD), code(KERNEL)), *options).out)
    (moved,) = json.loads(check(book(code(HEAD), code(between), words("x"), code(KERNEL)), *options).out)
    assert (alone["cell"], moved["cell"]) == (2, 4)
    assert alone["fingerprint"] == moved["fingerprint"]
    assert alone["range"] == moved["range"]


def test_a_notebook_is_a_script(check):
    tuned = "@triton.autotune([triton.Config({'BLOCK': 64}), triton.Config({'BLOCK': 128})], key=['n'])\n"
    masked = KERNEL.replace("2.0)", "2.0, mask=at < n)")
    launch = "fill[lambda meta: (8,)](torch.empty(1000), 1000)"
    assert (
        check(book(code(HEAD), code(tuned + masked), code(launch)), *CONCISE, "--select", "TL301").out == ""
    )


def test_kernels_come_from_files_beside_it_and_nothing_comes_from_it(check, tritonlint):
    Path("fills.py").write_text(f"{HEAD}\n\n\n{KERNEL}".replace("2.0)", "2.0, mask=at < n)"))
    launch = "def run(x):\n    width = x.shape[0]\n    fill[(1,)](x, width, BLOCK=width)"
    outcome = check(book(code("import triton\nfrom fills import fill"), code(launch)))
    assert "cell 2:2:5: error TL202" in outcome.out
    assert tritonlint("check", "fills.py", *CONCISE).code == 0


def test_comments_silence_in_cells_and_for_the_notebook(check):
    line = KERNEL + "  # tritonlint: ignore[TL101] padded"
    assert check(book(code(HEAD), code(line), code(KERNEL))).out.count("\n") == 1
    whole = "# tritonlint: ignore-file[TL101] padded"
    assert check(book(code(HEAD), code(KERNEL), code(KERNEL), code(whole))).out == ""
    said = check(book(code(HEAD), words(whole), code(f"%%bash\n{whole}"), code(KERNEL))).out
    assert said.count("\n") == 1
    unused = check(book(words(""), code(HEAD), code("x = 1\n" + whole))).out
    assert "cell 3:2:1: warning TL902" in unused


# --- formats -----------------------------------------------------------------------------------------


def test_programs_get_places_in_the_file_itself(check, tmp_path):
    text = json.dumps(book(words("é"), code(HEAD.splitlines(True)), code(KERNEL.splitlines(True))), indent=1)
    lines = text.split("\n")
    row = next(number for number, line in enumerate(lines) if "2.0)" in line)
    column = lines[row].index("tl.store") + 1
    shown = check(text.encode(), "--no-cache", "--output-format", "github").out
    assert f"file=nb.ipynb,line={row + 1},endLine={row + 1},col={column},endColumn={column + 25}," in shown
    assert "::nb.ipynb:cell 3:5:5: `tl.store` writes" in shown
    log = json.loads(check(None, "--no-cache", "--output-format", "sarif").out)
    (result,) = log["runs"][0]["results"]
    region = result["locations"][0]["physicalLocation"]["region"]
    assert region == {
        "startLine": row + 1, "startColumn": column, "endLine": row + 1, "endColumn": column + 25,
    }  # fmt: skip
    assert result["properties"]["cell"] == 3
    assert result["relatedLocations"][0]["physicalLocation"]["region"]["startLine"] == row
    (change,) = result["fixes"][0]["artifactChanges"]
    (replacement,) = change["replacements"]
    deleted = replacement["deletedRegion"]
    assert deleted["startLine"] == deleted["endLine"] == row + 1
    place = deleted["startColumn"] - 1
    lines[row] = lines[row][:place] + replacement["insertedContent"]["text"] + lines[row][place:]
    assert check(None, "--no-cache", "--fix").code == 0
    assert Path("nb.ipynb").read_text("utf-8") == "\n".join(lines)


def test_json_names_the_cell_of_every_place(check):
    launch = "import torch\nfill[(8,)](torch.empty(1000), 1000, BLOCK=96)"
    shown = check(book(code(HEAD), code(KERNEL), code(launch)), "--no-cache", "--output-format", "jsonl").out
    found = {one["code"]: one for one in map(json.loads, shown.splitlines())}
    assert found["TL201"]["cell"] == 2
    assert found["TL201"]["related"][0]["cell"] == 3
    assert found["TL201"]["related"][0]["range"]["start"]["line"] == 2
    assert found["TL201"]["fix"]["edits"][0]["cell"] == 3


# --- changes -----------------------------------------------------------------------------------------


def test_only_the_mask_is_new(check):
    text = (
        '{"nbformat_minor": 2,  "cells":\r\n[ { "source" : [\r\n\t"import triton  # \\u00e9t\\u00E9 \\/\\n"  ,\r\n'
        '"import triton.language as tl" ], "metadata":{}, "cell_type": "code", "execution_count": 10 ,\r\n'
        '"outputs": [{"output_type": "stream", "name": "stdout", "text": "tl.store(x_ptr + at, 2.0)"}] },\r\n'
        ' {"cell_type": "code", "outputs": [], "execution_count": null, "metadata": {"x": [1,2 ]}, "source": '
        + json.dumps(KERNEL)
        + ' }],\r\n"metadata": {}, "nbformat": 4}'
    )
    assert check(text.encode(), "--no-cache", "--fix").code == 0
    written = json.dumps(KERNEL)
    new = text.replace(written, written.replace("2.0)", "2.0, mask=at < n)"))
    assert Path("nb.ipynb").read_bytes().decode() == new
    nbformat.validate(nbformat.read("nb.ipynb", nbformat.NO_CONVERT))


def test_the_diff_applies(check):
    contents = book(code(HEAD.splitlines(True)), code(KERNEL.splitlines(True)))
    outcome = check(contents, "--no-cache", "--diff")
    assert '+    "    tl.store(x_ptr + at, 2.0, mask=at < n)"' in outcome.out
    subprocess.run(["git", "apply", "-"], input=outcome.out, text=True, check=True)
    assert check(None).code == 0


def test_ignores_are_written_into_cells_and_taken_out_again(check):
    contents = book(code(HEAD), code(KERNEL.splitlines(True)))
    assert check(contents, "--no-cache", "--add-ignores", "an example").code == 0
    after = json.loads(Path("nb.ipynb").read_bytes())
    assert after["cells"][1]["source"] == [
        *KERNEL.splitlines(True)[:-1],
        "    tl.store(x_ptr + at, 2.0)  # tritonlint: ignore[TL101] an example",
    ]
    after["cells"][1]["source"][-1] = after["cells"][1]["source"][-1].replace("2.0)", "2.0, mask=at < n)")
    assert check(after, "--no-cache", "--fix").code == 0
    left = json.loads(Path("nb.ipynb").read_bytes())
    assert left["cells"][1]["source"][-1] == "    tl.store(x_ptr + at, 2.0, mask=at < n)"


@pytest.mark.parametrize(
    ("source", "left"),
    [
        (["x = 1\n", "# tritonlint: ignore-file[TL201] y"], ["x = 1"]),
        (["x = 1\n", "# tritonlint: ignore-file[TL201] y\n", "z = 2"], ["x = 1\n", "z = 2"]),
        (["# tritonlint: ignore-file[TL201] y\n", "x = 1"], ["x = 1"]),
        (["x = 1\r\n", "# tritonlint: ignore-file[TL201] y"], ["x = 1"]),
        ("x = 1\n# tritonlint: ignore-file[TL201] y", "x = 1"),
        ("x = 1\n# tritonlint: ignore-file[TL201] y\n", "x = 1\n"),
        (["x = 1  # tritonlint: ignore[TL201] y\n", "z = 2"], ["x = 1\n", "z = 2"]),
    ],
)
def test_a_line_goes_with_its_string(check, source, left):
    check(book(code(HEAD), code(source), code("y = 3")), "--no-cache", "--fix")
    cells = json.loads(Path("nb.ipynb").read_bytes())["cells"]
    assert cells[1]["source"] == left
    assert cells[2]["source"] == "y = 3"


def test_a_change_may_not_reach_into_the_next_cell():
    read = notebook.read(json.dumps(book(code("a = 1"), code("b = 2"))).encode())
    first, second = (cell.first_line for cell in read.cells)
    with pytest.raises(Overlap):
        notebook_edits.apply(read, [Edit("", Range(Position(first, 1), Position(second, 2)), "")])
    with pytest.raises(Overlap):
        notebook_edits.apply(read, [Edit("", Range(Position(1, 1), Position(1, 1)), "x")])
    two = [Edit("", Range(Position(first, 1), Position(first, 3)), text) for text in ("x", "y")]
    with pytest.raises(Overlap):
        notebook_edits.apply(read, two)


TEXTS = st.text(st.sampled_from('ab "\\\n\té😀/'), max_size=12)


@st.composite
def spelled(draw, text):
    """A text as a JSON string, each character in any way that JSON has for it."""
    parts = []
    for char in text:
        plain = json.dumps(char, ensure_ascii=False)[1:-1]
        escaped = json.dumps(char)[1:-1] if not char.isascii() else f"\\u{ord(char):04x}"
        ways = [plain, escaped, escaped.upper().replace("\\U", "\\u")] + ["\\/"] * (char == "/")
        parts.append(draw(st.sampled_from(ways)))
    return f'"{"".join(parts)}"'


@st.composite
def files(draw):
    """A notebook's text, the sources of its cells, and where in the text those stand."""
    space = st.sampled_from(["", " ", "\n  ", "\r\n\t"])
    text, sources, places = "{" + draw(space) + '"cells":[', [], []
    for number in range(draw(st.integers(1, 4))):
        pieces = draw(st.lists(TEXTS, min_size=1, max_size=4))
        written = [draw(spelled(piece)) for piece in pieces]
        text += draw(space) + "," * (number > 0) + '{"cell_type":"code","source":'
        start = len(text)
        if draw(st.booleans()):
            between = draw(space) + "," + draw(space)
            text += "[" + draw(space) + between.join(written) + draw(space) + "]"
        else:
            pieces, written = pieces[:1], written[:1]
            text += written[0]
        sources.append("".join(pieces))
        places.append((start, len(text)))
        text += draw(space) + ',"metadata":{"é": "\\u00e9"},"outputs":[]}'
    return text + draw(space) + '],"nbformat":4}' + draw(space), sources, places


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_any_edit_of_a_cell_changes_its_source_alone(data):
    text, sources, places = data.draw(files())
    read = notebook.read(text.encode())
    cells = {cell.number: cell for cell in read.cells}
    number = data.draw(st.sampled_from(sorted(cells)))
    source = sources[number - 1]
    assert cells[number].text == source
    start = data.draw(st.integers(0, len(source)))
    end = data.draw(st.integers(start, len(source)))
    new = data.draw(TEXTS.filter(bool))

    def place(offset):
        before = source[:offset]
        return Position(cells[number].first_line + before.count("\n"), offset - before.rfind("\n"))

    where = Range(place(start), place(end))
    after = notebook_edits.apply(read, [Edit("", where, new)])
    first, last = places[number - 1]
    assert after[:first] == text[:first]
    assert after[len(after) - (len(text) - last) :] == text[last:]
    written = json.loads(after)["cells"][number - 1]["source"]
    joined = written if isinstance(written, str) else "".join(written)
    assert joined == source[:start] + new + source[end:]
    # What is outside of the lines that changed is spelled as it was.
    untouched = source[:start].rfind("\n") + 1
    seen = 0
    for literal in notebook.literals(text, cells[number].source):
        seen += len(literal.value)
        if seen > untouched or seen == len(source):
            break
        assert after[literal.start : literal.end] == text[literal.start : literal.end]
    raw = read.raw_range(where)
    lines = text.replace("\r\n", "\n").split("\n")
    if raw is not None and raw.start.line == raw.end.line:
        piece = lines[raw.start.line - 1][raw.start.column - 1 : raw.end.column - 1]
        spelled_here = json.loads(f'"{piece}"') if '"' not in piece.replace('\\"', "") else None
        assert spelled_here in (None, source[start:end])


# --- magics ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "python"),
    [
        ("!ls", "pass"),
        ("  !!ls -l 'x", "  pass"),
        ("%matplotlib inline", "pass"),
        ("%time f(x)", "if 1: f(x)"),
        ("%timeit -n 10 -r 3 f(x)", "if 1:" + " " * 14 + "f(x)"),
        ("%timeit f(x); g(y)  # both", "if 1:   f(x); g(y)  # both"),
        ("y = %time f(x)", "y =       f(x)"),
        ("%time", "pass"),
        ("%time for x in y:", "pass"),
        ("x = !ls {y}", "x = _"),
        ("a.b[0], c = %sql select 'x", "a.b[0], c = _"),
        ("?len", "pass"),
        ("len??", "pass"),
        ("x.y*?", "pass"),
        ("pip install torch", "pass"),
        ("cd ..", "pass"),
        ("%pip install \\\n  torch\nx = 1", "pass\n\nx = 1"),
        ("if x:\n    %cd y\nelse:\n\t!z", "if x:\n    pass\nelse:\n\tpass"),
    ],
)
def test_magics_become_python_of_the_same_lines(written, python):
    assert magics.cell_code(written) == python


@pytest.mark.parametrize(
    "text",
    [
        "x = (1\n% 2)",
        "x = 1 \\\n% 2",
        "x = '''\n!ls\n%time x\nhelp?\n'''",
        'x = "a\\\n!b"',
        "f(x)  # what?",
        "x = '?'",
        "print('x = !', y % z)",
        "x = [a\n!= 3]",
        "cat = 1\ncat (x)\nls -l",
        "x = f'{y!r}'",
        "@f\ndef g(): ...",
        "await f()",
        "plot(x);",
    ],
)
def test_python_stays_as_it_is(text):
    assert magics.cell_code(text) == text
    assert parses(text)


@settings(max_examples=300, deadline=None)
@given(st.text(st.sampled_from("ab1 \n\t'\"\\#()[]{}%!?=,.:;/"), max_size=40))
def test_lines_are_never_lost(text):
    python = magics.cell_code(text)
    assert python is None or python.count("\n") == text.count("\n")
    if parses(text) and not magics.has_cells(text) and "%%" not in text:
        assert python is not None
        assert parses(python)


@pytest.mark.parametrize(
    "magic", ["bash", "html", "writefile k.py", "javascript", "!", "cu", "sql", "python2"]
)
def test_other_programs_cells_are_left_out(magic):
    assert magics.cell_code(f"\n%%{magic}\nx ((") is None


@pytest.mark.parametrize("magic", ["time", "timeit -n 10", "capture out", "prun", "debug"])
def test_cells_that_are_measured_are_python(magic):
    assert magics.cell_code(f"%%{magic}\nx = 1") == "\nx = 1"
    assert magics.cell_code(f"%%capture\n%%{magic}\n!ls") == "\n\npass"


def test_a_cell_may_be_indented_as_a_whole(check):
    outcome = check(book(code("  # as pasted\n  " + HEAD.replace("\n", "\n  ")), code(KERNEL)))
    assert outcome.out.count("\n") == 1
    assert FOUND.format(2, 5) in outcome.out


# --- scripts with cells ------------------------------------------------------------------------------

SCRIPT = f"# %%\n{HEAD}\n%matplotlib inline\n\n# %% [markdown]\n# text\n\n# %%\n{KERNEL}\n"


def test_a_script_with_cells_may_have_magics(check):
    outcome = check(SCRIPT.encode(), name="script.py")
    assert "script.py:15:5: error TL101" in outcome.out
    assert outcome.out.count("\n") == 1
    assert check(None, "--no-cache", "--fix", name="script.py").code == 0
    assert Path("script.py").read_text() == SCRIPT.replace("2.0)", "2.0, mask=at < n)")
    other = SCRIPT.replace("%matplotlib inline", "\n#%%\n%%bash\nif [ -e x ]; then y; fi")
    assert check(other.encode(), name="script.py").out.count("TL101") == 1


def test_magics_in_a_script_without_cells_are_no_python(check):
    outcome = check(SCRIPT.replace("# %%", "#").encode(), name="script.py")
    assert "script.py:5:1: error TL901" in outcome.out
    assert outcome.out.count("\n") == 1


def test_jupytext_comments_are_comments(check):
    text = SCRIPT.replace("%matplotlib inline", "# %matplotlib inline\n# !ls\n# + tags=[]")
    assert "script.py:17:5: error TL101" in check(text.encode(), name="script.py").out


def test_a_text_of_a_notebook_is_read_as_one():
    source = Source.from_bytes(json.dumps(book(code("a = 1"), code("%%bash"), code("b"))).encode(), "x.ipynb")
    assert source.code == "\na = 1\n\nb\n"
    assert source.notebook is not None
    assert source.notebook.places.starts == ((2, 1), (4, 3))
    with pytest.raises(ParseFailure):
        Source.from_bytes(b"{}", "x.ipynb")
