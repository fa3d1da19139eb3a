"""Qt's main thread for PySide6 applications: :class:`QtDispatch`. Needs the extra ``qt``."""

from __future__ import annotations

from collections.abc import Callable

from acp_host.extras import brought_by
from acp_host.state.dispatch import DispatchEnded
from acp_host.ui.main_thread import MainThread

with brought_by("qt"):
    from PySide6.QtCore import QObject, Qt, Signal, Slot
    from shiboken6 import isValid

__all__ = ["QtDispatch"]


class _Relay(QObject):
    """An object of the main thread; signals that are queued to it arrive there, from whichever thread they come."""

    woken = Signal()

    def __init__(self, run_next: Callable[[], None]) -> None:
        super().__init__()
        self._run_next = run_next
        self.woken.connect(self._arrived, Qt.ConnectionType.QueuedConnection)

    @Slot()
    def _arrived(self) -> None:
        self._run_next()


class QtDispatch(MainThread):
    """Runs functions on the thread of a window; make it there. ::

        host = blocking.connect(command, dispatch=QtDispatch(window))

    Args:
        owner: the window, or any other ``QObject``. When it is destroyed, this ends. A window that is merely closed is
            not destroyed, unless it has the attribute ``WA_DeleteOnClose``.
    """

    def __init__(self, owner: QObject) -> None:
        super().__init__()
        self._relay = _Relay(self.run_next)
        self._relay.moveToThread(owner.thread())
        owner.destroyed.connect(self.end)

    def wake(self) -> None:
        if not isValid(self._relay):  # at the end of the program Qt destroys everything, in an order of its own
            raise DispatchEnded("the application has ended on whose main thread this was to run")
        self._relay.woken.emit()

    def released(self) -> None:
        if isValid(self._relay):
            self._relay.deleteLater()
