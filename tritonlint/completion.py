"""Completion in shells: click's scripts, and the codes and names of rules as completions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import click
    from click.shell_completion import CompletionItem

_PLACES = {
    "bash": 'eval "$(tritonlint completion bash)" in ~/.bashrc',
    "zsh": 'eval "$(tritonlint completion zsh)" in ~/.zshrc, behind `compinit`',
    "fish": "tritonlint completion fish > ~/.config/fish/completions/tritonlint.fish",
}


def script(program: click.Command, shell: str) -> str:
    """The script that makes a shell complete `tritonlint`, with a line that says where to put it."""
    from click.shell_completion import ShellComplete, get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None, shell
    # Not the method of the shell's own class, which starts a bash to look at its version.
    text = ShellComplete.source(kind(program, {}, "tritonlint", "_TRITONLINT_COMPLETE"))
    return f"# {_PLACES[shell]}\n{text.strip()}\n"


def selectors(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Rules for `--select` and `--ignore`: codes, names and `ALL`, behind the commas of a list."""
    from click.shell_completion import CompletionItem

    before, comma, word = incomplete.rpartition(",")
    completions = [*_rules(word)] + ([("ALL", "every rule")] if "ALL".startswith(word.upper()) else [])
    return [CompletionItem(before + comma + value, help=told) for value, told in completions]


def rules(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Rules for `tritonlint rule`: codes and names."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(value, help=told) for value, told in _rules(incomplete)]


def _rules(word: str) -> list[tuple[str, str]]:
    """Codes that begin with a word, each with its name; names, if the word is the beginning of none."""
    known = _known()
    codes = [(code, name) for code, name in known.items() if code.startswith(word.upper())]
    return codes or [(name, code) for code, name in known.items() if name.startswith(word.lower())]


def _known() -> dict[str, str]:
    """The rules there are in the working directory; those of the built-in pack if that cannot be told."""
    from tritonlint.catalog import DEFAULT_PACKS, PackError, load
    from tritonlint.config import ConfigError, SettingsFinder

    try:
        found = load(SettingsFinder().of_folder(Path.cwd()).packs)
    except (ConfigError, PackError):
        found = load(DEFAULT_PACKS)
    return {code: rule.rule_name() for code, rule in found.documented.items()}
