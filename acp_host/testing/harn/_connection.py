"""One connection of the Harn-like agent: :class:`Connection`, which puts the handlers of all methods together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acp_host._version import __version__
from acp_host.errors import RequestFailed
from acp_host.testing.agent_side import AgentSide, Handler
from acp_host.testing.harn._capabilities import agent_capabilities
from acp_host.testing.harn._history_methods import HistoryMethods
from acp_host.testing.harn._host import Host
from acp_host.testing.harn._injection_methods import InjectionMethods
from acp_host.testing.harn._live_client_methods import LiveClientMethods
from acp_host.testing.harn._params import text_member
from acp_host.testing.harn._prompt_methods import PromptMethods
from acp_host.testing.harn._queue import PromptQueue
from acp_host.testing.harn._session import HarnSession
from acp_host.testing.harn._session_methods import SessionMethods
from acp_host.transports import Transport

if TYPE_CHECKING:
    from acp_host.testing.harn.agent import HarnAgent

__all__ = ["Connection"]


class Connection:
    """The Harn-like agent as one host sees it.

    Attributes:
        agent: what all connections share.
        queue: what waits behind the prompt that runs.
        side: the typed connection.
        host: the way to the host, in Harn's forms.
    """

    def __init__(self, agent: HarnAgent) -> None:
        self.agent = agent
        self.queue = PromptQueue()
        parts = (
            SessionMethods(self),
            PromptMethods(self),
            InjectionMethods(self),
            LiveClientMethods(self),
            HistoryMethods(self),
        )
        handlers = {name: handler for part in parts for name, handler in part.handlers().items()}
        self.side = AgentSide({"initialize": self.initialize, **handlers})
        self.host = Host(side=self.side, number=agent.number, delay=agent.delay, old_form=agent.old_form)

    async def serve(self, transport: Transport) -> int:
        """Serve the host until the connection ends, and give up its sessions."""
        self.agent.connections.append(self)
        try:
            return await self.side.serve(transport)
        finally:
            self.agent.connections.remove(self)
            for session in self.agent.sessions.values():
                session.readers.discard(self)

    def of_the_bridge(self, handle: Handler) -> Handler:
        """Return a handler of what an agent of the bridge does at once, and another one behind the prompt that runs."""
        return handle if self.agent.bridge else self.queue.behind(handle)

    def session_of(self, params: Any) -> HarnSession:
        """Return the session that parameters name.

        Raises:
            InvalidParams: they name none.
            RequestFailed: there is no such session.
        """
        session_id = text_member(params, "sessionId")
        session = self.agent.sessions.get(session_id)
        if session is None:
            raise RequestFailed(f"Session not found: {session_id}", code=-32004)
        return session

    def initialize(self, request: Any) -> dict[str, Any]:
        """Shake hands."""
        capabilities = agent_capabilities(inject_modes=self.agent.inject_modes, reminders=not self.agent.bridge)
        return {
            "protocolVersion": 1,
            "agentInfo": {"name": "harn", "version": __version__},
            "authMethods": [],
            "agentCapabilities": capabilities,
        }
