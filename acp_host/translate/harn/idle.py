"""The notification by which an agent that stays alive says that it waits: :func:`agent_idle`."""

from __future__ import annotations

from acp_host.state.harn.idle import Idle, IdleReported
from acp_host.translate.harn.payload import Payload

__all__ = ["agent_idle"]


def agent_idle(payload: Payload) -> tuple[IdleReported, ...]:
    """Read ``agent/idle``; that it came says enough. As history it says nothing of what the agent does now."""
    if payload.replayed:
        return ()
    idle = Idle(
        iteration=payload.integer("iteration", 0), backoff_ms=payload.number("backoff_ms"), extra=payload.rest()
    )
    return (IdleReported(idle),)
