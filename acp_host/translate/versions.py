"""The translator of updates for the version that is spoken: :func:`update_translator`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attrs import frozen

from acp_host.state import events
from acp_host.translate import v1
from acp_host.wire.chunk_runs import ChunkRun

__all__ = ["UpdateTranslator", "update_translator"]


@frozen
class UpdateTranslator:
    """Makes events of updates.

    Attributes:
        translate: returns the event that an update stands for, or ``None`` where it is none of the conversation.
        translate_run: returns the event that stands for all chunks of a run.
        plain: the kinds of update that, without ``_meta``, are not about reminders.
    """

    translate: Callable[[Any], events.SessionEvent | None]
    translate_run: Callable[[ChunkRun], events.TextStreamed]
    plain: frozenset[Any]


def update_translator(protocol_version: int) -> UpdateTranslator:
    """Return what translates the updates of an agent that speaks this version."""
    if protocol_version == 2:
        from acp_host.translate.v2 import updates  # loaded for agents of version 2 only

        return UpdateTranslator(updates.translate, updates.translate_run, updates.PLAIN)
    return UpdateTranslator(v1.translate, v1.translate_run, v1.PLAIN)
