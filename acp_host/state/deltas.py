"""What changed, as JSON Patch (RFC 6902) operations for a front-end in another process: :class:`DeltaMaker`.

The operations turn the JSON form of one snapshot into that of the next, exactly. They are made from change sets, never
by comparing snapshots. Text that grows is patched at its tail, so an operation does not grow with the message.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, NamedTuple

from acp_host.state.conversation import SECTION as TRANSCRIPT
from acp_host.state.entries import MessageEntry, TextPart
from acp_host.state.json_form import to_json
from acp_host.state.observable import ChangeKind, ChangeSet
from acp_host.state.snapshot import SessionSnapshot
from acp_host.wire._model import wire_name

__all__ = ["DeltaMaker", "Operation"]

Operation = dict[str, Any]
"""One JSON Patch operation: ``{"op": "add"|"replace"|"remove", "path": …, "value"?: …}``."""

_KEYED_SECTIONS = ("subagents", "terminals")
"""Sections that are JSON objects, patched by key; the others are replaced whole, being small."""
_FOLLOWED = 64
"""How many messages are followed at a time; another one that changes is sent whole once."""


class _Sent(NamedTuple):
    """What a front-end has of a message: its id, the number of parts, and of segments in the last one."""

    message_id: str | None
    parts: int
    segments: int


class DeltaMaker:
    """Makes the operations for one stream of change sets; any number of viewers can be fed with them.

    Args:
        snapshot: the state that the first delta starts from.
    """

    def __init__(self, snapshot: SessionSnapshot) -> None:
        self._first = snapshot.transcript.first
        self._end = self._first + len(snapshot.transcript)
        self._sent: OrderedDict[int, _Sent] = OrderedDict()

    def delta(self, changes: ChangeSet) -> list[Operation]:
        """Return the operations that lead to the state after ``changes``; call it for every change set, in order."""
        snapshot: SessionSnapshot = changes.snapshot
        operations = [*self._dropped(snapshot), *self._entries(snapshot, changes)]
        sections = dict.fromkeys(change.section for change in changes.changes if change.section != TRANSCRIPT)
        for section in sections:
            if section in _KEYED_SECTIONS:
                operations += _keyed(section, getattr(snapshot, section), changes)
            else:
                operations.append(_replace(f"/{wire_name(section)}", to_json(getattr(snapshot, section))))
        operations.append(_replace("/version", snapshot.version))
        return operations

    # --- the transcript ---------------------------------------------------------------------------------------------

    def _dropped(self, snapshot: SessionSnapshot) -> list[Operation]:
        """Remove the entries that the memory policy has dropped."""
        first = snapshot.transcript.first
        gone = min(first, self._end) - self._first
        if first == self._first:
            return []
        self._first = first
        self._end = max(self._end, first)
        return [
            *({"op": "remove", "path": "/transcript/entries/0"} for _ in range(gone)),
            _replace("/transcript/first", first),
        ]

    def _entries(self, snapshot: SessionSnapshot, changes: ChangeSet) -> list[Operation]:
        operations: list[Operation] = []
        for position in (key for key in changes.keys(TRANSCRIPT) if isinstance(key, int)):
            if self._first <= position < self._end:
                operations += self._changed_entry(position, snapshot)
        end = snapshot.transcript.first + len(snapshot.transcript)
        for position in range(self._end, end):
            operations.append(_add("/transcript/entries/-", to_json(self._follow(position, snapshot))))
        self._end = end
        return operations

    def _changed_entry(self, position: int, snapshot: SessionSnapshot) -> list[Operation]:
        sent = self._sent.get(position)
        entry = self._follow(position, snapshot)
        path = f"/transcript/entries/{position - self._first}"
        if sent is None or not isinstance(entry, MessageEntry) or entry.message_id != sent.message_id:
            return [_replace(path, to_json(entry))]
        return _grown(entry, sent, path)

    def _follow(self, position: int, snapshot: SessionSnapshot) -> Any:
        """Return an entry, and note how much of it the front-end has from now on."""
        entry = snapshot.transcript.at(position)
        if isinstance(entry, MessageEntry):
            last = entry.parts[-1] if entry.parts else None
            segments = len(last.segments) if isinstance(last, TextPart) else 0
            self._sent[position] = _Sent(entry.message_id, len(entry.parts), segments)
            self._sent.move_to_end(position)
            if len(self._sent) > _FOLLOWED:
                self._sent.popitem(last=False)
        return entry


def _grown(entry: MessageEntry, sent: _Sent, path: str) -> list[Operation]:
    """Return the operations for a message that has grown at its end."""
    operations: list[Operation] = []
    if sent.segments:
        index = sent.parts - 1
        part = entry.parts[index]
        assert isinstance(part, TextPart)
        where = f"{path}/parts/{index}/segments"
        operations.append(_replace(f"{where}/{sent.segments - 1}", part.segments[sent.segments - 1]))
        operations += [_add(f"{where}/-", segment) for segment in part.segments[sent.segments :]]
    return operations + [_add(f"{path}/parts/-", to_json(part)) for part in entry.parts[sent.parts :]]


def _keyed(section: str, items: Mapping[str, Any], changes: ChangeSet) -> list[Operation]:
    operations: list[Operation] = []
    for change in changes.changes:
        if change.section != section:
            continue
        path = f"/{wire_name(section)}/{_escaped(str(change.key))}"
        if change.key not in items:
            operations += [{"op": "remove", "path": path}] if change.kind is ChangeKind.REMOVED else []
        else:
            operations.append(_add(path, to_json(items[str(change.key)])))
    return operations


def _add(path: str, value: Any) -> Operation:
    return {"op": "add", "path": path, "value": value}


def _replace(path: str, value: Any) -> Operation:
    return {"op": "replace", "path": path, "value": value}


def _escaped(key: str) -> str:
    """Return a key as a token of a JSON Pointer (RFC 6901)."""
    return key.replace("~", "~0").replace("/", "~1")
