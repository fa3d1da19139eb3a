"""Giving up on a request in version 2: the id of a request is never ``null``."""

from __future__ import annotations

from typing import TypeAlias

from acp_host.wire._model import UNSET, JsonObject, Model, Unset, model, wire_field

__all__ = ["CancelRequestNotification", "RequestId"]

RequestId: TypeAlias = int | str
"""The id of a JSON-RPC request; kept as it came, type included."""


@model
class CancelRequestNotification(Model):
    """Parameters of ``$/cancel_request``: the sender no longer needs the answer; the receiver is free to ignore it.

    Attributes:
        request_id: the id of the request as its sender, who also sends this, chose it.
    """

    request_id: RequestId
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)
