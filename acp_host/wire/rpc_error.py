"""The error object of JSON-RPC, as it travels inside messages.

The exceptions that are raised for one are in :mod:`acp_host.errors`.
"""

from __future__ import annotations

import enum

from acp_host.wire._model import UNSET, Json, Model, model, wire_field

__all__ = ["Error", "ErrorCode"]


class ErrorCode(enum.IntEnum):
    """The error codes that JSON-RPC and ACP give a meaning; any other integer is allowed too."""

    PARSE_ERROR = -32700
    INVALID_REQUEST = -32600
    METHOD_NOT_FOUND = -32601
    INVALID_PARAMS = -32602
    INTERNAL_ERROR = -32603
    REQUEST_CANCELLED = -32800
    AUTHENTICATION_REQUIRED = -32000
    RESOURCE_NOT_FOUND = -32002


@model
class Error(Model):
    """Why a request, or a piece of work, failed.

    Attributes:
        code: one of :class:`ErrorCode` or a number of the sender's own (32 bits, signed).
        message: one sentence for people.
        data: anything more that the sender has to say, as decoded; ``None`` if it said ``null``.
    """

    code: int
    message: str
    data: Json = wire_field(default=UNSET, default_on_error=True)
