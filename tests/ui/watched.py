"""The page in a browser, fed by a connection to an agent: :func:`watched`.

There is no server: what the browser asks for is answered here, and its WebSocket ends here.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.async_api import Browser, BrowserContext, ConsoleMessage, Locator, Page, Route, WebSocketRoute

import acp_host
from acp_host import ElicitationQueue, PermissionQueue
from acp_host.host.connection import HostConnection
from acp_host.host.session import Session
from acp_host.testing import ReferenceAgent
from acp_host.ui import feed as feed_package
from acp_host.ui.feed import Feed

STATIC = Path(feed_package.__file__).parents[1] / "static"
ORIGIN = "http://page.test"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types dompurify"
)
"""The strictest policy under which the page works."""
_TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css"}


class Watched:
    """A page, and what it shows.

    Attributes:
        page: the browser's page.
        faults: errors of scripts, violations of the policy and all else that the browser complained of.
        foreign: addresses elsewhere that were asked for.
    """

    def __init__(self, page: Page) -> None:
        self.page = page
        self.faults: list[str] = []
        self.foreign: list[str] = []
        self.sockets: list[WebSocketRoute] = []
        page.on("console", self._said)
        page.on("pageerror", lambda error: self.faults.append(str(error)))

    def _said(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.faults.append(message.text)

    @property
    def transcript(self) -> Locator:
        return self.page.locator(".transcript")

    @property
    def prompt(self) -> Locator:
        return self.page.get_by_label("Message to the agent")

    def question(self, words: str) -> Locator:
        return self.page.get_by_role("group", name=words)

    async def say(self, text: str) -> None:
        """Send a prompt as a user does."""
        await self.prompt.fill(text)
        await self.prompt.press("Escape")  # closes the list of commands
        await self.prompt.press("Enter")

    async def answer(self, route: Route) -> None:
        """Answer a request of the browser with a file of the page."""
        address = urlsplit(route.request.url)
        file = STATIC / (address.path.lstrip("/") or "index.html")
        if f"{address.scheme}://{address.netloc}" != ORIGIN or file.parent != STATIC:
            self.foreign.append(route.request.url)
            await route.abort()
            return
        headers = {"content-type": _TYPES[file.suffix], "content-security-policy": POLICY}
        await route.fulfill(body=file.read_bytes(), headers=headers)


@asynccontextmanager
async def opened(browser: Browser, connected: Callable[[WebSocketRoute], None], **look: Any) -> AsyncIterator[Watched]:
    """Open the page; ``connected`` gets its end of the feed, each time that it connects."""
    context: BrowserContext = await browser.new_context(viewport={"width": 1200, "height": 800}, **look)
    try:
        watched = Watched(await context.new_page())

        def connect(socket: WebSocketRoute) -> None:
            watched.sockets.append(socket)
            connected(socket)

        await context.route("**/*", watched.answer)
        await watched.page.route_web_socket("**/feed", connect)
        await watched.page.goto(ORIGIN)
        yield watched
        assert watched.faults == []
        assert watched.foreign == []
    finally:
        await context.close()


@asynccontextmanager
async def seen(browser: Browser, feed: Feed, **look: Any) -> AsyncIterator[Watched]:
    """Open the page as a viewer of a feed."""
    receiving: set[asyncio.Task[None]] = set()

    def connected(socket: WebSocketRoute) -> None:
        async def send(message: bytes) -> None:
            socket.send(message.decode())

        def receive(command: str | bytes) -> None:
            task = asyncio.ensure_future(viewer.receive(command))
            receiving.add(task)
            task.add_done_callback(receiving.discard)

        viewer = feed.join(send)
        socket.on_message(receive)
        socket.on_close(lambda code, reason: viewer.leave())

    async with opened(browser, connected, **look) as watched:
        yield watched


@asynccontextmanager
async def fed(agent: Any = None, **options: Any) -> AsyncIterator[tuple[HostConnection, Session, Feed]]:
    """Connect to an agent (without one: the reference agent), and feed pages from a session of it."""
    permissions, forms = PermissionQueue(), ElicitationQueue()
    cwd = options.pop("cwd", ".")
    agent = agent if agent is not None else ReferenceAgent().transport()
    options = {"files": True, "terminals": True, "sidebar": True, **options}
    async with AsyncExitStack() as stack:
        host = await stack.enter_async_context(
            acp_host.connect(agent, permissions=permissions, elicitation=forms, **options)
        )
        feed = await stack.enter_async_context(Feed(host, permissions=permissions, elicitation=forms, cwd=cwd))
        yield host, await host.new_session(cwd), feed


@asynccontextmanager
async def watched(
    browser: Browser, agent: Any = None, *, look: dict[str, Any] | None = None, **options: Any
) -> AsyncIterator[tuple[Watched, Session]]:
    """Open the page on a session of an agent."""
    async with fed(agent, **options) as (_, session, feed), seen(browser, feed, **(look or {})) as page:
        await page.transcript.wait_for()
        yield page, session


def message(**members: Any) -> str:
    """Return a message of the feed."""
    return json.dumps(members)
