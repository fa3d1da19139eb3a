"""What a host can say to the model beside the user: :class:`Reminder`.

A reminder is validated when it is made, so that nothing wrong ever reaches an agent.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from typing import Any

import attrs
from attrs import field, frozen

from acp_host.errors import InvalidInput, ReminderInvalid
from acp_host.state.reminder_entry import Authority, Propagate, ReminderMode, RoleHint
from acp_host.wire.codec import encode

__all__ = ["Reminder", "reminder_of"]

_OLD_MODES = {"wait_for_completion": ReminderMode.AUDIT_ONLY}


def _body(instance: Any, attribute: Any, value: Any) -> None:
    if not isinstance(value, str) or not value.strip():
        raise ReminderInvalid(f"body is a text that is not empty, not {value!r}", field="body")


def _tags(value: Any) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise ReminderInvalid(f"tags is a sequence of texts, not {value!r}", field="tags")
    tags = tuple(value)
    for tag in tags:
        if not isinstance(tag, str) or not tag.strip():
            raise ReminderInvalid(f"each of tags is a text that is not empty, not {tag!r}", field="tags")
    return tuple(dict.fromkeys(tag.strip() for tag in tags))


def _dedupe_key(instance: Any, attribute: Any, value: Any) -> None:
    if value is not None and (not isinstance(value, str) or not value.strip()):
        raise ReminderInvalid(f"dedupe_key is a text that is not empty, not {value!r}", field="dedupe_key")


def _ttl_turns(instance: Any, attribute: Any, value: Any) -> None:
    if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 1):
        raise ReminderInvalid(f"ttl_turns is a number of turns, 1 or more, not {value!r}", field="ttl_turns")


def _flag(instance: Any, attribute: Any, value: Any) -> None:
    if value is not None and not isinstance(value, bool):
        raise ReminderInvalid(
            f"preserve_on_compact is True or False, not {value!r}",
            field="preserve_on_compact",
            allowed=("True", "False"),
        )


def _word(vocabulary: type[StrEnum]) -> Callable[[Any, Any, Any], None]:
    allowed = tuple(str(word) for word in vocabulary)

    def check(instance: Any, attribute: Any, value: Any) -> None:
        if value is not None and value not in allowed:
            text = f"{attribute.name} is one of {', '.join(allowed)}, not {value!r}"
            raise ReminderInvalid(text, field=attribute.name, allowed=allowed)

    return check


def _mode(value: Any) -> Any:
    if value is None:
        return ReminderMode.FINISH_STEP
    if isinstance(value, str) and value in _OLD_MODES:
        new = _OLD_MODES[value]
        warnings.warn(f"the reminder mode {value!r} is now called {new.value!r}", DeprecationWarning, stacklevel=3)
        return new
    return value


def _meta(instance: Any, attribute: Any, value: Any) -> None:
    if value is None:
        return
    if not isinstance(value, Mapping):
        raise ReminderInvalid(f"meta is a JSON object, not {value!r}", field="meta")
    try:
        encode(value)
    except InvalidInput as error:
        raise ReminderInvalid(f"meta has no JSON form: {error}", field="meta") from error


@frozen
class Reminder:
    """Short-lived context for the model that the user did not type.

    Attributes:
        body: the text.
        tags: for people and queries; duplicates are left out.
        dedupe_key: a newer reminder with the same key replaces this one.
        ttl_turns: for how many turns it holds; ``None`` until it is cleared.
        preserve_on_compact: whether it survives a compaction; ``None`` leaves it to the agent (no).
        propagate: one of :class:`~acp_host.state.reminder_entry.Propagate`; ``None`` leaves it to the agent
            (``session``).
        role_hint: one of :class:`~acp_host.state.reminder_entry.RoleHint`; ``None`` leaves it to the agent
            (``system``).
        mode: one of :class:`~acp_host.state.reminder_entry.ReminderMode`.
        authority: one of :class:`~acp_host.state.reminder_entry.Authority`, for Harn; ``None`` sends none.
        meta: ``_meta`` for the agent.

    Raises:
        ReminderInvalid: a value is wrong; names the field and the values that are allowed.
    """

    body: str = field(validator=_body)
    tags: tuple[str, ...] = field(default=(), converter=_tags, kw_only=True)
    dedupe_key: str | None = field(default=None, validator=_dedupe_key, kw_only=True)
    ttl_turns: int | None = field(default=None, validator=_ttl_turns, kw_only=True)
    preserve_on_compact: bool | None = field(default=None, validator=_flag, kw_only=True)
    propagate: str | None = field(default=None, validator=_word(Propagate), kw_only=True)
    role_hint: str | None = field(default=None, validator=_word(RoleHint), kw_only=True)
    mode: str = field(default=ReminderMode.FINISH_STEP, converter=_mode, validator=_word(ReminderMode), kw_only=True)
    authority: str | None = field(default=None, validator=_word(Authority), kw_only=True)
    meta: Mapping[str, Any] | None = field(default=None, validator=_meta, kw_only=True)


_FIELDS = tuple(attribute.name for attribute in attrs.fields(Reminder))


def reminder_of(body: str | Reminder, fields: Mapping[str, Any]) -> Reminder:
    """Return the reminder that a caller means by a text, or by a reminder, and further fields.

    Raises:
        ReminderInvalid: a field does not exist, or its value is wrong.
    """
    for name in fields:
        if name not in _FIELDS:
            text = f"a reminder has no field {name!r}; it has {', '.join(_FIELDS)}"
            raise ReminderInvalid(text, field=name, allowed=_FIELDS)
    if isinstance(body, Reminder):
        return attrs.evolve(body, **fields) if fields else body
    return Reminder(body, **fields)
