"""Bad agents at the other end of a WebSocket: they do what a test says, frame by frame."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Any

from attrs import field, frozen
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from tests.chaos.bad_agents import DONE

__all__ = ["Line", "Place", "elsewhere"]

WORKSPACE = "/workspace"


class Line:
    """A connection of a host, as the agent has it."""

    def __init__(self, socket: ServerConnection) -> None:
        self.socket = socket
        self.answers: list[dict[str, Any]] = []

    async def send(self, message: dict[str, Any], **layout: Any) -> None:
        await self.socket.send(json.dumps({"jsonrpc": "2.0", **message}, **layout))

    async def say(self, text: str, **layout: Any) -> None:
        update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
        await self.send({"method": "session/update", "params": {"sessionId": "s-1", "update": update}}, **layout)

    async def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Send a request and return the host's whole answer."""
        await self.send({"id": method, "method": method, "params": params})
        return json.loads(await self.socket.recv())

    async def done(self, prompt: dict[str, Any]) -> None:
        await self.send({"id": prompt["id"], "result": DONE})


Turn = Callable[[Line, dict[str, Any]], Awaitable[Any]]


@frozen
class Place:
    """Where the agent is.

    Attributes:
        url: its URL.
        requests: the upgrades that it was asked for.
        lines: its connections.
        initialized: how often it was asked to ``initialize``.
    """

    url: str
    requests: list[Request] = field(factory=list)
    lines: list[Line] = field(factory=list)
    initialized: list[dict[str, Any]] = field(factory=list)


@asynccontextmanager
async def elsewhere(
    turn: Turn = Line.done,
    *,
    refuses: Callable[[Request], tuple[int, Mapping[str, str], str] | None] = lambda _: None,
    headers: Mapping[str, str] | None = None,
    answers_initialize: bool = True,
    greets: Callable[[Line], Awaitable[Any]] | None = None,
    **options: Any,
) -> AsyncIterator[Place]:
    """Serve an agent.

    Args:
        turn: what it does with a prompt.
        refuses: returns status, headers and body where it does not upgrade.
        headers: of its upgrades.
        answers_initialize: whether it shakes hands.
        greets: what it does with a connection before it reads.
        options: for the library.
    """
    place = Place("")

    async def handler(socket: ServerConnection) -> None:
        line = Line(socket)
        place.lines.append(line)
        try:
            if greets is not None:
                await greets(line)
            async for frame in socket:
                message = json.loads(frame)
                match message.get("method"):
                    case "initialize":
                        place.initialized.append(message)
                        if answers_initialize:
                            agreed = {"protocolVersion": 1, "agentCapabilities": {"loadSession": True}}
                            await line.send({"id": message["id"], "result": agreed})
                    case "session/new":
                        await line.send({"id": message["id"], "result": {"sessionId": "s-1"}})
                    case "session/prompt":
                        await turn(line, message)
        except ConnectionClosed:
            pass

    def ask(socket: ServerConnection, request: Request) -> Response | None:
        place.requests.append(request)
        refused = refuses(request)
        if refused is None:
            return None
        status, more, body = refused
        response = socket.respond(HTTPStatus(status), body)
        response.headers.update(more)
        return response

    def add(socket: ServerConnection, request: Request, response: Response) -> None:
        response.headers.update(headers or {})

    options.setdefault("compression", None)
    async with serve(
        handler, "127.0.0.1", 0, process_request=ask, process_response=add, close_timeout=1, **options
    ) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        place = Place(f"ws://127.0.0.1:{port}/acp", place.requests, place.lines, place.initialized)
        yield place
