"""How a run ends: its exit code, and what is said where it cannot go on."""

from __future__ import annotations

from typing import Any

import click

OK, FINDINGS, FAILURE, INTERRUPTED = 0, 1, 2, 130


class Refusal(click.ClickException):
    """A run that cannot go on; the message says what to change."""

    exit_code = FAILURE

    def show(self, file: Any = None) -> None:
        """Print to standard error."""
        click.echo(f"tritonlint: {self.message}", file=file, err=True)
