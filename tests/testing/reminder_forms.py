"""Reminders on the wire as JSON Schema: the RFC's forms and Harn's, which no upstream schema has."""

from __future__ import annotations

from typing import Any

from jsonschema import Draft202012Validator

TEXT = {"type": "string", "minLength": 1}
TEXTS = {"type": "array", "items": TEXT}
TURN = {"type": "integer", "minimum": 0}
META = {"type": "object"}


def closed(required: dict[str, Any], optional: dict[str, Any]) -> dict[str, Any]:
    properties = required | optional
    return {
        "type": "object",
        "properties": properties,
        "required": sorted(required),
        "additionalProperties": False,
    }


def update(kind: str, required: dict[str, Any], optional: dict[str, Any]) -> dict[str, Any]:
    return closed({"sessionUpdate": {"const": kind}, **required}, {**optional, "_meta": META})


SOURCE = {"enum": ["host", "provider", "hook", "bridge", "inherited"]}
RFC_EMITTED = update(
    "reminder_emitted",
    {"reminderId": TEXT, "body": TEXT, "source": SOURCE},
    {"tags": TEXTS, "dedupeKey": TEXT, "providerId": TEXT, "firedAtTurn": TURN},
)
HARN_SOURCE = {"enum": ["stdlib_provider", "hook", "bridge", "in_pipeline", "inherited"]}
HARN_REMINDER = closed(
    {
        "reminderId": TEXT,
        "tags": TEXTS,
        "body": TEXT,
        "roleHint": {"enum": ["system", "developer", "user_block", "ephemeral_cache"]},
        "renderedRole": {"enum": ["system", "developer", "user"]},
        "source": HARN_SOURCE,
        "ttlTurns": {"type": ["integer", "null"], "minimum": 1},
    },
    {"authority": {"enum": ["contract", "corrective", "advisory"]}},
)
HARN_META = closed({"harn": closed({"reminder": HARN_REMINDER}, {"replayed": {"const": True}})}, {})
UPDATES: dict[str, dict[str, Any]] = {
    "reminder_emitted": {
        "oneOf": [RFC_EMITTED, closed({"sessionUpdate": {"const": "reminder_emitted"}, "_meta": HARN_META}, {})]
    },
    "reminder_deduped": update(
        "reminder_deduped", {"reminderId": TEXT, "dedupeKey": TEXT, "droppedReminderIds": {**TEXTS, "minItems": 1}}, {}
    ),
    "reminder_expired": update(
        "reminder_expired",
        {"reminderId": TEXT, "phase": {"enum": ["ttl_expired", "cleared", "compacted_out"]}},
        {"expiredAtTurn": TURN},
    ),
}
ROW = {
    "type": "object",
    "properties": {"kind": {"const": "reminder"}, "reminderId": TEXT, "body": TEXT, "tags": TEXTS, "source": TEXT},
    "required": ["kind", "reminderId", "mode", "body", "tags", "dedupeKey", "ttlTurns", "roleHint", "source"],
}
RESULTS: dict[str, dict[str, Any]] = {
    "session/inject_reminder": closed({"reminderId": TEXT}, {"dedupedCount": TURN}),
    "session/remind": closed({"reminderId": TEXT}, {}),
    "session/pending_injections": closed({"pendingCount": TURN, "injections": {"type": "array", "items": ROW}}, {}),
    "session/revoke_reminder": closed({"reminderId": TEXT, "status": {"enum": ["revoked", "already_revoked"]}}, {}),
}


def validate_update(found: dict[str, Any]) -> None:
    Draft202012Validator(UPDATES[found["sessionUpdate"]]).validate(found)


def validate_result(method: str, result: Any) -> None:
    Draft202012Validator(RESULTS[method]).validate(result)
