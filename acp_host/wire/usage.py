"""Usage: tokens, context window and cost."""

from __future__ import annotations

from typing import ClassVar

from acp_host.wire._model import UNSET, JsonObject, Model, UInt, Unset, model, wire_field

__all__ = ["Cost", "Usage", "UsageUpdate"]


@model
class Cost(Model):
    """What the session has cost since it began.

    Attributes:
        amount: in units of ``currency``.
        currency: an ISO 4217 code such as ``EUR``, or another unit such as ``credits``.
    """

    amount: float
    currency: str
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class UsageUpdate(Model):
    """How full the context is, in tokens, and what the session has cost.

    Attributes:
        used: tokens that are in the context now.
        size: tokens that fit; agents that do not know send 0.
    """

    session_update: ClassVar[str] = "usage_update"

    used: UInt
    size: UInt
    cost: Cost | None | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class Usage(Model):
    """Tokens that the model has read and written. Unstable.

    The schema leaves open whether a turn or the whole session is counted, and agents differ.

    Attributes:
        total_tokens: of all sorts together.
        thought_tokens: written while reasoning.
        cached_read_tokens: of the input, read from the provider's cache.
        cached_write_tokens: of the input, put into the provider's cache.
    """

    total_tokens: UInt
    input_tokens: UInt
    output_tokens: UInt
    thought_tokens: UInt | None | Unset = wire_field(default=UNSET, default_on_error=True)
    cached_read_tokens: UInt | None | Unset = wire_field(default=UNSET, default_on_error=True)
    cached_write_tokens: UInt | None | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)
