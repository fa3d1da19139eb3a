"""What a Harn agent has told beside the conversation, at one moment: :class:`HarnSnapshot`."""

from __future__ import annotations

from collections.abc import Mapping

from acp_host.state._value import value
from acp_host.state.harn.workers import Worker
from acp_host.wire._model import NO_EXTRA

__all__ = ["HarnSnapshot"]


@value
class HarnSnapshot:
    """One member a topic; each is the same object as in the snapshot before if nothing in it changed.

    Attributes:
        workers: the agent's workers by id.
    """

    workers: Mapping[str, Worker] = NO_EXTRA
