"""What a page does with a feed's messages, as ``docs/feed.md`` says: :class:`Page`, :func:`page_over`."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import jsonpatch
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

from acp_host.ui.feed import Feed, Viewer

__all__ = ["Page", "page_over"]


class Page:
    """Keeps what it is told, and gives commands.

    Attributes:
        told: every message so far.
        states: the state of each session that it follows.
        versions: their versions.
        hello: the first message.
        viewer: gives its commands; set by :meth:`of`.

    Args:
        before: one that knew something earlier, and comes back as this one.
    """

    def __init__(self, before: Page | None = None) -> None:
        self.told: list[dict[str, Any]] = []
        self.states: dict[str, Any] = before.states if before else {}
        self.versions: dict[str, int] = before.versions if before else {}
        self.hello: dict[str, Any] = before.hello if before else {}
        self.latest: dict[str, dict[str, Any]] = {}
        self.diagnostics: list[dict[str, Any]] = []
        self.results: dict[int, dict[str, Any]] = {}
        self.viewer: Viewer
        self.give: Callable[[str], Awaitable[None]]
        self._ids = itertools.count(1)
        self._changed = asyncio.Event()

    @classmethod
    def of(cls, feed: Feed, *, may_control: bool = True, before: Page | None = None) -> Page:
        """Return a page that views a feed; ``before``: what an earlier one knew, which comes back."""
        page = cls(before)
        page.viewer = feed.join(page.take, may_control=may_control)
        page.give = page.viewer.receive
        return page

    async def take(self, data: bytes | str) -> None:
        """Take a message."""
        message = json.loads(data)
        self.told.append(message)
        match message["type"]:
            case "hello":
                self.hello = message
            case "snapshot":
                state = message["state"]
                entries = state["transcript"]["entries"]
                state["transcript"]["entries"] = [None] * message["omitted"] + entries
                self.states[message["session"]] = state
                self.versions[message["session"]] = message["version"]
            case "delta":
                assert message["from"] == self.versions[message["session"]]
                self.versions[message["session"]] = message["version"]
                for operation in message["ops"]:
                    if not self._leads_nowhere(self.states[message["session"]], operation["path"]):
                        jsonpatch.JsonPatch([operation]).apply(self.states[message["session"]], in_place=True)
            case "diagnostics":
                self.diagnostics += message["items"]
            case "result":
                self.results[message["id"]] = message
            case kind:
                self.latest[kind] = message
        self._changed.set()

    @staticmethod
    def _leads_nowhere(state: Any, path: str) -> bool:
        """Tell whether an operation is about an entry that was not fetched."""
        parts = path.split("/")[1:]
        if parts[:2] != ["transcript", "entries"] or len(parts) < 4 or parts[2] == "-":
            return False
        return state["transcript"]["entries"][int(parts[2])] is None

    async def until(self, check: Callable[[], Any]) -> Any:
        """Wait until something is so; return it."""
        async with asyncio.timeout(40):
            while not (found := check()):
                self._changed.clear()
                await self._changed.wait()
        return found

    async def send(self, command: str, **members: Any) -> int:
        """Give a command; return its id."""
        number = next(self._ids)
        await self.give(json.dumps({"id": number, "command": command, **members}))
        return number

    async def ask(self, command: str, **members: Any) -> dict[str, Any]:
        """Give a command; return its result."""
        number = await self.send(command, **members)
        result: dict[str, Any] = await self.until(lambda: self.results.get(number))
        return result

    async def do(self, command: str, **members: Any) -> Any:
        """Give a command that is done; return its value."""
        result = await self.ask(command, **members)
        assert result["ok"], result
        return result["value"]

    async def questions(self) -> list[dict[str, Any]]:
        """Wait for questions; return them."""
        items: list[dict[str, Any]] = await self.until(lambda: self.latest.get("questions", {}).get("items"))
        return items

    def texts(self, session: str) -> list[str]:
        """Return the texts of the messages of a session."""
        entries = self.states[session]["transcript"]["entries"]
        parts = [part for entry in entries if entry and entry["type"] == "message" for part in entry["parts"]]
        return ["".join(part["segments"]) for part in parts if part["type"] == "text"]


@asynccontextmanager
async def page_over(socket: ClientConnection, before: Page | None = None) -> AsyncIterator[Page]:
    """Yield a page at the other end of a WebSocket, which is closed behind it."""
    page = Page(before)
    page.give = socket.send

    async def read() -> None:
        with suppress(ConnectionClosed):
            async for message in socket:
                await page.take(message)

    reading = asyncio.create_task(read())
    try:
        yield page
    finally:
        await socket.close()
        await reading
