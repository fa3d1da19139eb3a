"""The shape of a wire type as data, read once from its annotations.

Everything that walks wire types (the fast decoder, the tolerant decoder, the encoder, the conformance test) walks these
descriptors, so that what an annotation means is decided here and nowhere else.
"""

from __future__ import annotations

import enum
import functools
import inspect
import sys
import types
import typing
from collections.abc import Mapping
from typing import Any

import attrs

from acp_host.wire._model import Limit, Model, Unset, wire_name
from acp_host.wire._unions import WireUnion, find_union

__all__ = [
    "LARGEST_NUMBER",
    "AnyShape",
    "ArrayShape",
    "BoolShape",
    "ChoiceShape",
    "Field",
    "FloatShape",
    "IntShape",
    "MapShape",
    "ModelShape",
    "Shape",
    "StrShape",
    "UnionShape",
    "fields_of",
    "is_model",
    "shape_of",
]


@attrs.frozen
class AnyShape:
    """Any JSON value, kept as decoded."""


@attrs.frozen
class StrShape:
    """A string; ``vocabulary`` names the values the schema lists, other values are kept."""

    min_length: int | None = None
    vocabulary: type[enum.StrEnum] | None = None


@attrs.frozen
class IntShape:
    """An integer."""

    minimum: int | None = None


LARGEST_NUMBER = sys.float_info.max
"""The largest number that is one: what is written as 1e999 is none."""


@attrs.frozen
class FloatShape:
    """A number that a float can hold; integers stay integers."""


@attrs.frozen
class BoolShape:
    """``true`` or ``false``."""


@attrs.frozen
class ModelShape:
    """A JSON object read as one wire type (``cls``, a subclass of ``Model``)."""

    cls: Any


@attrs.frozen
class UnionShape:
    """A JSON object read as a member of a declared union."""

    union: WireUnion


@attrs.frozen
class ArrayShape:
    """A JSON array of items of one shape."""

    item: Shape


@attrs.frozen
class MapShape:
    """A JSON object with values of one shape."""

    value: Shape


@attrs.frozen
class ChoiceShape:
    """A value of the first shape that accepts it."""

    options: tuple[Shape, ...]
    nullable: bool = False


Shape = (
    AnyShape
    | StrShape
    | IntShape
    | FloatShape
    | BoolShape
    | ModelShape
    | UnionShape
    | ArrayShape
    | MapShape
    | ChoiceShape
)


@attrs.frozen
class Field:
    """One property of a wire type.

    Attributes:
        name: attribute name.
        wire: property name.
        shape: shape of a value that is present and not ``null``.
        required: the property must be present.
        nullable: ``null`` is allowed.
        default_on_error: see :func:`acp_host.wire._model.wire_field`.
        skip_invalid_items: likewise.
        default_on_null: likewise.
        also: likewise.
        stand_in: likewise.
    """

    name: str
    wire: str
    shape: Shape
    required: bool
    nullable: bool
    default_on_error: bool
    skip_invalid_items: bool
    default_on_null: bool
    also: str | None = None
    stand_in: str | None = None


def is_model(hint: Any) -> bool:
    """Tell whether ``hint`` is a wire type."""
    return isinstance(hint, type) and issubclass(hint, Model)


@functools.cache
def fields_of(cls: Any) -> tuple[Field, ...]:
    """Return the properties of a wire type in the order of its constructor's arguments."""
    hints = _hints_of(cls)
    return tuple(
        _field(attribute, hints[attribute.name]) for attribute in attrs.fields(cls) if attribute.name != "extra"
    )


def _hints_of(cls: type[Any]) -> dict[str, Any]:
    """Return the annotations of a wire type's attributes, evaluated.

    ``typing.get_type_hints`` compiles each anew, most of which many types share, and takes three times as long. The
    class's own names are no names here: an attribute called ``list`` would hide the type.
    """
    return {
        name: eval(_code_of(annotation), vars(sys.modules[declaring.__module__]))
        for declaring in reversed(cls.__mro__)
        for name, annotation in inspect.get_annotations(declaring).items()
    }


@functools.cache
def _code_of(annotation: str) -> types.CodeType:
    return compile(annotation, "<annotation of a wire type>", "eval")


@functools.cache
def shape_of(hint: Any) -> Shape:
    """Return the shape that an annotation stands for, ``null`` and absence left aside.

    Raises:
        TypeError: the annotation is none that a wire type may use.
    """
    if hint is Any:
        return AnyShape()
    if is_model(hint):
        return ModelShape(hint)
    origin = typing.get_origin(hint)
    if origin is typing.Annotated:
        return _limited(hint)
    if origin in (typing.Union, types.UnionType):
        return _union(hint)
    if origin is tuple:
        return ArrayShape(shape_of(typing.get_args(hint)[0]))
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return MapShape(shape_of(typing.get_args(hint)[1]))
    return _scalar(hint)


def _field(attribute: attrs.Attribute[Any], hint: Any) -> Field:
    metadata = attribute.metadata
    members = _members(hint)
    return Field(
        name=attribute.name,
        wire=metadata.get("name") or wire_name(attribute.name),
        shape=shape_of(hint),
        required=attribute.default is attrs.NOTHING or (Unset not in members and hint is not Any),
        nullable=type(None) in members or hint is Any,
        default_on_error=metadata.get("default_on_error", False),
        skip_invalid_items=metadata.get("skip_invalid_items", False),
        default_on_null=metadata.get("default_on_null", False),
        also=metadata.get("also"),
        stand_in=metadata.get("stand_in"),
    )


def _members(hint: Any) -> tuple[Any, ...]:
    return typing.get_args(hint) if typing.get_origin(hint) in (typing.Union, types.UnionType) else (hint,)


def _limited(hint: Any) -> Shape:
    base, *notes = typing.get_args(hint)
    limit = next((note for note in notes if isinstance(note, Limit)), Limit())
    if base is int:
        return IntShape(limit.minimum)
    return StrShape(limit.min_length) if base is str else shape_of(base)


def _union(hint: Any) -> Shape:
    """Read a union: a vocabulary, a declared union, one type made optional, or a choice of plain types."""
    members = [member for member in _members(hint) if member not in (type(None), Unset)]
    if Any in members:
        return AnyShape()
    if len(members) == 1:
        return shape_of(members[0])
    vocabulary = next((m for m in members if isinstance(m, type) and issubclass(m, enum.StrEnum)), None)
    if vocabulary is not None and str in members and len(members) == 2:
        return StrShape(vocabulary=vocabulary)
    union = find_union(members)
    if union is not None:
        return UnionShape(union)
    return ChoiceShape(tuple(shape_of(member) for member in members), nullable=type(None) in _members(hint))


_SCALARS: dict[Any, Shape] = {str: StrShape(), int: IntShape(), float: FloatShape(), bool: BoolShape()}


def _scalar(hint: Any) -> Shape:
    if isinstance(hint, type) and issubclass(hint, enum.StrEnum):
        return StrShape(vocabulary=hint)
    try:
        return _SCALARS[hint]
    except (KeyError, TypeError):
        raise TypeError(f"a wire type cannot have an attribute of type {hint!r}") from None
