"""Path patterns of configuration files: the same grammar as `.gitignore`."""

from __future__ import annotations

import os
import re
import warnings
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from pathspec import GitIgnoreSpec


@lru_cache(maxsize=256)
def compile_patterns(patterns: tuple[str, ...]) -> GitIgnoreSpec:
    """Compile patterns once. `pathspec` is imported here, so that a run without patterns does not pay for it.

    Raises:
        ValueError: a pattern is malformed.
    """
    from pathspec import GitIgnoreSpec

    try:
        with warnings.catch_warnings():
            # `[a&&b]` may one day mean something else to `re`, of which a user of patterns need not know.
            warnings.simplefilter("ignore", FutureWarning)
            return GitIgnoreSpec.from_lines(patterns)
    except re.error as error:  # a range that is empty, as in `[z-a]`
        raise ValueError(error.msg) from error


def matches(patterns: tuple[str, ...], root: Path | None, file: Path, *, folder: bool = False) -> bool:
    """Whether `file`, seen from the folder `root`, fits one of the patterns and no later `!` pattern.

    A file outside `root`, or any file if there is no root, is matched by its absolute path, so that patterns
    without a `/` still apply to it.
    """
    if not patterns:
        return False
    absolute = os.path.abspath(file)
    seen = os.path.relpath(absolute, root) if root and is_within(absolute, root) else absolute.lstrip(os.sep)
    seen = seen.replace(os.sep, "/") + ("/" if folder else "")
    return bool(compile_patterns(patterns).match_file(seen))


def is_within(absolute: str, folder: Path) -> bool:
    """Whether an absolute path lies in `folder`."""
    parent = os.path.join(os.path.abspath(folder), "")
    return absolute.startswith(parent)
