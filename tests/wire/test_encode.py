"""Wire types as plain JSON."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import orjson
import pytest

from acp_host.wire._encode import encoder_of
from acp_host.wire._model import UNSET, Model, Unknown, evolve
from acp_host.wire._shape import AnyShape, BoolShape, FloatShape, shape_of
from acp_host.wire.content import ContentBlock, TextContent
from acp_host.wire.converters import unstructure
from acp_host.wire.elicitation import ElicitationAcceptAction
from acp_host.wire.permission import PermissionOption, PermissionOptionKind
from acp_host.wire.rpc_error import Error, ErrorCode
from acp_host.wire.session import NewSessionRequest
from acp_host.wire.tool_calls import ToolCallUpdate
from tests.wire.samples import Circle, Color, FileSource, Named, Point, Sheet, UnknownFigure, Unnamed, read


def test_everything_at_once() -> None:
    value = Sheet(
        "s",
        (Point(1, 2), Circle(3, center=Point(0, 0)), UnknownFigure("star", {"kind": "star", "points": 5})),
        {"a": "b"},
        color=Color.RED,
        scale=1.0,
        visible=False,
        value=("a",),
        by_name={"p": Point(1, 2)},
        source=FileSource("/p"),
        target=Unnamed("here"),
        tags=(),
        notes=None,
        raw=[1, {"a": None}],
        odd_name=0,
        meta={},
        extra={"more": [1]},
    )
    data = unstructure(value)

    assert data == {
        "sheetId": "s",
        "figures": [
            {"kind": "point", "x": 1, "y": 2},
            {"kind": "circle", "radius": 3, "center": {"x": 0, "y": 0}},
            {"kind": "star", "points": 5},
        ],
        "owners": {"a": "b"},
        "color": "red",
        "scale": 1.0,
        "visible": False,
        "value": ["a"],
        "byName": {"p": {"kind": "point", "x": 1, "y": 2}},
        "source": {"path": "/p"},
        "target": {"place": "here"},
        "tags": [],
        "notes": None,
        "raw": [1, {"a": None}],
        "$odd-name": 0,
        "_meta": {},
        "more": [1],
    }
    assert read(data, Sheet) == value


def test_absent_stays_absent_and_null_stays_null() -> None:
    assert unstructure(ToolCallUpdate("c")) == {"toolCallId": "c"}
    assert unstructure(ToolCallUpdate("c", title=None)) == {"toolCallId": "c", "title": None}
    assert unstructure(evolve(ToolCallUpdate("c", title=None), title=UNSET)) == {"toolCallId": "c"}
    assert unstructure(ToolCallUpdate("c", raw_input=None, raw_output=0)) == {
        "toolCallId": "c",
        "rawInput": None,
        "rawOutput": 0,
    }


def test_what_is_known_wins_over_what_is_further() -> None:
    assert unstructure(Point(1, 2, extra={"x": 9, "label": "kept"})) == {"x": 1, "y": 2, "label": "kept"}


def test_the_tag_is_written_where_a_union_is_asked_for() -> None:
    assert unstructure(TextContent("t")) == {"text": "t"}
    assert unstructure(TextContent("t"), ContentBlock) == {"type": "text", "text": "t"}


def test_words_of_a_vocabulary_become_plain_strings_and_numbers() -> None:
    option = unstructure(PermissionOption("o", "Yes", PermissionOptionKind.ALLOW_ONCE))
    assert type(option["kind"]) is str
    error = unstructure(Error(ErrorCode.INTERNAL_ERROR, "m"))
    assert type(error["code"]) is int

    class Text(str):
        pass

    plain = unstructure(NewSessionRequest(Text("/c"), (), additional_directories=[Text("/d")]))
    assert {type(plain["cwd"]), type(plain["additionalDirectories"][0])} == {str}
    answer = unstructure(ElicitationAcceptAction({"a": Color.RED, "b": (Color.BLUE,), "c": ErrorCode.PARSE_ERROR}))
    assert answer["content"] == {"a": "red", "b": ["blue"], "c": -32700}
    assert [type(answer["content"][name]) for name in "abc"] == [str, list, int]


def test_true_stays_true() -> None:
    answer = unstructure(ElicitationAcceptAction({"a": True, "b": 1, "c": 1.0}))
    assert orjson.dumps(answer["content"]) == b'{"a":true,"b":1,"c":1.0}'


def test_lists_and_other_mappings_are_taken_too() -> None:
    value: Any = Sheet("s", [Point(1, 2)], MappingProxyType({"a": "b"}), meta=MappingProxyType({"m": 1}))
    data = unstructure(value)

    assert data == {
        "sheetId": "s",
        "figures": [{"kind": "point", "x": 1, "y": 2}],
        "owners": {"a": "b"},
        "_meta": {"m": 1},
    }
    assert [type(data[name]) for name in ("figures", "owners", "_meta")] == [list, dict, dict]


@pytest.mark.parametrize(
    ("wrong", "written"),
    [
        ({"figures": "abc"}, {"figures": "abc"}),
        ({"figures": ("abc",)}, {"figures": ["abc"]}),
        ({"figures": ({"kind": "point", "x": 1, "y": 2},)}, {"figures": [{"kind": "point", "x": 1, "y": 2}]}),
        ({"figures": (FileSource("/p"),)}, {"figures": [{"path": "/p"}]}),
        ({"figures": None}, {"figures": None}),
        ({"owners": [1]}, {"owners": [1]}),
        ({"color": 5}, {"color": 5}),
        ({"source": "/p"}, {"source": "/p"}),
        ({"target": Named}, {"target": Named}),
        ({"tags": "abc"}, {"tags": "abc"}),
        ({"by_name": (1, 2)}, {"byName": (1, 2)}),
        ({"value": b"bytes"}, {"value": b"bytes"}),
    ],
)
def test_what_is_of_another_type_is_passed_on_as_it_is(wrong: dict[str, Any], written: dict[str, Any]) -> None:
    value = evolve(Sheet("s", (), {}), **wrong)
    assert unstructure(value) == {"sheetId": "s", "figures": [], "owners": {}, **written}


def test_an_unknown_member_is_written_as_it_came() -> None:
    data = {"kind": "star", "x": None}
    assert unstructure(Unknown("star", data)) == data


def test_plain_json_needs_no_work() -> None:
    assert {encoder_of(shape) for shape in (AnyShape(), FloatShape(), BoolShape())} == {None}
    assert encoder_of(shape_of(Point)) is not None


def test_encoding_goes_no_deeper_than_the_types() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    data = unstructure(ToolCallUpdate("c", raw_input=deep, meta={"deep": deep}, extra={"deep": deep}))
    assert data["rawInput"] is data["_meta"]["deep"] is data["deep"] is deep
    while deep:  # taken apart by hand: that is not what this is about
        deep = deep.pop()


def test_a_type_of_an_application_needs_no_registration() -> None:
    class Note(Model):
        pass

    assert unstructure(Note(extra={"text": "t"})) == {"text": "t"}
