"""Checks what is to be sent as the answer to a form: :func:`review_answer`; reads what was typed: :func:`parse_value`.

An answer is checked by the rules of JSON Schema, as far as they are part of the protocol. Lengths count characters, not
bytes. Patterns are ECMA-262 and have a time limit; one that is invalid, too slow or cannot be checked here is not
enforced, and :attr:`FormReview.unchecked` says so: the agent will check the answer, and a user must not be stuck.

Specification: Elicitation, Form Mode.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

from attrs import frozen

from acp_host.errors import InvalidInput
from acp_host.printable import block, one_line
from acp_host.services._field_rules import broken_rules
from acp_host.services._patterns import PatternResult, check_patterns
from acp_host.services.forms import FieldKind, FieldValue, Form, FormField

__all__ = ["FieldError", "FormReview", "ReviewLine", "check_answer", "parse_value", "review_answer"]

_SHOWN_LENGTH = 4_000
_SHOWN_LINES = 100
_SHOWN_PATTERN = 100


@frozen(kw_only=True)
class FieldError:
    """Something that is wrong with the value of a field.

    Attributes:
        name: of the field.
        message: a sentence for the user.
    """

    name: str
    message: str


@frozen(kw_only=True)
class ReviewLine:
    """A field and its value, as the user should see them before the answer is sent.

    Attributes:
        label: the field's label.
        text: the value that is sent, and for a choice its label too; empty if the field is left out of the answer.
    """

    label: str
    text: str


@frozen(kw_only=True)
class FormReview:
    """An answer as it would be sent.

    Attributes:
        content: the values by name; the fields that are left out are not in it.
        lines: all fields in the order of the form.
        errors: why it cannot be sent; empty if it can.
        unchecked: what could not be checked and is not enforced, a sentence each.
    """

    content: Mapping[str, FieldValue]
    lines: tuple[ReviewLine, ...] = ()
    errors: tuple[FieldError, ...] = ()
    unchecked: tuple[str, ...] = ()

    @property
    def valid(self) -> bool:
        """Whether it can be sent."""
        return not self.errors

    def require_valid(self) -> None:
        """Raise ``InvalidInput``, with all that is wrong, unless it can be sent."""
        if self.errors:
            raise InvalidInput(f"the answer cannot be sent: {'; '.join(error.message for error in self.errors)}")


async def review_answer(form: Form, values: Mapping[str, Any]) -> FormReview:
    """Check an answer in a thread; as :func:`check_answer`."""
    return await asyncio.get_running_loop().run_in_executor(_executor(), check_answer, form, dict(values))


@cache
def _executor() -> ThreadPoolExecutor:
    """Return threads that are kept for this, so that patterns that run away hold up nothing else."""
    return ThreadPoolExecutor(max_workers=2, thread_name_prefix="acp_host forms")


def check_answer(form: Form, values: Mapping[str, Any], *, patterns: bool = True) -> FormReview:
    """Check an answer.

    Blocks for some milliseconds; where a pattern is matched for 50 ms, and for seconds where one runs away.

    Args:
        form: what was asked.
        values: by name of the field; ``None`` counts as no value. What is not given is not sent, defaults included.
        patterns: match patterns too.

    Raises:
        InvalidInput: there is a value for a field that the form does not have.
    """
    fields = {field.name: field for field in form.fields}
    given = {name: value for name, value in values.items() if value is not None}
    strangers = [name for name in given if name not in fields]
    if strangers:
        raise InvalidInput(f"the form has no field named {', '.join(map(repr, strangers))}, but {list(fields)}")
    errors = {name: broken for name in given if (broken := broken_rules(fields[name], given[name]))}
    errors |= {field.name: ("needs an answer",) for field in form.fields if field.required and field.name not in given}
    unchecked: list[str] = []
    if patterns:
        _match_patterns([fields[name] for name in given if name not in errors], given, errors, unchecked)
    return FormReview(
        content={name: _as_sent(field, given[name]) for name, field in fields.items() if name in given},
        lines=tuple(ReviewLine(label=field.label, text=_shown(field, given.get(field.name))) for field in form.fields),
        errors=tuple(
            FieldError(name=field.name, message=f"{field.label} {problem}")
            for field in form.fields
            for problem in errors.get(field.name, ())
        ),
        unchecked=tuple(unchecked),
    )


def _match_patterns(
    fields: Sequence[FormField], given: Mapping[str, Any], errors: dict[str, tuple[str, ...]], unchecked: list[str]
) -> None:
    """Add what the patterns of ``fields`` say to ``errors`` and ``unchecked``."""
    with_pattern = [(field, field.pattern) for field in fields if field.pattern is not None]
    results = check_patterns([(pattern, given[field.name]) for field, pattern in with_pattern])
    for (field, pattern), result in zip(with_pattern, results, strict=True):
        shown = one_line(pattern, _SHOWN_PATTERN)
        if result is PatternResult.DIFFERS:
            errors[field.name] = (f"does not match the pattern {shown}",)
        elif result is not PatternResult.MATCH:
            unchecked.append(f"{field.label}: the pattern {shown} is not enforced: {_WHY_UNCHECKED[result]}")


_WHY_UNCHECKED = {
    PatternResult.INVALID: "it is no regular expression",
    PatternResult.TOO_SLOW: "it takes too long",
    PatternResult.UNCHECKABLE: "it cannot be matched here; the extra 'forms' is needed, and a Python interpreter",
}


def _as_sent(field: FormField, value: Any) -> FieldValue:
    if field.kind is FieldKind.INTEGER and isinstance(value, float) and value.is_integer():
        return int(value)  # a whole number to JSON Schema, but not to many a JSON library
    sent: FieldValue = tuple(value) if isinstance(value, list) else value
    return sent


def _shown(field: FormField, value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    labels = {choice.value: choice.label for choice in field.choices}
    parts = value if isinstance(value, tuple | list) else (value,)
    return block(", ".join(_with_label(labels, str(part)) for part in parts), _SHOWN_LENGTH, _SHOWN_LINES)


def _with_label(labels: Mapping[str, str], value: str) -> str:
    """Return a chosen value with its label, which the agent could have chosen to say something else."""
    label = labels.get(value, value)
    return label if label == value else f"{label} ({value})"


# --- what was typed -------------------------------------------------------------------------------------------------

_YES_OR_NO = {"yes": True, "y": True, "true": True, "on": True, "no": False, "n": False, "false": False, "off": False}
_INTEGER = re.compile(r"[+-]?\d{1,19}", re.ASCII)
_NUMBER = re.compile(r"[+-]?(\d{1,300}(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)


def parse_value(field: FormField, text: str | Sequence[str]) -> FieldValue | None:
    """Return what was typed for a field as its value; for a user interface that has only texts.

    Args:
        field: decides how the text is read.
        text: what was typed; the value of the choice, or the values where several can be chosen.

    Returns:
        the value, which may break the field's rules; ``None`` for a text that is empty, which is no answer.

    Raises:
        InvalidInput: the text is no such value, e.g. ``"x"`` for a number; in words for the user.
    """
    if field.multiple:
        return (text,) if isinstance(text, str) else tuple(text)
    if not isinstance(text, str):
        raise InvalidInput(f"{field.label} takes one text, not several")
    if not text:
        return None
    typed = text.strip()
    match field.kind:
        case FieldKind.BOOLEAN if typed.lower() in _YES_OR_NO:
            return _YES_OR_NO[typed.lower()]
        case FieldKind.INTEGER if _INTEGER.fullmatch(typed):
            return int(typed)
        case FieldKind.NUMBER if _NUMBER.fullmatch(typed):
            return int(typed) if _INTEGER.fullmatch(typed) else float(typed)
        case FieldKind.BOOLEAN:
            raise InvalidInput(f"{field.label} is answered with yes or no")
        case FieldKind.INTEGER:
            raise InvalidInput(f"{field.label} takes a whole number")
        case FieldKind.NUMBER:
            raise InvalidInput(f"{field.label} takes a number such as 1.5")
    return text
