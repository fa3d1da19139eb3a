"""The feed of an agent as a WebSocket of the server: :class:`FeedSocket`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from jupyter_core.utils import ensure_async
from jupyter_server.base.handlers import JupyterHandler
from jupyter_server.base.websocket import WebSocketMixin
from tornado import web
from tornado.websocket import WebSocketClosedError, WebSocketHandler

from acp_host.errors import AcpError
from acp_host.ui.feed import Viewer
from acp_host.ui.feed.command_forms import LARGEST_COMMAND
from acp_host.ui.jupyter_server.hosted_agent import HostedAgent
from acp_host.ui.jupyter_server.hosted_agents import HostedAgents
from acp_host.ui.jupyter_server.other_loop import on_loop
from acp_host.ui.jupyter_server.resource import RESOURCE

__all__ = ["FeedSocket"]

_UNTIL_GONE = 30.0
_GOING_AWAY = 1001
_TRY_LATER = 1013


class FeedSocket(WebSocketMixin, WebSocketHandler, JupyterHandler):
    """One viewer of an agent. Who may ``execute`` may act, who may only ``read`` looks on."""

    auth_resource = RESOURCE

    def initialize(self, agents: HostedAgents) -> None:
        self.agents = agents
        self.agent: HostedAgent | None = None
        self.viewer: Viewer | None = None
        self.may_control = False
        self._stopped: Callable[[], None] = lambda: None

    def set_default_headers(self) -> None:
        """None: they are for pages."""

    @property
    def max_message_size(self) -> int:
        """The longest command, in bytes."""
        return LARGEST_COMMAND

    @property
    def ping_interval(self) -> float:
        """Seconds between two signs of life, which Tornado sees to: the server's own way logs a warning each time."""
        return _UNTIL_GONE

    @property
    def ping_timeout(self) -> float:
        """Seconds that each may take."""
        return _UNTIL_GONE

    async def get(self, agent_id: str) -> None:
        """Let somebody in whom the server knows."""
        if not self.current_user:
            raise web.HTTPError(403)
        if not await self._may("read"):
            raise web.HTTPError(403)
        self.may_control = await self._may("execute")
        self.agent = self.agents.find(agent_id)
        if self.agent is None:
            raise web.HTTPError(404)
        await super().get(agent_id=agent_id)

    async def open(self, agent_id: str) -> None:
        """Join, as soon as the agent has started."""
        agent, server = self.agent, asyncio.get_running_loop()
        assert agent is not None

        async def send(message: bytes) -> None:
            await on_loop(server, lambda: self._send(message))

        def stopped() -> None:
            server.call_soon_threadsafe(self.close, _GOING_AWAY, "the agent was stopped")

        async def join() -> Viewer:
            viewer = await agent.join(send, may_control=self.may_control)
            agent.on_stopped.add(stopped)
            self._stopped = stopped
            return viewer

        try:
            self.viewer = await on_loop(self.agents.loop, join)
        except AcpError:
            self.close(_TRY_LATER, "the agent does not run")
            return
        if self.ws_connection is None or self.ws_connection.is_closing():
            self.on_close()

    async def on_message(self, message: str | bytes) -> None:
        """Take a command; the next one is read when this one was taken."""
        viewer, agent = self.viewer, self.agent
        if viewer is None or agent is None:
            return
        self.agents.used()

        async def receive() -> None:
            agent.used()
            await viewer.receive(message)

        await on_loop(self.agents.loop, receive)

    def on_close(self) -> None:
        """Leave."""
        viewer, agent, self.viewer = self.viewer, self.agent, None
        if viewer is None or agent is None:
            return

        def leave() -> None:
            agent.on_stopped.discard(self._stopped)
            viewer.leave()

        self.agents.call_soon(leave)

    async def _send(self, message: bytes) -> None:
        try:
            await self.write_message(message)
        except WebSocketClosedError:
            self.on_close()
            raise

    async def _may(self, action: str) -> bool:
        allowed: Any = self.authorizer.is_authorized(self, self.current_user, action, RESOURCE)
        return bool(await ensure_async(allowed))
