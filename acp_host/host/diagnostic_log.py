"""The bounded stream of diagnostics that an application can show: :class:`DiagnosticLog`."""

from __future__ import annotations

import asyncio
import logging
import sys
import traceback
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

from attrs import evolve

from acp_host.diagnostics import Diagnostic, DiagnosticKind, Throttle, excerpt
from acp_host.printable import printable
from acp_host.redaction import Redactor
from acp_host.state.observers import Observers

__all__ = ["DiagnosticLog"]

_FRAMES = 5
"""How many of the innermost calls are logged of a failure."""

_TEXTS = ("message", "path", "method", "session_id", "data")
"""Members of a diagnostic that may repeat what an agent has said."""

_logger = logging.getLogger("acp_host.diagnostics")


class DiagnosticLog:
    """The newest diagnostics of a connection, oldest first.

    Iterate for those at hand, ``async for`` for those to come (after the connection has ended the loop ends), or
    :meth:`connect` a callback. Each is also logged to the logger ``acp_host.diagnostics``, as ``diagnostic`` of the log
    record: at DEBUG, but at WARNING and with the place where a handler or observer of the application failed, which
    nobody looks for elsewhere.

    Attributes:
        redactor: takes secrets out of each.

    Args:
        limit: how many are kept.
    """

    def __init__(self, limit: int = 1_000) -> None:
        self.redactor = Redactor()
        self._kept: deque[Diagnostic] = deque(maxlen=limit)
        self._total = 0
        self._closed = False
        self._observers: Observers[Diagnostic] = Observers(_log_failure)
        self._arrived = asyncio.Event()
        self._loud = Throttle()

    def __iter__(self) -> Iterator[Diagnostic]:
        return iter(tuple(self._kept))

    def __len__(self) -> int:
        return len(self._kept)

    async def __aiter__(self) -> AsyncIterator[Diagnostic]:
        position = self._total
        while True:
            missed = min(self._total - position, len(self._kept))
            fresh = tuple(self._kept)[len(self._kept) - missed :]
            position = self._total
            for diagnostic in fresh:
                yield diagnostic
            if position == self._total:
                if self._closed:
                    return
                self._arrived.clear()
                await self._arrived.wait()

    def connect(self, observer: Callable[[Diagnostic], None]) -> Callable[[], None]:
        """Call ``observer`` with each diagnostic from now on; return a function that ends this."""
        return self._observers.connect(observer)

    def add(self, diagnostic: Diagnostic) -> None:
        """Add a diagnostic; of data that is not plain, an excerpt of its ``repr`` is kept."""
        if not isinstance(diagnostic.data, str | int | float | None):
            diagnostic = evolve(diagnostic, data=_excerpt_of(diagnostic.data))
        if self.redactor.has_secrets:
            texts = {name: getattr(diagnostic, name) for name in _TEXTS}
            shown: dict[str, Any] = {
                name: self.redactor.text(text) for name, text in texts.items() if isinstance(text, str)
            }
            diagnostic = evolve(diagnostic, **shown)
        self._kept.append(diagnostic)
        self._total += 1
        self._arrived.set()
        self._write(diagnostic)
        self._observers.tell(diagnostic)

    def _write(self, diagnostic: Diagnostic) -> None:
        extra = {"diagnostic": diagnostic}
        if diagnostic.kind is DiagnosticKind.HANDLER_FAILED and self._loud.admit(diagnostic) is not None:
            _logger.warning("%s%s", printable(diagnostic.message), _place_of_failure(), extra=extra)
        else:
            _logger.debug("%s: %s", diagnostic.kind, diagnostic.message, extra=extra)

    def close(self) -> None:
        """Say that none will follow."""
        self._closed = True
        self._arrived.set()


def _log_failure(observer: Callable[[Diagnostic], None], error: BaseException) -> None:
    _logger.error("an observer of the diagnostics failed: %r", observer, exc_info=error)


def _place_of_failure() -> str:
    """Return where the exception that is being handled was raised; not its text, which may hold secrets."""
    error = sys.exception()
    return "" if error is None else "\n" + "".join(traceback.format_tb(error.__traceback__, -_FRAMES)).rstrip()


def _excerpt_of(data: Any) -> str:
    """Return a bounded text for a value that an agent has made, however large or deep it is."""
    try:
        return excerpt(repr(data))
    except RecursionError:
        return f"a {type(data).__name__}, nested too deeply to be shown"
