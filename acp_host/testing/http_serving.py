"""An agent that hosts reach over Streamable HTTP: :func:`serve_http`. Needs the extra ``acp-host[serve]``.

For tests of programs that connect to agents elsewhere, and for the command ``acp-host agent --http``. The server is
Hypercorn, which speaks HTTP/1.1 and HTTP/2; who is let in is decided as for WebSocket, see :mod:`.access`.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from acp_host.errors import InvalidInput
from acp_host.testing._http_endpoint import HttpEndpoint
from acp_host.testing.access import Access
from acp_host.testing.served_agent import ServedAgent, check_path
from acp_host.transports import Transport
from acp_host.transports.remote_options import MAX_SIZE
from acp_host.transports.serving_rules import check_bind

if TYPE_CHECKING:
    from hypercorn.config import Config

__all__ = ["serve_http"]

_LAST_STEPS = 3.0
"""Seconds that connections may take to end."""
_HANDSHAKE = 15.0
"""Seconds that TLS may take to begin."""

# What is wrong with a request is told to who sent it.
_logger = logging.getLogger("acp_host.testing.http")
_logger.setLevel(logging.CRITICAL)


@asynccontextmanager
async def serve_http(
    agent: Callable[[Transport], Awaitable[int]],
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    path: str = "/acp",
    access: Access | None = None,
    allow_other_machines: bool = False,
    max_size: int = MAX_SIZE,
    certificate: tuple[str | os.PathLike[str], str | os.PathLike[str]] | None = None,
) -> AsyncIterator[ServedAgent]:
    """Serve an agent over Streamable HTTP while the block runs. ::

        async with serve_http(ReferenceAgent().serve) as served:
            async with acp_host.connect(served.url, remote=RemoteOptions(bearer=served.token)) as connection:
                ...

    Every connection is one call of ``agent``; up to 64 may be open at once.

    Args:
        agent: serves one host over the transport that it is given, e.g. ``ReferenceAgent().serve``.
        host: name or address to listen at.
        port: port to listen at; 0 for a free one.
        path: path of the endpoint.
        access: who is let in; ``None``: who knows a random token.
        allow_other_machines: ``host`` may be one that other machines can reach.
        max_size: longest message that is read, in bytes.
        certificate: files with a certificate and its key, in PEM; with it the server speaks HTTPS, and HTTP/2 with
            clients that do. Without it, HTTP/2 is for those that begin with it.

    Raises:
        InvalidInput: other machines could connect, and that was not allowed; nothing can listen there; or the extra is
            not installed.
    """
    try:
        from hypercorn.asyncio import serve
    except ModuleNotFoundError:
        raise InvalidInput("serving over HTTP needs a package more: pip install 'acp-host[serve]'") from None
    check_bind(host, port, allow_other_machines=allow_other_machines)
    if certificate is not None:
        _check(*certificate)
    check_path(path)
    access = access or Access()
    endpoint = HttpEndpoint(agent, access, path, max_size)
    listener = _listener(host, port)
    served = ServedAgent.at("https" if certificate else "http", host, listener.getsockname()[1], path, access)
    stop = asyncio.Event()
    config = _config(listener, certificate)
    app: Any = endpoint
    serving = asyncio.create_task(serve(app, config, shutdown_trigger=stop.wait), name=f"serve {served.url}")
    try:
        yield served
    finally:
        await endpoint.close()
        stop.set()
        await asyncio.wait({serving}, timeout=2 * _LAST_STEPS)
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)


def _listener(host: str, port: int) -> socket.socket:
    try:
        family, *_, address = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[
            0
        ]
        return socket.create_server(address[:2], family=family, backlog=128)
    except OSError as error:
        raise InvalidInput(f"nothing can listen at {host}, port {port}: {error.strerror or error}") from error


def _check(certificate: str | os.PathLike[str], key: str | os.PathLike[str]) -> None:
    """Raise ``InvalidInput`` if two files are no certificate and its key."""
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key)
    except OSError as error:
        files = f"{os.fspath(certificate)} and {os.fspath(key)}"
        raise InvalidInput(f"{files} are no certificate and its key: {error.strerror or error}") from None


def _config(listener: socket.socket, certificate: tuple[Any, Any] | None) -> Config:
    from hypercorn.config import Config

    config = Config()
    config.bind = [f"fd://{listener.detach()}"]
    if certificate is not None:
        config.certfile, config.keyfile = map(os.fspath, certificate)
    return config
