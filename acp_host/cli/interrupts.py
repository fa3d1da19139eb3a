"""What Ctrl-C and the signals that end a program do to a command: :class:`Interrupts`.

A command is one task. A signal cancels it, so that everything it opened is closed on the way out. A command can ask for
something gentler to happen at the first Ctrl-C; the second one cancels it all the same.

Where the loop does not hear a signal, since the command waits for somebody to read its output, a second one interrupts
it there, and so does the first one after :data:`PATIENCE` seconds.
"""

from __future__ import annotations

import _thread
import asyncio
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any

__all__ = ["Interrupts"]

PATIENCE = 5.0
"""Seconds in which the loop hears of a signal, or is interrupted in whatever it does."""
_ENDING = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK") if hasattr(signal, name))


class Interrupts:
    """Takes over the signals that end a program while its block runs; to be entered by the command's task.

    Outside of the main thread there are no signals to take over, and it does nothing.

    Attributes:
        received: the signal that cancelled or interrupted the task; ``None`` if none did.
    """

    def __init__(self) -> None:
        self.received: int | None = None
        self._gently: Callable[[], None] | None = None
        self._is_reading = False
        self._before: dict[int, Any] = {}
        self._task: asyncio.Task[Any] | None = None
        self._unheard: asyncio.Handle | None = None
        self._timer: threading.Timer | None = None

    def __enter__(self) -> Interrupts:
        self._task = asyncio.current_task()
        loop = asyncio.get_running_loop()

        def wake(number: int, _frame: FrameType | None) -> None:
            if self._is_reading:
                self.received = number
                raise KeyboardInterrupt
            if self._unheard is not None:
                self._unheard.cancel()  # what is done on the way out is not to be cancelled at once
                self._heard()
                self.received = number
                raise KeyboardInterrupt
            self._unheard = loop.call_soon_threadsafe(self._receive, number)
            self._timer = threading.Timer(PATIENCE, _once_more, [signal.Signals(number)])
            self._timer.daemon = True
            self._timer.start()

        if threading.current_thread() is threading.main_thread():
            # Not loop.add_signal_handler: it is missing on Windows. What is ignored (nohup) stays ignored.
            numbers = [number for number in _ENDING if signal.getsignal(number) is not signal.SIG_IGN]
            self._before = {number: signal.signal(number, wake) for number in numbers}
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._heard()

    @contextmanager
    def first_does(self, action: Callable[[], None]) -> Iterator[None]:
        """Call ``action`` at the first Ctrl-C while the block runs, instead of cancelling the command."""
        self._gently = action
        try:
            yield
        finally:
            self._gently = None

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Let a signal interrupt the block at once: it waits for what somebody types, and the loop waits for it."""
        self._is_reading = True
        try:
            yield
        finally:
            self._is_reading = False

    def _heard(self) -> None:
        self._unheard = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _receive(self, number: int) -> None:
        self._heard()
        if number == signal.SIGINT and self._gently is not None:
            action, self._gently = self._gently, None
            action()
            return
        self.received = number
        assert self._task is not None
        self._task.cancel()


def _once_more(number: signal.Signals) -> None:
    """Give the main thread a signal again: it leaves the system call that it waits in."""
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, number)
    else:
        _thread.interrupt_main(number)
