"""The formats that CI servers and review tools read, held against what these document."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from conftest import KERNEL
from test_outputs import FIRST, NOTE, SECOND, SOURCE, shown, where

from tritonlint.finding import Applicability, Edit, Fix, Related, Verdict

jsonschema = pytest.importorskip("jsonschema")

REFUTED = replace(SECOND, verdict=Verdict.REFUTED, evidence="0 lanes", fingerprint="00aa")
ODD_NAME = replace(FIRST, path="pkg/\udcff.py", message="`\x1b[2J` \udcff", fingerprint="11bb")
"""A file name that is no UTF-8, and a control sequence out of a kernel."""


@pytest.fixture(autouse=True)
def _source(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "add.py").write_text(SOURCE, encoding="utf-8")


@pytest.fixture
def checked(project, tritonlint):
    """What `check` says of a project of two kernels in a format; also without findings."""

    def run(output_format, *options):
        (project / "a.py").write_text(KERNEL)
        (project / "b.py").write_text(KERNEL.replace("x_ptr", "ж_ptr"), encoding="utf-8")
        outcome = tritonlint("check", "a.py", "b.py", "--output-format", output_format, *options)
        assert outcome.code == (0 if options else 1), outcome.err
        return outcome.out

    return run


# --- GitLab ------------------------------------------------------------------------------------------

CODE_QUALITY = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["description", "check_name", "fingerprint", "severity", "location"],
        "properties": {
            "description": {"type": "string", "minLength": 1},
            "check_name": {"type": "string", "minLength": 1},
            "fingerprint": {"type": "string", "minLength": 1},
            "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
            "location": {
                "type": "object",
                "required": ["path", "lines"],
                "properties": {
                    "path": {"type": "string", "pattern": r"^(?!\./)"},
                    "lines": {
                        "type": "object",
                        "required": ["begin"],
                        "properties": {"begin": {"type": "integer", "minimum": 1}},
                    },
                },
            },
        },
        "additionalProperties": False,
    },
}
"""The table "Code Quality report format" of GitLab's documentation (doc/ci/testing/code_quality.md)."""

DOCUMENTED_ISSUE = {
    "description": "'unused' is assigned a value but never used.",
    "check_name": "no-unused-vars",
    "fingerprint": "7815696ecbf1c96e6894b779456d330e",
    "severity": "minor",
    "location": {"path": "lib/index.js", "lines": {"begin": 42}},
}


def test_gitlab(checked):
    jsonschema.validate([DOCUMENTED_ISSUE], CODE_QUALITY)
    first, second = issues = json.loads(checked("gitlab"))
    jsonschema.validate(issues, CODE_QUALITY)
    assert first == {
        "description": "SP101 bare-load: `tl.load(x_ptr + offsets)` has no mask",
        "check_name": "SP101",
        "fingerprint": first["fingerprint"],
        "severity": "critical",
        "location": {"path": "a.py", "lines": {"begin": 8}},
    }
    assert first["fingerprint"] != second["fingerprint"]
    assert json.loads(checked("gitlab", "--ignore", "ALL")) == []


def test_gitlab_severities_and_texts():
    issues = json.loads(shown("gitlab", FIRST, SECOND, NOTE, REFUTED, ODD_NAME))
    jsonschema.validate(issues, CODE_QUALITY)
    assert [one["severity"] for one in issues] == ["critical", "minor", "info", "info", "critical"]
    assert issues[4]["location"]["path"] == "pkg/\\udcff.py"
    assert "\x1b" not in issues[4]["description"]


def test_gitlab_fingerprints_are_unique_where_two_projects_hold_the_same_file():
    issues = json.loads(shown("gitlab", FIRST, replace(FIRST, path="other/add.py"), SECOND))
    assert [one["fingerprint"] for one in issues] == [
        "0123456789abcdef", "0123456789abcdef-2", "fedcba9876543210",
    ]  # fmt: skip


# --- JUnit -------------------------------------------------------------------------------------------

JUNIT = {
    "testsuites": ({"testsuite"}, set(), {"name", "time", "tests", "failures", "errors"}),
    "testsuite": (
        {"testsuite", "properties", "testcase", "system-out", "system-err"},
        {"name", "tests", "failures", "errors"},
        {"group", "time", "skipped", "timestamp", "hostname", "id", "package", "file", "log", "url"},
    ),
    "testcase": (
        {"skipped", "error", "failure", "system-out", "system-err"},
        {"name"},
        {"time", "classname", "group"},
    ),
    "failure": (set(), set(), {"type", "message"}),
    "skipped": (set(), set(), {"type", "message"}),
}
"""Children, required and further attributes, as of `junit-10.xsd` of the xunit plugin of Jenkins."""

