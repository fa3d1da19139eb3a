"""What viewers are told beside the sessions: :class:`Topic`, of which the newest counts; :class:`DiagnosticTopic`."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

from acp_host.diagnostics import Diagnostic
from acp_host.state.json_form import to_json
from acp_host.ui.feed.messages import encoded

__all__ = ["DiagnosticTopic", "Topic"]

_MAX_DIAGNOSTICS = 200


class Topic:
    """Something of which viewers get the newest state, whole; it is small.

    Args:
        make: returns the message.
    """

    def __init__(self, make: Callable[[], dict[str, Any]]) -> None:
        self._make = make
        self._version = 1
        self._encoded: bytes | None = None

    def changed(self) -> None:
        """Learn that there is something new."""
        self._version += 1
        self._encoded = None

    def since(self, seen: int) -> tuple[bytes | None, int]:
        """Return what a viewer has not seen, and what it has seen then; 0: nothing."""
        if seen == self._version:
            return None, seen
        if self._encoded is None:
            self._encoded = encoded(self._make())
        return self._encoded, self._version


class DiagnosticTopic:
    """The newest diagnostics; viewers get each once, numbered.

    Args:
        known: those of before, oldest first.
    """

    def __init__(self, known: Iterable[Diagnostic]) -> None:
        self._items: deque[dict[str, Any]] = deque(maxlen=_MAX_DIAGNOSTICS)
        self._count = 0
        for diagnostic in known:
            self.add(diagnostic)

    def add(self, diagnostic: Diagnostic) -> None:
        """Add one."""
        self._count += 1
        self._items.append({"number": self._count, **to_json(diagnostic)})

    def since(self, seen: int) -> tuple[bytes | None, int]:
        """As :meth:`Topic.since`."""
        if seen == self._count:
            return None, seen
        items = [item for item in self._items if item["number"] > seen]
        return encoded({"type": "diagnostics", "items": items}), self._count
