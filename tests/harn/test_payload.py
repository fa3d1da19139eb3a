"""Where Harn's messages have their members, and reading them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_host.translate.harn import translate_harn
from acp_host.translate.harn.kinds import KINDS
from acp_host.translate.harn.payload import Payload, Unusable, payload_of
from acp_host.wire.harn.members import harn_meta
from acp_host.wire.updates import AgentMessageChunk, UnknownSessionUpdate
from tests.harn.harness import read


def members(update: dict[str, Any]) -> dict[str, Any]:
    return dict(payload_of(update).rest())


def test_in_meta_at_the_root_or_in_the_content() -> None:
    assert members({"sessionUpdate": "k", "_meta": {"harn": {"aB": 1}}}) == {"aB": 1}
    assert members({"sessionUpdate": "k", "aB": 1}) == {"aB": 1}
    assert members({"sessionUpdate": "k", "content": {"a_b": 1, "cD": 2, "_type": 3}}) == {"aB": 1, "cD": 2, "_type": 3}


def test_member_by_member_meta_counts_more_and_the_root_fills_the_gaps() -> None:
    update = {"sessionUpdate": "k", "a": 1, "b": 2, "_meta": {"harn": {"b": 3, "c": None}, "other": {}}}
    assert members(update) == {"a": 1, "b": 3, "c": None}
    update = {"sessionUpdate": "k", "a": 1, "b": None, "_meta": {"harn": {"a": None, "b": False}}}
    assert members(update) == {"a": 1, "b": False}


def test_content_is_a_member_like_others_where_there_are_others() -> None:
    assert members({"sessionUpdate": "k", "content": {"a": 1}, "b": 2}) == {"content": {"a": 1}, "b": 2}
    assert members({"sessionUpdate": "k", "content": "text"}) == {"content": "text"}


def test_a_replay_mark_is_no_member() -> None:
    marked = payload_of({"sessionUpdate": "k", "a": 1, "_meta": {"harn": {"replayed": True}}})
    assert marked.replayed
    assert marked.rest() == {"a": 1}
    assert not payload_of({"sessionUpdate": "k", "_meta": {"harn": {"replayed": "yes"}}}).replayed


@pytest.mark.parametrize("meta", [None, 7, [], "x", {}, {"harn": None}])
def test_meta_may_be_nothing(meta: Any) -> None:
    assert members({"sessionUpdate": "k", "a": 1, "_meta": meta}) == {"a": 1}
    assert harn_meta(meta) == {}


def test_what_should_be_harns_object_and_is_none_is_named() -> None:
    payload = payload_of({"sessionUpdate": "k", "a": 1, "_meta": {"harn": "x"}})
    assert payload.rest() == {"a": 1}
    assert payload.problems == ["_meta.harn is no object"]
    assert payload.names_harn
    assert not payload_of({"sessionUpdate": "k", "_meta": {"other": {}}}).names_harn


VALUES: dict[str, Any] = {
    "text": "words",
    "integer": 3,
    "whole": 3.0,
    "number": 3.5,
    "flag": True,
    "object": {"a": 1},
    "items": [1, "b"],
    "texts": ["a", "b"],
    "null": None,
}
READ = {
    "text": {"text": "words"},
    "integer": {"integer": 3, "whole": 3},
    "number": {"integer": 3, "whole": 3.0, "number": 3.5},
    "flag": {"flag": True},
    "object": {"object": {"a": 1}},
    "items": {"items": (1, "b"), "texts": ("a", "b")},
    "texts": {"items": ("b",), "texts": ("a", "b")},
}


@pytest.mark.parametrize("method", READ)
@pytest.mark.parametrize("name", VALUES)
def test_a_member_of_the_wrong_type_counts_as_absent_and_is_named(method: str, name: str) -> None:
    payload = Payload(VALUES, where="in.")
    assert getattr(payload, method)(name) == READ[method].get(name)
    loses_something = name not in READ[method] or (method, name) == ("texts", "items")
    assert len(payload.problems) == (loses_something and name != "null")
    assert all(problem.startswith(f"in.{name} is not ") for problem in payload.problems)


def test_numbers_have_a_least() -> None:
    payload = Payload({"n": -1, "true": True})
    assert payload.integer("n") == -1
    assert payload.integer("n", 0) is None
    assert payload.number("true") is None
    assert len(payload.problems) == 2


def test_objects_within_are_read_in_the_same_way() -> None:
    payload = Payload({"one": {"a": 1}, "many": [{"a": 2}, 3, {"a": "x"}], "none": 5})
    one = payload.nested("one")
    assert one is not None
    assert one.integer("a") == 1
    many = payload.objects("many")
    assert many is not None
    assert [each.integer("a") for each in many] == [2, None]
    assert payload.nested("none") is None
    assert payload.objects("nothing") is None
    assert payload.problems == [
        "many is not an array of objects: [{'a': 2}, 3, {'a': 'x'}]",
        "many[2].a is not an integer: 'x'",
        "none is not an object: 5",
    ]


def test_what_a_message_is_about_has_to_be_there() -> None:
    payload = Payload({"id": "x", "blank": " ", "n": 1, "list": []})
    assert payload.identity("id") == "x"
    assert payload.required("list", payload.texts) == ()
    for name in ("blank", "n", "nothing"):
        with pytest.raises(Unusable, match=f"{name} is missing"):
            payload.identity(name)
    with pytest.raises(Unusable, match="n is missing"):
        payload.required("n", payload.object)


def test_what_nobody_read_is_left() -> None:
    payload = Payload({"a": 1, "b": None, "c": 3})
    assert payload.has("b")
    assert not payload.has("d")
    payload.any("a")
    assert payload.rest() == {"b": None, "c": 3}


def test_a_problem_is_short_however_long_the_value_is() -> None:
    payload = Payload({"a": ["x" * 10_000] * 10_000})
    payload.text("a")
    assert len(payload.problems[0]) < 300


def test_other_updates_are_nothing_of_harns() -> None:
    assert read({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "Hi"}}) is None
    assert read({"sessionUpdate": "made_up", "_meta": {"harn": {"a": 1}}}) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 5) | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=10,
)
NAMES = st.sampled_from(
    [
        "workerId",
        "event",
        "status",
        "terminal",
        "metadata",
        "audit",
        "skillName",
        "iteration",
        "reason",
        "removedTools",
        "remainingTools",
        "allowedTools",
        "phase",
        "escapeTool",
        "artifactId",
        "spec",
        "handoffId",
        "handoff",
        "action",
        "state",
        "clients",
        "toolUseId",
        "message",
        "level",
        "content",
    ]
)
MEMBERS = st.dictionaries(NAMES, JSON, max_size=6)


@given(st.sampled_from(sorted(KINDS)), MEMBERS, JSON | MEMBERS.map(lambda named: {"harn": named}))
def test_nothing_that_an_agent_sends_raises(kind: str, root: dict[str, Any], meta: Any) -> None:
    update = {**root, "sessionUpdate": kind, "_meta": meta}
    report = translate_harn(UnknownSessionUpdate(kind, update))
    assert report is not None
    assert report.events or report.problems


def test_plain_updates_are_looked_at_no_further() -> None:
    assert translate_harn(AgentMessageChunk(content=None)) is None
