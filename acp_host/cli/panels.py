"""Prints the reminders panel and the toasts as they change: :class:`PanelView`, :class:`ToastView`.

Nothing is redrawn: each change is a line, so that a log reads like what one would have seen.
"""

from __future__ import annotations

from rich.table import Table

from acp_host.cli.printer import Printer, plain
from acp_host.state.changes import ChangeSet
from acp_host.state.notice_entries import Notice, NoticeLook, NoticesSnapshot
from acp_host.state.notices import NoticeCenter
from acp_host.state.reminder_entry import ReminderEntry, RemindersSnapshot
from acp_host.state.reminders import RemindersPanel
from acp_host.wire.text import join_text

__all__ = ["PanelView", "ToastView", "panel_table"]

_STATUS_WIDTH = 10
_LONGEST_BODY = 60
_LOOKS = {NoticeLook.WARNING: "yellow", NoticeLook.ERROR: "bold red"}


class PanelView:
    """Prints each change of a panel: of every entry its status, and what is new about it.

    Args:
        printer: where to.
        panel: is watched from now on.
    """

    def __init__(self, printer: Printer, panel: RemindersPanel) -> None:
        self._printer = printer
        self._told: dict[str, list[str]] = {}
        panel.changed.connect(self._show)

    def _show(self, changes: ChangeSet) -> None:
        snapshot: RemindersSnapshot = changes.snapshot
        keys = changes.keys("reminders")
        for entry in snapshot.entries:
            if entry.id in keys:
                self._show_entry(entry)

    def _show_entry(self, entry: ReminderEntry) -> None:
        details = [entry.status, *_details(entry)]
        told = self._told.get(entry.id, [])
        if details == told:
            return
        self._told[entry.id] = details
        news = [detail for detail in details[1:] if detail not in told]
        text = f"{entry.id}  {entry.status.ljust(_STATUS_WIDTH)}  {'; '.join(news)}".rstrip()
        self._printer.line("panel", plain(text, "" if entry.active else "dim"), style="bold cyan")


class ToastView:
    """Prints each toast when it opens, when it counts another notice, and when it leaves.

    Args:
        printer: where to.
        notices: is watched from now on.
    """

    def __init__(self, printer: Printer, notices: NoticeCenter) -> None:
        self._printer = printer
        self._open: dict[str, Notice] = {}
        notices.changed.connect(self._show)

    def _show(self, changes: ChangeSet) -> None:
        snapshot: NoticesSnapshot = changes.snapshot
        now = {toast.id: toast for toast in snapshot.toasts}
        for toast in now.values():
            if self._open.get(toast.id) != toast:
                self._printer.line("toast", plain(_toast_text(toast), _LOOKS.get(toast.presentation.look, "")))
        ended = {notice.id: notice for notice in snapshot.history}
        for toast in self._open.values():
            if toast.id not in now:
                how = getattr(ended.get(toast.id), "state", None) or "gone"
                self._printer.line("toast", plain(f"{how}: {toast.display_title}", "dim"))
        self._open = now


def panel_table(snapshot: RemindersSnapshot) -> Table:
    """Return the whole panel."""
    table = Table(title="The reminders panel", title_justify="left", title_style="bold", header_style="dim")
    for column in ("id", "status", "rung", "seen by the model", "reminder"):
        table.add_column(column, overflow="fold")
    for entry in snapshot.entries:
        times = str(entry.times_emitted or "")
        row = (entry.id, entry.status, entry.rung or "", times, _body(entry))
        table.add_row(*(plain(cell, "" if entry.active else "dim") for cell in row))
    return table


def _details(entry: ReminderEntry) -> list[str]:
    """Return what there is to say of an entry, besides its status."""
    details = [f'"{_body(entry)}"']
    if entry.rung is not None:
        details.append(f"by {entry.rung}")
    if entry.reminder_id is not None and entry.reminder_id != entry.id:
        details.append(f"the agent's {entry.reminder_id}")
    if entry.times_emitted:
        details.append("shown to the model" + (f" {entry.times_emitted} times" if entry.times_emitted > 1 else ""))
    if entry.replaced_by is not None:
        details.append(f"replaced by {entry.replaced_by}")
    if entry.expiry_phase not in (None, entry.status):
        details.append(str(entry.expiry_phase))
    if entry.estimated:
        details.append("over, as far as this host can tell")
    if entry.error is not None:
        details.append(entry.error.message)
    return details


def _body(entry: ReminderEntry) -> str:
    body = " ".join(join_text((entry.body,)).split())
    return body if len(body) <= _LONGEST_BODY else f"{body[:_LONGEST_BODY]}..."


def _toast_text(toast: Notice) -> str:
    """Return a toast: the agent's name stands before its words, where those cannot reach."""
    count = f" ({toast.count} times)" if toast.count > 1 else ""
    stays = "stays" if toast.presentation.duration is None else f"for {toast.presentation.duration:g} s"
    text = f"[{toast.agent_name}] {toast.severity}, {stays}: {toast.display_title}{count}"
    return text if toast.display_description is None else f"{text}\n{toast.display_description}"
