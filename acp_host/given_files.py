"""Paths that a caller names: :func:`reading` a file, and :func:`absolute`.

This is a leaf module: every layer may use it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from acp_host.errors import InvalidInput

__all__ = ["absolute", "reading"]


def absolute(path: str | os.PathLike[str]) -> str:
    """Return a path as it is from everywhere.

    Raises:
        InvalidInput: it is relative to the working directory of this program, and that is gone.
    """
    try:
        return os.path.abspath(path)
    except FileNotFoundError:
        raise InvalidInput(
            f"{os.fspath(path)!r} is relative to the working directory of this program, and that is gone: give an "
            "absolute path"
        ) from None


@contextmanager
def reading(path: str | os.PathLike[str]) -> Iterator[None]:
    """Let what the system says against a file be told as what it is: a wrong argument. ::

        with reading(path):
            text = Path(path).read_text("utf-8")

    Raises:
        InvalidInput: the file is not there, or cannot be read; names it, and says why.
    """
    try:
        yield
    except OSError as error:
        is_missing = isinstance(error, FileNotFoundError) and not os.path.isabs(path)
        hint = "; a relative path is one of the working directory" if is_missing else ""
        raise InvalidInput(f"{os.fspath(path)} cannot be read: {error.strerror or error}{hint}") from error
