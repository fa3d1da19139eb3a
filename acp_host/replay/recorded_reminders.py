"""Reminders as the recorded host sent them: :func:`reminder_in`, :func:`leading_in`.

What never went over the wire (a reminder that was shown in the sidebar only) is in no recording.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from acp_host.errors import InvalidInput
from acp_host.reminders import Reminder, ReminderPolicy
from acp_host.state.reminder_entry import Rung
from acp_host.state.reminder_marker import MARKER
from acp_host.wire.content import ContentBlock, TextContent

__all__ = ["CARRIERS", "leading_in", "policy_from", "reminder_in"]

CARRIERS: Mapping[str, Rung] = {
    "session/inject_reminder": Rung.INJECT_REMINDER,
    "session/remind": Rung.REMIND,
}
"""The requests that carry a reminder, and the rung that each is."""

_FIELDS = {
    "dedupe_key": ("dedupeKey", "dedupe_key"),
    "ttl_turns": ("ttlTurns", "ttl_turns"),
    "preserve_on_compact": ("preserveOnCompact", "preserve_on_compact"),
    "propagate": ("propagate",),
    "role_hint": ("roleHint", "role_hint"),
    "mode": ("mode",),
    "authority": ("authority",),
}


def reminder_in(params: Mapping[str, Any]) -> Reminder:
    """Return the reminder that a request carries.

    Raises:
        ReminderInvalid: it is none that this host would send.
    """
    fields = {name: next((params[key] for key in keys if key in params), None) for name, keys in _FIELDS.items()}
    meta = params.get("_meta")
    meta = dict(meta) if isinstance(meta, Mapping) else {}
    harn = meta.get("harn")
    if isinstance(harn, Mapping) and "authority" in harn:
        fields["authority"] = harn["authority"]
        rest = {name: value for name, value in harn.items() if name != "authority"}
        meta = {**meta, "harn": rest} if rest else {name: value for name, value in meta.items() if name != "harn"}
    tags = params.get("tags")
    body: Any = params.get("body")
    return Reminder(body, tags=tags if isinstance(tags, list) else (), meta=meta or None, **fields)


def policy_from(rung: Rung) -> ReminderPolicy:
    """Return the policy by which a reminder goes this way first, and then as by default."""
    ladder = ReminderPolicy().rungs
    return ReminderPolicy(rungs=ladder[ladder.index(rung) :])


def leading_in(blocks: Iterable[ContentBlock]) -> tuple[list[Reminder], tuple[ContentBlock, ...]]:
    """Return the reminders that lead a prompt, and the prompt itself."""
    own = list(blocks)
    leading = []
    while own and (reminder := _marked(own[0])) is not None:
        leading.append(reminder)
        del own[0]
    return leading, tuple(own)


def _marked(block: ContentBlock) -> Reminder | None:
    meta = block.meta.get("acp_host") if isinstance(block, TextContent) and isinstance(block.meta, Mapping) else None
    told = meta.get("reminder") if isinstance(meta, Mapping) else None
    if not isinstance(told, Mapping) or not isinstance(block, TextContent):
        return None
    pieces = MARKER.split(block.text)
    if len(pieces) != 1 or pieces[0].reminder_id is None:
        return None
    try:
        return Reminder(pieces[0].text, tags=told.get("tags") or (), dedupe_key=told.get("dedupeKey"))
    except InvalidInput:
        return None
