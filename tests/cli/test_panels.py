from __future__ import annotations

import io

import pytest

from acp_host.cli.panels import PanelView, ToastView, panel_table
from acp_host.cli.printer import Printer, make_console
from acp_host.state import reminder_events as events
from acp_host.state.clock import ManualClock, ManualScheduler
from acp_host.state.notice_entries import NoticeReceived
from acp_host.state.notices import NoticeCenter
from acp_host.state.reminder_entry import ReminderFault
from acp_host.state.reminders import RemindersPanel
from tests.cli.agents import HOSTILE
from tests.cli.test_run import UNSAFE


class Shown:
    """A panel and a notice center, and the lines that were printed about them since one looked last."""

    def __init__(self) -> None:
        self.clock = ManualClock(100.0)
        self.scheduler = ManualScheduler(self.clock)
        self.panel = RemindersPanel(self.scheduler, self.clock)
        self.notices = NoticeCenter(self.scheduler, self.clock, agent_name="Agent \x1b[1m")
        self.printer = Printer(make_console(io.StringIO()))
        PanelView(self.printer, self.panel)
        ToastView(self.printer, self.notices)

    def lines(self) -> list[str]:
        self.scheduler.flush()
        file = self.printer.console.file
        assert isinstance(file, io.StringIO)
        text = file.getvalue()
        file.seek(0)
        file.truncate()
        return text.splitlines()

    def make(self, entry_id: str, body: str = "2 tests failed") -> None:
        self.panel.apply(events.ReminderMade(id=entry_id, body=body, mode="finish_step"))

    def notify(self, severity: str, title: str, description: str | None = None) -> None:
        self.notices.apply(NoticeReceived("s", severity, title, description))


@pytest.fixture
def shown() -> Shown:
    return Shown()


def test_each_change_of_a_reminder_is_a_line_that_says_what_is_new(shown: Shown) -> None:
    shown.make("rmd-1")
    shown.panel.apply(events.ReminderSending("rmd-1", "inject_reminder"))
    assert shown.lines() == ['panel       rmd-1  sending     "2 tests failed"; by inject_reminder']
    shown.panel.apply(events.ReminderAccepted("rmd-1", "inject_reminder", "r-1"))
    assert shown.lines() == ["panel       rmd-1  pending     the agent's r-1"]
    for lines in (
        ["panel       rmd-1  emitted     shown to the model"],
        ["panel       rmd-1  emitted     shown to the model 2 times"],
    ):
        shown.panel.apply(events.ReminderEmitted("r-1", "2 tests failed"))
        assert shown.lines() == lines
    shown.panel.apply(events.ReminderExpired("r-1", "ttl_expired"))
    assert shown.lines() == ["panel       rmd-1  expired     ttl_expired"]
    shown.panel.apply(events.ReminderExpired("r-1", "ttl_expired"))
    assert shown.lines() == [], "there is nothing new"


def test_only_what_changed_is_printed(shown: Shown) -> None:
    shown.make("rmd-1")
    shown.panel.apply(events.ReminderPlaced("rmd-1", "sidebar", "sidebar"))
    shown.lines()
    shown.make("rmd-2", "3 tests\nfailed " + "x" * 100)
    shown.panel.apply(events.ReminderPlaced("rmd-2", "sidebar", "sidebar"))
    shown.panel.apply(events.ReminderReplaced("rmd-1", "rmd-2"))
    body = "3 tests failed " + "x" * 45 + "..."
    assert shown.lines() == [
        "panel       rmd-1  deduped     replaced by rmd-2",
        f'panel       rmd-2  sidebar     "{body}"; by sidebar',
    ]


def test_errors_and_estimates(shown: Shown) -> None:
    shown.make("rmd-1")
    shown.make("rmd-2")
    shown.panel.apply(events.ReminderPlaced("rmd-1", "failed", "remind", ReminderFault(message=f"no {HOSTILE}")))
    shown.panel.apply(events.ReminderAccepted("rmd-2", "remind", "rmd-2"))
    first, second = shown.lines()
    assert first.startswith('panel       rmd-1  failed      "2 tests failed"; by remind; no \\x1b[45mloud')
    assert UNSAFE.search(first) is None
    assert second == 'panel       rmd-2  pending     "2 tests failed"; by remind'
    shown.panel.apply(events.RemindersTurnStarted())
    shown.panel.apply(events.RemindersTurnEnded())
    assert shown.lines() == ["panel       rmd-2  pending     over, as far as this host can tell"]


def test_toasts_open_count_and_leave(shown: Shown) -> None:
    shown.notify("info", "Reloaded")
    shown.notify("warning", "Disk full", "1 GB\nis left")
    agent = r"[Agent \x1b[1m]"
    assert shown.lines() == [
        f"toast       {agent} info, for 6 s: Reloaded",
        f"toast       {agent} warning, stays: Disk full",
        "            1 GB",
        "            is left",
    ]
    shown.notify("info", "Reloaded")
    assert shown.lines() == [f"toast       {agent} info, for 6 s: Reloaded (2 times)"]
    shown.notices.dismiss_all()
    assert shown.lines() == ["toast       dismissed: Reloaded", "toast       dismissed: Disk full"]
    shown.notify("info", "Again")
    shown.lines()
    shown.clock.advance(6.0)
    assert shown.lines() == ["toast       timed_out: Again"]


def test_hostile_text_stays_text(shown: Shown) -> None:
    shown.notify(HOSTILE, HOSTILE, HOSTILE)
    shown.panel.apply(events.ReminderEmitted(HOSTILE, HOSTILE, tags=(HOSTILE,), source=HOSTILE))
    lines = shown.lines()
    shown.printer.show(panel_table(shown.panel.snapshot()))
    lines += shown.lines()
    assert UNSAFE.search("".join(lines)) is None
    assert "[bold]b[/bold] :smile:" in "".join(lines)


def test_the_whole_panel(shown: Shown) -> None:
    shown.make("rmd-1")
    shown.panel.apply(events.ReminderAccepted("rmd-1", "inject_reminder", "r-1"))
    shown.panel.apply(events.ReminderEmitted("r-1", "2 tests failed"))
    shown.make("rmd-2", "another matter")
    shown.panel.apply(events.ReminderPlaced("rmd-2", "suppressed", "suppressed"))
    shown.lines()
    shown.printer.show(panel_table(shown.panel.snapshot()))
    rows = [[cell.strip() for cell in line.strip("│").split("│")] for line in shown.lines() if "│" in line]
    assert rows == [
        ["rmd-1", "emitted", "inject_reminder", "1", "2 tests failed"],
        ["rmd-2", "suppressed", "suppressed", "", "another matter"],
    ]
