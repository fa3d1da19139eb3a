"""That the model has been given something the user said while the agent works; the kind ``user_message``."""

from __future__ import annotations

from acp_host.state.injections import UserMessageTold
from acp_host.translate.content import content_of
from acp_host.translate.harn.payload import Payload, Unusable

__all__ = ["user_message"]


def user_message(payload: Payload) -> tuple[UserMessageTold, ...]:
    """Read ``user_message``.

    Raises:
        Unusable: it neither says which message, nor what is in it.
    """
    message_id, content = payload.text("messageId"), content_of(payload.any("content"), payload.problems)
    if message_id is None and not content:
        raise Unusable("messageId is missing, and so is content")
    return (UserMessageTold(message_id, content),)
