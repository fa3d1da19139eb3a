"""Chains of agents, run by a conductor: ``proxy/initialize`` and ``proxy/successor``. All of it unstable.

Owns the messages only; a host speaks to the first of a chain as to any agent.

Specification: Proxy Chains (draft).
"""

from __future__ import annotations

from typing import TypeAlias

from acp_host.wire._model import UNSET, Json, JsonObject, Model, Unset, model, wire_field
from acp_host.wire.initialize import InitializeRequest, InitializeResponse

__all__ = [
    "InitializeProxyRequest",
    "InitializeProxyResponse",
    "ProxySuccessorNotification",
    "ProxySuccessorRequest",
    "ProxySuccessorResponse",
]


@model
class InitializeProxyRequest(InitializeRequest):
    """Unstable. Parameters of ``proxy/initialize``: what ``initialize`` is to an agent that has others behind it."""


@model
class InitializeProxyResponse(InitializeResponse):
    """Unstable. Result of ``proxy/initialize``: what this proxy and those behind it offer together."""


@model
class ProxySuccessorRequest(Model):
    """Unstable. Parameters of the request ``proxy/successor``: a request to the next in the chain, or back from it.

    Attributes:
        method: of the request inside.
        params: of the request inside: an object or an array; absent or ``null`` means that it has none.
    """

    method: str
    params: Json = wire_field(default=UNSET)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


ProxySuccessorResponse: TypeAlias = Json
"""Unstable. Result of the request ``proxy/successor``: that of the request inside, unchanged."""


@model
class ProxySuccessorNotification(Model):
    """Unstable. Parameters of the notification ``proxy/successor``: the same for a notification.

    Attributes:
        method: of the notification inside.
        params: of the notification inside: an object or an array; absent or ``null`` means that it has none.
    """

    method: str
    params: Json = wire_field(default=UNSET)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)
