"""The trace context in ``_meta``: :func:`carried` for what is sent, :func:`parent_of` for what comes.

``traceparent``, ``tracestate`` and ``baggage`` are members of ``_meta`` itself, in the form that W3C Trace Context and
W3C Baggage give to headers (RFD "Meta Field Propagation Conventions").

An agent is not trusted with the trace. What it says is heeded where it goes on with the trace that it was given: then
its span is the parent. A trace of its own becomes a link. Flags, state and baggage are never taken from it, so that it
can neither have this host record more than it would, nor write into what it sends elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from opentelemetry.baggage.propagation import W3CBaggagePropagator
from opentelemetry.context import Context
from opentelemetry.trace import (
    Link,
    NonRecordingSpan,
    SpanContext,
    get_current_span,
    set_span_in_context,
)
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from acp_host.wire._model import Model, evolve

__all__ = ["carried", "parent_of", "with_meta"]

_TRACE = TraceContextTextMapPropagator()
_BAGGAGE = W3CBaggagePropagator()
_LONGEST = 256
"""Most characters of a ``traceparent`` that is read; those of today have 55."""


def carried(context: Context, *, baggage: bool) -> dict[str, str]:
    """Return the members of ``_meta`` that say where a request belongs; empty outside of any trace."""
    members: dict[str, str] = {}
    _TRACE.inject(members, context)
    if baggage:
        _BAGGAGE.inject(members, context)
    return members


def with_meta(params: Any, members: Mapping[str, str]) -> Any:
    """Return the parameters of a request with members added to ``_meta``; those that are there stay as they are.

    Parameters that are no object, or whose ``_meta`` is none, come back unchanged.
    """
    if isinstance(params, Mapping):
        meta = params.get("_meta", {})
        return {**params, "_meta": {**members, **meta}} if isinstance(meta, Mapping) else params
    if isinstance(params, Model) and hasattr(params, "meta"):
        return evolve(params, meta={**members, **(params.meta or {})})
    return params


def parent_of(params: Any, own: Context) -> tuple[Context, list[Link]]:
    """Return where a request of the agent belongs: the context of its parent, and what it is linked to.

    Args:
        params: its parameters.
        own: where it belongs as far as this host knows.
    """
    told = _told_in(params)
    if told is None:
        return own, []
    known = get_current_span(own).get_span_context()
    if not known.is_valid or told.trace_id != known.trace_id:
        return own, [Link(told)]
    parent = SpanContext(known.trace_id, told.span_id, True, known.trace_flags, known.trace_state)
    return set_span_in_context(NonRecordingSpan(parent), own), []


def _told_in(params: Any) -> SpanContext | None:
    """Return what ``_meta.traceparent`` says; ``None`` where it says nothing that is valid."""
    meta = params.get("_meta") if isinstance(params, Mapping) else getattr(params, "meta", None)
    value = meta.get("traceparent") if isinstance(meta, Mapping) else None
    if not isinstance(value, str) or len(value) > _LONGEST:
        return None
    told = get_current_span(_TRACE.extract({"traceparent": value}, Context())).get_span_context()
    return SpanContext(told.trace_id, told.span_id, True) if told.is_valid else None
