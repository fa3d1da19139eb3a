"""Says in words why a WebSocket was not opened, or was closed, and what to do about it.

What a server says is shown as it is meant to be read, cut, and with nothing in it that could steer a terminal; taking
secrets out is left to the caller, who knows them.
"""

from __future__ import annotations

import errno
import re
import socket
import ssl
from collections.abc import Mapping

from websockets.exceptions import (
    ConnectionClosed,
    InvalidHandshake,
    InvalidMessage,
    InvalidProxy,
    InvalidProxyStatus,
    InvalidStatus,
    NegotiationError,
    ProxyError,
)
from websockets.http11 import Response

from acp_host.errors import ConnectionLost, StartFailed
from acp_host.printable import one_line
from acp_host.transports.remote_address import RemoteAddress
from acp_host.transports.remote_options import RemoteOptions

__all__ = ["MAPPED", "not_opened", "why_closed"]

MAPPED = (OSError, InvalidHandshake, InvalidProxy, ImportError, EOFError)
"""What the library raises where a WebSocket cannot be opened; a time that is up is an ``OSError``."""

_LONGEST = 300
"""Characters that are shown of what a server says."""

_CLOSED = {
    1000: "has ended the connection in good order",
    1001: "is going away: it stops, or is replaced",
    1002: "says that this host broke the WebSocket protocol",
    1003: "takes no text messages; it may not be an ACP agent",
    1005: "has ended the connection without a word on why",
    1007: "says that this host has sent text that is no UTF-8",
    1008: "refuses to go on because of its own rules",
    1009: "takes no messages as long as one that it was sent",
    1010: "wants an extension of WebSocket that this host does not have",
    1011: "has failed inside",
    1012: "is being restarted",
    1013: "has too much to do and takes no connections now",
    1014: "is behind a gateway that got no valid answer from it",
}
"""Close codes of a server (RFC 6455 §7.4.1 and the IANA registry) and what they mean for a host."""
_LASTING = frozenset({1002, 1003, 1007, 1008, 1009, 1010})
"""Codes after which the same would happen once more."""
_BY_US = {
    1002: "broke the WebSocket protocol",
    1007: "sent a text message that is no UTF-8",
}
"""Close codes of this side, and what the server did."""

_STATUS_HINTS = {
    400: "it did not like the request; is this the path of its ACP endpoint, often /acp?",
    403: "it refuses this user, this Origin or this Host; ask who runs it what it needs",
    404: "there is nothing at this path; ACP endpoints are often at /acp",
    405: "this path takes no WebSocket connections; ACP endpoints are often at /acp",
    407: "a proxy wants to know the user: RemoteOptions(proxy='http://user:password@host:port')",
    426: "it wants another protocol than WebSocket over HTTP/1.1; try http:// or https://",
    429: "it has had too many requests; try again later",
    501: "it has no WebSocket; try http:// or https://",
    502: "a gateway before it cannot reach the agent; try again later",
    503: "it cannot take connections now; try again later",
    504: "a gateway before it got no answer from the agent in time; try again later",
}
_RETRYABLE_STATUS = frozenset({408, 425, 429, 500, 502, 503, 504})
_ERRNO_HINTS = {
    errno.ECONNREFUSED: ("nothing listens there", "is the agent's server running, and is the port right?"),
    errno.ECONNRESET: ("the server cut the connection", "does it speak WebSocket, and TLS where the URL says so?"),
    errno.EHOSTUNREACH: ("there is no way to that machine", "is it on, and is the network up?"),
    errno.ENETUNREACH: ("there is no way to that network", "is the network up?"),
}
_IN_TEXT = re.compile(r"\[Errno (\d+)\]")


def not_opened(error: BaseException, address: RemoteAddress, options: RemoteOptions) -> StartFailed:
    """Return the error for what the library raised while it opened a WebSocket."""
    if isinstance(error, InvalidStatus):
        return _refused(error.response, address, options)
    what, hint, retryable = _reason(error, address, options)
    if isinstance(options.proxy, str) and isinstance(error, OSError):
        hint += "; this is about the proxy of RemoteOptions(proxy=…), if it is not up"
    return _failed(address, what, hint, retryable=retryable)


