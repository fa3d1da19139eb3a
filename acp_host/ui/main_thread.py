"""What the toolkits' bridges have in common: :class:`MainThread`, functions that wait for a toolkit's main thread."""

from __future__ import annotations

import logging
import threading
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from typing import Any, TypeVar

from acp_host.blocking._callbacks import answer_from
from acp_host.state.dispatch import DispatchEnded, Errand

__all__ = ["MainThread"]

R = TypeVar("R")

_logger = logging.getLogger("acp_host.ui")


class MainThread(ABC):
    """Runs functions on the main thread of a user interface, in order; a ``dispatch`` for whatever takes one.

    Calling it never blocks, on whichever thread. Each function has a turn of the event loop to itself, so that drawing
    and input come between them, and a function that opens a modal dialog does not keep those behind it: they run in
    the dialog's event loop.

    A function that raises is logged to ``acp_host.ui``, and the next one runs.

    A subclass says how the event loop is woken, safely from any thread, and calls :meth:`run_next` there.
    """

    def __init__(self) -> None:
        # Held while the toolkit is told something, so that it is told nothing once this has ended. Reentrant, since a
        # toolkit may run what it destroys, and with it end(), wherever it is called.
        self._lock = threading.RLock()
        self._waiting: deque[Callable[[], None]] = deque()
        self._ended = False

    def __call__(self, function: Callable[[], None]) -> None:
        """Run ``function`` on the main thread, behind those that wait there.

        Raises:
            DispatchEnded: the window that this belongs to is gone.
        """
        with self._lock:
            if self._ended:
                raise DispatchEnded("the window is gone on whose thread this was to run")
            if not self._waiting:  # else the loop was woken for those before, and will be for this one
                self.wake()
            self._waiting.append(function)

    async def call(self, function: Callable[..., R], *args: Any) -> R:
        """Call ``function`` on the main thread, and return its answer; for coroutines, which have a loop elsewhere. ::

            async def find_document(self, path: str) -> OpenDocument | None:  # of a BufferProvider
                return await dispatch.call(self._find, path)

        What it raises is raised here. If this is cancelled before its turn comes, it is not called.

        Raises:
            DispatchEnded: the window is gone.
        """
        return await answer_from(self, lambda: function(*args))

    @property
    def ended(self) -> bool:
        """Whether nothing is run any more."""
        return self._ended

    def end(self) -> None:
        """Run nothing any more, and drop what waits. Call it on the main thread; may be called repeatedly."""
        with self._lock:
            if self._ended:
                return
            self._ended = True
            dropped, self._waiting = self._waiting, deque()
            self.released()
        for function in dropped:
            if isinstance(function, Errand):
                function.dropped()

    # --- for subclasses ---------------------------------------------------------------------------------------------

    @abstractmethod
    def wake(self) -> None:
        """Have :meth:`run_next` called by the event loop, once; called on any thread, and must not block."""

    @abstractmethod
    def released(self) -> None:
        """Let go of what belongs to the toolkit; called once, on the main thread."""

    def run_next(self) -> None:
        """Run one of the functions that wait; for the event loop."""
        with self._lock:
            if not self._waiting:
                return
            function = self._waiting.popleft()
            if self._waiting:
                self.wake()  # before it runs, which may take as long as a dialog is open
        try:
            function()
        except Exception:
            _logger.exception("a function that was dispatched to the main thread failed: %r", function)
