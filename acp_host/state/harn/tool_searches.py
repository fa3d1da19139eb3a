"""How a Harn agent looks for tools that it was not given at once: :class:`ToolSearches`, a reducer.

Nothing here is to be answered: it searches by itself, and tells what for and what it has found.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from acp_host.state._value import plain_json, value
from acp_host.state.changes import Note
from acp_host.state.collections import Keyed
from acp_host.state.events import HarnEvent
from acp_host.wire._model import NO_EXTRA, evolve, model

__all__ = ["MAX_SEARCHES", "ToolSearch", "ToolSearchAsked", "ToolSearchFound", "ToolSearches"]

MAX_SEARCHES = 200
"""How many searches are kept; those that have ended leave first, the oldest before the others."""

_TOPIC = "tool_searches"


@value
class ToolSearch:
    """A search for tools.

    Attributes:
        tool_use_id: its id.
        name: the tool that searches; ``None`` if the agent told only what was found.
        query: what it searches for; JSON of the agent's own.
        strategy: how, e.g. ``bm25``, ``regex``, ``hybrid``.
        mode: who searches: ``client`` is the agent itself, other words are for the provider of its model.
        promoted: the tools that it has found, by name; ``None`` as long as it searches.
        found: the same as the agent told it, where that was more than names.
        extra: what else the agent said.
    """

    tool_use_id: str
    name: str | None = None
    query: Any = plain_json(default=None)
    strategy: str | None = None
    mode: str | None = None
    promoted: tuple[str, ...] | None = None
    found: Any = plain_json(default=None)
    extra: Mapping[str, Any] = plain_json(default=NO_EXTRA)

    @property
    def ended(self) -> bool:
        """Whether it is told what was found."""
        return self.promoted is not None


@model
class ToolSearchAsked(HarnEvent):
    """The agent searches; ``search`` has nothing found."""

    search: ToolSearch


@model
class ToolSearchFound(HarnEvent):
    """The agent has found; ``search`` may have nothing else."""

    search: ToolSearch


class ToolSearches:
    """Folds what is told of searches: what is asked and what is found, by one id, in either order.

    Args:
        note: called with each change.
        problem: called with what is forgotten because there is too much.
    """

    def __init__(self, note: Note, problem: Callable[[str], None] = lambda _: None) -> None:
        self._searches: Keyed[ToolSearch] = Keyed(_TOPIC, note, MAX_SEARCHES, lambda search: search.ended, problem)

    def reducers(self) -> Mapping[type, Callable[[Any], None]]:
        """Return the method for each class of event that concerns searches."""
        return {ToolSearchAsked: self._told, ToolSearchFound: self._told}

    def freeze(self) -> Mapping[str, ToolSearch]:
        """Return the searches by id, those that were told of first before the others."""
        return self._searches.freeze()

    def _told(self, event: ToolSearchAsked | ToolSearchFound) -> None:
        told = event.search
        known = self._searches.get(told.tool_use_id) or told
        merged = evolve(
            known,
            name=told.name or known.name,
            query=known.query if told.query is None else told.query,
            strategy=told.strategy or known.strategy,
            mode=told.mode or known.mode,
            promoted=known.promoted if told.promoted is None else told.promoted,
            found=known.found if told.found is None else told.found,
            extra=told.extra or known.extra,
        )
        self._searches.put(told.tool_use_id, merged)
