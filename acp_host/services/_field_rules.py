"""What a field demands of its value, in words for people: :func:`broken_rules`; patterns are checked elsewhere.

The check is jsonschema's, with the field's own small schema, no format but the four that the protocol names, and an
empty registry, so that no reference could lead anywhere.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from datetime import date, datetime
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from acp_host.services.forms import FieldKind, FormField
from acp_host.wire.elicitation import StringFormat

if TYPE_CHECKING:
    import jsonschema

__all__ = ["broken_rules"]

_INT64 = range(-(2**63), 2**63)
_SIMPLE_KINDS = str | bool | int | float

_WRONG_TYPE = {
    FieldKind.NUMBER: "is not a number",
    FieldKind.INTEGER: "is not a whole number",
    FieldKind.BOOLEAN: "is neither yes nor no",
    FieldKind.CHOICE: "is not one of the choices",
    FieldKind.MULTI_CHOICE: "is not a list of choices",
}
_WRONG_FORMAT = {
    StringFormat.EMAIL: "is not an e-mail address",
    StringFormat.URI: "is not a complete address such as https://example.org",
    StringFormat.DATE: "is not a day such as 2025-01-31",
    StringFormat.DATE_TIME: "is not a point in time such as 2025-01-31T09:30:00Z",
}
_BROKEN: dict[str, Callable[[Any, Any], str]] = {
    "enum": lambda _, __: "is not one of the choices",
    "minLength": lambda least, text: f"is too short: it has {len(text)} of at least {least} characters",
    "maxLength": lambda most, text: f"is too long: it has {len(text)} of at most {most} characters",
    "minimum": lambda least, _: f"is too small: the least is {least}",
    "maximum": lambda most, _: f"is too large: the most is {most}",
    "minItems": lambda least, chosen: f"has too few choices: {len(chosen)} of at least {least}",
    "maxItems": lambda most, chosen: f"has too many choices: {len(chosen)} of at most {most}",
    "format": lambda word, _: _WRONG_FORMAT[word],
}
"""Keyword → what is wrong with a value, by the keyword's value and the value itself."""


def broken_rules(field: FormField, value: Any) -> tuple[str, ...]:
    """Return what is wrong with a value of a field, as ends of a sentence that begins with the field's label."""
    if not _can_be_sent(value):
        return ("is nothing that an answer can hold",)
    instance = list(value) if isinstance(value, tuple | list) else value
    found = []
    for error in _validator(field).iter_errors(instance):
        if error.validator == "type":
            found.append(_WRONG_TYPE.get(field.kind, "is not a text"))
        else:
            found.append(_BROKEN[str(error.validator)](error.validator_value, error.instance))
    return tuple(dict.fromkeys(found))


def _can_be_sent(value: Any) -> bool:
    """Tell whether the protocol has a place for a value in an answer."""
    if isinstance(value, tuple | list):
        return all(isinstance(item, str) for item in value)
    if isinstance(value, int) and value not in _INT64:
        return False
    return isinstance(value, _SIMPLE_KINDS) and not (isinstance(value, float) and not math.isfinite(value))


def _validator(field: FormField) -> jsonschema.Draft202012Validator:
    import jsonschema  # takes longer to import than the rest of this library
    import referencing

    return jsonschema.Draft202012Validator(
        field.json_schema(), registry=referencing.Registry(), format_checker=_format_checker()
    )


# --- formats --------------------------------------------------------------------------------------------------------


@cache
def _format_checker() -> jsonschema.FormatChecker:
    import jsonschema

    checker = jsonschema.FormatChecker(formats=())
    for word, check in _FORMATS.items():
        checker.checks(word)(lambda value, check=check: not isinstance(value, str) or check(value))
    return checker


_ADDRESS = re.compile(r"[^\s@\"<>,;:\\()\[\]]+@[^\s@\"<>,;:\\()\[\]]+")
_LONGEST_ADDRESS = 320
_URI = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=%]+")
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_DATE_TIME = re.compile(r"(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d:\d\d)(\.\d+)?([Zz]|[+-]\d\d:\d\d)", re.ASCII)


def _is_email(text: str) -> bool:
    if len(text) > _LONGEST_ADDRESS or not _ADDRESS.fullmatch(text):
        return False
    return all(part for half in text.split("@") for part in half.split("."))


def _is_uri(text: str) -> bool:
    if not _URI.fullmatch(text):
        return False
    try:
        urlsplit(text)
    except ValueError:
        return False
    return True


def _is_date(text: str) -> bool:
    if not _DATE.fullmatch(text):
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _is_date_time(text: str) -> bool:
    match = _DATE_TIME.fullmatch(text)
    if match is None:
        return False
    day, time, _, offset = match.groups()
    time = time.replace(":60", ":59") if time == "23:59:60" else time  # a leap second, which Python does not know
    try:
        datetime.fromisoformat(f"{day}T{time}{offset.upper()}")
    except ValueError:
        return False
    return True


_FORMATS: dict[str, Callable[[str], bool]] = {
    StringFormat.EMAIL: _is_email,
    StringFormat.URI: _is_uri,
    StringFormat.DATE: _is_date,
    StringFormat.DATE_TIME: _is_date_time,
}
