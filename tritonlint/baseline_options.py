"""The options of `check` that leave known findings out: parsed, carried out, and told."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tritonlint.wording import counted

if TYPE_CHECKING:
    from tritonlint.baseline import Change, Entry
    from tritonlint.config import SettingsFinder
    from tritonlint.known import Base, Known

_AS_CONFIGURED = Path()
"""What `--write-baseline` says without a file."""
_SHOWN = 10
"""So many entries of a kind are told one by one."""

_OPTIONS = (
    click.option(
        "--baseline",
        type=click.Path(dir_okay=False, path_type=Path),
        metavar="FILE",
        help="Leave out the findings that stand in this file.",
    ),
    click.option("--no-baseline", is_flag=True, help="Report, and fix, what a baseline would leave out."),
    click.option(
        "--write-baseline",
        type=click.Path(path_type=Path),
        is_flag=False,
        flag_value=_AS_CONFIGURED,
        metavar="[FILE]",
        help="Write all that is found now to the baseline: this one, the one in force, or "
        "tritonlint-baseline.json.",
    ),
    click.option(
        "--prune-baseline", is_flag=True, help="Take out of the baseline what is not found any more."
    ),
    click.option(
        "--strict-baseline", is_flag=True, help="Exit with 1 if the baseline has what is not found any more."
    ),
    click.option(
        "--diff-base",
        metavar="REV",
        help="Report only what was not found where HEAD left this branch, tag or commit of git.",
    ),
)


class Unusable(Exception):
    """Options or files that cannot be used; the message says what to change."""


def options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command these options."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def known(
    paths: tuple[Path, ...],
    finder: SettingsFinder,
    said: dict[str, Any],
    base_of: Callable[[str, tuple[Path, ...]], Base],
) -> Known:
    """What is to be left out of the findings.

    Args:
        paths: what is checked.
        finder: gives the settings of every file.
        said: the options of the command.
        base_of: finds out what there was at a revision.

    Raises:
        Unusable: the options contradict each other.
    """
    from tritonlint.known import Known

    _refuse_contradictions(paths, said)
    target = said["write_baseline"]
    on_disk = paths
    if Path("-") in paths:
        on_disk = (said["stdin_filename"],) if said["stdin_filename"] is not None else ()
    return Known(
        finder,
        on_disk,
        baselines=not said["no_baseline"],
        writes=target is not None,
        target=None if target == _AS_CONFIGURED else target,
        base=base_of(said["diff_base"], on_disk) if said["diff_base"] is not None else None,
    )


def _refuse_contradictions(paths: tuple[Path, ...], said: dict[str, Any]) -> None:
    target = said["write_baseline"]
    if said["baseline"] is not None and said["no_baseline"]:
        raise Unusable("`--baseline` and `--no-baseline` contradict each other")
    if target is not None and said["prune_baseline"]:
        raise Unusable("`--write-baseline` does what `--prune-baseline` does, and more: give one of them")
    if said["prune_baseline"] and said["no_baseline"]:
        raise Unusable("`--prune-baseline` and `--no-baseline` contradict each other")
    if target not in (None, _AS_CONFIGURED) and target.suffix != ".json":
        raise Unusable(
            f"`--write-baseline {target}`: the name of a baseline ends in `.json`; "
            "put the paths that are to be checked before this option"
        )
    nameless = Path("-") in paths and said["stdin_filename"] is None
    if nameless and said["diff_base"] is not None:
        raise Unusable("`--diff-base` needs to know which file it is: give `--stdin-filename`")
    for change in ("write_baseline", "prune_baseline"):
        for other, given in (
            ("--diff", said["diff"]),
            ("--diff-base", said["diff_base"] is not None),
            ("-", Path("-") in paths),
        ):
            if said[change] and given:
                raise Unusable(f"`--{change.replace('_', '-')}` cannot stand beside `{other}`")


def carry_out(known: Known, said: dict[str, Any], paths: tuple[Path, ...]) -> bool:
    """Write or prune baselines if that is asked for, and tell what is stale; whether anything is.

    Raises:
        BaselineError: a baseline cannot be used.
        Unusable: one cannot be written.
    """
    if said["write_baseline"] is not None:
        for change in known.written():
            _put(change)
            _tell(change)
            if not known.is_in_force(change.after.file):
                click.echo(
                    f'leave its findings out with `baseline = "{change.after.file.name}"` in the '
                    f"configuration beside it, or `--baseline {_shown(change.after.file)}`",
                    err=True,
                )
        return False
    if said["prune_baseline"]:
        changes = known.pruned()
        for change in changes:
            _put(change)
            _tell(change)
        if not changes:
            click.echo("nothing to prune", err=True)
        return False
    stale = known.stale()
    for file, entries in stale.items():
        them, match = ("it", "matches") if len(entries) == 1 else ("them", "match")
        click.echo(
            f"tritonlint: {counted(len(entries), 'finding')} of {_shown(file)} {match} nothing any more:",
            err=True,
        )
        _list("", entries)
        where = "".join(f" {path}" for path in paths)
        given = f" --baseline {said['baseline']}" if said["baseline"] is not None else ""
        click.echo(f"  take {them} out with `tritonlint check{where}{given} --prune-baseline`", err=True)
    return bool(stale)


def _put(change: Change) -> None:
    file = change.after.file
    try:
        if not file.exists() or file.read_bytes() != change.after.text().encode():
            change.after.write()
    except OSError as error:
        raise Unusable(f"{file} cannot be written: {error.strerror or error}") from error


def _tell(change: Change) -> None:
    """Say how a baseline changed: in numbers, and by entry what was in it or comes on top."""
    total, added, removed = len(change.after.entries), len(change.added), len(change.removed)
    said = [f"{added} new"] if added else []
    said += [f"{removed} gone"] if removed else []
    said += [f"{len(change.moved)} in files with another name"] if change.moved else []
    how = ", ".join(said) or "as before"
    click.echo(f"{_shown(change.after.file)}: {counted(total, 'finding')} ({how})", err=True)
    if added < total:
        _list("+ ", change.added)
    _list("- ", change.removed)
    for old, new in change.moved[:_SHOWN]:
        click.echo(f"  {old.path} -> {new.path}: {new.code}: {new.message}", err=True)


def _list(mark: str, entries: Iterable[Entry]) -> None:
    lines = [f"  {mark}{entry}" for entry in entries]
    more = len(lines) - _SHOWN
    for line in lines[:_SHOWN] if more > 1 else lines:
        click.echo(line, err=True)
    if more > 1:
        click.echo(f"  {mark}and {more} more", err=True)


def _shown(file: Path) -> str:
    from tritonlint.files import display_path

    return display_path(file)


def summary(known: Known) -> str:
    """What the summary of a run says of findings that were left out."""
    said = []
    if known.has_baseline:
        said.append(f"{known.in_baseline} in the baseline")
    if known.base is not None:
        said.append(f"{known.in_base} there since {known.base.name}")
    return "".join(f"; {one}" for one in said)
