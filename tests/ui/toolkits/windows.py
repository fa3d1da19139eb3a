"""A window of each toolkit, in one form, for programs that tests run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from acp_host.ui.main_thread import MainThread

__all__ = ["WINDOWS", "Window"]


class Window(Protocol):
    """A window and the event loop of its toolkit."""

    dispatch: MainThread

    def run(self) -> None:
        """Run the event loop until :meth:`quit`."""

    def quit(self) -> None:
        """End the event loop; called on any thread after the window is destroyed."""

    def open_dialog(self) -> None:
        """Open a modal dialog, and return when it is closed."""

    def close_dialog(self) -> None:
        """Close it."""

    def destroy(self) -> None:
        """Destroy the window."""


def qt() -> Window:
    import shiboken6
    from PySide6.QtCore import QCoreApplication
    from PySide6.QtWidgets import QApplication, QDialog, QWidget

    from acp_host.ui.qt import QtDispatch

    class QtWindow:
        def __init__(self) -> None:
            self._app = QCoreApplication.instance() or QApplication([])
            self._app.setQuitOnLastWindowClosed(False)
            self._window = QWidget()
            self._window.show()
            self.dispatch = QtDispatch(self._window)

        def run(self) -> None:
            self._app.exec()

        def quit(self) -> None:
            self._app.quit()

        def open_dialog(self) -> None:
            self._dialog = QDialog(self._window)
            self._dialog.exec()

        def close_dialog(self) -> None:
            self._dialog.accept()

        def destroy(self) -> None:
            shiboken6.delete(self._window)

    return QtWindow()


def tk() -> Window:
    import tkinter

    from acp_host.ui.tk import TkDispatch

    class TkWindow:
        def __init__(self) -> None:
            self._root = tkinter.Tk()
            self.dispatch = TkDispatch(self._root)

        def run(self) -> None:
            self._root.mainloop()

        def quit(self) -> None:
            pass  # the loop has ended with its last window

        def open_dialog(self) -> None:
            self._dialog = tkinter.Toplevel(self._root)
            # It may be closed before it is seen, and then never takes the input.
            self._dialog.bind("<Visibility>", lambda _: self._dialog.grab_set())
            self._root.wait_window(self._dialog)

        def close_dialog(self) -> None:
            self._dialog.destroy()

        def destroy(self) -> None:
            self._root.destroy()

    return TkWindow()


def tk_timer() -> Window:
    """As where Tk's event loop can wait for nothing but itself."""
    from acp_host.ui import tk as bridge

    socket_way: Any = bridge._Socket
    bridge._Socket = bridge._Timer
    try:
        return tk()
    finally:
        bridge._Socket = socket_way


def glib() -> Window:
    import gi

    gi.require_version("Gtk", "4.0")
    from gi.repository import GLib, Gtk

    from acp_host.ui.glib import GLibDispatch

    class GtkWindow:
        def __init__(self) -> None:
            Gtk.init()
            self._loop = GLib.MainLoop()
            self._window = Gtk.Window()
            self._window.present()
            self.dispatch = GLibDispatch(self._window)

        def run(self) -> None:
            self._loop.run()

        def quit(self) -> None:
            self._loop.quit()

        def open_dialog(self) -> None:
            self._dialog = Gtk.Window(transient_for=self._window, modal=True)
            self._dialog_loop = GLib.MainLoop()
            self._dialog.present()
            self._dialog_loop.run()

        def close_dialog(self) -> None:
            self._dialog.destroy()
            self._dialog_loop.quit()

        def destroy(self) -> None:
            self._window.destroy()

    return GtkWindow()


WINDOWS: dict[str, Callable[[], Window]] = {"qt": qt, "tk": tk, "tk_timer": tk_timer, "glib": glib}
"""What makes a window, by the name of the toolkit."""
