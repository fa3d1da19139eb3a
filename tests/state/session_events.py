"""Short ways to write session events and to fold them, for the tests of the session model."""

from __future__ import annotations

from typing import Any

from acp_host.state import events
from acp_host.state.clock import ManualClock, ManualScheduler
from acp_host.state.entries import MessageEntry, Speaker, ToolCallEntry
from acp_host.state.memory import MemoryPolicy
from acp_host.state.session_state import SessionState
from acp_host.wire.content import ContentBlock, ImageContent, TextContent
from acp_host.wire.permission import PermissionOption, RequestPermissionRequest
from acp_host.wire.tool_calls import ToolCall, ToolCallUpdate


def text(words: str) -> TextContent:
    return TextContent(words)


def image(data: str = "QUJD", **more: Any) -> ImageContent:
    return ImageContent(data, "image/png", **more)


def _chunk(speaker: Speaker, content: str | ContentBlock, message_id: str | None) -> events.MessageChunk:
    return events.MessageChunk(speaker, text(content) if isinstance(content, str) else content, message_id)


def user(content: str | ContentBlock, message_id: str | None = None) -> events.MessageChunk:
    return _chunk(Speaker.USER, content, message_id)


def said(content: str | ContentBlock, message_id: str | None = None) -> events.MessageChunk:
    return _chunk(Speaker.ASSISTANT, content, message_id)


def thought(content: str | ContentBlock, message_id: str | None = None) -> events.MessageChunk:
    return _chunk(Speaker.THOUGHT, content, message_id)


def call(tool_call_id: str = "c1", title: str = "Read", **more: Any) -> events.ToolCallReported:
    return events.ToolCallReported(ToolCall(tool_call_id, title, **more), announced=True)


def update(tool_call_id: str = "c1", **more: Any) -> events.ToolCallReported:
    return events.ToolCallReported(ToolCallUpdate(tool_call_id, **more), announced=False)


def asks(tool_call_id: str = "c1", request_id: Any = 0, **more: Any) -> events.QuestionAsked:
    request = RequestPermissionRequest(
        "s", ToolCallUpdate(tool_call_id, **more), (PermissionOption("yes", "Yes", "allow_once"),)
    )
    return events.QuestionAsked(request_id, "session/request_permission", request)


def start(
    turn: int = 1, *prompt: str | ContentBlock, sent: tuple[ContentBlock, ...] | None = None
) -> events.TurnStarted:
    blocks = tuple(text(block) if isinstance(block, str) else block for block in prompt or ("Hi",))
    return events.TurnStarted(turn, blocks, blocks if sent is None else sent)


def end(turn: int = 1, outcome: str = "completed", stop_reason: str | None = "end_turn") -> events.TurnEnded:
    return events.TurnEnded(turn, outcome, stop_reason)


REPLAY = events.ReplayStarted()
LIVE = events.ReplayEnded()


class Folding:
    """A session state and the scheduler that delivers its changes."""

    def __init__(self, *folded: events.SessionEvent, memory: MemoryPolicy | None = None) -> None:
        self.clock = ManualClock()
        self.scheduler = ManualScheduler(self.clock)
        self.state = SessionState("s", self.scheduler, memory=memory)
        self.fold(*folded)

    def fold(self, *folded: events.SessionEvent) -> Folding:
        for event in folded:
            self.state.apply(event)
        return self

    def flush(self, times: int = 1) -> None:
        for _ in range(times):
            self.scheduler.flush()

    @property
    def snapshot(self) -> Any:
        return self.state.snapshot()

    @property
    def entries(self) -> tuple[Any, ...]:
        return tuple(self.snapshot.transcript)

    @property
    def texts(self) -> list[str]:
        """What each message says, with a letter for its speaker; what is no message by its type or key."""
        return [_line(entry) for entry in self.entries]


def _line(entry: Any) -> str:
    match entry:
        case MessageEntry():
            return f"{entry.speaker[0]}:{entry.text}"
        case ToolCallEntry():
            return entry.key
        case _:
            return entry.type
