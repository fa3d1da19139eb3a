"""One line ⇄ one message: :func:`read`, :func:`read_exact`, :func:`encode`.

A message here is a ``dict`` as decoded; what it means is the business of :mod:`acp_host.wire.jsonrpc` and the
converters. No input makes :func:`read` raise anything but :class:`Noise` and :class:`Unreadable`.

orjson does the work. What it refuses although agents send it, or changes without a word, is handled apart:

=============================  ========================================================================================
lone surrogate (``"\\ud83d"``)  read by the standard library and kept as sent; written back as the same escape
invalid UTF-8                  replaced by U+FFFD, with a diagnostic
NaN, raw control characters    not JSON, but read all the same, with a diagnostic
numbers beyond ``1e308``       infinity, as in JavaScript; with over 4,300 digits also a diagnostic
integers beyond 64 bits        orjson makes them floats: the ``id`` is put right here, others by :func:`read_exact`
nested over 1,024 deep         :class:`Unreadable`, with the id and the method as far as they can be found
=============================  ========================================================================================

Cost: on the normal path one call and three tests, some 60 ns, on top of ``orjson.loads``.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

import orjson

from acp_host.diagnostics import Diagnostic, DiagnosticKind, excerpt
from acp_host.errors import InvalidInput
from acp_host.wire._model import Unset
from acp_host.wire._scan import scan_envelope
from acp_host.wire.ids import RequestId

__all__ = ["Noise", "Unreadable", "encode", "read", "read_exact"]

_BRACE = ord("{")
# An object as only JSON writes it: `{ level: 'info' }` and `{placeholder}` are what programs print for people.
_LOOKS_LIKE_OBJECT = re.compile(rb'\s*+\{\s*+["}]')
_AROUND_FAULT = 100
_FIRST_INEXACT = 2.0**63
_OPTIONS = orjson.OPT_APPEND_NEWLINE | orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME

_loads = orjson.loads
_dumps = orjson.dumps


class Noise(Exception):
    """The line is no JSON object: a log line, a banner, an array, a scalar. Nothing is to be answered."""


class Unreadable(Exception):
    """The line begins like a message, but no reader can read it: it is cut off, malformed or nested too deeply.

    Attributes:
        reason: what is wrong with it.
        request_id: the message's id, ``UNSET`` where none was found.
        method: its wire method, ``None`` where none was found. A request has both.
        is_response: a call with this id will get no better answer; see :class:`acp_host.wire._scan.Envelope`.
    """

    def __init__(self, reason: str, line: bytes) -> None:
        super().__init__(reason)
        envelope = scan_envelope(line)
        self.reason = reason
        self.request_id: RequestId | Unset = envelope.id
        self.method = envelope.method
        self.is_response = envelope.is_response


def read(line: bytes, report: Callable[[Diagnostic], None]) -> dict[str, Any]:
    """Return the message in one line, without or with its newline.

    Args:
        line: bytes of the line.
        report: called with a diagnostic of kind ``ENCODING`` for each repair.

    Raises:
        Noise: the line is not a JSON object.
        Unreadable: it begins like one.
    """
    try:
        if line[0] == _BRACE:
            message: dict[str, Any] = _loads(line)
            if "id" in message and type(message["id"]) is float:
                _restore_id(message, line)
            return message
    except (orjson.JSONDecodeError, IndexError):
        pass
    message, repairs = _read_leniently(line)
    for repair in repairs:
        report(repair)
    return message


def read_exact(line: bytes) -> dict[str, Any]:
    """Return the message in one line, with integers of any size exact.

    Slower than :func:`read`; for the one who finds a float where the schema says integer.

    Raises:
        Noise: the line is not a JSON object.
        Unreadable: it begins like one. That can happen although :func:`read` accepts the line, because the standard
            library does not reach as deep.
    """
    return _read_leniently(line)[0]


def encode(message: Mapping[str, Any]) -> bytes:
    """Return a message as one line of UTF-8, newline included.

    Numbers that JSON does not know (NaN and the infinities) become ``null``, as in JavaScript. Lone surrogates are
    written as escapes. Tuples are arrays.

    Raises:
        InvalidInput: something in it has no JSON form (the error names its path), or it is nested too deeply.
    """
    try:
        return _dumps(message, option=_OPTIONS)
    except TypeError:
        return _encode_leniently(message)


# ---- reading what orjson does not ----


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _integer(digits: str) -> int | float:
    try:
        return int(digits)
    except ValueError:  # more digits than Python is willing to convert
        return float(digits)


_STRICT = json.JSONDecoder(parse_constant=_refuse_constant)
_LENIENT = json.JSONDecoder(parse_int=_integer, strict=False)


def _read_leniently(line: bytes) -> tuple[dict[str, Any], list[Diagnostic]]:
    if not _LOOKS_LIKE_OBJECT.match(line):
        raise Noise("not a JSON object")
    repairs: list[Diagnostic] = []
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        text = line.decode("utf-8", "replace")
        around = line[max(0, error.start - _AROUND_FAULT) : error.start + _AROUND_FAULT]
        repairs.append(_repair("Invalid UTF-8 was replaced by U+FFFD.", around))
    try:
        try:
            message: dict[str, Any] = _STRICT.decode(text)
        except ValueError:
            message = _LENIENT.decode(text)
            repairs.append(_repair("Not quite JSON was read: NaN, raw control characters or an endless number.", line))
    except ValueError as error:
        raise Unreadable(str(error), line) from None
    except RecursionError:
        raise Unreadable("nested too deeply", line) from None
    return message, repairs


def _repair(what: str, raw: bytes) -> Diagnostic:
    return Diagnostic(DiagnosticKind.ENCODING, what, data=excerpt(raw))


def _restore_id(message: dict[str, Any], line: bytes) -> None:
    """Put the integer back that orjson turned into a float; a number written as a float stays one."""
    if abs(message["id"]) < _FIRST_INEXACT:
        return
    try:
        exact = _read_leniently(line)[0]["id"]
    except Unreadable:
        exact = scan_envelope(line).id
    if isinstance(exact, int):
        message["id"] = exact


# ---- writing what orjson does not ----


def _encode_leniently(message: Mapping[str, Any]) -> bytes:
    try:
        text = json.dumps(_plain(message, "$"), allow_nan=False, separators=(",", ":"))
    except RecursionError:
        raise InvalidInput("the message is nested too deeply to be sent") from None
    except ValueError as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput(f"the message cannot be written as JSON: {error}") from None
    return text.encode("ascii") + b"\n"


def _plain(value: Any, path: str) -> Any:
    """Return ``value`` as the standard library writes it, or raise ``InvalidInput`` that names the path."""
    if isinstance(value, str | int) or value is None:
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {_name(key, path): _plain(item, f"{path}.{key}") for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item, f"{path}[{index}]") for index, item in enumerate(value)]
    raise InvalidInput(f"{type(value).__name__} at {path} has no JSON form")


def _name(key: Any, path: str) -> str:
    if not isinstance(key, str):
        raise InvalidInput(f"a member name of the object at {path} is {key!r}; JSON allows only strings")
    return key
