"""What annotations stand for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

import pytest

from acp_host.wire._model import UNSET, Json, JsonObject, Limit, Model, NonEmptyStr, UInt, Unset, model, wire_field
from acp_host.wire._shape import (
    AnyShape,
    ArrayShape,
    BoolShape,
    ChoiceShape,
    Field,
    FloatShape,
    IntShape,
    MapShape,
    ModelShape,
    StrShape,
    UnionShape,
    fields_of,
    is_model,
    shape_of,
)
from acp_host.wire._unions import find_union
from tests.wire.samples import Circle, Color, Figure, Point, Sheet, Source, UnknownFigure

FIGURE = find_union([Point, Circle, UnknownFigure])
assert FIGURE is not None

SHAPES: list[tuple[Any, Any]] = [
    (Any, AnyShape()),
    (Json | Unset, AnyShape()),
    (str, StrShape()),
    (str | None, StrShape()),
    (str | None | Unset, StrShape()),
    (NonEmptyStr, StrShape(min_length=1)),
    (NonEmptyStr | None, StrShape(min_length=1)),
    (Annotated[str, "a note of somebody else"], StrShape()),
    (Annotated[str, "a note", Limit(min_length=2)], StrShape(min_length=2)),
    (Annotated[bool, "a note"], BoolShape()),
    (Color, StrShape(vocabulary=Color)),
    (Color | str, StrShape(vocabulary=Color)),
    (Color | str | None | Unset, StrShape(vocabulary=Color)),
    (int, IntShape()),
    (UInt, IntShape(minimum=0)),
    (UInt | None | Unset, IntShape(minimum=0)),
    (float, FloatShape()),
    (bool | Unset, BoolShape()),
    (Point, ModelShape(Point)),
    (Point | None, ModelShape(Point)),
    (Figure, UnionShape(FIGURE)),
    (Figure | None | Unset, UnionShape(FIGURE)),
    (UnknownFigure | Circle | Point, UnionShape(FIGURE)),
    (tuple[str, ...], ArrayShape(StrShape())),
    (tuple[Figure, ...] | None, ArrayShape(UnionShape(FIGURE))),
    (tuple[tuple[int, ...], ...], ArrayShape(ArrayShape(IntShape()))),
    (JsonObject, MapShape(AnyShape())),
    (Mapping[str, tuple[UInt, ...]], MapShape(ArrayShape(IntShape(minimum=0)))),
    (dict[str, Point], MapShape(ModelShape(Point))),
    (bool | str, ChoiceShape((BoolShape(), StrShape()))),
    (int | str | None | Unset, ChoiceShape((IntShape(), StrShape()), nullable=True)),
    (str | tuple[str, ...], ChoiceShape((StrShape(), ArrayShape(StrShape())))),
    (Point | Circle, ChoiceShape((ModelShape(Point), ModelShape(Circle)))),
]


@pytest.mark.parametrize(("hint", "shape"), SHAPES, ids=[str(hint) for hint, _ in SHAPES])
def test_shape(hint: Any, shape: Any) -> None:
    assert shape_of(hint) == shape


@pytest.mark.parametrize("hint", [bytes, object, list[str], set[str], complex, Literal["a"], UnknownFigure, 5])
def test_other_annotations_are_refused(hint: Any) -> None:
    with pytest.raises(TypeError, match="a wire type cannot have an attribute of type"):
        shape_of(hint)


def test_fields() -> None:
    fields = {field.name: field for field in fields_of(Sheet)}

    assert "extra" not in fields
    assert fields["sheet_id"] == Field(
        name="sheet_id",
        wire="sheetId",
        shape=StrShape(min_length=1),
        required=True,
        nullable=False,
        default_on_error=False,
        skip_invalid_items=False,
        default_on_null=False,
    )
    figures, notes, tags = fields["figures"], fields["notes"], fields["tags"]
    assert (figures.required, figures.default_on_error, figures.skip_invalid_items) == (True, True, True)
    assert (notes.required, notes.nullable, notes.default_on_error, notes.skip_invalid_items) == (
        False,
        True,
        False,
        True,
    )
    assert (tags.required, tags.nullable, tags.default_on_null) == (False, False, True)
    assert (fields["raw"].required, fields["raw"].nullable) == (False, True)
    assert [fields[name].wire for name in ("odd_name", "meta", "by_name")] == ["$odd-name", "_meta", "byName"]


def test_fields_come_in_the_order_of_the_constructor_and_class_variables_are_none() -> None:
    assert [field.name for field in fields_of(Point)] == ["x", "y", "label"]


def test_an_attribute_without_a_wire_field_is_required_if_it_has_no_default() -> None:
    @model
    class Plain(Model):
        note: ClassVar[str] = "not a property"

        a: str
        b: Json
        c: int | Unset = UNSET
        d: Json = wire_field(default=UNSET)
        e: str = "the default is for those who write"

    required = {field.name: field.required for field in fields_of(Plain)}
    assert required == {"a": True, "b": True, "c": False, "d": False, "e": True}


def test_what_is_a_model() -> None:
    assert is_model(Point)
    assert is_model(Model)
    assert not is_model(UnknownFigure)
    assert not is_model(Point(1, 2))
    assert not is_model(Figure)
    assert not is_model(Source)
    assert not is_model(None)
