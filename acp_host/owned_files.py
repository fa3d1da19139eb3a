"""Files of this user's that decide what is done: read only if nobody else can have written them, replaced as a whole.

This is a leaf module: every layer may use it.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
import sys
from pathlib import Path

__all__ = ["read_owned", "replace_owned"]


def read_owned(path: Path, limit: int, *, private: bool = True) -> str:
    """Return the text of a file that nobody but this user can have written.

    Args:
        path: the file.
        limit: its greatest size, in bytes.
        private: others may not read it either, and the path may be no symbolic link.

    Raises:
        OSError: it cannot be read.
        ValueError: it cannot be trusted, is too large, or is no UTF-8; says why.
    """
    no_links = getattr(os, "O_NOFOLLOW", 0) if private else 0
    descriptor = os.open(path, os.O_RDONLY | no_links | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise ValueError("it is not a regular file")
        if sys.platform != "win32":
            if status.st_uid != os.geteuid():
                raise ValueError("it belongs to another user")
            if private and status.st_mode & 0o077:
                raise ValueError(f"its mode is {stat.S_IMODE(status.st_mode):o} and must be 600")
            if status.st_mode & 0o022:
                raise ValueError(f"its mode is {stat.S_IMODE(status.st_mode):o}: others can write it")
        data = file.read(limit + 1)
    if len(data) > limit:
        raise ValueError(f"it has more than {limit} bytes")
    return data.decode("utf-8")


def replace_owned(path: Path, data: bytes) -> None:
    """Write a file that only this user can read or write, in place of an earlier one, as a whole or not at all.

    Raises:
        OSError: it cannot be written; the earlier one is still there.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
