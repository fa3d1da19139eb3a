"""What the delivery wants done, since it does nothing itself: :data:`Command`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from attrs import frozen

from acp_host.errors import AcpError
from acp_host.reminders.receipt import ReminderReceipt

__all__ = ["Command", "SendRequest", "Settled", "StartTimer", "StopTimer", "Suppressed", "WithdrawRequest"]


@frozen
class SendRequest:
    """Send a request, and say what it was answered, or why it could not be sent, with the same ``token``."""

    token: int
    method: str
    params: Mapping[str, Any]


@frozen
class WithdrawRequest:
    """Withdraw a request with ``$/cancel_request``; its answer is still wanted."""

    token: int


@frozen
class StartTimer:
    """Say so when so many seconds have gone by."""

    token: int
    seconds: float


@frozen
class StopTimer:
    """Forget a timer, if it still runs."""

    token: int


@frozen
class Suppressed:
    """No rung took a reminder; the log ought to know, once per session."""

    entry_id: str


@frozen
class Settled:
    """Whoever waits for a reminder need not wait any longer.

    Attributes:
        entry_id: the reminder's host-local id.
        receipt: what became of it.
        error: what to raise in place of returning the receipt; ``None`` to return it.
    """

    entry_id: str
    receipt: ReminderReceipt
    error: AcpError | None = None


Command: TypeAlias = SendRequest | WithdrawRequest | StartTimer | StopTimer | Suppressed | Settled
