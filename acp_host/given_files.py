"""Files that a caller names, to be read: :func:`reading`.

This is a leaf module: every layer may use it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from acp_host.errors import InvalidInput

__all__ = ["reading"]


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
