"""Forms with fields of every kind, and web pages that the agent sends the user to."""

from __future__ import annotations

from typing import Any

from acp_host.services.forms import FieldKind
from acp_host.testing.gallery.scenes import Play, Scenes
from acp_host.testing.gallery.stage import SESSION_ID, Stage

__all__ = ["SCENES"]

SCENES = Scenes("forms")

_COLOURS = [
    {"const": "r", "title": "Red", "description": "As in warnings."},
    {"const": "g", "title": "Green"},
    {"const": "b", "title": "Blue"},
]
_FIELDS: dict[FieldKind, dict[str, Any]] = {
    FieldKind.TEXT: {
        "type": "string",
        "title": "Name",
        "description": "As on the card.",
        "minLength": 2,
        "maxLength": 40,
    },
    FieldKind.EMAIL: {"type": "string", "title": "Address", "format": "email"},
    FieldKind.URI: {"type": "string", "title": "Page", "format": "uri", "default": "https://example.org/"},
    FieldKind.DATE: {"type": "string", "title": "Day", "format": "date", "default": "2026-01-31"},
    FieldKind.DATE_TIME: {"type": "string", "title": "When", "format": "date-time"},
    FieldKind.NUMBER: {"type": "number", "title": "Share", "minimum": 0, "maximum": 1, "default": 0.25},
    FieldKind.INTEGER: {"type": "integer", "title": "Port", "minimum": 1, "maximum": 65_535, "default": 8_080},
    FieldKind.BOOLEAN: {"type": "boolean", "title": "Encrypt", "default": True},
    FieldKind.CHOICE: {"type": "string", "title": "Colour", "oneOf": _COLOURS, "default": "g"},
    FieldKind.MULTI_CHOICE: {
        "type": "array",
        "title": "Colours",
        "items": {"anyOf": _COLOURS},
        "minItems": 1,
        "maxItems": 2,
        "default": ["r", "b"],
    },
    FieldKind.UNKNOWN: {"type": "colour-wheel", "title": "Shade"},
}


def _form(properties: dict[str, Any], message: str = "Please fill this in.", **schema: Any) -> Play:
    def play(stage: Stage) -> None:
        stage.prompts("Set it up.")
        stage.asks(
            "elicitation/create",
            mode="form",
            sessionId=SESSION_ID,
            message=message,
            requestedSchema={"type": "object", "properties": properties, **schema},
        )

    return play


for _kind, _field in _FIELDS.items():
    SCENES.add(f"field_{_kind}", f"a form with one field, of the kind {_kind}", _form({"it": _field}))
    SCENES.add(f"required_{_kind}", f"the same, required: {_kind}", _form({"it": _field}, required=["it"]))

SCENES.add(
    "choice_plain", "a choice of words without labels", _form({"it": {"type": "string", "enum": ["r", "g", "b"]}})
)
SCENES.add(
    "multi_choice_plain",
    "a choice of several words without labels",
    _form({"it": {"type": "array", "items": {"type": "string", "enum": ["r", "g", "b"]}}}),
)
SCENES.add(
    "choice_of_many",
    "a choice of 300",
    _form({"it": {"type": "string", "title": "Port", "enum": [str(number) for number in range(300)]}}),
)
SCENES.add(
    "pattern", "a text with a pattern", _form({"it": {"type": "string", "title": "Version", "pattern": r"^v\d+\.\d+$"}})
)
SCENES.add(
    "field_without_label", "a field of which nothing is said but its type", _form({"some_name": {"type": "string"}})
)
SCENES.add(
    "unknown_format", "a text of a format that is not known", _form({"it": {"type": "string", "format": "iban"}})
)
SCENES.add(
    "every_field",
    "a form with a field of every kind, some of them required",
    _form(
        {str(kind): field for kind, field in _FIELDS.items()},
        title="A form",
        description="It has a field of every kind.",
        required=["text", "choice"],
    ),
)
SCENES.add("no_fields", "a form without fields, which can only be confirmed", _form({}, "Shall I go on?"))
SCENES.add(
    "long", "a form with 60 fields", _form({f"field-{n}": {"type": "string", "title": f"Field {n}"} for n in range(60)})
)
SCENES.add(
    "long_message",
    "a form with a message of many lines",
    _form({"it": _FIELDS[FieldKind.TEXT]}, "One more line.\n" * 40),
)


@SCENES.scene("of_tool_call", "a form that belongs to a tool call")
def of_tool_call(stage: Stage) -> None:
    stage.prompts("Deploy it.")
    stage.tells("tool_call", toolCallId="call-1", title="Deploy", kind="execute", status="in_progress")
    stage.asks(
        "elicitation/create",
        mode="form",
        sessionId=SESSION_ID,
        toolCallId="call-1",
        message="Where to?",
        requestedSchema={"type": "object", "properties": {"place": {"type": "string", "enum": ["test", "live"]}}},
    )


@SCENES.scene("unknown_mode", "the agent asks in a way that is not known; see the raw request")
def unknown_mode(stage: Stage) -> None:
    stage.prompts("Deploy it.")
    stage.asks("elicitation/create", mode="song", sessionId=SESSION_ID, message="Sing along?", verses=3)


def _page(url: str, message: str = "Please log in on this page.") -> Play:
    def play(stage: Stage) -> None:
        stage.prompts("Set it up.")
        stage.asks(
            "elicitation/create", mode="url", sessionId=SESSION_ID, elicitationId="page-1", message=message, url=url
        )

    return play


_PAGES = {
    "page": ("a web page", "https://example.org/login?state=abc"),
    "page_unencrypted": ("a page without encryption", "http://example.org/login"),
    "page_of_this_machine": ("a page of this machine", "http://localhost:8080/login"),
    "page_number": ("a page at an address that is a number", "https://192.0.2.7/login"),
    "page_letters": ("a page whose name has letters that look like others", "https://ехample.org/login"),
    "page_user": ("an address with something before an @", "https://example.com@example.org/login"),
    "page_long": ("a very long address", f"https://example.org/login?{'a=1&' * 400}"),
}
for _name, (_shows, _url) in _PAGES.items():
    SCENES.add(_name, f"the user is sent to {_shows}", _page(_url))
