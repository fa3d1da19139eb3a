"""The whole state of a session: :class:`SessionState`.

It takes normalised events and hands each to the reducer of what it concerns: the transcript to
:class:`~acp_host.state.conversation.Conversation`, the rest to the small reducers here, which replace one immutable
value by another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from attrs import evolve

from acp_host.state import events
from acp_host.state.clock import Scheduler
from acp_host.state.conversation import Conversation
from acp_host.state.json_form import to_json
from acp_host.state.memory import MemoryPolicy
from acp_host.state.observable import ChangeKind, Observable
from acp_host.state.snapshot import (
    ContextUsage,
    Health,
    Modes,
    Plan,
    Question,
    QueuedTurn,
    SessionInfo,
    SessionSnapshot,
    TurnState,
)
from acp_host.wire._model import UNSET, Unset
from acp_host.wire._model import evolve as evolve_wire
from acp_host.wire.commands import AvailableCommand
from acp_host.wire.config_options import SessionConfigOption
from acp_host.wire.content import ContentBlock, TextContent
from acp_host.wire.permission import RequestPermissionRequest
from acp_host.wire.subagents import SubagentUpdate

__all__ = ["SessionState"]

_TITLE_LENGTH = 60


class SessionState(Observable[SessionSnapshot]):
    """The state of one session, folded from :mod:`~acp_host.state.events`.

    Args:
        session_id: the agent's id of the session.
        scheduler: decides when observers are called.
        report: called with an observer and what it raised.
        memory: how much of the transcript is kept.
    """

    def __init__(
        self,
        session_id: str,
        scheduler: Scheduler,
        report: Callable[[Callable[..., Any], Exception], None] | None = None,
        memory: MemoryPolicy | None = None,
    ) -> None:
        super().__init__(scheduler, report)
        self._session_id = session_id
        self._memory = memory or MemoryPolicy()
        self._conversation = Conversation(self.note)
        self._plans: dict[str | None, Plan] = {}
        self._commands: tuple[AvailableCommand, ...] = ()
        self._modes = Modes()
        self._config_options: tuple[SessionConfigOption, ...] = ()
        self._info = SessionInfo()
        self._usage = ContextUsage()
        self._subagents: dict[str, SubagentUpdate] = {}
        self._questions: dict[tuple[type, Any], Question] = {}
        self._turn = TurnState()
        self._health = Health()
        self._packing = False
        self._reducers: dict[type, Callable[[Any], None]] = {
            **self._conversation.reducers(),
            events.PlanReplaced: self._plan_replaced,
            events.PlanRemoved: self._plan_removed,
            events.CommandsReplaced: self._commands_replaced,
            events.SessionOpened: self._session_opened,
            events.ModeChanged: self._mode_changed,
            events.ConfigOptionsReplaced: self._config_options_replaced,
            events.SessionInfoChanged: self._session_info_changed,
            events.UsageReported: self._usage_reported,
            events.SubagentReported: self._subagent_reported,
            events.QuestionAsked: self._question_asked,
            events.QuestionClosed: self._question_closed,
            events.TurnQueued: self._turn_queued,
            events.TurnDropped: self._turn_dropped,
            events.TurnStarted: self._turn_started,
            events.TurnEnded: self._turn_ended,
            events.HealthChanged: self._health_changed,
        }

    def apply(self, event: events.SessionEvent) -> None:
        """Fold one event. This and nothing else changes the state."""
        self._reducers[event.__class__](event)

    def fetch(self, first: int, last: int) -> list[Mapping[str, Any]]:
        """Return entries of the transcript in their JSON form, from memory or from the archive of the memory policy.

        Args:
            first: position of the first entry.
            last: position of the last one, included.
        """
        kept = self.snapshot().transcript
        archive = self._memory.archive
        entries = list(archive.fetch(first, min(last, kept.first - 1))) if archive and first < kept.first else []
        present = range(max(first, kept.first), min(last, kept.first + len(kept) - 1) + 1)
        return entries + [to_json(kept.at(position)) for position in present]

    def _deliver(self) -> None:
        self._conversation.delivered()
        super()._deliver()

    def _freeze(self) -> SessionSnapshot:
        return SessionSnapshot(
            session_id=self._session_id,
            version=self.version,
            transcript=self._conversation.freeze(),
            plans=tuple(self._plans.values()),
            commands=self._commands,
            modes=self._modes,
            config_options=self._config_options,
            info=self._info,
            usage=self._usage,
            subagents=dict(self._subagents),
            questions=tuple(self._questions.values()),
            turn=self._turn,
            health=self._health,
        )

    # --- plans, commands, options -----------------------------------------------------------------------------------

    def _plan_replaced(self, event: events.PlanReplaced) -> None:
        kind = ChangeKind.CHANGED if event.plan_id in self._plans else ChangeKind.ADDED
        self._plans[event.plan_id] = Plan(plan_id=event.plan_id, content=event.content)
        self.note("plans", event.plan_id, kind)

    def _plan_removed(self, event: events.PlanRemoved) -> None:
        if self._plans.pop(event.plan_id, None) is not None:
            self.note("plans", event.plan_id, ChangeKind.REMOVED)

    def _commands_replaced(self, event: events.CommandsReplaced) -> None:
        self._commands = event.commands
        self.note("commands")

    def _session_opened(self, event: events.SessionOpened) -> None:
        if event.modes is not None:
            self._modes = Modes(current=event.modes.current_mode_id, available=event.modes.available_modes)
            self.note("modes")
        if event.config_options is not None:
            self._config_options = event.config_options
            self.note("config_options")

    def _mode_changed(self, event: events.ModeChanged) -> None:
        self._modes = evolve(self._modes, current=event.mode_id)
        self.note("modes")

    def _config_options_replaced(self, event: events.ConfigOptionsReplaced) -> None:
        self._config_options = event.options
        self.note("config_options")

    # --- info, usage, subagents -------------------------------------------------------------------------------------

    def _session_info_changed(self, event: events.SessionInfoChanged) -> None:
        if event.title is not UNSET:
            self._info = evolve(self._info, title=event.title, provisional=False)
        if event.updated_at is not UNSET:
            self._info = evolve(self._info, updated_at=event.updated_at)
        self.note("info")

    def _usage_reported(self, event: events.UsageReported) -> None:
        cost = self._usage.cost if isinstance(event.cost, Unset) else event.cost
        self._usage = ContextUsage(used=event.used, size=event.size, cost=cost, last_turn=self._usage.last_turn)
        self.note("usage")

    def _subagent_reported(self, event: events.SubagentReported) -> None:
        update = event.update
        known = self._subagents.get(update.session_id)
        self._subagents[update.session_id] = update if known is None else _said_last(known, update)
        self.note("subagents", update.session_id, ChangeKind.ADDED if known is None else ChangeKind.CHANGED)

    # --- questions --------------------------------------------------------------------------------------------------

    def _question_asked(self, event: events.QuestionAsked) -> None:
        position = None
        if isinstance(event.request, RequestPermissionRequest):
            # Some agents ask before they announce the call, or instead of it.
            self.apply(events.ToolCallReported(event.request.tool_call, announced=False))
            position = self._conversation.position_of_call(event.request.tool_call.tool_call_id)
        question = Question(request_id=event.request_id, method=event.method, request=event.request, position=position)
        self._questions[type(event.request_id), event.request_id] = question
        self.note("questions", str(event.request_id), ChangeKind.ADDED)
        self._update_turn()

    def _question_closed(self, event: events.QuestionClosed) -> None:
        if self._questions.pop((type(event.request_id), event.request_id), None) is not None:
            self.note("questions", str(event.request_id), ChangeKind.REMOVED)
            self._update_turn()

    # --- turns and health -------------------------------------------------------------------------------------------

    def _turn_queued(self, event: events.TurnQueued) -> None:
        queued = (*self._turn.queued, QueuedTurn(turn=event.turn, prompt=event.prompt))
        self._update_turn(queued=queued)

    def _turn_dropped(self, event: events.TurnDropped) -> None:
        self._update_turn(queued=self._without(event.turn))

    def _turn_started(self, event: events.TurnStarted) -> None:
        self._conversation.turn_started(event)
        self._update_turn(
            status="running",
            turn=event.turn,
            queued=self._without(event.turn),
            outcome=None,
            stop_reason=None,
            detail="",
        )
        if self._info.title is None:
            self._info = evolve(self._info, title=_provisional_title(event.prompt), provisional=True)
            self.note("info")

    def _turn_ended(self, event: events.TurnEnded) -> None:
        self._conversation.turn_ended(event)
        self._update_turn(status="idle", outcome=event.outcome, stop_reason=event.stop_reason, detail=event.detail)
        if event.usage is not None:
            self._usage = evolve(self._usage, last_turn=event.usage)
            self.note("usage")
        self._tidy()

    def _health_changed(self, event: events.HealthChanged) -> None:
        self._health = Health(status=event.status, detail=event.detail)
        self.note("health")

    def _without(self, turn: int) -> tuple[QueuedTurn, ...]:
        return tuple(queued for queued in self._turn.queued if queued.turn != turn)

    def _update_turn(self, **changes: Any) -> None:
        turn = evolve(self._turn, **changes)
        if turn.status != "idle":
            turn = evolve(turn, status="waiting" if self._questions else "running")
        if turn != self._turn:
            self._turn = turn
            self.note("turn")

    # --- memory -----------------------------------------------------------------------------------------------------

    def _tidy(self) -> None:
        """After a turn: drop what the policy does not keep, and pack the rest bit by bit."""
        conversation = self._conversation
        first, keep_from = conversation.store.first, self._memory.first_to_keep(conversation.turn_starts)
        if keep_from > first:
            if self._memory.archive is not None:
                leaving = conversation.freeze()[: keep_from - first]
                self._memory.archive.append([to_json(entry) for entry in leaving])
            conversation.drop_before(keep_from)
            self.note("transcript")
        if not self._packing:
            self._packing = True
            self._scheduler.soon(self._pack)

    def _pack(self) -> None:
        if self._conversation.turn is None and self._conversation.store.pack_one(self._conversation.store.end):
            self._scheduler.soon(self._pack)
        else:
            self._packing = False


def _said_last(known: SubagentUpdate, update: SubagentUpdate) -> SubagentUpdate:
    """Return what is known of a child session after an update; what it does not mention stays."""
    changes = {name: getattr(update, name) for name in ("title", "description", "capabilities", "state", "cwd")}
    changes["additional_directories"] = update.additional_directories
    return evolve_wire(known, **{name: value for name, value in changes.items() if value is not UNSET})


def _provisional_title(prompt: tuple[ContentBlock, ...]) -> str | None:
    text = next((block.text for block in prompt if isinstance(block, TextContent)), "").strip()
    first_line = text.partition("\n")[0]
    if not first_line:
        return None
    return first_line if len(first_line) <= _TITLE_LENGTH else first_line[: _TITLE_LENGTH - 1] + "…"
