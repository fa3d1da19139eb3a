"""The handshake of version 2: ``initialize``.

Owns the first request of a connection and its answer. How the two versions are told apart is the work of
:mod:`acp_host.protocol.versions`.

Specification: Initialization.
"""

from __future__ import annotations

from acp_host.wire._model import UNSET, JsonObject, Model, Unset, model, wire_field
from acp_host.wire.initialize import Implementation, ProtocolVersion
from acp_host.wire.v2.auth import AuthMethod
from acp_host.wire.v2.capabilities import AgentCapabilities, ClientCapabilities

__all__ = ["InitializeRequest", "InitializeResponse"]


@model
class InitializeRequest(Model):
    """Parameters of ``initialize``, the host's first request.

    Attributes:
        protocol_version: the newest version that the host speaks.
        info: which program the host is.
        capabilities: what the host offers; absent means nothing.
    """

    protocol_version: ProtocolVersion
    info: Implementation
    capabilities: ClientCapabilities | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class InitializeResponse(Model):
    """Result of ``initialize``.

    Attributes:
        protocol_version: the version to speak from here on: the newest of the agent's that is not above the host's.
        info: which program the agent is.
        capabilities: what the agent offers; absent means only what every agent must do.
        auth_methods: ways to sign in; absent or empty: there is no ``auth/login`` and no ``auth/logout``.
    """

    protocol_version: ProtocolVersion
    info: Implementation
    capabilities: AgentCapabilities | Unset = wire_field(default=UNSET, default_on_error=True)
    auth_methods: tuple[AuthMethod, ...] | Unset = wire_field(
        default=UNSET, default_on_error=True, skip_invalid_items=True
    )
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)
