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
from acp_host.host.login_queue import LoginQueue
from acp_host.services.elicitation_queue import ElicitationQueue
from acp_host.services.permission_queue import PermissionQueue
from acp_host.services.question_queue import QuestionQueue
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
        logins: likewise for logins.
    """

    tell: Tell
    say: Callable[[str], None]
    permissions: PermissionQueue | None
    elicitation: ElicitationQueue | None
    logins: LoginQueue | None


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
        self._shown: concurrent.futures.Future[_Shown] = concurrent.futures.Future()
        self._opened: concurrent.futures.Future[None] = concurrent.futures.Future()
        self._lock = threading.Lock()
        self._closed = False
        threading.Thread(target=self._begin, name="acp_host notebook", daemon=True).start()

    @property
    def host(self) -> blocking.HostConnection:
        """The connection; waits until it is there.

        Raises:
            AcpError: it could not be made, or was closed before.
        """
        return self._shown.result().host

    @property
    def queues(self) -> tuple[QuestionQueue[Any, Any], ...]:
        """What the views are asked, and nobody else decides."""
        audience = self._audience
        queues = (audience.permissions, audience.elicitation, audience.logins)
        return tuple(queue for queue in queues if queue is not None)

    @property
    def session(self) -> blocking.Session:
        """The first one of the sessions that are open; waits until there is one, or the agent has refused that.

        Raises:
            AcpError: there is no connection, or the agent has opened no session.
        """
        host = self.host
        problem = self._opened.exception()
        sessions = host.sessions
        if not sessions:
            raise problem or InvalidState("no session is open")
        return sessions[0]

    def take(self, content: Mapping[str, Any]) -> None:
        """Take a message of a view, on any thread, without waiting."""
        if self._shown.done() and self._shown.exception() is None:
            shown = self._shown.result()
            with contextlib.suppress(RuntimeError):  # the loop has ended
                shown.loop.call_soon_threadsafe(shown.views.take, dict(content))

    def close(self) -> None:
        """End the views, and the connection unless it is somebody else's. May be called repeatedly."""
        with self._lock:
            before, self._closed = self._closed, True
            begun = self._shown.done()
            if not begun:
                self._shown.set_exception(ConnectionClosed("the connection was closed before it was made"))
        if not before and begun and self._shown.exception() is None:
            self._end(self._shown.result())

    # --- on the thread on which it begins ---------------------------------------------------------------------------

    def _begin(self) -> None:
        self._audience.say(f"Starting {self._name} …")
        try:
            shown = self._open()
        except Exception as error:
            with self._lock:
                if not self._shown.done():
                    self._shown.set_exception(error)
            self._audience.say(f"{self._name} could not be started: {error}")
            return
        with self._lock:
            if not self._closed:
                self._shown.set_result(shown)
        if self._closed:
            self._end(shown)
            return
        self._audience.say("")
        self._audience.tell({"view": "*", "kind": "gone", "number": 0}, ())  # those that came early come again
        self._open_session(shown.host)

    def _open(self) -> _Shown:
        host = self._connect()
        try:
            return host.run(self._show, host)
        except BaseException:
            if self._owns:
                host.close()
            raise

    def _open_session(self, host: blocking.HostConnection) -> None:
        """Open a session where there is none. The views are there by now, and asked where a login is wanted."""
        try:
            if not host.sessions:
                host.new_session(self._cwd)
        except Exception as error:
            self._opened.set_exception(error)
            if not self._closed:
                self._audience.say(f"No session was opened: {error}")
        else:
            self._opened.set_result(None)

    async def _show(self, host: blocking.HostConnection) -> _Shown:
        audience = self._audience
        ends = contextlib.AsyncExitStack()
        feed = Feed(
            host.asynchronous,
            permissions=audience.permissions,
            elicitation=audience.elicitation,
            logins=audience.logins,
            cwd=self._cwd,
        )
        await ends.enter_async_context(feed)
        views = await ends.enter_async_context(Views(feed, audience.tell))
        ends.callback(host.asynchronous.on_sessions_changed(lambda _: audience.say("")))
        return _Shown(host=host, loop=asyncio.get_running_loop(), views=views, ends=ends.aclose)

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
