"""Updates by which a Harn agent goes back in the conversation, or forward again."""

from __future__ import annotations

from acp_host.state.events import HistoryChanged
from acp_host.translate.harn.payload import Payload

__all__ = ["session_redo", "session_rollback", "session_truncated"]


def session_truncated(payload: Payload) -> tuple[HistoryChanged, ...]:
    """Read ``session_truncated``."""
    changed = HistoryChanged(
        "truncated",
        payload.required("keptTurnCount", payload.integer),
        payload.integer("removedTurnCount", 0),
        payload.text("newTipTurnId"),
        reason=payload.text("reason"),
    )
    return (changed,)


def session_rollback(payload: Payload) -> tuple[HistoryChanged, ...]:
    """Read ``session_rollback``."""
    return (_moved("rolled_back", payload),)


def session_redo(payload: Payload) -> tuple[HistoryChanged, ...]:
    """Read ``session_redo``."""
    return (_moved("redone", payload),)


def _moved(action: str, payload: Payload) -> HistoryChanged:
    return HistoryChanged(action, checkpoint_id=payload.identity("checkpointId"), status=payload.text("status"))
