"""How a turn ended: :class:`TurnResult` and :class:`Outcome`."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from attrs import field, frozen

from acp_host.errors import AcpError
from acp_host.wire.prompt import PromptResponse, StopReason
from acp_host.wire.usage import Usage

__all__ = ["Outcome", "OutcomeKind", "TurnResult", "outcome_of"]


class OutcomeKind(StrEnum):
    """What became of the user's wish, as far as the agent says."""

    COMPLETED = "completed"
    INCOMPLETE = "incomplete"
    REFUSED = "refused"
    CANCELLED = "cancelled"
    FAILED = "failed"
    UNVERIFIED = "unverified"


@frozen
class Outcome:
    """How a turn ended.

    Attributes:
        kind: one of :class:`OutcomeKind`.
        verified: the agent vouches for the completion by more than a stop reason.
        detail: the raw word or the reason behind ``kind``; may be empty.
    """

    kind: OutcomeKind
    verified: bool = False
    detail: str = ""


@frozen(kw_only=True)
class TurnResult:
    """A finished turn.

    Attributes:
        stop_reason: the agent's stop reason as sent, comparable with :class:`~acp_host.wire.prompt.StopReason`;
            ``"cancelled"`` where the turn was cancelled and the agent answered with an error or not at all;
            ``None`` where the agent ended the turn without a readable reason.
        text: the agent's message text of this turn, without thoughts.
        outcome: what the stop reason means.
        cancel_requested: this side asked for the turn to be cancelled, whatever the agent says.
        usage: tokens of the turn, where the agent reports them.
        error: what the agent answered instead of a result, where the turn is over all the same.
        meta: ``_meta`` of the agent's answer; empty when absent.
    """

    stop_reason: str | None
    text: str
    outcome: Outcome
    cancel_requested: bool = False
    usage: Usage | None = None
    error: AcpError | None = None
    meta: Mapping[str, Any] = field(factory=dict)


_KINDS: Mapping[str, OutcomeKind] = {
    StopReason.END_TURN: OutcomeKind.COMPLETED,
    StopReason.MAX_TOKENS: OutcomeKind.INCOMPLETE,
    StopReason.MAX_TURN_REQUESTS: OutcomeKind.INCOMPLETE,
    StopReason.REFUSAL: OutcomeKind.REFUSED,
    StopReason.CANCELLED: OutcomeKind.CANCELLED,
}


def outcome_of(response: PromptResponse) -> Outcome:
    """Return what an agent's stop reason means; an unknown one is ``incomplete`` with the raw word."""
    return Outcome(_KINDS.get(response.stop_reason, OutcomeKind.INCOMPLETE), detail=response.stop_reason)
