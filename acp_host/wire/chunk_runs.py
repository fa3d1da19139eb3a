"""Chunks of one message that come one after the other: :class:`ChunkRun`, and :class:`ChunkReader`, which reads them.

An agent streams a message as hundreds of lines that differ in nothing but a piece of text. Once two lines have done so,
the bytes around that text are a template: of the lines that fit it, only the text is decoded.

Why that gives what decoding the whole lines gives: in JSON, one string can stand in the place of another, and nothing
else changes by it. That the place is that of the chunk's text, the first two lines have shown: they were decoded whole,
and each had the text that stands there. What stands there later is decoded by itself: it is one whole string, or the
line is not taken.

The next message differs in its id besides. So a template leaves a form behind, in which the id may be another one, too:
what was the member of that name in a line that is known to the last byte.

Cost: a quarter of what it costs to decode a line and make its update.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import orjson

from acp_host.wire._model import NO_EXTRA, UNSET, Unset, model
from acp_host.wire.content import TextContent
from acp_host.wire.framing import Oversized
from acp_host.wire.ids import MessageId, SessionId
from acp_host.wire.updates import AgentMessageChunk, AgentThoughtChunk, SessionNotification
from acp_host.wire.v2 import messages as v2

__all__ = ["CHUNKS", "ChunkReader", "ChunkRun"]

_LONGEST = 4096
"""Longest line that is learned from, in bytes; of a longer one, most is text."""
_MOST_FORMS = 4
"""Forms that are known at a time: messages and thoughts, of two sessions."""
CHUNKS: frozenset[type[AgentMessageChunk | AgentThoughtChunk]] = frozenset(
    {AgentMessageChunk, AgentThoughtChunk, v2.AgentMessageChunk, v2.AgentThoughtChunk}
)
"""The updates that are read in runs."""
_STRING = rb'"(?:[^"\\]++|\\.)*+"'
# Where these quotes stand a member's name ends, and not in a string: there they would be escaped.
_TEXT = re.compile(rb'"text"\s*+:\s*+(' + _STRING + rb")")
_ID = re.compile(rb'"messageId"\s*+:\s*+(' + _STRING + rb")")
_ANY_STRING = re.compile(_STRING, re.DOTALL)


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
        return list(map(self.kind, map(TextContent, self.texts), itertools.repeat(self.message_id)))

    def notifications(self) -> list[SessionNotification]:
        """Return the chunks as they came, each in a notification of its own."""
        updates = self.updates()
        if self.extra is NO_EXTRA:
            return list(map(SessionNotification, itertools.repeat(self.session_id), updates))
        return [SessionNotification(self.session_id, update, extra=self.extra) for update in updates]


class ChunkReader:
    """Reads runs of chunks by a template, and makes the templates."""

    def __init__(self) -> None:
        self._template: _Template | None = None
        self._forms: list[_Form] = []
        self._beginning = b""
        self._last: tuple[bytes, bytes, bytes] | None = None

    def read(self, lines: Sequence[bytes | Oversized], start: int) -> ChunkRun | None:
        """Return the run that begins with ``lines[start]``; ``None`` if that is no chunk of a form that is known."""
        line: Any = lines[start]
        if self._template is None or line.__class__ is not bytes or not line.startswith(self._beginning):
            return None
        run = self._template.read(lines, start)
        if run is not None:
            return run
        for form in self._forms:
            if (template := form.template(line)) is not None:
                self._template = template
                return template.read(lines, start)
        return None

    def learn(
        self,
        line: bytes,
        session_id: SessionId,
        update: AgentMessageChunk | AgentThoughtChunk,
        extra: Mapping[str, Any] = NO_EXTRA,
    ) -> None:
        """Take a line that had to be decoded whole; if it differs from the last one in its text, make a template.

        Args:
            line: as it came.
            session_id: what was in it.
            update: likewise, of :data:`CHUNKS`.
            extra: what else was in its parameters, in which there must be no ``text``.
        """
        last, self._last = self._last, None
        if len(line) > _LONGEST:
            return
        found = _TEXT.search(line)
        if found is None or not _is_plain(update, orjson.loads(found[1])):
            return
        head, text, tail = self._last = line[: found.start(1)], found[1], line[found.end(1) :]
        if last is not None and last[0] == head and last[1] != text and last[2] == tail:
            self._template = _Template(head, tail, session_id, update.__class__, update.message_id, extra)
            self._forms = [_Form.of(self._template), *self._forms[: _MOST_FORMS - 1]]
            self._beginning = _common_beginning([form.head for form in self._forms])


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
        pieces: list[bytes] = []
        line: Any
        for index in range(start, len(lines)):
            line = lines[index]
            if line.__class__ is not bytes or not line.startswith(head) or not line.endswith(tail):
                break
            pieces.append(line[first:last])
        texts = _strings(pieces)
        return ChunkRun(self.session_id, self.kind, self.message_id, texts, self.extra) if texts else None


@model
class _Form:
    """What the lines of a template have in common with those of other messages: everything but text and message id.

    Attributes:
        head: what stands before the first of the strings that differ.
        between: what stands between the two of them; ``None`` where only the text differs.
        tail: what stands behind the last one.
        id_first: the id stands before the text.
        like: a template of this form.
    """

    head: bytes
    between: bytes | None
    tail: bytes
    id_first: bool
    like: _Template

    @classmethod
    def of(cls, template: _Template) -> _Form:
        head, tail = template.head, template.tail
        ids = [*_ID.finditer(head), *_ID.finditer(tail)]
        if len(ids) != 1 or template.extra is not NO_EXTRA or orjson.loads(ids[0][1]) != template.message_id:
            return cls(head, None, tail, False, template)  # whose id it is, or which counts, only a decoder knows
        start, end = ids[0].span(1)
        if ids[0].string is head:
            return cls(head[:start], head[end:], tail, True, template)
        return cls(head, tail[:start], tail[end:], False, template)

    def template(self, line: bytes) -> _Template | None:
        """Return the template of the message that a line begins; ``None`` if the line is of another form."""
        between, like = self.between, self.like
        if not line.startswith(self.head):
            return None
        first = last = _ANY_STRING.match(line, len(self.head))
        if first is not None and between is not None:
            end = first.end()
            last = _ANY_STRING.match(line, end + len(between)) if line.startswith(between, end) else None
        if first is None or last is None or line[last.end() :] != self.tail:
            return None
        named, text = (first, last) if self.id_first else (last, first)
        try:
            message_id = like.message_id if between is None else orjson.loads(named[0])
        except ValueError:
            return None
        return _Template(line[: text.start()], line[text.end() :], like.session_id, like.kind, message_id, like.extra)


def _strings(pieces: Sequence[bytes]) -> list[str]:
    """Return the strings that pieces of JSON are, up to the first piece that is none."""
    strings: list[str]
    try:
        # Read at once, it takes a quarter of the time. No string goes on behind a line break, and an array or an object
        # that does is no string: so as many strings as pieces are one from each.
        strings = orjson.loads(b"[" + b"\n,\n".join(pieces) + b"]")
    except ValueError:
        strings = []
    if len(strings) == len(pieces) and {*map(type, strings)} == {str}:
        return strings
    return list(_strings_one_by_one(pieces))


def _strings_one_by_one(pieces: Iterable[bytes]) -> Iterator[str]:
    for piece in pieces:
        try:
            string = orjson.loads(piece)
        except ValueError:
            return
        if string.__class__ is not str:
            return
        yield string


def _common_beginning(texts: Sequence[bytes]) -> bytes:
    first, last = min(texts), max(texts)  # what these two share, all between them share
    return first[: next((n for n, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))]
