"""A host's end of the Streamable HTTP of :mod:`tests.transports.http_server`: :class:`Client`, :func:`connected`."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any

from acp_host.diagnostics import Diagnostic
from acp_host.transports import RemoteOptions
from acp_host.transports.streamable_http import HttpTransport
from tests.transports.conftest import Recorder
from tests.transports.http_server import HttpServer


class Client(Recorder):
    """A host's end: it writes messages and remembers those that come."""

    def __init__(self, url: str, options: RemoteOptions | None = None) -> None:
        super().__init__()
        self.notes: list[Diagnostic] = []
        self.transport = HttpTransport(url, options, on_diagnostic=lambda diagnostic: self.note(diagnostic))

    def note(self, diagnostic: Diagnostic) -> None:
        self.notes.append(diagnostic)
        self._changed.set()

    @property
    def messages(self) -> list[Any]:
        return [json.loads(line) for line in self.data.splitlines()]

    def write(self, method: str | None = None, **members: Any) -> None:
        message = {"jsonrpc": "2.0", **({"method": method} if method else {}), **members}
        self.transport.write(json.dumps(message).encode() + b"\n")

    def prompt(self, number: int, session_id: str = "s") -> None:
        self.write("session/prompt", id=number, params={"sessionId": session_id})

    async def answer(self, number: int) -> Any:
        """Return the answer to a request."""
        await self.until(lambda: any(message.get("id") == number for message in self.messages))
        return next(message for message in self.messages if message.get("id") == number)

    async def notes_say(self, text: str) -> None:
        await self.until(lambda: any(text in note.message for note in self.notes))


@contextlib.asynccontextmanager
async def connected(server: HttpServer, options: RemoteOptions | None = None) -> AsyncIterator[Client]:
    """A client that has shaken hands, with the stream of the connection open."""
    client = Client(server.url, options)
    await client.transport.start(client)
    try:
        client.write("initialize", id=0, params={})
        await client.answer(0)
        yield client
    finally:
        await client.transport.close()


def update(text: str, session_id: str = "s") -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": session_id, "text": text}}


def result(number: int, **members: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "result": members}


def texts(client: Client) -> list[Any]:
    return [message["params"]["text"] if "params" in message else message["id"] for message in client.messages[1:]]
