"""The command line: parse, call, print. Findings go to standard output, and nothing else does."""

from __future__ import annotations

import gc
import importlib
import io
import sys
from typing import TYPE_CHECKING, NoReturn

import click

from tritonlint.commands.refusal import FAILURE, INTERRUPTED, OK

if TYPE_CHECKING:
    from collections.abc import Sequence

COMMANDS = {
    "check": "tritonlint.commands.check:check",
    "clean": "tritonlint.commands.clean:clean",
    "completion": "tritonlint.commands.completion:show_completion",
    "config": "tritonlint.commands.config:show_settings",
    "confirm": "tritonlint.commands.confirm:confirm",
    "rule": "tritonlint.commands.rule:rule",
    "server": "tritonlint.commands.server:server",
}
"""Where each command stands; it is imported when it is asked for."""


class Commands(click.Group):
    """The commands of the program."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Their names."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context | None, name: str) -> click.Command | None:
        """One of them, None if there is none of that name."""
        if name not in COMMANDS:
            return None
        module, command = COMMANDS[name].split(":")
        return getattr(importlib.import_module(module), command)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the program and exit."""
    gc.disable()  # syntax trees and what is made of them stay: the collector would walk them over and over
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A terminal that cannot show a character must not end the run in an exception.
        sys.stdout.reconfigure(errors="backslashreplace")
    arguments = _module_ends_options(sys.argv[1:] if arguments is None else list(arguments))
    try:
        code = program.main(arguments, prog_name="tritonlint", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        code = FAILURE
    except (click.Abort, KeyboardInterrupt):
        click.echo("tritonlint: interrupted", err=True)
        code = INTERRUPTED
    except Exception as error:  # noqa: BLE001 - Python's own exit code for it, 1, would read as "findings"
        from tritonlint.failure import describe

        click.echo(f"tritonlint: {describe(error)}; this is a bug in tritonlint, please report it", err=True)
        code = FAILURE
    sys.exit(code or OK)


def _module_ends_options(arguments: list[str]) -> list[str]:
    """`confirm -m MODULE ...`: what follows is the module's, as it is for `python -m`."""
    if arguments[:1] != ["confirm"]:
        return arguments
    confirm = program.get_command(click.Context(program), "confirm")
    assert confirm is not None
    options = [one for one in confirm.params if isinstance(one, click.Option) and not one.is_flag]
    take_a_value = {word for option in options for word in option.opts}
    at = 1
    while at < len(arguments) and arguments[at].startswith("-") and arguments[at] not in ("-m", "--"):
        at += 2 if arguments[at] in take_a_value else 1
    is_module = arguments[at : at + 1] == ["-m"]
    return [*arguments[: at + 2], "--", *arguments[at + 2 :]] if is_module else arguments


def _say_version(context: click.Context) -> None:
    from tritonlint.version import text

    click.echo(text())
    context.exit()


PROGRAM_EPILOG = """\b
Examples:
  tritonlint check                                  check this folder
  tritonlint rule TL101                             explain a rule
  tritonlint config src/kernels.py                  which settings hold there, and why
  tritonlint check --help                           all options of a command
"""


@click.command(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    epilog=PROGRAM_EPILOG,
)
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=lambda context, parameter, value: _say_version(context) if value else None,
    help="Say which tritonlint and which rules these are, and exit.",
)
def program() -> None:
    """A static linter for Triton GPU kernels and the code that launches them."""
