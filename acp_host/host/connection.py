"""The connection to one agent, as an application holds it: :class:`HostConnection`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from acp_host.diagnostics import Diagnostic
from acp_host.errors import AcpError
from acp_host.host.connection_life import ConnectionLife
from acp_host.host.incoming import RequestHandler
from acp_host.host.incoming_notifications import NotificationHandler
from acp_host.host.session import Session
from acp_host.reminders import WireRung
from acp_host.wire._model import UNSET

__all__ = ["HostConnection"]


class HostConnection(ConnectionLife):
    """The host's side of a connection to one agent. Made by :func:`acp_host.connect`.

    Attributes:
        diagnostics: what was dropped, repaired or unexpected on this connection.
        health: whether the agent can be reached, and what is done about it; reactive.
        authentication: who is logged in with the agent, and how to log in and out; reactive.
        audit: what the agent was allowed and refused, and by whom.
    """

    def __repr__(self) -> str:
        return f"<HostConnection to {self._agent_name()!r}, {'closed' if self.closed else 'open'}>"

    @property
    def sessions(self) -> tuple[Session, ...]:
        """The sessions that are open on this connection."""
        return tuple(self._sessions)

    def on_sessions_changed(self, observer: Callable[[Session], None]) -> Callable[[], None]:
        """Call ``observer`` with each session that is opened or let go from now on; return a function that ends this.

        It is called when :attr:`sessions` has changed, whoever opened or closed it, and before a history is told.
        """
        return self._sessions.observers.connect(observer)

    def on_diagnostic(self, observer: Callable[[Diagnostic], None]) -> Callable[[], None]:
        """Call ``observer`` with each diagnostic from now on; return a function that ends this."""
        return self.diagnostics.connect(observer)

    @property
    def connection_id(self) -> str | None:
        """What the server of an agent elsewhere calls this connection (``Acp-Connection-Id``), e.g. for its logs."""
        return self._driver.transport.connection_id

    async def wait_closed(self) -> AcpError | None:
        """Wait until the connection is over; return why, or ``None`` for a clean end."""
        await self._ended.wait()
        return self._end_error

    async def request(
        self, method: str, params: Any = UNSET, *, force: bool = False, timeout: float | None = None
    ) -> Any:
        """Send a request of any method and return its result: plain JSON for an extension, else its wire type.

        Args:
            method: wire method; a method of ACP is checked against the agreement, an extension is not.
            params: plain JSON, or the method's wire type.
            force: send it although it was not agreed.
            timeout: seconds until the request is withdrawn; ``None`` for no limit.

        Raises:
            TimeoutError: no answer within ``timeout``; the agent was told with ``$/cancel_request``.
            RequestFailed: the agent answered with an error.
            NotSupported: the capability was not agreed.
        """
        async with asyncio.timeout(timeout):
            return await self._call(method, params, Any, force)

    async def notify(self, method: str, params: Any = UNSET, *, force: bool = False) -> None:
        """Send a notification of any method; arguments and errors as for :meth:`request`."""
        await self._reconnecting.ready(method)
        self._driver.notify(method, params, force=force)
        await self._driver.transport.drain()

    def on_request(self, method: str, handler: RequestHandler) -> None:
        """Answer the agent's requests of ``method`` with ``handler``, e.g. an extension's.

        Args:
            method: wire method.
            handler: takes the parameters (plain JSON for an extension), returns the result or an awaitable of it. It
                may raise a :class:`~acp_host.errors.RequestFailed`, which is the answer then.
        """
        self._incoming.serve(method, handler)

    def on_notification(self, method: str, handler: NotificationHandler) -> None:
        """Call ``handler`` with the parameters of the agent's notifications of ``method``, in order.

        Raises:
            InvalidInput: for ``session/update``; use :meth:`Session.on_update`.
        """
        self._notifications.serve(method, handler)

    def register_rung(self, rung: WireRung) -> None:
        """Add a way to deliver reminders, for policies to name; one of the same name is replaced.

        Args:
            rung: see :class:`~acp_host.reminders.rungs.WireRung`.
        """
        self._reminders.rungs[rung.name] = rung

    def reconnect_now(self) -> None:
        """Do not wait for the time of the next try; does nothing while no connection is being made again."""
        self._reconnecting.hurry()