def _failed(
    address: RemoteAddress, what: str, hint: str, *, retryable: bool, http_status: int | None = None
) -> StartFailed:
    message = f"cannot connect to {address.shown}: {what} ({hint})"
    return StartFailed(message, http_status=http_status, retryable=retryable)


def _reason(error: BaseException, address: RemoteAddress, options: RemoteOptions) -> tuple[str, str, bool]:
    """Return what happened, what to do, and whether waiting may help."""
    match error:
        case ssl.SSLCertVerificationError():
            hint = "a private authority goes into RemoteOptions(tls=…), another name into server_hostname=…"
            return f"its certificate is not accepted: {_said(error.verify_message)}", hint, False
        case ssl.SSLError():
            hint = f"if it speaks no TLS, its URL begins with ws://; else look at RemoteOptions(tls=…): {_said(error)}"
            return "TLS could not be agreed on", hint, False
        case TimeoutError():
            hint = "is it up, and is the port open? RemoteOptions(open_timeout=…) waits longer"
            return f"no answer within {options.open_timeout:g} s", hint, True
        case socket.gaierror():
            return f"there is no address for {address.host}", "is the name right, and does DNS work here?", True
        case OSError():
            return _system_error(error)
        case InvalidProxyStatus():
            status = error.response.status_code
            hint = _STATUS_HINTS[407] if status == 407 else "RemoteOptions(proxy=False) goes there without it"
            return f"the proxy answered with HTTP status {status}", hint, status in _RETRYABLE_STATUS
        case InvalidProxy() | ProxyError():
            return "the proxy cannot be used", "look at RemoteOptions(proxy=…) and the variables *_proxy", True
        case ImportError():
            return "a SOCKS proxy needs another package", "pip install 'python-socks[asyncio]'", False
        case NegotiationError():
            return f"no agreement on WebSocket: {_said(error)}", "look at RemoteOptions(subprotocols=…)", False
        case InvalidMessage() | EOFError() if _was_cut(error):
            hint = "is it being started anew? " + (
                "is the port right?" if address.secure else "does it speak TLS, so that the URL begins with wss://?"
            )
            return "the server cut the connection before it answered", hint, True
        case InvalidMessage() | EOFError():
            hint = (
                "does it speak TLS, so that the URL begins with wss://?" if not address.secure else "is the port right?"
            )
            return "what answered there speaks no HTTP", hint, True
    return f"what answered there speaks no WebSocket: {_said(error)}", "ACP endpoints are often at /acp", False


def _was_cut(error: BaseException) -> bool:
    """Tell whether the stream ended before a word, or within headers; else something was read that is no HTTP."""
    causes: list[str] = []
    cause: BaseException | None = error
    while cause is not None:
        causes.append(str(cause))
        cause = cause.__cause__
    return any(re.search(r"stream ends after 0 bytes|reading HTTP headers", text) for text in causes)


def _system_error(error: OSError) -> tuple[str, str, bool]:
    codes = [error.errno] if error.errno else [int(code) for code in _IN_TEXT.findall(str(error))]
    for kind, code in ((ConnectionResetError, errno.ECONNRESET), (ConnectionRefusedError, errno.ECONNREFUSED)):
        if isinstance(error, kind):  # asyncio makes some without a number, and Windows has numbers of its own
            codes = [code]
    for code in codes:
        if code in _ERRNO_HINTS:
            return (*_ERRNO_HINTS[code], True)
    return _said(error.strerror or error), "is the network up?", True


