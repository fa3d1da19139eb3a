"""How a Harn agent makes do with its context: :class:`Compactions` and :class:`Projections`, reducers.

A compaction puts the conversation so far into fewer words for the model, and has an entry in the transcript, where it
happened. A projection leaves something out of what the model is sent next. The transcript here loses nothing by either.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from acp_host.state._value import plain_json, value
from acp_host.state.changes import Note
from acp_host.state.collections import Recent, RecentList
from acp_host.state.events import HarnEvent
from acp_host.wire._model import NO_EXTRA, model

__all__ = [
    "MAX_COMPACTIONS",
    "MAX_PROJECTIONS",
    "Compaction",
    "Compactions",
    "Projection",
    "Projections",
    "TranscriptCompacted",
    "TranscriptProjected",
]

MAX_COMPACTIONS = 100
"""How many compactions are kept, the newest ones."""

MAX_PROJECTIONS = 200
"""How many projections are kept, the newest ones."""


@value
class Compaction:
    """A compaction. Every member may be missing.

    Attributes:
        receipt_id: its id, also of its entry in the transcript.
        schema_version: of what the agent tells.
        mode: ``auto``, or another word, e.g. for one that was asked for.
        reason: why, in the agent's word.
        strategy: how, likewise.
        engine_strategy: how in the end, likewise.
        archived_messages: how many messages of the model are in it.
        tokens_before: how full the context was, as the agent estimates it.
        tokens_after: how full it is thereafter, likewise.
        snapshot_asset_id: what the agent calls the conversation before it.
        instruction_mode: how it was told what to keep, in its word.
        instruction_source: by whom, likewise.
        policy: by which rule; JSON of the agent's own.
        recap: the fewer words, if the agent shows them; text, or JSON of its own.
        extra: what else the agent said.
    """

    receipt_id: str | None = None
    schema_version: int | None = None
    mode: str | None = None
    reason: str | None = None
    strategy: str | None = None
    engine_strategy: str | None = None
    archived_messages: int | None = None
    tokens_before: int | None = None
    tokens_after: int | None = None
    snapshot_asset_id: str | None = None
    instruction_mode: str | None = None
    instruction_source: str | None = None
    policy: Any = plain_json(default=None)
    recap: Any = plain_json(default=None)
    extra: Mapping[str, Any] = plain_json(default=NO_EXTRA)

    @property
    def words(self) -> str:
        """What to show at the place where it happened."""
        told = "the agent has put the conversation so far into fewer words"
        if self.tokens_before is None or self.tokens_after is None:
            return told
        return f"{told}: {self.tokens_before} tokens became {self.tokens_after}"


@value
class Projection:
    """A projection. Every member may be missing.

    Attributes:
        policy: by which rule, in the agent's word.
        reason: why, likewise.
        prefix_hash: names what was kept at the beginning.
        kept_count: how many messages of the model were kept.
        dropped_count: how many were left out.
        redacted_count: of how many something was left out.
        reclaimed_tokens: how many tokens that saves.
        safety_blocked: more would have been left out, had the model's provider allowed it.
        roots_consulted: what the agent has looked at for it; JSON of its own.
        redaction_pointers: where the parts are that were left out; likewise.
        extra: what else the agent said.
    """

    policy: str | None = None
    reason: str | None = None
    prefix_hash: str | None = None
    kept_count: int | None = None
    dropped_count: int | None = None
    redacted_count: int | None = None
    reclaimed_tokens: int | None = None
    safety_blocked: bool | None = None
    roots_consulted: Any = plain_json(default=None)
    redaction_pointers: Any = plain_json(default=None)
    extra: Mapping[str, Any] = plain_json(default=NO_EXTRA)


@model
class TranscriptCompacted(HarnEvent):
    """There was a compaction."""

    compaction: Compaction


@model
class TranscriptProjected(HarnEvent):
    """There was a projection."""

    projection: Projection


class Compactions:
    """Collects compactions.

    Args:
        note: called with each change.
    """

    def __init__(self, note: Note) -> None:
        self._compactions: RecentList[Compaction] = RecentList("compactions", note, MAX_COMPACTIONS)

    def reducers(self) -> Mapping[type, Callable[[Any], None]]:
        """Return the method for each class of event that concerns compactions."""
        return {TranscriptCompacted: lambda event: self._compactions.add(event.compaction)}

    def freeze(self) -> Recent[Compaction]:
        """Return the compactions that are kept."""
        return self._compactions.freeze()


class Projections:
    """Collects projections.

    Args:
        note: called with each change.
    """

    def __init__(self, note: Note) -> None:
        self._projections: RecentList[Projection] = RecentList("projections", note, MAX_PROJECTIONS)

    def reducers(self) -> Mapping[type, Callable[[Any], None]]:
        """Return the method for each class of event that concerns projections."""
        return {TranscriptProjected: lambda event: self._projections.add(event.projection)}

    def freeze(self) -> Recent[Projection]:
        """Return the projections that are kept."""
        return self._projections.freeze()
