"""What a host of ACP v2 is told about whether a session works or waits: :class:`StatesV2`."""

from __future__ import annotations

from typing import Any

from acp_host.errors import RequestFailed
from acp_host.testing._states import States
from acp_host.testing.agent_session import AgentSession
from acp_host.testing.agent_side import AgentSide
from acp_host.wire.converters import unstructure
from acp_host.wire.usage import Usage

__all__ = ["StatesV2"]

_IDS = {"terminal": "terminalId", "tool_call": "toolCallId"}


class StatesV2(States):
    """Tells each state by a ``state_update``, with all the work in the background, and keeps it with the session."""

    def __init__(self, session: AgentSession, side: AgentSide) -> None:
        self._session = session
        self._side = side

    def running(self) -> None:
        self._enter({"state": "running"})

    def requires_action(self) -> None:
        self._enter({"state": "requires_action"})

    def idle(self, reason: str | None, *, usage: Usage | None = None, error: RequestFailed | None = None) -> None:
        state: dict[str, Any] = {"state": "idle"}
        if reason is not None:
            state["stopReason"] = str(reason)
        if error is not None:
            data = {} if error.data is None else {"data": error.data}
            state["error"] = {"code": error.code, "message": error.message, **data}
        self._enter(state, {} if usage is None else {"usage": unstructure(usage)})

    def in_background(self, kind: str, id: str) -> None:
        """Say from now on that a ``"terminal"`` or a ``"tool_call"`` works on when the session is idle."""
        self._session.background[id] = {"type": kind, _IDS[kind]: id}

    def background_ended(self, id: str) -> None:
        """Say that it does not any more."""
        del self._session.background[id]
        self.tell()

    def snapshot(self) -> dict[str, Any]:
        """Return the state, without what belongs to the moment when it was entered."""
        return {**self._session.state, "background": list(self._session.background.values())}

    def tell(self, **members: Any) -> None:
        """Send the state, also if it is the same as before."""
        update = {"sessionUpdate": "state_update", **self.snapshot(), **members}
        self._side.notify("session/update", {"sessionId": self._session.id, "update": update})

    def _enter(self, state: dict[str, Any], once: dict[str, Any] | None = None) -> None:
        self._session.state = state
        self.tell(**once or {})
