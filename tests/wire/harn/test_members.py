from __future__ import annotations

from typing import Any

import pytest

from acp_host.wire.harn.members import Members, harn_meta


def test_what_is_absent_or_null_is_nothing_and_no_problem() -> None:
    members = Members({"null": None}, "$")
    for name in ("null", "absent"):
        assert members.text(name) is members.flag(name) is members.number(name) is members.whole(name) is None
        assert members.texts(name) == members.members(name) == ()
        assert not members.member(name)
    assert members.problems == []


@pytest.mark.parametrize(
    ("read", "value"),
    [
        ("text", 1),
        ("flag", "true"),
        ("number", True),
        ("number", -0.5),
        ("number", float("nan")),
        ("whole", 1.5),
        ("whole", "1"),
        ("texts", "a"),
        ("members", {}),
    ],
)
def test_what_has_the_wrong_type_counts_as_absent_and_is_told(read: str, value: Any) -> None:
    members = Members({"it": value}, "$.meta")
    assert getattr(members, read)("it") in (None, ())
    assert len(members.problems) == 1
    assert "$.meta.it" in members.problems[0]


def test_the_items_of_an_array_that_fit_are_kept() -> None:
    members = Members({"words": ["a", 1, "b"], "parts": [{"x": 2}, None, "y"]}, "$")
    assert members.texts("words") == ("a", "b")
    assert [part.whole("x") for part in members.members("parts")] == [2]
    assert members.problems == [
        "expected an array of strings at $.words, got list",
        "expected an object at $.parts[2], got str",
    ]


def test_a_whole_number_may_be_written_as_a_float() -> None:
    assert Members({"n": 3.0, "m": 0.25}, "$").whole("n") == 3
    assert Members({"m": 0.25}, "$").number("m") == 0.25


def test_problems_inside_are_told_outside_and_are_bounded() -> None:
    members = Members({"inner": {"deep": {"a": 1}}, "many": [0] * 1_000}, "$")
    assert members.member("inner").member("deep").text("a") is None
    assert members.problems == ["expected a string at $.inner.deep.a, got int"]
    members.members("many")
    assert len(members.problems) == 20


@pytest.mark.parametrize("meta", [None, "x", [], {}, {"harn": None}, {"harn": "x"}, {"harn": []}])
def test_a_meta_without_an_object_for_harn_says_nothing(meta: Any) -> None:
    assert harn_meta(meta) == {}
