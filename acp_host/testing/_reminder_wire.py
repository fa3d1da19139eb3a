"""Reminders of the reference agent on the wire, in two spellings: that of the RFC (camelCase) and Harn's.

Reading is as strict as an agent can be, so that a host that sends something else is found out. Nothing here is part of
the ACP schema yet; so these are plain JSON objects, checked here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from attrs import field, frozen

from acp_host.errors import InvalidParams
from acp_host.state.reminder_entry import Authority, Propagate, ReminderMode, RoleHint
from acp_host.testing._reminder_shelf import AgentReminder, Source
from acp_host.wire.updates import UnknownSessionUpdate

__all__ = [
    "PROPAGATE",
    "ROLE_HINTS",
    "deduped",
    "emitted",
    "expired",
    "harn_emitted",
    "harn_form",
    "pending_row",
    "read_inject_reminder",
    "read_remind",
    "string_member",
]

PROPAGATE: tuple[str, ...] = (Propagate.ALL, Propagate.SESSION, Propagate.NONE)
ROLE_HINTS: tuple[str, ...] = (RoleHint.SYSTEM, RoleHint.DEVELOPER, RoleHint.USER_BLOCK)
"""What ``session/inject_reminder`` takes; some hint is left out on purpose, so that hosts have something to fit."""

_HARN_KEYS = frozenset(
    {
        "authority",
        "body",
        "dedupe_key",
        "fired_at_turn",
        "id",
        "preserve_on_compact",
        "propagate",
        "role_hint",
        "source",
        "tags",
        "ttl_turns",
        "_meta",
    }
)
_KEYS_OF_NEWER_BUILDS = frozenset({"authority", "id"})
_HARN_SOURCES = {Source.HOST: "bridge", Source.PROVIDER: "stdlib_provider"}


def string_member(params: Any, name: str) -> str | None:
    """Return a member of the parameters that is a text and not empty, or ``None``."""
    value = params.get(name) if isinstance(params, Mapping) else None
    return value if isinstance(value, str) and value.strip() else None


@frozen
class _Members:
    """The members of a JSON object, each checked when it is asked for.

    Attributes:
        of: the object.
        wrong: makes the error for a member, out of its name and what it should be.
    """

    of: Mapping[str, Any]
    wrong: Callable[[str, str], InvalidParams] = field(repr=False)

    def text(self, name: str) -> str | None:
        value = self.of.get(name)
        if name in self.of and (not isinstance(value, str) or not value.strip()):
            raise self.wrong(name, "a text that is not empty")
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        value = self.of.get(name, [])
        if not isinstance(value, list) or not all(isinstance(item, str) and item.strip() for item in value):
            raise self.wrong(name, "a list of texts, none of them empty")
        return tuple(dict.fromkeys(item.strip() for item in value))

    def number(self, name: str, least: int) -> int | None:
        value = self.of.get(name)
        if name in self.of and (not isinstance(value, int) or isinstance(value, bool) or value < least):
            raise self.wrong(name, f"a whole number of at least {least}")
        return value

    def flag(self, name: str) -> bool:
        value = self.of.get(name, False)
        if not isinstance(value, bool):
            raise self.wrong(name, "true or false")
        return value

    def word(self, name: str, allowed: Collection[str], default: str) -> str:
        value = self.of.get(name, default)
        if value not in tuple(allowed):
            raise self.wrong(name, f"one of {', '.join(allowed)}")
        return str(value)

    def json_object(self, name: str) -> Mapping[str, Any]:
        value = self.of.get(name, {})
        if not isinstance(value, Mapping):
            raise self.wrong(name, "an object")
        return value


# --- what the host sends ----------------------------------------------------------------------------------------------


def read_inject_reminder(params: Any) -> dict[str, Any]:
    """Return what ``session/inject_reminder`` says of a reminder, as attributes of :class:`AgentReminder`.

    Raises:
        InvalidParams: something is wrong; ``null`` is wrong everywhere.
    """

    def wrong(name: str, wanted: str) -> InvalidParams:
        return InvalidParams(f"{name} must be {wanted}", data={"path": f"$.params.{name}"})

    members = _Members(params if isinstance(params, Mapping) else {}, wrong)
    body = members.text("body")
    if body is None:
        raise wrong("body", "there")
    harn = members.json_object("_meta").get("harn")
    return {
        "body": body,
        "tags": members.texts("tags"),
        "dedupe_key": members.text("dedupeKey"),
        "ttl_turns": members.number("ttlTurns", 1),
        "preserve_on_compact": members.flag("preserveOnCompact"),
        "propagate": members.word("propagate", PROPAGATE, Propagate.SESSION),
        "role_hint": members.word("roleHint", ROLE_HINTS, RoleHint.SYSTEM),
        "mode": members.word("mode", tuple(ReminderMode), ReminderMode.FINISH_STEP),
        "authority": harn.get("authority") if isinstance(harn, Mapping) else None,
    }


def read_remind(params: Any, *, old: bool) -> dict[str, Any]:
    """Return what ``session/remind`` says of a reminder, as attributes of :class:`AgentReminder`.

    Its members may stand in an object ``reminder``. ``null`` counts as absent, and texts are trimmed. A missing mode,
    or one that is not known, is taken for ``audit_only``.

    Args:
        params: the parameters.
        old: take what an older build took.

    Raises:
        InvalidParams: something is wrong; the message holds Harn's code for it.
    """
    outer = {name: value for name, value in params.items() if value is not None}
    mode = outer.get("mode")
    outer = {name: value for name, value in outer.items() if name not in ("sessionId", "mode")}
    nested = outer.pop("reminder", None)
    if nested is not None and not isinstance(nested, Mapping):
        raise _rmd("002", "reminder must be an object")
    given = outer | {name: value for name, value in (nested or {}).items() if value is not None}
    if "content" in given:
        raise _rmd("002", "the text belongs into `body`, not `content`")
    unknown = given.keys() - (_HARN_KEYS - _KEYS_OF_NEWER_BUILDS if old else _HARN_KEYS)
    if unknown:
        raise _rmd("001", f"unknown reminder option(s): {', '.join(sorted(unknown))}")
    members = _Members(
        {name: value.strip() if isinstance(value, str) else value for name, value in given.items()},
        lambda name, wanted: _rmd("005" if name == "propagate" else "002", f"{name} must be {wanted}"),
    )
    return _remind_members(members, mode)


def _remind_members(members: _Members, mode: Any) -> dict[str, Any]:
    body = members.text("body")
    if body is None:
        raise _rmd("002", "body must be there")
    members.word("source", ("bridge",), "bridge")
    members.json_object("_meta")
    fired = members.number("fired_at_turn", 0)
    authority = members.word("authority", tuple(Authority), Authority.CONTRACT)
    read = {
        "id": members.text("id"),
        "body": body,
        "tags": members.texts("tags"),
        "dedupe_key": members.text("dedupe_key"),
        "ttl_turns": members.number("ttl_turns", 1),
        "preserve_on_compact": members.flag("preserve_on_compact"),
        "propagate": members.word("propagate", PROPAGATE, Propagate.SESSION),
        "role_hint": members.word("role_hint", tuple(RoleHint), RoleHint.SYSTEM),
        "mode": mode if mode in tuple(ReminderMode) else ReminderMode.AUDIT_ONLY,
        "authority": authority if "authority" in members.of else None,
    }
    return read if fired is None else {**read, "fired_at_turn": fired}


def _rmd(number: str, problem: str) -> InvalidParams:
    return InvalidParams(f"session/remind: HARN-RMD-{number}: {problem}")


# --- what the agent sends ---------------------------------------------------------------------------------------------


def emitted(reminder: AgentReminder) -> UnknownSessionUpdate:
    """Return ``reminder_emitted`` in the form of the RFC."""
    return _update(
        "reminder_emitted",
        reminderId=reminder.id,
        body=reminder.body,
        tags=list(reminder.tags) or None,
        dedupeKey=reminder.dedupe_key,
        source=str(reminder.source),
        providerId=reminder.provider_id,
        firedAtTurn=reminder.fired_at_turn,
    )


def deduped(winner: AgentReminder, dropped: Iterable[AgentReminder]) -> UnknownSessionUpdate:
    """Return ``reminder_deduped``."""
    ids = [reminder.id for reminder in dropped]
    return _update("reminder_deduped", reminderId=winner.id, dedupeKey=winner.dedupe_key, droppedReminderIds=ids)


def expired(reminder: AgentReminder, phase: str, turn: int) -> UnknownSessionUpdate:
    """Return ``reminder_expired``; ``phase`` is ``ttl_expired``, ``cleared`` or ``compacted_out``."""
    return _update("reminder_expired", reminderId=reminder.id, phase=phase, expiredAtTurn=turn)


def harn_emitted(reminder: AgentReminder) -> UnknownSessionUpdate:
    """Return ``reminder_emitted`` in Harn's form."""
    return _update("reminder_emitted", _meta={"harn": {"reminder": harn_form(reminder)}})


