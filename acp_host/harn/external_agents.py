"""Work given to agents elsewhere, which may cost money: :class:`ExternalAgent`.

=====================  =============================================================================================
step                   what happens
=====================  =============================================================================================
1 what is asked        a task, a budget with one cap at least, and a key that makes it one piece of work
2 what is promised     the Agent Card has to promise budget, idempotency, a reviewable handoff, and dispatch
3 the plan             :meth:`Delegation.plan` asks for it; the answer waits for somebody's approval
4 the work             :meth:`Delegation.dispatch`, with the plan that was approved and the key of step 1
5 what is handed back  a report to look through, with a diff where there is one; too much used is ``budget_exceeded``
=====================  =============================================================================================

Nothing here approves anything, and nothing is paid for before step 4. A piece of work that is done is not sent again:
the same key gives the same report, as ``replayed``. How a peer is reached is the business of a :class:`Peer`, e.g.
:class:`acp_host.harn.a2a.HttpPeer`.
"""

from __future__ import annotations

import asyncio
import json
import math
import uuid
from collections import OrderedDict
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Protocol

from attrs import field, frozen

from acp_host.errors import (
    AcpError,
    ExternalAgentError,
    InvalidInput,
    InvalidParams,
    InvalidRequest,
    RequestCancelled,
    RequestFailed,
)
from acp_host.wire.harn.external_agents import (
    DISPATCH,
    FAILURE,
    HANDOFF_SCHEMA,
    OFFER_SCHEMA,
    PLAN,
    Budget,
    Checkpoint,
    ExternalAgentOffer,
    WorkReport,
    offer_of,
    read_checkpoint,
    read_work,
)

__all__ = ["Budget", "Checkpoint", "Delegation", "DelegationOutcome", "DelegationStatus", "ExternalAgent", "Peer"]

_MOST_KEPT = 1000
_KINDS = frozenset({"invalid_request", "discovery", "denied", "timeout", "cancelled", "transport", "protocol"})
_NOT_DONE = {
    "checkpoint_required": "denied",
    **dict.fromkeys(("denied", "rejected"), "denied"),
    **dict.fromkeys(("error", "errored", "failed"), "protocol"),
    **dict.fromkeys(("canceled", "cancelled", "aborted"), "cancelled"),
    **dict.fromkeys(("timeout", "timed_out"), "timeout"),
}
"""Statuses by which an agent says that work is not done, whatever it hands back, and the kind of error that each is."""


class Peer(Protocol):
    """The way to an agent elsewhere."""

    async def card(self) -> Any:
        """Return its Agent Card, as decoded."""

    async def call(self, method: str, params: Mapping[str, Any]) -> Any:
        """Call one of its JSON-RPC methods and return the result.

        Raises:
            RequestFailed: it answered with an error.
            TimeoutError: it did not answer in time.
            OSError, AcpError: it could not be reached, or answered with something else.
        """


class DelegationStatus(StrEnum):
    """How far a piece of work has come."""

    CHECKPOINT_REQUIRED = "checkpoint_required"
    """There is a plan, which somebody has to approve."""
    COMPLETED = "completed"
    REPLAYED = "replayed"
    """It was done before; nothing was done again."""
    BUDGET_EXCEEDED = "budget_exceeded"
    """It was done, and more was used than was allowed; to be looked at with care."""


@frozen(kw_only=True)
class DelegationOutcome:
    """What came of a step.

    Attributes:
        status: how far it has come.
        idempotency_key: the key of the piece of work.
        checkpoint: the plan.
        report: what was handed back; ``None`` before that.
        exceeded: which caps of the budget were exceeded.
    """

    status: DelegationStatus
    idempotency_key: str
    checkpoint: Checkpoint
    report: WorkReport | None = None
    exceeded: tuple[str, ...] = ()

    def to_wire(self) -> dict[str, Any]:
        """Return it as an envelope of the schema ``harn.external_agent.handoff.v1``."""
        told = {
            "schema": HANDOFF_SCHEMA,
            "status": str(self.status),
            "idempotency_key": self.idempotency_key,
            "checkpoint": _checkpoint_to_wire(self.checkpoint),
        }
        return told if self.report is None else {**told, **_report_to_wire(self.report, self.checkpoint)}


