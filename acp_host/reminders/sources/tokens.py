"""A context that is nearly full: :class:`TokenPressure`."""

from __future__ import annotations

from collections.abc import Sequence

from acp_host.errors import InvalidInput
from acp_host.reminders.model import Reminder
from acp_host.reminders.policy import ReminderPolicy
from acp_host.reminders.sources.pace import Pace
from acp_host.reminders.sources.target import ReminderTarget, send
from acp_host.wire.compaction import CompactionStatus, CompactionUpdate
from acp_host.wire.updates import SessionUpdate
from acp_host.wire.usage import UsageUpdate
from acp_host.wire.v2 import compaction as v2

__all__ = ["TokenPressure"]


class TokenPressure:
    """Reminds the model when its context fills up past a threshold, once for each.

    It is quiet while the agent compacts the context itself; once that has made room, the thresholds count anew.

    Args:
        session: the session; its agent has to report its usage.
        thresholds: shares of the context, between 0 and 1.
        policy: how its reminders may travel; ``None`` for the default.
        ttl_turns: for how many turns they hold.
        interval: seconds between two of them.
        pace: in place of ``interval``.

    Raises:
        InvalidInput: a threshold is not between 0 and 1.
    """

    def __init__(
        self,
        session: ReminderTarget,
        *,
        thresholds: Sequence[float] = (0.75, 0.9),
        policy: ReminderPolicy | None = None,
        ttl_turns: int = 1,
        interval: float = 30.0,
        pace: Pace | None = None,
    ) -> None:
        if not thresholds or not all(0 < threshold < 1 for threshold in thresholds):
            raise InvalidInput(f"thresholds are shares of the context between 0 and 1, not {thresholds!r}")
        self._session = session
        self._thresholds = sorted(thresholds)
        self._policy = policy
        self._ttl_turns = ttl_turns
        self._pace = pace or Pace(interval)
        self._passed = 0
        self._compacting = False
        self._end = session.on_update(self._observe)

    def close(self) -> None:
        """Observe no longer."""
        self._pace.stop()
        self._end()

    def _observe(self, update: SessionUpdate) -> None:
        if isinstance(update, CompactionUpdate | v2.CompactionUpdate):
            self._compacting = update.status == CompactionStatus.IN_PROGRESS
        elif isinstance(update, UsageUpdate) and update.size > 0:
            self._measure(update.used, update.size)

    def _measure(self, used: int, size: int) -> None:
        passed = sum(used >= threshold * size for threshold in self._thresholds)
        if passed > self._passed and not self._compacting:
            self._pace.offer("", lambda: self._remind(used, size))
        if passed < self._passed or not self._compacting:
            self._passed = passed

    def _remind(self, used: int, size: int) -> None:
        text = (
            f"Your context is {100 * used // size} % full ({used:,} of {size:,} tokens). Keep what you read and write "
            "short, and finish or write down what must not be lost."
        )
        reminder = Reminder(text, tags=("token_pressure",), dedupe_key="token_pressure", ttl_turns=self._ttl_turns)
        send(self._session, reminder, self._policy)
