"""A connection for each session: :class:`SessionConnections`.

Over one connection, a Harn agent works at one prompt at a time: what is sent to other sessions waits behind it, their
prompts too. Sessions that are to work at the same time need a connection, and so a process, of their own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Any

from acp_host.errors import InvalidState
from acp_host.host.connection import HostConnection
from acp_host.host.session import Session

__all__ = ["SessionConnections"]


class SessionConnections:
    """Opens each session on a connection of its own, and closes them all at the end. ::

        async with harn.SessionConnections(lambda: acp_host.connect(command)) as connections:
            sessions = [await connections.new_session(cwd=path) for path in ("a", "b")]
            results = await asyncio.gather(*(session.prompt("Fix the tests") for session in sessions))

    Args:
        connect: makes a connection; called for each session, as for :func:`acp_host.connect`.
        limit: how many connections may be open at once.
    """

    def __init__(self, connect: Callable[[], Awaitable[HostConnection]], *, limit: int = 16) -> None:
        self._connect = connect
        self._limit = limit
        self._hosts: dict[Session, HostConnection] = {}
        self._opening = 0
        self._closed = False

    async def __aenter__(self) -> SessionConnections:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    @property
    def sessions(self) -> tuple[Session, ...]:
        """The sessions that are open, the oldest first."""
        return tuple(self._hosts)

    def host_of(self, session: Session) -> HostConnection:
        """Return the connection of a session.

        Raises:
            InvalidState: the session was not opened here, or is closed.
        """
        try:
            return self._hosts[session]
        except KeyError:
            raise InvalidState(f"session {session.id} has no connection here") from None

    async def new_session(self, *args: Any, **fields: Any) -> Session:
        """Start a conversation; arguments and errors as for ``HostConnection.new_session``, and of ``connect``.

        Raises:
            InvalidState: as many are open as may be.
        """
        return await self._open(lambda host: host.new_session(*args, **fields))

    async def load_session(self, *args: Any, **fields: Any) -> Session:
        """Take up a conversation again; otherwise as :meth:`new_session`, and ``HostConnection.load_session``."""
        return await self._open(lambda host: host.load_session(*args, **fields))

    async def close_session(self, session: Session) -> None:
        """Close the connection of a session, and with it what runs in it.

        Raises:
            InvalidState: as for :meth:`host_of`.
        """
        host = self.host_of(session)
        del self._hosts[session]
        await host.close()

    async def close(self) -> None:
        """Close all connections; what is opened meanwhile is closed too."""
        self._closed = True
        hosts, self._hosts = self._hosts, {}
        await asyncio.gather(*(host.close() for host in hosts.values()))

    async def _open(self, opening: Callable[[HostConnection], Awaitable[Session]]) -> Session:
        if self._closed:
            raise InvalidState("the connections were closed")
        if len(self._hosts) + self._opening >= self._limit:
            raise InvalidState(f"{self._limit} connections are open, which is as many as may be; close a session first")
        self._opening += 1
        try:
            host = await self._connect()
            try:
                session = await opening(host)
                if self._closed:
                    raise InvalidState("the connections were closed meanwhile")
            except BaseException:
                await host.close()
                raise
            self._hosts[session] = host
            return session
        finally:
            self._opening -= 1
