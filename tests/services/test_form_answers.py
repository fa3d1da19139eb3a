"""Which answers fit a form, in whose words it is said, and how typed text becomes a value."""

from __future__ import annotations

import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import jsonschema
import pytest
from hypothesis import given

from acp_host.errors import InvalidInput
from acp_host.services.form_answers import ReviewLine, check_answer, parse_value
from acp_host.services.form_reader import read_form
from tests.services.form_strategies import ANSWERS, form_of, request_of

OPTIONS = [{"const": "a", "title": "Apple"}, {"const": "b", "title": "b"}]
CHOOSE = {"type": "string", "oneOf": OPTIONS}
SEVERAL = {"type": "array", "items": {"anyOf": OPTIONS}}


def errors(schema: dict[str, Any], value: Any, **members: Any) -> list[str]:
    review = check_answer(form_of({"x": {"title": "X", **schema}}, **members), {"x": value})
    assert review.valid is not bool(review.errors)
    assert review.unchecked == ()
    return [error.message for error in review.errors]


@pytest.mark.parametrize(
    ("schema", "value", "message"),
    [
        ({"type": "string", "minLength": 3}, "ab", "X is too short: it has 2 of at least 3 characters"),
        ({"type": "string", "maxLength": 1}, "ab", "X is too long: it has 2 of at most 1 characters"),
        ({"type": "string"}, 5, "X is not a text"),
        ({"type": "string", "pattern": "^a+$"}, "b", "X does not match the pattern ^a+$"),
        ({"type": "string", "format": "email"}, "me", "X is not an e-mail address"),
        ({"type": "string", "format": "uri"}, "x y", "X is not a complete address such as https://example.org"),
        ({"type": "string", "format": "date"}, "31.1.2025", "X is not a day such as 2025-01-31"),
        ({"type": "string", "format": "date-time"}, "now", "X is not a point in time such as 2025-01-31T09:30:00Z"),
        ({"type": "number", "minimum": 0.5}, 0, "X is too small: the least is 0.5"),
        ({"type": "integer", "maximum": 5}, 6, "X is too large: the most is 5"),
        ({"type": "integer"}, 1.5, "X is not a whole number"),
        ({"type": "integer"}, True, "X is not a whole number"),
        ({"type": "number"}, "5", "X is not a number"),
        ({"type": "number"}, float("nan"), "X is nothing that an answer can hold"),
        ({"type": "integer"}, 2**63, "X is nothing that an answer can hold"),
        ({"type": "boolean"}, 1, "X is neither yes nor no"),
        (CHOOSE, "c", "X is not one of the choices"),
        (CHOOSE, "Apple", "X is not one of the choices"),
        (SEVERAL, ("a", "c"), "X is not one of the choices"),
        (SEVERAL, "a", "X is not a list of choices"),
        (SEVERAL, (1,), "X is nothing that an answer can hold"),
        ({**SEVERAL, "minItems": 2}, ("a",), "X has too few choices: 1 of at least 2"),
        ({**SEVERAL, "maxItems": 1}, ("a", "b"), "X has too many choices: 2 of at most 1"),
        ({"type": "string"}, {"deep": 1}, "X is nothing that an answer can hold"),
        ({"type": "string", "enum": []}, "a", "X is not one of the choices"),
    ],
)
def test_what_is_wrong_is_said_in_words(schema: dict[str, Any], value: Any, message: str) -> None:
    assert errors(schema, value) == [message]


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "string", "minLength": 1, "maxLength": 1}, "😀"),
        ({"type": "string", "minLength": 2, "maxLength": 2}, "e\u0301"),
        ({"type": "string", "pattern": "a"}, "bab"),
        ({"type": "string", "pattern": r"^\p{Lu}$"}, "Ä"),
        ({"type": "string", "pattern": r"^[\w\-\.]+$"}, "a-b"),
        ({"type": "string", "format": "email"}, "ada@example.org"),
        ({"type": "string", "format": "uri"}, "urn:isbn:0451450523"),
        ({"type": "string", "format": "date"}, "2024-02-29"),
        ({"type": "string", "format": "date-time"}, "2016-12-31T23:59:60Z"),
        ({"type": "string", "format": "date-time"}, "2025-01-31t09:30:00.123456789+01:00"),
        ({"type": "string", "format": "password"}, "x"),
        ({"type": "number"}, 2),
        (CHOOSE, "a"),
        (SEVERAL, ["a", "b"]),
        (SEVERAL, ()),
        ({"type": "_colour"}, "red"),
        ({"type": "string"}, ""),
    ],
)
def test_what_is_right(schema: dict[str, Any], value: Any) -> None:
    assert errors(schema, value) == []


@pytest.mark.parametrize(
    ("format", "wrong"),
    [
        ("email", ["", "a", "@b", "a@", "a@b@c", "a b@c", "a@b..c", ".a@b", "a" * 400 + "@b", "a@b\n", "<a@b>"]),
        ("uri", ["", "x", "//x", "/x", "http://[", "http://ä", "http://x y", "http:\\x", "1:x", "http://x\n"]),
        ("date", ["", "20250131", "2025-W01-1", "2025-02-29", "2025-1-1", "2025-01-01\n", "２０２５-01-01"]),
        ("date-time", ["", "2025-01-31", "2025-01-31T09:30:00", "2025-01-31 09:30:00Z", "2025-01-31T25:00:00Z"]),
        ("date-time", ["2025-01-31T09:30Z", "2025-01-31T09:30:60Z", "2025-01-31T09:30:00+99:00", "x" * 10_000]),
    ],
)
def test_formats(format: str, wrong: list[str]) -> None:
    for text in wrong:
        assert errors({"type": "string", "format": format}, text), text


