"""An agent that never stops telling of reminders of its own does not fill the memory."""

from __future__ import annotations

from acp_host.state.clock import ManualClock, ManualScheduler
from acp_host.state.reminder_book import MOST_FOREIGN
from acp_host.state.reminder_events import ReminderEmitted
from acp_host.state.reminders import RemindersPanel


def test_the_agents_own_reminders_are_bounded() -> None:
    scheduler = ManualScheduler()
    panel = RemindersPanel(scheduler, ManualClock())
    for number in range(3 * MOST_FOREIGN):
        panel.apply(ReminderEmitted(f"r-{number}", body=f"number {number}", source="provider"))
    scheduler.flush()
    snapshot = panel.snapshot()
    assert len(snapshot.active) == MOST_FOREIGN
    assert len(snapshot.entries) == MOST_FOREIGN + 500
    assert [entry.body for entry in snapshot.active][-1] == f"number {3 * MOST_FOREIGN - 1}"
    assert all(entry.estimated for entry in snapshot.entries if not entry.active)
