"""ACP v2 as the reference agent speaks it: :class:`EditionV2`, with the handshake of v2."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from acp_host.errors import InvalidParams
from acp_host.testing._edition import INFO, Edition, Methods
from acp_host.testing._features import reminder_capabilities
from acp_host.testing._hands import Hands
from acp_host.testing._speech import Speech
from acp_host.testing._states import States
from acp_host.testing.agent_session import AgentSession
from acp_host.testing.v2.hands import OwnHands
from acp_host.testing.v2.methods import SessionMethodsV2, TurnMethodsV2
from acp_host.testing.v2.speech import SpeechV2
from acp_host.testing.v2.states import StatesV2
from acp_host.wire.auth import AuthMethod
from acp_host.wire.capabilities import ClientCapabilities
from acp_host.wire.converters import structure_tolerant, unstructure
from acp_host.wire.initialize import InitializeRequest

if TYPE_CHECKING:
    from acp_host.testing._connection import Connection

__all__ = ["EditionV2"]

_ALWAYS: Mapping[str, Any] = {
    "session": {"notices": {}, "compaction": {}, "configOptions": {"boolean": {}}},
    "plan": {},
}
"""What every host takes in v2, in the words of v1."""
_OF_SESSIONS = ("delete", "additionalDirectories", "fork", "archive", "status", "title")
_OF_PROMPTS = ("image", "audio", "embeddedContext")


class EditionV2(Edition):
    """ACP v2."""

    version = 2
    required = frozenset({"session/load", "session/resume", "session/list", "session/close", "authenticate", "logout"})
    repeats = True
    cancels_calls = True

    def client(self, request: InitializeRequest) -> ClientCapabilities:
        said = request.extra or {}
        if not _is_info(said.get("info")) and request.protocol_version == self.version:
            raise InvalidParams("info must have a name and a version", data={"path": "$.params.info"})
        offered = said.get("capabilities")
        given = dict(offered) if isinstance(offered, Mapping) else {}
        auth = given.pop("auth", None)
        terminal = isinstance(auth, Mapping) and isinstance(auth.get("terminal"), Mapping)
        client: ClientCapabilities
        client, _ = structure_tolerant({**given, "auth": {"terminal": terminal}, **_ALWAYS}, ClientCapabilities)
        return client

    def answer(self, connection: Connection) -> dict[str, Any]:
        return {
            "protocolVersion": self.version,
            "info": unstructure(INFO),
            "capabilities": _capabilities(connection.agent.features),
            "authMethods": self.logins(connection.logins()),
        }

    def logins(self, methods: Sequence[AuthMethod]) -> list[Any]:
        return [_login(unstructure(method, AuthMethod)) for method in methods]

    def speech(self) -> Speech:
        return SpeechV2()

    def methods(self, connection: Connection) -> Sequence[Methods]:
        return SessionMethodsV2(connection), TurnMethodsV2(connection)

    def states(self, connection: Connection, session: AgentSession) -> States:
        return StatesV2(session, connection.side)

    def hands(self, connection: Connection, session: AgentSession) -> Hands:
        states = StatesV2(session, connection.side)
        return OwnHands(session, connection.side, states, connection.agent.number)


def _is_info(info: Any) -> bool:
    return isinstance(info, Mapping) and all(isinstance(info.get(name), str) for name in ("name", "version"))


def _capabilities(features: frozenset[str]) -> dict[str, Any]:
    session: dict[str, Any] = {name: {} for name in _OF_SESSIONS if name in features}
    session["prompt"] = {name: {} for name in _OF_PROMPTS if name in features}
    session["mcp"] = {"stdio": {}, "http": {}} | ({"acp": {}} if "mcp" in features else {})
    if "systemPrompt" in features:
        session["systemPrompt"] = {"mode": {"override": {}}}
    return {
        "session": session,
        "auth": {"status": {}} if "authStatus" in features else {},
        **({"providers": {}} if "providers" in features else {}),
        **reminder_capabilities(features),
    }


def _login(method: Mapping[str, Any]) -> dict[str, Any]:
    members = {"type": "agent", **method}
    return {"methodId": members.pop("id"), **members}
