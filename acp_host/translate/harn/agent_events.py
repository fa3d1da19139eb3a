"""The notification by which an agent tells of its own loop: :func:`agent_event`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from acp_host.state.events import SessionEvent
from acp_host.state.harn.agent_events import (
    AgentEvent,
    AgentEventReported,
    AgentSessionEnded,
    BoundaryFailure,
    BudgetExhausted,
    ControlOutcome,
    LoopStuck,
    McpAuthRequired,
    OtherAgentEvent,
    SessionEnd,
    TurnPhase,
)
from acp_host.translate.harn import composition_runs
from acp_host.translate.harn.payload import Payload

__all__ = ["agent_event"]


def agent_event(payload: Payload) -> tuple[SessionEvent, ...]:
    """Read ``_harn/agentEvent``."""
    kind = payload.identity("kind")
    composed = composition_runs.READERS.get(kind)
    if composed is not None:
        return composed(payload)
    reader = _READERS.get(kind)
    if reader is None:
        return (AgentEventReported(OtherAgentEvent(kind=kind, data=payload.rest()), payload.replayed),)
    event = reader(payload)
    reported = AgentEventReported(event, payload.replayed)
    return (reported, AgentSessionEnded()) if isinstance(event, SessionEnd) else (reported,)


def _turn_phase(payload: Payload) -> TurnPhase:
    return TurnPhase(
        phase=payload.identity("phase"),
        candidate_reply=payload.text("candidate_reply"),
        reply=payload.text("reply"),
        outcome=payload.any("outcome"),
        extra=payload.rest(),
    )


def _budget_exhausted(payload: Payload) -> BudgetExhausted:
    return BudgetExhausted(
        budget_kind=payload.text("budgetKind"),
        limit=payload.any("limit"),
        limit_value=payload.any("limitValue"),
        max_iterations=payload.integer("maxIterations"),
        cost_usd=payload.number("costUsd"),
        session_cost_usd=payload.number("sessionCostUsd"),
        projected_cost_usd=payload.number("projectedCostUsd"),
        projected_input_tokens=payload.integer("projectedInputTokens"),
        projected_output_tokens=payload.integer("projectedOutputTokens"),
        wall_clock_ms=payload.number("wallClockMs"),
        provider=payload.text("provider"),
        model=payload.text("model"),
        extra=payload.rest(),
    )


def _loop_stuck(payload: Payload) -> LoopStuck:
    return LoopStuck(
        max_nudges=payload.integer("maxNudges"),
        last_iteration=payload.integer("lastIteration"),
        tail_excerpt=payload.text("tailExcerpt"),
        extra=payload.rest(),
    )


def _control_outcome(payload: Payload) -> ControlOutcome:
    return ControlOutcome(
        control_id=payload.text("controlId"),
        method=payload.text("method"),
        outcome=payload.text("outcome"),
        status=payload.text("status"),
        reason=payload.text("reason"),
        actor=payload.any("actor"),
        target=payload.any("target"),
        metadata=payload.any("metadata"),
        extra=payload.rest(),
    )


def _mcp_auth_required(payload: Payload) -> McpAuthRequired:
    return McpAuthRequired(
        server=payload.text("server"),
        resource=payload.text("resource"),
        scope=payload.any("scope"),
        extra=payload.rest(),
    )


def _session_closed(payload: Payload) -> SessionEnd:
    return SessionEnd(
        reason=payload.text("reason"),
        status=payload.text("status"),
        metadata=payload.any("metadata"),
        extra=payload.rest(),
    )


def _boundary_failure(payload: Payload) -> BoundaryFailure:
    return BoundaryFailure(
        boundary=payload.text("boundary"),
        failure_kind=payload.text("failureKind"),
        owner=payload.text("owner"),
        detail=payload.text("detail"),
        dropped_count=payload.integer("droppedCount"),
        dropped_bytes=payload.integer("droppedBytes"),
        unreported=payload.any("unreported"),
        excerpt=payload.text("excerpt"),
        extra=payload.rest(),
    )


_READERS: Final[Mapping[str, Callable[[Payload], AgentEvent]]] = {
    TurnPhase.kind: _turn_phase,
    BudgetExhausted.kind: _budget_exhausted,
    LoopStuck.kind: _loop_stuck,
    ControlOutcome.kind: _control_outcome,
    McpAuthRequired.kind: _mcp_auth_required,
    SessionEnd.kind: _session_closed,
    BoundaryFailure.kind: _boundary_failure,
}
