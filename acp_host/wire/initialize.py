"""The handshake: ``initialize``, and who is talking.

Owns the first request of a connection and its answer. What the two sides offer each other is in
:mod:`acp_host.wire.capabilities`; what follows from both is the ``Agreement``'s work.

Specification: Initialization.
"""

from __future__ import annotations

from typing import TypeAlias

from acp_host.wire._model import UNSET, JsonObject, Model, UInt, Unset, model, wire_field
from acp_host.wire.auth import AuthMethod
from acp_host.wire.capabilities import AgentCapabilities, ClientCapabilities

__all__ = ["Implementation", "InitializeRequest", "InitializeResponse", "ProtocolVersion"]

ProtocolVersion: TypeAlias = UInt
"""The version of the protocol, 0 to 65535. It changes only when something breaks; the rest is a capability."""


@model
class Implementation(Model):
    """The name of a program at one end of the connection.

    Attributes:
        name: for programs; to be shown only where there is no title.
        title: for people.
        version: as the program writes it, e.g. ``1.0.0``; nothing says that it can be compared.
    """

    name: str
    version: str
    title: str | None | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class InitializeRequest(Model):
    """Parameters of ``initialize``, the host's first request.

    Attributes:
        protocol_version: the newest version that the host speaks.
        client_capabilities: what the host offers; absent means nothing.
        client_info: which program the host is. A later version of the protocol will require it.
    """

    protocol_version: ProtocolVersion
    client_capabilities: ClientCapabilities | Unset = wire_field(default=UNSET, default_on_error=True)
    client_info: Implementation | None | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class InitializeResponse(Model):
    """Result of ``initialize``.

    Attributes:
        protocol_version: the version to speak from here on: the host's, or else the newest that the agent knows. A host
            that does not speak it has to end the connection.
        agent_capabilities: what the agent offers; absent means only what every agent must do.
        auth_methods: ways to sign in; absent or empty means that there are none.
        agent_info: which program the agent is. A later version of the protocol will require it.
    """

    protocol_version: ProtocolVersion
    agent_capabilities: AgentCapabilities | Unset = wire_field(default=UNSET, default_on_error=True)
    auth_methods: tuple[AuthMethod, ...] | Unset = wire_field(
        default=UNSET, default_on_error=True, skip_invalid_items=True
    )
    agent_info: Implementation | None | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)
