"""Unions: which class an object is read as, and what is written back."""

from __future__ import annotations

from typing import Any

import pytest

from acp_host.errors import DecodeError
from acp_host.wire._model import UNSET, Model, Unknown, model
from acp_host.wire._unions import ShapeUnion, TaggedUnion, find_union, shape_union, tagged_union
from acp_host.wire.config_options import SessionConfigSelect, SessionConfigSelectGroup, SessionConfigSelectOption
from acp_host.wire.content import BlobResourceContents, EmbeddedResourceResource, TextResourceContents
from acp_host.wire.converters import structure_tolerant, unstructure
from acp_host.wire.mcp import McpServer, McpServerHttp, McpServerStdio, UnknownMcpServer
from acp_host.wire.permission import RequestPermissionRequest
from acp_host.wire.tool_calls import ToolCallUpdate
from acp_host.wire.updates import SessionUpdate, UnknownSessionUpdate
from tests.wire.samples import (
    Circle,
    Figure,
    FileSource,
    Named,
    Point,
    Source,
    Target,
    TextSource,
    UnknownFigure,
    UnknownSource,
    UnknownTarget,
    Unnamed,
    read,
    read_repaired,
)

READ: list[tuple[Any, dict[str, Any], Any]] = [
    (Figure, {"kind": "point", "x": 1, "y": 2}, Point(1, 2)),
    (Figure, {"y": 2, "x": 1, "label": None, "kind": "point"}, Point(1, 2, label=None)),
    (Figure, {"kind": "circle", "radius": 0, "z": [1]}, Circle(0, extra={"z": [1]})),
    (Figure, {"kind": "star", "points": 5}, UnknownFigure("star", {"kind": "star", "points": 5})),
    (Figure, {"kind": "", "x": 1, "y": 2}, UnknownFigure("", {"kind": "", "x": 1, "y": 2})),
    (Figure, {"kind": "Point", "x": 1, "y": 2}, UnknownFigure("Point", {"kind": "Point", "x": 1, "y": 2})),
    (Target, {"type": "named", "name": "n"}, Named("n")),
    (Target, {"place": "p"}, Unnamed("p")),
    (Target, {"place": "p", "name": "n"}, Unnamed("p", extra={"name": "n"})),
    (Target, {"type": "other", "place": "p"}, UnknownTarget("other", {"type": "other", "place": "p"})),
    (Source, {"path": "/p"}, FileSource("/p")),
    (Source, {"text": "t"}, TextSource("t")),
    (Source, {"text": "t", "path": "/p"}, FileSource("/p", extra={"text": "t"})),
    (Source, {"text": "t", "path": None}, TextSource("t", extra={"path": None})),
    (Source, {"url": "u"}, UnknownSource("", {"url": "u"})),
    (Source, {"path": None}, UnknownSource("", {"path": None})),
    (Source, {}, UnknownSource("", {})),
]


@pytest.mark.parametrize(("union", "data", "value"), READ)
def test_members_are_read_and_written_back(union: Any, data: dict[str, Any], value: Any) -> None:
    assert read(data, union) == value
    assert unstructure(value, union) == data


@pytest.mark.parametrize(
    ("union", "data", "problem"),
    [
        (Figure, {"x": 1, "y": 2}, "required property 'kind' is missing at $"),
        (Figure, {"kind": None}, "expected a string, got null at $.kind"),
        (Figure, {"kind": 5}, "expected a string, got the number 5 at $.kind"),
        (Figure, {"kind": []}, "expected a string, got an array at $.kind"),
        (Figure, {"kind": {}}, "expected a string, got an object at $.kind"),
        (Figure, {"kind": "point", "x": 1}, "required property 'y' is missing at $"),
        (Target, {"type": None, "place": "p"}, "expected a string, got null at $.type"),
        (Target, {"type": [], "place": "p"}, "expected a string, got an array at $.type"),
        (Target, {"type": "named"}, "required property 'name' is missing at $"),
        (Target, {}, "required property 'place' is missing at $"),
        (Source, {"path": 5, "text": "t"}, "expected a string, got the number 5 at $.path"),
        *(
            (union, data, "expected an object")
            for union in (Figure, Target, Source)
            for data in (None, [], "", 5, True)
        ),
    ],
)
def test_what_is_no_member(union: Any, data: Any, problem: str) -> None:
    with pytest.raises(DecodeError) as caught:
        read_repaired(data, union)
    assert str(caught.value).startswith(problem)


def test_an_unknown_member_is_kept_as_it_came() -> None:
    data = {"kind": "star", "_meta": {"a": None}, "nested": {"kind": "point"}}
    star = read(data, Figure)

    assert star == UnknownFigure("star", data)
    assert star.problem is None
    assert unstructure(star) == unstructure(star, Figure) == data
    assert unstructure(star) is not star.data


