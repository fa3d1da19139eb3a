"""What a Harn agent tells beside the conversation, reactive: :class:`HarnState`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from acp_host.state._value import is_same
from acp_host.state.change_signal import Report
from acp_host.state.changes import ChangeKind
from acp_host.state.clock import Scheduler
from acp_host.state.events import HarnEvent, SessionEvent
from acp_host.state.harn.agent_loop import AgentEvents, Alerts, TurnPhases
from acp_host.state.harn.artifacts import Artifacts
from acp_host.state.harn.compactions import Compactions, Projections
from acp_host.state.harn.composition_runs import CompositionRuns
from acp_host.state.harn.file_watches import FileWatches
from acp_host.state.harn.handoffs import Handoffs
from acp_host.state.harn.human_requests import HumanRequests
from acp_host.state.harn.idle import Idling
from acp_host.state.harn.live_clients import LiveClients
from acp_host.state.harn.logs import Logs
from acp_host.state.harn.model_calls import ModelCalls
from acp_host.state.harn.plan_documents import PlanDocuments
from acp_host.state.harn.progress import Narration, ProgressReports
from acp_host.state.harn.skills import Skills
from acp_host.state.harn.snapshot import HarnSnapshot
from acp_host.state.harn.staged_writes import StagedWriting
from acp_host.state.harn.text_patches import TextPatches
from acp_host.state.harn.tool_searches import ToolSearches
from acp_host.state.harn.workers import Workers
from acp_host.state.observable import Observable

__all__ = ["HarnState"]

_OF_THE_PRESENT = ("live_clients", "idle")
"""Topics that are no history: a replay takes the place of nothing in them."""


class Topic(Protocol):
    """One thing that a Harn agent tells of: a reducer of its events, and what it has folded them into."""

    def reducers(self) -> Mapping[type, Callable[[Any], None]]:
        """Return the method for each class of event that concerns the topic, of the conversation's too."""

    def freeze(self) -> Any:
        """Return the topic as it is now; what did not change is the same object as before."""


class HarnState(Observable[HarnSnapshot]):
    """What one session's agent told of the topics of :class:`HarnSnapshot`.

    Sections of its change sets: the attributes of the snapshot, with ids as keys where a topic has ids. In the change
    sets of the session's state, ``harn`` is the section and ``topic`` or ``topic/id`` the key.

    Args:
        scheduler: decides when observers are called.
        report: as for :class:`~acp_host.state.observable.Observable`.
        problem: called with what is wrong with an event that was not applied.
    """

    def __init__(
        self, scheduler: Scheduler, report: Report | None = None, problem: Callable[[str], None] = lambda _: None
    ) -> None:
        super().__init__(scheduler, report)
        self._problem = problem
        self._is_superseded = False
        self._before_replay: Mapping[str, Topic] | None = None
        self._use(self._new_topics())

    def apply(self, event: HarnEvent) -> None:
        """Fold one event. This and nothing else changes the state."""
        if self._is_superseded:
            self._is_superseded = False
            self._before_replay = self._topics
            self._replace(self._new_topics() | {name: self._topics[name] for name in _OF_THE_PRESENT})
        for reducer in self._reducers[event.__class__]:
            reducer(event)

    def hear(self, event: SessionEvent) -> None:
        """Fold an event of the conversation, for the topics that depend on it: that a turn has ended, for one."""
        for reducer in self._reducers.get(event.__class__, ()):
            reducer(event)

    def replay_begins(self) -> None:
        """Learn that all of the history is about to be told: the first of it takes the place of what is known."""
        self._is_superseded = True
        self._before_replay = None

    def replay_failed(self) -> None:
        """Make everything as it was before the replay."""
        if self._before_replay is not None:
            self._replace(self._before_replay)

    def replay_ends(self) -> None:
        """Learn that what follows is live again."""
        self._is_superseded = False
        self._before_replay = None

    def _new_topics(self) -> dict[str, Topic]:
        return {
            "workers": Workers(self.note, self._problem),
            "skills": Skills(self.note, self._problem),
            "artifacts": Artifacts(self.note, self._problem),
            "handoffs": Handoffs(self.note, self._problem),
            "live_clients": LiveClients(self.note),
            "human_requests": HumanRequests(self.note, self._problem),
            "progress": ProgressReports(self.note, self._problem),
            "narration": Narration(self.note),
            "logs": Logs(self.note),
            "staged_writes": StagedWriting(self.note),
            "text_patches": TextPatches(self.note),
            "file_watches": FileWatches(self.note),
            "tool_searches": ToolSearches(self.note, self._problem),
            "compactions": Compactions(self.note),
            "projections": Projections(self.note),
            "composition_runs": CompositionRuns(self.note, self._problem),
            "plan_documents": PlanDocuments(self.note, self._problem),
            "turn_phase": TurnPhases(self.note),
            "alerts": Alerts(self.note),
            "agent_events": AgentEvents(self.note),
            "idle": Idling(self.note),
            "model_calls": ModelCalls(self.note, self._problem),
        }

    def _replace(self, topics: Mapping[str, Topic]) -> None:
        before = self._topics
        self._use(topics)
        for name, topic in topics.items():
            if not is_same(topic.freeze(), before[name].freeze()):
                self.note(name)

    def _use(self, topics: Mapping[str, Topic]) -> None:
        self._topics = topics
        self._reducers: dict[type, list[Callable[[Any], None]]] = {}
        for topic in topics.values():
            for kind, reducer in topic.reducers().items():
                self._reducers.setdefault(kind, []).append(reducer)

    def _freeze(self) -> HarnSnapshot:
        return HarnSnapshot(**{name: topic.freeze() for name, topic in self._topics.items()})

    def _tell(self, whole: Observable[Any], section: str, keys: Sequence[str | int | None], kind: ChangeKind) -> None:
        whole.note_all(self._section, [section if key is None else f"{section}/{key}" for key in keys], kind)
