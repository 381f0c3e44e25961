"""Each format: one finding of every kind, read back or compared as a whole."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from tritonlint.builtin import InvalidSyntax
from tritonlint.finding import (
    Applicability,
    Confidence,
    Edit,
    Finding,
    Fix,
    Position,
    Range,
    Related,
    Severity,
    Verdict,
)
from tritonlint.output import FORMATS, RenderContext, render

CASES = Path(__file__).parent.parent / "fixtures" / "cases"

SOURCE = "def add(x_ptr):\n    x = tl.load(x_ptr + offsets)\n\tdéjà, y = tl.load(  # 100%\n        y_ptr)\n"


def where(line, column, end_line, end_column):
    return Range(Position(line, column), Position(end_line, end_column))


LOAD = where(2, 9, 2, 33)

FIRST = Finding(
    code="TL101",
    name="unmasked-access",
    message="`tl.load` reads past `n`",
    severity=Severity.ERROR,
    confidence=Confidence.HIGH,
    path="pkg/add.py",
    range=LOAD,
    kernel="add",
    related=(Related("pkg/add.py", where(1, 1, 1, 16), "in this kernel"),),
    fix=Fix("add a mask", Applicability.SAFE, (Edit("pkg/add.py", where(2, 32, 2, 32), ", mask"),)),
    verdict=Verdict.CONFIRMED,
    evidence="24 lanes",
    fingerprint="0123456789abcdef",
)
SECOND = Finding(
    code="TL901",
    name="invalid-syntax",
    message="100% of: a, b\n(and c)",
    severity=Severity.WARNING,
    confidence=Confidence.MEDIUM,
    path="pkg/add.py",
    range=where(3, 2, 4, 15),
    fingerprint="fedcba9876543210",
)
NOTE = replace(FIRST, severity=Severity.NOTE, path="pkg/a b,ü:100%.py", kernel=None, related=(), fix=None)


@pytest.fixture(autouse=True)
def _source(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "add.py").write_text(SOURCE, encoding="utf-8")


def shown(output_format, *findings, **context):
    return render(output_format, findings, RenderContext(**context))


@pytest.mark.parametrize("output_format", FORMATS)
def test_no_findings(output_format):
    text = shown(output_format)
    if output_format in ("json", "gitlab"):
        assert json.loads(text) == []
    elif output_format == "sarif":
        assert json.loads(text)["runs"][0]["results"] == []
    elif output_format == "rdjson":
        assert json.loads(text)["diagnostics"] == []
    elif output_format == "junit":
        assert text.count("<testcase") == 1
    elif output_format == "markdown":
        assert text == "## tritonlint: no findings\n"
    else:
        assert text == ""


@pytest.mark.parametrize("output_format", FORMATS)
def test_a_file_that_is_gone_does_not_matter(output_format):
    Path("pkg/add.py").unlink()
    assert "TL101" in shown(output_format, FIRST)


# --- for people --------------------------------------------------------------------------------------


def test_full():
    assert (
        shown("full", FIRST)
        == """\
pkg/add.py:2:9: error TL101 unmasked-access: `tl.load` reads past `n`
  |
2 |     x = tl.load(x_ptr + offsets)
  |         ^^^^^^^^^^^^^^^^^^^^^^^^
  = high confidence, in kernel `add`, confirmed: 24 lanes
  = fix (safe): add a mask
  pkg/add.py:1:1: in this kernel
    |
  1 | def add(x_ptr):
    | ---------------

"""
    )


def test_full_marks_the_first_line_of_several_and_counts_tabs_and_wide_letters():
    assert (
        shown("full", SECOND)
        == """\
pkg/add.py:3:2: warning TL901 invalid-syntax: 100% of: a, b\\n(and c)
  |
