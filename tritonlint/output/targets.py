"""Where findings go: formats with their files, as the command line names them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tritonlint.nearest import did_you_mean
from tritonlint.output import FORMATS


class TargetError(ValueError):
    """Words that name no target, or targets that cannot stand beside each other."""


@dataclass(frozen=True, slots=True)
class Target:
    """A format, and the file it is written to: None is standard output."""

    format: str
    file: Path | None = None

    def absolute(self) -> Target:
        """The same target, wherever the process goes."""
        return replace(self, file=self.file.absolute()) if self.file is not None else self


def parse(words: Sequence[str], output_file: Path | None = None) -> tuple[Target, ...]:
    """What `FORMAT` and `FORMAT:FILE` mean; the one without a file goes to `output_file` where that is given.

    Raises:
        TargetError: there is no such format, two would be mixed up, or `output_file` has nothing to take.
    """
    targets = [_target(word) for word in words]
    shown = [target.format for target in targets if target.file is None]
    if len(shown) > 1:
        raise TargetError(
            f"only one of `{shown[0]}` and `{shown[1]}` can go to standard output: "
            f"give the other a file, as `{shown[1]}:FILE`"
        )
    if output_file is not None and not shown:
        raise TargetError("every format has a file of its own, so that `--output-file` has nothing to take")
    sent = tuple(replace(target, file=target.file or output_file) for target in targets)
    files = [target.file.absolute() for target in sent if target.file is not None]
    twice = next((file for file in files if files.count(file) > 1), None)
    if twice is not None:
        raise TargetError(f"two formats cannot go to one file, {twice}")
    return sent


def _target(word: str) -> Target:
    name, colon, file = word.partition(":")
    if name not in FORMATS:
        raise TargetError(f"`{name}` is not one of {', '.join(FORMATS)}{did_you_mean(name, FORMATS)}")
    if colon and not file:
        raise TargetError(f"`{word}` names no file")
    return Target(name, Path(file) if file else None)
