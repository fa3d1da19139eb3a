"""States of the gallery in the page, one after the other, and what is in the document then: :func:`exhibition`."""

from __future__ import annotations

import itertools
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from playwright.async_api import Browser, WebSocketRoute

from acp_host.state.json_form import to_json
from acp_host.testing import gallery
from acp_host.testing.gallery import GalleryState
from acp_host.ui.feed.questions import Questions
from tests.ui.watched import Watched, opened

__all__ = ["SESSION", "Exhibition", "exhibition", "long_session"]

SESSION = "shown"
_HELLO = {
    "type": "hello",
    "feed": 1,
    "agent": {"name": "example-agent", "title": None, "version": "1"},
    "viewer": 1,
    "controller": True,
    "mayControl": True,
    "sessions": [{"id": SESSION, "title": "A session", "open": True}],
    "resume": "token",
}


class Exhibition:
    """A page that shows what it is told to.

    Attributes:
        watched: the page.
        commands: what it has asked for.
        answers: its commands are answered, with nothing; else not.
    """

    def __init__(self) -> None:
        self.watched: Watched
        self.commands: list[dict[str, Any]] = []
        self.answers = True
        self._versions = itertools.count(1)
        self._shown = 0
        self._socket: WebSocketRoute

    def connected(self, socket: WebSocketRoute) -> None:
        """Take the page's connection."""
        self._socket = socket
        socket.on_message(self._asked)
        self.tell(_HELLO)
        self.tell({"type": "control", "controller": 1, "viewers": [1]})

    def tell(self, message: Mapping[str, Any]) -> None:
        """Send a message of the feed."""
        self._socket.send(json.dumps(message))

    def tell_state(self, state: Mapping[str, Any]) -> int:
        """Send a snapshot; return its version."""
        version = self._shown = next(self._versions)
        self.tell({"type": "snapshot", "session": SESSION, "version": version, "omitted": 0, "state": state})
        return version

    async def show(self, state: GalleryState, *, panels: bool = True, fold: bool = False) -> dict[str, Any]:
        """Show a state, open all that can be opened, and return what is in the document then.

        Args:
            state: the state.
            panels: look into each of the panels beside the conversation.
            fold: open and look into nothing.
        """
        diagnostics = [{"number": at, **to_json(one)} for at, one in enumerate(state.diagnostics, start=1)]
        async with state.waiting() as waiting:
            questions = Questions(
                waiting.permissions, waiting.elicitation, None, lambda: state.agent_name, lambda: None
            )
            self.tell(questions.message())
            questions.close()
        self.tell({"type": "diagnostics", "items": diagnostics})
        self.tell_state(to_json(state.session))
        title = f"Session {self._shown}"
        self.tell({"type": "sessions", "items": [{"id": SESSION, "title": title, "open": True}]})
        wanted = {"panels": panels and not fold, "open": not fold, "title": title}
        found: dict[str, Any] = await self.watched.page.evaluate(_LOOK, wanted)
        return found

    def _asked(self, message: str | bytes) -> None:
        command = json.loads(message)
        self.commands.append(command)
        if not self.answers:
            return
        value = {"steps": []} if command["command"] == "plan_reminder" else {"entries": []}
        self.tell({"type": "result", "id": command["id"], "ok": True, "value": value})


def long_session(entries: int) -> dict[str, Any]:
    """Return the JSON form of a session with so many messages."""
    state = gallery.get("messages/assistant").to_json()["session"]
    message = next(entry for entry in state["transcript"]["entries"] if entry["type"] == "message")
    parts = [[{"type": "text", "segments": [f"**message {position}** of many"]}] for position in range(entries)]
    many = [
        {**message, "position": position, "parts": parts[position], "speaker": "assistant"}
        for position in range(entries)
    ]
    return {**state, "sessionId": SESSION, "transcript": {"first": 0, "entries": many}}


@asynccontextmanager
async def exhibition(browser: Browser, **look: Any) -> AsyncIterator[Exhibition]:
    """Open a page for an exhibition; at the end, the browser must not have complained, nor asked for anything."""
    shown = Exhibition()
    async with opened(browser, shown.connected, **look) as watched:
        shown.watched = watched
        await watched.page.evaluate("() => { window.ran = []; window.pwned = (what) => window.ran.push(what); }")
        yield shown


# Preact draws what a click changes in a microtask, and what comes from the feed in the next frame.
_LOOK = r"""async (wanted) => {
  const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  const open = async () => {
    document.querySelectorAll("#view details:not([open]) > summary").forEach((summary) => summary.click());
    await new Promise((done) => setTimeout(done));
  };
  const found = { text: "", panels: "", elements: [], handlers: [], links: [], pictures: [], ran: window.ran };
  const look = () => {
    for (const element of document.querySelectorAll("#view *")) {
      found.elements.push(element.localName);
      for (const { name } of element.attributes) if (name.startsWith("on")) found.handlers.push(name);
    }
    for (const { href, rel, target } of document.querySelectorAll("#view a")) found.links.push({ href, rel, target });
    for (const { src } of document.querySelectorAll("#view img")) found.pictures.push(src.slice(0, 40));
  };
  // The title was told last, so all else is there when it is.
  do await frame();
  while (document.querySelector(".top option")?.textContent !== wanted.title);
  const last = () => [...document.querySelectorAll("article")].at(-1);
  const isDrawn = () => !last() || (last().ariaPosInSet === last().ariaSetSize && !document.querySelector(".undrawn"));
  while (!isDrawn()) await frame();
  if (wanted.open) await open();
  found.text = document.querySelector("#view").innerText;
  look();
  if (wanted.panels) {
    for (const tab of document.querySelectorAll("[role=tab]")) {
      tab.click();
      await open();
      found.panels += document.querySelector("[role=tabpanel]").innerText;
      look();
    }
    document.querySelector("[role=tab]").click();
  }
  found.elements = [...new Set(found.elements)];
  return found;
}"""
