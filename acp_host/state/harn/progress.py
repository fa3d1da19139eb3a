"""How far a Harn agent has come, and what it says of that: :class:`ProgressReports` and :class:`Narration`, reducers.

A phase of the work has one report, the newest; a new turn begins without any. What the agent says of its work in the
phase ``narration`` is no measure of anything: those are its words, one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from acp_host.state._value import plain_json, value
from acp_host.state.changes import Note
from acp_host.state.collections import Keyed, Recent, RecentList
from acp_host.state.events import HarnEvent, TurnStarted
from acp_host.wire._model import NO_EXTRA, model

__all__ = ["MAX_NARRATION", "MAX_PHASES", "NARRATION", "Narration", "Progress", "ProgressReported", "ProgressReports"]

MAX_PHASES = 100
"""Of how many phases the report is kept, those told of last."""

MAX_NARRATION = 500
"""How much of the narration is kept, the newest."""

NARRATION = "narration"
"""The phase whose reports are words about the work, and no measure of it."""


@value
class Progress:
    """How far the agent has come with something.

    Attributes:
        message: what it is doing, for people.
        phase: what this is a part of, e.g. ``index``; empty if the agent does not say.
        done: how much is done; ``None`` if it does not say.
        total: how much there is to do; likewise.
        data: what else belongs to it; JSON of the agent's own.
        extra: what else the agent said.
    """

    message: str
    phase: str = ""
    done: int | float | None = None
    total: int | float | None = None
    data: Any = plain_json(default=None)
    extra: Mapping[str, Any] = plain_json(default=NO_EXTRA)

    @property
    def is_narration(self) -> bool:
        """Whether these are words about the work, and no measure of it."""
        return self.phase == NARRATION

    @property
    def share(self) -> float | None:
        """How much is done, from 0 to 1; ``None`` if nobody can tell."""
        if self.done is None or not self.total or self.total < 0:
            return None
        return max(0.0, min(1.0, self.done / self.total))


@model
class ProgressReported(HarnEvent):
    """The agent tells how far it has come."""

    progress: Progress


class ProgressReports:
    """Keeps the newest report of each phase.

    Args:
        note: called with each change.
        problem: called with what is forgotten because there is too much.
    """

    def __init__(self, note: Note, problem: Callable[[str], None] = lambda _: None) -> None:
        self._phases: Keyed[Progress] = Keyed("progress", note, MAX_PHASES, problem=problem)

    def reducers(self) -> Mapping[type, Callable[[Any], None]]:
        """Return the method for each class of event that concerns progress."""
        return {ProgressReported: self._reported, TurnStarted: lambda _: self._phases.clear()}

    def freeze(self) -> Mapping[str, Progress]:
        """Return the newest report of each phase, by phase."""
        return self._phases.freeze()

    def _reported(self, event: ProgressReported) -> None:
        if not event.progress.is_narration:
            self._phases.put(event.progress.phase, event.progress)


class Narration:
    """Collects what the agent says of its work.

    Args:
        note: called with each change.
    """

    def __init__(self, note: Note) -> None:
        self._lines: RecentList[Progress] = RecentList(NARRATION, note, MAX_NARRATION)

    def reducers(self) -> Mapping[type, Callable[[Any], None]]:
        """Return the method for each class of event that concerns the narration."""
        return {ProgressReported: self._reported}

    def freeze(self) -> Recent[Progress]:
        """Return what is kept of it."""
        return self._lines.freeze()

    def _reported(self, event: ProgressReported) -> None:
        if event.progress.is_narration:
            self._lines.add(event.progress)
