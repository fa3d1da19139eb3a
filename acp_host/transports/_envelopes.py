"""What a transport reads of a message in order to route it: :class:`Envelope`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson
from attrs import frozen

__all__ = ["Envelope", "MessageId", "read_envelope"]

MessageId = int | float | str


@frozen(kw_only=True)
class Envelope:
    """A JSON-RPC message, as far as it says where it belongs.

    Attributes:
        method: method of a request or notification; ``None`` for a response.
        id: id of a request or response; ``None`` for a notification, and for an id that is none.
        session_id: the session that the parameters name.
        cancels: the request that a ``$/cancel_request`` withdraws.
        opened: the session that the result of a response names.
        connection_id: what the result of ``initialize`` calls the connection.
        child: the session of a subagent that an update announces.
        accepts: the result of a response names a message: a prompt of ACP v2 was accepted, and its turn goes on.
        state: what an update of ACP v2 says that the agent is doing.
        has_failed: it is an error response.
    """

    method: str | None = None
    id: MessageId | None = None
    session_id: str | None = None
    cancels: MessageId | None = None
    opened: str | None = None
    connection_id: str | None = None
    child: str | None = None
    accepts: bool = False
    state: str | None = None
    has_failed: bool = False

    @property
    def is_request(self) -> bool:
        """Whether it is a request."""
        return self.method is not None and self.id is not None

    @property
    def is_response(self) -> bool:
        """Whether it is a response."""
        return self.method is None and self.id is not None


def read_envelope(data: bytes) -> Envelope | None:
    """Read a message; ``None`` for anything that is no JSON object, which those above this transport deal with."""
    try:
        message = orjson.loads(data)
    except orjson.JSONDecodeError:
        return None
    if not isinstance(message, dict):
        return None
    params, result = _mapping(message.get("params")), _mapping(message.get("result"))
    update = _mapping(params.get("update"))
    return Envelope(
        method=_text(message.get("method")),
        id=_id(message.get("id")),
        session_id=_text(params.get("sessionId")),
        cancels=_id(params.get("requestId")),
        opened=_text(result.get("sessionId")),
        connection_id=_text(result.get("connectionId")),
        child=_text(update.get("sessionId")) if update.get("sessionUpdate") == "subagent_update" else None,
        accepts="messageId" in result,
        state=_text(update.get("state")) if update.get("sessionUpdate") == "state_update" else None,
        has_failed="error" in message,
    )


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _id(value: Any) -> MessageId | None:
    return value if isinstance(value, int | float | str) and not isinstance(value, bool) else None
