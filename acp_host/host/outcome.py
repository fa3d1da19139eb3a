"""How a turn ended: :class:`TurnResult` and :class:`Outcome`."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from attrs import evolve, field, frozen

from acp_host.errors import AcpError
from acp_host.host.interruption import Interruption
from acp_host.services.change_verdicts import ChangeReport, JudgedChange
from acp_host.wire.harn.members import harn_meta
from acp_host.wire.harn.prompt import Terminal, TerminalKind
from acp_host.wire.prompt import PromptResponse, StopReason
from acp_host.wire.usage import Usage

__all__ = ["Outcome", "OutcomeKind", "TurnResult", "outcome_of", "with_changes"]


class OutcomeKind(StrEnum):
    """What became of the user's wish, as far as the agent says."""

    COMPLETED = "completed"
    INCOMPLETE = "incomplete"
    REFUSED = "refused"
    CANCELLED = "cancelled"
    FAILED = "failed"
    UNVERIFIED = "unverified"
    POLICY_VIOLATED = "policy_violated"
    """The agent changed files that the permission policy does not allow it to change."""


@frozen
class Outcome:
    """How a turn ended.

    Attributes:
        kind: one of :class:`OutcomeKind`.
        verified: the agent vouches for the completion by more than a stop reason.
        detail: the raw word or the reason behind ``kind``; may be empty.
        violations: the changes that the policy forbids, where ``kind`` is ``policy_violated`` or ``failed``.
        terminal: the verdict of a Harn agent on the turn; ``None`` where it gave none, and for other agents.
        interruption: what is known of the turn where the connection has ended before the agent said how it went, or
            before its prompt was sent; else ``None``.
    """

    kind: OutcomeKind
    verified: bool = False
    detail: str = ""
    violations: tuple[JudgedChange, ...] = ()
    terminal: Terminal | None = None
    interruption: Interruption | None = None


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
        changes: what has changed in the session's directories, and what the policy says about it; ``None`` where that
            is not checked.
    """

    stop_reason: str | None
    text: str
    outcome: Outcome
    cancel_requested: bool = False
    usage: Usage | None = None
    error: AcpError | None = None
    meta: Mapping[str, Any] = field(factory=dict)
    changes: ChangeReport | None = None

    @property
    def persistence_error(self) -> str | None:
        """Why a Harn agent could not keep the turn; ``None`` where it says nothing of that kind."""
        problem = harn_meta(self.meta).get("persistenceError")
        return problem if isinstance(problem, str) else None


_KINDS: Mapping[str, OutcomeKind] = {
    StopReason.END_TURN: OutcomeKind.COMPLETED,
    StopReason.MAX_TOKENS: OutcomeKind.INCOMPLETE,
    StopReason.MAX_TURN_REQUESTS: OutcomeKind.INCOMPLETE,
    StopReason.REFUSAL: OutcomeKind.REFUSED,
    StopReason.CANCELLED: OutcomeKind.CANCELLED,
}


def outcome_of(response: PromptResponse, terminal: Terminal | None = None, *, vouches: bool = False) -> Outcome:
    """Return what an agent's answer to a prompt means; an unknown stop reason is ``incomplete`` with the raw word.

    Args:
        response: the answer.
        terminal: the agent's verdict, if it gave one: only ``natural`` is a completion, and a verified one.
        vouches: the agent is one that says by a verdict whether it has done the work; without one nobody knows.
    """
    word = response.stop_reason
    kind = _KINDS.get(word, OutcomeKind.INCOMPLETE)
    if terminal is not None:
        return _judged(terminal, word, kind)
    if vouches and kind is OutcomeKind.COMPLETED:
        return Outcome(OutcomeKind.UNVERIFIED, detail=word)
    return Outcome(kind, detail=word)


def _judged(terminal: Terminal, word: str, kind: OutcomeKind) -> Outcome:
    """Return what a verdict means. A stop reason that contradicts it takes a completion away, and never makes one."""
    if terminal.kind == TerminalKind.NATURAL and (word not in _KINDS or kind is OutcomeKind.COMPLETED):
        return Outcome(OutcomeKind.COMPLETED, verified=True, detail=terminal.kind, terminal=terminal)
    if terminal.kind == TerminalKind.NATURAL:
        return Outcome(kind, detail=word, terminal=terminal)
    if terminal.kind == TerminalKind.USER_CANCELLED:
        kind = OutcomeKind.CANCELLED
    elif kind is OutcomeKind.COMPLETED:
        kind = OutcomeKind.INCOMPLETE
    return Outcome(kind, detail=terminal.kind, terminal=terminal)


def with_changes(result: TurnResult, changes: ChangeReport) -> TurnResult:
    """Return the result with what has changed: a violation takes the place of what the agent says of its work.

    A turn whose changes could not all be judged is not ``completed`` but ``unverified``.
    """
    outcome, violations = result.outcome, changes.violations
    if violations:
        one, first = len(violations) == 1, violations[0]
        detail = "a change" if one else f"{len(violations)} changes, the first"
        detail = f"the policy does not allow {detail}: {first}"
        kind = OutcomeKind.POLICY_VIOLATED
        outcome = evolve(outcome, kind=kind, verified=False, detail=detail, violations=violations)
    elif changes.problem is not None and outcome.kind is OutcomeKind.COMPLETED:
        detail = f"not every change could be held against the policy: {changes.problem}"
        outcome = evolve(outcome, kind=OutcomeKind.UNVERIFIED, verified=False, detail=detail)
    return evolve(result, outcome=outcome, changes=changes)
