"""Turns the agent's schema into a form: :func:`read_form`.

Of the schema counts what the protocol defines. Any other keyword (``$ref``, ``allOf``, ``multipleOf``, …) is left out
and named in :attr:`~acp_host.services.forms.Form.problems`, and so are defaults that the field itself does not allow,
values offered twice, and names in ``required`` that no field has. Nothing of the schema is ever fetched, run or taken
for markup.

Specification: Elicitation, Form Mode.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from attrs import evolve

from acp_host.errors import InvalidParams
from acp_host.printable import block, one_line
from acp_host.services._field_rules import broken_rules
from acp_host.services.forms import Choice, FieldKind, FieldValue, Form, FormField
from acp_host.wire._model import UNSET, Model, Unknown, Unset
from acp_host.wire.elicitation import (
    BooleanPropertySchema,
    ElicitationFormMode,
    ElicitationPropertySchema,
    EnumOption,
    IntegerPropertySchema,
    MultiSelectPropertySchema,
    NumberPropertySchema,
    StringFormat,
    StringMultiSelectItems,
    StringPropertySchema,
    TitledMultiSelectItems,
)

__all__ = ["MAX_CHOICES", "MAX_FIELDS", "read_form"]

MAX_FIELDS = 500
"""Most fields that a form may have."""
MAX_CHOICES = 5_000
"""Most values that all fields of a form may offer together."""

_KnownSchema: TypeAlias = (
    StringPropertySchema
    | NumberPropertySchema
    | IntegerPropertySchema
    | BooleanPropertySchema
    | MultiSelectPropertySchema
)

_LABEL_LENGTH = 200
_TEXT_LENGTH = 4_000
_TEXT_LINES = 100


def read_form(request: ElicitationFormMode) -> Form:
    """Return the form that the agent asks to show.

    Raises:
        InvalidParams: it has more fields or choices than anybody can be shown.
    """
    schema, problems = request.requested_schema, _Problems()
    properties = schema.properties or {}
    if len(properties) > MAX_FIELDS:
        raise InvalidParams(f"the form has {len(properties)} fields; at most {MAX_FIELDS} can be shown")
    required = frozenset(schema.required or ())
    problems.unknown_keywords("the form", schema)
    for name in sorted(required - properties.keys()):
        problems.add(f"no field is named {name!r}, which is required")
    offered = sum(_offered(source) for source in properties.values())
    if offered > MAX_CHOICES:
        raise InvalidParams(f"the form offers {offered} values to choose from; at most {MAX_CHOICES} can be shown")
    fields = [_read_field(name, source, name in required, problems) for name, source in properties.items()]
    return Form(
        message=_block(request.message),
        title=_line(schema.title or ""),
        description=_block(schema.description or ""),
        fields=tuple(fields),
        problems=tuple(problems.found),
    )


def _offered(source: ElicitationPropertySchema) -> int:
    """Return how many values a field offers, those that are left out later included."""
    given: list[Any] = []
    if isinstance(source, StringPropertySchema):
        given = [source.enum, source.one_of]
    elif isinstance(source, MultiSelectPropertySchema) and not isinstance(source.items, Unknown):
        items = source.items
        given = [items.enum if isinstance(items, StringMultiSelectItems) else items.any_of]
    return sum(len(values) for values in given if values)


class _Problems:
    """What was left out of a schema; no more of it than fits a report."""

    _most = 50

    def __init__(self) -> None:
        self.found: list[str] = []

    def add(self, text: str) -> None:
        if len(self.found) < self._most:
            self.found.append(one_line(text, _LABEL_LENGTH))

    def unknown_keywords(self, where: str, source: Model) -> None:
        if source.extra:
            self.add(f"{where}: not part of a form, so left out: {', '.join(sorted(source.extra))}")


def _read_field(name: str, source: ElicitationPropertySchema, required: bool, problems: _Problems) -> FormField:
    common: dict[str, Any] = {"name": name, "required": required, "source": source, "label": _line(name)}
    if isinstance(source, Unknown):
        problems.add(f"field {name!r} is of the unknown kind {source.tag!r}")
        title = source.data.get("title")
        common["label"] = (_line(title) if isinstance(title, str) else "") or common["label"]
        return FormField(kind=FieldKind.UNKNOWN, **common)
    problems.unknown_keywords(f"field {name!r}", source)
    common |= {"label": _line(source.title or "") or _line(name), "description": _block(source.description or "")}
    return _with_default(_read_known(source, common, problems), _given(source.default), problems)


def _read_known(source: _KnownSchema, common: dict[str, Any], problems: _Problems) -> FormField:
    if isinstance(source, StringPropertySchema):
        return _read_text(source, common, problems)
    if isinstance(source, MultiSelectPropertySchema):
        return _read_multi_choice(source, common, problems)
    if isinstance(source, BooleanPropertySchema):
        return FormField(kind=FieldKind.BOOLEAN, **common)
    kind = FieldKind.NUMBER if isinstance(source, NumberPropertySchema) else FieldKind.INTEGER
    return FormField(kind=kind, minimum=_given(source.minimum), maximum=_given(source.maximum), **common)


def _read_text(source: StringPropertySchema, common: dict[str, Any], problems: _Problems) -> FormField:
    choices = _choices(common["name"], _given(source.enum), _given(source.one_of), problems)
    kind = _TEXT_KINDS.get(source.format or "", FieldKind.TEXT) if choices is None else FieldKind.CHOICE
    return FormField(
        kind=kind,
        choices=choices or (),
        min_length=_given(source.min_length),
        max_length=_given(source.max_length),
        pattern=_given(source.pattern),
        format=_given(source.format),
        **common,
    )


_TEXT_KINDS: dict[str, FieldKind] = {
    StringFormat.EMAIL: FieldKind.EMAIL,
    StringFormat.URI: FieldKind.URI,
    StringFormat.DATE: FieldKind.DATE,
    StringFormat.DATE_TIME: FieldKind.DATE_TIME,
}


def _read_multi_choice(source: MultiSelectPropertySchema, common: dict[str, Any], problems: _Problems) -> FormField:
    items = source.items
    if isinstance(items, Unknown):
        problems.add(f"field {common['name']!r} offers items of the unknown type {items.tag!r}")
        return FormField(kind=FieldKind.UNKNOWN, **common)
    problems.unknown_keywords(f"the items of field {common['name']!r}", items)
    values = items.enum if isinstance(items, StringMultiSelectItems) else None
    options = items.any_of if isinstance(items, TitledMultiSelectItems) else None
    return FormField(
        kind=FieldKind.MULTI_CHOICE,
        choices=_choices(common["name"], values, options, problems) or (),
        min_items=_given(source.min_items),
        max_items=_given(source.max_items),
        **common,
    )


def _choices(
    name: str, values: Sequence[str] | None, options: Sequence[EnumOption] | None, problems: _Problems
) -> tuple[Choice, ...] | None:
    """Return what to choose from, each value once; ``None`` if the field is no choice."""
    if values is None and options is None:
        return None
    found: dict[str, Choice] = {}
    allowed = None if values is None else frozenset(values)
    offered: Sequence[EnumOption | str] = values or () if options is None else options
    for option in offered:
        choice = _choice(option)
        if allowed is None or choice.value in allowed:
            found.setdefault(choice.value, choice)
    if len(found) < len(offered):
        problems.add(f"field {name!r} offers a value twice, or one that it does not allow; it is shown once, or not")
    if not found:
        problems.add(f"field {name!r} offers nothing to choose from")
    return tuple(found.values())


def _choice(option: EnumOption | str) -> Choice:
    if isinstance(option, str):
        return Choice(value=option, label=_line(option))
    label = _line(option.title) or _line(option.const)
    return Choice(value=option.const, label=label, description=_block(option.description or ""), source=option)


def _with_default(read: FormField, default: FieldValue | None, problems: _Problems) -> FormField:
    """Return the field with its default, if it is a value that the field allows."""
    if default is None or read.kind is FieldKind.UNKNOWN:
        return read
    if broken_rules(read, default):
        problems.add(f"field {read.name!r} does not allow its own default, which is left out")
        return read
    return evolve(read, default=default)


def _given(value: Any | None | Unset) -> Any:
    return None if value is UNSET else value


def _line(text: str) -> str:
    return one_line(text, _LABEL_LENGTH)


def _block(text: str) -> str:
    return block(text, _TEXT_LENGTH, _TEXT_LINES)
