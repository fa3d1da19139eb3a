"""How wire types are declared, and what their values are like."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from acp_host.wire._model import NO_EXTRA, UNSET, Model, Unknown, Unset, evolve, model, wire_field, wire_name
from acp_host.wire.mcp import HttpHeader
from acp_host.wire.tool_calls import ToolCall, ToolKind
from tests.wire.samples import Circle, Color, Point, UnknownFigure


@pytest.mark.parametrize(
    ("attribute", "wire"),
    [
        ("meta", "_meta"),
        ("id", "id"),
        ("tool_call_id", "toolCallId"),
        ("mcp_servers", "mcpServers"),
        ("sha256sum", "sha256sum"),
        ("x2y_value", "x2yValue"),
        ("a_2b", "a2b"),
    ],
)
def test_the_wire_name_is_the_attribute_in_camel_case(attribute: str, wire: str) -> None:
    assert wire_name(attribute) == wire


def test_unset_says_no_and_is_only_one() -> None:
    assert not UNSET
    assert repr(UNSET) == "UNSET"
    assert Unset("UNSET") is UNSET
    assert copy.deepcopy(UNSET) is UNSET
    assert pickle.loads(pickle.dumps(UNSET)) is UNSET
    assert UNSET not in (None, False, 0, "")


def test_values_are_compared_by_class_and_content() -> None:
    assert Point(1, 2) == Point(1, 2)
    assert Point(1, 2) != Point(1, 3)
    assert Point(1, 2) != Point(1, 2, label=None)
    assert Point(1, 2) != Point(1, 2, extra={"z": 3})
    assert Circle(1) != Unknown("circle", {"radius": 1})


def test_values_have_no_dictionary_and_no_hash() -> None:
    point: Any = Point(1, 2)
    assert not hasattr(point, "__dict__")
    with pytest.raises(AttributeError):
        point.z = 3
    with pytest.raises(TypeError, match="unhashable"):
        hash(point)


def test_what_the_schema_does_not_name_is_passed_by_keyword_and_not_shown() -> None:
    assert Point(1, 2).extra is NO_EXTRA
    assert repr(Point(1, 2, extra={"secret": 1})) == "Point(x=1, y=2, label=UNSET)"
    with pytest.raises(TypeError):
        Point(1, 2, "label", {"z": 3})


def test_the_shared_empty_extra_is_an_empty_mapping_that_stays_so() -> None:
    assert NO_EXTRA == {}
    assert (len(NO_EXTRA), list(NO_EXTRA), repr(NO_EXTRA), "a" in NO_EXTRA) == (0, [], "{}", False)
    with pytest.raises(KeyError):
        NO_EXTRA["a"]
    with pytest.raises(TypeError):
        NO_EXTRA["a"] = 1


def test_values_can_be_copied_and_pickled() -> None:
    point = Point(1, 2, extra={"z": [3]})
    for same in (copy.copy(point), copy.deepcopy(point), pickle.loads(pickle.dumps(point))):
        assert same == point
    for plain in (copy.deepcopy(Point(1, 2)), pickle.loads(pickle.dumps(Point(1, 2)))):
        assert plain == Point(1, 2)
        assert plain.extra is NO_EXTRA
        assert plain.label is UNSET


def test_evolve_copies() -> None:
    point = Point(1, 2, label="a", extra={"z": 3})
    moved = evolve(point, x=5)

    assert moved == Point(5, 2, label="a", extra={"z": 3})
    assert point == Point(1, 2, label="a", extra={"z": 3})
    assert evolve(moved, label=UNSET).label is UNSET
    assert evolve(UnknownFigure("star", {}), problem="why").problem == "why"
    assert evolve(HttpHeader("a", "b"), value="c") == HttpHeader("a", "c")
    with pytest.raises(TypeError):
        evolve(point, z=1)


def test_a_word_of_a_vocabulary_is_its_string() -> None:
    assert Color.RED == "red"
    assert hash(Color.RED) == hash("red")
    assert ToolCall("1", "t", kind="read").kind == ToolKind.READ
    assert {"red": 1}[Color.RED] == 1


def test_a_subclass_adds_attributes_behind_those_of_its_base() -> None:
    @model
    class Base(Model):
        first: str
        second: str | Unset = wire_field(default=UNSET)

    @model
    class Derived(Base):
        third: str | Unset = wire_field(default=UNSET)

    assert Derived("a", "b", "c") == Derived(first="a", second="b", third="c")
