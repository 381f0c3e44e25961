"""Options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tritonlint.output import FORMATS

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

FILE = click.Path(dir_okay=False, path_type=Path)
FOLDER = click.Path(file_okay=False, path_type=Path)


def selectors(*typed: Any) -> list[CompletionItem]:
    """What can stand for rules, for a shell that completes."""
    from tritonlint.completion import selectors

    return selectors(*typed)


def rules(*typed: Any) -> list[CompletionItem]:
    """The rules, for a shell that completes."""
    from tritonlint.completion import rules

    return rules(*typed)


OUTPUT_FORMAT = click.option(
    "--output-format",
    metavar="FORMAT[:FILE]",
    multiple=True,
    help=f"{', '.join(FORMATS)}; once more for each further format, which then with a file.  [default: full]",
)
IGNORE = click.option(
    "--ignore",
    metavar="RULES",
    multiple=True,
    shell_complete=selectors,
    help="Leave these rules out.",
)
CONFIG = click.option("--config", type=FILE, help="Use this configuration file for every path.")
OUTPUT_FILE = click.option(
    "--output-file", type=FILE, help="Write findings to this file, not to standard output."
)
