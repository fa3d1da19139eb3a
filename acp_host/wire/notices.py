"""Notices: what the agent tells the user beside the conversation."""

from __future__ import annotations

import enum
from typing import ClassVar

from acp_host.wire._model import UNSET, JsonObject, Model, NonEmptyStr, Unset, model, wire_field

__all__ = ["Notice", "NoticeSeverity"]


class NoticeSeverity(enum.StrEnum):
    """How a notice should look. Words that begin with ``_`` are an agent's own."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


@model
class Notice(Model):
    """Something for the user to see now. It is no part of the session's history and nobody answers it.

    Attributes:
        title: plain text that says enough by itself.
        description: more, in plain text; absent and ``None`` mean the same.
    """

    session_update: ClassVar[str] = "notice"

    severity: NoticeSeverity | str
    title: NonEmptyStr
    description: str | None | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)
