"""A file that an agent names by an address, for an application that wants to show it: :func:`read_addressed_file`.

The address is the agent's word. Only ``file:`` addresses of this machine are read, only inside the directories that the
application allows, and nothing else is ever opened or fetched.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit

from acp_host.errors import InvalidInput, InvalidParams
from acp_host.services._confined import confine
from acp_host.services._place import SpecialFileError

__all__ = ["MAX_BYTES", "path_of_address", "read_addressed_file"]

MAX_BYTES = 16 * 1024 * 1024
"""Largest file that is read unless the caller allows more, in bytes."""


async def read_addressed_file(address: str, roots: Sequence[str | Path], *, limit: int = MAX_BYTES) -> bytes:
    """Return the content of the file that an address names.

    Args:
        address: e.g. ``file:///w/chart.png``.
        roots: absolute paths of the directories that the file may be in; links that lead out of them are not followed.
        limit: largest size that is read, in bytes.

    Raises:
        InvalidInput: the address is not that of a file on this machine, it leads out of the roots, or the file is
            larger than ``limit`` or no regular file.
        OSError: the file is not there or cannot be read.
    """
    return await asyncio.to_thread(_read, path_of_address(address), roots, limit)


def path_of_address(address: str, *, windows: bool = os.name == "nt") -> str:
    """Return the path that a ``file:`` address stands for; nothing looks whether it is there.

    Raises:
        InvalidInput: the address is not that of a file on this machine.
    """
    try:
        parts = urlsplit(address)
    except ValueError:
        raise InvalidInput(f"{address!r} is no address") from None
    if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
        raise InvalidInput(f"{address!r} is not the address of a file on this machine")
    path = unquote(parts.path, errors="surrogateescape")
    if windows and path[:1] == "/" and path[2:3] == ":":
        path = path[1:].replace("/", "\\")
    if not path or "\0" in path:
        raise InvalidInput(f"{address!r} names no file")
    return path


def _read(path: str, roots: Sequence[str | Path], limit: int) -> bytes:
    try:
        with confine(roots).place(path) as place:
            content, _ = place.read(limit + 1)
    except InvalidParams as refusal:
        raise InvalidInput(refusal.message) from None
    except SpecialFileError as error:
        raise InvalidInput(f"{path} {error.problem}") from None
    if len(content) > limit:
        raise InvalidInput(f"{path} has more than {limit} bytes")
    return content
