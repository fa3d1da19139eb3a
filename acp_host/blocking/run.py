"""A run under way, without ``await``: :class:`Run`."""

from __future__ import annotations

import atexit
from collections.abc import Iterator
from types import TracebackType

from acp_host.automation import run as async_run
from acp_host.automation.events import RunEvent
from acp_host.automation.result import RunResult
from acp_host.automation.text import MessageText
from acp_host.blocking._callbacks import Callbacks
from acp_host.blocking._forward import Facade
from acp_host.blocking._thread import LoopThread

__all__ = ["Run"]

_Async = async_run.Run


class Run(Facade[_Async]):
    """As :class:`acp_host.automation.Run`: iterate over it for its events, or over :attr:`text` for the message. ::

        with acp_host.blocking.run_prompt(["some-agent", "--acp"], "Fix the failing test") as run:
            for piece in run.text:
                print(piece, end="")
            result = run.wait()

    Ctrl-C while it is waited for or iterated over cancels it, and ends the agent. One that is left alone ends at the
    latest with the program.
    """

    def __init__(self, asynchronous: _Async, thread: LoopThread, callbacks: Callbacks) -> None:
        super().__init__(asynchronous, thread)
        self._callbacks = callbacks
        self._result: RunResult | None = None
        self._closed = False
        atexit.register(self.close)

    @property
    def result(self) -> RunResult | None:
        """The result of a finished run that was waited for; ``None`` before."""
        return self._result

    def wait(self) -> RunResult:
        """Wait for the result, as awaiting the run does.

        Raises:
            InvalidInput: an argument turns out to be wrong.
            ConnectionClosed: the run was closed before its end.
        """
        if self._result is None:
            try:
                self._result = self._thread.run(lambda: self.asynchronous)
            finally:
                self.close()
        return self._result

    def cancel(self, reason: str = "the application asked for it") -> None:
        """Cancel the run; wait for its end. Safe to call from any thread; does nothing to a finished run."""
        self._thread.call_soon(lambda: self.asynchronous.cancel(reason))

    def __iter__(self) -> Iterator[RunEvent]:
        """Yield the events in order."""
        while not self._closed and (events := self._thread.run(self.asynchronous.next_events)) is not None:
            yield from events
        self.wait()

    @property
    def text(self) -> Iterator[str]:
        """The agent's message text of the turn, piece by piece as it comes; without thoughts."""
        message = MessageText()
        for event in self:
            piece = message.feed(event)
            if piece:
                yield piece

    def close(self) -> None:
        """End it, whatever it does. May be called repeatedly."""
        if not self._closed:
            self._closed = True
            atexit.unregister(self.close)
            self._thread.stop()
            self._callbacks.close()

    def __enter__(self) -> Run:
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
