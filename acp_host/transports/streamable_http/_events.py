"""Server-sent events of a response, each no longer than allowed: :func:`read_events`.

The events themselves are found by httpx2. What it leaves to others is here: a bound that does not end the stream, a
byte order mark, and the last event of a server that ends without the blank line after it.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, AsyncIterator

import httpx2

__all__ = ["EventBound", "read_events"]

_END = re.compile(rb"\n\n|\r\r|\n\r")
"""The end of an event: the end of a line, and an empty line. ``CR LF CR LF`` has ``LF CR`` in it."""
_TAIL = 1024
"""Bytes of the end of an event that are kept when it is too long: the id of a message is often there."""


class EventBound:
    """Shortens the events of a byte stream that are too long, and lets everything else through.

    Of such an event its beginning, up to the maximum, and its end remain. So it is still longer than the maximum: who
    reads the messages skips it, says so, and can find out which request it was to answer.

    Args:
        maximum: bytes of an event that are let through.
    """

    def __init__(self, maximum: int) -> None:
        self._maximum = maximum
        self._size = 0
        self._tail = b""
        self._last = b""

    def feed(self, data: bytes) -> bytes:
        """Take the next bytes of the stream; return those that are let through."""
        if self._size + len(data) <= self._maximum:
            self._note_size(data)
            return data
        passed, start = bytearray(), 0
        while True:
            end = _END.search(self._last + data, start)
            stop = len(data) if end is None else end.end() - len(self._last)
            self._pass(passed, data[max(start - len(self._last), 0) : stop])
            if end is None:
                break
            passed += self._tail
            self._size, self._tail = 0, b""
            start = end.end()
        self._last = data[-1:]
        return bytes(passed)

    def finish(self) -> bytes:
        """Return what ends the last event, if the stream ended within one."""
        return self._tail + b"\n\n" if self._size else b""

    def _note_size(self, data: bytes) -> None:
        joined = self._last + data
        end = max(joined.rfind(b"\n\n"), joined.rfind(b"\r\r"), joined.rfind(b"\n\r"))
        self._size = self._size + len(data) if end < 0 else len(joined) - end - 2
        self._last = joined[-1:]

    def _pass(self, passed: bytearray, piece: bytes) -> None:
        room = max(self._maximum - self._size, 0)
        passed += piece[:room]
        self._tail = (self._tail + piece[room:])[-_TAIL:]
        self._size += len(piece)


async def read_events(response: httpx2.Response, maximum: int) -> AsyncGenerator[httpx2.ServerSentEvent]:
    """Read the events of a response as they come.

    Args:
        response: the response, its body not read.
        maximum: longest event, in bytes; see :class:`EventBound`.
    """
    bounded = httpx2.Response(
        200,
        headers={"Content-Type": "text/event-stream"},
        content=_bounded(response, maximum),
        request=response.request,
    )
    bounded.encoding = "utf-8-sig"  # server-sent events are UTF-8, whatever a header says; a mark in front is no text
    async for event in httpx2.EventSource(bounded, max_event_size=None):
        yield event


async def _bounded(response: httpx2.Response, maximum: int) -> AsyncIterator[bytes]:
    bound = EventBound(maximum)
    async for chunk in response.aiter_bytes():
        yield bound.feed(chunk)
    yield bound.finish()