3 |     déjà, y = tl.load(  # 100%
  |     ^^^^^^^^^^^^^^^^^^^^^^^^^^
  = medium confidence

"""
    )
    Path("pkg/add.py").write_text("x\nx = '\u6f22\u5b57', tl.load(p)\n", encoding="utf-8")
    lines = shown("full", replace(FIRST, range=where(2, 11, 2, 21))).splitlines()
    assert lines[3] == "  | " + " " * 12 + "^" * 10


def test_full_cuts_a_very_long_line_around_the_finding():
    Path("pkg/add.py").write_text("\n" + "a" * 5000 + " = tl.load(p)  # " + "b" * 5000 + "\n")
    lines = shown("full", replace(FIRST, range=where(2, 5004, 2, 5014))).splitlines()
    assert len(lines[2]) < 200
    assert lines[2][lines[3].index("^") :].startswith("tl.load(p)")


def test_full_with_colours():
    text = shown("full", FIRST, color=True)
    assert "\x1b[1;31merror TL101\x1b[0m" in text
    assert "\x1b[1;31m" + "^" * 24 + "\x1b[0m" in text
    assert "\x1b" not in shown("full", FIRST)


def test_full_does_not_let_source_drive_the_terminal():
    Path("pkg/add.py").write_text("\nx = '\x1b[2J'\n")
    text = shown("full", replace(FIRST, message="\x1b]0;title\x07"))
    assert "\x1b" not in text
    assert "\\x1b[2J" in text


def test_full_reads_what_is_not_on_disk():
    text = shown("full", replace(FIRST, path="<stdin>", related=()), texts={"<stdin>": SOURCE.encode()})
    assert "2 |     x = tl.load(x_ptr + offsets)\n" in text


def test_concise():
    assert shown("concise", FIRST, SECOND) == (
        "pkg/add.py:2:9: error TL101 unmasked-access: `tl.load` reads past `n` (high confidence)\n"
        "pkg/add.py:3:2: warning TL901 invalid-syntax: 100% of: a, b\\n(and c) (medium confidence)\n"
    )


# --- for programs ------------------------------------------------------------------------------------

AS_JSON = {
    "code": "TL101",
    "name": "unmasked-access",
    "message": "`tl.load` reads past `n`",
    "severity": "error",
    "confidence": "high",
    "verdict": "confirmed",
    "evidence": "24 lanes",
    "path": "pkg/add.py",
    "kernel": "add",
    "cell": None,
    "range": {"start": {"line": 2, "column": 9}, "end": {"line": 2, "column": 33}},
    "related": [
        {
            "path": "pkg/add.py",
            "cell": None,
            "range": {"start": {"line": 1, "column": 1}, "end": {"line": 1, "column": 16}},
            "message": "in this kernel",
        }
    ],
    "fix": {
        "title": "add a mask",
        "applicability": "safe",
        "edits": [
            {
                "path": "pkg/add.py",
                "cell": None,
                "range": {"start": {"line": 2, "column": 32}, "end": {"line": 2, "column": 32}},
                "text": ", mask",
            }
        ],
    },
    "fingerprint": "0123456789abcdef",
    "url": None,
}


def test_json_is_the_whole_record_in_this_order():
    first, second = json.loads(shown("json", FIRST, SECOND))
    assert first == AS_JSON
    assert list(first) == list(AS_JSON) == list(second)
    assert (second["kernel"], second["evidence"], second["fix"], second["related"]) == (None, None, None, [])


def test_json_is_ascii_whatever_the_names():
    assert shown("json", replace(NOTE, message="ж \udcff")).isascii()


def test_jsonl_has_one_object_a_line():
    lines = shown("jsonl", FIRST, SECOND).splitlines()
    assert json.loads(lines[0]) == AS_JSON
    assert len(lines) == 2


def test_github_escapes_what_its_commands_are_made_of():
    assert shown("github", FIRST, SECOND, NOTE) == (
        "::error file=pkg/add.py,line=2,endLine=2,col=9,endColumn=33,title=TL101 unmasked-access"
        "::pkg/add.py:2:9: `tl.load` reads past `n`\n"
        "::warning file=pkg/add.py,line=3,endLine=4,title=TL901 invalid-syntax"
        "::pkg/add.py:3:2: 100%25 of: a, b%0A(and c)\n"
        "::notice file=pkg/a b%2Cü%3A100%25.py,line=2,endLine=2,col=9,endColumn=33,title=TL101 unmasked-access"
        "::pkg/a b,ü:100%25.py:2:9: `tl.load` reads past `n`\n"
    )


# --- SARIF -------------------------------------------------------------------------------------------


def sarif(*findings):
    return json.loads(shown("sarif", *findings, rules={"TL901": InvalidSyntax}))


def test_sarif_names_places_levels_and_fingerprints():
    (run,) = sarif(FIRST, SECOND, NOTE)["runs"]
    assert run["columnKind"] == "unicodeCodePoints"
    first, second, note = run["results"]
    assert [result["level"] for result in run["results"]] == ["error", "warning", "note"]
    assert first["partialFingerprints"] == {"tritonlint/v1": "0123456789abcdef"}
    assert first["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "pkg/add.py", "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": 2, "startColumn": 9, "endLine": 2, "endColumn": 33},
    }
    assert first["locations"][0]["logicalLocations"] == [{"name": "add", "kind": "function"}]
    assert first["relatedLocations"][0]["message"] == {"text": "in this kernel"}
    assert first["fixes"][0]["artifactChanges"][0]["replacements"] == [
        {
            "deletedRegion": {"startLine": 2, "startColumn": 32, "endLine": 2, "endColumn": 32},
            "insertedContent": {"text": ", mask"},
        }
    ]
    assert "relatedLocations" not in second
    uri = note["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri == "pkg/a%20b%2C%C3%BC%3A100%25.py"


def test_sarif_explains_its_rules():
    (run,) = sarif(SECOND, FIRST)["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["TL101", "TL901"]
    assert [result["ruleIndex"] for result in run["results"]] == [1, 0]
    assert "## Why is this bad?" in rules[1]["help"]["markdown"]
    assert rules[1]["defaultConfiguration"] == {"level": "error"}


def test_sarif_names_a_file_outside_the_working_directory_in_full(tmp_path):
    (run,) = sarif(replace(FIRST, path="../else where.py"))["runs"]
    place = run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert place == {"uri": (tmp_path.parent / "else where.py").as_uri()}


def steps(result):
    """The flows of a result: of each place its line, and what is said there."""
    return [
        [
            (at["location"]["physicalLocation"]["region"]["startLine"], at["location"]["message"]["text"])
            for at in flow["threadFlows"][0]["locations"]
        ]
        for flow in result.get("codeFlows", [])
    ]


def related(*messages):
    """Notes at lines from 11 on."""
    return tuple(Related("host.py", where(11 + at, 1, 11 + at, 9), text) for at, text in enumerate(messages))


@pytest.mark.parametrize(
    ("messages", "flows"),
    [
        (("launched here with n",), [[11]]),
        (("the same index is kept below `n` here", "launched here", "called here by `f`", "called here by `g`"), [[12, 13, 14]]),
        (("`BLOCK` is 96 at this launch", "`BLOCK` is 48 at this launch"), [[11], [12]]),
        (("called here by `f`",), [[11]]),
        (("the same index is kept below `n` here", "added up here", "`n` is relaunched here"), []),
        ((), []),
    ],
)  # fmt: skip
def test_sarif_leads_from_the_launch_to_the_kernel(messages, flows):
    (run,) = sarif(replace(FIRST, related=related(*messages)))["runs"]
    (result,) = run["results"]
    assert [[line for line, _ in flow] for flow in steps(result)] == [[*flow, 2] for flow in flows]
    assert all(flow[-1][1] == FIRST.message for flow in steps(result))
    assert ("codeFlows" in result) is bool(flows)


@pytest.mark.parametrize(
    ("case", "words"),
    [
        ("p1-helper-scale-tail", ["launched here with", "called here by"]),
        ("p2-hidden-7168", ["at this launch"]),
        ("p5-row-mean-half", ["launched here with half-precision"]),
    ],
)
def test_rules_say_launches_in_the_words_that_sarif_knows(tritonlint, case, words):
    done = tritonlint("check", CASES / case, "--output-format", "sarif", "--no-cache")
    flows = [flow for result in json.loads(done.out)["runs"][0]["results"] for flow in steps(result)]
    assert flows
    for flow in flows:
        assert len(flow) == len(words) + 1
        assert all(word in text for word, (_, text) in zip(words, flow, strict=False))


def test_sarif_is_valid_by_its_schema():
    schema = os.environ.get("TRITONLINT_SARIF_SCHEMA")
    if not schema:
        pytest.skip("TRITONLINT_SARIF_SCHEMA does not name the SARIF 2.1.0 schema; .ci/run fetches one")
    jsonschema = pytest.importorskip("jsonschema")
    validator = jsonschema.validators.validator_for(json.loads(Path(schema).read_bytes()))
    check = validator(json.loads(Path(schema).read_bytes()))
    flow = replace(FIRST, related=related("launched here", "called here by `f`"))
    check.validate(sarif(FIRST, SECOND, NOTE, flow, replace(FIRST, path="../x.py")))
    check.validate(sarif())
    with pytest.raises(jsonschema.ValidationError):
        check.validate({**sarif(), "version": "2.0.0"})
