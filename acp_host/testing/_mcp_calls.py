"""How the reference agent calls the MCP servers of its host: :class:`McpCalls`, MCP inside ``mcp/message``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from acp_host._version import __version__
from acp_host.errors import RequestFailed
from acp_host.testing.agent_side import Handler
from acp_host.wire._model import UNSET
from acp_host.wire.mcp import McpError, MessageMcpNotification, MessageMcpRequest, MessageMcpResponse

if TYPE_CHECKING:
    from acp_host.testing._connection import Connection

__all__ = ["McpCalls", "McpNotified"]

McpNotified = Callable[[str, Mapping[str, Any]], None]
"""Takes a notification of the server: its method and parameters."""

_ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "acp-host-reference-agent", "version": __version__},
    "io.modelcontextprotocol/clientCapabilities": {},
}
"""What every request of this version of MCP carries, which has no handshake."""


class McpCalls:
    """The requests of one connection to servers of the host."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._open: dict[str, McpNotified] = {}

    def handlers(self) -> dict[str, Handler]:
        """Return the handlers by wire method."""
        return {"mcp/message": self.notified}

    def notified(self, notification: MessageMcpNotification) -> None:
        """Take what a server says about a request that is open."""
        told = self._open.get(notification.request_id)
        if told is not None:
            told(notification.method, notification.params or {})

    async def request(self, server_id: str, method: str, params: Mapping[str, Any], told: McpNotified) -> Any:
        """Return a server's result.

        Args:
            server_id: the server.
            method: MCP's method.
            params: its parameters; what the version of MCP asks for is added.
            told: called with each notification that belongs to the request.

        Raises:
            RequestFailed: the server, or the host, answered with an error.
        """
        request_id = self._connection.agent.number("mcp-request")
        given = {**params, "_meta": {**_ENVELOPE, "progressToken": request_id, **params.get("_meta", {})}}
        self._open[request_id] = told
        try:
            answer: MessageMcpResponse = await self._connection.side.request(
                "mcp/message", MessageMcpRequest(server_id, request_id, method, given)
            )
        finally:
            del self._open[request_id]
        if answer.result is UNSET and isinstance(answer.error, McpError):
            error = answer.error
            raise RequestFailed(error.message, code=error.code, data=error.data or None)
        return answer.result
