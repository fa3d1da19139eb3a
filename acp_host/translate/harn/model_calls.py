"""Updates of Harn's bridge about the calls of the model."""

from __future__ import annotations

from acp_host.state.harn.model_calls import ModelCall, ModelCallEnded, ModelCallProgressed, ModelCallStarted
from acp_host.translate.harn.payload import Payload

__all__ = ["call_end", "call_progress", "call_start"]


def call_start(payload: Payload) -> tuple[ModelCallStarted, ...]:
    """Read ``call_start``."""
    return (ModelCallStarted(_call(payload, ended=False)),)


def call_progress(payload: Payload) -> tuple[ModelCallProgressed, ...]:
    """Read ``call_progress``: what came is shown only where the agent says so, and then as it wants it shown."""
    call_id, tokens = payload.identity("toolCallId"), payload.integer("accumulatedTokens", 0)
    raw, visible = payload.text("delta"), payload.text("visibleDelta")
    text = (raw if visible is None else visible) if payload.flag("userVisible") else None
    return (ModelCallProgressed(call_id, tokens, text or ""),)


def call_end(payload: Payload) -> tuple[ModelCallEnded, ...]:
    """Read ``call_end``."""
    return (ModelCallEnded(_call(payload, ended=True)),)


def _call(payload: Payload, *, ended: bool) -> ModelCall:
    return ModelCall(
        call_id=payload.identity("toolCallId"),
        call_type=payload.text("callType"),
        name=payload.text("name"),
        script=payload.text("script"),
        status=payload.text("status"),
        ended=ended,
        duration_ms=payload.number("durationMs"),
        metadata=payload.any("metadata"),
        extra=payload.rest(),
    )
