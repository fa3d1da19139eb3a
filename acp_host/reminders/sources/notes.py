"""Rules that the host enforces: :class:`PolicyNotes`."""

from __future__ import annotations

from acp_host.reminders.model import Reminder
from acp_host.reminders.policy import ReminderPolicy
from acp_host.reminders.sources.pace import Pace
from acp_host.reminders.sources.target import ReminderTarget, send

__all__ = ["PolicyNotes"]


class PolicyNotes:
    """Reminds the model of rules, such as "this repository refuses forced pushes".

    A note holds for many turns and survives a compaction. The same note again is not sent as long as the model has it.

    Args:
        session: the session.
        policy: how its reminders may travel; ``None`` for the default.
        ttl_turns: for how many turns they hold.
        interval: seconds between two of them for one rule.
        pace: in place of ``interval``.
    """

    def __init__(
        self,
        session: ReminderTarget,
        *,
        policy: ReminderPolicy | None = None,
        ttl_turns: int = 20,
        interval: float = 30.0,
        pace: Pace | None = None,
    ) -> None:
        self._session = session
        self._policy = policy
        self._ttl_turns = ttl_turns
        self._pace = pace or Pace(interval)
        self._notes: dict[str, tuple[str, str]] = {}

    def close(self) -> None:
        """Send nothing any more; what was sent stays."""
        self._pace.stop()

    def note(self, rule: str, text: str) -> None:
        """Remind the model of a rule.

        Args:
            rule: names the rule; a note replaces the earlier one for the same rule.
            text: what the model is told.
        """
        told, entry_id = self._notes.get(rule, ("", ""))
        entry = self._session.reminders.get(entry_id) if told == text else None
        if entry is None or not entry.active:
            self._pace.offer(rule, lambda: self._remind(rule, text))

    def _remind(self, rule: str, text: str) -> None:
        reminder = Reminder(
            text,
            tags=("policy",),
            dedupe_key=f"policy:{rule}",
            ttl_turns=self._ttl_turns,
            preserve_on_compact=True,
        )
        entry_id = send(self._session, reminder, self._policy)
        if entry_id is not None:
            self._notes[rule] = (text, entry_id)
