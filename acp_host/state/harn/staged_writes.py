"""What a Harn agent has written and not yet brought to the files: :class:`StagedWriting`, a reducer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from acp_host.state._value import is_same, plain_json, value
from acp_host.state.changes import ChangeKind, Note
from acp_host.state.events import HarnEvent
from acp_host.wire._model import NO_EXTRA, model

__all__ = ["MAX_STAGED", "StagedWrite", "StagedWrites", "StagedWritesReported", "StagedWriting"]

MAX_STAGED = 1000
"""Of how many files it is kept what is to be written; ``count`` is the number of all."""

_TOPIC = "staged_writes"


@value
class StagedWrite:
    """One file that is to be written.

    Attributes:
        path: the file, as the agent names it.
        kind: what is to be done with it, e.g. ``create``, ``modify``, ``delete``.
        byte_delta: by how many bytes it grows.
        snapshot_id: what the agent calls the state before it.
        extra: what else the agent said.
    """

    path: str
    kind: str | None = None
    byte_delta: int | None = None
    snapshot_id: str | None = None
    extra: Mapping[str, Any] = plain_json(default=NO_EXTRA)


@value
class StagedWrites:
    """All that waits to be written.

    Attributes:
        count: how many files.
        total_bytes: how much it is, in bytes; ``None`` if the agent does not say.
        writes: the files, in the agent's order.
        message: what the agent says to it, for people.
    """

    count: int
    total_bytes: int | None = None
    writes: tuple[StagedWrite, ...] = ()
    message: str = ""


@model
class StagedWritesReported(HarnEvent):
    """This is now all that waits to be written."""

    staged: StagedWrites


class StagedWriting:
    """Keeps what was told last.

    Args:
        note: called with each change.
    """

    def __init__(self, note: Note) -> None:
        self._note = note
        self._staged: StagedWrites | None = None

    def reducers(self) -> Mapping[type, Callable[[Any], None]]:
        """Return the method for each class of event that concerns staged writes."""
        return {StagedWritesReported: self._reported}

    def freeze(self) -> StagedWrites | None:
        """Return what waits to be written; ``None`` as long as nothing was told of it."""
        return self._staged

    def _reported(self, event: StagedWritesReported) -> None:
        if not is_same(event.staged, self._staged):
            self._staged = event.staged
            self._note(_TOPIC, None, ChangeKind.CHANGED)
