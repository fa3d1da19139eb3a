"""What the requests that open a session share: :class:`SessionSetup`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import evolve, frozen

from acp_host.errors import InvalidInput
from acp_host.host.directories import Directories
from acp_host.host.session_origin import SessionOrigin
from acp_host.protocol.negotiation import Agreement
from acp_host.services.mcp import HostMcpServer
from acp_host.wire._model import UNSET
from acp_host.wire.content import TextContent
from acp_host.wire.mcp import McpServer, McpServerAcp, McpServerHttp, McpServerSse, McpServerStdio
from acp_host.wire.session import SystemPrompt, SystemPromptMode

__all__ = ["SessionSetup", "secrets_of", "session_setup"]

_MCP_NEEDS = {
    McpServerStdio: "session.mcp.stdio",
    McpServerHttp: "mcpCapabilities.http",
    McpServerSse: "mcpCapabilities.sse",
    McpServerAcp: "mcpCapabilities.acp",
    HostMcpServer: "mcpCapabilities.acp",
}
"""What an agent offers that takes such a server; one of version 1 always takes those that it starts itself."""


@frozen
class SessionSetup:
    """What is the same in every request that opens a session.

    Attributes:
        origin: what the application has asked for, with absolute directories.
        roots: the session's directories, ``cwd`` first; absolute.
        fields: the attributes of the request.
    """

    origin: SessionOrigin
    roots: list[str]
    fields: dict[str, Any]


def session_setup(
    origin: SessionOrigin,
    agreement: Agreement | None,
    lend: Callable[[HostMcpServer], McpServer],
    directories: Directories,
) -> SessionSetup:
    """Return what an application has asked for as parts of a request.

    Args:
        origin: what it has asked for.
        agreement: what it must be covered by; ``None`` to send what was not agreed, too.
        lend: returns how a server of this program is told to the agent.
        directories: checks the paths.

    Raises:
        NotSupported: the agent does not offer what it needs.
        InvalidInput: an argument is none that an agent could take.
    """
    _check_mcp_servers(origin.mcp_servers)
    if agreement is not None:
        _check_offered(agreement, origin.additional_directories, origin.mcp_servers, origin.system_prompt)
    roots = [directories.existing(origin.cwd), *map(directories.existing, origin.additional_directories)]
    servers = [lend(each) if isinstance(each, HostMcpServer) else each for each in origin.mcp_servers]
    return SessionSetup(
        evolve(origin, cwd=roots[0], additional_directories=tuple(roots[1:])),
        roots,
        {
            "cwd": roots[0],
            "mcp_servers": tuple(servers),
            "additional_directories": tuple(roots[1:]) or UNSET,
            "system_prompt": origin.system_prompt or UNSET,
            "meta": origin.meta or UNSET,
        },
    )


def _check_offered(
    agreement: Agreement,
    additional_directories: Sequence[str | Path],
    mcp_servers: Sequence[McpServer | HostMcpServer],
    system_prompt: SystemPrompt | None,
) -> None:
    if additional_directories:
        agreement.require_capability("sessionCapabilities.additionalDirectories", "additional directories")
    if system_prompt is not None:
        _check_system_prompt(system_prompt, agreement)
    for capability in {_MCP_NEEDS[type(server)] for server in mcp_servers if type(server) in _MCP_NEEDS}:
        agreement.require_capability(capability, "MCP servers of this kind")


def _check_mcp_servers(servers: object) -> None:
    """Raise ``InvalidInput`` unless these can be servers; what is wrong within one is told where it is encoded."""
    if not isinstance(servers, Sequence) or isinstance(servers, str):
        raise InvalidInput(f"mcp_servers is a list of servers, not {type(servers).__name__}")
    for server in servers:
        if server is not None and not isinstance(server, HostMcpServer | McpServer | Mapping):
            raise InvalidInput(
                f"mcp_servers takes servers of acp_host.wire.mcp, not {type(server).__name__};"
                " wrap a server or function of this program: HostMcpServer(…)"
            )


def _check_system_prompt(prompt: SystemPrompt, agreement: Agreement) -> None:
    """Raise ``NotSupported`` or ``InvalidInput`` unless the agent takes a system prompt."""
    agreement.require_capability("sessionCapabilities.systemPrompt", "a system prompt")
    if prompt.mode == SystemPromptMode.OVERRIDE:
        capability = "sessionCapabilities.systemPrompt.mode.override"
        agreement.require_capability(capability, "a system prompt in place of its own")
    if not prompt.content or not all(isinstance(block, TextContent) for block in prompt.content):
        raise InvalidInput("a system prompt consists of text blocks, at least one")


def secrets_of(server: McpServer | HostMcpServer) -> list[str]:
    """Return what must not be shown of an MCP server: the values of its environment or headers."""
    named = getattr(server, "env", None) or getattr(server, "headers", None) or ()
    values = [getattr(variable, "value", None) for variable in (named if isinstance(named, Sequence) else ())]
    return [value for value in values if isinstance(value, str)]  # the others are refused before they are sent
