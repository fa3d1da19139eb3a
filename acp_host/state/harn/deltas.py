"""What a Harn agent has told anew, as operations of JSON Patch: :func:`harn_operations`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from acp_host.state.collections import Recent
from acp_host.state.harn.snapshot import HarnSnapshot
from acp_host.state.json_form import member_to_json, to_json
from acp_host.state.operations import Operation, add, escaped, remove, replace
from acp_host.wire._model import wire_name

__all__ = ["harn_operations"]


def harn_operations(before: HarnSnapshot, after: HarnSnapshot, keys: Iterable[str], path: str) -> list[Operation]:
    """Return the operations for what has changed.

    Args:
        before: what the front-end has.
        after: what it is to have.
        keys: what changed: each the name of a topic, or that and an id, with a ``/`` between them.
        path: where the snapshot is in the document.
    """
    items: dict[str, list[str]] = {}
    whole = set()
    for topic, slash, item in (key.partition("/") for key in keys):
        items.setdefault(topic, []).append(item)
        if not slash:
            whole.add(topic)
    operations: list[Operation] = []
    for topic, changed in items.items():
        old, new, where = getattr(before, topic), getattr(after, topic), f"{path}/{wire_name(topic)}"
        if isinstance(new, Recent):
            operations += _recent(old, new, where)
        elif topic in whole:
            operations.append(replace(where, member_to_json(after, topic)))
        else:
            operations += [operation for item in changed for operation in _item(old, new, item, where)]
    return operations


def _item(old: Mapping[str, object], new: Mapping[str, object], key: str, path: str) -> list[Operation]:
    path = f"{path}/{escaped(key)}"
    if key in new:
        return [] if new[key] is old.get(key) else [add(path, to_json(new[key]))]
    return [remove(path)] if key in old else []


def _recent(old: Recent[object], new: Recent[object], path: str) -> list[Operation]:
    """Return the operations for entries that came at the end, and others that left at the beginning."""
    kept = old.first + len(old) - new.first
    if new.first < old.first or not 0 < kept <= len(new) or old.entries[-1] is not new.entries[kept - 1]:
        return [replace(path, to_json(new))]
    operations = [remove(f"{path}/entries/0") for _ in range(new.first - old.first)]
    operations += [add(f"{path}/entries/-", to_json(entry)) for entry in new.entries[kept:]]
    return operations if new.first == old.first else [*operations, replace(f"{path}/first", new.first)]
