"""Updates and notifications about what the agent wants from a person."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from acp_host.state.harn.human_requests import HumanRequest, HumanRequested, HumanRequestResolved
from acp_host.translate.harn.payload import Payload
from acp_host.wire._model import NO_EXTRA

__all__ = ["hitl_request", "hitl_requested", "hitl_resolved"]


def hitl_request(payload: Payload) -> tuple[HumanRequested, ...]:
    """Read ``hitl_request``."""
    request = HumanRequest(
        request_id=payload.identity("requestId"),
        kind=payload.text("kind"),
        payload=_asked(payload),
        extra=payload.rest(),
    )
    return (HumanRequested(request),)


def hitl_requested(payload: Payload) -> tuple[HumanRequested, ...]:
    """Read the notification ``harn.hitl.requested``, which announces the same with other facts."""
    request = HumanRequest(
        request_id=payload.identity("request_id"),
        kind=payload.text("kind"),
        payload=_asked(payload),
        agent=payload.text("agent"),
        trace_id=payload.text("trace_id"),
        run_id=payload.text("run_id"),
        requested_at=payload.text("requested_at"),
        extra=payload.rest(),
    )
    return (HumanRequested(request),)


def hitl_resolved(payload: Payload) -> tuple[HumanRequestResolved, ...]:
    """Read ``hitl_resolved``; an agent that does not say what became of it has had an answer."""
    request_id, kind = payload.identity("requestId"), payload.text("kind")
    return (HumanRequestResolved(request_id, payload.text("outcome") or "answered", kind),)


def _asked(payload: Payload) -> Mapping[str, Any]:
    """Return what is asked; an agent may ask anything, so what is no object becomes the text of one."""
    asked = payload.any("payload")
    if isinstance(asked, Mapping):
        return asked
    return NO_EXTRA if asked is None else {"prompt": asked}
