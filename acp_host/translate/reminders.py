"""What agents say about reminders, as events of the panel: :func:`translate_reminder`, :func:`translate_pending`.

Three spellings are read: updates of their own with the fields at the top, the same with the fields in
``_meta.harn.reminder``, and that object beside any other update. Pure, and no input raises: what cannot be used is
named, so that it can become a diagnostic.

Cost: for an update without ``_meta`` two attribute look-ups.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import frozen

from acp_host.state.reminder_events import (
    ListedReminder,
    ReminderDeduped,
    ReminderEmitted,
    ReminderExpired,
    RemindersListed,
)
from acp_host.translate.content import content_of
from acp_host.wire.content import ContentBlock
from acp_host.wire.harn.members import harn_meta
from acp_host.wire.updates import SessionUpdate, UnknownSessionUpdate

__all__ = [
    "REMINDER_UPDATES",
    "ListedMessage",
    "PendingInjections",
    "ReminderReport",
    "translate_pending",
    "translate_reminder",
]

_EMITTED, _DEDUPED, _EXPIRED = "reminder_emitted", "reminder_deduped", "reminder_expired"
REMINDER_UPDATES = frozenset({_EMITTED, _DEDUPED, _EXPIRED})
"""The kinds of update that are about reminders and nothing else."""
_MODES = {"finish_step": "steer", "audit_only": "queue"}
"""What the modes of messages are called in lists, and in requests."""


@frozen
class ReminderReport:
    """What an update says about a reminder.

    Attributes:
        event: the event; ``None`` if it cannot be used.
        problem: why not; ``None`` if it can.
        is_update: the update is about the reminder and nothing else.
    """

    event: ReminderEmitted | ReminderDeduped | ReminderExpired | None
    problem: str | None = None
    is_update: bool = False


@frozen
class ListedMessage:
    """A message of a user that an agent holds.

    Attributes:
        message_id: the agent's id of it.
        mode: when the model gets it, in the word of ``session/inject``; another word is as sent.
        content: what it says.
    """

    message_id: str
    mode: str | None = None
    content: tuple[ContentBlock, ...] = ()


@frozen
class PendingInjections:
    """What an agent holds for its next requests to the model.

    Attributes:
        reminders: the reminders among it.
        others: the rows that are neither reminders nor messages, as sent.
        problem: what could not be used; ``None`` if all could.
        messages: what users have said while the agent works.
    """

    reminders: tuple[ListedReminder, ...] = ()
    others: tuple[Any, ...] = ()
    problem: str | None = None
    messages: tuple[ListedMessage, ...] = ()

    def event(self, asked: frozenset[str]) -> RemindersListed:
        """Return the panel's event; ``asked`` are the entries that the agent had when it was asked."""
        return RemindersListed(self.reminders, asked)


def translate_reminder(update: SessionUpdate, *, replayed: bool = False) -> ReminderReport | None:
    """Return what an update says about a reminder, or ``None`` if that is nothing.

    Args:
        update: any update.
        replayed: it is part of a replay; an update that says so itself need not be told apart.
    """
    root: Mapping[str, Any]
    if isinstance(update, UnknownSessionUpdate):
        kind, root = update.tag, update.data
        meta = root.get("_meta")
    else:
        kind, root, meta = "", {}, update.meta
    harn = harn_meta(meta)
    nested = harn.get("reminder")
    if kind not in REMINDER_UPDATES and nested is None:
        return None
    if nested is not None and not isinstance(nested, Mapping):
        return ReminderReport(None, "_meta.harn.reminder is no object", kind in REMINDER_UPDATES)
    replayed = replayed or harn.get("replayed") is True
    if kind not in REMINDER_UPDATES:
        return _emitted(nested or {}, None, replayed, decoration=True)
    payload = {name: value for name, value in root.items() if name != "_meta"} | dict(nested or {})
    if kind == _EMITTED:
        return _emitted(payload, _own_meta(meta), replayed, decoration=False)
    return _deduped(payload, replayed) if kind == _DEDUPED else _expired(payload, replayed)


