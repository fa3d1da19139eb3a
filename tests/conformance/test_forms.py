"""Forms against the upstream schema: every kind and keyword has its place, and any valid form can be shown."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from acp_host.errors import DecodeError, InvalidInput, InvalidParams
from acp_host.services.form_answers import check_answer
from acp_host.services.form_reader import read_form
from acp_host.services.forms import FieldKind, FormField
from acp_host.wire._model import wire_name
from tests.conformance.schema_reader import Reader
from tests.conformance.schema_strategies import JSON, Strategies
from tests.services.form_strategies import form_of, request_of

KINDS = {
    "StringPropertySchema": {"type": "string"},
    "NumberPropertySchema": {"type": "number"},
    "IntegerPropertySchema": {"type": "integer"},
    "BooleanPropertySchema": {"type": "boolean"},
    "MultiSelectPropertySchema": {"type": "array", "items": {"type": "string", "enum": ["a"]}},
}
"""Definition of a field → the least of its kind."""

ELSEWHERE = {"title": "label", "enum": "choices", "oneOf": "choices", "items": "choices", "_meta": "raw"}
"""Keyword → the attribute of a field that stands for it, where it has another name."""

many = settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])


def test_every_kind_of_field_is_known(schemas: dict[str, Any]) -> None:
    definitions = schemas["unstable"]["$defs"]
    listed = {
        branch["allOf"][0]["$ref"].rpartition("/")[2]
        for branch in definitions["ElicitationPropertySchema"]["anyOf"]
        if "allOf" in branch
    }
    assert listed == KINDS.keys()
    for schema in KINDS.values():
        assert form_of({"x": schema})["x"].kind is not FieldKind.UNKNOWN


def test_every_format_is_known(schemas: dict[str, Any]) -> None:
    words = Reader(schemas["unstable"]).words("StringFormat")
    assert words
    assert {form_of({"x": {"type": "string", "format": word}})["x"].kind for word in words} == words


@pytest.mark.parametrize("name", KINDS)
def test_every_keyword_has_its_attribute(schemas: dict[str, Any], name: str) -> None:
    attributes = {wire_name(attribute.name): attribute.name for attribute in attrs.fields(FormField)}
    for keyword in schemas["unstable"]["$defs"][name]["properties"]:
        attribute = ELSEWHERE.get(keyword) or attributes.get(keyword)
        assert attribute, f"{keyword} of {name} counts nowhere"
        assert hasattr(FormField, attribute)


@many
@given(data=st.data())
def test_any_valid_form_can_be_shown_and_what_it_begins_with_is_allowed(data: st.DataObject, strategies: Any) -> None:
    assert isinstance(strategies, Strategies)
    schema = data.draw(strategies.named("ElicitationSchema"))
    form = read_form(request_of(schema))
    assert [field.name for field in form.fields] == list(schema.get("properties", {}))
    review = check_answer(form, form.defaults, patterns=False)
    assert {error.message for error in review.errors} <= {f"{field.label} needs an answer" for field in form.fields}


_WORDS = """
type title description default enum oneOf items anyOf const minLength maxLength pattern format
minimum maximum minItems maxItems required properties $ref _meta
"""
KEYWORDS = st.sampled_from(_WORDS.split())
JUNK = st.recursive(
    JSON | st.sampled_from(["string", "number", "integer", "boolean", "array", "object", "email", "date", "("]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYWORDS, inner, max_size=5),
    max_leaves=12,
)


@many
@given(st.dictionaries(st.text(max_size=3), st.dictionaries(KEYWORDS, JUNK, max_size=6), max_size=3), JUNK)
def test_no_schema_breaks_anything(properties: dict[str, Any], value: Any) -> None:
    try:
        form = read_form(request_of({"properties": properties}))
    except (DecodeError, InvalidParams):
        return
    for field in form.fields:
        try:
            review = check_answer(form, {field.name: value}, patterns=False)
        except InvalidInput:
            continue
        assert review.valid is not bool(review.errors)
