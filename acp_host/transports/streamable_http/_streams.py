"""The streams of one connection to a server: :class:`Streams`, that of the connection and those of its sessions."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine
from typing import Any

from attrs import frozen

from acp_host.errors import ConnectionLost
from acp_host.transports.streamable_http._header_values import can_be_header
from acp_host.transports.streamable_http._listener import Listener, SessionUnknown, StreamRefused
from acp_host.transports.streamable_http._refusals import explained
from acp_host.transports.streamable_http._server import Server

__all__ = ["Streams", "settled"]

_WAIT = 2.0
"""Seconds that a message waits for its session's stream; some servers answer only with the first event."""
_MOST = 1000


async def settled(listener: Listener | None) -> None:
    """Wait until it is known whether a stream is there, but not for ever."""
    if listener is not None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_WAIT):
                await listener.settled.wait()


@frozen
class _Open:
    listener: Listener
    task: asyncio.Task[None]


class Streams:
    """Opens streams, and knows of which sessions there are none.

    Args:
        server: where they come from.
        maximum: longest event, in bytes.
        name: what the agent is called in messages.
        start: starts a task.
        receive: called with the session, ``None`` for the connection, and the data of each event.
        awaits: tells whether an answer is due on the stream of a session.
        note: called with what should be known, but ends nothing.
        fail: called when the connection is to be given up.
    """

    def __init__(
        self,
        server: Server,
        maximum: int,
        *,
        name: str,
        start: Callable[[Coroutine[Any, Any, None], str], asyncio.Task[None]],
        receive: Callable[[str | None, str], None],
        awaits: Callable[[str | None], bool],
        note: Callable[..., None],
        fail: Callable[[ConnectionLost], None],
    ) -> None:
        self._server = server
        self._maximum = maximum
        self._name = name
        self._start = start
        self._receive = receive
        self._awaits = awaits
        self._note = note
        self._fail = fail
        self._connection_id = ""
        self._open: dict[str | None, _Open] = {}
        self._without: set[str] = set()
        self._closed: set[str] = set()
        self._is_only_one = False

    @property
    def are_several(self) -> bool:
        """Whether there is more than one."""
        return len(self._open) > 1

    def is_open(self, session_id: str | None) -> bool:
        """Tell whether a session has a stream that was opened."""
        there = None if session_id is None else self._open.get(session_id)
        return there is not None and there.listener.is_open

    def has_none(self, session_id: str | None) -> bool:
        """Tell whether the server has said that a session has no stream."""
        return session_id in self._without

    def begin(self, connection_id: str, on_open: Callable[[], None]) -> Listener:
        """Open the stream of a new connection.

        Args:
            connection_id: the connection.
            on_open: called before its first event.
        """
        self._connection_id = connection_id
        return self._listen(None, on_open)

    def open(self, session_id: str, *, is_known: bool = False) -> Listener | None:
        """Return a session's stream, opened now if it was not; ``None`` if there can be none.

        Args:
            session_id: the session.
            is_known: the server knows the session from now on, whatever it has said.
        """
        if is_known:
            self._without.discard(session_id)
        if session_id in self._open:
            return self._open[session_id].listener
        if self._is_only_one or session_id in self._without or not can_be_header(session_id):
            return None
        if len(self._open) > _MOST:
            self._note(f"there are {_MOST} streams already; none was opened for {session_id}", session_id=session_id)
            return None
        return self._listen(session_id)

    def close(self, session_id: str) -> None:
        """Leave the stream of a session that is over."""
        there = self._open.pop(session_id, None)
        if there is not None:
            self._closed.add(session_id)
            there.task.cancel()

    def end(self) -> None:
        """Leave all streams, and forget what was known of them."""
        for there in self._open.values():
            there.task.cancel()
        self._open.clear()
        self._without.clear()
        self._closed.clear()
        self._is_only_one = False

    def _listen(self, session_id: str | None, on_open: Callable[[], None] = lambda: None) -> Listener:
        headers = {"Acp-Connection-Id": self._connection_id}
        what = "the stream of the connection"
        if session_id is not None:
            headers["Acp-Session-Id"] = session_id
            what = f"the stream of session {session_id}"
        listener = Listener(
            self._server,
            f"{self._name}: {what}",
            headers,
            session_id,
            self._maximum,
            lambda data: self._receive(session_id, data),
            lambda text: self._note(text, session_id=session_id),
            lambda: self._awaits(session_id),
            on_open,
            follows=session_id in self._closed,
        )
        self._open[session_id] = _Open(listener, self._start(self._run(listener), what))
        return listener

    async def _run(self, listener: Listener) -> None:
        try:
            await listener.run()
        except ConnectionLost as error:
            self._fail(error)
        except StreamRefused as refusal:
            assert listener.session_id is not None
            self._refused(listener.session_id, refusal)
        finally:
            there = self._open.get(listener.session_id)
            if there is not None and there.listener is listener:
                del self._open[listener.session_id]

    def _refused(self, session_id: str, refusal: StreamRefused) -> None:
        self._without.add(session_id)
        if isinstance(refusal, SessionUnknown):
            return
        self._is_only_one = not any(self.is_open(other) for other in self._open)
        self._note(
            f"there is no stream for session {session_id}; its messages are expected on that of the connection:"
            f" {explained(refusal.reply, connected=True)}",
            session_id=session_id,
        )
