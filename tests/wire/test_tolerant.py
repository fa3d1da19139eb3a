"""The careful decoder: what is repaired, and what is said about the rest."""

from __future__ import annotations

import json
from typing import Any

import pytest

from acp_host.diagnostics import MAX_DATA, Diagnostic, DiagnosticKind
from acp_host.errors import DecodeError
from acp_host.wire._model import UNSET, Model, NonEmptyStr, Unset, model, wire_field
from acp_host.wire._shape import shape_of
from acp_host.wire._tolerant import TolerantDecoder, child_path
from acp_host.wire.capabilities import AgentCapabilities, PromptCapabilities
from acp_host.wire.content import TextContent
from acp_host.wire.converters import structure_tolerant
from acp_host.wire.plans import Plan, PlanEntry
from acp_host.wire.session import NewSessionRequest
from acp_host.wire.terminals import TerminalOutputResponse
from acp_host.wire.tool_calls import Content, ToolCall, ToolCallLocation
from acp_host.wire.updates import SessionNotification, SessionUpdate
from tests.wire.samples import Circle, Figure, Point, Sheet, read_repaired, sheet

POINT = {"kind": "point", "x": 1, "y": 2}


def told(repairs: list[Diagnostic]) -> list[tuple[str, str | None]]:
    assert {repair.kind for repair in repairs} <= {DiagnosticKind.REPAIRED}
    return [(repair.message, repair.path) for repair in repairs]


# ---- default on error ----

TOOK = "; the property took its default"
DEFAULTS: list[tuple[str, Any, str, Any, str, str]] = [
    # property, value, attribute, default, what is wrong, where
    ("figures", None, "figures", (), "expected an array, got null", "$.figures"),
    ("figures", {}, "figures", (), "expected an array, got an object", "$.figures"),
    ("figures", "ab", "figures", (), "expected an array, got a string", "$.figures"),
    ("owners", None, "owners", {}, "expected an object, got null", "$.owners"),
    ("owners", {"a": "b", "c": 1}, "owners", {}, "expected a string, got the number 1", "$.owners.c"),
    ("color", 5, "color", UNSET, "expected a string, got the number 5", "$.color"),
    ("color", ["red"], "color", UNSET, "expected a string, got an array", "$.color"),
    ("visible", "yes", "visible", UNSET, "expected true or false, got a string", "$.visible"),
    ("visible", None, "visible", UNSET, "expected true or false, got null", "$.visible"),
    ("visible", 1, "visible", UNSET, "expected true or false, got the number 1", "$.visible"),
    ("source", 1.5, "source", UNSET, "expected an object, got the number 1.5", "$.source"),
    ("source", {"path": True}, "source", UNSET, "expected a string, got true", "$.source.path"),
    ("_meta", [], "meta", UNSET, "expected an object, got an array", "$._meta"),
    ("_meta", False, "meta", UNSET, "expected an object, got false", "$._meta"),
]


@pytest.mark.parametrize(("name", "value", "attribute", "default", "problem", "path"), DEFAULTS)
def test_an_invalid_value_means_the_default(
    name: str, value: Any, attribute: str, default: Any, problem: str, path: str
) -> None:
    typed, repairs = read_repaired(sheet(**{name: value}), Sheet)

    assert getattr(typed, attribute) == default
    assert told(repairs) == [(problem + TOOK, path)]
    assert name not in typed.extra


def test_null_where_it_is_allowed_is_no_error() -> None:
    typed, repairs = structure_tolerant(sheet(color=None, source=None, _meta=None), Sheet)
    assert (typed.color, typed.source, typed.meta, repairs) == (None, None, None, [])


def test_an_optional_property_takes_its_default_deep_inside() -> None:
    update = {
        "sessionUpdate": "tool_call",
        "toolCallId": "c",
        "title": "t",
        "content": [{"type": "content", "content": {"type": "text", "text": "x", "annotations": {"priority": "high"}}}],
        "locations": [{"path": "/p", "line": -1}],
    }
    typed, repairs = read_repaired(update, SessionUpdate)

    text = typed.content[0].content
    assert (text.text, text.annotations.priority) == ("x", UNSET)
    assert typed.locations == (ToolCallLocation("/p"),)
    assert told(repairs) == [
        ("expected a number, got a string" + TOOK, "$.content[0].content.annotations.priority"),
        ("expected an integer of at least 0, got the number -1" + TOOK, "$.locations[0].line"),
    ]


def test_what_is_repaired_inside_keeps_its_surroundings() -> None:
    data = {"promptCapabilities": {"image": "yes", "audio": True}, "loadSession": True}
    typed, repairs = read_repaired(data, AgentCapabilities)

    assert typed == AgentCapabilities(load_session=True, prompt_capabilities=PromptCapabilities(audio=True))
    assert told(repairs) == [("expected true or false, got a string" + TOOK, "$.promptCapabilities.image")]


