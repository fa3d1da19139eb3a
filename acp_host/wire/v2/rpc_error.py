"""Errors in version 2: one more code, and what two of them carry. The error object is as in version 1."""

from __future__ import annotations

import enum
from typing import TypeAlias

from acp_host.wire._model import UNSET, Json, JsonObject, Model, Unset, model, wire_field
from acp_host.wire.ids import SessionId
from acp_host.wire.initialize import ProtocolVersion

__all__ = ["ErrorCode", "ErrorData", "SessionNotFoundErrorData", "UnsupportedProtocolVersionErrorData"]


class ErrorCode(enum.IntEnum):
    """The error codes that JSON-RPC and version 2 give a meaning; any other integer is allowed too."""

    PARSE_ERROR = -32700
    INVALID_REQUEST = -32600
    METHOD_NOT_FOUND = -32601
    INVALID_PARAMS = -32602
    INTERNAL_ERROR = -32603
    REQUEST_CANCELLED = -32800
    AUTHENTICATION_REQUIRED = -32000
    RESOURCE_NOT_FOUND = -32002
    UNSUPPORTED_PROTOCOL_VERSION = -32022


@model
class UnsupportedProtocolVersionErrorData(Model):
    """What error -32022 carries, the answer to ``initialize`` of an agent that speaks no version so old.

    Attributes:
        requested: the version that was asked for.
        supported: the versions that the agent speaks.
    """

    requested: ProtocolVersion
    supported: tuple[ProtocolVersion, ...]
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class SessionNotFoundErrorData(Model):
    """What error -32002 carries where the session of a request does not exist or is not active."""

    session_id: SessionId
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


ErrorData: TypeAlias = Json
"""What an error carries: :class:`UnsupportedProtocolVersionErrorData`, :class:`SessionNotFoundErrorData`, or anything.

Nothing inside tells them apart, the code of the error does; so it is kept as decoded.
"""
