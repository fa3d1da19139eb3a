"""What the protocol core tells its driver, in the order in which it happened.

:class:`~acp_host.protocol.peer.Peer` yields the JSON-RPC events with plain JSON ``params`` and ``result``;
:class:`~acp_host.protocol.host_protocol.HostProtocol` yields the same classes with wire types in their place, and
:class:`~acp_host.wire.updates.SessionNotification` itself for ``session/update``, the one message that comes by the ten
thousand.
"""

from __future__ import annotations

from typing import Any

from acp_host.diagnostics import Diagnostic
from acp_host.errors import AcpError
from acp_host.wire._model import UNSET, model
from acp_host.wire.ids import RequestId

__all__ = [
    "CallFailed",
    "CancelRequested",
    "Diagnostic",
    "Ended",
    "NotificationReceived",
    "PeerEvent",
    "RequestReceived",
    "ResponseReceived",
]


@model
class NotificationReceived:
    """A notification.

    Attributes:
        method: wire method.
        params: parameters; ``UNSET`` when absent.
        line: the message as received.
    """

    method: str
    params: Any = UNSET
    line: bytes = b""


@model
class RequestReceived:
    """A request; answer it exactly once with ``send_result`` or ``send_error``.

    Attributes:
        id: the peer's id, verbatim.
        method: wire method.
        params: parameters; ``UNSET`` when absent.
        line: the message as received.
    """

    id: RequestId
    method: str
    params: Any = UNSET
    line: bytes = b""


@model
class ResponseReceived:
    """The successful answer to one of our requests.

    Attributes:
        id: our id.
        method: wire method of the request.
        result: the result.
        line: the message as received.
    """

    id: RequestId
    method: str
    result: Any
    line: bytes = b""


@model
class CallFailed:
    """One of our requests will not get a result.

    Attributes:
        id: our id.
        method: wire method of the request.
        error: :class:`~acp_host.errors.RequestFailed` for an error response,
            :class:`~acp_host.errors.PeerError` for an unusable one,
            :class:`~acp_host.errors.OutcomeUnknown` when the connection ended first.
    """

    id: RequestId
    method: str
    error: AcpError


@model
class CancelRequested:
    """The peer withdraws one of its requests (``$/cancel_request``); it still wants an answer.

    Attributes:
        id: the peer's id of a request that has not been answered yet.
    """

    id: RequestId


@model
class Ended:
    """The connection is over; nothing follows.

    Attributes:
        error: why, or ``None`` for a clean end of the stream.
    """

    error: AcpError | None = None


PeerEvent = (
    NotificationReceived | RequestReceived | ResponseReceived | CallFailed | CancelRequested | Diagnostic | Ended
)
"""What a connection tells its owner, each once and in the order in which it happened."""
