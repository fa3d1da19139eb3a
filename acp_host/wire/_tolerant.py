"""The careful decoder: repairs what the schema allows to be repaired, and says where everything else is wrong.

It is run over the few values that the fast decoder refuses, so it is written to be read, not to be quick. Every repair
is a :class:`~acp_host.diagnostics.Diagnostic` with the JSON path of the value; what cannot be repaired raises
:class:`~acp_host.errors.DecodeError` with that path.
"""

from __future__ import annotations

import re
from typing import Any

from acp_host.diagnostics import Diagnostic, DiagnosticKind
from acp_host.errors import DecodeError
from acp_host.wire._model import UNSET
from acp_host.wire._shape import (
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


class TolerantDecoder:
    """One decoding of one message.

    Attributes:
        repairs: what was repaired so far, in the order of the message.
    """

    def __init__(self) -> None:
        self.repairs: list[Diagnostic] = []

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
                return value if type(value) in (int, float) else _fail("a number", value, path)
            case BoolShape():
                return value if type(value) is bool else _fail("true or false", value, path)
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
        known = {field.wire for field in fields} | {tag}
        extra = {name: member for name, member in members.items() if name not in known}
        return cls(**arguments, **({"extra": extra} if extra else {}))

    def _property(self, members: dict[str, Any], field: Field, path: str) -> Any:
        if field.wire not in members:
            if field.required:
                raise DecodeError(f"required property {field.wire!r} is missing", path)
            return UNSET
        value, where = members[field.wire], child_path(path, field.wire)
        if value is None and field.nullable:
            return None
        if value is None and field.default_on_null:
            return self._repair("null was taken as the default", field, where, value)
        try:
            if field.skip_invalid_items:
                return self._valid_items(value, field.shape, where)
            return self.decode(value, field.shape, where)
        except DecodeError as error:
            if not field.default_on_error:
                raise
            return self._repair(f"{error.problem}; the property took its default", field, error.path, value)

    def _valid_items(self, value: Any, shape: Shape, path: str) -> tuple[Any, ...]:
        assert isinstance(shape, ArrayShape)
        items = []
        for index, item in enumerate(_array(value, path)):
            try:
                items.append(self.decode(item, shape.item, child_path(path, index)))
            except DecodeError as error:
                self._report(f"{error.problem}; the item was left out", error.path, item)
        return tuple(items)

    def _repair(self, message: str, field: Field, path: str, value: Any) -> Any:
        self._report(message, path, value)
        if not field.required:
            return UNSET
        return {} if isinstance(field.shape, MapShape) else ()

    def _report(self, message: str, path: str, value: Any) -> None:
        self.repairs.append(Diagnostic(DiagnosticKind.REPAIRED, message, path=path, data=value))

    def _union(self, value: Any, union: WireUnion, path: str) -> Any:
        members = _mapping(value, path)
        if isinstance(union, ShapeUnion):
            cls = next((cls for name, cls in union.by_property.items() if name in members), None)
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
        for option in options:
            try:
                return self.decode(value, option, path)
            except DecodeError:
                continue
        return _fail("a value of another type", value, path)


def child_path(path: str, key: str | int) -> str:
    """Return the JSON path of a member of the value at ``path``."""
    if isinstance(key, int):
        return f"{path}[{key}]"
    return f"{path}.{key}" if re.fullmatch(r"\w+", key) else f"{path}[{key!r}]"


def _fail(wanted: str, value: Any, path: str) -> Any:
    raise DecodeError(f"expected {wanted}, got {_describe(value)}", path)


def _describe(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return f"the number {value!r:.40}"
        case str():
            return "a string"
        case list():
            return "an array"
        case _:
            return "an object"


def _string(value: Any, min_length: int | None, path: str) -> str:
    if type(value) is not str:
        _fail("a string", value, path)
    if min_length and len(value) < min_length:
        raise DecodeError(f"expected a string of at least {min_length} characters, got {len(value)}", path)
    return str(value)


def _integer(value: Any, minimum: int | None, path: str) -> int:
    # 1.0 is an integer in JSON Schema; beyond 64 bits a float has lost digits, so it is not taken for one.
    if type(value) is float and value.is_integer() and abs(value) < _EXACT_LIMIT:
        value = int(value)
    if type(value) is not int:
        _fail("an integer", value, path)
    if minimum is not None and value < minimum:
        raise DecodeError(f"expected an integer of at least {minimum}, got {value}", path)
    return int(value)


def _array(value: Any, path: str) -> list[Any]:
    return value if type(value) is list else _fail("an array", value, path)


def _mapping(value: Any, path: str) -> dict[str, Any]:
    return value if type(value) is dict else _fail("an object", value, path)
