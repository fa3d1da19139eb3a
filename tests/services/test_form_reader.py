"""How the agent's schema becomes fields to draw."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from acp_host.errors import InvalidParams
from acp_host.services.form_reader import MAX_CHOICES, MAX_FIELDS, read_form
from acp_host.services.forms import Choice, FieldKind
from acp_host.wire.elicitation import EnumOption
from tests.services.form_strategies import SCHEMAS, form_of, request_of

OPTIONS = [{"const": "a", "title": "Apple", "description": "A fruit"}, {"const": "b", "title": "Pear"}]


@pytest.mark.parametrize(
    ("schema", "kind"),
    [
        ({"type": "string"}, FieldKind.TEXT),
        ({"type": "string", "format": "email"}, FieldKind.EMAIL),
        ({"type": "string", "format": "uri"}, FieldKind.URI),
        ({"type": "string", "format": "date"}, FieldKind.DATE),
        ({"type": "string", "format": "date-time"}, FieldKind.DATE_TIME),
        ({"type": "string", "format": "password"}, FieldKind.TEXT),
        ({"type": "string", "enum": None, "oneOf": None}, FieldKind.TEXT),
        ({"type": "number"}, FieldKind.NUMBER),
        ({"type": "integer"}, FieldKind.INTEGER),
        ({"type": "boolean"}, FieldKind.BOOLEAN),
        ({"type": "string", "enum": ["a"]}, FieldKind.CHOICE),
        ({"type": "string", "oneOf": OPTIONS, "format": "email"}, FieldKind.CHOICE),
        ({"type": "array", "items": {"type": "string", "enum": ["a"]}}, FieldKind.MULTI_CHOICE),
        ({"type": "array", "items": {"anyOf": OPTIONS}}, FieldKind.MULTI_CHOICE),
        ({"type": "array", "items": {"type": "_colour", "space": "sRGB"}}, FieldKind.UNKNOWN),
        ({"type": "_colour", "space": "sRGB"}, FieldKind.UNKNOWN),
        ({"type": "object", "properties": {"deep": {"type": "string"}}}, FieldKind.UNKNOWN),
    ],
)
def test_every_kind_of_field(schema: dict[str, Any], kind: FieldKind) -> None:
    [field] = form_of({"x": schema}).fields
    assert field.kind is kind
    assert field.raw == schema, "what the agent sent is kept, whatever the kind"
    assert field.label == "x"
    assert not field.required


def test_texts_limits_and_order() -> None:
    form = form_of(
        {
            "z": {"type": "string", "title": "Zed", "description": "The last", "minLength": 1, "maxLength": 9},
            "a": {"type": "string", "pattern": "^x", "format": "password", "default": "xy"},
            "n": {"type": "number", "minimum": 0.5, "maximum": 2, "default": 1},
            "m": {"type": "array", "items": {"anyOf": OPTIONS}, "minItems": 1, "maxItems": 2, "default": ["b"]},
            "b": {"type": "boolean", "default": False, "_meta": {"vendor": 1}},
        },
        title="Settings",
        description="All of them",
        required=["a"],
    )
    assert (form.message, form.title, form.description) == ("What now?", "Settings", "All of them")
    z, a, n, m, b = form.fields
    assert (z.label, z.description, z.min_length, z.max_length) == ("Zed", "The last", 1, 9)
    assert (a.pattern, a.format, a.required) == ("^x", "password", True)
    assert (n.minimum, n.maximum) == (0.5, 2)
    assert (m.min_items, m.max_items, m.multiple) == (1, 2, True)
    assert m.choices == (
        Choice(value="a", label="Apple", description="A fruit", source=EnumOption("a", "Apple", "A fruit")),
        Choice(value="b", label="Pear", source=EnumOption("b", "Pear")),
    )
    assert b.source.meta == {"vendor": 1}
    assert form.defaults == {"a": "xy", "n": 1, "m": ("b",), "b": False}
    assert form.problems == ()
    assert form["n"] is n
    with pytest.raises(KeyError):
        form["other"]


@pytest.mark.parametrize(
    ("schema", "problem"),
    [
        ({"type": "string", "$ref": "http://evil.example/x"}, "$ref"),
        ({"type": "integer", "multipleOf": 5, "exclusiveMinimum": 1}, "exclusiveMinimum, multipleOf"),
        ({"type": "array", "items": {"type": "string", "enum": ["a"], "uniqueItems": True}}, "uniqueItems"),
        ({"type": "string", "enum": ["a"], "default": "b"}, "own default"),
        ({"type": "string", "minLength": 3, "default": "ab"}, "own default"),
        ({"type": "integer", "maximum": 3, "default": 4}, "own default"),
        ({"type": "string", "format": "date", "default": "tomorrow"}, "own default"),
        ({"type": "array", "items": {"type": "string", "enum": ["a"]}, "default": ["b"]}, "own default"),
        ({"type": "string", "enum": ["a", "a"]}, "twice"),
        ({"type": "string", "enum": ["a"], "oneOf": OPTIONS}, "does not allow"),
        ({"type": "string", "enum": []}, "nothing to choose"),
        ({"type": "_colour"}, "unknown kind '_colour'"),
    ],
)
def test_what_is_left_out_is_told(schema: dict[str, Any], problem: str) -> None:
    form = form_of({"x": schema})
    assert any(problem in text for text in form.problems)
    assert form.defaults == {}


@pytest.mark.parametrize(("title", "label"), [("Odd", "Odd"), (5, "x"), ("", "x"), (None, "x")])
def test_a_field_of_an_unknown_kind_has_a_label_too(title: Any, label: str) -> None:
    assert form_of({"x": {"type": "_colour", "title": title}})["x"].label == label


def test_a_required_field_that_is_not_there_does_not_lock_the_form() -> None:
    form = form_of({"x": {"type": "string"}}, required=["x", "ghost"])
    assert form.problems == ("no field is named 'ghost', which is required",)
    assert [field.name for field in form.fields if field.required] == ["x"]


def test_choices_are_shown_once_and_only_where_both_lists_allow_them() -> None:
    form = form_of({"x": {"type": "string", "enum": ["b", "c"], "oneOf": [*OPTIONS, *OPTIONS]}})
    assert [choice.value for choice in form["x"].choices] == ["b"]


def test_texts_of_the_agent_are_plain_and_bounded() -> None:
    hostile = "\x1b]0;x\x07\u202e" + "long " * 10_000
    form = read_form(
        request_of(
            {
                "title": hostile,
                "description": hostile,
                "properties": {hostile: {"type": "string", "oneOf": [{"const": hostile, "title": "a\nb\x1b[2J"}]}},
            },
            hostile,
        )
    )
    [field] = form.fields
    [choice] = field.choices
    shown = [form.message, form.title, form.description, field.label, choice.label, *form.problems]
    assert all("\x1b" not in text and "\u202e" not in text and len(text) <= 4_000 for text in shown)
    assert choice.label == "a b\\x1b[2J"
    assert (field.name, choice.value) == (hostile, hostile), "in the answer they are what the agent sent"


def test_a_form_that_is_too_large_is_refused() -> None:
    many = {f"f{number}": {"type": "boolean"} for number in range(MAX_FIELDS + 1)}
    with pytest.raises(InvalidParams, match=f"{MAX_FIELDS + 1} fields"):
        form_of(many)
    values = [str(number) for number in range(MAX_CHOICES // 2 + 1)]
    with pytest.raises(InvalidParams, match="values to choose from"):
        form_of(
            {
                "a": {"type": "string", "oneOf": [{"const": value, "title": value} for value in values]},
                "b": {"type": "array", "items": {"type": "string", "enum": values}},
            }
        )


def test_a_schema_without_anything_is_a_form_without_fields() -> None:
    assert read_form(request_of({})).fields == ()


@given(SCHEMAS)
def test_any_schema_of_the_vocabulary_becomes_a_form(schema: dict[str, Any]) -> None:
    form = read_form(request_of(schema))
    assert [field.name for field in form.fields] == list(schema["properties"])
    assert {field.name for field in form.fields if field.required} == set(schema["required"])
    for field in form.fields:
        assert field.raw == schema["properties"][field.name]
