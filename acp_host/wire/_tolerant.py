"""The careful decoder: repairs what the schema allows to be repaired, and says where everything else is wrong.

It is run over the few values that the fast decoder refuses, so it is written to be read, not to be quick. Every repair
is a :class:`~acp_host.diagnostics.Diagnostic` with the JSON path of the value; what cannot be repaired raises
:class:`~acp_host.errors.DecodeError` with that path. Repairs inside of something that is then left out are not told.
"""

from __future__ import annotations

import re
from typing import Any

import orjson
from attrs import evolve

from acp_host.diagnostics import Diagnostic, DiagnosticKind, excerpt
from acp_host.errors import DecodeError
from acp_host.wire._model import UNSET
from acp_host.wire._shape import (
    LARGEST_NUMBER,
    AnyShape,
    ArrayShape,
    BoolShape,
    ChoiceShape,
    Field,
    FloatShape,
    IntShape,
    MapShape,
    ModelShape,
    Shape,
    StrShape,
    UnionShape,
    fields_of,
)
from acp_host.wire._unions import ShapeUnion, TaggedUnion, WireUnion

__all__ = ["TolerantDecoder", "child_path"]

_EXACT_LIMIT = 2.0**63
_MAX_REPAIRS = 100
_LONGEST_NUMBER = 128
"""The longest integer that a message shows, in bits."""
_LONGEST_NAME = 80
"""How much of a member's name a path shows, in characters."""


class TolerantDecoder:
    """One decoding of one message.

    Args:
        repair: whether to repair what may be repaired; ``False`` to find what is wrong all the same.

    """

    def __init__(self, *, repair: bool = True) -> None:
        self._repairing = repair
        self._repaired: list[tuple[str, str, Any]] = []  # message, path and value
        self._not_listed = 0

    @property
    def repairs(self) -> list[Diagnostic]:
        """What was repaired so far, in the order of the message; the hundredth stands for all that came after it, too.

        They are made here and not as they are found: an array may have millions of items to leave out.
        """
        made = [
            Diagnostic(DiagnosticKind.REPAIRED, message, path=path, data=_sample(value))
            for message, path, value in self._repaired
        ]
        if self._not_listed:
            made[-1] = evolve(made[-1], count=1 + self._not_listed)
        return made

    def decode(self, value: Any, shape: Shape, path: str) -> Any:
        """Return the typed form of ``value``.

        Raises:
            DecodeError: it does not fit ``shape`` and no annotation allows a repair.
        """
        match shape:
            case AnyShape():
                return value
            case StrShape(min_length):
                return _string(value, min_length, path)
            case IntShape(minimum):
                return _integer(value, minimum, path)
            case FloatShape():
                return _number(value, path)
            case BoolShape():
                return _boolean(value, path)
            case ModelShape(cls):
                return self._object(value, cls, None, path)
            case UnionShape(union):
                return self._union(value, union, path)
            case ArrayShape(item):
                return tuple(self.decode(v, item, child_path(path, i)) for i, v in enumerate(_array(value, path)))
            case MapShape(inner):
                return {k: self.decode(v, inner, child_path(path, k)) for k, v in _mapping(value, path).items()}
            case ChoiceShape(options, nullable):
                return self._choice(value, options, nullable, path)

    def _object(self, value: Any, cls: Any, tag: str | None, path: str) -> Any:
        members = _mapping(value, path)
        fields = fields_of(cls)
        arguments = {field.name: self._property(members, field, path) for field in fields}
        known = {field.wire for field in fields} | {field.also for field in fields} | {tag}
        extra = {name: member for name, member in members.items() if name not in known}
        return cls(**arguments, **({"extra": extra} if extra else {}))

    def _property(self, members: dict[str, Any], field: Field, path: str) -> Any:
        if field.wire not in members:
            return self._absent(members, field, path)
        value, where = members[field.wire], child_path(path, field.wire)
        if value is None and field.nullable:
            return None
        if value is None and field.default_on_null and self._repairing:
            return self._repair("null was taken as the default", field, where, value)
        try:
            if field.skip_invalid_items and self._repairing:
                return self._valid_items(value, field.shape, where)
            return self._attempt(value, field.shape, where)
        except DecodeError as error:
            if not (field.default_on_error and self._repairing):
                raise
            return self._repair(f"{error.problem}; the property took its default", field, error.path, value)

    def _absent(self, members: dict[str, Any], field: Field, path: str) -> Any:
        """Return what counts in the place of a property that is missing."""
        if not field.required:
            return UNSET
        if self._repairing and field.also is not None and field.also in members:
            return self.decode(members[field.also], field.shape, child_path(path, field.also))
        if self._repairing and field.stand_in is not None:
            return field.stand_in
        raise DecodeError(f"required property {field.wire!r} is missing", path)

    def _valid_items(self, value: Any, shape: Shape, path: str) -> tuple[Any, ...]:
        assert isinstance(shape, ArrayShape)
        items = []
        for index, item in enumerate(_array(value, path)):
            try:
                items.append(self._attempt(item, shape.item, child_path(path, index)))
            except DecodeError as error:
                self._report(f"{error.problem}; the item was left out", error.path, item)
        return tuple(items)

    def _attempt(self, value: Any, shape: Shape, path: str) -> Any:
        """Decode what may be given up: then its repairs are forgotten."""
        listed, not_listed = len(self._repaired), self._not_listed
        try:
            return self.decode(value, shape, path)
        except DecodeError:
            del self._repaired[listed:]
            self._not_listed = not_listed
            raise

    def _repair(self, message: str, field: Field, path: str, value: Any) -> Any:
        self._report(message, path, value)
        if not field.required:
            return UNSET
        return {} if isinstance(field.shape, MapShape) else ()

    def _report(self, message: str, path: str, value: Any) -> None:
        if len(self._repaired) < _MAX_REPAIRS:
            self._repaired.append((message, path, value))
        else:
            self._not_listed += 1

    def _union(self, value: Any, union: WireUnion, path: str) -> Any:
        members = _mapping(value, path)
        if isinstance(union, ShapeUnion):
            cls = next((cls for name, cls in union.by_property.items() if members.get(name) is not None), None)
            return union.unknown("", members) if cls is None else self._object(members, cls, None, path)
        return self._tagged(members, union, path)

    def _tagged(self, members: dict[str, Any], union: TaggedUnion, path: str) -> Any:
        if union.tag not in members and union.default is not None:
            return self._object(members, union.default, None, path)
        if union.tag not in members:
            raise DecodeError(f"required property {union.tag!r} is missing", path)
        kind = _string(members[union.tag], None, child_path(path, union.tag))
        cls = union.variants.get(kind)
        return union.unknown(kind, members) if cls is None else self._object(members, cls, union.tag, path)

    def _choice(self, value: Any, options: tuple[Shape, ...], nullable: bool, path: str) -> Any:
        if nullable and value is None:
            return None
        inside: DecodeError | None = None
        for option in options:
            try:
                return self._attempt(value, option, path)
            except DecodeError as error:
                inside = error if error.path != path else inside
        if inside is not None:
            raise inside  # of the right kind, and something in it is wrong
        raise _unexpected(" or ".join(_WANTED.get(type(option), "an object") for option in options), value, path)


