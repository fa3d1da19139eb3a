"""Updates and notifications about what the agent writes to its log, or prints."""

from __future__ import annotations

from acp_host.state.harn.logs import OUTPUT, LogLine, LogWritten
from acp_host.translate.harn.payload import Payload

__all__ = ["log", "output"]


def log(payload: Payload) -> tuple[LogWritten, ...]:
    """Read ``log``, the update and the notification of the bridge."""
    message = payload.required("message", payload.text)
    line = LogLine(message=message, level=payload.text("level"), fields=payload.any("fields"), extra=payload.rest())
    return (LogWritten(line),)


def output(payload: Payload) -> tuple[LogWritten, ...]:
    """Read the notification ``output``: a script of the agent prints something."""
    return (LogWritten(LogLine(message=payload.required("text", payload.text), level=OUTPUT, extra=payload.rest())),)
