"""Work that was given to an agent elsewhere, read from where an agent tells of it: :func:`external_delegation`.

It has a schema of its own, by which it is found in the output of a tool and in a handoff.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from typing import Any

import orjson

from acp_host.state.entries import ToolCallEntry
from acp_host.state.harn.external_agents import CHECKPOINT_REQUIRED, FAILED, REPLAYED, ExternalDelegation
from acp_host.state.harn.handoffs import Handoff
from acp_host.wire.content import TextContent
from acp_host.wire.harn.external_agents import (
    FAILURE,
    HANDOFF_SCHEMA,
    OFFER_SCHEMA,
    Budget,
    read_budget,
    read_checkpoint,
    read_work,
)
from acp_host.wire.harn.members import Members
from acp_host.wire.tool_calls import Content

__all__ = ["delegation_of_call", "delegation_of_handoff", "external_delegation"]

_MARK = "external_agent"
_MOST_VALUES = 1000
_LONGEST_TEXT = 1_000_000


def external_delegation(told: Any) -> ExternalDelegation | None:
    """Return what an object says of such work; ``None`` if it says nothing of it."""
    if not isinstance(told, Mapping):
        return None
    members = Members(told, "$")
    if members.raw.get("error") == FAILURE:
        return ExternalDelegation(
            status=FAILED,
            error=members.text("message"),
            error_kind=members.text("kind"),
            error_category=members.text("category"),
            raw=told,
        )
    schema = members.raw.get("schema")
    if schema == HANDOFF_SCHEMA:
        return _envelope(members)
    checkpoint = read_checkpoint(told) if schema == OFFER_SCHEMA else None
    if checkpoint is None:
        return None
    budget = _budget(members.member("budget"))
    return ExternalDelegation(status=CHECKPOINT_REQUIRED, checkpoint=checkpoint, budget=budget, raw=told)


def delegation_of_call(call: ToolCallEntry) -> ExternalDelegation | None:
    """Return what the output of a tool call says of such work; ``None`` if it says nothing of it.

    It looks at the output as JSON, and at output in words that are JSON; costs little for any other.
    """
    texts = [
        each.content.text
        for each in call.content
        if isinstance(each, Content) and isinstance(each.content, TextContent)
    ]
    data = None if call.harn is None else call.harn.data
    return _found((call.raw_output, data, *texts))


def delegation_of_handoff(handoff: Handoff) -> ExternalDelegation | None:
    """Return what a handoff says of such work; ``None`` if it says nothing of it."""
    lists = (handoff.evidence_refs, handoff.receipt_links)
    return _found((handoff.extra, handoff.metadata, *(list(each) for each in lists)))


def _found(values: Iterable[Any]) -> ExternalDelegation | None:
    """Return the first that is found in some values, or in what is in them; the outermost before the others."""
    waiting = [*values]
    for seen, told in enumerate(waiting):  # which grows meanwhile
        if seen == _MOST_VALUES:
            return None
        value = _parsed(told) if isinstance(told, str) else told
        if isinstance(value, Mapping):
            delegation = external_delegation(value)
            if delegation is not None:
                return delegation
            waiting += itertools.islice(value.values(), _MOST_VALUES)
        elif isinstance(value, list):
            waiting += value[:_MOST_VALUES]
    return None


def _parsed(text: str) -> Any:
    if len(text) > _LONGEST_TEXT or _MARK not in text:
        return None
    try:
        return orjson.loads(text)
    except ValueError:
        return None


def _envelope(members: Members) -> ExternalDelegation:
    status = members.text("status") or "created"
    report = read_work(members.raw)
    return ExternalDelegation(
        status=REPLAYED if members.flag("replayed") else status,
        task=members.text("task"),
        target=members.text("target"),
        idempotency_key=members.text("idempotency_key"),
        checkpoint=read_checkpoint(members.raw.get("checkpoint")),
        budget=_budget(members.member("budget")),
        budget_used=_budget(members.member("budget_used")),
        report=report,
        diff=_diff(members),
        error=members.text("error"),
        raw=members.raw,
    )


def _budget(members: Members) -> Budget | None:
    return read_budget(members) if members else None


def _diff(members: Members) -> str | None:
    """Return the change as text, from the envelope, from the result in it, or from one of its artifacts."""
    artifacts = [artifact for artifact in members.members("artifacts") if artifact.text("kind") == "diff"]
    places = [members, members.member("result")]
    found = [place.text(name) for place in places for name in ("patch", "diff")]
    return next((text for text in (*found, *(artifact.text("text") for artifact in artifacts)) if text), None)
