"""A widget without a notebook, and what it tells its views: :class:`Told`."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from acp_host.testing import ReferenceAgent
from acp_host.ui.jupyter import AgentWidget

__all__ = ["DEADLINE", "Told", "shown"]

DEADLINE = 20


class Told(AgentWidget):
    """A widget whose messages are kept.

    Attributes:
        told: the messages, with what was in the buffer.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self.told: list[tuple[dict[str, Any], Any]] = []
        self._more = threading.Condition()
        super().__init__(*arguments, **options)

    def send(self, content: dict[str, Any], buffers: Sequence[bytes] | None = None) -> None:
        with self._more:
            self.told.append((content, json.loads(buffers[0]) if buffers else None))
            self._more.notify_all()

    def _say(self, words: str) -> None:
        with self._more:
            super()._say(words)
            self._more.notify_all()

    def says(self, kind: str, number: int = 1, **more: Any) -> None:
        """Be told something by a view, as by the kernel."""
        self._handle_custom_msg({"view": "a view", "kind": kind, "number": number, **more}, [])

    def command(self, **members: Any) -> None:
        self.says("command", command=json.dumps(members))

    def messages(self, kind: str) -> list[dict[str, Any]]:
        """The messages of the feed of one type."""
        return [message for _, message in self.told if message is not None and message["type"] == kind]

    def until(self, check: Callable[[], Any]) -> Any:
        """Wait until something is so; return it."""
        with self._more:
            found = self._more.wait_for(check, DEADLINE)
        assert found, self.told
        return found


@contextmanager
def shown(cwd: Path, **options: Any) -> Iterator[Told]:
    """A widget with the reference agent, which a view has joined."""
    widget = Told(ReferenceAgent().transport(), cwd=cwd, **options)
    try:
        assert widget.session
        widget.says("join")
        widget.until(lambda: widget.messages("hello"))
        yield widget
    finally:
        widget.close()
