"""Stopping one tool call of a turn, and nothing else: :class:`ToolCallCancellation`."""

from __future__ import annotations

from enum import StrEnum

from attrs import frozen

from acp_host.errors import InvalidInput
from acp_host.harn.calls import Calls

__all__ = ["CancelStatus", "ToolCallCancellation", "cancel_tool_call"]

_METHOD = "session/cancel_tool_call"


class CancelStatus(StrEnum):
    """What became of the wish to stop a tool call; none of them is an error."""

    CANCELLED = "cancelled"
    ALREADY_CANCELLED = "already_cancelled"
    NOT_FOUND = "not_found"
    """There is no such call, or it is over."""


@frozen(kw_only=True)
class ToolCallCancellation:
    """The agent's answer.

    Attributes:
        status: one of :class:`CancelStatus` or another word; ``""`` if it did not say.
        call_id: the call.
        tool: its tool, if the agent knows the call.
    """

    status: str
    call_id: str
    tool: str | None = None


async def cancel_tool_call(
    calls: Calls, tool_call_id: str, *, reason: str | None, tell_model: bool
) -> ToolCallCancellation:
    """Stop a tool call; see :meth:`acp_host.harn.session.HarnSession.cancel_tool_call`."""
    if not isinstance(tool_call_id, str) or not tool_call_id:
        raise InvalidInput(f"tool_call_id is the agent's id of a call, not {tool_call_id!r}")
    params = {
        "toolCallId": tool_call_id,
        "injectReminder": tell_model,
        **({} if reason is None else {"reason": reason}),
    }
    answer = await calls.answer(_METHOD, params)
    cancellation = ToolCallCancellation(
        status=answer.text("status") or "", call_id=answer.text("callId") or tool_call_id, tool=answer.text("tool")
    )
    calls.read(_METHOD, answer)
    return cancellation