def harn_form(reminder: AgentReminder) -> dict[str, Any]:
    """Return what Harn puts under ``_meta.harn.reminder``."""
    form = {
        "reminderId": reminder.id,
        "tags": list(reminder.tags),
        "body": reminder.body,
        "roleHint": reminder.role_hint,
        "renderedRole": reminder.rendered_role,
        "source": _HARN_SOURCES.get(reminder.source, str(reminder.source)),
        "ttlTurns": reminder.ttl_turns,
    }
    return form if reminder.authority is None else {**form, "authority": reminder.authority}


def pending_row(reminder: AgentReminder, position: int) -> dict[str, Any]:
    """Return a row of ``session/pending_injections``."""
    return {
        "kind": "reminder",
        "id": reminder.id,
        "reminderId": reminder.id,
        "mode": reminder.mode,
        "position": position,
        "body": reminder.body,
        "tags": list(reminder.tags),
        "dedupeKey": reminder.dedupe_key,
        "ttlTurns": reminder.ttl_turns,
        "preserveOnCompact": reminder.preserve_on_compact,
        "propagate": reminder.propagate,
        "roleHint": reminder.role_hint,
        "source": _HARN_SOURCES.get(reminder.source, str(reminder.source)),
        "firedAtTurn": reminder.fired_at_turn,
        "originatingAgentId": reminder.originating_agent_id,
    }


def _update(kind: str, **members: Any) -> UnknownSessionUpdate:
    given = {name: value for name, value in members.items() if value is not None}
    return UnknownSessionUpdate(kind, {"sessionUpdate": kind, **given})
