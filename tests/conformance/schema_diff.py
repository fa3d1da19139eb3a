"""What changes from one upstream schema to another: :func:`differences`. Descriptions are left aside."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any

import attrs

PROSE = {"description", "x-docs-ignore"}
"""Keywords that change nothing of what goes over the wire. A property of such a name is none of them."""

Schema = Mapping[str, Any]


class Change(StrEnum):
    """What became of a definition."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"


@attrs.frozen
class Difference:
    """One definition that is not what it was.

    Attributes:
        name: of the definition.
        change: what became of it.
        details: what changed in it, a line each: the path, and what stands there; empty where it came or went whole.
    """

    name: str
    change: Change
    details: tuple[str, ...] = ()


def differences(before: Schema, after: Schema) -> list[Difference]:
    """Return how the definitions of two schemas differ, by name; no two differences are of the same definition."""
    old, new = before["$defs"], after["$defs"]
    return [found for name in sorted(old.keys() | new.keys()) if (found := _difference(name, old, new))]


def methods_of(schema: Schema) -> dict[str, str]:
    """Return the methods of a schema, each with the side that answers it."""
    definitions = schema["$defs"].values()
    return {each["x-method"]: each.get("x-side", "") for each in definitions if "x-method" in each}


def _difference(name: str, old: Schema, new: Schema) -> Difference | None:
    if name not in old:
        return Difference(name, Change.ADDED)
    if name not in new:
        return Difference(name, Change.REMOVED)
    details = tuple(_compared("", old[name], new[name]))
    return Difference(name, Change.CHANGED, details) if details else None


def _compared(path: str, old: Any, new: Any, *, names: bool = False) -> Iterator[str]:
    """Tell what differs under a path; ``names`` says that the keys of this object are names and not keywords."""
    if isinstance(old, dict) and isinstance(new, dict):
        yield from _compared_objects(path, old, new, names=names)
    elif isinstance(old, list) and isinstance(new, list):
        yield from _compared_objects(path, _by_label(old), _by_label(new), names=True)
    elif old != new:
        yield f"{path}: {_short(old)} → {_short(new)}"


def _compared_objects(path: str, old: Schema, new: Schema, *, names: bool) -> Iterator[str]:
    for key in (*old, *(key for key in new if key not in old)):
        if not names and key in PROSE:
            continue
        place = f"{path}.{key}" if path else key
        if key not in old:
            yield f"+ {place}: {_short(new[key])}"
        elif key not in new:
            yield f"- {place}: {_short(old[key])}"
        else:
            yield from _compared(place, old[key], new[key], names=not names and key in {"properties", "$defs"})


def _by_label(items: list[Any]) -> dict[str, Any]:
    """Return alternatives by what each is known by, so that one that comes in between does not move the others."""
    labelled: dict[str, Any] = {}
    for item in items:
        label = _label(item)
        while label in labelled:
            label += "'"
        labelled[label] = item
    return labelled


def _label(item: Any) -> str:
    if not isinstance(item, dict):
        return _short(item)
    constants = [each["const"] for each in item.get("properties", {}).values() if "const" in each]
    for found in (*constants, item.get("const"), item.get("$ref"), item.get("title"), item.get("type")):
        if found is not None:
            return str(found).removeprefix("#/$defs/")
    return _label(item["allOf"][0]) if item.get("allOf") else "other"


def _short(value: Any) -> str:
    return json.dumps(_without_prose(value), ensure_ascii=False)


def _without_prose(value: Any, *, names: bool = False) -> Any:
    if isinstance(value, list):
        return [_without_prose(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: _without_prose(item, names=not names and key in {"properties", "$defs"})
        for key, item in value.items()
        if names or key not in PROSE
    }
