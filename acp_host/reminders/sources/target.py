"""What a source needs of a session: :class:`ReminderTarget`, :func:`send`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from acp_host.errors import ConnectionClosed, InvalidState, ReminderNotDelivered
from acp_host.reminders.model import Reminder
from acp_host.reminders.policy import ReminderPolicy
from acp_host.state.reminder_entry import ReminderEntry
from acp_host.state.reminders import RemindersPanel
from acp_host.wire.updates import SessionUpdate

__all__ = ["ReminderTarget", "send"]


class ReminderTarget(Protocol):
    """A session, as far as sources know it; :class:`~acp_host.host.session.Session` is one.

    Attributes:
        cwd: its working directory, absolute.
    """

    cwd: str

    @property
    def reminders(self) -> RemindersPanel:
        """Its panel."""

    def remind_soon(self, body: Reminder, *, policy: ReminderPolicy | None = None) -> ReminderEntry:
        """Send a reminder without waiting."""

    def on_update(self, observer: Callable[[SessionUpdate], None]) -> Callable[[], None]:
        """Call ``observer`` with each update; return a function that ends this."""

    def on_file_written(self, observer: Callable[[str], None]) -> Callable[[], None]:
        """Call ``observer`` with the path of each file the agent writes through the host; return what ends this."""


def send(target: ReminderTarget, reminder: Reminder, policy: ReminderPolicy | None) -> str | None:
    """Send a source's reminder; return its local id, or ``None`` where it cannot be sent: nobody asked for it."""
    try:
        return target.remind_soon(reminder, policy=policy).id
    except (ConnectionClosed, InvalidState, ReminderNotDelivered):
        return None