def _refused(response: Response, address: RemoteAddress, options: RemoteOptions) -> StartFailed:
    """Return the error for a server that answered, but not with an upgrade to WebSocket."""
    status = response.status_code
    if status == 401:
        what, hint = "it wants to know who you are", _login_hint(response.headers, options)
    elif 300 <= status < 400:
        what, hint = _redirect(response.headers)
    elif 200 <= status < 300:
        what, hint = "it answered like a web page, not like a WebSocket server", _STATUS_HINTS[404]
    else:
        what, hint = _said(response.reason_phrase), _STATUS_HINTS.get(status, "look at the server's own log")
    said = _body(response)
    return _failed(
        address,
        f"HTTP status {status}, {what}" + (f"; it says: {said}" if said else ""),
        hint,
        http_status=status,
        retryable=status in _RETRYABLE_STATUS,
    )


def _login_hint(headers: Mapping[str, str], options: RemoteOptions) -> str:
    wanted = _said(", ".join(_all(headers, "WWW-Authenticate")).partition(" ")[0])
    scheme = f"; it asks for {wanted}" if wanted else ""
    if options.bearer is not None:
        return f"it did not accept the token of RemoteOptions(bearer=…){scheme}"
    if options.headers or options.cookies:
        return f"it did not accept the headers of RemoteOptions(headers=…){scheme}"
    return (
        f"give a token with RemoteOptions(bearer=…), or what else it wants with headers={{'Authorization': …}}{scheme}"
    )


def _redirect(headers: Mapping[str, str]) -> tuple[str, str]:
    place = next(iter(_all(headers, "Location")), "")
    shown = _said(place.partition("?")[0].partition("#")[0])
    return (
        f"it says that the agent is elsewhere: {shown or '(it does not say where)'}",
        "nothing was sent there, since another server must not get your token; if you trust it, connect to that URL",
    )


def _body(response: Response) -> str:
    """Return what a refusal says, where that is text and not a page."""
    kind = next(iter(_all(response.headers, "Content-Type")), "")
    if not response.body or not kind.startswith(("text/plain", "application/json")):
        return ""
    return _said(bytes(response.body[: 4 * _LONGEST]).decode("utf-8", "replace").strip())


def why_closed(error: ConnectionClosed, name: str, options: RemoteOptions, longest: int) -> ConnectionLost:
    """Return the error for a WebSocket that was closed, though not by this side's own wish.

    Args:
        error: what the library raised.
        name: the agent, for people.
        options: what was set for the connection.
        longest: size of the longest message that was sent, in bytes.
    """
    received, sent = error.rcvd, error.sent
    if received is not None and (sent is None or error.rcvd_then_sent):
        what = _CLOSED.get(received.code, "has ended the connection for a reason of its own")
        if received.code == 1009:
            what += f" (the longest was {longest} bytes)"
        reason = f": {_said(received.reason)}" if received.reason else ""
        lasting = received.code in _LASTING or 4400 <= received.code < 4500  # many servers add 4000 to an HTTP status
        text = f"{name} {what} (close code {received.code}){reason}"
        return ConnectionLost(text, close_code=received.code, retryable=not lasting)
    if sent is not None and sent.code == 1009:
        hint = "RemoteOptions(max_size=…) takes longer ones"
        text = f"{name} sent a message of more than {options.max_size} bytes, and the connection was closed ({hint})"
        return ConnectionLost(text, close_code=1009, retryable=False)
    if sent is not None and sent.code in _BY_US:
        text = f"{name} {_BY_US[sent.code]}, and the connection was closed: {_said(sent.reason)}"
        return ConnectionLost(text, close_code=sent.code, retryable=False)
    if sent is not None and "keepalive" in sent.reason:
        text = f"{name} has not answered a ping within {options.keepalive_timeout:g} s; it, or the network, is gone"
        return ConnectionLost(text, close_code=1006)
    cause = error.__cause__
    why = f": {_said(cause)}" if isinstance(cause, Exception) and str(cause) else ""
    return ConnectionLost(f"the connection to {name} was cut without a goodbye{why} (close code 1006)", close_code=1006)


def _all(headers: Mapping[str, str], name: str) -> list[str]:
    get_all = getattr(headers, "get_all", None)
    return list(get_all(name)) if get_all is not None else []


def _said(words: object) -> str:
    return one_line(str(words), _LONGEST)
