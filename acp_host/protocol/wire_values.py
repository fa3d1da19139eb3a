"""The steps between plain JSON and wire types that the host's side has in common for all messages; pure."""

from __future__ import annotations

from typing import Any

from acp_host.errors import DecodeError, MalformedResponse
from acp_host.protocol.events import CallFailed, ResponseReceived
from acp_host.wire._model import UNSET, Model, Unknown
from acp_host.wire.converters import check, unstructure
from acp_host.wire.updates import SessionNotification, UnknownSessionUpdate

__all__ = ["or_empty", "session_id_in", "to_wire", "unreadable_update", "unusable"]


def unusable(event: ResponseReceived, error: DecodeError) -> CallFailed:
    """Return how a call ends whose result cannot be read."""
    text = f"the answer to {event.method} does not fit the schema: {error}"
    return CallFailed(event.id, event.method, MalformedResponse(text, has_result=True, result=event.result))


def or_empty(value: Any, hint: Any) -> Any:
    """Return ``{}`` for nothing: methods without parameters or a result are written with any of them."""
    # Where any JSON may stand, null is one.
    return {} if value is UNSET or (value is None and hint is not Any) else value


def to_wire(value: Any, hint: Any, what: str) -> Any:
    """Return what to write for parameters or a result; what has a type is held against it."""
    members = unstructure(value, hint) if isinstance(value, Model | Unknown) else value
    if hint is not None:
        members = or_empty(members, hint)
        check(members, hint, what)
    return members


def session_id_in(params: Any) -> str | None:
    """Return the session that parameters name, whatever else is wrong with them."""
    session_id = params.get("sessionId") if isinstance(params, dict) else None
    return session_id if isinstance(session_id, str) else None


def unreadable_update(params: Any, error: DecodeError) -> SessionNotification | None:
    """Keep an update that cannot be read, if it at least says for which session and of which kind it is."""
    session_id = session_id_in(params)
    update = params.get("update") if isinstance(params, dict) else None
    kind = update.get("sessionUpdate") if isinstance(update, dict) else None
    if session_id is None or not isinstance(update, dict) or not isinstance(kind, str):
        return None
    return SessionNotification(session_id, UnknownSessionUpdate(kind, update, problem=str(error)))
