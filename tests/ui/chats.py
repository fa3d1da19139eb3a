"""Conversations in the terminal view, driven by Textual's pilot."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

from attrs import frozen
from textual.app import App
from textual.geometry import Region
from textual.pilot import Pilot
from textual.widgets._footer import FooterKey

import acp_host
from acp_host import ElicitationQueue, HostConnection, LoginQueue, PermissionQueue, Session
from acp_host.testing import ReferenceAgent
from acp_host.transports import Transport
from acp_host.ui.terminal import ChatApp
from acp_host.ui.terminal.view import SessionView

__all__ = ["STEERS", "Chat", "chat", "drawn_lines", "screen_text"]

PATIENCE = 30
STEERS = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""What may stand in no line on the screen."""
LONGEST = 200
"""Lines of a widget that are looked at."""


@frozen
class Chat:
    """A conversation on a screen."""

    app: ChatApp
    pilot: Pilot[None]
    host: HostConnection
    session: Session
    permissions: PermissionQueue
    forms: ElicitationQueue

    @property
    def view(self) -> SessionView:
        return self.app.screen_stack[0].query_one(SessionView)

    @property
    def shown(self) -> str:
        """What is on the screen, as text."""
        return screen_text(self.app)

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)

    async def say(self, text: str) -> None:
        """Send a prompt."""
        self.view.prompt.focus()
        self.view.prompt.put(text)
        await self.press("enter")

    async def until(self, done: Callable[[], Any]) -> None:
        """Wait until something is so."""
        async with asyncio.timeout(PATIENCE):
            while not done():
                await self.pilot.pause(0.01)

    async def shows(self, *texts: str) -> None:
        """Wait until the screen shows all these texts."""
        try:
            await self.until(lambda: all(text in self.shown for text in texts))
        except TimeoutError:
            raise AssertionError(f"{texts} never came; the screen shows:\n{self.shown}") from None

    async def turn_over(self) -> None:
        await self.until(lambda: self.session.current_turn is None and not self.session.queued_turns)
        await self.pilot.pause()


def screen_text(app: Any) -> str:
    """Return what is on the screen of an app, lines with newlines between."""
    lines = app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in strip) for strip in lines)


def drawn_lines(app: App[Any]) -> Iterator[str]:
    """Yield the lines of every widget, on the screen or beyond it, and check that nothing in them can be clicked."""
    for widget in app.screen.walk_children():
        for strip in widget.render_lines(Region(0, 0, widget.size.width, min(widget.size.height, LONGEST))):
            for segment in strip:
                if segment.style is not None and not isinstance(widget, FooterKey):
                    assert segment.style.link is None
                    assert "@click" not in segment.style.meta
            yield strip.text


@contextlib.asynccontextmanager
async def chat(
    agent: ReferenceAgent | Transport | None = None,
    *,
    cwd: str | Path = "/",
    size: tuple[int, int] = (140, 44),
    before: str | None = None,
    **options: Any,
) -> AsyncIterator[Chat]:
    """Open a conversation in the terminal view; ``before`` is a prompt that is over by then."""
    if agent is None:
        agent = ReferenceAgent()
    transport = agent.transport() if isinstance(agent, ReferenceAgent) else agent
    permissions, forms = PermissionQueue(), ElicitationQueue(opener=lambda url: None)
    logins = LoginQueue()
    connection = acp_host.connect(
        transport, permissions=permissions, elicitation=forms, sidebar=True, **{"authenticate": logins, **options}
    )
    async with connection as host:
        session = await host.new_session(cwd)
        if before is not None:
            await session.prompt(before)
        app = ChatApp(host, session, permissions=permissions, forms=forms, logins=logins)
        async with app.run_test(size=size, notifications=True) as pilot:
            yield Chat(app, pilot, host, session, permissions, forms)
