"""The views of a widget as viewers of a feed: :class:`Views`.

All views of a widget, in however many browsers, share its custom messages; each has a name that it has made up. A view
says when it comes and goes, and acknowledges what it has taken; ``ui/web/src/widget_transport.ts`` is the other end.
A page that is closed need not say so, and a kernel that is busy may not hear of anything. So nobody is thought to be
gone for silence alone, but only where others are heard meanwhile; and one that is not heard is told less often.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from acp_host.host.tasks import TaskOwner
from acp_host.ui.feed import Feed

__all__ = ["Tell", "Views"]

Tell = Callable[[dict[str, Any], Sequence[bytes]], None]
"""Sends a custom message with its buffers to all views; called on the feed's loop, and must not block."""

_AHEAD = 8
"""Messages that a view has not acknowledged while further ones are sent at once."""
_SLOW = 0.5
"""Seconds between two messages to a view that acknowledges none, as where the kernel is busy with a cell."""
_LOST = 2.0
"""Seconds after which a view is gone that has not acknowledged a message, while another one has a later one."""
_MOST_VIEWS = 50
_MOST_COMMANDS = 1_000
"""Commands of a view that wait to be read; more are not taken."""
_MOST_SENT = 1_000
"""Messages without an acknowledgement whose times are kept, from the oldest on."""
_LAST_STEPS = 1.0
_TAKE_SEAT = '{"id": 0, "command": "control", "take": true}'
"""The seat for a view whose page was loaded again, since the one before cannot give it away; it ignores the result."""


class Views:
    """The views of a widget. Everything happens on the loop of the feed.

    Args:
        feed: what they view.
        tell: reaches all of them.
    """

    def __init__(self, feed: Feed, tell: Tell) -> None:
        self._feed = feed
        self._tell = tell
        self._views: dict[str, _View] = {}
        self._tasks = TaskOwner()

    async def __aenter__(self) -> Views:
        await self._tasks.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        for name in tuple(self._views):
            self._drop(name)
        await self._tasks.close(_LAST_STEPS)

    def __len__(self) -> int:
        return len(self._views)

    def take(self, content: Mapping[str, Any]) -> None:
        """Take a message of a view; one that cannot be read is ignored, since only our own page can send any."""
        name, kind, number = content.get("view"), content.get("kind"), content.get("number")
        if not isinstance(name, str) or not isinstance(number, int) or not self._tasks.is_open:
            return
        view = self._views.get(name)
        if kind == "join":
            self._join(name)
        elif view is None:
            if kind != "leave":
                self._tell({"view": name, "kind": "gone", "number": number}, ())
        elif kind == "leave":
            self._drop(name)
        elif kind == "took":
            view.took(number)
            self._miss(view)
        elif kind == "here":
            view.greet()
        elif kind == "command":
            view.asked(content.get("command"))

    def _join(self, name: str) -> None:
        if name in self._views:  # it has lost its way here meanwhile
            self._drop(name)
        if len(self._views) >= _MOST_VIEWS:
            return
        view = self._views[name] = _View(name, self._feed, self._tell)
        self._tasks.start(view.read_commands())
        # A page that was loaded again leaves its old view behind, which is to be missed soon.
        asyncio.get_running_loop().call_later(_LOST + 0.5, self._greet)

    def _greet(self) -> None:
        for view in self._views.values():
            view.greet()

    def _drop(self, name: str) -> None:
        self._views.pop(name).leave()

    def _miss(self, heard: _View) -> None:
        """Let those go that say nothing, although a view is heard."""
        since = heard.heard_of
        gone = [name for name, view in self._views.items() if view.waits_since < since - _LOST]
        for name in gone:
            self._drop(name)
        if gone and self._feed.controller is None:
            next(reversed(self._views.values())).asked(_TAKE_SEAT)


class _View:
    """One view.

    Attributes:
        heard_of: when the last message was sent that it has acknowledged; by the clock of the loop.
    """

    def __init__(self, name: str, feed: Feed, tell: Tell) -> None:
        self.heard_of = 0.0
        self._name = name
        self._tell = tell
        self._loop = asyncio.get_running_loop()
        self._number = 0
        self._sent: deque[tuple[int, float]] = deque()
        self._room = asyncio.Event()
        self._commands: asyncio.Queue[str] = asyncio.Queue(_MOST_COMMANDS)
        self._viewer = feed.join(self._send)

    @property
    def waits_since(self) -> float:
        """When the oldest message was sent that it has not acknowledged; endless if there is none."""
        return self._sent[0][1] if self._sent else float("inf")

    def took(self, number: int) -> None:
        """Learn that it has taken a message, and all before that."""
        while self._sent and self._sent[0][0] <= number:
            self.heard_of = self._sent.popleft()[1]
        if len(self._sent) < _AHEAD:
            self._room.set()

    def asked(self, command: Any) -> None:
        """Take a command, which is done in its turn."""
        if isinstance(command, str):
            with contextlib.suppress(asyncio.QueueFull):
                self._commands.put_nowait(command)

    async def read_commands(self) -> None:
        """Do what it asks for, until it leaves."""
        while not self._viewer.gone:
            await self._viewer.receive(await self._commands.get())

    def leave(self) -> None:
        """Go."""
        self._viewer.leave()
        self._room.set()
        self.asked("")  # so that nobody waits for a command

    def greet(self) -> None:
        """Send it something to acknowledge."""
        self._send_now("here", ())

    async def _send(self, message: bytes) -> None:
        if len(self._sent) >= _AHEAD:
            self._room.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_SLOW):
                    await self._room.wait()
        self._send_now("message", [message])

    def _send_now(self, kind: str, buffers: Sequence[bytes]) -> None:
        self._number += 1
        if len(self._sent) < _MOST_SENT:
            self._sent.append((self._number, self._loop.time()))
        self._tell({"view": self._name, "kind": kind, "number": self._number}, buffers)
