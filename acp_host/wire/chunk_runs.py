"""Chunks of one message that come one after the other: :class:`ChunkRun`, and :class:`ChunkReader`, which reads them.

An agent streams a message as hundreds of lines that differ in nothing but a piece of text. Once two lines have done so,
the bytes around that text are a template: of the lines that fit it, only the text is decoded.

Why that gives what decoding the whole lines gives: in JSON, one string can stand in the place of another, and nothing
else changes by it. That the place is that of the chunk's text, the first two lines have shown: they were decoded whole,
and each had the text that stands there. What stands there later is decoded by itself: it is one whole string, or the
line is not taken.

Cost: a quarter of what it costs to decode a line and make its update.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from acp_host.wire._model import NO_EXTRA, UNSET, Unset, model
from acp_host.wire.content import TextContent
from acp_host.wire.framing import Oversized
from acp_host.wire.ids import MessageId, SessionId
from acp_host.wire.updates import AgentMessageChunk, AgentThoughtChunk, SessionNotification, SessionUpdate

__all__ = ["ChunkReader", "ChunkRun"]

_LONGEST = 4096
"""Longest line that is learned from, in bytes; of a longer one, most is text."""
# Where these quotes stand a member's name ends, and not in a string: there they would be escaped.
_TEXT = re.compile(rb'"text"\s*+:\s*+("(?:[^"\\]++|\\.)*+")')


@model
class ChunkRun:
    """Chunks of one message, one after the other, that hold nothing but text.

    Attributes:
        session_id: the session that they are about.
        kind: what each of them is.
        message_id: the id that each of them has.
        texts: their texts, at least one.
        extra: what stood beside each in its parameters: the prompt that it belongs to, of Harn.
    """

    session_id: SessionId
    kind: type[AgentMessageChunk | AgentThoughtChunk]
    message_id: MessageId | None | Unset
    texts: Sequence[str]
    extra: Mapping[str, Any] = NO_EXTRA

    def __len__(self) -> int:
        return len(self.texts)

    def updates(self) -> list[AgentMessageChunk | AgentThoughtChunk]:
        """Return the chunks themselves."""
        kind, message_id = self.kind, self.message_id
        return [kind(TextContent(text), message_id) for text in self.texts]

    def notifications(self) -> list[SessionNotification]:
        """Return the chunks as they came, each in a notification of its own."""
        return [SessionNotification(self.session_id, update, extra=self.extra) for update in self.updates()]


class ChunkReader:
    """Reads runs of chunks by a template, and makes the templates."""

    def __init__(self) -> None:
        self._template: _Template | None = None
        self._last: tuple[bytes, bytes, bytes] | None = None

    def read(self, lines: Sequence[bytes | Oversized], start: int) -> ChunkRun | None:
        """Return the run that begins with ``lines[start]``; ``None`` if that is no chunk that fits the template."""
        return None if self._template is None else self._template.read(lines, start)

    def learn(
        self, line: bytes, session_id: SessionId, update: SessionUpdate, extra: Mapping[str, Any] = NO_EXTRA
    ) -> None:
        """Take a line that had to be decoded whole; if it differs from the last one in its text, make a template.

        Args:
            line: as it came.
            session_id: what was in it.
            update: likewise.
            extra: what else was in its parameters, in which there must be no ``text``.
        """
        if not isinstance(update, AgentMessageChunk | AgentThoughtChunk) or len(line) > _LONGEST:
            return
        last, self._last = self._last, None
        found = _TEXT.search(line)
        if found is None or not _is_plain(update, orjson.loads(found[1])):
            return
        head, text, tail = self._last = line[: found.start(1)], found[1], line[found.end(1) :]
        if last is not None and last[0] == head and last[1] != text and last[2] == tail:
            self._template = _Template(head, tail, session_id, update.__class__, update.message_id, extra)


def _is_plain(update: Any, text: str) -> bool:
    """Tell whether a chunk is this text and nothing else."""
    content = update.content
    return (
        content.__class__ is TextContent
        and content.text == text
        and content.annotations is content.meta is update.meta is UNSET
        and content.extra is update.extra is NO_EXTRA
    )


@model
class _Template:
    """What stands before and behind the text in the lines of a run, and what they mean."""

    head: bytes
    tail: bytes
    session_id: SessionId
    kind: type[AgentMessageChunk | AgentThoughtChunk]
    message_id: MessageId | None | Unset
    extra: Mapping[str, Any]

    def read(self, lines: Sequence[bytes | Oversized], start: int) -> ChunkRun | None:
        head, tail, first, last = self.head, self.tail, len(self.head), -len(self.tail)
        texts: list[str] = []
        line: Any
        for index in range(start, len(lines)):
            line = lines[index]
            if line.__class__ is not bytes or not line.startswith(head) or not line.endswith(tail):
                break
            try:
                text = orjson.loads(line[first:last])
            except ValueError:
                break
            if text.__class__ is not str:
                break
            texts.append(text)
        return ChunkRun(self.session_id, self.kind, self.message_id, texts, self.extra) if texts else None
