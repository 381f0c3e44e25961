"""JUnit XML, which CI servers show as test results: a suite for each file, a failed case for each finding."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from tritonlint.finding import Verdict
from tritonlint.fingerprint import distinct
from tritonlint.output.text import place, printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tritonlint.finding import Finding
    from tritonlint.output import RenderContext


def render(findings: Sequence[Finding], context: RenderContext) -> str:
    """One report; without findings, a suite with one case that passes, since an empty report is an error."""
    del context
    by_file: dict[str, list[tuple[Finding, str]]] = defaultdict(list)
    for finding, fingerprint in zip(findings, distinct(findings), strict=True):
        by_file[finding.path].append((finding, fingerprint))
    report = ElementTree.Element("testsuites", {"name": "tritonlint", **_counts(findings)})
    for path, found in by_file.items():
        counts = _counts([finding for finding, _ in found])
        skipped = str(sum(_is_refuted(finding) for finding, _ in found))
        attributes = {"name": printable(path), **counts, "skipped": skipped}
        suite = ElementTree.SubElement(report, "testsuite", attributes)
        for finding, fingerprint in found:
            _add_case(suite, finding, fingerprint)
    if not findings:
        report.set("tests", "1")
        suite = ElementTree.SubElement(
            report, "testsuite", name="tritonlint", tests="1", failures="0", errors="0", skipped="0"
        )
        ElementTree.SubElement(suite, "testcase", classname="tritonlint", name="no findings")
    ElementTree.indent(report)
    text = ElementTree.tostring(report, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _counts(findings: Sequence[Finding]) -> dict[str, str]:
    failures = sum(not _is_refuted(finding) for finding in findings)
    return {"tests": str(len(findings)), "failures": str(failures), "errors": "0"}


def _is_refuted(finding: Finding) -> bool:
    return finding.verdict is Verdict.REFUTED


def _add_case(suite: ElementTree.Element, finding: Finding, fingerprint: str) -> None:
    """A case has the name of its fingerprint: a server knows it again when lines have moved."""
    case = ElementTree.SubElement(
        suite,
        "testcase",
        # A server takes a dot for the end of a package's name.
        classname=printable(finding.path.removesuffix(".py").replace(".", "_")),
        name=f"{finding.code} {finding.name} ({fingerprint})",
    )
    message = f"{place(finding.path, finding.range, finding.cells)}: {printable(finding.message)}"
    if _is_refuted(finding):
        # What a run has refuted fails no build.
        said = f": {printable(finding.evidence)}" if finding.evidence else ""
        ElementTree.SubElement(case, "skipped", message=f"{message} (refuted{said})")
        return
    failure = ElementTree.SubElement(case, "failure", type=finding.severity.value, message=message)
    failure.text = "\n".join(_details(finding, message))


def _details(finding: Finding, message: str) -> Iterator[str]:
    yield message
    where = f" in kernel `{printable(finding.kernel)}`," if finding.kernel is not None else ""
    yield f"{finding.severity},{where} {finding.confidence} confidence"
    if finding.verdict is not Verdict.UNTESTED:
        yield f"{finding.verdict}" + (f": {printable(finding.evidence)}" if finding.evidence else "")
    if finding.fix is not None:
        yield f"fix ({finding.fix.applicability}): {printable(finding.fix.title)}"
    for other in finding.related:
        where = place(other.path, other.range, finding.cells_of(other.path))
        yield f"{where}: {printable(other.message)}"
