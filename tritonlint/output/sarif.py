"""SARIF 2.1.0, the interchange format of static analysis: code scanning services and editors read it."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from tritonlint import __version__
from tritonlint.output.raw import RawPlaces

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tritonlint.finding import Finding, Fix, Range, Related
    from tritonlint.output import RenderContext
    from tritonlint.rule import Rule

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

_LAUNCH = re.compile(r"^launched here\b|\bat this launch$")
_CALL = re.compile(r"^called here\b")
"""What the related places say that lead to a finding: from a launch, through calls, outermost first."""


def render(findings: Sequence[Finding], context: RenderContext) -> str:
    """One run, with the rules that its results name."""
    codes = sorted({finding.code for finding in findings})
    raw = RawPlaces(context)
    log = {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": _driver(codes, findings, context.rules)},
                "columnKind": "unicodeCodePoints",
                "results": [_result(finding, codes.index(finding.code), raw) for finding in findings],
            }
        ],
    }
    return json.dumps(log, indent=2) + "\n"


def _driver(codes: list[str], findings: Sequence[Finding], rules: Mapping[str, type[Rule]]) -> dict[str, Any]:
    names = {finding.code: finding.name for finding in findings}
    return {
        "name": "tritonlint",
        "version": __version__,
        "semanticVersion": __version__,
        "rules": [_rule(code, names[code], rules.get(code)) for code in codes],
    }


def _rule(code: str, name: str, rule: type[Rule] | None) -> dict[str, Any]:
    described: dict[str, Any] = {"id": code, "name": name}
    if rule is not None:
        summary = rule.summary()
        described |= {
            "shortDescription": {"text": summary},
            "fullDescription": {"text": summary},
            "help": {"text": rule.documentation(), "markdown": rule.documentation()},
            "defaultConfiguration": {"level": rule.severity.value},
        }
    return described


def _result(finding: Finding, rule_index: int, raw: RawPlaces) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": rule_index,
        # The three severities bear SARIF's own names for levels.
        "level": finding.severity.value,
        "message": {"text": finding.message},
        "locations": [
            _location(finding.path, raw.range(finding, finding.path, finding.range), kernel=finding.kernel)
        ],
        "partialFingerprints": {"tritonlint/v1": finding.fingerprint},
        "properties": {
            "confidence": finding.confidence.value,
            "verdict": finding.verdict.value,
            "evidence": finding.evidence,
        },
    }
    if finding.cells is not None:
        cell, inside = finding.cells.place(finding.range)
        result["properties"] |= {"cell": cell, "line": inside.start.line}
    if finding.related:
        result["relatedLocations"] = [
            _location(
                other.path,
                raw.range(finding, other.path, other.range),
                number=number,
                message=other.message,
            )
            for number, other in enumerate(finding.related)
        ]
    flows = list(_flows(finding, raw))
    if flows:
        result["codeFlows"] = flows
    if finding.fix is not None:
        result["fixes"] = [_fix(finding, finding.fix, raw)]
    return result


def _flows(finding: Finding, raw: RawPlaces) -> Iterator[dict[str, Any]]:
    """The way from each launch into the kernel to the finding, so that a viewer can step along it."""
    launches = [other for other in finding.related if _LAUNCH.search(other.message)]
    calls = [other for other in finding.related if _CALL.search(other.message)]
    ways: list[list[Related]] = [[launch] for launch in launches]
    for way in ways or ([[]] if calls else []):
        steps = [
            _location(other.path, raw.range(finding, other.path, other.range), message=other.message)
            for other in (*way, *calls)
        ]
        here = raw.range(finding, finding.path, finding.range)
        steps.append(_location(finding.path, here, kernel=finding.kernel, message=finding.message))
        yield {"threadFlows": [{"locations": [{"location": step} for step in steps]}]}


def _location(
    path: str,
    where: Range,
    *,
    kernel: str | None = None,
    number: int | None = None,
    message: str | None = None,
) -> dict[str, Any]:
    location: dict[str, Any] = {
        "physicalLocation": {"artifactLocation": _artifact(path), "region": _region(where)}
    }
    if kernel is not None:
        location["logicalLocations"] = [{"name": kernel, "kind": "function"}]
    if number is not None:
        location["id"] = number
    if message is not None:
        location["message"] = {"text": message}
    return location


def _artifact(path: str) -> dict[str, str]:
    """A file of the working directory relative to `%SRCROOT%`; any other by its whole path."""
    if path.startswith(("../", "/")) or Path(path).is_absolute():
        return {"uri": Path(os.path.abspath(path)).as_uri()}
    # A file name may be any bytes; those that are no UTF-8 come as surrogates and go back to bytes here.
    return {"uri": quote(path.encode("utf-8", "surrogateescape")), "uriBaseId": "%SRCROOT%"}


def _region(where: Range) -> dict[str, int]:
    return {
        "startLine": where.start.line,
        "startColumn": where.start.column,
        "endLine": where.end.line,
        "endColumn": where.end.column,
    }


def _fix(finding: Finding, fix: Fix, raw: RawPlaces) -> dict[str, Any]:
    changes: dict[str, list[dict[str, Any]]] = {}
    for edit in fix.edits:
        replacement = {
            "deletedRegion": _region(raw.range(finding, edit.path, edit.range)),
            "insertedContent": {"text": raw.text(finding, edit.path, edit.text)},
        }
        changes.setdefault(edit.path, []).append(replacement)
    return {
        "description": {"text": f"{fix.title} ({fix.applicability})"},
        "artifactChanges": [
            {"artifactLocation": _artifact(path), "replacements": replacements}
            for path, replacements in changes.items()
        ],
    }
