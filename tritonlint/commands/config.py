"""`tritonlint config`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from tritonlint.commands.options import CONFIG, FILE, selectors
from tritonlint.commands.refusal import OK, Refusal
from tritonlint.commands.reporting import write
from tritonlint.commands.settings import said

CONFIG_EPILOG = """\b
Examples:
  tritonlint config
  tritonlint config src/kernels.py --ignore TL3
  tritonlint config src/ --output-format json
"""


@click.command("config", epilog=CONFIG_EPILOG, short_help="Show the settings in force for a path.")
@click.argument("path", required=False, type=click.Path(path_type=Path), default=Path())
@click.option("--select", metavar="RULES", multiple=True, shell_complete=selectors, help="As of `check`.")
@click.option("--ignore", metavar="RULES", multiple=True, shell_complete=selectors, help="As of `check`.")
@click.option("--min-confidence", type=click.Choice(["high", "medium", "low"]), help="As of `check`.")
@click.option("--fail-on", type=click.Choice(["error", "warning", "note"]), help="As of `check`.")
@click.option("--baseline", type=FILE, metavar="FILE", help="As of `check`.")
@CONFIG
@click.option(
    "--output-format",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="For people or for programs.",
)
def show_settings(path: Path, output_format: str, **options: Any) -> int:
    """Show the settings in force for PATH, by default this folder: where each comes from, which rules run."""
    from tritonlint.catalog import PackError
    from tritonlint.config import ConfigError, SettingsFinder
    from tritonlint.in_force import as_json, as_text, in_force

    stated = said(options)
    finder = SettingsFinder(stated, options["config"])
    try:
        found = in_force(path, finder.of_folder(path) if path.is_dir() else finder.of_file(path), stated)
    except (ConfigError, PackError) as error:
        raise Refusal(str(error)) from error
    write(as_json(found) if output_format == "json" else as_text(found), None)
    return OK
