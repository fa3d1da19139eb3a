"""Reminders in what agents repeat as the user's words: :class:`MarkedTextReader`.

What a host puts before a prompt comes back in the user's role, live or on a replay. Here it is told apart again by its
marker, also where it is streamed in pieces; so no reminder ever shows as something that the user typed.

Cost: for text that does not begin like a marker, two searches; while text is held back, one of what is new.
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
        self._held: UserMessageChunk | None = None  # the newest of those whose text is held back
        self._texts: list[str] = []
        self._size = 0
        self._awaited = ""
        self._end = ""

    @property
    def is_holding(self) -> bool:
        """Whether text is held back: whatever else comes next, :meth:`flush` comes first."""
        return self._held is not None

    def feed(self, chunk: UserMessageChunk) -> list[Found]:
        """Take the next piece of what the user said; return what it turns out to be, in order."""
        found: list[Found] = []
        content = chunk.content
        if self._held is not None and (
            not isinstance(content, TextContent) or self._held.message_id != chunk.message_id
        ):
            found = self.flush()
        if not isinstance(content, TextContent):
            return [*found, chunk]
        was_holding, text = self.is_holding, content.text
        if was_holding:
            if self._is_no_end(text):
                self._hold(chunk, text)
                return []
            text = "".join([*self._texts, text])
            self._let_go()
        end = MARKER.unfinished(text)
        if end < len(text) <= _LONGEST:
            self._awaited = MARKER.awaited(text[end:])
            self._hold(chunk, text[end:])
            text = text[:end]
        elif not was_holding and _OPENING not in text:
            return [*found, chunk]
        return found + _pieces(text, chunk)

    def flush(self) -> list[Found]:
        """Return what is held back: nothing that completes it will come."""
        held, text = self._held, "".join(self._texts)
        self._let_go()
        return [] if held is None else [evolve(held, content=TextContent(text))]

    def _is_no_end(self, text: str) -> bool:
        """Tell whether another piece leaves what is held as it is, so that nobody has to look at all of it again."""
        fits = self._size + len(text) <= _LONGEST
        return bool(self._awaited) and fits and self._awaited not in self._end + text

    def _hold(self, chunk: UserMessageChunk, text: str) -> None:
        self._held = chunk
        self._texts.append(text)
        self._size += len(text)
        self._end = (self._end + text)[-len(self._awaited) :]

    def _let_go(self) -> None:
        self._held = None
        self._texts.clear()
        self._size = 0
        self._awaited = self._end = ""


def _pieces(text: str, chunk: UserMessageChunk) -> list[Found]:
    if _OPENING not in text:
        return [evolve(chunk, content=TextContent(text))] if text else []
    return [_found(piece, chunk) for piece in MARKER.split(text)]


def _found(piece: MarkedText, chunk: UserMessageChunk) -> Found:
    if piece.reminder_id is not None:
        return MarkedReminder(piece.reminder_id, piece.text)
    return evolve(chunk, content=TextContent(piece.text))