DOCUMENTED_REPORT = """\
<testsuites>
  <testsuite name="Authentication Tests" tests="1" failures="1" errors="0">
    <testcase classname="LoginTest" name="test_invalid_password" time="0.23"><failure>Expected</failure></testcase>
  </testsuite>
</testsuites>
"""


def junit(text):
    """The suites of a report that holds to its schema, each with its cases."""
    root = ElementTree.fromstring(text.encode("utf-8"))
    assert root.tag == "testsuites"
    for element in root.iter():
        children, required, optional = JUNIT[element.tag]
        assert {child.tag for child in element} <= children
        assert required <= set(element.attrib) <= required | optional
    for suite in root:
        for counted, tag in (("tests", "*"), ("failures", "*/failure"), ("skipped", "*/skipped")):
            assert int(suite.get(counted, "0")) == len(suite.findall(tag))
    names = [(case.get("classname"), case.get("name")) for case in root.iter("testcase")]
    assert names  # a server takes a report without a case for one that failed
    assert len(set(names)) == len(names)  # of cases with one name GitLab shows the first
    return {suite.get("name"): list(suite) for suite in root}


def test_junit(checked):
    junit(DOCUMENTED_REPORT)
    suites = junit(checked("junit"))
    assert list(suites) == ["a.py", "b.py"]
    (case,) = suites["b.py"]
    (failure,) = case
    assert (case.get("classname"), failure.get("type")) == ("b", "error")
    assert case.get("name").startswith("SP101 bare-load (")
    assert failure.get("message") == "b.py:8:9: `tl.load(ж_ptr + offsets)` has no mask"


def test_junit_without_findings_has_one_case_that_passes(checked):
    suites = junit(checked("junit", "--ignore", "ALL"))
    ((case,),) = suites.values()
    assert (case.get("name"), len(case)) == ("no findings", 0)


def test_junit_tells_everything_about_a_finding():
    text = shown("junit", FIRST, REFUTED, replace(ODD_NAME, related=(), fix=None, kernel="k<&>"))
    (first, refuted), (odd,) = junit(text).values()
    assert first.find("failure").text == (
        "pkg/add.py:2:9: `tl.load` reads past `n`\n"
        "error, in kernel `add`, high confidence\n"
        "confirmed: 24 lanes\n"
        "fix (safe): add a mask\n"
        "pkg/add.py:1:1: in this kernel"
    )
    assert refuted.find("skipped").get("message").endswith("b\\n(and c) (refuted: 0 lanes)")
    assert "\\x1b[2J" in odd.find("failure").get("message")
    assert "in kernel `k<&>`" in odd.find("failure").text


# --- reviewdog ---------------------------------------------------------------------------------------

_POSITION = {
    "type": "object",
    "properties": {"line": {"type": "integer", "minimum": 1}, "column": {"type": "integer", "minimum": 1}},
    "additionalProperties": False,
}
_RANGE = {
    "type": "object",
    "required": ["start"],
    "properties": {"start": _POSITION, "end": _POSITION},
    "additionalProperties": False,
}
_LOCATION = {
    "type": "object",
    "required": ["path"],
    "properties": {"path": {"type": "string"}, "range": _RANGE},
    "additionalProperties": False,
}
_LINKED = {"url": {"type": "string"}}
RDJSON = {
    "type": "object",
    "properties": {
        "source": {"properties": {"name": {"type": "string"}, **_LINKED}, "additionalProperties": False},
        "severity": {"enum": ["UNKNOWN_SEVERITY", "ERROR", "WARNING", "INFO"]},
        "diagnostics": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["message", "location"],
                "properties": {
                    "message": {"type": "string"},
                    "location": _LOCATION,
                    "severity": {"enum": ["UNKNOWN_SEVERITY", "ERROR", "WARNING", "INFO"]},
                    "source": {"type": "object"},
                    "code": {"properties": {"value": {"type": "string"}, **_LINKED}, "additionalProperties": False},
                    "suggestions": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "required": ["range", "text"],
                            "properties": {"range": _RANGE, "text": {"type": "string"}},
                            "additionalProperties": False,
                        },
                    },
                    "originalOutput": {"type": "string"},
                    "relatedLocations": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "required": ["location"],
                            "properties": {"message": {"type": "string"}, "location": _LOCATION},
                            "additionalProperties": False,
                        },
                    },
                },
                "additionalProperties": False,
            },
        },
    },
    "additionalProperties": False,
}  # fmt: skip
"""`proto/rdf/reviewdog.proto` of reviewdog in its JSON mapping, stricter: no field but those it has."""

