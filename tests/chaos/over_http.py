"""Bad agents behind Streamable HTTP: what a test does not say, they do as the text of the transport has it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from tests.chaos.bad_agents import DONE
from tests.transports.http_server import CONNECTION_ID, Exchange, HttpServer, serve

__all__ = ["WORKSPACE", "HttpAgent", "over_http"]

WORKSPACE = "/workspace"
_AGREED = {"protocolVersion": 1, "agentCapabilities": {"loadSession": True}}

Turn = Callable[["HttpAgent", Any], Awaitable[Any]]
Handler = Callable[[Exchange], Awaitable[bool]]


class HttpAgent:
    """An agent and its server.

    Attributes:
        server: the server; it sees every request.
        spoils: looks at each request first; tells whether it has dealt with it.
    """

    def __init__(self, server: HttpServer, turn: Turn) -> None:
        self.server = server
        self.spoils: Handler = self._leave
        self._turn = turn
        self._tasks: list[asyncio.Task[Any]] = []
        server.on = self._take

    @staticmethod
    def update(text: str) -> dict[str, Any]:
        """An update that says something."""
        update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
        return {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s-1", "update": update}}

    async def stream(self, after: Exchange | None = None) -> Exchange:
        """The stream of the session."""
        return await self.server.stream("s-1", after=after)

    async def say(self, text: str) -> None:
        await (await self.stream()).event(self.update(text))

    async def done(self, prompt: Any) -> None:
        await (await self.stream()).event(self.answer(prompt, DONE))

    @staticmethod
    def answer(request: Any, result: Any) -> dict[str, Any]:
        return {"jsonrpc": "2.0", "id": request["id"], "result": result}

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _take(self, exchange: Exchange) -> bool:
        if await self.spoils(exchange):
            return True
        match exchange.method:
            case "initialize":
                body = json.dumps(self.answer(exchange.message, _AGREED))
                await exchange.answer(200, body, Acp_Connection_Id=CONNECTION_ID)
            case "session/new":
                await exchange.answer(202)
                await (await self.server.stream()).event(self.answer(exchange.message, {"sessionId": "s-1"}))
            case "session/prompt":
                await exchange.answer(202)
                self._tasks.append(asyncio.create_task(self._turn(self, exchange.message)))
            case _:
                return False
        return True

    @staticmethod
    async def _leave(exchange: Exchange) -> bool:
        return False


@asynccontextmanager
async def over_http(turn: Turn = HttpAgent.done, spoils: Handler | None = None) -> AsyncIterator[HttpAgent]:
    """Serve an agent.

    Args:
        turn: what it does with a prompt, after it has accepted it.
        spoils: see :class:`HttpAgent`.
    """
    async with serve() as server:
        agent = HttpAgent(server, turn)
        if spoils is not None:
            agent.spoils = spoils
        try:
            yield agent
        finally:
            await agent.close()
