"""Puts a file in the place of another as a whole, so that nobody ever sees half of it."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path


def replace(path: Path, data: bytes) -> None:
    """Write a file beside the old one and put it in its place, with the mode and owner of the old one.

    A file that is new gets the mode that others get.

    Raises:
        OSError: it cannot be written.
    """
    path = path.resolve()  # a symbolic link stays one
    old = path.stat() if path.exists() else None
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, old.st_mode & 0o7777 if old is not None else 0o666 & ~_umask())
        if old is not None and hasattr(os, "chown"):
            with contextlib.suppress(PermissionError):  # only root may give a file away
                os.chown(name, old.st_uid, old.st_gid)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
