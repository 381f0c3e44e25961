"""`tritonlint rule`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from tritonlint.commands.options import FILE, rules
from tritonlint.commands.refusal import OK, Refusal
from tritonlint.commands.reporting import wants_color, write

if TYPE_CHECKING:
    from tritonlint.catalog import Catalog
    from tritonlint.rule import Rule


RULE_EPILOG = """\b
Examples:
  tritonlint rule                                   the table of all rules
  tritonlint rule TL101
  tritonlint rule unmasked-access --output-format markdown
  tritonlint rule --output-format json              all rules, for programs
"""


@click.command(epilog=RULE_EPILOG, short_help="Explain a rule, or list all.")
@click.argument("rule", required=False, shell_complete=rules)
@click.option(
    "--output-format",
    type=click.Choice(["text", "json", "markdown"]),
    default="text",
    show_default=True,
    help="For people, for programs, or as a page.",
)
@click.option("--config", type=FILE, help="Take the rule packs from this configuration file.")
def rule(rule: str | None, output_format: str, config: Path | None) -> int:
    """Explain RULE, given by code or name; without it, list all rules."""
    from tritonlint.catalog import PackError, load
    from tritonlint.config import ConfigError, SettingsFinder
    from tritonlint.explain import explain, table

    try:
        packs = SettingsFinder(config=config).of_folder(Path.cwd()).packs
        known = load(packs)
    except (ConfigError, PackError) as error:
        raise Refusal(str(error)) from error
    color = wants_color()
    if rule is None:
        write(table(known, output_format, packs=packs, color=color), None)
    else:
        write(explain(_documented_rule(rule, known), output_format, packs=packs, color=color), None)
    return OK


def _documented_rule(word: str, known: Catalog) -> type[Rule]:
    """The rule of a code or name, or a refusal that says what is wrong with the word."""
    from tritonlint.nearest import did_you_mean

    codes = {name: code for code, name in known.names.items()} | {code: code for code in known.names}
    code = codes.get(word.upper()) or codes.get(word.lower())
    if code is None:
        raise Refusal(f"there is no rule `{word}`{did_you_mean(word, codes)}")
    if code not in known.documented:
        raise Refusal(f"{code} ({known.names[code]}) is reserved for a rule that is not built yet")
    return known.documented[code]
