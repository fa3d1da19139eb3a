"""Taking a reminder back: :class:`Revoker`.

What is in the host's hands is taken back at once. What the agent has is asked for with ``session/revoke_reminder``;
that it was delivered meanwhile is an ordinary answer and no error.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from acp_host.errors import AcpError, InvalidInput, RequestFailed
from acp_host.reminders.hands import HostHands
from acp_host.reminders.ladder import Ladder
from acp_host.reminders.rungs import RungRequest
from acp_host.state import reminder_events as events
from acp_host.state.reminder_entry import ReminderEntry, ReminderFault, ReminderStatus, Rung, is_terminal
from acp_host.state.reminders import RemindersPanel
from acp_host.state.revocation import RevokeResult
from acp_host.wire.rpc_error import ErrorCode

__all__ = ["Revoker"]

_REVOKE_REMINDER = "session/revoke_reminder"


class Revoker:
    """Decides what becomes of the wish to take a reminder back; sends nothing itself."""

    def __init__(self, session_id: str, panel: RemindersPanel, hands: HostHands, ladder: Ladder) -> None:
        self._session_id = session_id
        self._panel = panel
        self._hands = hands
        self._ladder = ladder

    def start(self, reminder_id: str) -> RevokeResult | RungRequest:
        """Take a reminder back, or return the request that asks the agent for it.

        A reminder that is being sent has to come to rest first.

        Args:
            reminder_id: its local id, its agent's id or an alias.

        Raises:
            InvalidInput: there is no such reminder.
        """
        entry = self.entry(reminder_id)
        in_hand = self._hands.revoke(entry.id)
        if in_hand is not None:
            return in_hand
        if entry.status == ReminderStatus.SUPPRESSED:
            self._panel.apply(events.ReminderEnded(entry.id, ReminderStatus.REVOKED))
            return RevokeResult.REVOKED
        if is_terminal(entry.status):
            return RevokeResult.ALREADY_DELIVERED if entry.times_emitted else RevokeResult.ALREADY_REVOKED
        if entry.rung in (Rung.PREFIXED_USER_MESSAGE, Rung.STEERING) and entry.status == ReminderStatus.EMITTED:
            return RevokeResult.ALREADY_DELIVERED
        agent_id = entry.reminder_id or self._ladder.sent_id(entry.id)
        if agent_id is None or not self._can_ask():
            return RevokeResult.NOT_SUPPORTED
        return RungRequest(method=_REVOKE_REMINDER, params={"sessionId": self._session_id, "reminderId": agent_id})

    def entry(self, reminder_id: str) -> ReminderEntry:
        """Return the entry; raises like :meth:`start`."""
        entry = self._panel.get(reminder_id)
        if entry is None:
            raise InvalidInput(f"there is no reminder {reminder_id!r} in this session")
        return entry

    def answered(self, entry_id: str, result: Any) -> RevokeResult:
        """Take the agent's answer."""
        status = result.get("status") if isinstance(result, Mapping) else None
        if status not in (RevokeResult.REVOKED, RevokeResult.ALREADY_REVOKED):
            self._ladder.situation.learned.cannot_revoke = True  # as of agents that do not know the method
            return RevokeResult.NOT_SUPPORTED
        self._panel.apply(events.ReminderEnded(entry_id, ReminderStatus.REVOKED))
        self._ladder.look()
        return RevokeResult(status)

    def failed(self, entry_id: str, error: AcpError) -> RevokeResult:
        """Take the error that the agent answered.

        Raises:
            AcpError: ``error``, where it is none of the races that are part of the matter.
        """
        if isinstance(error, RequestFailed):
            reason = error.data.get("reason") if isinstance(error.data, Mapping) else None
            if error.code == ErrorCode.METHOD_NOT_FOUND:
                self._ladder.situation.learned.cannot_revoke = True
                return RevokeResult.NOT_SUPPORTED
            if reason == "already_delivered":
                return RevokeResult.ALREADY_DELIVERED
            if reason == "unknown_reminder_id":
                return self._unknown(entry_id)
        raise error

    def _unknown(self, entry_id: str) -> RevokeResult:
        """The agent does not have it: it is over, or never arrived."""
        entry = self.entry(entry_id)
        if entry.times_emitted:
            return RevokeResult.ALREADY_DELIVERED
        if entry.status == ReminderStatus.UNCERTAIN:
            fault = ReminderFault(message="the agent does not know it", rung=entry.rung)
            self._ladder.never_arrived(entry_id, fault)
        else:
            self._panel.apply(events.RemindersListed((), frozenset({entry_id})))
        return RevokeResult.ALREADY_REVOKED

    def _can_ask(self) -> bool:
        situation = self._ladder.situation
        if situation.learned.cannot_revoke or not situation.connected:
            return False
        pending = situation.agreement.offer("session.remind.pending")
        return pending is None or situation.agreement.supports("session.remind.pending.revoke")
