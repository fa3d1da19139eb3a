"""What a Harn agent has told beside the conversation, at one moment: :class:`HarnSnapshot`."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import field

from acp_host.state._value import value
from acp_host.state.collections import Recent
from acp_host.state.harn.agent_events import AgentEvent, TurnPhase
from acp_host.state.harn.agent_loop import Alert
from acp_host.state.harn.artifacts import Artifact
from acp_host.state.harn.compactions import Compaction, Projection
from acp_host.state.harn.composition_runs import CompositionRun
from acp_host.state.harn.file_watches import WatchedChange
from acp_host.state.harn.handoffs import Handoff
from acp_host.state.harn.human_requests import HumanRequest
from acp_host.state.harn.idle import Idle
from acp_host.state.harn.live_clients import LiveClientsSnapshot
from acp_host.state.harn.logs import LogLine
from acp_host.state.harn.model_calls import ModelCall
from acp_host.state.harn.plan_documents import PlanDocument
from acp_host.state.harn.progress import Progress
from acp_host.state.harn.skills import SkillsSnapshot
from acp_host.state.harn.staged_writes import StagedWrites
from acp_host.state.harn.text_patches import TextPatch
from acp_host.state.harn.tool_searches import ToolSearch
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
        human_requests: what it wants from a person, by id.
        progress: how far it has come, by phase.
        narration: what it says of its work meanwhile.
        logs: what it writes to its log.
        staged_writes: what it has written and not yet brought to the files; ``None`` if it never said.
        text_patches: the patches that it has put on files.
        file_watches: what it sees happen to files that it watches.
        tool_searches: how it looks for tools, by id.
        compactions: when it has put the conversation into fewer words.
        projections: when it has left something out of what the model is sent.
        composition_runs: the programs that it composes of its tools, by id.
        plan_documents: its plans as documents, by id.
        turn_phase: how far the answer to a prompt has come; ``None`` if it does not say.
        alerts: what it tells of its loop that a user should see.
        agent_events: all that it tells of its loop.
        idle: how it waits for something to happen; ``None`` if it does not.
        model_calls: measurements of the calls of the model, by id.
    """

    workers: Mapping[str, Worker] = NO_EXTRA
    skills: SkillsSnapshot = field(factory=SkillsSnapshot)
    artifacts: Mapping[str, Artifact] = NO_EXTRA
    handoffs: Mapping[str, Handoff] = NO_EXTRA
    live_clients: LiveClientsSnapshot | None = None
    human_requests: Mapping[str, HumanRequest] = NO_EXTRA
    progress: Mapping[str, Progress] = NO_EXTRA
    narration: Recent[Progress] = field(factory=Recent)
    logs: Recent[LogLine] = field(factory=Recent)
    staged_writes: StagedWrites | None = None
    text_patches: Recent[TextPatch] = field(factory=Recent)
    file_watches: Recent[WatchedChange] = field(factory=Recent)
    tool_searches: Mapping[str, ToolSearch] = NO_EXTRA
    compactions: Recent[Compaction] = field(factory=Recent)
    projections: Recent[Projection] = field(factory=Recent)
    composition_runs: Mapping[str, CompositionRun] = NO_EXTRA
    plan_documents: Mapping[str, PlanDocument] = NO_EXTRA
    turn_phase: TurnPhase | None = None
    alerts: Recent[Alert] = field(factory=Recent)
    agent_events: Recent[AgentEvent] = field(factory=Recent)
    idle: Idle | None = None
    model_calls: Mapping[str, ModelCall] = NO_EXTRA
