"""Runs an example as a user would, and closes its window when something is in it: ``… TOOLKIT EXAMPLE [AGENT…]``.

What is in the window then is printed. With ``--leave-open`` before the toolkit it stays.
"""

from __future__ import annotations

import runpy
import sys
from collections.abc import Callable
from typing import Any

PATIENCE = 20.0
"""Seconds."""
_EVERY = 50
"""Milliseconds."""
LEAVE_OPEN = sys.argv[1:2] == ["--leave-open"]


class Look:
    """Looks at a window until it has what it is to have.

    Args:
        read: returns the toasts and the panel as they are drawn.
        later: calls a function after so many milliseconds.
        close: closes the window as a user would.
    """

    def __init__(self, read: Callable[[], tuple[str, str]], later: Any, close: Callable[[], Any]) -> None:
        self._read, self._later, self._close = read, later, close
        self._left = int(PATIENCE * 1_000 / _EVERY)

    def __call__(self) -> bool:
        toasts, panel = self._read()
        self._left -= 1
        if (toasts and panel) or self._left < 0:
            print(f"toasts: {toasts}\npanel: {panel}", flush=True)
            if not LEAVE_OPEN:
                self._close()
        else:
            self._later(_EVERY, self)
        return False  # to GLib: not again by itself


def qt() -> None:
    from PySide6.QtCore import QTimer
    from PySide6.QtWidgets import QApplication, QLabel, QListWidget

    run = QApplication.exec

    def looked_at(*_: Any) -> int:
        [window] = QApplication.topLevelWidgets()
        label, panel = window.findChild(QLabel), window.findChild(QListWidget)

        def read() -> tuple[str, str]:
            return label.text(), "\n".join(panel.item(row).text() for row in range(panel.count()))

        look = Look(read, QTimer.singleShot, window.close)
        QTimer.singleShot(0, look)
        return run()

    QApplication.exec = looked_at


def tk() -> None:
    import tkinter

    run = tkinter.Tk.mainloop

    def looked_at(root: tkinter.Tk, n: int = 0) -> None:
        label, panel = root.winfo_children()
        assert isinstance(panel, tkinter.Listbox)
        root.after(0, Look(lambda: (label["text"], "\n".join(panel.get(0, "end"))), root.after, root.destroy))
        run(root, n)

    tkinter.Tk.mainloop = looked_at


def glib() -> None:
    import gi

    gi.require_version("Gtk", "4.0")
    from gi.repository import GLib, Gtk

    run = GLib.MainLoop.run

    def looked_at(loop: Any) -> None:
        [window] = Gtk.Window.get_toplevels()
        label = window.get_child().get_first_child()
        panel = label.get_next_sibling()
        GLib.idle_add(Look(lambda: (label.get_text(), panel.get_text()), GLib.timeout_add, window.close))
        run(loop)

    GLib.MainLoop.run = looked_at


if __name__ == "__main__":
    toolkit, example, *agent = sys.argv[1 + LEAVE_OPEN :]
    {"qt": qt, "tk": tk, "glib": glib}[toolkit]()
    sys.argv = [example, *agent]
    runpy.run_path(example, run_name="__main__")
