"""What changed, as JSON Patch (RFC 6902) operations for a front-end in another process: :class:`DeltaMaker`.

The operations turn the JSON form of one snapshot into that of the next, exactly. They are made from change sets, never
by comparing snapshots. Text that grows is patched at its tail, so an operation does not grow with the message.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, cast

import attrs

from acp_host.errors import InvalidInput
from acp_host.state.changes import ChangeSet
from acp_host.state.entries import Entry, MessagePart, TextPart
from acp_host.state.json_form import member_to_json, to_json
from acp_host.state.operations import Operation, add, escaped, remove, replace
from acp_host.state.snapshot import SessionSnapshot, TerminalView
from acp_host.state.transcript_writer import SECTION as TRANSCRIPT
from acp_host.wire._model import wire_name

__all__ = ["DeltaMaker"]

_KEYED_SECTIONS = ("subagents", "terminals", "injections")
"""Sections that are JSON objects, patched by key; the others are replaced whole, being small."""
_LISTED_SECTIONS: Mapping[str, tuple[str, ...]] = {"reminders": ("entries",), "notices": ("toasts", "history")}
"""Panels, with their lists of items that have an ``id``; those are patched by item, the rest of a panel whole."""
_OPTIONS = "options"
"""The section with options, of which only what changed is sent: their choices may be hundreds."""
_HARN = "harn"
"""The section with what a Harn agent tells beside the conversation, of which only what changed is sent."""
_GROWING = ("parts", "summary")
"""Attributes of entries that mostly grow at their end."""
_LENGTHENED = ("content",)
"""Attributes of entries that are lists of which the items that are there mostly stay the same."""
_FOLLOWED = 64
"""How many entries are followed at a time; another one that changes is sent whole once."""


class DeltaMaker:
    """Makes the operations for one stream of change sets; any number of viewers can be fed with them.

    Args:
        snapshot: the state that the first delta starts from.

    Raises:
        InvalidInput: ``snapshot`` is none.
    """

    def __init__(self, snapshot: SessionSnapshot) -> None:
        if not isinstance(snapshot, SessionSnapshot):
            raise InvalidInput(f"DeltaMaker takes session.state.snapshot(), not {type(snapshot).__name__}")
        self._first = snapshot.transcript.first
        self._end = self._first + len(snapshot.transcript)
        self._sent = OrderedDict((entry.position, entry) for entry in snapshot.transcript[-_FOLLOWED:])
        self._items = {section: dict(getattr(snapshot, section)) for section in _KEYED_SECTIONS}
        self._options = snapshot.options.entries
        self._harn = snapshot.harn
        self._ids = {
            (section, name): [item.id for item in getattr(getattr(snapshot, section), name)]
            for section, names in _LISTED_SECTIONS.items()
            for name in names
        }

    def delta(self, changes: ChangeSet) -> list[Operation]:
        """Return the operations that lead to the state after ``changes``; call it for every change set, in order."""
        if not isinstance(changes, ChangeSet):
            raise InvalidInput(f"delta() takes what session.state.changed tells, not {type(changes).__name__}")
        snapshot: SessionSnapshot = changes.snapshot
        operations = [*self._dropped(snapshot), *self._entries(snapshot, changes)]
        sections = dict.fromkeys(change.section for change in changes.changes if change.section != TRANSCRIPT)
        for section in sections:
            if section in _KEYED_SECTIONS:
                operations += self._keyed(section, getattr(snapshot, section), changes)
            elif section in _LISTED_SECTIONS:
                operations += self._panel(section, getattr(snapshot, section), frozenset(changes.keys(section)))
            elif section == _OPTIONS:
                operations += self._changed_options(snapshot)
            elif section == _HARN:
                operations += self._changed_harn(snapshot, changes.keys(section))
            else:
                operations.append(replace(f"/{wire_name(section)}", to_json(getattr(snapshot, section))))
        operations.append(replace("/version", snapshot.version))
        return operations

    # --- the transcript ---------------------------------------------------------------------------------------------

    def _dropped(self, snapshot: SessionSnapshot) -> list[Operation]:
        """Remove the entries that the memory policy has dropped."""
        first = snapshot.transcript.first
        gone = min(first, self._end) - self._first
        if first == self._first:
            return []
        if first >= self._end:
            removals = [replace("/transcript/entries", [])]
        else:
            removals = [remove("/transcript/entries/0") for _ in range(gone)]
        self._first = first
        self._end = max(self._end, first)
        return [*removals, replace("/transcript/first", first)]

    def _entries(self, snapshot: SessionSnapshot, changes: ChangeSet) -> list[Operation]:
        operations: list[Operation] = []
        for position in (key for key in changes.keys(TRANSCRIPT) if isinstance(key, int)):
            if self._first <= position < self._end:
                operations += self._changed_entry(position, snapshot)
        end = snapshot.transcript.first + len(snapshot.transcript)
        for position in range(self._end, end):
            operations.append(add("/transcript/entries/-", to_json(self._follow(position, snapshot))))
        self._end = end
        return operations

    def _changed_entry(self, position: int, snapshot: SessionSnapshot) -> list[Operation]:
        sent = self._sent.get(position)
        entry = self._follow(position, snapshot)
        path = f"/transcript/entries/{position - self._first}"
        if sent is None or type(sent) is not type(entry):
            return [replace(path, to_json(entry))]
        return _differences(sent, entry, path)

    def _follow(self, position: int, snapshot: SessionSnapshot) -> Entry:
        """Return an entry, and note that the front-end has it as it is now."""
        entry = snapshot.transcript[position - snapshot.transcript.first]
        self._sent[position] = entry
        self._sent.move_to_end(position)
        if len(self._sent) > _FOLLOWED:
            self._sent.popitem(last=False)
        return entry

    # --- the rest ---------------------------------------------------------------------------------------------------

    def _keyed(self, section: str, items: Mapping[str, Any], changes: ChangeSet) -> list[Operation]:
        operations: list[Operation] = []
        sent = self._items[section]
        for key in (str(key) for key in changes.keys(section)):
            path = f"/{wire_name(section)}/{escaped(key)}"
            before, after = sent.pop(key, None), items.get(key)
            if after is not None:
                sent[key] = after
                grows = isinstance(before, TerminalView)
                operations += _differences(before, after, path) if grows else [add(path, to_json(after))]
            elif before is not None:
                operations.append(remove(path))
        return operations

    def _changed_options(self, snapshot: SessionSnapshot) -> list[Operation]:
        before, self._options = self._options, snapshot.options.entries
        path = f"/{_OPTIONS}/entries"
        if [option.id for option in before] != [option.id for option in self._options]:
            return [replace(path, to_json(self._options))]
        return [
            operation
            for place, (old, new) in enumerate(zip(before, self._options, strict=True))
            if old is not new
            for operation in _differences(old, new, f"{path}/{place}")
        ]

    def _changed_harn(self, snapshot: SessionSnapshot, keys: tuple[str | int | None, ...]) -> list[Operation]:
        before, after = self._harn, snapshot.harn
        self._harn = after
        if before is None or after is None or None in keys:
            return [replace(f"/{_HARN}", to_json(after))]
        from acp_host.state.harn.deltas import harn_operations

        return harn_operations(before, after, [str(key) for key in keys], f"/{_HARN}")

    def _panel(self, section: str, panel: Any, changed: frozenset[str | int | None]) -> list[Operation]:
        operations: list[Operation] = []
        for attribute in attrs.fields(type(panel)):
            path, value = f"/{wire_name(section)}/{wire_name(attribute.name)}", getattr(panel, attribute.name)
            if attribute.name not in _LISTED_SECTIONS[section]:
                operations.append(replace(path, to_json(value)))
                continue
            ids = [item.id for item in value]
            operations += _listed(path, self._ids[section, attribute.name], ids, value, changed)
            self._ids[section, attribute.name] = ids
        return operations


def _listed(
    path: str, before: list[Any], after: list[Any], items: tuple[Any, ...], changed: frozenset[Any]
) -> list[Operation]:
    """Return the operations for a list of items of which some came, some went, and some were ``changed``.

    Items keep their order; where they do not, or the whole panel is another one, the list is sent whole.
    """
    present, known = set(after), set(before)
    left = [item_id for item_id in before if item_id in present]
    if left != [item_id for item_id in after if item_id in known] or None in changed:
        return [replace(path, to_json(items))]
    gone = [index for index, item_id in enumerate(before) if item_id not in present]
    operations: list[Operation] = [remove(f"{path}/{index}") for index in reversed(gone)]
    for index, item_id in enumerate(after):
        if item_id not in known:
            operations.append(add(f"{path}/{index}", to_json(items[index])))
        elif item_id in changed:
            operations.append(replace(f"{path}/{index}", to_json(items[index])))
    return operations


def _differences(before: Any, after: Any, path: str) -> list[Operation]:
    """Return the operations for an entry of which some attributes have changed."""
    operations: list[Operation] = []
    for attribute in attrs.fields(type(after)):
        old, new = getattr(before, attribute.name), getattr(after, attribute.name)
        # What was not changed is the same object; to compare what an agent sent may be costly.
        if old is new or (type(old) is type(new) and isinstance(old, str | int) and old == new):
            continue
        where = f"{path}/{wire_name(attribute.name)}"
        if attribute.name in _GROWING and _has_grown(old, new):
            operations += _growth(old, new, where)
        elif attribute.name in _LENGTHENED and _begins_with(new, old):
            operations += [add(f"{where}/-", to_json(item)) for item in new[len(old) :]]
        elif attribute.name == "output" and (gone := _missing(old, new)) is not None:
            operations += [remove(f"{where}/0") for _ in range(gone)]
            operations += _more_text(old[gone:], new, where)
        else:
            operations.append(replace(where, member_to_json(after, attribute.name)))
    return operations


def _begins_with(new: tuple[Any, ...], old: tuple[Any, ...]) -> bool:
    """Tell whether items were added at the end of a list, and nothing else."""
    return len(old) < len(new) and all(before is now for before, now in zip(old, new, strict=False))


def _has_grown(old: tuple[MessagePart, ...], new: tuple[MessagePart, ...]) -> bool:
    """Tell whether parts only had text added to the last one, and parts after it."""
    if not old or len(new) < len(old):
        return not old
    if any(before is not now for before, now in zip(old[:-1], new, strict=False)):
        return False
    last, now = old[-1], new[len(old) - 1]
    if last is now:
        return True
    if not (isinstance(last, TextPart) and isinstance(now, TextPart)) or len(now.segments) < len(last.segments):
        return False
    closed = len(last.segments) - 1
    return closed >= 0 and last.segments[:closed] == now.segments[:closed]


def _growth(old: tuple[MessagePart, ...], new: tuple[MessagePart, ...], path: str) -> list[Operation]:
    operations: list[Operation] = []
    if old and old[-1] is not new[len(old) - 1]:
        last, now = cast(TextPart, old[-1]), cast(TextPart, new[len(old) - 1])
        operations += _more_text(last.segments, now.segments, f"{path}/{len(old) - 1}/segments")
    return operations + [add(f"{path}/-", to_json(part)) for part in new[len(old) :]]


def _missing(old: tuple[str, ...], new: tuple[str, ...]) -> int | None:
    """Return how many of the first segments are gone; ``None`` if more than that and growth at the end has happened."""
    for gone in range(len(old)):
        closed, last = old[gone:-1], old[-1]
        if len(closed) < len(new) and new[: len(closed)] == closed and new[len(closed)].startswith(last):
            return gone
    return None if old else 0


def _more_text(old: tuple[str, ...], new: tuple[str, ...], path: str) -> list[Operation]:
    """Return the operations for segments to the last of which text was added, and others after it."""
    operations = [add(f"{path}/-", segment) for segment in new[len(old) :]]
    if old and old[-1] != new[len(old) - 1]:
        operations.insert(0, replace(f"{path}/{len(old) - 1}", new[len(old) - 1]))
    return operations
