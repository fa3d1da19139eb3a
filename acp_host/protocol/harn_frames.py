"""What Harn's messages say outside of their parameters, or leave out of them: :func:`completed`, :func:`told_again`.

A hub in front of Harn adds a member ``_harn`` to every message, in which it says what is told again. A bridge leaves
the session out of some parameters, or names it with an empty string. Both are put in order here, before the parameters
are read: ``replayed`` and ``sessionId`` are among them then.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from acp_host.errors import InvalidInput
from acp_host.protocol.events import NotificationReceived, RequestReceived
from acp_host.wire._model import evolve
from acp_host.wire.codec import Unreadable, encode, read_exact
from acp_host.wire.harn.correlation import REPLAYED

__all__ = ["completed", "told_again"]

_Message = TypeVar("_Message", bound=NotificationReceived | RequestReceived)

_NAME = b'"_harn"'
_OF_SESSIONS = {"session/update": ("",), "session/request_permission": ("", None)}
"""The messages whose parameters cannot be read without a session, and how a bridge names none in them.

An update that leaves the session out altogether is malformed.
"""


def told_again(line: bytes) -> bool:
    """Tell whether a message says beside its parameters that it is told again."""
    if _NAME not in line:
        return False
    try:
        told = read_exact(line).get("_harn")
    except Unreadable:
        return False
    return isinstance(told, Mapping) and told.get(REPLAYED) is True


def completed(message: _Message, route: Callable[[str, Mapping[str, Any]], str | None]) -> _Message:
    """Return a message with all in its parameters that is said elsewhere or left out; the same one if nothing is.

    Args:
        message: as received.
        route: returns the session that a message without one belongs to, given its method and parameters; ``None`` if
            that is not known.
    """
    if not isinstance(message.params, Mapping):
        return message
    params = dict(message.params)
    names_none = params.get("sessionId") in _OF_SESSIONS.get(message.method, ())
    if names_none:
        params.pop("sessionId", None)  # an empty one names no session, and where none will do it is missing
        if (session_id := route(message.method, params)) is not None:
            params["sessionId"] = session_id
    is_repeated = told_again(message.line)
    if is_repeated:
        params[REPLAYED] = True
    if not (names_none or is_repeated):
        return message
    try:
        line = encode({**read_exact(message.line), "params": params})
    except (InvalidInput, Unreadable, RecursionError):
        return message
    return evolve(message, params=params, line=line)
