"""The encoder: wire types to plain JSON values, with absent properties left out and unknown ones written back.

What is not of the declared type is passed on as it is: it is for :func:`acp_host.wire.converters.check` to say what is
wrong, and where.
"""

from __future__ import annotations

import enum
import functools
from collections.abc import Callable, Mapping
from typing import Any

from acp_host.wire._model import UNSET, Model, Unknown
from acp_host.wire._shape import (
    ArrayShape,
    ChoiceShape,
    IntShape,
    MapShape,
    ModelShape,
    Shape,
    StrShape,
    UnionShape,
    fields_of,
)
from acp_host.wire._unions import ShapeUnion, TaggedUnion

__all__ = ["encoder_of"]

Encoder = Callable[[Any], Any]


@functools.cache
def encoder_of(shape: Shape) -> Encoder | None:
    """Return a function from a typed value to plain JSON, or ``None`` where the value already is."""
    match shape:
        case ModelShape() | UnionShape(ShapeUnion()):
            return _encode_object
        case UnionShape(TaggedUnion() as union):
            return functools.partial(_encode_tagged, union)
        case ArrayShape(item):
            return functools.partial(_encode_array, encoder_of(item))
        case MapShape(value):
            return functools.partial(_encode_map, encoder_of(value))
        case StrShape() | IntShape() | ChoiceShape():
            return _encode_plain
        case _:
            return None


def _encode_plain(value: Any) -> Any:
    """Make a member of an enumeration the string or number that it is, and a tuple of strings an array."""
    if isinstance(value, str) and value.__class__ is not str:
        return str.__str__(value)
    if isinstance(value, enum.IntEnum):
        return int(value)
    return _encode_array(_encode_plain, value) if isinstance(value, tuple) else value


def _encode_array(inner: Encoder | None, items: Any) -> Any:
    if not isinstance(items, tuple | list):
        return items
    return list(items) if inner is None else [inner(item) for item in items]


def _encode_map(inner: Encoder | None, members: Any) -> Any:
    if not isinstance(members, Mapping):
        return members
    return dict(members) if inner is None else {name: inner(value) for name, value in members.items()}


def _encode_tagged(union: TaggedUnion, value: Any) -> Any:
    members = _encode_object(value)
    tag = union.tag_of(type(value))
    return members if tag is None else {union.tag: tag, **members}


def _encode_object(value: Any) -> Any:
    if isinstance(value, Unknown):
        return dict(value.data)
    if not isinstance(value, Model):
        return value
    members: dict[str, Any] = {}
    cls: Any = type(value)
    for name, wire, encode in _plan(cls):
        attribute = getattr(value, name)
        if attribute is not UNSET:
            members[wire] = attribute if encode is None or attribute is None else encode(attribute)
    return {**value.extra, **members} if value.extra else members


@functools.cache
def _plan(cls: Any) -> tuple[tuple[str, str, Encoder | None], ...]:
    return tuple((field.name, field.wire, encoder_of(field.shape)) for field in fields_of(cls))
