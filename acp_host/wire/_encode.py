"""The encoder: wire types to plain JSON values, with absent properties left out and unknown ones written back."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from acp_host.wire._model import UNSET, Model, Unknown
from acp_host.wire._shape import (
    ArrayShape,
    ChoiceShape,
    MapShape,
    ModelShape,
    Shape,
    UnionShape,
    fields_of,
)
from acp_host.wire._unions import TaggedUnion

__all__ = ["encoder_of"]

Encoder = Callable[[Any], Any]


@functools.cache
def encoder_of(shape: Shape) -> Encoder | None:
    """Return a function from a typed value to plain JSON, or ``None`` where the value already is."""
    match shape:
        case ModelShape():
            return _encode_object
        case UnionShape(TaggedUnion() as union):
            return functools.partial(_encode_tagged, union)
        case UnionShape():
            return _encode_object
        case ArrayShape(item):
            return _array_encoder(encoder_of(item))
        case MapShape(value):
            inner = encoder_of(value)
            return dict if inner is None else lambda members: {k: inner(v) for k, v in members.items()}
        case ChoiceShape():
            return lambda value: list(value) if isinstance(value, tuple) else value
        case _:
            return None


def _array_encoder(inner: Encoder | None) -> Encoder:
    return list if inner is None else lambda items: [inner(item) for item in items]


def _encode_tagged(union: TaggedUnion, value: Any) -> dict[str, Any]:
    if isinstance(value, Unknown):
        return dict(value.data)
    tag = union.tag_of(type(value))
    return _encode_object(value) if tag is None else {union.tag: tag, **_encode_object(value)}


def _encode_object(value: Any) -> dict[str, Any]:
    if isinstance(value, Unknown):
        return dict(value.data)
    if not isinstance(value, Model):
        raise TypeError(f"expected a wire type, got {type(value).__name__}")
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