DOCUMENTED_DIAGNOSTICS = {
    "source": {"name": "super lint", "url": "https://example.com/url/to/super-lint"},
    "severity": "WARNING",
    "diagnostics": [
        {
            "message": "<msg>",
            "location": {"path": "<file path>", "range": {"start": {"line": 14, "column": 15}}},
            "severity": "ERROR",
            "code": {"value": "RULE1", "url": "https://example.com/url/to/super-lint/RULE1"},
        }
    ],
}


def diagnostics(text):
    """The diagnostics of a report that holds to its schema."""
    report = json.loads(text)
    jsonschema.validate(report, RDJSON)
    assert report["source"] == {"name": "tritonlint"}
    return report["diagnostics"]


def span(line, column, end_line, end_column):
    return {"start": {"line": line, "column": column}, "end": {"line": end_line, "column": end_column}}


def test_rdjson(checked):
    jsonschema.validate(DOCUMENTED_DIAGNOSTICS, RDJSON)
    _, second = diagnostics(checked("rdjson"))
    assert second == {
        "message": "bare-load: `tl.load(ж_ptr + offsets)` has no mask",
        "location": {"path": "b.py", "range": span(8, 9, 8, 34)},  # one letter has two bytes
        "severity": "ERROR",
        "code": {"value": "SP101"},
        "relatedLocations": [
            {"message": "in this kernel", "location": {"path": "b.py", "range": span(6, 1, 6, 51)}}
        ],
        "suggestions": [{"range": span(8, 9, 8, 34), "text": "0"}],
    }
    assert diagnostics(checked("rdjson", "--ignore", "ALL")) == []


def test_rdjson_columns_are_bytes_and_severities_its_own():
    wide = replace(SECOND, range=where(3, 8, 3, 9), url="https://example.com/TL901")
    first, second, note, odd = diagnostics(shown("rdjson", FIRST, wide, NOTE, ODD_NAME))
    assert [one["severity"] for one in (first, second, note)] == ["ERROR", "WARNING", "INFO"]
    assert second["location"]["range"] == span(3, 10, 3, 11)  # behind `déjà`
    assert second["code"]["url"] == "https://example.com/TL901"
    # Nothing can be counted in a file that is not there: whole lines.
    assert note["location"]["range"] == {"start": {"line": 2}, "end": {"line": 2}}
    assert odd["location"]["path"] == "pkg/\\udcff.py"


def test_rdjson_makes_one_suggestion_of_the_edits_that_belong_together():
    changes = (
        Edit("pkg/add.py", where(3, 2, 3, 6), "x"),
        Edit("pkg/add.py", where(2, 5, 2, 6), "à"),
        Edit("pkg/add.py", where(3, 8, 3, 9), "z"),
    )
    fixed = replace(FIRST, fix=Fix("rename", Applicability.SAFE, changes))
    (one,) = diagnostics(shown("rdjson", fixed))
    assert one["suggestions"] == [
        {"range": span(2, 5, 3, 11), "text": "à = tl.load(x_ptr + offsets)\n\tx, z"}
    ]


@pytest.mark.parametrize(
    "changes",
    [
        (),
        (Edit("pkg/add.py", where(2, 5, 2, 6), "z"), Edit("other.py", where(1, 1, 1, 1), "z")),
        (Edit("pkg/add.py", where(2, 5, 2, 7), "z"), Edit("pkg/add.py", where(2, 6, 2, 8), "z")),
        (Edit("pkg/add.py", where(20, 5, 20, 7), "z"),),
    ],
    ids=["none", "two files", "overlapping", "behind the end"],
)
def test_rdjson_suggests_nothing_that_is_not_the_whole_fix(changes):
    (one,) = diagnostics(shown("rdjson", replace(FIRST, fix=Fix("change", Applicability.SAFE, changes))))
    assert "suggestions" not in one


