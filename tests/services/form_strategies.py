"""Forms by the vocabulary of the protocol, as an agent would send them, and answers to them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from acp_host.services.form_reader import read_form
from acp_host.services.forms import Form
from acp_host.wire.converters import structure_tolerant
from acp_host.wire.elicitation import CreateElicitationRequest, ElicitationFormMode

__all__ = ["ANSWERS", "SCHEMAS", "form_of", "request_of"]

Schema = dict[str, Any]

NAMES = st.text(max_size=4) | st.sampled_from(["1", "1_note", "a b", "__proto__", "größe", "\x1b[31m", "$ref"])
WORDS = st.text(max_size=5)
VALUES = st.lists(WORDS, min_size=1, max_size=4, unique=True)
INT64 = st.integers(-(2**63), 2**63 - 1)
NUMBERS = st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def _options(draw: st.DrawFn) -> list[Schema]:
    values = draw(VALUES)
    return [
        {"const": value, "title": draw(WORDS)} | draw(st.sampled_from([{}, {"description": "d"}])) for value in values
    ]


def _properties(kind: str, members: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[Schema]:
    texts = {"title": st.none() | WORDS, "description": st.none() | WORDS, "_meta": st.just({"vendor": {"x": 1}})}
    return st.fixed_dictionaries({"type": st.just(kind)}, optional={**texts, **members})


SMALL = st.none() | st.integers(0, 4)
FIELDS: st.SearchStrategy[Schema] = st.one_of(
    _properties("string", {"minLength": SMALL, "maxLength": SMALL, "default": st.none() | WORDS}),
    _properties("string", {"enum": st.none() | VALUES, "default": WORDS, "maxLength": SMALL}),
    _properties("string", {"oneOf": st.none() | _options(), "default": WORDS}),
    _properties("number", {"minimum": NUMBERS, "maximum": st.none() | NUMBERS, "default": NUMBERS}),
    _properties("integer", {"minimum": INT64, "maximum": st.none() | INT64, "default": INT64}),
    _properties("boolean", {"default": st.none() | st.booleans()}),
    st.builds(
        lambda schema, items: schema | {"items": items},
        _properties("array", {"minItems": SMALL, "maxItems": SMALL, "default": st.lists(WORDS, max_size=2)}),
        VALUES.map(lambda values: {"type": "string", "enum": values})
        | _options().map(lambda options: {"anyOf": options}),
    ),
)


@st.composite
def schemas(draw: st.DrawFn) -> Schema:
    properties = draw(st.dictionaries(NAMES, FIELDS, max_size=4))
    required = draw(st.lists(st.sampled_from(sorted(properties)), unique=True)) if properties else []
    return {"type": "object", "properties": properties, "required": required}


SCHEMAS = schemas()
"""Any schema of known kinds, without patterns and formats."""


def _value_of(schema: Schema) -> st.SearchStrategy[Any]:
    """Values that fit a field, nearly fit it, or do not."""
    offered = schema.get("enum") or [option["const"] for option in schema.get("oneOf") or ()]
    items = schema.get("items", {})
    chosen = items.get("enum") or [option["const"] for option in items.get("anyOf", ())]
    fitting = {
        "string": st.sampled_from(offered) if offered else st.text(max_size=5),
        "number": NUMBERS | st.just(1.0),
        "integer": INT64 | st.integers(-3, 3),
        "boolean": st.booleans(),
        "array": st.lists(st.sampled_from(chosen or ["x"]), max_size=3),
    }[schema["type"]]
    return fitting | WORDS | st.booleans() | st.integers(-3, 3) | st.just(2.5) | st.lists(WORDS, max_size=2)


@st.composite
def answers(draw: st.DrawFn) -> tuple[Schema, dict[str, Any]]:
    schema = draw(SCHEMAS)
    values = {name: draw(st.none() | _value_of(field)) for name, field in schema["properties"].items()}
    return schema, {name: value for name, value in values.items() if value is not None}


ANSWERS = answers()
"""A schema, and values for some of its fields."""


def request_of(schema: Schema, message: str = "What now?") -> ElicitationFormMode:
    """Return the request that asks with a schema, read as the connection reads it."""
    params = {"mode": "form", "sessionId": "s", "message": message, "requestedSchema": schema}
    request, _ = structure_tolerant(params, CreateElicitationRequest)
    assert isinstance(request, ElicitationFormMode)
    return request


def form_of(properties: dict[str, Any], **members: Any) -> Form:
    """Return the form with these properties."""
    return read_form(request_of({"type": "object", "properties": properties, **members}))
