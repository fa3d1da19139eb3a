"""What a browser does, as far as it matters to a server: :class:`Browser`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from attrs import define, field
from websockets.asyncio.client import connect

from acp_host.ui.serve import ServedFeed
from tests.ui.pages import Page, page_over

__all__ = ["Answer", "Browser", "get"]


@define
class Answer:
    """An answer to a request."""

    status: int
    headers: dict[str, str]
    body: str


async def get(port: int, target: str, headers: dict[str, str] | None = None) -> Answer:
    """Send a request as it is given, with exactly these headers, and return the answer."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    lines = [f"GET {target} HTTP/1.1", *(f"{name}: {value}" for name, value in (headers or {}).items())]
    writer.write(("\r\n".join(lines) + "\r\n\r\n").encode())
    data = await reader.read()
    writer.close()
    await writer.wait_closed()
    head, _, body = data.partition(b"\r\n\r\n")
    first, *rest = head.decode().split("\r\n")
    pairs = [line.partition(": ") for line in rest]
    return Answer(int(first.split()[1]), {name.lower(): value for name, _, value in pairs}, body.decode())


@define
class Browser:
    """Keeps the cookie of one server."""

    served: ServedFeed
    headers: dict[str, str] = field(factory=dict)

    @property
    def host(self) -> str:
        """What it calls the server."""
        return f"127.0.0.1:{self.served.port}"

    async def get(self, target: str, **more: str) -> Answer:
        """Load something."""
        return await get(self.served.port, target, {"Host": self.host, **self.headers, **more})

    async def open(self, url: str = "") -> Answer:
        """Open the page as a user does by its URL, and follow where it leads."""
        target = (url or self.served.url).partition(self.host)[2]
        answer = await self.get(target)
        if "set-cookie" in answer.headers:
            self.headers["Cookie"] = answer.headers["set-cookie"].partition(";")[0]
        return await self.get(answer.headers["location"]) if answer.status == 303 else answer

    @asynccontextmanager
    async def page(self, before: Page | None = None, **options: Any) -> AsyncIterator[Page]:
        """Open the feed as the page does."""
        headers = {**self.headers, **options.pop("headers", {})}
        options = {"origin": f"http://{self.host}", "compression": None, "max_size": None, **options}
        async with (
            connect(f"ws://{self.host}/feed", additional_headers=headers, proxy=None, **options) as socket,
            page_over(socket, before) as page,
        ):
            yield page
