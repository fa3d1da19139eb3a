"""What a connection of the reference agent does with its sessions' reminders: :class:`ReminderDesk`.

It keeps them in each session's :class:`~acp_host.testing._reminder_shelf.ReminderShelf` and tells the host what becomes
of them, in the form that the features ask for; what it tells goes into the session's history. Harn tells of nothing but
emissions, and lets reminders with one key wait side by side until the model is asked.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from acp_host.testing import _reminder_wire as wire
from acp_host.testing._reminder_shelf import AgentReminder
from acp_host.testing.agent_session import AgentSession
from acp_host.wire.updates import SessionUpdate

if TYPE_CHECKING:
    from acp_host.testing._connection import Connection

__all__ = ["ReminderDesk"]


class ReminderDesk:
    """The reminders of all sessions that are open on one connection.

    Attributes:
        decorates: whether tool calls carry the reminders that the model saw.

    Args:
        connection: the connection.
    """

    def __init__(self, connection: Connection) -> None:
        features = connection.agent.features
        self._connection = connection
        self._rfc = "reminders" in features
        self._tells = "reminder_updates" in features
        self.decorates = "harn_decorations" in features

    def put(self, session: AgentSession, reminder: AgentReminder) -> int:
        """Let a reminder wait for the model; return how many older ones it replaces at once.

        The host learns of those after the answer to its request, which tells it the new one's id.
        """
        session.shelf.put(reminder)
        dropped = session.shelf.drop_older(reminder) if self._rfc else []
        if dropped:
            asyncio.get_running_loop().call_soon(self._tell, session, wire.deduped(reminder, dropped))
        return len(dropped)

    def show(self, session: AgentSession) -> tuple[AgentReminder, ...]:
        """Ask the model, as it were: return the reminders that the request shows it."""
        shown = session.shelf.show()
        for reminder in shown:
            self._tell(session, wire.emitted(reminder) if self._rfc else wire.harn_emitted(reminder))
        return shown

    def turn_ended(self, session: AgentSession) -> None:
        """Count a turn."""
        self._tell_end(session, session.shelf.turn_ended(), "ttl_expired")

    def compacted(self, session: AgentSession) -> None:
        """Take note that the context was shortened."""
        self._tell_end(session, session.shelf.compact(), "compacted_out")

    def clear(self, session: AgentSession, tag: str | None) -> int:
        """Drop all reminders, or those with a tag, by the agent's own will; return how many there were."""
        cleared = session.shelf.clear(tag)
        self._tell_end(session, cleared, "cleared")
        return len(cleared)

    def _tell_end(self, session: AgentSession, reminders: list[AgentReminder], phase: str) -> None:
        if self._rfc:
            for reminder in reminders:
                self._tell(session, wire.expired(reminder, phase, session.turns))

    def _tell(self, session: AgentSession, update: SessionUpdate) -> None:
        if self._tells and session.reader is self._connection:
            session.history.append(update)
            self._connection.side.update(session.id, update)