def child_path(path: str, key: str | int) -> str:
    """Return the JSON path of a member of the value at ``path``; a very long name is cut off."""
    if isinstance(key, int):
        return f"{path}[{key}]"
    if len(key) > _LONGEST_NAME:
        key = f"{key[:_LONGEST_NAME]}…"
    return f"{path}.{key}" if re.fullmatch(r"\w+", key) else f"{path}[{key!r}]"


_WANTED: dict[type[Any], str] = {
    StrShape: "a string",
    IntShape: "an integer",
    FloatShape: "a number",
    BoolShape: "true or false",
    ArrayShape: "an array",
}


def _unexpected(wanted: str, value: Any, path: str) -> DecodeError:
    return DecodeError(f"expected {wanted}, got {_describe(value)}", path)


def _describe(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return _describe_number(value)
        case str():
            return "a string"
        case list():
            return "an array"
        case dict():
            return "an object"
        case _:
            return f"a value of type {type(value).__name__}"


def _describe_number(value: float) -> str:
    # Python refuses to write integers of thousands of digits, and nobody wants to read them.
    if isinstance(value, int) and value.bit_length() > _LONGEST_NUMBER:
        return f"a number of {value.bit_length()} bits"
    return f"the number {value!r}"


def _sample(value: Any) -> Any:
    """Return a value for a diagnostic: a scalar as it is, anything else as JSON, and never at length."""
    if isinstance(value, list | dict):
        try:
            value = orjson.dumps(value)
        except TypeError:  # too deep, or half a character somewhere
            return _describe(value)
    return excerpt(value) if isinstance(value, str | bytes) else value


def _string(value: Any, min_length: int | None, path: str) -> str:
    if type(value) is not str:
        raise _unexpected("a string", value, path)
    if min_length and len(value) < min_length:
        raise DecodeError(f"expected a string of at least {min_length} characters, got {len(value)}", path)
    return value


def _integer(value: Any, minimum: int | None, path: str) -> int:
    # 1.0 is an integer in JSON Schema; beyond 64 bits a float has lost digits, so it is not taken for one.
    if type(value) is float and value.is_integer() and abs(value) < _EXACT_LIMIT:
        value = int(value)
    if type(value) is not int:
        raise _unexpected("an integer", value, path)
    if minimum is not None and value < minimum:
        raise DecodeError(f"expected an integer of at least {minimum}, got {_describe_number(value)}", path)
    return value


def _number(value: Any, path: str) -> float:
    if type(value) is not float and type(value) is not int:
        raise _unexpected("a number", value, path)
    if not -LARGEST_NUMBER <= value <= LARGEST_NUMBER:  # 1e999: it could neither be added up nor be written again
        raise _unexpected("a finite number", value, path)
    return value


def _boolean(value: Any, path: str) -> bool:
    if type(value) is not bool:
        raise _unexpected("true or false", value, path)
    return value


def _array(value: Any, path: str) -> list[Any]:
    if type(value) is not list:
        raise _unexpected("an array", value, path)
    return value


def _mapping(value: Any, path: str) -> dict[str, Any]:
    if type(value) is not dict:
        raise _unexpected("an object", value, path)
    return value
