"""The agent's message as it comes, in pieces that can be written one after the other: :class:`MessageText`."""

from __future__ import annotations

from typing import Any

from acp_host.automation.events import RunEvent, RunFinished, Updated
from acp_host.wire.content import TextContent
from acp_host.wire.harn.content import shown_text
from acp_host.wire.text import ends_in_half, join_text
from acp_host.wire.updates import AgentMessageChunk
from acp_host.wire.v2.updates import AgentMessage
from acp_host.wire.v2.updates import AgentMessageChunk as NamedMessageChunk

__all__ = ["MessageText"]


class MessageText:
    """Takes the events of a run with an agent of either version, and returns what each adds to its message.

    In version 2 an agent may tell a whole message anew. What it adds to what was told is a piece like any other; where
    it says something else instead, that is in the result alone, since what was written cannot be taken back.
    """

    def __init__(self) -> None:
        self._held = ""
        self._told: dict[str, str] = {}

    def feed(self, event: RunEvent) -> str:
        """Return the text that an event adds; empty for others, and where a character was cut until the rest comes."""
        match event:
            case Updated(update=update, aside=False):
                return self._whole_characters(self._piece(update))
            case RunFinished():
                held, self._held = self._held, ""
                return held
        return ""

    def _piece(self, update: Any) -> str:
        match update:
            case NamedMessageChunk(content=TextContent(text=text), message_id=message_id):
                self._told[message_id] = self._told.get(message_id, "") + text
                return text
            case AgentMessageChunk(content=TextContent() as content):
                return shown_text(content)
            case AgentMessage(content=tuple(content), message_id=message_id):
                whole = join_text([block.text for block in content if isinstance(block, TextContent)])
                told = self._told.get(message_id, "")
                self._told[message_id] = whole
                return whole[len(told) :] if whole.startswith(told) else ""
        return ""

    def _whole_characters(self, piece: str) -> str:
        text = join_text((self._held, piece))
        whole = len(text) - ends_in_half(text)
        self._held = text[whole:]
        return text[:whole]
