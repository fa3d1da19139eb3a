"""Sends messages in order, where order matters: :class:`Lanes`."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from acp_host.transports.streamable_http.routes import Post

__all__ = ["Lanes"]

_LIMIT = 256 * 1024
"""How many bytes that are not sent :meth:`Lanes.drain` accepts without waiting."""


class Lanes:
    """Queues of messages. In each, a message is sent when the one before it was answered; none waits for another queue.

    Args:
        send: sends one message, and returns when the server has answered it; it does not raise.
        start: starts a task.
    """

    def __init__(
        self, send: Callable[[Post], Awaitable[None]], start: Callable[[Coroutine[Any, Any, None], str], object]
    ) -> None:
        self._send = send
        self._start = start
        self._queues: dict[str | None, deque[Post]] = {}
        self._held = 0
        self._room = asyncio.Event()
        self._room.set()
        self._idle = asyncio.Event()
        self._idle.set()

    @property
    def queued(self) -> int:
        """Bytes of the messages that no answer has come to yet."""
        return self._held

    def put(self, post: Post) -> None:
        """Queue a message."""
        self._held += len(post.data)
        if self._held > _LIMIT:
            self._room.clear()
        queue = self._queues.get(post.lane)
        if queue is not None:
            queue.append(post)
            return
        self._queues[post.lane] = deque([post])
        self._idle.clear()
        self._start(self._work(post.lane), f"send to {post.lane or 'the agent'}")

    async def drain(self) -> None:
        """Wait while much is queued."""
        await self._room.wait()

    async def flush(self) -> None:
        """Wait until all is sent."""
        await self._idle.wait()

    def stop(self) -> None:
        """Let nobody wait any longer."""
        self._room.set()
        self._idle.set()

    async def _work(self, lane: str | None) -> None:
        queue = self._queues[lane]
        try:
            while queue:
                await self._send(queue[0])
                self._held -= len(queue.popleft().data)
                if self._held <= _LIMIT:
                    self._room.set()
        finally:
            del self._queues[lane]
            if not self._queues:
                self._idle.set()
