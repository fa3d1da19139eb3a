"""The kinds of update that Harn has made, and what reads each: :func:`translate_kind`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from acp_host.state.events import SessionEvent
from acp_host.translate.harn import (
    HarnReport,
    artifacts,
    compactions,
    file_watches,
    handoffs,
    history,
    human_requests,
    live_clients,
    logs,
    model_calls,
    progress,
    skills,
    tool_searches,
    user_messages,
    workers,
)
from acp_host.translate.harn.payload import Payload, Unusable, payload_of

__all__ = ["KINDS", "translate_kind"]

Reader = Callable[[Payload], tuple[SessionEvent, ...]]
"""Reads the members of an update; raises ``Unusable`` where they do not say what it is about."""

_READERS: Final[Mapping[str, Reader]] = {
    "artifact": artifacts.artifact,
    "call_end": model_calls.call_end,
    "call_progress": model_calls.call_progress,
    "call_start": model_calls.call_start,
    "fs_watch": file_watches.fs_watch,
    "handoff": handoffs.handoff,
    "hitl_request": human_requests.hitl_request,
    "hitl_resolved": human_requests.hitl_resolved,
    "live_session_client": live_clients.live_session_client,
    "log": logs.log,
    "progress": progress.progress,
    "session_redo": history.session_redo,
    "session_rollback": history.session_rollback,
    "session_truncated": history.session_truncated,
    "skill_activated": skills.skill_activated,
    "skill_deactivated": skills.skill_deactivated,
    "skill_narrow": skills.skill_narrow,
    "skill_scope_tools": skills.skill_scope_tools,
    "stance_transition": skills.stance_transition,
    "tool_search_query": tool_searches.tool_search_query,
    "tool_search_result": tool_searches.tool_search_result,
    "transcript_compacted": compactions.transcript_compacted,
    "transcript_projected": compactions.transcript_projected,
    "user_message": user_messages.user_message,
    "worker_update": workers.worker_update,
}

KINDS: Final = frozenset(_READERS)
"""The kinds that are read here."""


def translate_kind(kind: str, update: Mapping[str, Any]) -> HarnReport | None:
    """Return what an update says, given its ``sessionUpdate`` and all of it; ``None`` for a kind that is not known."""
    reader = _READERS.get(kind)
    if reader is None:
        return None
    payload = payload_of(update)
    try:
        events = reader(payload)
    except Unusable as problem:
        problems = (*payload.problems, str(problem))
        return HarnReport((), problems, is_update=payload.names_harn, replayed=payload.replayed)
    return HarnReport(events, tuple(payload.problems), replayed=payload.replayed)
