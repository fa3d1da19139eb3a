"""Snapshots as plain JSON: :func:`to_json`.

The form is stable: :data:`FORMAT_VERSION` is raised when something in it changes its meaning. Attributes are written in
camelCase; wire types as they are on the wire; entries carry their ``type``; a transcript is an object with the position
of its first entry and the list of its entries; text is a list of segments that never change but for the last.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import attrs

from acp_host.state.snapshot import SessionSnapshot
from acp_host.state.transcript import Transcript
from acp_host.wire._model import Model, Unknown, wire_name
from acp_host.wire.config_options import SessionConfigOption
from acp_host.wire.content import ContentBlock
from acp_host.wire.converters import unstructure
from acp_host.wire.plans import PlanUpdateContent
from acp_host.wire.tool_calls import ToolCallContent

__all__ = ["FORMAT_VERSION", "to_json"]

FORMAT_VERSION = 1
"""Version of the JSON form; the member ``format`` of a session's JSON."""

# Members of tagged unions are written with their tag, which the union knows and the class does not.
_UNION_OF: dict[type[Any], Any] = {
    cls: union
    for union in (ContentBlock, ToolCallContent, PlanUpdateContent, SessionConfigOption)
    for cls in union.__args__
}


def to_json(value: Any) -> Any:
    """Return a snapshot, or any part of one, as plain JSON values.

    Args:
        value: a snapshot class of this package, a wire type, or a tuple, mapping or scalar of such.

    Raises:
        TypeError: ``value`` is something else.
    """
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, Model | Unknown):
        return unstructure(value, _UNION_OF.get(type(value)))
    if isinstance(value, Transcript):
        return {"first": value.first, "entries": [to_json(entry) for entry in value]}
    if isinstance(value, Mapping):
        return {str(key): to_json(member) for key, member in value.items()}
    if isinstance(value, tuple | list):
        return [to_json(item) for item in value]
    if attrs.has(type(value)):
        return _object(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")


def _object(value: Any) -> dict[str, Any]:
    cls: Any = type(value)
    members = {name: to_json(getattr(value, attribute)) for attribute, name in _members(cls)}
    kind = getattr(value, "type", None)
    if isinstance(value, SessionSnapshot):
        return {"format": FORMAT_VERSION, **members}
    return {"type": kind, **members} if isinstance(kind, str) and "type" not in members else members


@functools.cache
def _members(cls: Any) -> tuple[tuple[str, str], ...]:
    return tuple((attribute.name, wire_name(attribute.name)) for attribute in attrs.fields(cls))
