"""What a Harn agent tells of its own loop: :data:`AgentEvent`.

There are dozens of kinds, and each release has more. Those that a user should see have a class of their own here; of
the others their name is known, and the rest is JSON of the agent's own. What it tells of programs that it composes is
in :mod:`acp_host.state.harn.composition_runs`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, TypeAlias

from acp_host.state._value import plain_json, value
from acp_host.state.events import HarnEvent
from acp_host.wire._model import NO_EXTRA, model

__all__ = [
    "AgentEvent",
    "AgentEventReported",
    "AgentSessionEnded",
    "BoundaryFailure",
    "BudgetExhausted",
    "ControlOutcome",
    "LoopStuck",
    "McpAuthRequired",
    "OtherAgentEvent",
    "SessionEnd",
    "TurnPhase",
]

_NATURAL = "natural"


@value
class TurnPhase:
    """How far the answer to a prompt has come.

    Attributes:
        phase: ``generating``, ``verifying``, ``terminal``, or another word of the agent.
        candidate_reply: the answer that is being verified.
        reply: the answer.
        outcome: how the turn ends, like the verdict in the answer to the prompt, which counts more.
        extra: what else the agent said.
    """

    kind: ClassVar[str] = "turn_phase_changed"
    type: ClassVar[str] = kind
    is_alert: ClassVar[bool] = False

    phase: str
    candidate_reply: str | None = None
    reply: str | None = None
    outcome: Any = plain_json(default=None)
    extra: Mapping[str, Any] = plain_json(default=NO_EXTRA)

    @property
    def verdict(self) -> str | None:
        """The kind of the outcome, e.g. ``natural``; ``None`` if none is told."""
        kind = self.outcome.get("kind") if isinstance(self.outcome, Mapping) else None
        return kind if isinstance(kind, str) else None

    @property
    def words(self) -> str:
        """What to show of it."""
        verdict = self.verdict
        return self.phase if verdict in (None, _NATURAL) else f"{self.phase}: {verdict}"


@value
class BudgetExhausted:
    """The agent stops because what it may use is used up; every member may be missing.

    Attributes:
        budget_kind: what is used up, in the agent's word.
        limit: which limit that is, likewise.
        limit_value: how much that is.
        max_iterations: how often the loop may run.
        cost_usd: what was spent, in US dollars.
        session_cost_usd: what the session has cost so far.
        projected_cost_usd: what the next call of the model would cost.
        projected_input_tokens: what it would read.
        projected_output_tokens: what it would write.
        wall_clock_ms: how long it took, in milliseconds.
        provider: of the model.
        model: which model.
        extra: what else the agent said.
    """

    kind: ClassVar[str] = "budget_exhausted"
    type: ClassVar[str] = kind
    is_alert: ClassVar[bool] = True

    budget_kind: str | None = None
    limit: Any = plain_json(default=None)
    limit_value: Any = plain_json(default=None)
    max_iterations: int | None = None
    cost_usd: int | float | None = None
    session_cost_usd: int | float | None = None
    projected_cost_usd: int | float | None = None
    projected_input_tokens: int | None = None
    projected_output_tokens: int | None = None
    wall_clock_ms: int | float | None = None
    provider: str | None = None
    model: str | None = None
    extra: Mapping[str, Any] = plain_json(default=NO_EXTRA)

    @property
    def words(self) -> str:
        """What to show of it."""
        if self.budget_kind is None and self.max_iterations is not None:
            return f"the budget is used up: {self.max_iterations} iterations"
        return "the budget is used up" if self.budget_kind is None else f"the budget is used up: {self.budget_kind}"


@value
class LoopStuck:
    """The agent does not get on any more; every member may be missing.

    Attributes:
        max_nudges: how often it was pushed on.
        last_iteration: where it stopped.
        tail_excerpt: what it said last.
        extra: what else the agent said.
    """

    kind: ClassVar[str] = "loop_stuck"
    type: ClassVar[str] = kind
    is_alert: ClassVar[bool] = True

    max_nudges: int | None = None
    last_iteration: int | None = None
    tail_excerpt: str | None = None
    extra: Mapping[str, Any] = plain_json(default=NO_EXTRA)

    @property
    def words(self) -> str:
        """What to show of it."""
        last = f", it said last: {self.tail_excerpt}" if self.tail_excerpt else ""
        return f"the agent does not get on{last}"


@value
class ControlOutcome:
    """What became of something that a client wanted to do to the session; every member may be missing.

    Attributes:
        control_id: names it.
        method: what was wanted, as a wire method.
        outcome: what became of it, in the agent's word.
        status: ``accepted``, ``rejected``, ``idempotent``, or another word.
        reason: why, in the agent's word.
        actor: who wanted it; JSON of the agent's own.
        target: with what; likewise.
        metadata: what else there is to it; likewise.
        extra: what else the agent said.
    """

    kind: ClassVar[str] = "control_outcome"
    type: ClassVar[str] = kind

    control_id: str | None = None
    method: str | None = None
    outcome: str | None = None
    status: str | None = None
    reason: str | None = None
    actor: Any = plain_json(default=None)
    target: Any = plain_json(default=None)
    metadata: Any = plain_json(default=None)
    extra: Mapping[str, Any] = plain_json(default=NO_EXTRA)

    @property
    def is_alert(self) -> bool:
        """Whether it was refused."""
        return self.status == "rejected"

    @property
    def words(self) -> str:
        """What to show of it."""
        result = self.reason or self.outcome
        told = f"{self.method or 'a request'} was {self.status or 'decided'}"
        return told if result in (None, self.status) else f"{told}: {result}"


@value
class McpAuthRequired:
    """An MCP server wants a login before the agent can use it.

    Attributes:
        server: which one.
        resource: what of it; ``None`` if the agent does not say.
        scope: which rights; likewise.
        extra: what else the agent said.
    """

    kind: ClassVar[str] = "mcp_auth_required"
    type: ClassVar[str] = kind
    is_alert: ClassVar[bool] = True

    server: str | None = None
    resource: str | None = None
    scope: Any = plain_json(default=None)
    extra: Mapping[str, Any] = plain_json(default=NO_EXTRA)

    @property
    def words(self) -> str:
        """What to show of it."""
        return f"the MCP server {self.server or 'of the agent'} wants a login"


@value
class SessionEnd:
    """The agent has ended the session: what it asked there needs no answer any more.

    Attributes:
        reason: why, in the agent's word.
        status: how, likewise.
        metadata: what else there is to it; JSON of the agent's own.
        extra: what else the agent said.
    """

    kind: ClassVar[str] = "session_closed"
    type: ClassVar[str] = kind
    is_alert: ClassVar[bool] = True

    reason: str | None = None
    status: str | None = None
    metadata: Any = plain_json(default=None)
    extra: Mapping[str, Any] = plain_json(default=NO_EXTRA)

    @property
    def words(self) -> str:
        """What to show of it."""
        why = self.reason or self.status
        return "the agent has ended the session" if why is None else f"the agent has ended the session: {why}"


@value
class BoundaryFailure:
    """Something that the model has said was lost on the way; every member may be missing.

    Attributes:
        boundary: where.
        failure_kind: how, in the agent's word.
        owner: whose fault it is, likewise.
        detail: more of it, for people.
        dropped_count: how many things were lost.
        dropped_bytes: how much that is.
        unreported: the model was not told.
        excerpt: the beginning of what was lost.
        extra: what else the agent said.
    """

    kind: ClassVar[str] = "boundary_failure"
    type: ClassVar[str] = kind
    is_alert: ClassVar[bool] = True

    boundary: str | None = None
    failure_kind: str | None = None
    owner: str | None = None
    detail: str | None = None
    dropped_count: int | None = None
    dropped_bytes: int | None = None
    unreported: Any = plain_json(default=None)
    excerpt: str | None = None
    extra: Mapping[str, Any] = plain_json(default=NO_EXTRA)

    @property
    def words(self) -> str:
        """What to show of it."""
        where = f" at {self.boundary}" if self.boundary else ""
        why = self.detail or self.failure_kind
        return f"output of the model was lost{where}" + (f": {why}" if why else "")


@value
class OtherAgentEvent:
    """Anything else that the agent tells of its loop.

    Attributes:
        kind: what, in the agent's word.
        data: all that it says of it, as sent.
    """

    type: ClassVar[str] = "other"
    is_alert: ClassVar[bool] = False

    kind: str
    data: Mapping[str, Any] = plain_json(default=NO_EXTRA)

    @property
    def words(self) -> str:
        """What to show of it."""
        return self.kind.replace("_", " ")


AgentEvent: TypeAlias = (
    TurnPhase
    | BudgetExhausted
    | LoopStuck
    | ControlOutcome
    | McpAuthRequired
    | SessionEnd
    | BoundaryFailure
    | OtherAgentEvent
)
"""One thing that an agent tells of its loop: ``kind`` says what, in Harn's word, and ``words`` what to show of it.
``is_alert``: a user should see it."""


@model
class AgentEventReported(HarnEvent):
    """The agent tells something of its loop; ``replayed``: it says that this is history."""

    event: AgentEvent
    replayed: bool = False


@model
class AgentSessionEnded(HarnEvent):
    """The agent has ended the session; comes with the event that says so."""
