"""MCP servers for the agent to use, and messages to those that the host provides itself: ``mcp/message``.

Owns how a server is described and the envelope of its messages. The messages inside are MCP's, opaque here.

Specification: Session Setup, MCP Servers.
"""

from __future__ import annotations

from typing import TypeAlias

from acp_host.wire._model import UNSET, Json, JsonObject, Model, Unknown, Unset, model, wire_field
from acp_host.wire._unions import tagged_union
from acp_host.wire.ids import McpRequestId, McpServerAcpId
from acp_host.wire.terminals import EnvVariable

__all__ = [
    "HttpHeader",
    "McpError",
    "McpServer",
    "McpServerAcp",
    "McpServerHttp",
    "McpServerSse",
    "McpServerStdio",
    "MessageMcpNotification",
    "MessageMcpRequest",
    "MessageMcpResponse",
    "UnknownMcpServer",
]


@model
class HttpHeader(Model):
    """A header to send with every request to the server."""

    name: str
    value: str = wire_field(secret=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class McpServerHttp(Model):
    """A server that is reached over HTTP; only for agents with that capability.

    Attributes:
        name: for people.
    """

    name: str
    url: str
    headers: tuple[HttpHeader, ...] = wire_field(default_on_null=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class McpServerSse(Model):
    """A server that is reached over HTTP with server-sent events; only for agents with that capability.

    Attributes:
        name: for people.
    """

    name: str
    url: str
    headers: tuple[HttpHeader, ...] = wire_field(default_on_null=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class McpServerAcp(Model):
    """Unstable. A server that is reached through this connection; only for agents with that capability.

    Attributes:
        name: for people.
        server_id: chosen by whoever provides the server, and no other server's on this connection.
    """

    name: str
    server_id: McpServerAcpId
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class McpServerStdio(Model):
    """A server that the agent starts as a process; every agent can. It is the one kind that has no ``type``.

    Attributes:
        name: for people.
        command: absolute path of the program.
        env: set on top of the environment that the agent gives to it.
    """

    name: str
    command: str
    args: tuple[str, ...] = wire_field(default_on_null=True)
    env: tuple[EnvVariable, ...] = wire_field(default_on_null=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class UnknownMcpServer(Unknown):
    """A server that is reached in a way that this version does not know."""


McpServer: TypeAlias = McpServerHttp | McpServerSse | McpServerAcp | McpServerStdio | UnknownMcpServer
"""A server for the agent to connect to, told apart by ``type``; without one it is a process to start."""

tagged_union(
    "McpServer",
    tag="type",
    variants={"http": McpServerHttp, "sse": McpServerSse, "acp": McpServerAcp},
    unknown=UnknownMcpServer,
    default=McpServerStdio,
)


@model
class MessageMcpRequest(Model):
    """Unstable. Parameters of the request ``mcp/message``: a request from the agent to a server that the host provides.

    Attributes:
        request_id: the agent's name for the exchange inside; not the id of the request around it.
        method: MCP's method.
        params: its parameters; absent or ``null`` means that it has none.
    """

    server_id: McpServerAcpId
    request_id: McpRequestId
    method: str
    params: JsonObject | None | Unset = wire_field(default=UNSET)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class McpError(Model):
    """Unstable. An error of the server; a failure to reach it is an error of the request around it instead.

    Attributes:
        code: MCP's, not one of the protocol's codes.
    """

    code: int
    message: str
    data: Json = wire_field(default=UNSET)


@model
class MessageMcpResponse(Model):
    """Unstable. Result of the request ``mcp/message``: what the server answered, exactly one of the two.

    Attributes:
        result: any JSON, ``null`` included. Where both are there, this one counts.
        error: the server's error.
    """

    result: Json = wire_field(default=UNSET)
    error: McpError | Unset = wire_field(default=UNSET)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class MessageMcpNotification(Model):
    """Unstable. Parameters of the notification ``mcp/message``: from a server of the host to the agent.

    Attributes:
        request_id: the open exchange that it belongs to, as the agent named it.
        method: MCP's method.
        params: its parameters; absent or ``null`` means that it has none.
    """

    server_id: McpServerAcpId
    request_id: McpRequestId
    method: str
    params: JsonObject | None | Unset = wire_field(default=UNSET)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)
