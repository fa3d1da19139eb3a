"""An agent that hosts reach over a WebSocket: :func:`serve_websocket`.

For tests of programs that connect to agents elsewhere, and for the command ``acp-host agent --ws``. It listens on this
machine only unless the caller insists, and lets nobody in without the token, see :mod:`acp_host.testing.access`.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from http import HTTPStatus

from websockets.asyncio.server import ServerConnection, serve
from websockets.frames import CloseCode
from websockets.http11 import Request, Response

from acp_host.errors import InvalidInput
from acp_host.testing._websocket_host import HostOnWebSocket
from acp_host.testing.access import Access
from acp_host.testing.served_agent import ServedAgent, check_path
from acp_host.transports import Transport
from acp_host.transports.remote_options import MAX_SIZE
from acp_host.transports.serving_rules import Refusal, check_bind, path_in

__all__ = ["serve_websocket"]

_MOST_CONNECTIONS = 64
_LAST_STEPS = 3.0
"""Seconds that agents may take to end once their connections have."""

_log = logging.getLogger("acp_host.testing")

# The library logs requests with their tokens, and what is wrong with a request is told to who sent it.
_logger = logging.getLogger("acp_host.testing.websockets")
_logger.setLevel(logging.CRITICAL)


@asynccontextmanager
async def serve_websocket(
    agent: Callable[[Transport], Awaitable[int]],
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    path: str = "/acp",
    access: Access | None = None,
    allow_other_machines: bool = False,
    max_size: int = MAX_SIZE,
) -> AsyncIterator[ServedAgent]:
    """Serve an agent over WebSocket while the block runs. ::

        async with serve_websocket(ReferenceAgent().serve) as served:
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

    Raises:
        InvalidInput: other machines could connect, and that was not allowed; nothing can listen there; or the path is
            none.
    """
    check_path(path)
    check_bind(host, port, allow_other_machines=allow_other_machines)
    access = access or Access()
    door = _Door(agent, access, path)
    try:
        server = await serve(
            door.serve,
            host,
            port,
            process_request=door.refuse,
            process_response=door.name,
            compression=None,
            max_size=max_size,
            close_timeout=_LAST_STEPS,
            server_header=None,
            logger=_logger,
        )
    except OSError as error:
        raise InvalidInput(f"nothing can listen at {host}, port {port}: {error.strerror or error}") from error
    try:
        address, number = next(iter(server.sockets)).getsockname()[:2]  # a name may stand for several, each with a port
        yield ServedAgent.at("ws", address, number, path, access)
    finally:
        server.close()
        await door.close()
        await server.wait_closed()


class _Door:
    """Lets connections in, and has the agent serve them."""

    def __init__(self, agent: Callable[[Transport], Awaitable[int]], access: Access, path: str) -> None:
        self._agent = agent
        self._access = access
        self._path = path
        self._serving: set[asyncio.Task[None]] = set()

    def refuse(self, connection: ServerConnection, request: Request) -> Response | None:
        """Return the answer to a request that is not let in."""
        refusal = self._access.refusal(
            host=request.headers.get_all("Host"),
            origin=request.headers.get_all("Origin"),
            authorization=request.headers.get_all("Authorization"),
            target=request.path,
        )
        if refusal is None and path_in(request.path) != self._path:
            refusal = Refusal(HTTPStatus.NOT_FOUND, f"The agent is at {self._path}.")
        if refusal is None and len(self._serving) >= _MOST_CONNECTIONS:
            refusal = Refusal(HTTPStatus.SERVICE_UNAVAILABLE, "There are too many connections.")
        if refusal is None:
            return None
        response = connection.respond(refusal.status, f"{refusal.text}\n")
        response.headers.update(refusal.headers)
        return response

    @staticmethod
    def name(connection: ServerConnection, request: Request, response: Response) -> None:
        """Give a connection its name."""
        if response.status_code == HTTPStatus.SWITCHING_PROTOCOLS:
            response.headers["Acp-Connection-Id"] = str(uuid.uuid4())

    async def serve(self, connection: ServerConnection) -> None:
        """Have the agent serve a connection until its end."""
        task = asyncio.current_task()
        assert task is not None
        self._serving.add(task)
        host = HostOnWebSocket(connection)
        try:
            await self._agent(host)
        except Exception:
            _log.exception("an agent that is served failed")
            await connection.close(CloseCode.INTERNAL_ERROR, "the agent failed")
        finally:
            self._serving.discard(task)
            await host.close()

    async def close(self) -> None:
        """Wait until the agents have ended; cancel those that do not."""
        if self._serving:
            _, late = await asyncio.wait(self._serving, timeout=_LAST_STEPS)
            for task in late:
                task.cancel()
