"""One JSON object a line: for logs, and for tools that read as they go."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tritonlint.output.json import as_object

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tritonlint.finding import Finding
    from tritonlint.output import RenderContext


def render(findings: Sequence[Finding], context: RenderContext) -> str:
    """The objects of the `json` format, each on its own line."""
    del context
    return "".join(json.dumps(as_object(finding)) + "\n" for finding in findings)
