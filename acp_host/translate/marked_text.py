"""Reminders in what agents repeat as the user's words: :class:`MarkedTextReader`.

What a host puts before a prompt comes back in the user's role, live or on a replay. Here it is told apart again by its
marker, also where it is streamed in pieces; so no reminder ever shows as something that the user typed.

Cost: for text that does not begin like a marker, two searches.
"""

from __future__ import annotations

from attrs import frozen

from acp_host.state.reminder_marker import MARKER, MarkedText
from acp_host.wire._model import evolve
from acp_host.wire.content import TextContent
from acp_host.wire.updates import UserMessageChunk

__all__ = ["MarkedReminder", "MarkedTextReader"]

_OPENING = "[context from "
_LONGEST = 256 * 1024
"""How much text is held back while a marked piece may only be half there, in characters."""


@frozen
class MarkedReminder:
    """A reminder that was found in the user's words.

    Attributes:
        id: its host-local id.
        body: its text.
    """

    id: str
    body: str


Found = UserMessageChunk | MarkedReminder


class MarkedTextReader:
    """Takes reminders out of the user's streamed words."""

    def __init__(self) -> None:
        self._held: UserMessageChunk | None = None

    @property
    def is_holding(self) -> bool:
        """Whether text is held back: whatever else comes next, :meth:`flush` comes first."""
        return self._held is not None

    def feed(self, chunk: UserMessageChunk) -> list[Found]:
        """Take the next piece of what the user said; return what it turns out to be, in order."""
        found: list[Found] = []
        held = self._held
        content = chunk.content
        if content.__class__ is not TextContent or (held is not None and held.message_id != chunk.message_id):
            found = self.flush()
            held = None
        if not isinstance(content, TextContent):
            return [*found, chunk]
        text = content.text if held is None else _text(held) + content.text
        self._held = None
        end = MARKER.unfinished(text)
        if end < len(text) <= _LONGEST:
            self._held = evolve(chunk, content=TextContent(text[end:]))
            text = text[:end]
        elif held is None and _OPENING not in text:
            return [*found, chunk]
        return found + _pieces(text, chunk)

    def flush(self) -> list[Found]:
        """Return what is held back: nothing that completes it will come."""
        held, self._held = self._held, None
        return [] if held is None else [held]


def _text(chunk: UserMessageChunk) -> str:
    return chunk.content.text if isinstance(chunk.content, TextContent) else ""


def _pieces(text: str, chunk: UserMessageChunk) -> list[Found]:
    if _OPENING not in text:
        return [evolve(chunk, content=TextContent(text))] if text else []
    return [_found(piece, chunk) for piece in MARKER.split(text)]


def _found(piece: MarkedText, chunk: UserMessageChunk) -> Found:
    if piece.reminder_id is not None:
        return MarkedReminder(piece.reminder_id, piece.text)
    return evolve(chunk, content=TextContent(piece.text))
