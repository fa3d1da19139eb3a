"""Somebody who looks, in another process or page: :class:`Viewer`.

It fetches what it has not seen whenever it can take more, so a slow one gets several changes at once and holds up
nobody. What it asks for is answered by its own row of results, which is bounded.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from typing import TYPE_CHECKING, Any

from acp_host.ui.feed.messages import encoded
from acp_host.ui.feed.session_stream import SessionStream

if TYPE_CHECKING:
    from acp_host.ui.feed.feed import Feed

__all__ = ["Send", "Viewer"]

Send = Callable[[bytes], Awaitable[Any]]
"""Takes a message (JSON in UTF-8), and returns when the viewer can take another one."""

_MAX_RESULTS = 64
"""Results that wait to be taken; while there are so many, no further command is read."""


class Viewer:
    """One viewer of a feed; made by :meth:`~acp_host.ui.feed.feed.Feed.join`.

    Attributes:
        number: tells the viewers of a feed apart.
        may_control: it may have the controller's seat.
        running: how many of its commands are being done.
        gone: it has left.
    """

    def __init__(self, feed: Feed, number: int, send: Send, *, may_control: bool) -> None:
        self.number = number
        self.may_control = may_control
        self.running = 0
        self.gone = False
        self._feed = feed
        self._send = send
        self._seen: dict[str, int] = {}
        self._watched: dict[str, tuple[SessionStream | None, int | None]] = {}
        self._results: deque[Callable[[], dict[str, Any]]] = deque()
        self._something = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()

    @property
    def is_controller(self) -> bool:
        """Whether it has the controller's seat."""
        return self._feed.controller is self

    async def receive(self, data: str | bytes) -> None:
        """Take a command; waits while results of earlier ones wait to be taken. What is wrong with it is its result."""
        await self._room.wait()
        if not self.gone:
            self._feed.take_command(self, data)

    def leave(self) -> None:
        """Go; what it has asked for is still done. May be called repeatedly."""
        if not self.gone:
            self.gone = True
            for session_id in tuple(self._watched):
                self.unwatch(session_id)
            self.wake()
            self._room.set()
            self._feed.left(self)

    # --- for the feed -----------------------------------------------------------------------------------------------

    def wake(self) -> None:
        """Learn that there may be something to fetch."""
        self._something.set()

    def put(self, result: Callable[[], dict[str, Any]]) -> None:
        """Add a result; it is made when it is sent, after everything that happened before."""
        self._results.append(result)
        if len(self._results) >= _MAX_RESULTS:
            self._room.clear()
        self.wake()

    def watch(self, session_id: str, seen: int | None) -> None:
        """Follow a session, from a version on; ``None``: from a snapshot."""
        self.unwatch(session_id)
        self._watched[session_id] = (None, seen)
        self.wake()

    def unwatch(self, session_id: str) -> None:
        """Do not follow a session any more."""
        stream, _ = self._watched.pop(session_id, (None, None))
        if stream is not None:
            stream.leave()

    async def run(self) -> None:
        """Send what there is to tell, until it leaves or cannot be reached."""
        try:
            reached = await self._reaches(encoded(self._feed.hello(self)))
            while reached and not self.gone:
                await self._something.wait()
                self._something.clear()
                reached = await self._tell_news()
        except Exception as error:  # a fault of this library must not cost more than this viewer
            self._feed.viewer_failed(error)
        finally:
            self.leave()

    async def _tell_news(self) -> bool:
        for message in self._news():
            if self.gone or not await self._reaches(message):
                return False
        return True

    async def _reaches(self, message: bytes) -> bool:
        try:
            await self._send(message)
        except Exception:  # whatever the transport raises: it cannot be reached
            return False
        return True

    def _news(self) -> Iterator[bytes]:
        for name, topic in self._feed.topics.items():
            message, self._seen[name] = topic.since(self._seen.get(name, 0))
            if message is not None:
                yield message
        yield from self._session_news()
        while self._results:
            # A result is made when the viewer knows all that happened before it, and nothing of what comes after.
            news = self._session_news()
            result = encoded(self._results.popleft()())
            self._room.set()
            yield from (*news, result)

    def _session_news(self) -> list[bytes]:
        news = [self._catch_up(session_id) for session_id in tuple(self._watched)]
        return [message for message in news if message is not None]

    def _catch_up(self, session_id: str) -> bytes | None:
        watched = self._watched.get(session_id)
        stream = self._feed.stream(session_id)
        if watched is None or stream is None:
            return None
        known, seen = watched
        if known is not stream:  # a session that was opened again is another one
            if known is not None:
                known.leave()
            stream.watch()
        message = stream.since(seen)
        self._watched[session_id] = (stream, stream.version)
        return message
