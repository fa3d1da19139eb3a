"""What the statuses of HTTP mean here, in words: :func:`explained` and :func:`ends_connection`."""

from __future__ import annotations

import httpx2

from acp_host.printable import one_line
from acp_host.transports.streamable_http._server import Reply

__all__ = ["ends_connection", "explained", "is_failure", "is_retryable", "why_unreachable"]

_ADVICE = {
    400: "it does not understand the request; it may speak another version of this transport",
    401: "it wants credentials: give RemoteOptions(bearer=…) or headers, or renew those that have expired",
    403: "it does not let this user, or this origin, in: look at the credentials and at its list of allowed origins",
    405: "it takes no such request here: is this the path of its ACP endpoint (often /acp), or does it speak WebSocket"
    " only (connect to ws:// or wss://)?",
    406: "it has no event stream to give: is this the path of its ACP endpoint (often /acp)?",
    408: "it did not get the whole request in time",
    409: "somebody else is listening to this session already; end the other connection, or wait until it is given up",
    413: "the message is too long for it; the limit is that of the server, or of a proxy before it",
    415: "it takes no JSON here: is this the path of its ACP endpoint (often /acp)?",
    421: "it is not the server for this host: look at the URL and at RemoteOptions(server_hostname=…)",
    426: "it speaks WebSocket only: connect to ws:// or wss://",
    429: "it is asked too often",
    431: "headers or cookies are too long for it",
    501: "it cannot do this; it takes no batches and may lack this transport",
}
_ENDPOINT_MISSING = "there is no ACP endpoint at this path (often it is /acp)"
_CONNECTION_GONE = "it does not know this connection any more; it was started anew, or has given the connection up"
_SERVER_FAILED = "it, or a proxy before it, has failed; whether it has acted on the request is not known"
_LONGEST_SHOWN = 300
"""Characters of what the server says that an error shows."""


def ends_connection(status: int) -> bool:
    """Tell whether nothing more can be expected of the connection after a request was answered so."""
    return status in (401, 403, 404, 410) or is_failure(status)


def is_failure(status: int) -> bool:
    """Tell whether the server, or a proxy before it, has failed, rather than refused the request."""
    return status >= 500 and status != httpx2.codes.NOT_IMPLEMENTED


def is_retryable(status: int) -> bool:
    """Tell whether the same may work later, on a new connection."""
    return status in (404, 408, 409, 410, 425, 429) or is_failure(status)


def why_unreachable(error: Exception) -> str:
    """Return why there was no answer, and what to do."""
    text = _shown(str(error)) or "there was no answer in time"
    if "CERTIFICATE_VERIFY_FAILED" in text:
        return f"its certificate is not accepted; a private authority goes into RemoteOptions(tls=…) ({text})"
    if isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout):
        return f"{text}; is the server up, and is the address right?"
    return text


def explained(reply: Reply, *, connected: bool) -> str:
    """Return what a refusal means and what to do, to follow the words that say who refused what.

    Args:
        reply: the answer; its body is shown in part, as it may name the cause.
        connected: whether there was a connection.
    """
    status = reply.status
    if 300 <= status < 400:
        place = reply.headers.get("Location", "another address").partition("?")[0]
        advice = f"it sends to {_shown(place)}; nothing was sent there, connect to that URL if you trust it"
    elif status in (404, 410):
        advice = _CONNECTION_GONE if connected else _ENDPOINT_MISSING
    elif status in _ADVICE:
        advice = _ADVICE[status]
    elif is_failure(status):
        advice = _SERVER_FAILED
    else:
        advice = "it refused the request"
    if retry_after := reply.headers.get("Retry-After"):
        advice += f"; it says to try again after {_shown(retry_after)}"
    is_text = reply.headers.get("Content-Type", "").startswith(("text/plain", "application/json"))
    said = _shown(reply.body.decode("utf-8", "replace")) if is_text else ""
    return f"HTTP status {status}: {advice}" + (f" (it says: {said})" if said else "")


def _shown(text: str) -> str:
    return one_line(text, _LONGEST_SHOWN)
