"""One agent that runs in the server: :class:`HostedAgent`.

All of it happens on the loop that the agents share; what is read from the server's thread are plain attributes.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from acp_host.errors import AcpError, AuthRequired, InvalidState
from acp_host.host.connect import connect
from acp_host.host.connection import HostConnection
from acp_host.host.login_queue import LoginQueue
from acp_host.services.elicitation_queue import ElicitationQueue
from acp_host.services.files import BufferProvider
from acp_host.services.permission_queue import PermissionQueue
from acp_host.ui.feed import Feed, Send, Viewer
from acp_host.ui.first_session import first_session
from acp_host.ui.jupyter_server.agent_settings import AgentSettings

__all__ = ["AgentStatus", "HostedAgent"]

_MOST_VIEWERS = 100


class AgentStatus(StrEnum):
    """How far an agent is."""

    STARTING = "starting"
    RUNNING = "running"
    FAILED = "failed"
    """It did not start."""
    ENDED = "ended"
    """It has ended by itself; what was said can still be seen."""
    STOPPED = "stopped"


class HostedAgent:
    """An agent, its sessions, and who looks at them.

    Args:
        settings: which agent.
        cwd: where its sessions work.
        process_records: as for :func:`acp_host.connect`.
        notebooks: what is open in the server.

    Attributes:
        id: stands in its addresses.
        settings: as they were given.
        cwd: likewise.
        started: when that was.
        status: how far it is.
        error: why it did not start, has ended, or has no session.
        on_stopped: called, on the agents' loop, when it is stopped.
    """

    def __init__(
        self, settings: AgentSettings, cwd: str, process_records: str, notebooks: Sequence[BufferProvider]
    ) -> None:
        self.id = secrets.token_hex(6)
        self.settings = settings
        self.cwd = cwd
        self.started = datetime.now(UTC)
        self.status = AgentStatus.STARTING
        self.error: str | None = None
        self.on_stopped: set[Callable[[], Any]] = set()
        self._process_records = process_records
        self._notebooks = notebooks
        self._stack = AsyncExitStack()
        self._host: HostConnection | None = None
        self._feed: Feed | None = None
        self._questions = PermissionQueue()
        self._forms = ElicitationQueue()
        self._logins = LoginQueue()
        self._last_use = time.monotonic()
        self._life: asyncio.Task[None] | None = None
        self._ready = asyncio.Event()
        self._stopping = asyncio.Event()

    def start(self) -> None:
        """Begin to start it."""
        self._life = asyncio.create_task(self._live(), name=f"acp_host agent {self.id}")

    async def stop(self) -> None:
        """End it with all its processes. May be called repeatedly."""
        self._stopping.set()
        if self._life is not None:
            if not self._ready.is_set():
                self._life.cancel()
            await asyncio.wait([self._life])

    async def ready(self) -> None:
        """Wait until it has started.

        Raises:
            InvalidState: it has not, and will not.
        """
        await self._ready.wait()
        if self._feed is None:
            raise InvalidState(self.error or "the agent has been stopped")

    async def join(self, send: Send, *, may_control: bool) -> Viewer:
        """Add a viewer, as soon as it has started.

        Raises:
            InvalidState: it does not run, or there are too many.
        """
        await self.ready()
        feed = self._feed
        if feed is None or len(feed.viewers) >= _MOST_VIEWERS:
            raise InvalidState("there are too many viewers")
        self.used()
        return feed.join(send, may_control=may_control)

    def used(self) -> None:
        """Take note that somebody uses it."""
        self._last_use = time.monotonic()

    @property
    def is_busy(self) -> bool:
        """Whether it starts, works, or waits for an answer; one that only waits for a login is idle."""
        if self.status is AgentStatus.STARTING or self._questions.pending or self._forms.pending:
            return True
        return any(session["status"] != "idle" for session in self.sessions() if session["open"])

    def idle_seconds(self) -> float:
        """Return for how long nobody has used it or looked at it, and it has done nothing."""
        if self.is_busy or (self._feed is not None and self._feed.viewers):
            self.used()
        return time.monotonic() - self._last_use

    def sessions(self) -> list[dict[str, Any]]:
        """Return its sessions, as the feed tells them."""
        return [] if self._feed is None else self._feed.session_items()

    def described(self) -> dict[str, Any]:
        """Return what there is to tell of it."""
        return {
            "id": self.id,
            "agent": self.settings.name,
            "status": str(self.status),
            "error": None if self.status is AgentStatus.RUNNING and self.sessions() else self.error,
            "cwd": self.cwd,
            "started": self.started.isoformat(),
            "busy": self.is_busy,
            "idle": round(self.idle_seconds(), 1),
            "viewers": len(self._feed.viewers) if self._feed is not None else 0,
            "sessions": self.sessions(),
            "path": f"agents/{self.id}/",
        }

    async def _live(self) -> None:
        try:
            async with self._stack:
                await self._begin()
                self.status = AgentStatus.RUNNING
                self._ready.set()
                await self._until_stopped()
            self.status = AgentStatus.STOPPED
        except asyncio.CancelledError:
            self.status = AgentStatus.STOPPED
            raise
        except Exception as error:  # whatever it is: the server goes on, and says so
            self.status, self.error = AgentStatus.FAILED, f"{error}" if isinstance(error, AcpError) else repr(error)
        finally:
            self._feed = None
            self._ready.set()
            for call in tuple(self.on_stopped):
                call()

    async def _begin(self) -> None:
        options = self.settings.connect_options(self._questions, self._notebooks)
        connection = connect(
            self.settings.target,
            elicitation=self._forms,
            sidebar=True,
            process_records=self._process_records,
            **{"authenticate": self._logins, **options},
        )
        host = self._host = await self._stack.enter_async_context(connection)
        try:
            await self._stack.enter_async_context(first_session(host, self.cwd, self._logins, self._has_no_session))
        except AuthRequired as error:
            self._has_no_session(error)  # it runs, and waits for a login of another sort
        if self._logins.pending:
            self.error = "the agent wants a login, which its page asks for"
        feed = Feed(host, permissions=self._questions, elicitation=self._forms, logins=self._logins, cwd=self.cwd)
        self._feed = await self._stack.enter_async_context(feed)

    def _has_no_session(self, error: BaseException) -> None:
        self.error = str(error)

    async def _until_stopped(self) -> None:
        assert self._host is not None
        ended = asyncio.ensure_future(self._host.wait_closed())
        stopping = asyncio.ensure_future(self._stopping.wait())
        try:
            await asyncio.wait([ended, stopping], return_when=asyncio.FIRST_COMPLETED)
            if ended.done() and not stopping.done():
                error = ended.result()
                self.status = AgentStatus.ENDED
                self.error = "the agent has ended" if error is None else str(error)
                await stopping
        finally:
            ended.cancel()
            stopping.cancel()
