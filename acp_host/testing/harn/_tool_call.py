"""A tool call of a :class:`~acp_host.testing.harn.turn.HarnTurn` while it runs: :class:`HarnToolCall`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import TracebackType
from typing import Any

from acp_host.testing._tool_call import ToolCallSkipped
from acp_host.testing.harn._frames import harn_meta

__all__ = ["HarnToolCall"]


class HarnToolCall:
    """A tool call as an ``async with`` block: announced at its beginning, ``completed`` or ``failed`` at its end.

    It can be cancelled by the host, which ends the block. Where something interrupts when it is to :meth:`start`, the
    rest of the block is skipped, and nothing more is told of the call.

    Attributes:
        id: its id.
        tool: the tool's name.
        raw_input: what it is given.
    """

    def __init__(
        self,
        id: str,
        tool: str,
        kind: str,
        raw_input: Any,
        *,
        send: Callable[[dict[str, Any]], None],
        is_interrupted: Callable[[], bool],
        ended: Callable[[HarnToolCall], None],
        executor: Any = "harn_builtin",
        audit: Any = None,
    ) -> None:
        self.id = id
        self.tool = tool
        self.kind = kind
        self.raw_input = raw_input
        self.cancelled = False
        self._send = send
        self._is_interrupted = is_interrupted
        self._ended = ended
        self._executor = executor
        self._audit = audit
        self._content: list[dict[str, Any]] = []
        self._end: dict[str, Any] = {}
        self._error: str | None = None
        self._task: asyncio.Task[Any] | None = None

    async def __aenter__(self) -> HarnToolCall:
        self._task = asyncio.current_task()
        described = {"title": self.tool, "kind": self.kind, "status": "pending", "rawInput": self.raw_input}
        self._send({"sessionUpdate": "tool_call", "toolCallId": self.id, **described, **harn_meta(audit=self._audit)})
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        self._ended(self)
        if isinstance(exc, ToolCallSkipped):
            return True
        if self.cancelled:
            self._error, self._end["errorCategory"] = "cancelled by the host", "cancelled"
        elif exc is not None:
            self._error = self._error or str(exc)
        failed = self._error is not None or exc is not None
        self.update(status="failed" if failed else "completed", error=self._error, **self._end)
        if not self.cancelled:
            return False
        if self._task is not None:
            self._task.uncancel()
        return True

    def start(self) -> None:
        """Say that the work has begun.

        Raises:
            ToolCallSkipped: something interrupts; the block swallows this.
        """
        if self._is_interrupted():
            raise ToolCallSkipped
        self.update(status="in_progress")

    def show(self, text: str) -> None:
        """Add a text to what the call has produced."""
        self._content.append({"type": "content", "content": {"type": "text", "text": text}})
        self._send(self._update(content=list(self._content)))

    def fail(self, error: str, category: str = "tool_error") -> None:
        """Say why the call does not succeed."""
        self._error = error
        self._end["errorCategory"] = category

    def finish(self, **harn: Any) -> None:
        """Add to what the last update tells under ``_meta.harn``, e.g. ``durationMs``, ``changedPaths``."""
        self._end |= harn

    def update(self, *, status: str, **harn: Any) -> None:
        """Tell the status, and more under ``_meta.harn``."""
        self._send(self._update(status=status, **harn_meta(executor=self._executor, audit=self._audit, **harn)))

    def cancel(self) -> None:
        """End the call, as the host wishes."""
        self.cancelled = True
        if self._task is not None:
            self._task.cancel()

    def _update(self, **members: Any) -> dict[str, Any]:
        return {"sessionUpdate": "tool_call_update", "toolCallId": self.id, "title": self.tool, **members}
