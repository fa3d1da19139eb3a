"""Entries that are being written: :class:`MessageBuilder` and :class:`ToolCallBuilder`."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from acp_host.state.entries import (
    ENDED_CALL,
    BlockPart,
    MessageEntry,
    MessagePart,
    ShownContent,
    Speaker,
    TextPart,
    ToolCallEntry,
)
from acp_host.state.members import merged, patched
from acp_host.state.text import TextBuilder
from acp_host.wire._model import NO_EXTRA, UNSET, Unset
from acp_host.wire.content import ContentBlock, TextContent
from acp_host.wire.tool_calls import ToolCall, ToolCallLocation, ToolCallUpdate

if TYPE_CHECKING:
    from acp_host.state.harn.tool_facts import ToolFacts

__all__ = ["MessageBuilder", "PartsBuilder", "ToolCallBuilder", "parts_of"]


class PartsBuilder:
    """Content that is being streamed: neighbouring text is one part."""

    __slots__ = ("_closed", "_text")

    def __init__(self, parts: tuple[MessagePart, ...] = ()) -> None:
        self._closed: Sequence[MessagePart] = parts
        self._text: TextBuilder | None = None
        last = parts[-1] if parts else None
        if isinstance(last, TextPart):
            self._closed = parts[:-1]
            self._text = TextBuilder(last.segments)

    def add(self, content: Any) -> None:
        """Add a content block."""
        # Text and nothing else can be joined with its neighbours.
        if (
            content.__class__ is TextContent
            and content.extra is NO_EXTRA
            and (content.annotations is UNSET or not content.annotations)
            and (content.meta is UNSET or not content.meta)
        ):
            self.extend((content.text,))
        else:
            self._close(BlockPart(block=content))

    def extend(self, texts: Sequence[str]) -> None:
        """Add pieces of text."""
        if self._text is None:
            self._text = TextBuilder()
        self._text.extend(texts)

    def freeze(self) -> tuple[MessagePart, ...]:
        """Return the parts so far."""
        self._closed = closed = tuple(self._closed)  # the same object as long as nothing is closed
        text = self._text
        return closed if text is None else (*closed, TextPart(segments=text.segments()))

    def _close(self, block: BlockPart) -> None:
        """Let a block end the text that is being written."""
        closed = self._closed
        if not isinstance(closed, list):
            self._closed = closed = list(closed)
        if self._text is not None:
            closed.append(TextPart(segments=self._text.segments()))
            self._text = None
        closed.append(block)


def parts_of(blocks: Iterable[ContentBlock], before: tuple[MessagePart, ...] = ()) -> tuple[MessagePart, ...]:
    """Return the parts that content blocks make, behind those that were there before."""
    builder = PartsBuilder(before)
    for block in blocks:
        builder.add(block)
    return builder.freeze()


class MessageBuilder:
    """A message or thought that is being streamed."""

    __slots__ = ("message_id", "parts", "position", "replayed", "speaker", "turn")

    def __init__(
        self,
        position: int,
        speaker: Speaker,
        message_id: str | None,
        turn: int | None,
        replayed: bool,
        parts: tuple[MessagePart, ...] = (),
    ) -> None:
        self.position = position
        self.speaker = speaker
        self.message_id = message_id
        self.turn = turn
        self.replayed = replayed
        self.parts = PartsBuilder(parts)

    @classmethod
    def of(cls, entry: MessageEntry) -> MessageBuilder:
        """Return the builder that goes on with a message."""
        return cls(entry.position, entry.speaker, entry.message_id, entry.turn, entry.replayed, entry.parts)

    def freeze(self) -> MessageEntry:
        """Return the message so far."""
        return MessageEntry(
            position=self.position,
            speaker=self.speaker,
            parts=self.parts.freeze(),
            message_id=self.message_id,
            turn=self.turn,
            replayed=self.replayed,
        )


_SAID = ("title", "name", "kind", "status", "content", "locations", "raw_input", "raw_output")
_LISTS = ("content", "locations")
_said_in = operator.attrgetter(*_SAID)


class ToolCallBuilder:
    """A tool call that may still be told more about."""

    __slots__ = (
        "cancellable",
        "extra",
        "harn",
        "key",
        "meta",
        "position",
        "provisional",
        "replayed",
        "tool_call_id",
        "turn",
        "unfinished",
        *_SAID,
    )

    def __init__(
        self, position: int, key: str, tool_call_id: str, *, provisional: bool, turn: int | None, replayed: bool
    ) -> None:
        self.position = position
        self.key = key
        self.tool_call_id = tool_call_id
        self.provisional = provisional
        self.unfinished = False
        self.turn = turn
        self.replayed = replayed
        self.title = self.name = self.kind = self.status = self.raw_input = self.raw_output = None
        self.content: Sequence[ShownContent] = ()
        self.locations: tuple[ToolCallLocation, ...] = ()
        self.meta: Mapping[str, Any] = NO_EXTRA
        self.extra: Mapping[str, Any] = NO_EXTRA
        self.harn: ToolFacts | None = None
        self.cancellable = False

    @classmethod
    def of(cls, entry: ToolCallEntry) -> ToolCallBuilder:
        """Return the builder that goes on with a call."""
        builder = cls(
            entry.position,
            entry.key,
            entry.tool_call_id,
            provisional=entry.provisional,
            turn=entry.turn,
            replayed=entry.replayed,
        )
        for name in (*_SAID, "meta", "extra", "unfinished", "harn", "cancellable"):
            setattr(builder, name, getattr(entry, name))
        return builder

    def merge(
        self,
        report: ToolCall | ToolCallUpdate,
        problem: Callable[[str], None],
        *,
        announced: bool,
        harn: ToolFacts | None = None,
    ) -> None:
        """Take what a message says; what it does not mention, or says nothing about with ``null``, stays.

        An update clears a list with an empty one. A ``tool_call`` does not: to it, empty and absent are the same.
        ``problem`` is called with what is left out.
        """
        for name, value in zip(_SAID, _said_in(report), strict=True):
            if value is not UNSET and value is not None and (value or not announced or name not in _LISTS):
                setattr(self, name, value)
        if report.meta is not UNSET and report.meta:
            self.meta = merged(self.meta, report.meta, problem)
        if report.extra is not NO_EXTRA and report.extra:
            self.extra = merged(self.extra, report.extra, problem)
        if harn is not None:
            self.harn = harn.after(self.harn)
        if announced:
            self.provisional = False
        if self.unfinished and self.finished:
            self.unfinished = False

    def patch(
        self,
        said: Mapping[str, Any],
        meta: Mapping[str, Any] | None | Unset,
        extra: Mapping[str, Any],
        problem: Callable[[str], None],
    ) -> None:
        """Take what a message says with the values that hold from now on; ``problem`` is told what is left out."""
        for name, value in said.items():
            setattr(self, name, value)
        self.meta = patched(self.meta, meta, problem)
        if extra:
            self.extra = merged(self.extra, extra, problem)
        if self.unfinished and self.finished:
            self.unfinished = False

    def add_content(self, content: ShownContent) -> None:
        """Take one more thing that the call has produced."""
        if not isinstance(self.content, list):
            self.content = list(self.content)
        self.content.append(content)

    def mark_unfinished(self) -> bool:
        """Note that its turn is over, unless the agent said that the call has ended; tell whether this is new."""
        if self.finished or self.unfinished:
            return False
        self.unfinished = True
        return True

    @property
    def finished(self) -> bool:
        """Whether the agent said that the call has ended."""
        return self.status in ENDED_CALL

    def freeze(self) -> ToolCallEntry:
        """Return the call as it is now."""
        self.content = content = tuple(self.content)  # the same object as long as nothing is added
        return ToolCallEntry(
            position=self.position,
            key=self.key,
            tool_call_id=self.tool_call_id,
            title=self.title,
            name=self.name,
            kind=self.kind,
            status=self.status,
            content=content,
            locations=self.locations,
            raw_input=self.raw_input,
            raw_output=self.raw_output,
            provisional=self.provisional,
            unfinished=self.unfinished,
            meta=self.meta,
            extra=self.extra,
            turn=self.turn,
            replayed=self.replayed,
            harn=self.harn,
            cancellable=self.cancellable,
        )
