"""One connection of the reference agent: :class:`Connection`, which puts the handlers of all methods together."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from acp_host.errors import AuthRequired, InvalidRequest, ResourceNotFound
from acp_host.testing._account_methods import LOGINS, AccountMethods
from acp_host.testing._edition import Edition, negotiated
from acp_host.testing._features import FEATURES, offered
from acp_host.testing._mcp_calls import McpCalls
from acp_host.testing._reminder_desk import ReminderDesk
from acp_host.testing._reminder_methods import ReminderMethods
from acp_host.testing._voice import TurnContext
from acp_host.testing.agent_session import AgentSession
from acp_host.testing.agent_side import AgentSide, Handler
from acp_host.transports import Transport
from acp_host.wire.auth import AuthMethod
from acp_host.wire.capabilities import ClientCapabilities
from acp_host.wire.initialize import InitializeRequest

if TYPE_CHECKING:
    from acp_host.testing.reference import ReferenceAgent

__all__ = ["Connection"]


class Connection:
    """The reference agent as one host sees it.

    Attributes:
        agent: what all connections share.
        edition: the version of the protocol that was agreed.
        side: the way to the host.
        client: what the host offers.
        desk: the reminders of its sessions.
        mcp: its requests to MCP servers of the host.
    """

    def __init__(self, agent: ReferenceAgent) -> None:
        self.agent = agent
        self.client = ClientCapabilities()
        self.edition = agent.editions[0]
        self.desk = ReminderDesk(self)
        self.mcp = McpCalls(self)
        self._initialized = False
        self._used = False
        self.side = AgentSide(self._handlers())
        self.side.speech = self.edition.speech()

    def _handlers(self) -> dict[str, Handler]:
        """Return the handlers of the agreed version, without those of features that are not offered."""
        edition, features = self.edition, self.agent.features
        handlers: dict[str, Handler] = {}
        for part in (AccountMethods(self), *edition.methods(self), ReminderMethods(self), self.mcp):
            handlers |= part.handlers()
        absent = {method for name, feature in FEATURES.items() if name not in features for method in feature.methods}
        served = {
            name: self._once_initialized(handler)
            for name, handler in handlers.items()
            if name not in absent - edition.required
        }
        return {"initialize": self.initialize, **served}

    async def serve(self, host: Transport) -> int:
        """Serve the host until the connection ends, and give up its sessions."""
        try:
            return await self.side.serve(host)
        finally:
            for session in self.agent.sessions.values():
                if session.reader is self:
                    session.reader = None

    def offers(self, capability: str) -> bool:
        """Tell whether the host offers a capability, by its wire path from ``clientCapabilities``."""
        return offered(self.client, capability)

    def initialize(self, request: InitializeRequest) -> Any:
        """Shake hands, and speak the agreed version from here on."""
        edition = negotiated(request.protocol_version, self.agent.editions)
        if self._initialized:
            self._check_repeat(edition)
        self.client = edition.client(request)
        self._initialized = True
        self.edition = edition
        self.side.speech = edition.speech()
        self.side.handlers = self._handlers()
        return edition.answer(self)

    def _check_repeat(self, edition: Edition) -> None:
        if self._used or not (self.edition.repeats or "initialize_again" in self.agent.features):
            raise InvalidRequest("initialize was sent before")
        if edition is not self.edition:
            raise InvalidRequest(f"initialize was sent before, and version {self.edition.version} was agreed")

    def turn_context(self, session: AgentSession) -> TurnContext:
        """Return what a turn in a session needs."""
        return TurnContext(
            side=self.side,
            client=self.client,
            desk=self.desk,
            mcp=self.mcp,
            hands=self.edition.hands(self, session),
            states=self.edition.states(self, session),
            cancels_calls=self.edition.cancels_calls,
            number=self.agent.number,
            delay=self.agent.delay,
        )

    def require_login(self) -> None:
        """Refuse what only a logged-in user may do.

        Raises:
            AuthRequired: nobody is logged in, and that matters.
        """
        if self.agent.require_auth and not self.agent.logged_in:
            methods = self.edition.logins(self.logins())
            raise AuthRequired("Authentication required", data={"authMethods": methods})

    def logins(self) -> tuple[AuthMethod, ...]:
        """Return the ways to log in that the host is told of; one in a terminal only if it has any."""
        if not self.agent.require_auth:
            return ()
        told = [
            kind for kind in self.agent.logins if kind != "terminal" or self.offers("clientCapabilities.auth.terminal")
        ]
        return tuple([LOGINS[kind] for kind in told])

    def open_session(self, session_id: str) -> AgentSession:
        """Return a session that is open on this connection.

        Raises:
            ResourceNotFound: it is not.
        """
        session = self.agent.sessions.get(session_id)
        if session is None or session.reader is not self:
            raise ResourceNotFound(f"the session {session_id} is not open here", data={"sessionId": session_id})
        return session

    def _once_initialized(self, handler: Handler) -> Callable[[Any], Any]:
        def handle(params: Any) -> Any:
            if not self._initialized:
                raise InvalidRequest("initialize comes first")
            self._used = True
            return handler(params)

        return handle
