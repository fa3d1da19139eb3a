"""Harn's extensions of ``session/update`` as normalised events: :func:`translate_harn`.

Pure, and no input raises: what cannot be used is named, so that it can become a diagnostic. Where the members of an
update are is the business of :mod:`acp_host.translate.harn.payload`; each other module here reads the kinds of one
topic.

Cost: for an update that is known and has no ``_meta.harn``, two look-ups; nothing of the rest is imported for it.
"""

from __future__ import annotations

from attrs import frozen

from acp_host.state.events import SessionEvent
from acp_host.wire.plans import Plan
from acp_host.wire.tool_calls import ToolCall, ToolCallUpdate
from acp_host.wire.updates import SessionUpdate, UnknownSessionUpdate

__all__ = ["HarnReport", "translate_harn"]


@frozen
class HarnReport:
    """What an update says by one of Harn's extensions.

    Attributes:
        events: what it amounts to, in order.
        problems: what of it could not be used; without ``events`` all of it.
        is_update: the update says this and nothing else; its event, if it was one, is not to be folded. Not so of what
            could not be used and does not name Harn: it may be another agent's, of a kind with the same name.
        replayed: the update says of itself that it is part of a replay.
        ends_session: the agent has just ended the session: it waits for no answer any more.
    """

    events: tuple[SessionEvent, ...] = ()
    problems: tuple[str, ...] = ()
    is_update: bool = True
    replayed: bool = False
    ends_session: bool = False


def translate_harn(update: SessionUpdate, *, is_harn: bool = False) -> HarnReport | None:
    """Return what an update says by one of Harn's extensions, or ``None`` if that is nothing.

    Args:
        update: the update.
        is_harn: the agent is known to be Harn; what another one might say as well is Harn's then.
    """
    if isinstance(update, UnknownSessionUpdate):
        from acp_host.translate.harn.kinds import translate_kind

        return translate_kind(update.tag, update.data)
    if isinstance(update, ToolCall | ToolCallUpdate) and (update.meta or update.extra):
        from acp_host.translate.harn.tool_calls import tool_call

        return tool_call(update, is_harn=is_harn)
    if isinstance(update, Plan) and (update.extra or update.meta):
        from acp_host.translate.harn.plan_documents import beside_plan

        return beside_plan(update.extra, update.meta)
    return None
