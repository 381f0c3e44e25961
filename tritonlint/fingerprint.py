"""What identifies a finding when lines move: rule, file, kernel, flagged text, number among equals."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from tritonlint.source import text_between

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from tritonlint.finding import Finding, Range


def with_fingerprints(findings: Iterable[Finding], lines: list[str], path: str) -> list[Finding]:
    """The findings of one file, sorted by place; those that had no fingerprint have one now.

    `path` must not depend on the working directory: see `stable_path`.
    """
    seen: Counter[tuple[str, ...]] = Counter()
    stamped = []
    for finding in sorted(findings, key=lambda finding: finding.sort_key):
        if not finding.fingerprint:
            identity = (finding.code, path, finding.kernel or "", flagged_text(lines, finding.range))
            finding = replace(finding, fingerprint=_hash((*identity, str(seen[identity]))))
            seen[identity] += 1
        stamped.append(finding)
    return stamped


def stable_path(file: Path | None, root: Path | None, shown: str) -> str:
    """The path of `file` from the root of its project, so that it is the same from every working directory.

    The path shown, for a text that lies in no project.
    """
    if file is None or root is None:
        return shown
    for candidate, folder in ((file, root), (file.resolve(), root.resolve())):
        if candidate.is_relative_to(folder):
            return candidate.relative_to(folder).as_posix()
    return shown


def distinct(findings: Iterable[Finding]) -> Iterator[str]:
    """A fingerprint for each finding that no other one of the same report has.

    Two projects in one run may hold the same file at the same path of theirs.
    """
    seen: Counter[str] = Counter()
    for finding in findings:
        seen[finding.fingerprint] += 1
        times = seen[finding.fingerprint]
        yield finding.fingerprint if times == 1 else f"{finding.fingerprint}-{times}"


def flagged_text(lines: list[str], place: Range) -> str:
    """The text of a range without what a formatter changes: white space, a comma before a closing bracket."""
    return _LAST_COMMA.sub("", "".join(text_between(lines, place).split()))


_LAST_COMMA = re.compile(r",(?=[)\]}])")


def _hash(parts: tuple[str, ...]) -> str:
    # Loading OpenSSL with `hashlib` costs a tenth of a run that finds nothing.
    from hashlib import blake2b

    return blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