@model
class Inner(Model):
    must: str
    may: int | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class Outer(Model):
    inner: Inner | Unset = wire_field(default=UNSET, default_on_error=True)
    inners: tuple[Inner, ...] | Unset = wire_field(default=UNSET, skip_invalid_items=True)
    either: tuple[Inner, ...] | NonEmptyStr | Point | Unset = wire_field(default=UNSET)


@model
class Loose(Model):
    pass


@model
class Picky(Model):
    picks: tuple[Inner, ...] | tuple[Loose, ...] | Unset = wire_field(default=UNSET)


def test_only_the_outermost_repair_is_told() -> None:
    # What was repaired inside of something that is then left out has no effect on anything.
    typed, repairs = read_repaired({"inner": {"may": "x"}}, Outer)
    assert typed == Outer()
    assert told(repairs) == [("required property 'must' is missing" + TOOK, "$.inner")]

    typed, repairs = read_repaired({"inners": [{"may": "x"}, {"must": "m", "may": "y"}]}, Outer)
    assert typed == Outer(inners=(Inner("m"),))
    assert told(repairs) == [
        ("required property 'must' is missing; the item was left out", "$.inners[0]"),
        ("expected an integer, got a string" + TOOK, "$.inners[1].may"),
    ]


# ---- skip invalid items ----


def test_invalid_items_are_left_out() -> None:
    figures = [POINT, 5, {"kind": "point", "x": 1}, {"kind": []}, {"kind": "circle", "radius": 1}, None]
    typed, repairs = read_repaired(sheet(figures=figures), Sheet)

    assert typed.figures == (Point(1, 2), Circle(1))
    left_out = "; the item was left out"
    assert told(repairs) == [
        ("expected an object, got the number 5" + left_out, "$.figures[1]"),
        ("required property 'y' is missing" + left_out, "$.figures[2]"),
        ("expected a string, got an array" + left_out, "$.figures[3].kind"),
        ("expected an object, got null" + left_out, "$.figures[5]"),
    ]
    assert [repair.data for repair in repairs] == [5, '{"kind":"point","x":1}', '{"kind":[]}', None]


def test_items_can_be_left_out_where_an_error_has_no_default() -> None:
    assert read_repaired(sheet(notes=["a", 1]), Sheet)[0].notes == ("a",)
    with pytest.raises(DecodeError, match=r"^expected an array, got a string at \$\.notes$"):
        read_repaired(sheet(notes="a"), Sheet)


def test_all_items_can_be_left_out() -> None:
    typed, repairs = read_repaired({"entries": [1, 2]}, Plan)
    assert (typed, len(repairs)) == (Plan(()), 2)


def test_an_entry_that_can_be_repaired_stays() -> None:
    entry = {"content": "c", "priority": "urgent", "status": "done", "_meta": 5}
    typed, repairs = read_repaired({"entries": [entry]}, Plan)

    assert typed == Plan((PlanEntry("c", "urgent", "done"),))
    assert told(repairs) == [("expected an object, got the number 5" + TOOK, "$.entries[0]._meta")]


def test_an_array_without_the_annotation_is_refused_whole() -> None:
    with pytest.raises(DecodeError, match=r"^expected a string, got the number 1 at \$\.tags\[1\]$"):
        read_repaired(sheet(tags=["a", 1]), Sheet)


# ---- default on null ----


def test_null_means_the_default_of_an_optional_property() -> None:
    typed, repairs = read_repaired(sheet(tags=None), Sheet)
    assert typed.tags is UNSET
    assert told(repairs) == [("null was taken as the default", "$.tags")]


def test_null_means_the_default_of_a_required_property() -> None:
    typed, repairs = read_repaired({"cwd": "/c", "mcpServers": None}, NewSessionRequest)
    assert typed == NewSessionRequest("/c", ())
    assert told(repairs) == [("null was taken as the default", "$.mcpServers")]


def test_only_null_means_that_default() -> None:
    with pytest.raises(DecodeError, match=r"expected an array, got false at \$\.mcpServers"):
        read_repaired({"cwd": "/c", "mcpServers": False}, NewSessionRequest)
    with pytest.raises(DecodeError, match=r"required property 'mcpServers' is missing at \$"):
        read_repaired({"cwd": "/c"}, NewSessionRequest)


# ---- what cannot be repaired ----

