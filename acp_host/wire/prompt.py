"""The prompt turn: the user's message, why the agent stopped, and the wish to stop it."""

from __future__ import annotations

import enum

from acp_host.wire._model import UNSET, JsonObject, Model, Unset, model, wire_field
from acp_host.wire.content import ContentBlock
from acp_host.wire.ids import SessionId
from acp_host.wire.usage import Usage

__all__ = ["CancelNotification", "PromptRequest", "PromptResponse", "StopReason"]


class StopReason(enum.StrEnum):
    """Why a turn is over.

    ``refusal``: the agent would not go on, and forgets this prompt and all that followed it. ``cancelled``: the host
    asked for it, and nothing else.
    """

    END_TURN = "end_turn"
    MAX_TOKENS = "max_tokens"
    MAX_TURN_REQUESTS = "max_turn_requests"
    REFUSAL = "refusal"
    CANCELLED = "cancelled"


@model
class PromptRequest(Model):
    """The user's message (``session/prompt``). It is answered when the turn is over.

    Attributes:
        prompt: text and resource links go to every agent, other blocks only where its prompt capabilities say so.
    """

    session_id: SessionId
    prompt: tuple[ContentBlock, ...]
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class PromptResponse(Model):
    """The turn is over.

    Attributes:
        usage: tokens of this turn. Unstable.
    """

    stop_reason: StopReason | str
    usage: Usage | None | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class CancelNotification(Model):
    """Stop the turn that is running in a session (``session/cancel``).

    The prompt is still answered, and updates may still come before that answer.
    """

    session_id: SessionId
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)
