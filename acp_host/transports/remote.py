"""Chooses the transport to an agent elsewhere by its URL: :func:`remote_transport`."""

from __future__ import annotations

from collections.abc import Callable

from acp_host.diagnostics import Diagnostic
from acp_host.errors import InvalidInput
from acp_host.transports._base import Transport
from acp_host.transports.remote_address import RemoteAddress
from acp_host.transports.remote_options import RemoteOptions

__all__ = ["remote_transport"]


def remote_transport(
    url: str, options: RemoteOptions | None = None, *, on_diagnostic: Callable[[Diagnostic], None] | None = None
) -> Transport:
    """Return a transport to the agent at a URL, not started yet.

    Args:
        url: ``ws://…`` or ``wss://…`` for WebSocket, ``http://…`` or ``https://…`` for Streamable HTTP.
        options: how to get there.
        on_diagnostic: called with what went otherwise than it should but is no error.

    Raises:
        InvalidInput: no agent can be reached at such a URL, or not without a package that is not installed.
    """
    address, options = RemoteAddress.of(url), options or RemoteOptions()
    if address.scheme in ("ws", "wss"):
        from acp_host.transports.websocket import WebSocketTransport  # a plain script does not load the library

        return WebSocketTransport(url, options, on_diagnostic=on_diagnostic)
    try:
        from acp_host.transports.streamable_http import HttpTransport
    except ModuleNotFoundError as error:
        raise InvalidInput(f"agents at http:// and https:// cannot be reached: {error}") from None
    return HttpTransport(url, options, on_diagnostic=on_diagnostic)
