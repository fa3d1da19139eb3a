"""The two cattrs converters between JSON values and wire types, and the functions that callers use.

* :data:`stream_converter` is strict and fast. It refuses everything out of the ordinary, the repairable too.
* :data:`careful_converter` applies the schema's tolerance annotations and explains what it cannot read, with the JSON
  path. It is used on what the first one refuses.

An application that defines wire types of its own (an extension's, say) gets both for every
:class:`~acp_host.wire._model.Model` without registering anything.
"""

from __future__ import annotations

import typing
from collections.abc import Callable, Mapping
from typing import Any

import cattrs

from acp_host.diagnostics import Diagnostic
from acp_host.errors import DecodeError, InvalidInput
from acp_host.wire._encode import encoder_of
from acp_host.wire._model import Model, Unknown
from acp_host.wire._shape import UnionShape, is_model, shape_of
from acp_host.wire._strict import strict_decoder
from acp_host.wire._tolerant import TolerantDecoder

__all__ = [
    "careful_converter",
    "check",
    "decoder",
    "stream_converter",
    "structure",
    "structure_tolerant",
    "unstructure",
]


def _is_wire_union(hint: Any) -> bool:
    try:
        return isinstance(shape_of(hint), UnionShape)
    except TypeError:
        return False


def _unstructure_hook(hint: Any) -> Callable[[Any], Any]:
    encode = encoder_of(shape_of(hint))
    assert encode is not None
    return encode


def _careful_hook(hint: Any) -> Callable[[Any, Any], Any]:
    shape, nullable = shape_of(hint), _is_nullable(hint)
    return lambda value, _: None if nullable and value is None else TolerantDecoder().decode(value, shape, "$")


def _strict_hook(hint: Any) -> Callable[[Any, Any], Any]:
    decode, nullable = strict_decoder(shape_of(hint)), _is_nullable(hint)
    return lambda value, _: None if nullable and value is None else decode(value)


def _is_nullable(hint: Any) -> bool:
    # To cattrs, a union of several classes and null is one type: its hooks meet the nulls too.
    return type(None) in typing.get_args(hint)


def _converter(structure_hook: Callable[[Any], Callable[[Any, Any], Any]], *, detailed: bool) -> cattrs.Converter:
    converter = cattrs.Converter(detailed_validation=detailed)
    for predicate in (is_model, _is_wire_union):
        converter.register_structure_hook_factory(predicate, structure_hook)
        converter.register_unstructure_hook_factory(predicate, _unstructure_hook)
    return converter


stream_converter = _converter(_strict_hook, detailed=False)
"""Strict and fast; raises an unspecified exception on input that is not exactly as the schema has it."""
careful_converter = _converter(_careful_hook, detailed=True)
"""Tolerant and explaining; raises :class:`~acp_host.errors.DecodeError`."""


def decoder(hint: Any) -> Callable[[Any], Any]:
    """Return the fast decoder of a wire type or union; it raises an unspecified exception on unusual input."""
    return strict_decoder(shape_of(hint))


def structure(value: Any, hint: Any) -> Any:
    """Return ``value`` as a wire type or union, by the fast converter.

    Raises:
        Exception: of an unspecified type, if the value is not exactly as the schema has it; call
            :func:`structure_tolerant` then.
    """
    return stream_converter.structure(value, hint)


def structure_tolerant(value: Any, hint: Any, path: str = "$") -> tuple[Any, list[Diagnostic]]:
    """Return ``value`` as a wire type or union together with what had to be repaired.

    Args:
        value: a decoded JSON value.
        hint: the wire type or union.
        path: JSON path of ``value`` in its message.

    Raises:
        DecodeError: it cannot be repaired; names the path.
    """
    reader = TolerantDecoder()
    return reader.decode(value, shape_of(hint), path), reader.repairs


def unstructure(value: Model | Unknown, as_type: Any = None) -> dict[str, Any]:
    """Return a wire type as a plain JSON object; whether it fits the schema is for :func:`check` to say.

    Args:
        value: an instance of a wire type, or what was kept of one that is not known.
        as_type: the union it is a member of, so that its tag is written; ``None`` for its own type.
    """
    encode = encoder_of(shape_of(as_type or Model))
    assert encode is not None
    members: dict[str, Any] = encode(value)
    return members


def check(value: Mapping[str, Any], hint: Any, what: str) -> None:
    """Hold an outgoing object against its type, as strictly as the schema.

    Raises:
        InvalidInput: it does not fit; names ``what`` and the JSON path.
    """
    shape = shape_of(hint)
    try:
        strict_decoder(shape)(value)
        return
    except Exception:  # the fast decoder raises whatever it trips over; the careful one says what is wrong
        pass
    try:
        TolerantDecoder(repair=False).decode(value, shape, "$")
    except DecodeError as error:
        raise InvalidInput(f"{what}: {error}") from None
