"""The bounded stream of diagnostics that an application can show: :class:`DiagnosticLog`."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

from attrs import evolve

from acp_host.diagnostics import Diagnostic, excerpt
from acp_host.redaction import Redactor

__all__ = ["DiagnosticLog"]

_logger = logging.getLogger("acp_host.diagnostics")


class DiagnosticLog:
    """The newest diagnostics of a connection, oldest first.

    Iterate for those at hand, ``async for`` for those to come (after the connection has ended the loop ends), or
    :meth:`connect` a callback.
    Each is also logged to the logger ``acp_host.diagnostics`` at DEBUG, as ``diagnostic`` of the log record.

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
        self._observers: list[Callable[[Diagnostic], None]] = []
        self._arrived = asyncio.Event()

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
        self._observers.append(observer)
        return lambda: self._observers.remove(observer) if observer in self._observers else None

    def add(self, diagnostic: Diagnostic) -> None:
        """Add a diagnostic; of data that is not plain, an excerpt of its ``repr`` is kept."""
        if not isinstance(diagnostic.data, str | int | float | None):
            diagnostic = evolve(diagnostic, data=_excerpt_of(diagnostic.data))
        if self.redactor.has_secrets:
            data = self.redactor.text(diagnostic.data) if isinstance(diagnostic.data, str) else diagnostic.data
            diagnostic = evolve(diagnostic, message=self.redactor.text(diagnostic.message), data=data)
        self._kept.append(diagnostic)
        self._total += 1
        self._arrived.set()
        _logger.debug("%s: %s", diagnostic.kind, diagnostic.message, extra={"diagnostic": diagnostic})
        for observer in tuple(self._observers):
            try:
                observer(diagnostic)
            except (KeyboardInterrupt, SystemExit):
                raise
            except BaseException:
                _logger.exception("an observer of the diagnostics failed")

    def close(self) -> None:
        """Say that none will follow."""
        self._closed = True
        self._arrived.set()


def _excerpt_of(data: Any) -> str:
    """Return a bounded text for a value that an agent has made, however large or deep it is."""
    try:
        return excerpt(repr(data))
    except RecursionError:
        return f"a {type(data).__name__}, nested too deeply to be shown"
