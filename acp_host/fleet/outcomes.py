"""How a job ends: :class:`JobOutcomeKind`."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["JobOutcomeKind"]


class JobOutcomeKind(StrEnum):
    """How a job ended: as runs do, see :class:`~acp_host.host.outcome.OutcomeKind`, and in two more ways."""

    COMPLETED = "completed"
    INCOMPLETE = "incomplete"
    REFUSED = "refused"
    CANCELLED = "cancelled"
    FAILED = "failed"
    UNVERIFIED = "unverified"
    POLICY_VIOLATED = "policy_violated"
    UNKNOWN = "unknown"
    """Its prompt was sent, or may have been, and nobody knows what became of it: to run it again may do it twice."""
    NOT_RUN = "not_run"
    """Its prompt was not sent: the fleet was stopped before."""
