"""MCP servers for the agent to use, as version 2 describes them. ``mcp/message`` is as in version 1.

Specification: Session Setup, MCP Servers.
"""

from __future__ import annotations

from typing import TypeAlias

from acp_host.wire._model import UNSET, JsonObject, Model, Unset, model, wire_field
from acp_host.wire._unions import tagged_union
from acp_host.wire.mcp import HttpHeader, McpServerAcp, UnknownMcpServer
from acp_host.wire.terminals import EnvVariable
from acp_host.wire.v2.content import AbsolutePath

__all__ = ["McpServer", "McpServerHttp", "McpServerStdio"]


@model
class McpServerHttp(Model):
    """A server that is reached over HTTP; only for agents with that capability.

    Attributes:
        name: for people.
    """

    name: str
    url: str
    headers: tuple[HttpHeader, ...] | Unset = wire_field(default=UNSET, default_on_null=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class McpServerStdio(Model):
    """A server that the agent starts as a process; only for agents with that capability.

    Attributes:
        name: for people.
        env: set on top of the environment that the agent gives to it.
    """

    name: str
    command: AbsolutePath
    args: tuple[str, ...] | Unset = wire_field(default=UNSET, default_on_null=True)
    env: tuple[EnvVariable, ...] | Unset = wire_field(default=UNSET, default_on_null=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


McpServer: TypeAlias = McpServerHttp | McpServerAcp | McpServerStdio | UnknownMcpServer
"""A server for the agent to connect to, told apart by ``type``."""

tagged_union(
    "McpServer",
    tag="type",
    variants={"http": McpServerHttp, "acp": McpServerAcp, "stdio": McpServerStdio},
    unknown=UnknownMcpServer,
)
