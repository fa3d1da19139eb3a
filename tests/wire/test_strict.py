"""The fast decoder: takes what is exactly as declared, refuses all else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from acp_host.wire import _strict
from acp_host.wire._model import UNSET, Json, Model, Unknown, Unset, model, wire_field
from acp_host.wire._shape import UnionShape
from acp_host.wire._strict import strict_decoder
from acp_host.wire._unions import TaggedUnion
from acp_host.wire.content import TextContent
from acp_host.wire.converters import decoder, prepare, structure_tolerant
from acp_host.wire.updates import AgentMessageChunk, SessionUpdate
from tests.wire.samples import Circle, Figure, FileSource, Named, Point, Sheet, UnknownFigure, read, refused, sheet

POINT = {"kind": "point", "x": 1, "y": 2}


EVERYTHING = {
    "sheetId": "s",
    "figures": [POINT, {"kind": "circle", "radius": 3, "center": {"x": 0, "y": -1}}, {"kind": "star"}],
    "owners": {"a": "b", "": ""},
    "color": "violet",
    "scale": 1,
    "visible": False,
    "value": ["a", "b"],
    "byName": {"p": POINT},
    "source": {"path": "/p"},
    "target": {"type": "named", "name": "n"},
    "tags": ["t"],
    "notes": None,
    "raw": {"a": [None, 1.5]},
    "$odd-name": 7,
    "_meta": {"m": 1},
    "more": [1],
}


def test_everything_at_once() -> None:
    assert read(EVERYTHING, Sheet) == Sheet(
        sheet_id="s",
        figures=(Point(1, 2), Circle(3, center=Point(0, -1)), UnknownFigure("star", {"kind": "star"})),
        owners={"a": "b", "": ""},
        color="violet",
        scale=1,
        visible=False,
        value=("a", "b"),
        by_name={"p": Point(1, 2)},
        source=FileSource("/p"),
        target=Named("n"),
        tags=("t",),
        notes=None,
        raw={"a": [None, 1.5]},
        odd_name=7,
        meta={"m": 1},
        extra={"more": [1]},
    )


def test_the_least_that_is_valid() -> None:
    typed = read(sheet(), Sheet)

    assert typed == Sheet("s", (), {})
    assert {getattr(typed, name) for name in ("color", "scale", "tags", "notes", "raw", "meta")} == {UNSET}
    assert dict(typed.extra) == {}


@pytest.mark.parametrize("name", ["color", "scale", "source", "notes", "raw", "_meta"])
def test_absent_null_and_a_value_are_three_things(name: str) -> None:
    attribute = "meta" if name == "_meta" else name
    value = {"color": "red", "scale": 0.5, "source": {"path": "p"}, "notes": [], "raw": 0, "_meta": {}}[name]

    assert getattr(read(sheet(), Sheet), attribute) is UNSET
    assert getattr(read(sheet(**{name: None}), Sheet), attribute) is None
    assert getattr(read(sheet(**{name: value}), Sheet), attribute) not in (UNSET, None)


WRONG: list[tuple[str, Any]] = [
    ("sheetId", ""),
    ("sheetId", None),
    ("sheetId", 5),
    ("figures", None),
    ("figures", {}),
    ("figures", "ab"),
    ("figures", [None]),
    ("figures", [{"kind": "point", "x": 1}]),
    ("owners", []),
    ("owners", {"a": 1}),
    ("color", 5),
    ("color", ["red"]),
    ("scale", "1"),
    ("scale", True),
    ("visible", 0),
    ("visible", None),
    ("value", None),
    ("value", 1.5),
    ("value", ["a", 1]),
    ("value", {}),
    ("byName", {"p": {"x": 1, "y": 2}}),
    ("byName", None),
    ("source", []),
    ("source", {"path": 1}),
    ("target", {"type": 5}),
    ("tags", None),
    ("tags", "t"),
    ("tags", [None]),
    ("notes", [1]),
    ("$odd-name", 1.0),
    ("$odd-name", True),
    ("_meta", []),
    ("_meta", "m"),
]


@pytest.mark.parametrize(("name", "value"), WRONG)
def test_whatever_is_wrong_or_to_be_repaired_is_refused(name: str, value: Any) -> None:
    assert refused(sheet(**{name: value}), Sheet)


@pytest.mark.parametrize("name", ["sheetId", "figures", "owners"])
def test_a_missing_property_is_refused(name: str) -> None:
    data = sheet(more=1, another=2)
    del data[name]
    with pytest.raises(KeyError):
        decoder(Sheet)(data)


@pytest.mark.parametrize("value", [None, [], "", "sheetId", 5, True, [["sheetId", "s"]]])
def test_what_is_no_object_is_refused(value: Any) -> None:
    assert all(refused(value, hint) for hint in (Sheet, Figure, Point))


INTEGERS: list[tuple[Any, bool]] = [
    (0, True),
    (-(2**63), True),
    (2**64 - 1, True),
    (2**70, True),
    (1.0, False),
    (1.5, False),
    (True, False),
    ("1", False),
    (None, False),
]


@pytest.mark.parametrize(("number", "taken"), INTEGERS)
def test_an_integer_is_an_integer(number: Any, taken: bool) -> None:
    data = {"x": number, "y": 0}
    if taken:
        assert read(data, Point).x == number
    else:
        assert refused(data, Point)


def test_a_number_keeps_its_type() -> None:
    for number in (1, 1.0, -0.0, 1e300, 2**70):
        found = read(sheet(scale=number), Sheet).scale
        assert (found, type(found)) == (number, type(number))


def test_a_negative_number_is_no_size() -> None:
    assert read({"radius": 0}, Circle) == Circle(0)
    assert refused({"radius": -1}, Circle)


@pytest.mark.parametrize("value", [True, False, 0, 1, "", "a", ("a",)])
def test_a_choice_keeps_the_type_of_its_value(value: Any) -> None:
    found = read(sheet(value=list(value) if isinstance(value, tuple) else value), Sheet).value
    assert (found, type(found)) == (value, type(value))


def test_plain_json_is_not_copied() -> None:
    raw: dict[str, Any] = {"deep": {}}
    assert decoder(Sheet)(sheet(raw=raw)).raw is raw


def test_further_properties_are_kept_whether_or_not_there_are_optional_ones() -> None:
    assert read({"x": 1, "y": 2, "z": None}, Point).extra == {"z": None}
    assert read({"x": 1, "y": 2, "label": "a", "z": 3, "X": 4}, Point).extra == {"z": 3, "X": 4}
    assert read({"kind": "point", "x": 1, "y": 2, "z": 3}, Figure).extra == {"z": 3}
    assert read({"kind": "square", "x": 1, "y": 2}, Point).extra == {"kind": "square"}


@model
class Traps(Model):
    """Its attributes have the names that generated code is tempted to use."""

    d: tuple[str, ...]
    list: tuple[str, ...]
    dict: Mapping[str, str]
    str: str
    UNSET: int
    Mismatch: bool | Unset = wire_field(default=UNSET)
    int: Json = wire_field(default=UNSET)
    item: tuple[Point, ...] | Unset = wire_field(default=UNSET)
    k: Mapping[str, Point] | Unset = wire_field(default=UNSET)
    tuple: Json = wire_field(default=UNSET)
    len: Json = wire_field(default=UNSET)
    bool: Json = wire_field(default=UNSET)
    v: float | Unset = wire_field(default=UNSET)


def test_names_of_attributes_hide_nothing() -> None:
    point = {"x": 1, "y": 2}
    data: dict[str, Any] = {
        "d": ["a"],
        "list": ["b"],
        "dict": {"c": "d"},
        "str": "s",
        "UNSET": 1,
        "Mismatch": True,
        "int": 2,
        "item": [point, point],
        "k": {"p": point},
        "tuple": 3,
        "len": 4,
        "bool": 5,
        "v": 6,
        "more": 7,
    }
    typed = decoder(Traps)(data)

    assert typed.item == (Point(1, 2), Point(1, 2))
    assert (typed.d, typed.list, typed.k, typed.extra) == (("a",), ("b",), {"p": Point(1, 2)}, {"more": 7})
    assert structure_tolerant(data, Traps) == (typed, [])
    assert decoder(Traps)({name: data[name] for name in ("d", "list", "dict", "str", "UNSET")}).v is UNSET


@model
class LateRequired(Model):
    """What has a default for those who write, but must be there when it is read."""

    a: str
    b: str | Unset = wire_field(default=UNSET)
    c: str = wire_field(default="c")


def test_a_required_property_need_not_stand_before_the_optional_ones() -> None:
    assert read({"a": "1", "c": "3"}, LateRequired) == LateRequired("1", UNSET, "3")
    assert read({"a": "1", "b": "2", "c": "3"}, LateRequired) == LateRequired("1", "2", "3")
    with pytest.raises(KeyError):
        decoder(LateRequired)({"a": "1", "b": "2"})


def test_lists_and_maps_of_types_can_be_read_by_themselves() -> None:
    assert read([POINT, {"kind": "star"}], tuple[Figure, ...]) == (Point(1, 2), UnknownFigure("star", {"kind": "star"}))
    assert read({"a": {"x": 1, "y": 2}}, Mapping[str, Point]) == {"a": Point(1, 2)}
    assert read([1, None, {"a": []}], tuple[Any, ...]) == (1, None, {"a": []})
    assert read("text", str) == "text"
    assert read({"any": 1}, Any) == {"any": 1}


def test_a_streamed_update() -> None:
    data = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "Hi"}}
    assert read(data, SessionUpdate) == AgentMessageChunk(TextContent("Hi"))


@model
class _Met(Model):
    text: str


@model
class _NeverMet(Model):
    text: NotImplemented  # no decoder can be made of it


def test_decoders_are_made_of_the_kinds_that_come_and_of_no_others() -> None:
    decode = strict_decoder(UnionShape(TaggedUnion("Lazy", "kind", {"met": _Met, "never": _NeverMet}, Unknown)))

    assert decode({"kind": "met", "text": "a"}) == _Met("a")
    assert decode({"kind": "other"}) == Unknown("other", {"kind": "other"})
    with pytest.raises(Exception, match="NotImplemented"):
        decode({"kind": "never", "text": "a"})


def test_what_was_prepared_generates_nothing_later() -> None:
    for cache in (_strict._model_decoder, _strict.strict_decoder, _strict.generate_all):
        cache.cache_clear()
    prepare(Sheet)
    generated = _strict._model_decoder.cache_info().misses, _strict.strict_decoder.cache_info().misses
    assert generated > (8, 8)
    read(EVERYTHING, Sheet)
    read({**EVERYTHING, "figures": [], "source": {"text": "t"}, "target": {"place": "p"}}, Sheet)
    assert (_strict._model_decoder.cache_info().misses, _strict.strict_decoder.cache_info().misses) == generated
