"""What a Harn agent sees happen to the files that it watches: :class:`FileWatches`, a reducer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from acp_host.state._value import plain_json, value
from acp_host.state.changes import Note
from acp_host.state.collections import Recent, RecentList
from acp_host.state.events import HarnEvent
from acp_host.wire._model import NO_EXTRA, model

__all__ = ["MAX_WATCHED", "FileWatches", "WatchedChange", "WatchedChangesReported"]

MAX_WATCHED = 1000
"""How many changes are kept, the newest ones."""

_TOPIC = "file_watches"


@value
class WatchedChange:
    """Something that happened to files, as the agent sees it.

    Attributes:
        subscription_id: the watch that saw it.
        kind: ``create``, ``modify``, ``remove``, or another word of the agent.
        paths: the files.
        relative_paths: the same within the directory that is watched.
        raw_kind: the word of the operating system.
        error: why the watch does not work, if so.
        extra: what else the agent said.
    """

    subscription_id: str
    kind: str | None = None
    paths: tuple[str, ...] = ()
    relative_paths: tuple[str, ...] = ()
    raw_kind: str | None = None
    error: str | None = None
    extra: Mapping[str, Any] = plain_json(default=NO_EXTRA)


@model
class WatchedChangesReported(HarnEvent):
    """The agent has seen something happen to files."""

    changes: tuple[WatchedChange, ...]


class FileWatches:
    """Collects what is seen.

    Args:
        note: called with each change.
    """

    def __init__(self, note: Note) -> None:
        self._changes: RecentList[WatchedChange] = RecentList(_TOPIC, note, MAX_WATCHED)

    def reducers(self) -> Mapping[type, Callable[[Any], None]]:
        """Return the method for each class of event that concerns watched files."""
        return {WatchedChangesReported: self._reported}

    def freeze(self) -> Recent[WatchedChange]:
        """Return the changes that are kept."""
        return self._changes.freeze()

    def _reported(self, event: WatchedChangesReported) -> None:
        for change in event.changes:
            self._changes.add(change)
