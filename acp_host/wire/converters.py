"""The functions between JSON values and wire types, as callers use them.

Each type is read in two ways. The fast one is strict: it refuses everything out of the ordinary, the repairable too.
What it refuses is read by the careful one, which applies the schema's tolerance annotations and explains what it cannot
read, with the JSON path. Applications have both as cattrs converters, in :mod:`acp_host.wire.cattrs_converters`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from acp_host.diagnostics import Diagnostic
from acp_host.errors import DecodeError, InvalidInput
from acp_host.wire._encode import encoder_of
from acp_host.wire._model import Model, Unknown
from acp_host.wire._shape import shape_of
from acp_host.wire._strict import generate_all, strict_decoder
from acp_host.wire._tolerant import TolerantDecoder

__all__ = [
    "check",
    "decoder",
    "prepare",
    "structure",
    "structure_tolerant",
    "unstructure",
]


def decoder(hint: Any) -> Callable[[Any], Any]:
    """Return the fast decoder of a wire type or union; it raises an unspecified exception on unusual input."""
    return strict_decoder(shape_of(hint))


def prepare(hint: Any) -> None:
    """Generate now what decodes a wire type or union and its parts, and not when the first value comes.

    It takes some 15 ms for all updates of a version; nothing, where it was done before in this process.
    """
    generate_all(shape_of(hint))


def structure(value: Any, hint: Any) -> Any:
    """Return ``value`` as a wire type or union, by the fast way.

    Raises:
        Exception: of an unspecified type, if the value is not exactly as the schema has it; call
            :func:`structure_tolerant` then.
    """
    return strict_decoder(shape_of(hint))(value)


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
