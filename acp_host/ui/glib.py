"""GLib's main context, for applications with GTK or another loop of GLib: :class:`GLibDispatch`. Needs PyGObject."""

from __future__ import annotations

from gi.repository import GLib, GObject

from acp_host.ui.main_thread import MainThread

__all__ = ["GLibDispatch"]


class GLibDispatch(MainThread):
    """Runs functions on the thread that iterates GLib's default main context. ::

        host = blocking.connect(command, dispatch=GLibDispatch(window))

    Args:
        owner: the window, or any other ``GObject``. When the window is destroyed, this ends; with an object that is no
            widget, when it is finalised.
    """

    def __init__(self, owner: GObject.Object) -> None:
        super().__init__()
        is_widget = bool(GObject.signal_lookup("unrealize", owner))
        # GTK 4 emits "destroy" only when the last reference is dropped, which is Python's; hiding a window does not
        # unrealize it, destroying it does.
        for signal in ("destroy", "unrealize") if is_widget else ():
            owner.connect(signal, lambda *_: self.end())
        if not is_widget:
            owner.weak_ref(self.end)

    def wake(self) -> None:
        # Of the priority of events, so that a busy window does not put it off; drawing has its turn all the same.
        GLib.idle_add(self._woken, priority=GLib.PRIORITY_DEFAULT)

    def released(self) -> None:
        pass  # what was added finds nothing to run

    def _woken(self) -> bool:
        self.run_next()
        return bool(GLib.SOURCE_REMOVE)
