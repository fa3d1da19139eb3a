"""How the reference agent answers the methods that concern reminders: :class:`ReminderMethods`.

``session/inject_reminder`` is the RFC's and is answered at once. The other three are Harn's; an agent with
``harn_reminders`` answers them as Harn does, behind the prompt that is running on the connection.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from acp_host.errors import InvalidParams, RequestFailed
from acp_host.testing._reminder_shelf import AgentReminder, Withdrawal
from acp_host.testing._reminder_wire import pending_row, read_inject_reminder, read_remind, string_member
from acp_host.testing._running_turn import RunningTurn
from acp_host.testing.agent_session import AgentSession
from acp_host.testing.agent_side import Handler

if TYPE_CHECKING:
    from acp_host.testing._connection import Connection

__all__ = ["ReminderMethods"]

_HARN_SESSION_ERROR = -32004


class ReminderMethods:
    """The reminders of one connection, as the host speaks of them."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._desk = connection.desk
        self._features = connection.agent.features

    def handlers(self) -> dict[str, Handler]:
        """Return the handlers by wire method."""
        return {
            "session/inject_reminder": self.inject_reminder,
            "session/remind": self._in_harns_time(self.remind),
            "session/pending_injections": self._in_harns_time(self.pending_injections),
            "session/revoke_reminder": self._in_harns_time(self.revoke_reminder),
        }

    def inject_reminder(self, params: Any) -> dict[str, Any]:
        """Take a reminder in the spelling of the RFC."""
        session_id = string_member(params, "sessionId")
        if session_id is None:
            raise InvalidParams("sessionId must be there", data={"path": "$.params.sessionId"})
        session = self._connection.open_session(session_id)
        reminder = self._made(session, read_inject_reminder(params))
        dropped = self._desk.put(session, reminder)
        return {"reminderId": reminder.id, "dedupedCount": dropped} if dropped else {"reminderId": reminder.id}

    def remind(self, params: Any) -> dict[str, Any]:
        """Take a reminder in Harn's spelling."""
        session = self._harn_session(params, "session/remind")
        if "harn_no_bridge" in self._features and session.turn is None:
            raise RequestFailed("session/remind: no active bridge", code=_HARN_SESSION_ERROR)
        reminder = self._made(session, read_remind(params, old="harn_old" in self._features))
        self._desk.put(session, reminder)
        return {"reminderId": reminder.id}

    def pending_injections(self, params: Any) -> dict[str, Any]:
        """List what the model has not been shown yet."""
        waiting = self._harn_session(params, "session/pending_injections").shelf.waiting
        rows = [pending_row(reminder, position) for position, reminder in enumerate(waiting)]
        return {"pendingCount": len(rows), "injections": rows}

    def revoke_reminder(self, params: Any) -> dict[str, Any]:
        """Take a reminder back that the model has not been shown yet."""
        session = self._harn_session(params, "session/revoke_reminder")
        reminder_id = string_member(params, "reminderId") or string_member(params, "reminder_id")
        if reminder_id is None:
            raise InvalidParams("session/revoke_reminder: reminderId must be a text that is not empty")
        result = session.shelf.revoke(reminder_id)
        if result in (Withdrawal.ALREADY_DELIVERED, Withdrawal.UNKNOWN):
            data = {"reason": str(result), "reminderId": reminder_id}
            raise InvalidParams(f"session/revoke_reminder: {result}", data=data)
        return {"reminderId": reminder_id, "status": str(result)}

    def _made(self, session: AgentSession, read: dict[str, Any]) -> AgentReminder:
        given = {name: value for name, value in read.items() if value is not None}
        if "id" not in given:
            given["id"] = self._connection.agent.number("reminder")
        return AgentReminder(**{"fired_at_turn": session.turns, **given})

    def _harn_session(self, params: Any, method: str) -> AgentSession:
        """Return the session that the parameters name; where they name none, the first one."""
        session_id = string_member(params, "sessionId")
        sessions = self._connection.agent.sessions
        here = [session for session in sessions.values() if session.reader is self._connection]
        if not here or not isinstance(params, Mapping):
            raise InvalidParams(f"{method} requires sessionId")
        found = here[0] if session_id is None else sessions.get(session_id)
        if found is None or found.reader is not self._connection:
            raise RequestFailed(f"Session not found: {session_id}", code=_HARN_SESSION_ERROR)
        return found

    def _in_harns_time(self, handle: Callable[[Any], Any]) -> Callable[[Any], Any | Awaitable[Any]]:
        async def wait(params: Any) -> Any:
            while turn := self._running_turn():
                await turn.finished.wait()
            return handle(params)

        def handler(params: Any) -> Any | Awaitable[Any]:
            late = "harn_reminders" in self._features and self._running_turn() is not None
            return wait(params) if late else handle(params)

        return handler

    def _running_turn(self) -> RunningTurn | None:
        sessions = self._connection.agent.sessions.values()
        return next((each.turn for each in sessions if each.turn and each.reader is self._connection), None)
