"""`tritonlint completion`."""

from __future__ import annotations

import click

from tritonlint.commands.refusal import OK
from tritonlint.commands.reporting import write

COMPLETION_EPILOG = """\b
Examples:
  eval "$(tritonlint completion bash)"              in ~/.bashrc
  eval "$(tritonlint completion zsh)"               in ~/.zshrc, behind `compinit`
  tritonlint completion fish > ~/.config/fish/completions/tritonlint.fish
"""


@click.command("completion", epilog=COMPLETION_EPILOG, short_help="Print the script for a shell.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def show_completion(shell: str) -> int:
    """Print the script that makes SHELL complete commands, options and rules."""
    from tritonlint.completion import script

    program = click.get_current_context().find_root().command
    write(script(program, shell), None)
    return OK
