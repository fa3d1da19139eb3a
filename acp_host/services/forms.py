"""A form as something to draw: :class:`Form`, :class:`FormField` and :class:`Choice`.

They are made of the agent's schema by :func:`~acp_host.services.form_reader.read_form`. All texts for the screen are
plain, safe to print and of bounded size; what the agent sent is kept beside them.

Specification: Elicitation, Form Mode.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, TypeAlias

from attrs import field, frozen

from acp_host.wire._model import Unknown
from acp_host.wire.converters import unstructure
from acp_host.wire.elicitation import ElicitationPropertySchema, EnumOption

__all__ = ["Choice", "FieldKind", "FieldValue", "Form", "FormField"]

FieldValue: TypeAlias = str | int | float | bool | tuple[str, ...]
"""The value of a field; a tuple where several are chosen."""


class FieldKind(StrEnum):
    """What a field takes, and so how to draw it."""

    TEXT = "text"
    EMAIL = "email"
    URI = "uri"
    DATE = "date"
    DATE_TIME = "date-time"
    NUMBER = "number"
    INTEGER = "integer"
    BOOLEAN = "boolean"
    CHOICE = "choice"
    MULTI_CHOICE = "multi-choice"
    UNKNOWN = "unknown"
    """A kind that this version does not know. Do not draw it as another: show :attr:`FormField.raw`, at most."""


@frozen(kw_only=True)
class Choice:
    """One value to choose.

    Attributes:
        value: what goes into the answer.
        label: what to show for it, on one line.
        description: more about it; may be empty.
        source: what the agent sent about it; ``None`` where that is the value alone.
    """

    value: str
    label: str
    description: str = ""
    source: EnumOption | None = field(default=None, repr=False)


@frozen(kw_only=True)
class FormField:
    """One field of a form.

    Attributes:
        name: its name in the answer; of the agent's making, so not for the screen.
        kind: what it takes.
        label: its name for the user, on one line.
        description: more about it; may be empty.
        required: whether an answer needs a value.
        default: what to start with, which the field itself allows; ``None`` for nothing.
        choices: the values to choose from, in the agent's order; empty for kinds that are no choice.
        min_length: of a text, in characters.
        max_length: of a text, in characters.
        pattern: ECMA-262 regular expression that a text has to match somewhere.
        format: the agent's word for what a text is, also where this version does not know it.
        minimum: smallest number.
        maximum: largest number.
        min_items: how many to choose at least.
        max_items: how many to choose at most.
        source: what the agent sent, ``_meta`` included.
    """

    name: str
    kind: FieldKind
    label: str
    description: str = ""
    required: bool = False
    default: FieldValue | None = None
    choices: tuple[Choice, ...] = ()
    min_length: int | None = None
    max_length: int | None = None
    pattern: str | None = None
    format: str | None = None
    minimum: float | None = None
    maximum: float | None = None
    min_items: int | None = None
    max_items: int | None = None
    source: ElicitationPropertySchema = field(repr=False)

    @property
    def raw(self) -> Mapping[str, Any]:
        """What the agent sent, as JSON."""
        if isinstance(self.source, Unknown):
            return self.source.data
        return unstructure(self.source, ElicitationPropertySchema)

    @property
    def multiple(self) -> bool:
        """Whether the value is a tuple."""
        return self.kind is FieldKind.MULTI_CHOICE

    def json_schema(self) -> dict[str, Any]:
        """Return the JSON Schema that a value has to fit, the pattern aside: only the vocabulary of forms is in it."""
        if self.kind is FieldKind.UNKNOWN:
            return {}
        schema: dict[str, Any] = {"type": _TYPES.get(self.kind, "string")}
        offered = {"enum": [choice.value for choice in self.choices]}
        if self.multiple:
            schema["items"] = {"type": "string", **offered}
        elif self.kind is FieldKind.CHOICE:
            schema |= offered
        limits = {
            "minLength": self.min_length,
            "maxLength": self.max_length,
            "minimum": self.minimum,
            "maximum": self.maximum,
            "minItems": self.min_items,
            "maxItems": self.max_items,
            "format": self.format,
        }
        return schema | {word: limit for word, limit in limits.items() if limit is not None}


_TYPES = {
    FieldKind.NUMBER: "number",
    FieldKind.INTEGER: "integer",
    FieldKind.BOOLEAN: "boolean",
    FieldKind.MULTI_CHOICE: "array",
}


@frozen(kw_only=True)
class Form:
    """A form to show.

    Attributes:
        message: what is needed and why, in the agent's words.
        title: of the form; may be empty.
        description: more about it; may be empty.
        fields: in the order to show them.
        problems: what was left out of the schema, a sentence each.
    """

    message: str
    title: str = ""
    description: str = ""
    fields: tuple[FormField, ...] = ()
    problems: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> FormField:
        """Return the field with this name.

        Raises:
            KeyError: there is none.
        """
        found = next((field for field in self.fields if field.name == name), None)
        if found is None:
            raise KeyError(name)
        return found

    @property
    def defaults(self) -> dict[str, FieldValue]:
        """The values that the form starts with."""
        return {field.name: field.default for field in self.fields if field.default is not None}
