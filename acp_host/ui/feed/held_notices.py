"""Toasts that stay because somebody reads them: :class:`HeldNotices`. WCAG 2.2.1."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from acp_host.host.session import Session

if TYPE_CHECKING:
    from acp_host.ui.feed.viewer import Viewer

__all__ = ["HeldNotices"]


class HeldNotices:
    """Which viewers hold the toasts of which session; they leave again when nobody holds them any more."""

    def __init__(self) -> None:
        self._holders: WeakKeyDictionary[Session, set[Viewer]] = WeakKeyDictionary()

    def hold(self, viewer: Viewer, session: Session, *, hold: bool) -> None:
        """Let the toasts of a session stay for a viewer, or do so no longer."""
        holders = self._holders.setdefault(session, set())
        (holders.add if hold else holders.discard)(viewer)
        (session.notices.pause_timeouts if holders else session.notices.resume_timeouts)()

    def left(self, viewer: Viewer) -> None:
        """Learn that a viewer holds nothing any more."""
        for session in [session for session, holders in self._holders.items() if viewer in holders]:
            self.hold(viewer, session, hold=False)