class ExternalAgent:
    """An agent elsewhere that takes work. ::

        agent = ExternalAgent(HttpPeer("https://agents.example"))
        work = agent.delegation("Port the tests", budget=Budget(usd=2.5))
        plan = await work.plan()
        if await somebody_agrees_to(plan.checkpoint.plan):
            outcome = await work.dispatch(plan.checkpoint)

    Args:
        peer: the way to it.
        timeout: seconds that an answer may take; ``None``: as long as it takes.
    """

    def __init__(self, peer: Peer, *, timeout: float | None = 600.0) -> None:
        self._peer = peer
        self._timeout = timeout
        self._offer: ExternalAgentOffer | None = None
        self._works: OrderedDict[str, _Work] = OrderedDict()

    async def offer(self) -> ExternalAgentOffer:
        """Return what its Agent Card promises.

        Raises:
            ExternalAgentError: there is no card (``transport``, ``timeout``), or it offers nothing (``discovery``).
        """
        if self._offer is None:
            try:
                async with asyncio.timeout(self._timeout):
                    offer = offer_of(await self._peer.card())
            except (AcpError, OSError, TimeoutError) as error:
                raise _failure(error, "its Agent Card") from error
            if offer is None:
                raise ExternalAgentError("its Agent Card says nothing of delegated work", kind="discovery")
            self._offer = offer
        return self._offer

    def delegation(
        self,
        task: str,
        *,
        budget: Budget,
        idempotency_key: str | None = None,
        expected_scope: Any = None,
        context: Mapping[str, Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Delegation:
        """Return a piece of work; nothing is sent yet.

        Args:
            task: what is to be done.
            budget: what may be used; at least one cap above 0.
            idempotency_key: makes it one piece of work, also after a restart; ``None`` for a new one.
            expected_scope: what it may touch, any JSON.
            context: what the agent should know.
            metadata: what else to tell it.

        Raises:
            InvalidInput: the task is empty, the budget has no cap, or the key is of another piece of work.
        """
        if not isinstance(task, str) or not task.strip():
            raise InvalidInput("a task needs words")
        caps = [*budget.to_wire().values()]
        if not all(map(_is_cap, caps)) or not any(cap > 0 for cap in caps):
            raise InvalidInput("a budget needs at least one cap above 0; each is a finite number, and none is below 0")
        asked = {
            "schema": OFFER_SCHEMA,
            "task": task,
            "budget": budget.caps_to_wire(),
            "expected_scope": expected_scope,
        }
        asked |= {"context": dict(context or {}), "metadata": dict(metadata or {})}
        key = str(uuid.uuid4()) if idempotency_key is None else idempotency_key
        if not key.strip():
            raise InvalidInput("an idempotency key cannot be empty")
        return Delegation(self, key, budget, asked, self._work(key, _fingerprint(asked)))

    def _work(self, key: str, fingerprint: str) -> _Work:
        work = self._works.setdefault(key, _Work(fingerprint))
        if work.fingerprint != fingerprint:
            raise InvalidInput(f"the idempotency key {key} stands for another piece of work")
        self._works.move_to_end(key)
        if len(self._works) > _MOST_KEPT:
            self._works.popitem(last=False)
        return work

    async def call(self, method: str, params: Mapping[str, Any]) -> Any:
        """Call a method of the agent's and return the result.

        Raises:
            ExternalAgentError: it failed.
        """
        try:
            async with asyncio.timeout(self._timeout):
                result = await self._peer.call(method, params)
        except (AcpError, OSError, TimeoutError) as error:
            raise _failure(error, method) from error
        if isinstance(result, Mapping) and result.get("error") == FAILURE:
            text, kind, category = (result.get(name) for name in ("message", "kind", "category"))
            raise ExternalAgentError(
                f"{method}: {text if isinstance(text, str) else 'no reason given'}",
                kind=kind if isinstance(kind, str) and kind in _KINDS else "protocol",
                category=category if isinstance(category, str) else None,
                data=result,
            )
        return result


@frozen(eq=False)
class _Work:
    """What is known of a key: what it stands for, and what came of it; one dispatch at a time."""

    fingerprint: str
    lock: asyncio.Lock = field(factory=asyncio.Lock)
    done: list[DelegationOutcome] = field(factory=list)


class Delegation:
    """One piece of work for an agent elsewhere. Made by :meth:`ExternalAgent.delegation`.

    Attributes:
        idempotency_key: the same for every message about it.
        checkpoint: the plan; ``None`` before :meth:`plan`.
    """

    def __init__(self, agent: ExternalAgent, key: str, budget: Budget, asked: Mapping[str, Any], work: _Work) -> None:
        self.idempotency_key = key
        self.checkpoint: Checkpoint | None = None
        self._agent = agent
        self._budget = budget
        self._asked = asked
        self._work = work

    async def plan(self, *, local_plan: Any = None) -> DelegationOutcome:
        """Return the plan of the work, for somebody to approve; nothing is paid for.

        Args:
            local_plan: this side's own plan, in place of one that the agent cannot tell; ``None``: then it is refused.

        Raises:
            ExternalAgentError: the agent does not promise enough, tells no plan, or could not be asked; see ``kind``.
        """
        offer = await self._proven()
        if offer.plans:
            told = await self._agent.call(PLAN, {**self._asked, "idempotency_key": self.idempotency_key})
            self.checkpoint = read_checkpoint(told)
            if self.checkpoint is None:
                raise ExternalAgentError("its checkpoint has no id or no plan", kind="protocol", data=told)
        elif local_plan:
            scope = self._asked["expected_scope"]
            self.checkpoint = Checkpoint(
                checkpoint_id=f"local-{self.idempotency_key}", plan=local_plan, expected_scope=scope, is_local=True
            )
        else:
            raise ExternalAgentError("it tells no plan before it works, and there is no local one", kind="denied")
        return self._outcome(DelegationStatus.CHECKPOINT_REQUIRED, self.checkpoint)

    async def dispatch(self, approved: Checkpoint) -> DelegationOutcome:
        """Have the work done, by a plan that somebody has approved, and return what is handed back.

        It can be called again after an error: the key is the same, so the work is done once.

        Args:
            approved: the plan of :meth:`plan`; to pass it says that somebody has approved it.

        Raises:
            ExternalAgentError: it is another plan (``denied``), or the work failed; see ``kind``.
        """
        if approved != self.checkpoint:
            raise ExternalAgentError("what was approved is not the plan of this piece of work", kind="denied")
        async with self._work.lock:
            if self._work.done:
                before = self._work.done[0]
                return self._outcome(DelegationStatus.REPLAYED, before.checkpoint, before.report, before.exceeded)
            await self._proven()
            checkpoint = {**_checkpoint_to_wire(approved), "approved": True}
            asked = {**self._asked, "checkpoint": checkpoint, "idempotency_key": self.idempotency_key}
            outcome = self._handed_back(approved, await self._agent.call(DISPATCH, asked))
            self._work.done.append(outcome)
            return outcome

    def _handed_back(self, approved: Checkpoint, told: Any) -> DelegationOutcome:
        report = read_work(told)
        if report is None:
            raise ExternalAgentError("it handed back nothing to look through", kind="protocol", data=told)
        exceeded = self._budget.exceeded_by(report.budget_used)
        if report.status in _NOT_DONE and not exceeded:
            raise ExternalAgentError(f"it says {report.status}", kind=_NOT_DONE[report.status], data=told)
        status = DelegationStatus.COMPLETED
        if exceeded or report.status == DelegationStatus.BUDGET_EXCEEDED:
            status = DelegationStatus.BUDGET_EXCEEDED
        elif report.status == DelegationStatus.REPLAYED:
            status = DelegationStatus.REPLAYED
        return self._outcome(status, approved, report, exceeded)

    async def _proven(self) -> ExternalAgentOffer:
        offer = await self._agent.offer()
        if offer.missing:
            raise ExternalAgentError(f"its Agent Card does not promise {', '.join(offer.missing)}", kind="discovery")
        return offer

    def _outcome(
        self,
        status: DelegationStatus,
        checkpoint: Checkpoint,
        report: WorkReport | None = None,
        exceeded: tuple[str, ...] = (),
    ) -> DelegationOutcome:
        return DelegationOutcome(
            status=status,
            idempotency_key=self.idempotency_key,
            checkpoint=checkpoint,
            report=report,
            exceeded=exceeded,
        )


def _is_cap(amount: Any) -> bool:
    is_number = isinstance(amount, int | float) and not isinstance(amount, bool)
    return is_number and math.isfinite(amount) and amount >= 0


def _failure(error: Exception, what: str) -> ExternalAgentError:
    """Return what an exception of a peer amounts to."""
    if isinstance(error, ExternalAgentError):
        return error
    if not isinstance(error, RequestFailed):
        kind = "timeout" if isinstance(error, TimeoutError) else "transport"
        return ExternalAgentError(f"{what}: {error or kind}", kind=kind)
    told = error.data if isinstance(error.data, Mapping) else {}
    category = told.get("category")
    return ExternalAgentError(
        f"{what}: {error.message}",
        kind=_kind(error, told.get("kind")),
        category=category if isinstance(category, str) else None,
        data=error.data,
    )


def _kind(error: RequestFailed, told: Any) -> str:
    if isinstance(told, str) and told in _KINDS:
        return told
    if isinstance(error, InvalidParams | InvalidRequest):
        return "invalid_request"
    return "cancelled" if isinstance(error, RequestCancelled) else "protocol"


def _fingerprint(asked: Mapping[str, Any]) -> str:
    try:
        return json.dumps(asked, sort_keys=True)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"what is asked must be plain JSON: {error}") from error


def _checkpoint_to_wire(checkpoint: Checkpoint) -> dict[str, Any]:
    told = {name: value for name, value in checkpoint.raw.items() if name != "approved"}
    own = {
        "schema": OFFER_SCHEMA,
        "source": "local_fallback" if checkpoint.is_local else "remote",
        "checkpoint_id": checkpoint.checkpoint_id,
        "plan": checkpoint.plan,
        "expected_scope": checkpoint.expected_scope,
        "metadata": dict(checkpoint.metadata),
    }
    return {**told, **own}


def _report_to_wire(report: WorkReport, checkpoint: Checkpoint) -> dict[str, Any]:
    """Return a report with a handoff in any case: of an agent that says nothing of its work, what it was to do."""
    handoff = report.handoff or {
        "kind": "external_agent_delegation",
        "source_persona": "external_agent",
        "reason": "the agent has handed its work back and said nothing of it",
        "files_or_entities_touched": checkpoint.expected_scope or [],
    }
    artifacts: list[Mapping[str, Any]] = [{"kind": "handoff", "handoff": handoff}, *report.artifacts]
    if report.patch is not None:
        artifacts.append({"kind": "diff", "mimeType": "text/x-diff", "text": report.patch})
    used = report.budget_used.to_wire()
    return {
        "handoff": handoff,
        "artifacts": artifacts,
        "receipts": list(report.receipts),
        "budget_used": used,
    }
