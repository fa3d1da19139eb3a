"""How the Harn-like agent takes what is put before the model of a running prompt: :class:`InjectionMethods`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acp_host.errors import InvalidParams, RequestFailed
from acp_host.testing._reminder_shelf import AgentReminder, Withdrawal
from acp_host.testing._reminder_wire import read_remind
from acp_host.testing.agent_side import Handler
from acp_host.testing.harn._injections import ACTOR_OF_OLD, Inject, InjectMode
from acp_host.testing.harn._params import content_blocks, harn_member, text_member
from acp_host.testing.harn._session import HarnSession

if TYPE_CHECKING:
    from acp_host.testing.harn._connection import Connection

__all__ = ["InjectionMethods"]

_MODES = {
    "interrupt_immediate": InjectMode.INTERRUPT_IMMEDIATE,
    "steer": InjectMode.FINISH_STEP,
    "queue": InjectMode.AUDIT_ONLY,
}


class InjectionMethods:
    """User messages and reminders of one connection.

    A message is taken at once while a prompt runs; what is asked about it waits, and so does a reminder, except where
    the agent is one of the bridge.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._agent = connection.agent

    def handlers(self) -> dict[str, Handler]:
        """Return the handlers by wire method."""
        behind = self._connection.queue.behind
        handlers: dict[str, Handler] = {
            "session/remind": self._connection.of_the_bridge(self.remind),
            "session/pending_injections": behind(self.pending_injections),
            "session/revoke_reminder": behind(self.revoke_reminder),
        }
        if self._agent.inject_modes:
            handlers["session/inject"] = self.inject
            handlers["session/revoke_inject"] = behind(self.revoke_inject)
            handlers["session/replace_inject"] = behind(self.replace_inject)
        return handlers

    def inject(self, params: Any) -> dict[str, Any]:
        """Take a user message for the prompt that runs."""
        session = self._connection.session_of(params)
        if session.prompt is None:
            raise RequestFailed("Session has no active prompt", code=-32004)
        mode = params.get("mode")
        if mode not in self._agent.inject_modes:
            self._reject(session, "invalid_mode")
            raise InvalidParams(f"session/inject: unsupported mode {mode!r}")
        actor = harn_member(params, "actor") or dict(ACTOR_OF_OLD)
        content = content_blocks(params.get("content"))
        inject = Inject(id=self._agent.number("msg_inj"), mode=_MODES[mode], content=content, actor=actor)
        session.injections.waiting.append(inject)
        return {"messageId": inject.id, "status": "accepted", "_meta": {"harn": {"actor": actor}}}

    def revoke_inject(self, params: Any) -> dict[str, Any]:
        """Take a user message back."""
        session, message_id = self._connection.session_of(params), text_member(params, "messageId")
        actor = harn_member(params, "actor") or ACTOR_OF_OLD
        return {"messageId": message_id, "status": session.injections.revoke(message_id, actor)}

    def replace_inject(self, params: Any) -> dict[str, Any]:
        """Give a user message another content."""
        session, message_id = self._connection.session_of(params), text_member(params, "messageId")
        actor = harn_member(params, "actor") or ACTOR_OF_OLD
        session.injections.replace(message_id, content_blocks(params.get("content")), actor)
        return {"messageId": message_id, "status": "replaced"}

    def pending_injections(self, params: Any) -> dict[str, Any]:
        """List what the model has not been shown yet."""
        rows = self._connection.session_of(params).pending()
        return {"pendingCount": len(rows), "injections": rows}

    def _reject(self, session: HarnSession, reason: str) -> None:
        told = {"method": "session/inject", "status": "rejected", "outcome": "rejected", "reason": reason}
        self._connection.host.notify(session, "_harn/agentEvent", {"kind": "control_outcome", **told})

    # --- reminders --------------------------------------------------------------------------------------------------

    def remind(self, params: Any) -> dict[str, Any]:
        """Take a reminder for the prompt that runs; behind it there is none any more."""
        session = self._connection.session_of(params)
        if session.prompt is None:
            raise RequestFailed("session/remind: no active bridge", code=-32004)
        read = {name: value for name, value in read_remind(params, old=False).items() if value is not None}
        reminder = AgentReminder(**{"id": self._agent.number("reminder"), "fired_at_turn": session.turns, **read})
        session.shelf.put(reminder)
        return {"reminderId": reminder.id}

    def revoke_reminder(self, params: Any) -> dict[str, Any]:
        """Take a reminder back."""
        session, id = self._connection.session_of(params), text_member(params, "reminderId", "reminder_id")
        result = session.shelf.revoke(id)
        if result in (Withdrawal.ALREADY_DELIVERED, Withdrawal.UNKNOWN):
            raise InvalidParams(f"session/revoke_reminder: {result}", data={"reason": str(result), "reminderId": id})
        return {"reminderId": id, "status": str(result)}
