"""A connection to an agent for people who look at it in a notebook: :class:`Conversation`.

It lives on the loop of its own thread, as all of :mod:`acp_host.blocking` does, so that no cell holds up the agent,
whether it runs or waits. It begins in the background, since an agent may take a while to start.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import threading
from collections.abc import Callable, Mapping
from typing import Any

from attrs import frozen

from acp_host import blocking
from acp_host.errors import AcpError, ConnectionClosed, InvalidState
from acp_host.services.elicitation_queue import ElicitationQueue
from acp_host.services.permission_queue import PermissionQueue
from acp_host.ui.feed import Feed
from acp_host.ui.jupyter.views import Tell, Views

__all__ = ["Audience", "Conversation"]


@frozen(kw_only=True)
class Audience:
    """Who looks at a conversation, and is asked.

    Attributes:
        tell: reaches the views.
        say: takes a sentence on how the connection is, empty where all is well; called on any thread.
        permissions: the queue of what the connection asks permission for; ``None``: the views answer none.
        elicitation: likewise for forms and web pages.
    """

    tell: Tell
    say: Callable[[str], None]
    permissions: PermissionQueue | None
    elicitation: ElicitationQueue | None


class Conversation:
    """A connection, its sessions, and the views of them.

    Args:
        connect: returns the connection; may block.
        name: what the agent is called in sentences.
        cwd: where its sessions work.
        audience: who looks.
        owns: the connection is closed at the end.
    """

    def __init__(
        self, connect: Callable[[], blocking.HostConnection], *, name: str, cwd: str, audience: Audience, owns: bool
    ) -> None:
        self._connect = connect
        self._name = name
        self._cwd = cwd
        self._audience = audience
        self._owns = owns
        self._ready: concurrent.futures.Future[_Shown] = concurrent.futures.Future()
        self._lock = threading.Lock()
        self._closed = False
        threading.Thread(target=self._begin, name="acp_host notebook", daemon=True).start()

    @property
    def host(self) -> blocking.HostConnection:
        """The connection; waits until it is there.

        Raises:
            AcpError: it could not be made, or was closed before.
        """
        return self._shown().host

    @property
    def session(self) -> blocking.Session:
        """The first one of the sessions that are open; waits until it is there.

        Raises:
            AcpError: there is no connection, or the agent has opened no session.
        """
        shown = self._shown()
        sessions = shown.host.sessions
        if not sessions:
            raise shown.no_session or InvalidState("no session is open")
        return sessions[0]

    def take(self, content: Mapping[str, Any]) -> None:
        """Take a message of a view, on any thread, without waiting."""
        if self._ready.done() and self._ready.exception() is None:
            shown = self._ready.result()
            with contextlib.suppress(RuntimeError):  # the loop has ended
                shown.loop.call_soon_threadsafe(shown.views.take, dict(content))

    def close(self) -> None:
        """End the views, and the connection unless it is somebody else's. May be called repeatedly."""
        with self._lock:
            before, self._closed = self._closed, True
            begun = self._ready.done()
            if not begun:
                self._ready.set_exception(ConnectionClosed("the connection was closed before it was made"))
        if not before and begun and self._ready.exception() is None:
            self._end(self._ready.result())

    def _shown(self) -> _Shown:
        return self._ready.result()

    def _begin(self) -> None:
        self._audience.say(f"Starting {self._name} …")
        try:
            shown = self._open(self._connect())
        except Exception as error:
            with self._lock:
                if not self._ready.done():
                    self._ready.set_exception(error)
            self._audience.say(f"{self._name} could not be started: {error}")
            return
        with self._lock:
            if not self._closed:
                self._ready.set_result(shown)
        if self._closed:
            self._end(shown)
        else:
            self._audience.say("" if shown.no_session is None else f"No session was opened: {shown.no_session}")
            self._audience.tell({"view": "*", "kind": "gone", "number": 0}, ())

    def _open(self, host: blocking.HostConnection) -> _Shown:
        try:
            no_session = self._open_session(host)
            return host.run(self._show, host, no_session)
        except BaseException:
            if self._owns:
                host.close()
            raise

    def _open_session(self, host: blocking.HostConnection) -> AcpError | None:
        """Open a session where there is none; return why there is none then."""
        try:
            if not host.sessions:
                host.new_session(self._cwd)
        except AcpError as error:  # a login may be wanted, which the views have a place for
            return error
        return None

    async def _show(self, host: blocking.HostConnection, no_session: AcpError | None) -> _Shown:
        audience = self._audience
        ends = contextlib.AsyncExitStack()
        feed = await ends.enter_async_context(
            Feed(host.asynchronous, permissions=audience.permissions, elicitation=audience.elicitation, cwd=self._cwd)
        )
        views = await ends.enter_async_context(Views(feed, audience.tell))
        return _Shown(host=host, loop=asyncio.get_running_loop(), views=views, ends=ends.aclose, no_session=no_session)

    def _end(self, shown: _Shown) -> None:
        with contextlib.suppress(AcpError):  # it was closed by another
            shown.host.run(shown.ends)
        if self._owns:
            shown.host.close()
        self._audience.say(f"The conversation with {self._name} has ended.")


@frozen(kw_only=True)
class _Shown:
    """A connection that has been made, and what shows it."""

    host: blocking.HostConnection
    loop: asyncio.AbstractEventLoop
    views: Views
    ends: Callable[[], Any]
    no_session: AcpError | None
