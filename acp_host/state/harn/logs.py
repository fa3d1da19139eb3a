"""What a Harn agent writes to its log: :class:`Logs`, a reducer. It belongs into a log pane and never into the chat."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from acp_host.state._value import plain_json, value
from acp_host.state.changes import Note
from acp_host.state.collections import Recent, RecentList
from acp_host.state.events import HarnEvent
from acp_host.wire._model import NO_EXTRA, model

__all__ = ["MAX_LINES", "OUTPUT", "LogLine", "LogWritten", "Logs"]

MAX_LINES = 1000
"""How many lines are kept, the newest ones."""

OUTPUT = "output"
"""The ``level`` of what a script of the agent prints."""

_TOPIC = "logs"
_BOOT = "ACP_BOOT:"


@value
class LogLine:
    """One thing that the agent has written; it may have several lines of text.

    Attributes:
        message: what it says.
        level: ``debug``, ``info``, ``warn``, ``error``, :data:`OUTPUT`, or another word of the agent; ``None`` if it
            does not say.
        fields: what else belongs to it; JSON of the agent's own.
        extra: what else the agent said.
    """

    message: str
    level: str | None = None
    fields: Any = plain_json(default=None)
    extra: Mapping[str, Any] = plain_json(default=NO_EXTRA)

    @property
    def is_about_start(self) -> bool:
        """Whether the agent only tells how it was started, as it does with every prompt."""
        return self.message.startswith(_BOOT)


@model
class LogWritten(HarnEvent):
    """The agent has written something to its log."""

    line: LogLine


class Logs:
    """Collects what is written.

    Args:
        note: called with each change.
    """

    def __init__(self, note: Note) -> None:
        self._lines: RecentList[LogLine] = RecentList(_TOPIC, note, MAX_LINES)

    def reducers(self) -> Mapping[type, Callable[[Any], None]]:
        """Return the method for each class of event that concerns the log."""
        return {LogWritten: lambda event: self._lines.add(event.line)}

    def freeze(self) -> Recent[LogLine]:
        """Return the lines that are kept."""
        return self._lines.freeze()
