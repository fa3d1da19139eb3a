"""Tk's main thread: :class:`TkDispatch`.

From another thread hardly anything of Tk may be called. ``event_generate`` and ``after``, often taken for safe, wait
until the main thread is in its event loop: if that waits for the caller in turn, both wait forever; and where Tcl was
built without threads, they corrupt it. So Tk is not called at all: a byte is written to a socket, on which Tk's event
loop waits together with everything else. Tk for Windows cannot wait for sockets; there a timer looks 50 times a second
whether there is something to run.
"""

from __future__ import annotations

import contextlib
import socket
import tkinter
from typing import Any, cast

from acp_host.ui.main_thread import MainThread

__all__ = ["TkDispatch"]

_EVERY = 20
"""Milliseconds between two looks of the timer as long as there is nothing to run."""


class _Socket:
    """Wakes the event loop by a byte in a socket."""

    def __init__(self, dispatch: TkDispatch, owner: tkinter.Misc) -> None:
        self._tk = cast(Any, owner.tk)  # what it has depends on the platform
        self._dispatch = dispatch
        self._read, self._write = socket.socketpair()
        self._read.setblocking(False)
        self._write.setblocking(False)
        self._tk.createfilehandler(self._read, tkinter.READABLE, self._woken)

    def wake(self) -> None:
        self._write.send(b"\0")

    def close(self) -> None:
        with contextlib.suppress(tkinter.TclError):  # Tk is gone, and its handlers with it
            self._tk.deletefilehandler(self._read)
        self._read.close()
        self._write.close()

    def _woken(self, *_: object) -> None:
        self._read.recv(1)
        self._dispatch.run_next()


class _Timer:
    """Looks again and again whether it was woken."""

    def __init__(self, dispatch: TkDispatch, owner: tkinter.Misc) -> None:
        self._owner = owner
        self._dispatch = dispatch
        self._is_due = False
        self._timer = owner.after(_EVERY, self._look)

    def wake(self) -> None:
        self._is_due = True

    def close(self) -> None:
        with contextlib.suppress(tkinter.TclError):
            self._owner.after_cancel(self._timer)

    def _look(self) -> None:
        due, self._is_due = self._is_due, False
        # Before something is run, so that a dialog that is opened there is looked after, too.
        self._timer = self._owner.after(1 if due else _EVERY, self._look)
        if due:
            self._dispatch.run_next()


class TkDispatch(MainThread):
    """Runs functions on Tk's main thread; make it there. ::

        host = blocking.connect(command, dispatch=TkDispatch(root))

    Args:
        owner: the root window, or any other widget. When it is destroyed, this ends.
    """

    def __init__(self, owner: tkinter.Misc) -> None:
        super().__init__()
        self._owner = owner
        owner.bind("<Destroy>", self._destroyed, add=True)
        self._way: _Socket | _Timer = (_Socket if hasattr(owner.tk, "createfilehandler") else _Timer)(self, owner)

    def wake(self) -> None:
        self._way.wake()

    def released(self) -> None:
        self._way.close()

    def _destroyed(self, event: tkinter.Event[Any]) -> None:
        if event.widget is self._owner:  # a window hears of the end of everything in it
            self.end()
