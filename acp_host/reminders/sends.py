"""A reminder in the spellings of the wire: one model, one function per spelling.

What is not set is left out, never sent as ``null``; the mode always goes along, because agents read a missing one
differently.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from acp_host.reminders.model import Reminder
from acp_host.reminders.rungs import Outgoing
from acp_host.state.reminder_marker import Marker, marked_block
from acp_host.wire.content import ContentBlock, TextContent
from acp_host.wire.converters import unstructure

__all__ = ["inject_params", "leading_block", "remind_params", "steering_params"]


def inject_params(reminder: Reminder, outgoing: Outgoing) -> dict[str, Any]:
    """Return the parameters of ``session/inject_reminder`` (camelCase)."""
    meta = dict(reminder.meta or {})
    if reminder.authority is not None:
        harn = meta.get("harn")
        meta["harn"] = {**(harn if isinstance(harn, Mapping) else {}), "authority": reminder.authority}
    return _given(
        sessionId=outgoing.session_id,
        body=reminder.body,
        tags=list(reminder.tags) or None,
        dedupeKey=reminder.dedupe_key,
        ttlTurns=reminder.ttl_turns,
        preserveOnCompact=reminder.preserve_on_compact,
        propagate=outgoing.fitted("propagate", reminder.propagate),
        roleHint=outgoing.fitted("role_hint", reminder.role_hint),
        mode=outgoing.fitted("mode", reminder.mode),
        _meta=meta or None,
    )


def remind_params(reminder: Reminder, outgoing: Outgoing, sent_id: str | None) -> dict[str, Any]:
    """Return the parameters of ``session/remind`` (snake_case); ``sent_id`` is to become the agent's id."""
    return _given(
        sessionId=outgoing.session_id,
        mode=outgoing.fitted("mode", reminder.mode),
        body=reminder.body,
        tags=list(reminder.tags) or None,
        dedupe_key=reminder.dedupe_key,
        ttl_turns=reminder.ttl_turns,
        preserve_on_compact=reminder.preserve_on_compact,
        propagate=outgoing.fitted("propagate", reminder.propagate),
        role_hint=outgoing.fitted("role_hint", reminder.role_hint),
        authority=reminder.authority,
        id=sent_id,
        _meta=dict(reminder.meta) if reminder.meta else None,
    )


def steering_params(reminder: Reminder, outgoing: Outgoing) -> dict[str, Any]:
    """Return the parameters of ``_session/steering``: one marked text block."""
    block = leading_block(reminder, outgoing.entry_id, host=outgoing.host, marker=outgoing.marker)
    return {
        "sessionId": outgoing.session_id,
        "prompt": [unstructure(block, ContentBlock)],
        "_meta": {**(reminder.meta or {}), "steering": {"idleBehavior": "promptRequired"}},
    }


def leading_block(reminder: Reminder, entry_id: str, *, host: str, marker: Marker) -> TextContent:
    """Return the marked block of a reminder, for a prompt."""
    return marked_block(marker, reminder.body, entry_id, host=host, tags=reminder.tags, dedupe_key=reminder.dedupe_key)


def _given(**members: Any) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value is not None}
