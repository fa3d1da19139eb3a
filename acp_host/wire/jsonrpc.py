"""What a decoded message is (:func:`classify`), and the messages that are sent.

Follows JSON-RPC 2.0, read as real agents need it. Ids are kept verbatim, type included: ``"1"`` is not ``1``, ``true``
is no id at all, and ``0``, ``""`` and ``null`` are ids like any other. Batches do not exist in ACP.

==========================================  ==========================================================================
the message has                             it is
==========================================  ==========================================================================
``method`` and ``id``                       a :class:`Request`
``method``, no ``id``                       a :class:`Notification`
no ``method``, ``result``                   a :class:`Response`; ``error: null`` beside it is tolerated
no ``method``, ``error``                    an :class:`ErrorResponse`, also without an id; ``result: null`` is tolerated
anything else                               :class:`Invalid`
==========================================  ==========================================================================

A response must carry ``jsonrpc: "2.0"``; agents that leave it out of requests and notifications exist, so there it is
only noted.

Cost: a handful of dictionary look-ups and one small object.
"""

from __future__ import annotations

from typing import Any

from acp_host.wire._model import UNSET, Json, Unset, model
from acp_host.wire.ids import RequestId, valid_id
from acp_host.wire.rpc_error import ErrorCode

__all__ = [
    "ErrorResponse",
    "Invalid",
    "Notification",
    "Request",
    "Response",
    "classify",
    "error_message",
    "notification_message",
    "request_message",
    "result_message",
]


@model
class Request:
    """A request: it wants exactly one response.

    Attributes:
        id: the sender's id, verbatim.
        method: wire method.
        params: an object, an array or ``None``; ``UNSET`` when absent.
        versioned: whether it carried ``jsonrpc: "2.0"``, as it should.
    """

    id: RequestId
    method: str
    params: Json = UNSET
    versioned: bool = True


@model
class Notification:
    """A notification: it is never answered.

    Attributes:
        method: wire method.
        params: an object, an array or ``None``; ``UNSET`` when absent.
        versioned: whether it carried ``jsonrpc: "2.0"``, as it should.
    """

    method: str
    params: Json = UNSET
    versioned: bool = True


@model
class Response:
    """The successful answer to a request.

    Attributes:
        id: the id of the request.
        result: any JSON value.
    """

    id: RequestId
    result: Json


@model
class ErrorResponse:
    """The failure of a request, or of something that had no readable id.

    Attributes:
        id: the id of the request; ``None`` if it was ``null``, ``UNSET`` if it was absent.
        error: the error object as decoded; ``code`` is an integer and ``message`` a string.
    """

    id: RequestId | Unset
    error: dict[str, Any]


@model
class Invalid:
    """A JSON object that is no JSON-RPC message.

    Attributes:
        reason: which rule it breaks, for people.
        id: its id if that may be one, else ``UNSET``.
        method: its method if that is a string, else ``None``.
        looks_like_response: it was meant as a response: a call that waits for ``id`` will get no better answer. If it
            is ``False`` and there is an id, the sender waits for an answer.
        code: the error code to answer with.
    """

    reason: str
    id: RequestId | Unset = UNSET
    method: str | None = None
    looks_like_response: bool = False
    code: int = ErrorCode.INVALID_REQUEST


def classify(message: dict[str, Any]) -> Notification | Request | Response | ErrorResponse | Invalid:
    """Say what kind of JSON-RPC message a decoded object is. Never raises."""
    if "method" not in message:
        return _classify_response(message)
    method = message["method"]
    if "id" not in message and type(method) is str:
        params = message.get("params", UNSET)
        if type(params) is dict:
            return Notification(method, params, message.get("jsonrpc") == "2.0")
    return _classify_call(message, method)


def _classify_call(message: dict[str, Any], method: Any) -> Notification | Request | Invalid:
    has_id = "id" in message
    raw_id = message.get("id")
    request_id = raw_id if has_id and valid_id(raw_id) else UNSET
    answered = has_id and (message.get("result") is not None or message.get("error") is not None)
    if not isinstance(method, str):
        return Invalid("method is not a string", request_id, looks_like_response=answered)
    if answered:
        return Invalid("a method beside a result or an error", request_id, method, looks_like_response=True)
    if has_id and request_id is UNSET:
        return Invalid("id is neither a string nor a number nor null", UNSET, method)
    params = message.get("params", UNSET)
    if not (params is None or params is UNSET or isinstance(params, dict | list)):
        return Invalid("params is neither an object nor an array", request_id, method, code=ErrorCode.INVALID_PARAMS)
    versioned = message.get("jsonrpc") == "2.0"
    return Request(raw_id, method, params, versioned) if has_id else Notification(method, params, versioned)


def _classify_response(message: dict[str, Any]) -> Response | ErrorResponse | Invalid:
    raw_id = message.get("id", UNSET)
    request_id = raw_id if valid_id(raw_id) else UNSET
    result, error = message.get("result", UNSET), message.get("error")
    if raw_id is not request_id:
        reason = "id is neither a string nor a number nor null"
    elif "result" not in message and "error" not in message:
        reason = "neither a method nor a result nor an error"
    elif message.get("jsonrpc") != "2.0":
        reason = 'a response without jsonrpc: "2.0"'
    elif error is None:
        if result is not UNSET and request_id is not UNSET:
            return Response(request_id, result)
        reason = "error is null" if result is UNSET else "a result without an id"
    elif result is not UNSET and result is not None:
        reason = "both a result and an error"
    elif not isinstance(error, dict) or type(error.get("code")) is not int or type(error.get("message")) is not str:
        reason = "error is not an object with an integer code and a string message"
    else:
        return ErrorResponse(request_id, error)
    meant_as_response = "id" in message or "result" in message or "error" in message
    return Invalid(reason, request_id, looks_like_response=meant_as_response)


def request_message(id: RequestId, method: str, params: Json = UNSET) -> dict[str, Any]:
    """Return a request, ready for :func:`acp_host.wire.codec.encode`; ``params`` is left out when ``UNSET``."""
    return {"jsonrpc": "2.0", "id": id, **_call(method, params)}


def notification_message(method: str, params: Json = UNSET) -> dict[str, Any]:
    """Return a notification; ``params`` is left out when ``UNSET``."""
    return {"jsonrpc": "2.0", **_call(method, params)}


def result_message(id: RequestId, result: Json) -> dict[str, Any]:
    """Return the successful answer to the request with this id."""
    return {"jsonrpc": "2.0", "id": id, "result": result}


def error_message(id: RequestId, code: int, message: str, data: Json = UNSET) -> dict[str, Any]:
    """Return the failure of the request with this id, ``None`` if that is not known.

    ``data`` is left out when ``UNSET``.
    """
    error: dict[str, Any] = {"code": code, "message": message}
    if data is not UNSET:
        error["data"] = data
    return {"jsonrpc": "2.0", "id": id, "error": error}


def _call(method: str, params: Json) -> dict[str, Any]:
    return {"method": method} if params is UNSET else {"method": method, "params": params}
