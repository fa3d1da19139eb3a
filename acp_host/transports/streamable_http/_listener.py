"""One stream of events from the server, opened again when it ends: :class:`Listener`.

Version 1 of the protocol repeats nothing. A stream that *ends* has brought all that was sent on it, and servers keep
what comes until it is opened again; so it is. A stream that *breaks* may have swallowed something: it is opened again
only while no answer is due on it, or where its events have ids, from which a server can go on (``Last-Event-ID``).
Otherwise the connection is given up, since an answer that is lost would be waited for without end.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing

import httpx2
from attrs import define, field

from acp_host.errors import ConnectionLost
from acp_host.transports.streamable_http._events import read_events
from acp_host.transports.streamable_http._header_values import can_be_header
from acp_host.transports.streamable_http._refusals import (
    ends_connection,
    explained,
    is_failure,
    is_retryable,
    why_unreachable,
)
from acp_host.transports.streamable_http._server import Reply, Server

__all__ = ["Listener", "SessionUnknown", "StreamRefused"]

_ATTEMPTS = 5
"""Streams in a row that fail, or end at once with nothing in them, before the connection is given up."""
_FIRST_PAUSE = 0.1
_SHORT = 1.0
"""Seconds within which a stream that brings nothing has failed."""
_SAID = 8 * 1024
"""Bytes that are read of an answer that is no stream."""


class StreamRefused(Exception):
    """The server has no such stream; its answer is the argument."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(reply.status)
        self.reply = reply


class SessionUnknown(StreamRefused):
    """The server does not know the session, or not yet."""


@define(eq=False)
class Listener:
    """A stream for the connection, or for one session.

    Attributes:
        server: where it comes from.
        what: what it is, for messages.
        headers: those that name the connection, and the session.
        session_id: the session; ``None`` for the connection's stream.
        maximum: longest event, in bytes.
        receive: called with the data of each event.
        note: called with what should be known about the stream, but ends nothing.
        awaits: tells whether an answer is due on this stream.
        settled: set once it is known whether there is such a stream.
        is_open: it has been opened, and has not ended for good.
        on_open: called once, before the first event.
        follows: there was such a stream before, whose end the server may not have noticed yet.
    """

    server: Server
    what: str
    headers: dict[str, str]
    session_id: str | None
    maximum: int
    receive: Callable[[str], None]
    note: Callable[[str], None]
    awaits: Callable[[], bool]
    on_open: Callable[[], None] = lambda: None
    follows: bool = False
    settled: asyncio.Event = field(init=False, factory=asyncio.Event)
    is_open: bool = field(init=False, default=False)
    _last_id: str = field(init=False, default="")
    _brought: int = field(init=False, default=0)
    _opened_now: bool = field(init=False, default=False)

    async def run(self) -> None:
        """Listen until cancelled.

        Raises:
            ConnectionLost: the connection is to be given up.
            StreamRefused: there is no such stream, for this session.
        """
        failures = 0
        try:
            while True:
                failures = await self._once(failures)
                if failures:
                    await asyncio.sleep(_FIRST_PAUSE * 2 ** (failures - 1))
        finally:
            self.is_open = False
            self.settled.set()

    async def _once(self, failures: int) -> int:
        """Open the stream and read it to its end; return how many in a row have failed."""
        clock = asyncio.get_running_loop().time
        began, self._brought, self._opened_now = clock(), 0, False
        broke = False
        try:
            how = await self._read()
        except (httpx2.RequestError, TimeoutError) as error:
            broke = self._opened_now
            how = "broke" if broke else "cannot be opened"
            how += f": {why_unreachable(error)}"
            if broke and self.awaits() and not self._last_id:
                raise ConnectionLost(f"{self.what} {how}; what it would have brought is not sent again") from error
        if self._opened_now and (self._brought or clock() - began >= _SHORT):
            failures = 0
        else:
            failures += 1
        if failures >= _ATTEMPTS:
            raise ConnectionLost(f"{self.what} {how}, {failures} times in a row")
        if broke or (self._opened_now and self.awaits()):
            self.note(f"{self.what} {how}; it is opened again, and what was sent meanwhile may be missing")
        return failures

    async def _read(self) -> str:
        """Read one stream; return how it ended."""
        headers = {**self.headers, "Last-Event-ID": self._last_id} if self._last_id else self.headers
        async with self.server.listen(headers) as response:
            kind = response.headers.get("Content-Type", "").partition(";")[0].strip().lower()
            if response.status_code != httpx2.codes.OK or kind != "text/event-stream":
                return await self._refused(response, kind)
            self._opened_now = self.is_open = True
            self.settled.set()
            opened, self.on_open = self.on_open, lambda: None
            opened()
            async with aclosing(read_events(response, self.maximum)) as events:
                async for event in events:
                    self._last_id = event.id if can_be_header(event.id) else ""
                    if event.data:
                        self._brought += 1
                        self.receive(event.data)
        return "ended"

    async def _refused(self, response: httpx2.Response, kind: str) -> str:
        """Raise what a refusal means; return what happened where it may be tried again."""
        reply = Reply(response.status_code, response.headers, await _beginning(response))
        status = reply.status
        if status == httpx2.codes.OK or status in (202, 204):
            what = f"was answered with {kind or 'nothing'} instead of an event stream; look at the URL"
            if self.session_id is None:
                raise ConnectionLost(f"{self.what} {what}", http_status=status, retryable=False)
            raise StreamRefused(reply)
        text = f"{self.what} was refused: {explained(reply, connected=True)}"
        if is_failure(status):
            return text
        if status == httpx2.codes.CONFLICT and (self.is_open or self.follows):
            return text  # the stream that has just ended is not given up yet at the other end
        is_due = self.is_open and self.awaits()
        if status == httpx2.codes.NOT_FOUND and self.session_id is not None and not is_due:
            raise SessionUnknown(reply)
        if self.session_id is None or is_due or ends_connection(status):
            raise ConnectionLost(text, http_status=status, retryable=is_retryable(status))
        raise StreamRefused(reply)


async def _beginning(response: httpx2.Response) -> bytes:
    body = bytearray()
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) >= _SAID:
            break
    return bytes(body[:_SAID])