def test_rdjson_counts_in_what_is_not_on_disk(project, tritonlint):
    text = KERNEL.replace("x_ptr", "ж_ptr")
    outcome = tritonlint("check", "-", "--output-format", "rdjson", stdin=text.encode())
    (one,) = diagnostics(outcome.out)
    assert one["location"]["range"] == span(8, 9, 8, 34)


# --- Markdown ----------------------------------------------------------------------------------------


def test_markdown(checked):
    assert checked("markdown", "--ignore", "ALL") == "## tritonlint: no findings\n"
    assert checked("markdown") == (
        "## tritonlint: 2 findings in 2 files\n"
        "\n"
        "2 errors\n"
        "\n"
        "| rule | severity | findings |\n"
        "|---|---|--:|\n"
        "| SP101 bare-load | error | 2 |\n"
        "\n"
        "### `a.py`\n"
        "\n"
        "- **8:9** error SP101 bare-load: `tl.load(x_ptr + offsets)` has no mask"
        " (high confidence, in kernel `copy`)\n"
        "\n"
        "### `b.py`\n"
        "\n"
        "- **8:9** error SP101 bare-load: `tl.load(ж_ptr + offsets)` has no mask"
        " (high confidence, in kernel `copy`)\n"
    )


def test_markdown_tells_what_runs_said():
    text = shown("markdown", FIRST, SECOND, REFUTED)
    assert "\n1 error, 2 warnings; by running: 1 confirmed, 1 refuted, 1 untested\n" in text
    assert "(high confidence, in kernel `add`)\n  - confirmed: 24 lanes\n" in text


@pytest.mark.parametrize(
    ("message", "written"),
    [
        ("a | b <img> [x](y) *z* @user", r"a \| b \<img\> \[x\](y) \*z\* \@user"),
        ("`a | <b>` and `c`", "`a | <b>` and `c`"),
        ("`` and `x", r"\`\` and \`x"),
        ("`a``b`", "`a` `b`"),
        ("`a` ` b\n# c", r"`a` \` b\\n\# c"),
        ("\x1b[2J\x00", r"\\x1b\[2J\\x00"),
    ],
)
def test_markdown_text_cannot_break_out(message, written):
    line = shown("markdown", replace(FIRST, message=message, related=(), evidence=None)).splitlines()[-2]
    assert line == f"- **2:9** error TL101 unmasked-access: {written} (high confidence, in kernel `add`)"


def test_markdown_names_cannot_break_the_table():
    odd = replace(FIRST, code="X|1", name="a|b", path="`|\n## x.py", kernel="k`k")
    text = shown("markdown", odd)
    assert "\n| X\\|1 a\\|b | error | 1 |\n" in text
    assert "\n### `` `|\\n## x.py ``\n" in text
    assert "in kernel ``k`k``" in text


def test_markdown_has_an_end():
    many = [replace(FIRST, path=f"f{number:04}.py") for number in range(300)]
    worst = replace(FIRST, path="z.py", message="x" * 5000)
    mild = [replace(one, severity=NOTE.severity) for one in many]
    text = shown("markdown", *mild, worst)
    assert text.startswith("## tritonlint: 301 findings in 301 files\n\n1 error, 300 notes")
    assert text.endswith("\nand 201 more\n")
    assert text.count("\n- **") == 100
    assert "### `z.py`" in text
    assert "x" * 601 not in text


def test_markdown_goes_to_the_page_of_a_job_beside_what_a_log_shows(project, tritonlint):
    (project / "k.py").write_text(KERNEL)
    outcome = tritonlint("check", "--output-format", "github", "--output-format", "markdown:summary.md")
    assert outcome.out.startswith("::error file=k.py,line=8")
    assert Path("summary.md").read_text("utf-8").startswith("## tritonlint: 1 finding in 1 file\n")


def test_related_places_are_told_to_reviewdog_in_bytes_too():
    related = (
        Related("pkg/add.py", where(3, 8, 3, 9), "here"),
        Related("gone.py", where(1, 5, 2, 1), "there"),
    )
    (one,) = diagnostics(shown("rdjson", replace(FIRST, related=related)))
    assert [other["location"]["range"] for other in one["relatedLocations"]] == [
        span(3, 10, 3, 11),
        {"start": {"line": 1}, "end": {"line": 2}},
    ]
