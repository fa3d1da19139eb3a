"""Giving up on a request: ``$/cancel_request``, for both sides and every method.

Owns that one notification. Ending a session's turn is another thing: ``session/cancel``, in
:mod:`acp_host.wire.prompt`.

Specification: Cancellation.
"""

from __future__ import annotations

from acp_host.wire._model import UNSET, JsonObject, Model, Unset, model, wire_field
from acp_host.wire.ids import RequestId

__all__ = ["CancelRequestNotification"]


@model
class CancelRequestNotification(Model):
    """Parameters of ``$/cancel_request``: the sender no longer needs the answer; the receiver is free to ignore it.

    Attributes:
        request_id: the id of the request as its sender, who also sends this, chose it.
    """

    request_id: RequestId
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)
