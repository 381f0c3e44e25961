"""What runs said of findings: written by `confirm`, read by `check --evidence` and by the fixes that need it.

Evidence belongs to a finding by its fingerprint, which survives edits elsewhere in the file, and to the text
of the kernel it is in: when that changes, what was said of it is dropped.
"""

from __future__ import annotations

import ast
import io
import json
import textwrap
import tokenize
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

from tritonlint.finding import Finding, Verdict
from tritonlint.syntax import first_line

VERSION = 1


class EvidenceError(ValueError):
    """A file is no evidence; the message says why."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What was found out about one finding."""

    fingerprint: str
    code: str
    kernel: str | None
    path: str
    line: int
    """Where the finding was, for the reader; it is found again by its fingerprint."""
    verdict: Verdict
    text: str
    """The evidence in one line."""
    backend: str
    """What spoke: `cuda (NVIDIA H200)`, `interpreter`, `compiler (sm_90)`."""
    subject: str
    """The digest of the kernel's text, see `digest`."""
    details: dict[str, Any] = field(default_factory=dict)
    """The numbers: for the report, and the winners of a tuner for the fix that pins them."""


@dataclass(slots=True)
class Evidence:
    """The entries of one or several runs, one for each finding."""

    entries: dict[str, Entry] = field(default_factory=dict)

    def add(self, entry: Entry) -> None:
        """Take an entry in; of two on one finding the verdict that stands before the other stays."""
        known = self.entries.get(entry.fingerprint)
        if known is None or known.subject != entry.subject or entry.verdict.rank < known.verdict.rank:
            self.entries[entry.fingerprint] = entry

    def of(self, finding: Finding, subject: str) -> Entry | None:
        """What is known of a finding in a kernel whose text has this digest."""
        entry = self.entries.get(finding.fingerprint)
        return entry if entry is not None and entry.subject == subject else None

    def merged(self, findings: Iterable[Finding], read: Any = Path.read_bytes) -> list[Finding]:
        """The findings with their verdicts.

        Args:
            findings: what was found; without evidence they stay as they are.
            read: gives the bytes of a file, by its path.
        """
        digests: dict[tuple[str, str | None], str] = {}
        merged = []
        for finding in findings:
            entry = None
            if finding.fingerprint in self.entries:
                place = (finding.path, finding.kernel)
                if place not in digests:
                    digests[place] = digest(read(Path(finding.path)), finding.kernel)
                entry = self.of(finding, digests[place])
            merged.append(finding if entry is None else with_entry(finding, entry))
        return merged

    def write(self, file: Path) -> None:
        """Write all entries as JSON.

        Raises:
            OSError: the file cannot be written.
        """
        file.write_text(json.dumps(self.as_json(), indent=1, allow_nan=False) + "\n", encoding="utf-8")

    def as_json(self) -> dict[str, Any]:
        """All entries as plain values."""
        entries = sorted(self.entries.values(), key=lambda one: (one.path, one.line, one.code))
        return {"tritonlint-evidence": VERSION, "findings": [asdict(one) for one in entries]}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Evidence:
        """What `as_json` gave.

        Raises:
            KeyError, TypeError, ValueError: it is something else.
        """
        if data["tritonlint-evidence"] != VERSION:
            raise ValueError(f"evidence of version {data['tritonlint-evidence']}, this is {VERSION}")
        evidence = cls()
        for one in data["findings"]:
            evidence.add(Entry(**{**one, "verdict": Verdict(one["verdict"])}))
        return evidence


def with_entry(finding: Finding, entry: Entry) -> Finding:
    """A finding with what a run said of it."""
    return replace(finding, verdict=entry.verdict, evidence=f"{entry.text} [{entry.backend}]")


def read(files: Iterable[Path]) -> Evidence:
    """The evidence of some files together.

    Raises:
        OSError: a file cannot be read.
        EvidenceError: a file is no evidence.
    """
    evidence = Evidence()
    for file in files:
        try:
            entries = Evidence.from_json(json.loads(file.read_bytes())).entries
        except (KeyError, TypeError, ValueError) as error:
            raise EvidenceError(f"{file}: not the evidence of `tritonlint confirm`: {error}") from error
        for entry in entries.values():
            evidence.add(entry)
    return evidence


def digest(data: bytes, kernel: str | None) -> str:
    """Of the text of a kernel and its decorators; comments and layout do not count.

    Empty for a finding in no kernel and for a text that cannot be parsed: then the fingerprint decides.
    """
    if kernel is None:
        return ""
    try:
        text = data.decode("utf-8", "replace").replace("\r\n", "\n")
        nodes = [node for node in ast.walk(ast.parse(data)) if isinstance(node, _FUNCTIONS)]
    except (SyntaxError, ValueError):
        return ""
    lines = text.split("\n")
    said = [_tokens(lines, node) for node in nodes if node.name == kernel]
    return blake2b("\n".join(said).encode(), digest_size=8).hexdigest() if said else ""


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def _tokens(lines: list[str], node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """The text of a function without comments and white space, the same for every version of Python."""
    text = textwrap.dedent("\n".join(lines[first_line(node) - 1 : node.end_lineno]) + "\n")
    try:
        tokens = [
            token.string
            for token in tokenize.generate_tokens(io.StringIO(text).readline)
            if token.type != tokenize.COMMENT
        ]
    except (tokenize.TokenError, SyntaxError):
        tokens = [text]
    return "".join("".join(tokens).split())
