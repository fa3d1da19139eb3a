"""The schemas of a function's parameters, and what the function gets of arguments that fit them."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, NotRequired, TypedDict

import attrs
import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_host.errors import InvalidInput
from acp_host.harn.bridge.type_schema import bind_arguments, schema_of_parameters


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclass
class Point:
    x: int
    y: int = 0
    tags: list[str] = field(default_factory=list)
    made: int = field(default=1, init=False)


@attrs.frozen
class Box:
    corner: Point
    _name: str = "box"
    colour: Colour | None = None


class Options(TypedDict):
    deep: bool
    limit: NotRequired[int]


@dataclass
class Node:
    child: Node | None = None


POINT = {
    "type": "object",
    "properties": {
        "x": {"type": "integer"},
        "y": {"type": "integer"},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["x"],
    "additionalProperties": False,
}
BOX = {
    "type": "object",
    "properties": {
        "corner": POINT,
        "name": {"type": "string"},
        "colour": {"anyOf": [{"enum": ["red", "blue"]}, {"type": "null"}]},
    },
    "required": ["corner"],
    "additionalProperties": False,
}


def taking(hint: Any) -> Callable[..., Any]:
    """A function of one parameter ``p``, which returns what it gets."""

    def function(p):
        return p

    function.__annotations__ = {"p": hint}
    return function


@pytest.mark.parametrize(
    ("hint", "schema"),
    [
        (str, {"type": "string"}),
        (int, {"type": "integer"}),
        (float, {"type": "number"}),
        (bool, {"type": "boolean"}),
        (None, {"type": "null"}),
        (Any, {}),
        (list, {"type": "array"}),
        (list[int], {"type": "array", "items": {"type": "integer"}}),
        (tuple[str, ...], {"type": "array", "items": {"type": "string"}}),
        (dict, {"type": "object"}),
        (dict[str, bool], {"type": "object", "additionalProperties": {"type": "boolean"}}),
        (dict[str, Any], {"type": "object", "additionalProperties": {}}),
        (Literal["a", 2, None], {"enum": ["a", 2, None]}),
        (Colour, {"enum": ["red", "blue"]}),
        (str | None, {"anyOf": [{"type": "string"}, {"type": "null"}]}),
        (int | Literal["all"], {"anyOf": [{"type": "integer"}, {"enum": ["all"]}]}),
        (Point, POINT),
        (Box, BOX),
        (list[Point] | None, {"anyOf": [{"type": "array", "items": POINT}, {"type": "null"}]}),
        (
            Options,
            {
                "type": "object",
                "properties": {"deep": {"type": "boolean"}, "limit": {"type": "integer"}},
                "required": ["deep"],
                "additionalProperties": False,
            },
        ),
        (Annotated[str, "of a file"], {"type": "string", "description": "of a file"}),
        (Annotated[int, 3], {"type": "integer"}),
    ],
    ids=str,
)
def test_types_that_agents_can_be_told(hint: Any, schema: dict[str, Any]) -> None:
    whole = schema_of_parameters(taking(hint))
    assert whole["properties"] == {"p": schema}
    jsonschema.Draft202012Validator.check_schema(whole)


@pytest.mark.parametrize(
    "hint",
    [
        bytes,
        set[str],
        dict[int, str],
        tuple[int, str],
        object,
        Callable,
        list[bytes],
        Point | str,
        Node,
        Literal[b"x"],
        enum.Enum,
    ],
    ids=str,
)
def test_types_that_they_cannot_are_refused(hint: Any) -> None:
    with pytest.raises(InvalidInput, match="the parameter p of function"):
        schema_of_parameters(taking(hint))


def bare(p): ...
def by_place(p: int, /) -> None: ...
def many(*p: int) -> None: ...
def named(**p: int) -> None: ...
def unresolved(p: Nowhere) -> None: ...  # noqa: F821 - which is the point


@pytest.mark.parametrize("function", [bare, by_place, many, named, unresolved])
def test_parameters_that_cannot_be_given_are_refused(function: Any) -> None:
    with pytest.raises(InvalidInput, match=function.__name__):
        schema_of_parameters(function)


class Editor:
    def show(self, path: str, *, line: int = 1) -> str:
        return f"{path}:{line}"

    def __call__(self, text: str) -> str:
        return text


@pytest.mark.parametrize("function", [Editor().show, Editor()])
def test_methods_and_objects_are_functions_too(function: Any) -> None:
    schema = schema_of_parameters(function)
    assert "self" not in schema["properties"]
    assert schema["required"] in (["path"], ["text"])
    assert function(**bind_arguments(function)({schema["required"][0]: "a"})) in ("a:1", "a")


@pytest.mark.parametrize(
    ("hint", "sent", "got"),
    [
        (Point, {"x": 1}, Point(1)),
        (Box, {"corner": {"x": 1, "y": 2, "tags": ["a"]}, "name": "b"}, Box(Point(1, 2, ["a"]), "b")),
        (Box, {"corner": {"x": 1}, "colour": "red"}, Box(Point(1), colour=Colour.RED)),
        (Options, {"deep": True}, {"deep": True}),
        (list[Point] | None, [{"x": 1}], [Point(1)]),
        (list[Point] | None, None, None),
        (tuple[str, ...], ["a", "b"], ("a", "b")),
        (Colour, "blue", Colour.BLUE),
        (str | int | None, 3, 3),
        (int | Literal["all"], "all", "all"),
        (dict[str, Point], {"a": {"x": 1}}, {"a": Point(1)}),
        (dict[str, Any], {"a": [1, {"b": None}]}, {"a": [1, {"b": None}]}),
        (Any, {"a": 1}, {"a": 1}),
        (Annotated[str, "words"], "a", "a"),
        (None, None, None),
        (float, 3, 3.0),
        (int, 3.0, 3),
    ],
    ids=str,
)
def test_a_function_gets_what_its_types_say(hint: Any, sent: Any, got: Any) -> None:
    function = taking(hint)
    jsonschema.validate({"p": sent}, schema_of_parameters(function))
    made = bind_arguments(function)({"p": sent})["p"]
    assert made == got
    assert type(made) is type(got)


HINTS = st.recursive(
    st.sampled_from([str, int, float, bool, Any, Literal["a", 1], str | None, str | int, Colour, Point, Box, Options]),
    lambda inner: st.one_of(
        inner.map(lambda hint: list[hint]),
        inner.map(lambda hint: dict[str, hint]),
        inner.map(lambda hint: tuple[hint, ...]),
    ),
    max_leaves=4,
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.sampled_from(["a", "red", ""]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["x", "y", "corner", "deep", "z"]), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(HINTS, JSON)
def test_what_fits_the_schema_can_always_be_given(hint: Any, sent: Any) -> None:
    function = taking(hint)
    validator = jsonschema.Draft202012Validator(schema_of_parameters(function))
    if validator.is_valid({"p": sent}):
        bind_arguments(function)({"p": sent})
