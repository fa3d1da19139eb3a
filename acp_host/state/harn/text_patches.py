"""The patches that a Harn agent has put on files, or failed to: :class:`TextPatches`, a reducer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from acp_host.state._value import plain_json, value
from acp_host.state.changes import Note
from acp_host.state.collections import Recent, RecentList
from acp_host.state.events import HarnEvent
from acp_host.wire._model import NO_EXTRA, model

__all__ = ["MAX_PATCHES", "TextPatch", "TextPatchReported", "TextPatches"]

MAX_PATCHES = 200
"""How many patches are kept, the newest ones."""

_TOPIC = "text_patches"


@value
class TextPatch:
    """What has become of a patch.

    Attributes:
        path: the file, as the agent names it.
        result: ``applied``, or why not, in the agent's word.
        hunks: of how many parts it consists.
        bytes_written: how much was written.
        failed_hunk: the part that does not fit, counted from 0; ``None`` if none or if it does not say.
        message: what the agent says to it, for people.
        extra: what else the agent said.
    """

    path: str
    result: str | None = None
    hunks: int | None = None
    bytes_written: int | None = None
    failed_hunk: int | None = None
    message: str = ""
    extra: Mapping[str, Any] = plain_json(default=NO_EXTRA)


@model
class TextPatchReported(HarnEvent):
    """The agent has put a patch on a file, or has failed to."""

    patch: TextPatch


class TextPatches:
    """Collects the patches.

    Args:
        note: called with each change.
    """

    def __init__(self, note: Note) -> None:
        self._patches: RecentList[TextPatch] = RecentList(_TOPIC, note, MAX_PATCHES)

    def reducers(self) -> Mapping[type, Callable[[Any], None]]:
        """Return the method for each class of event that concerns patches."""
        return {TextPatchReported: lambda event: self._patches.add(event.patch)}

    def freeze(self) -> Recent[TextPatch]:
        """Return the patches that are kept."""
        return self._patches.freeze()
