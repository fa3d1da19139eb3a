"""Wire types for the tests of the engine: one of everything that a declaration can say."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, ClassVar, TypeAlias

from acp_host.diagnostics import Diagnostic
from acp_host.wire._model import (
    UNSET,
    Json,
    JsonObject,
    Model,
    NonEmptyStr,
    UInt,
    Unknown,
    Unset,
    model,
    wire_field,
)
from acp_host.wire._unions import shape_union, tagged_union
from acp_host.wire.converters import decoder, structure_tolerant


class Color(StrEnum):
    RED = "red"
    BLUE = "blue"


@model
class Point(Model):
    kind: ClassVar[str] = "point"

    x: int
    y: int
    label: str | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class Circle(Model):
    radius: UInt
    center: Point | Unset = wire_field(default=UNSET)


@model
class UnknownFigure(Unknown):
    pass


Figure: TypeAlias = Point | Circle | UnknownFigure
tagged_union("Figure", tag="kind", variants={"point": Point, "circle": Circle}, unknown=UnknownFigure)


@model
class Unnamed(Model):
    place: str


@model
class Named(Model):
    name: str


@model
class UnknownTarget(Unknown):
    pass


Target: TypeAlias = Named | Unnamed | UnknownTarget
tagged_union("Target", tag="type", variants={"named": Named}, unknown=UnknownTarget, default=Unnamed)


@model
class FileSource(Model):
    path: str


@model
class TextSource(Model):
    text: str


@model
class UnknownSource(Unknown):
    pass


Source: TypeAlias = FileSource | TextSource | UnknownSource
shape_union("Source", by_property={"path": FileSource, "text": TextSource}, unknown=UnknownSource)


@model
class Sheet(Model):
    sheet_id: NonEmptyStr
    figures: tuple[Figure, ...] = wire_field(default_on_error=True, skip_invalid_items=True)
    owners: Mapping[str, str] = wire_field(default_on_error=True)
    color: Color | str | None | Unset = wire_field(default=UNSET, default_on_error=True)
    scale: float | None | Unset = wire_field(default=UNSET)
    visible: bool | Unset = wire_field(default=UNSET, default_on_error=True)
    value: str | int | bool | tuple[str, ...] | Unset = wire_field(default=UNSET)
    by_name: Mapping[str, Figure] | Unset = wire_field(default=UNSET)
    source: Source | None | Unset = wire_field(default=UNSET, default_on_error=True)
    target: Target | Unset = wire_field(default=UNSET)
    tags: tuple[str, ...] | Unset = wire_field(default=UNSET, default_on_null=True)
    notes: tuple[str, ...] | None | Unset = wire_field(default=UNSET, skip_invalid_items=True)
    raw: Json = wire_field(default=UNSET, default_on_error=True)
    odd_name: int | Unset = wire_field(default=UNSET, name="$odd-name")
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


def sheet(**members: Any) -> dict[str, Any]:
    """Return a sheet as JSON: the least that is valid, and ``members``."""
    return {"sheetId": "s", "figures": [], "owners": {}, **members}


def read(value: Any, hint: Any) -> Any:
    """Decode what is exactly as declared, by both decoders."""
    typed = decoder(hint)(value)
    careful, repairs = structure_tolerant(value, hint)
    assert repairs == []
    assert careful == typed
    return typed


def refused(value: Any, hint: Any) -> bool:
    """Tell whether the fast decoder leaves ``value`` to the careful one."""
    try:
        decoder(hint)(value)
    except Exception:  # of which type is not promised
        return True
    return False


def read_repaired(value: Any, hint: Any) -> tuple[Any, list[Diagnostic]]:
    """Decode what the fast decoder must leave to the careful one."""
    assert refused(value, hint)
    return structure_tolerant(value, hint)
