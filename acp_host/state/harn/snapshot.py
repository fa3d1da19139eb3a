"""What a Harn agent has told beside the conversation, at one moment: :class:`HarnSnapshot`."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import field

from acp_host.state._value import value
from acp_host.state.harn.artifacts import Artifact
from acp_host.state.harn.handoffs import Handoff
from acp_host.state.harn.live_clients import LiveClientsSnapshot
from acp_host.state.harn.skills import SkillsSnapshot
from acp_host.state.harn.workers import Worker
from acp_host.wire._model import NO_EXTRA

__all__ = ["HarnSnapshot"]


@value
class HarnSnapshot:
    """One member a topic; each is the same object as in the snapshot before if nothing in it changed.

    Attributes:
        workers: the agent's workers by id.
        skills: the skills that it works by, and which tools are left to it.
        artifacts: what it has made to be looked at, by id.
        handoffs: work that it hands to somebody else, by id.
        live_clients: who else is attached to the session, and who controls it; ``None`` if it never said.
    """

    workers: Mapping[str, Worker] = NO_EXTRA
    skills: SkillsSnapshot = field(factory=SkillsSnapshot)
    artifacts: Mapping[str, Artifact] = NO_EXTRA
    handoffs: Mapping[str, Handoff] = NO_EXTRA
    live_clients: LiveClientsSnapshot | None = None
