"""`tritonlint clean`."""

from __future__ import annotations

from pathlib import Path

import click

from tritonlint.commands.options import FOLDER
from tritonlint.commands.refusal import Refusal
from tritonlint.commands.settings import cache_folder

CLEAN_EPILOG = """\b
Examples:
  tritonlint clean
  tritonlint clean --cache-dir /var/tmp/tritonlint
"""


@click.command(epilog=CLEAN_EPILOG)
@click.option("--cache-dir", type=FOLDER, help="The cache to remove.  [default: .tritonlint_cache]")
def clean(cache_dir: Path | None) -> None:
    """Remove the cache of earlier runs."""
    from tritonlint import cache
    from tritonlint.config import ConfigError, SettingsFinder

    try:
        folder = cache_folder(SettingsFinder(), cache_dir)
        removed = cache.clean(folder)
    except (ConfigError, OSError) as error:
        raise Refusal(f"the cache cannot be removed: {error}") from error
    click.echo(f"removed {folder}" if removed else f"there is no cache in {folder}", err=True)
