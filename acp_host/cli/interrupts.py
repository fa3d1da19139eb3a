"""What Ctrl-C and the signals that end a program do to a command: :class:`Interrupts`.

A command is one task. A signal cancels it, so that everything it opened is closed on the way out. A command can ask for
something gentler to happen at the first Ctrl-C; the second one cancels it all the same.
"""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any

__all__ = ["Interrupts"]

_ENDING = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK") if hasattr(signal, name))


class Interrupts:
    """Takes over the signals that end a program while its block runs; to be entered by the command's task.

    Outside of the main thread there are no signals to take over, and it does nothing.

    Attributes:
        received: the signal that cancelled the task; ``None`` if none did.
    """

    def __init__(self) -> None:
        self.received: int | None = None
        self._gently: Callable[[], None] | None = None
        self._before: dict[int, Any] = {}
        self._task: asyncio.Task[Any] | None = None

    def __enter__(self) -> Interrupts:
        self._task = asyncio.current_task()
        loop = asyncio.get_running_loop()

        def wake(number: int, _frame: FrameType | None) -> None:
            loop.call_soon_threadsafe(self._receive, number)

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

    @contextmanager
    def first_does(self, action: Callable[[], None]) -> Iterator[None]:
        """Call ``action`` at the first Ctrl-C while the block runs, instead of cancelling the command."""
        self._gently = action
        try:
            yield
        finally:
            self._gently = None

    def _receive(self, number: int) -> None:
        if number == signal.SIGINT and self._gently is not None:
            action, self._gently = self._gently, None
            action()
            return
        self.received = number
        assert self._task is not None
        self._task.cancel()
