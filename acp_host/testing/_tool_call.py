"""A tool call of an :class:`~acp_host.testing.agent_turn.AgentTurn` while it runs: :class:`ToolCallInProgress`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import TracebackType
from typing import Any

from acp_host.wire._model import UNSET
from acp_host.wire.content import TextContent
from acp_host.wire.tool_calls import (
    Content,
    Diff,
    Terminal,
    ToolCall,
    ToolCallContent,
    ToolCallLocation,
    ToolCallStatus,
    ToolCallUpdate,
)
from acp_host.wire.updates import SessionUpdate

__all__ = ["ToolCallInProgress", "ToolCallSkipped", "TurnCancelled", "announcement"]


class TurnCancelled(Exception):
    """The host answered a permission request with ``cancelled``: the turn is over. Scripts let it pass."""


class ToolCallSkipped(Exception):
    """A tool call does not begin, because the model is to see something first. Scripts let it pass: the block ends."""


class ToolCallInProgress:
    """A tool call as an ``async with`` block: announced at its beginning, ``completed`` at its end.

    It is ``failed`` if the block raises, which the exception survives, or after :meth:`fail`; in ACP v2 it is
    ``cancelled`` where the turn is, or after :meth:`cancel`. Where a reminder that
    interrupts waits when it is to :meth:`start`, the rest of the block is skipped, and nothing more is told of the
    call. After the block the model is asked again. Made by :meth:`~acp_host.testing.agent_turn.AgentTurn.tool_call`.

    Attributes:
        id: its id.
        kind: its kind.
    """

    def __init__(
        self,
        announcement: ToolCall,
        send: Callable[[SessionUpdate], None],
        is_interrupted: Callable[[], bool],
        ask_model: Callable[[], object],
        *,
        cancelled: str = ToolCallStatus.FAILED,
    ) -> None:
        self.id = announcement.tool_call_id
        self.kind = announcement.kind or "other"
        self._announcement = announcement
        self._send = send
        self._is_interrupted = is_interrupted
        self._ask_model = ask_model
        self._content: list[ToolCallContent] = []
        self._cancelled = cancelled
        self._end: str = ToolCallStatus.COMPLETED

    async def __aenter__(self) -> ToolCallInProgress:
        self._send(self._announcement)
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        skipped = isinstance(exc, ToolCallSkipped)
        if not skipped:
            self._tell_end(exc)
        if skipped or exc is None:
            self._ask_model()
        return skipped

    def start(self) -> None:
        """Say that the work has begun: the input is known, and the user has allowed it.

        Raises:
            ToolCallSkipped: a reminder interrupts; the block swallows this.
        """
        if self._is_interrupted():
            raise ToolCallSkipped
        self.update(status=ToolCallStatus.IN_PROGRESS)

    def show(self, *content: str | Diff | Terminal) -> None:
        """Add to what the call has produced: text, a change to a file, or a terminal of the host."""
        self._content += [Content(TextContent(item)) if isinstance(item, str) else item for item in content]
        self.update(content=tuple(self._content))

    def fail(self, why: str) -> None:
        """Say why the call does not succeed; it is ``failed`` at the end of the block."""
        self._end = ToolCallStatus.FAILED
        self.show(why)

    def cancel(self) -> None:
        """Say that the user cancelled the call, and nothing else."""
        self._end = self._cancelled

    def update(self, **changes: Any) -> None:
        """Change attributes of the call; see :class:`~acp_host.wire.tool_calls.ToolCallUpdate`."""
        self._send(ToolCallUpdate(self.id, **changes))

    def _tell_end(self, exc: BaseException | None) -> None:
        if isinstance(exc, TurnCancelled | asyncio.CancelledError):
            self.cancel()
        elif exc is not None:
            self.fail(str(exc))
        self.update(status=self._end)

    def described(self) -> ToolCallUpdate:
        """Return the whole call as an update, for a permission request."""
        announced = self._announcement
        return ToolCallUpdate(
            self.id,
            kind=announced.kind,
            status=ToolCallStatus.PENDING,
            title=announced.title,
            locations=announced.locations,
            content=tuple(self._content) or UNSET,
            raw_input=announced.raw_input,
        )


def announcement(
    id: str, title: str, *, kind: str, path: str | None, line: int | None, name: str | None, raw_input: Any
) -> ToolCall:
    """Return the update that announces a tool call."""
    location = ToolCallLocation(path, line=UNSET if line is None else line) if path else None
    return ToolCall(
        id,
        title,
        name=UNSET if name is None else name,
        kind=kind,
        status=ToolCallStatus.PENDING,
        locations=(location,) if location else UNSET,
        raw_input=UNSET if raw_input is None else raw_input,
    )
