"""Snapshots as plain JSON: :func:`to_json`.

The form is stable: :data:`FORMAT_VERSION` is raised when something in it changes its meaning. Attributes are written in
camelCase; wire types as they are on the wire; entries carry their ``type``; a transcript is an object with the position
of its first entry and the list of its entries; text is a list of segments that never change but for the last.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any

import attrs

from acp_host.state._value import is_plain_json
from acp_host.state.snapshot import SessionSnapshot
from acp_host.state.transcript import Transcript
from acp_host.wire._model import NO_EXTRA, Model, Unknown, wire_name
from acp_host.wire.config_options import SessionConfigOption
from acp_host.wire.content import ContentBlock
from acp_host.wire.converters import unstructure
from acp_host.wire.elicitation import CreateElicitationRequest
from acp_host.wire.plans import PlanUpdateContent
from acp_host.wire.tool_calls import ToolCallContent
from acp_host.wire.v2.state_update import BackgroundWork
from acp_host.wire.v2.tool_calls import ToolCallContent as PatchedContent

__all__ = ["FORMAT_VERSION", "member_to_json", "to_json"]

FORMAT_VERSION = 1
"""Version of the JSON form; the member ``format`` of a session's JSON."""

# Members of tagged unions are written with their tag, which the union knows and the class does not.
_UNION_OF: dict[type[Any], Any] = {
    cls: union
    for union in (
        ContentBlock,
        CreateElicitationRequest,
        PlanUpdateContent,
        SessionConfigOption,
        PatchedContent,
        ToolCallContent,
        BackgroundWork,
    )
    for cls in union.__args__
}


def to_json(value: Any) -> Any:
    """Return a snapshot, or any part of one, as plain JSON values.

    JSON that an agent sent (``rawInput``, ``_meta``, …) is passed on, not copied: treat the result as read-only.

    Args:
        value: a snapshot class of this package, a wire type, or a tuple, mapping or scalar of such.

    Raises:
        TypeError: ``value`` is something else.
    """
    if value is None or isinstance(value, str | int | float):
        return value.value if isinstance(value, Enum) else value
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
    hint = ", what its snapshot() returns has" if hasattr(value, "snapshot") else ""
    raise TypeError(f"{type(value).__name__} has no JSON form{hint}")


def member_to_json(value: Any, attribute: str) -> Any:
    """Return one attribute of a snapshot class as it stands in the class's JSON form."""
    member = getattr(value, attribute)
    return _as_sent(member) if is_plain_json(getattr(attrs.fields(type(value)), attribute)) else to_json(member)


def _object(value: Any) -> dict[str, Any]:
    cls: Any = type(value)
    members = {name: write(getattr(value, attribute)) for attribute, name, write in _members(cls)}
    kind = getattr(value, "type", None)
    if isinstance(value, SessionSnapshot):
        return {"format": FORMAT_VERSION, **members}
    return {"type": kind, **members} if isinstance(kind, str) and "type" not in members else members


@functools.cache
def _members(cls: Any) -> tuple[tuple[str, str, Callable[[Any], Any]], ...]:
    """Return the attributes of a class, their names in JSON, and what writes their values."""
    return tuple(
        (attribute.name, wire_name(attribute.name), _as_sent if is_plain_json(attribute) else to_json)
        for attribute in attrs.fields(cls)
    )


def _as_sent(value: Any) -> Any:
    if value is NO_EXTRA:
        return {}
    return list(value) if isinstance(value, tuple) else value
