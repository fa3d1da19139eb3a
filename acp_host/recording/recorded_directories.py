"""Directories of a recording and those of now: :class:`RecordedDirectories`.

A recorded agent speaks of files where it worked, and the host that listens now has its sessions elsewhere. Which of its
directories is which, it says where it opens a session; a file in the one is then that file in the other, as a path and
as a ``file:`` address. Paths in the midst of a text stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

__all__ = ["RecordedDirectories"]

_SEPARATORS = ("/", "\\")
_MAX_DIRECTORIES = 1_000
"""Directories that are remembered, so that a hostile recording cannot fill the memory."""


class RecordedDirectories:
    """What directories are called in the recording, and what now."""

    def __init__(self) -> None:
        self._now: dict[str, str] = {}
        self._recorded: dict[str, str] = {}

    def learn(self, recorded: Mapping[str, Any], now: Mapping[str, Any]) -> None:
        """Learn from a message that the host sends now which is the recorded one."""
        for one, other in _pairs(recorded.get("params"), now.get("params")):
            if one != other and len(self._now) < _MAX_DIRECTORIES:
                self._now |= {one: other, _address(one): _address(other)}
                self._recorded |= {other: one, _address(other): _address(one)}

    def as_now(self, value: Any) -> Any:
        """Return what the recorded agent says as it would be now; the same object if nothing is different."""
        return _moved_throughout(value, self._now)

    def as_recorded(self, value: Any) -> Any:
        """Return what the host says now as the recorded host would have said it; likewise."""
        return _moved_throughout(value, self._recorded)


def _pairs(recorded: Any, now: Any) -> Iterator[tuple[str, str]]:
    """Yield the directories of a request that opens a session, as they were and as they are."""
    if not (isinstance(recorded, Mapping) and isinstance(now, Mapping)):
        return
    for one, other in zip(_directories(recorded), _directories(now), strict=False):
        if isinstance(one, str) and isinstance(other, str):
            one, other = (path.rstrip("/\\") for path in (one, other))
            if one and other:  # else everything would be in it
                yield one, other


def _directories(params: Mapping[str, Any]) -> list[Any]:
    further = params.get("additionalDirectories")
    return [params.get("cwd"), *(further if isinstance(further, list) else ())]


def _address(directory: str) -> str:
    path = directory.replace("\\", "/")
    return f"file://{'' if path.startswith('/') else '/'}{quote(path, safe='/:')}"


def _moved_throughout(value: Any, moves: Mapping[str, str]) -> Any:
    try:
        return _moved(value, moves) if moves else value
    except RecursionError:  # what is nested so deeply stays as it is
        return value


def _moved(value: Any, moves: Mapping[str, str]) -> Any:
    match value:
        case str():
            within = [old for old in moves if value.startswith(old) and value[len(old) :][:1] in ("", *_SEPARATORS)]
            old = max(within, key=len, default="")
            return moves.get(old, "") + value[len(old) :]
        case dict():
            return {name: _moved(member, moves) for name, member in value.items()}
        case list():
            return [_moved(member, moves) for member in value]
        case _:
            return value