def test_required_fields_need_a_value_and_empty_ones_are_left_out() -> None:
    form = form_of({"x": {"type": "string"}, "y": {"type": "string", "default": "d"}}, required=["x"])
    review = check_answer(form, {"x": None})
    assert [(error.name, error.message) for error in review.errors] == [("x", "x needs an answer")]
    with pytest.raises(InvalidInput, match="x needs an answer"):
        review.require_valid()
    review = check_answer(form, {"x": ""})
    assert (review.valid, review.content) == (True, {"x": ""}), "a default is sent only if it is among the values"


def test_an_answer_for_a_field_that_was_not_asked_for_is_refused() -> None:
    with pytest.raises(InvalidInput, match="no field named 'token'"):
        check_answer(form_of({"x": {"type": "string"}}), {"token": "secret"})


def test_the_review_shows_what_is_sent() -> None:
    form = form_of(
        {
            "c": {**CHOOSE, "title": "Fruit"},
            "m": SEVERAL,
            "i": {"type": "integer"},
            "t": {"type": "string"},
            "b": {"type": "boolean"},
            "n": {"type": "string"},
        }
    )
    review = check_answer(form, {"b": False, "i": 3.0, "c": "a", "m": ["b", "a"], "t": "x\x1b[0m"})
    assert list(review.content.items()) == [("c", "a"), ("m", ("b", "a")), ("i", 3), ("t", "x\x1b[0m"), ("b", False)]
    assert type(review.content["i"]) is int
    assert review.lines == (
        ReviewLine(label="Fruit", text="Apple (a)"),
        ReviewLine(label="m", text="b, Apple (a)"),
        ReviewLine(label="i", text="3.0"),
        ReviewLine(label="t", text="x\\x1b[0m"),
        ReviewLine(label="b", text="no"),
        ReviewLine(label="n", text=""),
    )


@pytest.mark.parametrize(
    ("pattern", "why"), [("(", "is no regular expression"), ("^(a|a)*$", "takes too long"), ("(?i)x", "is no regular")]
)
def test_a_pattern_that_cannot_be_enforced_is_not_and_that_is_said(pattern: str, why: str) -> None:
    review = check_answer(form_of({"x": {"type": "string", "pattern": pattern}}), {"x": "a" * 40 + "b"})
    assert review.valid
    [text] = review.unchecked
    assert why in text


def test_patterns_can_wait() -> None:
    form = form_of({"x": {"type": "string", "pattern": "^a$"}})
    assert check_answer(form, {"x": "b"}, patterns=False).valid


def test_nothing_in_a_schema_is_fetched() -> None:
    asked: list[str] = []

    class Server(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)

    with HTTPServer(("127.0.0.1", 0), Server) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        reference = {"$ref": f"http://127.0.0.1:{server.server_port}/schema", "$schema": "http://127.0.0.1/x"}
        members = {**reference, "$id": "http://127.0.0.1/", "$defs": {}, "allOf": [reference]}
        form = form_of(
            {"x": {"type": "string", "default": "d", **reference}, "y": {"type": "_ref", **reference}}, **members
        )
        review = check_answer(form, {"x": "v", "y": "w"})
        server.shutdown()
        thread.join()
    assert review.valid
    assert asked == []


@given(ANSWERS)
def test_an_answer_is_valid_as_plain_jsonschema_has_it(case: tuple[dict[str, Any], dict[str, Any]]) -> None:
    schema, values = case
    review = check_answer(read_form(request_of(schema)), values)
    plain = jsonschema.Draft202012Validator(_without_nulls(schema))
    assert review.valid is plain.is_valid(values)
    if review.valid:
        sent = {name: list(value) if isinstance(value, tuple) else value for name, value in review.content.items()}
        assert plain.is_valid(sent)


def _without_nulls(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema as jsonschema knows it, to which ``null`` is no keyword's absence."""
    fields = {
        name: {key: value for key, value in field.items() if value is not None}
        for name, field in schema["properties"].items()
    }
    return {**schema, "properties": fields}


@pytest.mark.parametrize(
    ("schema", "text", "value"),
    [
        ({"type": "string"}, " as typed ", " as typed "),
        ({"type": "string"}, "", None),
        ({"type": "integer"}, "", None),
        ({"type": "integer"}, " -12 ", -12),
        ({"type": "number"}, "12", 12),
        ({"type": "number"}, "1.5e3", 1500.0),
        ({"type": "number"}, ".5", 0.5),
        ({"type": "boolean"}, "Yes", True),
        ({"type": "boolean"}, "off", False),
        (CHOOSE, "a", "a"),
        (SEVERAL, ["a", "b"], ("a", "b")),
        (SEVERAL, "a", ("a",)),
        (SEVERAL, [], ()),
    ],
)
def test_typed_text_becomes_a_value(schema: dict[str, Any], text: Any, value: Any) -> None:
    parsed = parse_value(form_of({"x": schema})["x"], text)
    assert (parsed, type(parsed)) == (value, type(value))


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("integer", "1.5"),
        ("integer", "1_000"),
        ("integer", "٣"),
        ("integer", "9" * 5_000),
        ("number", "nan"),
        ("number", "inf"),
        ("number", "1,5"),
        ("number", "0x10"),
        ("boolean", "maybe"),
        ("string", ["a", "b"]),
    ],
)
def test_text_that_is_no_value(kind: str, text: Any) -> None:
    with pytest.raises(InvalidInput, match=r"^X "):
        parse_value(form_of({"x": {"type": kind, "title": "X"}})["x"], text)


def test_what_forms_need_is_imported_with_the_first_form() -> None:
    code = "import sys, acp_host; acp_host.connect, acp_host.ElicitationQueue; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"jsonschema", "referencing", "regress", "idna"} & set(loaded)
