"""How the Harn-like agent lets clients attach to a session: :class:`LiveClientMethods`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from acp_host.errors import InvalidParams
from acp_host.testing.agent_side import Handler
from acp_host.testing.harn._frames import named
from acp_host.testing.harn._live_clients import CONTROLLER, OBSERVER
from acp_host.testing.harn._params import text_member
from acp_host.testing.harn._session import HarnSession

if TYPE_CHECKING:
    from acp_host.testing.harn._connection import Connection

__all__ = ["LiveClientMethods"]


class LiveClientMethods:
    """Attach, takeover, detach and heartbeat, each told by an update before it is answered."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._agent = connection.agent

    def handlers(self) -> dict[str, Handler]:
        """Return the handlers by wire method; all of them act at once while a prompt runs."""
        return {
            "session/attach": self.attach,
            "session/takeover": self.takeover,
            "session/detach": self.detach,
            "session/heartbeat": self.heartbeat,
            "session/live_clients": self.list,
        }

    def attach(self, params: Any) -> dict[str, Any]:
        """Attach a client as an observer or as the controller."""
        mode = params.get("mode", OBSERVER)
        controls = mode == CONTROLLER
        return self._attach(
            params,
            "attached",
            mode,
            takeover=params.get("takeover") is True,
            prompt_injection=params.get("promptInjection", params.get("prompt_injection", controls)),
            permission_routing=params.get("permissionRouting", params.get("permission_routing", controls)),
        )

    def takeover(self, params: Any) -> dict[str, Any]:
        """Attach a client as the controller, whoever controls the session."""
        rights = {"takeover": True, "prompt_injection": True, "permission_routing": True}
        return self._attach(params, "takeover", CONTROLLER, **rights)

    def detach(self, params: Any) -> dict[str, Any]:
        """Remove a client."""
        session = self._session(params)
        return self._tell(session, "detached", session.clients.detach(_client_id(params)))

    def heartbeat(self, params: Any) -> dict[str, Any]:
        """Note that a client is alive."""
        session = self._session(params)
        now = self._agent.now()
        return self._tell(session, "heartbeat", session.clients.heartbeat(_client_id(params), _metadata(params), now))

    def list(self, params: Any) -> dict[str, Any]:
        """Return the clients of a session."""
        return {"object": "list", "data": self._session(params).clients.to_wire()}

    def _attach(self, params: Any, action: str, mode: str, **rights: bool) -> dict[str, Any]:
        session, client_id, now = self._session(params), _client_id(params), self._agent.now()
        state = session.clients.attach(client_id, mode, now, metadata=_metadata(params), **rights)
        return self._tell(session, action, state)

    def _tell(self, session: HarnSession, action: str, state: dict[str, Any]) -> dict[str, Any]:
        update = named("live_session_client", action=action, state=state)
        for connection in self._agent.connections:
            if connection is self._connection or connection in session.readers:
                connection.side.notify("session/update", {"sessionId": session.id, "update": update})
        return state

    def _session(self, params: Any) -> HarnSession:
        session_id = text_member(params, "sessionId")
        session = self._agent.sessions.get(session_id)
        if session is None:
            raise InvalidParams(f"unknown session: {session_id}")
        return session


def _client_id(params: Any) -> str:
    return text_member(params, "clientId", "client_id")


def _metadata(params: Mapping[str, Any]) -> Mapping[str, Any]:
    meta = params.get("_meta")
    harn = meta.get("harn") if isinstance(meta, Mapping) else None
    told = params.get("metadata", harn)
    return told if isinstance(told, Mapping) else {}
