"""The reducer of entries that are neither messages of the conversation nor tool calls: :class:`OtherEntries`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from acp_host.state import events
from acp_host.state.builders import parts_of
from acp_host.state.entries import (
    CompactionEntry,
    ConnectionEntry,
    Entry,
    HistoryEntry,
    SessionMessageEntry,
    UnknownEntry,
)
from acp_host.state.transcript import Builder
from acp_host.state.transcript_writer import TranscriptWriter
from acp_host.wire._model import UNSET, evolve

__all__ = ["OtherEntries", "Positions"]

_SAID_OF_MESSAGE = ("sender_session_id", "recipient_session_id", "sender_message_id", "recipient_message_id")
_SAID_OF_HISTORY = ("action", "kept_turns", "removed_turns", "checkpoint_id", "status", "reason")

Positions = dict[str, int]
"""Where the entries stand that ids of the agent mean."""


class OtherEntries:
    """Folds compactions, messages between sessions, changes of the history, and what nobody knows.

    Args:
        writer: writes the transcript.
        add: writes an entry that ends the message which is being written, and returns its position.
    """

    def __init__(self, writer: TranscriptWriter, add: Callable[[Entry], int]) -> None:
        self._writer = writer
        self._add = add
        self._compactions: Positions = {}
        self._session_messages: Positions = {}

    def reducers(self) -> Mapping[type, Callable[[Any], None]]:
        """Return the method for each class of event that concerns such entries."""
        return {
            events.CompactionReported: self._compaction,
            events.CompactionSummaryAdded: self._compaction_summary,
            events.SessionMessageReported: self._session_message,
            events.HistoryChanged: self._history_changed,
            events.ConnectionBroken: self._connection_broken,
            events.UnknownReported: self._unknown,
        }

    def dropped(self, first: int) -> None:
        """Forget how to find the entries before a position."""
        self._compactions = {key: at for key, at in self._compactions.items() if at >= first}
        self._session_messages = {key: at for key, at in self._session_messages.items() if at >= first}

    def known(self) -> tuple[Positions, Positions]:
        """Return how to find the entries, for :meth:`restore`."""
        return self._compactions.copy(), self._session_messages.copy()

    def restore(self, known: tuple[Positions, Positions]) -> None:
        """Find the entries again as at an earlier moment."""
        self._compactions, self._session_messages = known

    def _compaction(self, event: events.CompactionReported) -> None:
        entry = self._known(self._compactions, event.compaction_id) if event.compaction_id else None
        if not isinstance(entry, CompactionEntry):
            entry = CompactionEntry(compaction_id=event.compaction_id, status=event.status, **self._writer.place())
            self._compactions[event.compaction_id] = self._add(entry)
        changes: dict[str, Any] = {"status": event.status}
        if event.summary is not UNSET:
            changes["summary"] = parts_of(event.summary or ())
        if event.error is not UNSET:
            changes["error"] = event.error
        self._writer.replace(entry.position, evolve(entry, **changes))

    def _compaction_summary(self, event: events.CompactionSummaryAdded) -> None:
        entry = self._known(self._compactions, event.compaction_id)
        if isinstance(entry, CompactionEntry):
            self._writer.replace(entry.position, evolve(entry, summary=parts_of([event.content], entry.summary)))
        else:
            self._compaction(events.CompactionReported(event.compaction_id, "in_progress", summary=(event.content,)))

    def _session_message(self, event: events.SessionMessageReported) -> None:
        entry = self._known(self._session_messages, event.message_id)
        if not isinstance(entry, SessionMessageEntry):
            entry = SessionMessageEntry(message_id=event.message_id, **self._writer.place())
            self._session_messages[event.message_id] = self._add(entry)
        changes = {name: getattr(event, name) for name in _SAID_OF_MESSAGE if getattr(event, name) is not UNSET}
        if event.content is not UNSET:
            changes["parts"] = parts_of(event.content or ())
        if event.appended is not None:
            changes["parts"] = parts_of([event.appended], entry.parts)
        self._writer.replace(entry.position, evolve(entry, **changes))

    def _history_changed(self, event: events.HistoryChanged) -> None:
        said = {name: getattr(event, name) for name in _SAID_OF_HISTORY}
        self._add(HistoryEntry(**said, **self._writer.place()))

    def _connection_broken(self, event: events.ConnectionBroken) -> None:
        place = self._writer.place()
        entry = ConnectionEntry(lost=event.lost, interrupted=event.interrupted, summary=event.summary, **place)
        self._add(entry)

    def _unknown(self, event: events.UnknownReported) -> None:
        entry = UnknownEntry(tag=event.tag, data=event.data, problem=event.problem, **self._writer.place())
        self._writer.append(entry)  # it ends no message that is being written: what is not known changes nothing

    def _known(self, positions: Positions, key: str) -> Entry | Builder | None:
        position = positions.get(key)
        return None if position is None or self._writer.is_superseded(position) else self._writer.store.get(position)