ERRORS: list[tuple[str, Any, str]] = [
    ("sheetId", "", "expected a string of at least 1 characters, got 0 at $.sheetId"),
    ("sheetId", None, "expected a string, got null at $.sheetId"),
    ("scale", "1", "expected a number, got a string at $.scale"),
    ("scale", True, "expected a number, got true at $.scale"),
    ("value", None, "expected a string or an integer or true or false or an array, got null at $.value"),
    ("value", {}, "expected a string or an integer or true or false or an array, got an object at $.value"),
    ("value", ["a", 1], "expected a string, got the number 1 at $.value[1]"),
    ("byName", {"a b": {"kind": "circle"}}, "required property 'radius' is missing at $.byName['a b']"),
    ("byName", {"$x": {}}, "required property 'kind' is missing at $.byName['$x']"),
    ("target", {"type": "named"}, "required property 'name' is missing at $.target"),
    ("tags", "t", "expected an array, got a string at $.tags"),
    ("$odd-name", "x", "expected an integer, got a string at $['$odd-name']"),
]


@pytest.mark.parametrize(("name", "value", "text"), ERRORS)
def test_errors_say_what_is_wrong_and_where(name: str, value: Any, text: str) -> None:
    with pytest.raises(DecodeError) as caught:
        read_repaired(sheet(**{name: value}), Sheet)
    assert str(caught.value) == text
    assert f"{caught.value.problem} at {caught.value.path}" == text


@pytest.mark.parametrize("name", ["sheetId", "figures", "owners"])
def test_a_missing_property_has_no_default(name: str) -> None:
    data = sheet()
    del data[name]
    with pytest.raises(DecodeError, match=f"^required property '{name}' is missing at \\$$"):
        read_repaired(data, Sheet)


def test_the_path_begins_where_the_value_was() -> None:
    params = {"sessionId": "s", "update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text"}}}
    with pytest.raises(DecodeError, match=r"^required property 'text' is missing at \$\.params\.update\.content$"):
        structure_tolerant(params, SessionNotification, "$.params")

    params["update"]["content"]["text"] = 5
    with pytest.raises(
        DecodeError, match=r"^expected a string, got the number 5 at \$\.params\.update\.content\.text$"
    ):
        structure_tolerant(params, SessionNotification, "$.params")


@pytest.mark.parametrize(
    ("value", "described"),
    [
        (None, "null"),
        (True, "true"),
        (False, "false"),
        (-7, "the number -7"),
        (1.5, "the number 1.5"),
        (1e300, "the number 1e+300"),
        (2**70, "the number 1180591620717411303424"),
        (10**4000, "a number of 13288 bits"),
        ("secret " * 1000, "a string"),
        ([1] * 1000, "an array"),
        ({"a": 1}, "an object"),
        ((1,), "a value of type tuple"),
        (b"bytes", "a value of type bytes"),
    ],
)
def test_the_offender_is_described_in_few_words(value: Any, described: str) -> None:
    wanted = "a string" if type(value) is dict else "an object"
    with pytest.raises(DecodeError) as caught:
        structure_tolerant([value], tuple[str, ...] if type(value) is dict else tuple[Point, ...])
    assert str(caught.value) == f"expected {wanted}, got {described} at $[0]"


# ---- numbers ----


@pytest.mark.parametrize(
    ("number", "read"),
    [(0, 0), (-0.0, 0), (1.0, 1), (-3.0, -3), (2**63, 2**63), (2**70, 2**70), (2.0**62, 2**62), (1e15, 10**15)],
)
def test_an_integer_may_be_written_with_a_fraction_of_nothing(number: float, read: int) -> None:
    typed, repairs = structure_tolerant({"x": number, "y": 0}, Point)
    assert (typed.x, type(typed.x), repairs) == (read, int, [])


@pytest.mark.parametrize(
    "number", [1.5, 2.0**63, -(2.0**63), 1e300, float("inf"), float("nan"), True, False, "1", None]
)
def test_what_is_no_integer(number: Any) -> None:
    with pytest.raises(DecodeError, match=r"^expected an integer, got .* at \$\.x$"):
        structure_tolerant({"x": number, "y": 0}, Point)


@pytest.mark.parametrize("number", [-1, -1.0, -(2**70), -(10**4000)])
def test_what_is_no_size(number: Any) -> None:
    with pytest.raises(DecodeError, match=r"^expected an integer of at least 0, got .{1,60} at \$\.radius$"):
        structure_tolerant({"radius": number}, Circle)


# ---- choices ----


def test_repairs_in_a_choice_that_was_not_taken_are_forgotten() -> None:
    # The list of objects is tried first, and its first item is repaired before the second does not fit.
    typed, repairs = read_repaired({"either": [{"must": "m", "may": "x"}]}, Outer)
    assert typed.either == (Inner("m"),)
    assert told(repairs) == [("expected an integer, got a string" + TOOK, "$.either[0].may")]

    typed, repairs = structure_tolerant({"picks": [{"must": "m", "may": "x"}, {"other": 1}]}, Picky)
    assert typed.picks == (Loose(extra={"must": "m", "may": "x"}), Loose(extra={"other": 1}))
    assert repairs == []