def translate_pending(result: Any) -> PendingInjections:
    """Return what an answer to ``session/pending_injections`` holds."""
    rows = _object(result).get("injections")
    if not isinstance(rows, list):
        return PendingInjections(problem="the answer has no list of injections")
    reminders, messages, others = [], [], []
    for row in rows:
        kind = row.get("kind") if isinstance(row, Mapping) else None
        if kind == "reminder":
            reminders.append(_listed(row))
        elif kind == "user":
            messages.append(_message(row))
        else:
            others.append(row)
    unusable = reminders.count(None) + messages.count(None)
    return PendingInjections(
        tuple([reminder for reminder in reminders if reminder is not None]),
        tuple(others),
        f"{unusable} pending reminders or messages have no id" if unusable else None,
        tuple([message for message in messages if message is not None]),
    )


def _listed(row: Mapping[str, Any]) -> ListedReminder | None:
    agent_id = _text(row.get("reminderId")) or _text(row.get("id"))
    if agent_id is None:
        return None
    return ListedReminder(
        reminder_id=agent_id,
        body=_text(row.get("body")) or "",
        tags=_texts(row.get("tags")),
        dedupe_key=_text(row.get("dedupeKey")),
        source=_text(row.get("source")),
        mode=_text(row.get("mode")),
        propagate=_text(row.get("propagate")),
        preserve_on_compact=_flag(row.get("preserveOnCompact")),
        role_hint=_text(row.get("roleHint")),
        ttl_turns=_number(row.get("ttlTurns"), 1),
        fired_at_turn=_number(row.get("firedAtTurn"), 0),
        originating_agent_id=_text(row.get("originatingAgentId")),
    )


def _message(row: Mapping[str, Any]) -> ListedMessage | None:
    message_id = _text(row.get("messageId")) or _text(row.get("id"))
    if message_id is None:
        return None
    mode = _text(row.get("mode"))
    return ListedMessage(message_id, _MODES.get(mode, mode) if mode else None, content_of(row.get("content"), []))


def _emitted(
    payload: Mapping[str, Any], meta: Mapping[str, Any] | None, replayed: bool, *, decoration: bool
) -> ReminderReport:
    agent_id, body = _text(payload.get("reminderId")), _text(payload.get("body"))
    if agent_id is None or body is None:
        return ReminderReport(None, "an emitted reminder has no reminderId or no body", not decoration)
    event = ReminderEmitted(
        reminder_id=agent_id,
        body=body,
        tags=_texts(payload.get("tags")),
        dedupe_key=_text(payload.get("dedupeKey")),
        source=_text(payload.get("source")),
        provider_id=_text(payload.get("providerId")),
        originating_agent_id=_text(payload.get("originatingAgentId")),
        fired_at_turn=_number(payload.get("firedAtTurn"), 0),
        role_hint=_text(payload.get("roleHint")),
        rendered_role=_text(payload.get("renderedRole")),
        authority=_text(payload.get("authority")),
        ttl_turns=_number(payload.get("ttlTurns"), 1),
        meta=meta,
        decoration=decoration,
        replayed=replayed,
    )
    return ReminderReport(event, None, not decoration)


def _deduped(payload: Mapping[str, Any], replayed: bool) -> ReminderReport:
    agent_id = _text(payload.get("reminderId"))
    if agent_id is None:
        return ReminderReport(None, "a deduped reminder has no reminderId", True)
    dropped = _texts(payload.get("droppedReminderIds"))
    return ReminderReport(ReminderDeduped(agent_id, _text(payload.get("dedupeKey")), dropped, replayed), None, True)


def _expired(payload: Mapping[str, Any], replayed: bool) -> ReminderReport:
    agent_id = _text(payload.get("reminderId"))
    if agent_id is None:
        return ReminderReport(None, "an expired reminder has no reminderId", True)
    turn = _number(payload.get("expiredAtTurn"), 0)
    return ReminderReport(ReminderExpired(agent_id, _text(payload.get("phase")) or "", turn, replayed), None, True)


def _own_meta(meta: Any) -> Mapping[str, Any] | None:
    """Return ``_meta`` without what was read from it."""
    kept = {name: value for name, value in _object(meta).items() if name != "harn"}
    harn = {name: value for name, value in harn_meta(meta).items() if name not in ("reminder", "replayed")}
    return kept | ({"harn": harn} if harn else {}) or None


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value.strip() else None


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(item for item in value if isinstance(item, str) and item) if isinstance(value, list) else ()


def _number(value: Any, least: int) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= least else None


def _flag(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None