def test_the_tag_belongs_to_the_union_and_not_to_the_class() -> None:
    call = ToolCallUpdate("call-1", status="failed")

    assert unstructure(call) == {"toolCallId": "call-1", "status": "failed"}
    tagged = {"sessionUpdate": "tool_call_update", "toolCallId": "call-1", "status": "failed"}
    assert unstructure(call, SessionUpdate) == tagged
    assert read(tagged, SessionUpdate) == call
    question = {"sessionId": "s", "toolCall": unstructure(call), "options": []}
    assert read(question, RequestPermissionRequest).tool_call == call


def test_a_tag_where_none_belongs_is_a_further_property() -> None:
    tagged = {"sessionUpdate": "tool_call_update", "toolCallId": "call-1"}
    call = read({"sessionId": "s", "toolCall": tagged, "options": []}, RequestPermissionRequest).tool_call

    assert call == ToolCallUpdate("call-1", extra={"sessionUpdate": "tool_call_update"})
    assert unstructure(call) == unstructure(call, SessionUpdate) == tagged


def test_a_server_without_a_type_is_a_process() -> None:
    data = {"name": "n", "command": "/bin/n", "args": [], "env": []}

    assert read(data, McpServer) == McpServerStdio("n", "/bin/n", (), ())
    assert read({"type": "http", "name": "n", "url": "u", "headers": []}, McpServer) == McpServerHttp("n", "u", ())
    assert read({"type": "stdio", **data}, McpServer) == UnknownMcpServer("stdio", {"type": "stdio", **data})


def test_a_resource_is_told_by_what_it_has() -> None:
    assert read({"uri": "u", "text": ""}, EmbeddedResourceResource) == TextResourceContents("", "u")
    assert read({"uri": "u", "blob": ""}, EmbeddedResourceResource) == BlobResourceContents("", "u")
    # As a sender writes it that spells out everything it does not have.
    written = {"uri": "u", "text": None, "blob": "AA=="}
    blob = read(written, EmbeddedResourceResource)
    assert blob == BlobResourceContents("AA==", "u", extra={"text": None})
    assert unstructure(blob, EmbeddedResourceResource) == written


def test_a_list_of_groups_and_a_list_of_values_are_told_apart_by_their_items() -> None:
    value = {"value": "a", "name": "A"}
    group = {"group": "g", "name": "G", "options": [value]}
    select = {"id": "i", "name": "n", "currentValue": "a"}

    assert read({**select, "options": [value]}, SessionConfigSelect).options == (SessionConfigSelectOption("a", "A"),)
    [read_group] = read({**select, "options": [group]}, SessionConfigSelect).options
    assert read_group == SessionConfigSelectGroup("g", "G", (SessionConfigSelectOption("a", "A"),))


def test_an_update_of_an_unknown_kind_is_kept() -> None:
    data = {"sessionUpdate": "weather", "sky": "blue"}
    assert read(data, SessionUpdate) == UnknownSessionUpdate("weather", data)


@pytest.mark.parametrize("tag", ["kind", "type"])
def test_the_unknown_member_of_one_union_says_nothing_about_another(tag: str) -> None:
    typed, repairs = structure_tolerant(
        {tag: "point", "x": 1, "y": 1, "place": "p"}, Figure if tag == "kind" else Target
    )
    assert repairs == []
    assert type(typed) is (Point if tag == "kind" else UnknownTarget)


def test_a_union_is_found_by_its_members_alone() -> None:
    union = find_union([UnknownFigure, Point, Circle])

    assert isinstance(union, TaggedUnion)
    assert union.members() == {Point, Circle, UnknownFigure}
    assert find_union([Point, Circle]) is None
    assert find_union([Point, Circle, UnknownFigure, UNSET]) is None
    assert isinstance(find_union([FileSource, TextSource, UnknownSource]), ShapeUnion)


def test_the_tag_of_a_member() -> None:
    union = find_union([Named, Unnamed, UnknownTarget])

    assert isinstance(union, TaggedUnion)
    assert union.tag_of(Named) == "named"
    assert union.tag_of(Unnamed) is None
    assert union.tag_of(Point) is None


def test_two_unions_cannot_have_the_same_members() -> None:
    @model
    class One(Model):
        pass

    @model
    class UnknownOne(Unknown):
        pass

    tagged_union("First", tag="t", variants={"one": One}, unknown=UnknownOne)
    tagged_union("First", tag="t", variants={"one": One}, unknown=UnknownOne)
    with pytest.raises(TypeError, match="Second and First have the same members"):
        shape_union("Second", by_property={"one": One}, unknown=UnknownOne)