def test_a_choice_names_everything_it_would_take() -> None:
    with pytest.raises(DecodeError, match=r"^expected an array or a string or an object, got the number 5 at"):
        read_repaired({"either": 5}, Outer)


# ---- the diagnostics themselves ----


def test_a_repair_keeps_a_small_excerpt() -> None:
    [repair] = read_repaired(sheet(color=["x" * 10_000]), Sheet)[1]
    assert isinstance(repair.data, str)
    assert repair.data.startswith('["xxx')
    assert len(repair.data) == MAX_DATA

    [repair] = read_repaired(sheet(visible="x" * 10_000), Sheet)[1]
    assert len(repair.data) == MAX_DATA


def test_what_has_no_json_text_is_described_instead() -> None:
    deep: list[Any] = []
    for _ in range(900):
        deep = [deep]
    for odd in (deep, ["\ud83d"]):
        [repair] = read_repaired(sheet(color=odd), Sheet)[1]
        assert repair.data == "an array"


def test_a_path_is_not_as_long_as_the_agent_likes() -> None:
    [repair] = read_repaired(sheet(owners={"k" * 100_000: 1}), Sheet)[1]
    assert repair.path == "$.owners['" + "k" * 80 + "…']"


def test_very_many_repairs_are_told_together() -> None:
    typed, repairs = read_repaired(sheet(figures=[*range(1_000), POINT]), Sheet)

    assert typed.figures == (Point(1, 2),)
    assert len(repairs) == 100
    assert sum(repair.count for repair in repairs) == 1_000
    assert [repair.count for repair in repairs[:99]] == [1] * 99
    assert repairs[-1].path == "$.figures[99]"


@pytest.mark.parametrize(
    ("path", "key", "child"),
    [
        ("$", "a", "$.a"),
        ("$.a", "_meta", "$.a._meta"),
        ("$", 0, "$[0]"),
        ("$", "a.b", "$['a.b']"),
        ("$", "", "$['']"),
        ("$", "it's", '$["it\'s"]'),
        ("$", "größe", "$.größe"),
        ("$", "a\n", "$['a\\n']"),
        ("$", "\ud83d", "$['\\ud83d']"),
    ],
)
def test_child_path(path: str, key: str | int, child: str) -> None:
    assert child_path(path, key) == child


# ---- without repairs ----


@pytest.mark.parametrize(
    ("members", "text"),
    [
        ({"color": 5}, "expected a string, got the number 5 at $.color"),
        ({"figures": [5]}, "expected an object, got the number 5 at $.figures[0]"),
        ({"tags": None}, "expected an array, got null at $.tags"),
    ],
)
def test_what_may_be_repaired_can_be_found_instead(members: dict[str, Any], text: str) -> None:
    with pytest.raises(DecodeError) as caught:
        TolerantDecoder(repair=False).decode(sheet(**members), shape_of(Sheet), "$")
    assert str(caught.value) == text


def test_nothing_is_repaired_for_a_union_that_fits() -> None:
    typed, repairs = structure_tolerant(POINT | {"label": 5}, Figure)
    assert (typed, len(repairs)) == (Point(1, 2), 1)


def test_real_messages() -> None:
    typed, repairs = read_repaired(
        {"output": "o", "truncated": False, "exitStatus": {"exitCode": "0"}}, TerminalOutputResponse
    )
    assert typed.exit_status is not UNSET
    assert [repair.path for repair in repairs] == ["$.exitStatus.exitCode"]

    call = {
        "sessionUpdate": "tool_call",
        "toolCallId": "c",
        "title": "t",
        "kind": None,
        "content": [{"type": "content"}],
    }
    typed, repairs = read_repaired(call, SessionUpdate)
    assert typed == ToolCall("c", "t", content=())
    assert [repair.path for repair in repairs] == ["$.kind", "$.content[0]"]

    block = {"type": "content", "content": {"type": "text", "text": "x", "annotations": []}}
    typed, repairs = read_repaired(
        {"sessionUpdate": "tool_call_update", "toolCallId": "c", "content": [block]}, SessionUpdate
    )
    assert typed.content == (Content(TextContent("x")),)
    assert [repair.path for repair in repairs] == ["$.content[0].content.annotations"]


@pytest.mark.parametrize("written", ["1e999", "-1e999", "1" + "0" * 400])
def test_a_number_that_nothing_can_hold_is_left_out(written: str) -> None:
    cost = json.loads('{"amount": %s, "currency": "USD"}'.replace("%s", written))
    raw = {"sessionUpdate": "usage_update", "used": 5, "size": 9, "cost": cost}
    typed, repairs = read_repaired(raw, SessionUpdate)
    assert (typed.used, bool(typed.cost)) == (5, False)
    assert [repair.path for repair in repairs] == ["$.cost.amount"]
