"""The agents that run in a server: :class:`HostedAgents` starts, finds and ends them.

Its methods are called on the server's event loop. The agents live on another one, in a thread that they share, which
begins with the first of them.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attrs import frozen

from acp_host.blocking._thread import LoopThread
from acp_host.errors import AcpError, InvalidInput, InvalidState
from acp_host.services.files import BufferProvider
from acp_host.ui.jupyter_server.agent_settings import AgentSettings
from acp_host.ui.jupyter_server.hosted_agent import AgentStatus, HostedAgent
from acp_host.ui.jupyter_server.other_loop import on_loop

__all__ = ["HostedAgents", "HostingRules"]

_logger = logging.getLogger("acp_host.ui.jupyter_server")

_LIVING = (AgentStatus.STARTING, AgentStatus.RUNNING)
_LONGEST_LOOK = 30.0
_SHORTEST_LOOK = 0.1
"""Seconds between two looks at which agents are idle."""
_LOOKS_PER_TIMEOUT = 4


@frozen(kw_only=True)
class HostingRules:
    """How agents are hosted.

    Attributes:
        root: the server's directory, in which agents work, or in a folder below.
        process_records: where running agents are written down, so that none survives a server that was killed.
        max_agents: that run at a time.
        idle_timeout: seconds after which an agent is ended that does nothing and that nobody looks at; 0: never.
    """

    root: str
    process_records: str
    max_agents: int
    idle_timeout: float


class HostedAgents:
    """Starts, finds and ends agents.

    Args:
        settings: the agents that can be started, by name.
        rules: how they are hosted.
        notebooks: returns what is open in the server; called once, with the first agent.
        used: called, on the server's loop, when agents do something or are used.
    """

    def __init__(
        self,
        settings: Mapping[str, AgentSettings],
        rules: HostingRules,
        notebooks: Callable[[], Sequence[BufferProvider]] = tuple,
        used: Callable[[], Any] = lambda: None,
    ) -> None:
        self.used = used
        self._settings = settings
        self._rules = rules
        self._open_notebooks = notebooks
        self._notebooks: Sequence[BufferProvider] = ()
        self._agents: dict[str, HostedAgent] = {}
        self._thread: LoopThread | None = None
        self._looking: asyncio.Task[None] | None = None
        self._closed = False
        self._starting = asyncio.Lock()

    @property
    def names(self) -> tuple[str, ...]:
        """The agents that can be started."""
        return tuple(self._settings)

    @property
    def living(self) -> tuple[HostedAgent, ...]:
        """Those that start or run."""
        return tuple(agent for agent in self._agents.values() if agent.status in _LIVING)

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """The loop on which agents live."""
        if self._thread is None:
            self._thread = LoopThread("acp_host agents")
        return self._thread.loop

    def call_soon(self, function: Callable[[], Any]) -> None:
        """Call a function on the agents' loop, if that is still there."""
        if self._thread is not None:
            self._thread.call_soon(function)

    def find(self, agent_id: str) -> HostedAgent | None:
        """Return an agent that was started and not yet stopped."""
        return self._agents.get(agent_id)

    async def start(self, name: str, folder: str = "") -> HostedAgent:
        """Begin to start an agent, and return it.

        Args:
            name: one of :attr:`names`.
            folder: where it works, relative to the server's directory.

        Raises:
            InvalidInput: there is no such agent or folder.
            InvalidState: too many run, or the server ends.
        """
        settings = self._settings.get(name)
        if settings is None:
            raise InvalidInput("there is no agent of that name in the server's configuration")
        cwd = self._cwd(settings, folder)
        async with self._starting:  # one after the other, so that they are counted
            agent = await self._start(settings, cwd)
        self.used()
        return agent

    async def _start(self, settings: AgentSettings, cwd: str) -> HostedAgent:
        if self._closed:
            raise InvalidState("the server is ending")
        if len(self.living) >= self._rules.max_agents:
            raise InvalidState(f"{self._rules.max_agents} agents are running, and more are not allowed: stop one first")
        for agent in [agent for agent in self._agents.values() if agent.status not in _LIVING]:
            if len(self._agents) >= self._rules.max_agents:
                await self.stop(agent.id)

        self._begin()

        async def begin() -> HostedAgent:
            agent = HostedAgent(settings, cwd, self._rules.process_records, self._notebooks)
            agent.start()
            return agent

        agent = await on_loop(self.loop, begin)
        self._agents[agent.id] = agent
        return agent

    async def stop(self, agent_id: str) -> bool:
        """End an agent with all its processes, and forget it; tell whether there was one."""
        agent = self._agents.pop(agent_id, None)
        if agent is not None:
            await on_loop(self.loop, agent.stop)
        return agent is not None

    async def started(self, agent: HostedAgent, seconds: float) -> None:
        """Wait until an agent has started or has failed to, but not longer than some seconds."""

        async def wait() -> None:
            try:
                async with asyncio.timeout(seconds):
                    await agent.ready()
            except (TimeoutError, AcpError):
                pass  # its status says how far it is

        await on_loop(self.loop, wait)

    async def described(self) -> list[dict[str, Any]]:
        """Return what there is to tell of each agent."""
        agents = tuple(self._agents.values())

        async def describe() -> list[dict[str, Any]]:
            return [agent.described() for agent in agents]

        return await on_loop(self.loop, describe) if agents else []

    async def close(self) -> None:
        """End all agents, and start no more. May be called repeatedly."""
        self._closed = True
        async with self._starting:  # one that begins just now is ended, too
            pass
        if self._looking is not None:
            self._looking.cancel()
        await asyncio.gather(*(self.stop(agent_id) for agent_id in tuple(self._agents)))
        if self._thread is not None:
            await asyncio.to_thread(self._thread.stop)

    def _cwd(self, settings: AgentSettings, folder: str) -> str:
        if settings.session_cwd is not None:
            if folder:
                raise InvalidInput("where this agent works is in the server's configuration")
            return settings.session_cwd
        root = os.path.realpath(self._rules.root)
        cwd = os.path.realpath(os.path.join(root, *folder.split("/")))
        if os.path.commonpath([root, cwd]) != root or not os.path.isdir(cwd):
            raise InvalidInput("there is no such folder in the server's directory")
        return cwd

    def _begin(self) -> None:
        if self._looking is None:
            self._notebooks = self._open_notebooks()
            self._looking = asyncio.create_task(self._look(), name="acp_host idle agents")

    async def _look(self) -> None:
        """Again and again, tell the server of agents that work, and end those that are idle."""
        timeout = self._rules.idle_timeout
        pause = max(_SHORTEST_LOOK, min(_LONGEST_LOOK, timeout / _LOOKS_PER_TIMEOUT)) if timeout else _LONGEST_LOOK
        while True:
            await asyncio.sleep(pause)
            for told in await self.described():
                if told["busy"]:
                    self.used()
                elif timeout and told["idle"] >= timeout:
                    _logger.info("agent %s was idle for %g s and is ended", told["agent"], told["idle"])
                    await self.stop(told["id"])
