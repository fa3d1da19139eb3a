"""Notices of the agent over everything else: :class:`NoticeRack`; how long they stay, the state decides."""

from __future__ import annotations

from typing import Any

from textual import events
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from acp_host.state.notice_entries import Notice, NoticesSnapshot
from acp_host.state.notice_preferences import Politeness
from acp_host.ui.terminal.text import plain, stacked

__all__ = ["NoticeRack", "NoticeToast", "notice_lines"]


class NoticeToast(Static):
    """One toast: the agent's name stands in its frame, where the agent's words cannot reach."""

    class Dismissed(Message):
        """The user closes a toast."""

        def __init__(self, notice_id: str) -> None:
            super().__init__()
            self.notice_id = notice_id

    def __init__(self, notice: Notice) -> None:
        super().__init__(markup=False)
        self._notice_id = notice.id
        self.show(notice)

    def show(self, notice: Notice) -> None:
        """Show the notice as it is now."""
        self.set_classes(f"-{notice.presentation.look}")
        count = f" ×{notice.count}" if notice.count > 1 else ""
        self.border_title = plain(f"{notice.agent_name} · {notice.severity[:20]}{count}")
        self.border_subtitle = "stays: F9 closes" if notice.presentation.duration is None else None
        self.update(stacked(notice_lines(notice)))

    def on_click(self) -> None:
        """Close it."""
        self.post_message(self.Dismissed(self._notice_id))


class NoticeRack(Vertical):
    """The toasts on the screen, oldest first."""

    class Rested(Message):
        """The mouse has come to rest on the toasts, or has left them."""

        def __init__(self, *, rests: bool) -> None:
            super().__init__()
            self.rests = rests

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._toasts: dict[str, NoticeToast] = {}
        self._shown: dict[str, Notice] = {}

    async def draw(self, notices: NoticesSnapshot) -> None:
        """Show what is to be on the screen."""
        wanted = {notice.id: notice for notice in notices.toasts}
        gone = [self._toasts.pop(notice_id) for notice_id in tuple(self._toasts) if notice_id not in wanted]
        if gone:
            await self.remove_children(gone)
        new = [notice for notice_id, notice in wanted.items() if notice_id not in self._toasts]
        fresh = {notice.id: NoticeToast(notice) for notice in new}
        for notice_id, toast in self._toasts.items():
            if self._shown.get(notice_id) is not wanted[notice_id]:
                toast.show(wanted[notice_id])
        if fresh:
            self._toasts |= fresh
            await self.mount_all(fresh.values())
            if any(notice.presentation.politeness is Politeness.ASSERTIVE for notice in new):
                self.app.bell()
        self._shown = wanted
        self.display = bool(wanted)

    def on_enter(self, event: events.Enter) -> None:
        """Let the toasts stay while the mouse rests on one."""
        self.post_message(self.Rested(rests=True))

    def on_leave(self, event: events.Leave) -> None:
        """Let them leave again."""
        self.post_message(self.Rested(rests=False))


def notice_lines(notice: Notice) -> list[Content]:
    """Return the words of a notice."""
    lines = [plain(notice.display_title, "bold")]
    return lines if notice.display_description is None else [*lines, plain(notice.display_description)]
