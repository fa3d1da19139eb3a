"""The whole state of a session: :class:`SessionState`.

It takes normalised events and hands each to the reducer of what it concerns: the transcript to
:class:`~acp_host.state.conversation.Conversation`, what is told beside it to
:class:`~acp_host.state.session_facts.SessionFacts`, and so on. Turns, replays and memory concern more than one of them,
and are seen to here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from acp_host.state import events
from acp_host.state._value import is_same
from acp_host.state.activity import Activity
from acp_host.state.between_turns import BetweenTurns
from acp_host.state.clock import Scheduler
from acp_host.state.conversation import Conversation
from acp_host.state.entries import ToolCallEntry
from acp_host.state.injections import Injection, Injections, UserMessageTold
from acp_host.state.memory import MemoryPolicy
from acp_host.state.notice_entries import NoticesSnapshot
from acp_host.state.notices import NoticeCenter
from acp_host.state.observable import Observable
from acp_host.state.option_settings import Settings
from acp_host.state.options import OptionsView
from acp_host.state.questions import Questions
from acp_host.state.reminder_entry import RemindersSnapshot
from acp_host.state.reminders import RemindersPanel
from acp_host.state.session_facts import SessionFacts
from acp_host.state.snapshot import Health, QueuedTurn, SessionSnapshot, TurnState
from acp_host.state.terminals import Terminals
from acp_host.wire._model import evolve
from acp_host.wire.content import TextContent
from acp_host.wire.subagents import SubagentUpdate

if TYPE_CHECKING:
    from acp_host.state.harn.state import HarnState

__all__ = ["SessionState"]

_NO_REMINDERS, _NO_NOTICES = RemindersSnapshot(), NoticesSnapshot()
_AT_WORK = ("running", "requires_action")
"""What an agent that says what it is doing calls being at work."""
_PAUSE = 0.1
"""Seconds after a turn until what it has written is packed: the next one may begin at once, and shall not wait."""


class SessionState(Observable[SessionSnapshot]):
    """The state of one session, folded from :mod:`~acp_host.state.events`; a snapshot is a ``SessionSnapshot``.

    Sections of its change sets: the attributes of the snapshot, with positions as keys in ``transcript`` and ids where
    a section has ids. A key of ``None`` stands for a section as a whole.

    Attributes:
        changed: where observers connect, see :class:`~acp_host.state.change_signal.ChangeSignal`.
        options: what the user can set; a part of this state.

    Args:
        session_id: the agent's id of the session.
        scheduler: decides when observers are called.
        report: called with an observer and what it raised.
        memory: how much of the transcript is kept.
        problem: called with what is wrong with an event that does not fit the state and was not applied.
    """

    def __init__(
        self,
        session_id: str,
        scheduler: Scheduler,
        report: Callable[[Callable[..., Any], BaseException], None] | None = None,
        memory: MemoryPolicy | None = None,
        problem: Callable[[str], None] = lambda _: None,
    ) -> None:
        super().__init__(scheduler, report)
        self._problem = problem
        self._session_id = session_id
        self._memory = memory or MemoryPolicy()
        self._archive = self._memory.archive_of(session_id)
        self._conversation = Conversation(self.note, problem)
        self._facts = SessionFacts(self.note, problem)
        self.options = OptionsView(scheduler, report, self.note)
        self.options.join(self, "options")
        self._questions = Questions(session_id, self._conversation.calls, self.note)
        self._turn = TurnState()
        self._terminals = Terminals(self.note, problem)
        self._injections = Injections(self.note, problem)
        self._activity = Activity(scheduler, self._activity_changed)
        self._health = Health()
        self._packing = False
        # What was told before a replay of a session that may yet not be opened.
        self._before_replay: tuple[Mapping[str, Any], Settings] | None = None
        # What is to stand behind the history that is being told.
        self._after_replay: events.ConnectionBroken | None = None
        self._reminders: RemindersPanel | None = None
        self._notices: NoticeCenter | None = None
        self._harn: HarnState | None = None
        in_turn: dict[type, Callable[[Any], None]] = {
            **self._conversation.reducers(),
            **self._facts.reducers(),
            **self.options.reducers(),
            **self._injections.reducers(),
            **self._terminals.reducers(),
            UserMessageTold: self._user_message_told,
            events.ReplayStarted: self._replay_started,
            events.ReplayAnswered: self._replay_answered,
            events.ReplayEnded: self._replay_ended,
            events.SessionClosed: self._session_closed,
            events.StateReported: self._state_reported,
            events.QuestionAsked: self._question_asked,
            events.QuestionClosed: self._question_closed,
            events.TurnQueued: self._turn_queued,
            events.TurnDropped: self._turn_dropped,
            events.TurnStarted: self._turn_started,
            events.TurnEnded: self._turn_ended,
            events.HealthChanged: self._health_changed,
            events.ToldAside: self._told_aside,
        }
        for kind in (events.ModeChanged, events.ConfigOptionsReplaced, events.OptionSetTaken):
            in_turn[kind] = self._as_interruption(in_turn[kind])
        in_turn[events.ConnectionBroken] = self._behind_replay(in_turn[events.ConnectionBroken])
        # Two tables, so that what is derived between turns costs nothing while a turn runs.
        self._reducers_in_turn = in_turn
        self._reducers_between_turns = BetweenTurns(in_turn, self._activity, self._tell_harn).reducers()
        self._reducers: Mapping[type, Callable[[Any], None]] = self._reducers_between_turns

    def attach(self, *, reminders: RemindersPanel | None = None, notices: NoticeCenter | None = None) -> None:
        """Make the panels of the session parts of its state, in place of those that were."""
        if reminders is not None:
            if self._reminders is not None:
                self.note("reminders")
            self._reminders = reminders
            reminders.join(self, "reminders")
        if notices is not None:
            if self._notices is not None:
                self.note("notices")
            self._notices = notices
            notices.join(self, "notices")

    def apply(self, event: events.SessionEvent) -> None:
        """Fold one event. This and nothing else changes the state."""
        try:
            reducer = self._reducers[event.__class__]
        except KeyError:
            if not isinstance(event, events.HarnEvent):
                raise
            reducer = self._harn_event
        reducer(event)

    @property
    def harn(self) -> HarnState | None:
        """What a Harn agent tells beside the conversation, reactive; ``None`` until it tells something."""
        return self._harn

    @property
    def injections(self) -> Mapping[str, Injection]:
        """What was said to the agent while it works, as in the snapshot; without making one."""
        return self._injections.freeze()

    @property
    def subagents(self) -> Mapping[str, SubagentUpdate]:
        """The sessions that were announced below this one, as in the snapshot; without making one."""
        return self._facts.subagents

    @property
    def is_replaying(self) -> bool:
        """Whether what comes is history."""
        return self._conversation.writer.replaying

    @property
    def entries_so_far(self) -> int:
        """How many entries the transcript has had, those that were dropped included."""
        return self._conversation.writer.store.end

    def tool_call(self, tool_call_id: str) -> ToolCallEntry | None:
        """Return the call that an agent's id means at present; ``None`` if it means none that is kept."""
        position = self._conversation.calls.position_of(tool_call_id)
        entry = None if position is None else self.snapshot().entry(position)
        return entry if isinstance(entry, ToolCallEntry) else None

    def turn_of_message(self, message_id: str) -> int | None:
        """Return the number of the turn that a message of the agent is in, by an id that means it for good.

        ``None`` if it is in no turn, or there is none such.
        """
        return self._conversation.turn_of_message(message_id)

    def fetch(self, first: int, last: int) -> list[Mapping[str, Any]]:
        """Return entries of the transcript in their JSON form, from memory or from the archive of the memory policy.

        Args:
            first: position of the first entry.
            last: position of the last one, included.
        """
        from acp_host.state.json_form import to_json  # loaded for those who show a session elsewhere

        kept = self.snapshot().transcript
        archive = self._archive
        entries = list(archive.fetch(first, min(last, kept.first - 1))) if archive and first < kept.first else []
        present = range(max(first, kept.first), min(last, kept.first + len(kept) - 1) + 1)
        return entries + [to_json(kept.at(position)) for position in present]

    def _deliver(self) -> None:
        self._conversation.delivered()
        if self._notices is not None:
            self._notices.settle()
        super()._deliver()

    def _freeze(self) -> SessionSnapshot:
        return SessionSnapshot(
            session_id=self._session_id,
            version=self.version,
            transcript=self._conversation.freeze(),
            plans=self._facts.plans,
            commands=self._facts.commands,
            modes=self.options.modes,
            config_options=self.options.config_options,
            options=self.options.snapshot(),
            info=self._facts.info,
            usage=self._facts.usage,
            subagents=self._facts.subagents,
            questions=self._questions.freeze(),
            terminals=self._terminals.freeze(),
            turn=self._turn,
            health=self._health,
            reminders=_NO_REMINDERS if self._reminders is None else self._reminders.snapshot(),
            notices=_NO_NOTICES if self._notices is None else self._notices.snapshot(),
            injections=self._injections.freeze(),
            harn=None if self._harn is None else self._harn.snapshot(),
        )

    # --- what is told aside -----------------------------------------------------------------------------------------

    def _told_aside(self, event: events.ToldAside) -> None:
        with self._conversation.aside(event.turn, replayed=event.replayed):
            # As in a turn, whether one runs or not: it is no sign of what the agent does now.
            reducer = self._reducers_in_turn.get(event.event.__class__, self.apply)
            reducer(event.event)

    # --- questions --------------------------------------------------------------------------------------------------

    def _question_asked(self, event: events.QuestionAsked) -> None:
        self._questions.asked(event)
        self._update_turn()

    def _question_closed(self, event: events.QuestionClosed) -> None:
        if self._questions.closed(event):
            self._activity.ends(("question", event.request_id))
            self._update_turn()

    # --- what the user says while the agent works -------------------------------------------------------------------

    def _user_message_told(self, event: UserMessageTold) -> None:
        known = self._injections.called(event.message_id) if event.message_id is not None else None
        content = event.content or (() if known is None else known.content)
        position = self._conversation.user_message(event.message_id, content) if content else None
        if event.message_id is not None:
            self._injections.told(event.message_id, position)

    # --- turns and health -------------------------------------------------------------------------------------------

    def _turn_queued(self, event: events.TurnQueued) -> None:
        queued = (*self._turn.queued, QueuedTurn(turn=event.turn, prompt=event.prompt))
        self._update_turn(queued=queued)

    def _turn_dropped(self, event: events.TurnDropped) -> None:
        self._update_turn(queued=self._without(event.turn))

    def _turn_started(self, event: events.TurnStarted) -> None:
        if self._conversation.writer.replaying:
            self._end_replay()
        self._conversation.turn_started(event)
        self._choose_reducers()
        self._update_turn(
            status="running",
            turn=event.turn,
            origin=event.origin,
            queued=self._without(event.turn),
            outcome=None,
            stop_reason=None,
            detail="",
        )
        self._facts.name_after(event.prompt)
        self._tell_harn(event)

    def _turn_ended(self, event: events.TurnEnded) -> None:
        self._conversation.turn_ended(event)
        self._choose_reducers()
        if event.turn == self._turn.turn or self._turn.status == "idle":
            self._update_turn(
                status="idle",
                turn=event.turn,
                queued=self._without(event.turn),
                outcome=event.outcome,
                stop_reason=event.stop_reason,
                detail=event.detail,
            )
        if event.usage is not None:
            self._facts.turn_used(event.usage)
        self._tell_harn(event)
        self._tidy()

    def _replay_started(self, event: events.ReplayStarted) -> None:
        if event.whole:
            self._terminals.replay_started()
            if self._harn is not None:
                self._harn.replay_begins()
        self._conversation.replay_started(event)
        self._before_replay = self._facts.known(), self.options.kept()
        self._choose_reducers()

    def _replay_answered(self, event: events.ReplayAnswered) -> None:
        self._conversation.writer.replay_answered()
        self._before_replay = None

    def _replay_ended(self, event: events.ReplayEnded) -> None:
        self._terminals.replay_ended(failed=event.failed)
        if event.failed:
            self._undo_replay()
        self._end_replay()

    def _undo_replay(self) -> None:
        """Make everything as it was before a replay of a session that was not opened."""
        self._conversation.replay_failed()
        if self._harn is not None:
            self._harn.replay_failed()
        if self._before_replay is not None:
            facts, settings = self._before_replay
            self._facts.restore(facts)
            self.options.restore(settings)

    def _end_replay(self) -> None:
        self._before_replay = None
        if self._harn is not None:
            self._harn.replay_ends()
        first_prompt = self._conversation.replay_ended()
        restored, self._after_replay = self._after_replay, None
        if restored is not None:
            self.apply(restored)
        self._choose_reducers()
        if first_prompt is not None:
            self._facts.name_after(tuple([TextContent(part.text) for part in first_prompt.parts]))
        self._tidy()

    def _state_reported(self, event: events.StateReported) -> None:
        self._conversation.calls.in_background = event.tool_calls
        self._update_turn(agent_state=event.state, background=event.background)

    def _health_changed(self, event: events.HealthChanged) -> None:
        self._health = Health(status=event.status, detail=event.detail)
        self.note("health")
        if event.status != "connected":
            self._activity.stop()
            self._update_turn(agent_state=None, background=None)

    def _session_closed(self, event: events.SessionClosed) -> None:
        self._activity.stop()
        self._update_turn(agent_state=None, background=None)
        self._terminals.clear()
        self._tell_harn(event)

    def _without(self, turn: int) -> tuple[QueuedTurn, ...]:
        return tuple(queued for queued in self._turn.queued if queued.turn != turn)

    def _update_turn(self, **changes: Any) -> None:
        turn = evolve(self._turn, **changes)
        if turn.status != "idle":
            waits = self._questions or turn.agent_state == "requires_action"
            turn = evolve(turn, status="waiting" if waits else "running")
        turn = evolve(turn, activity=turn.status != "idle" or self._activity.is_on or turn.agent_state in _AT_WORK)
        if not is_same(turn, self._turn):
            self._turn = turn
            self.note("turn")

    # --- what a Harn agent tells beside the conversation ------------------------------------------------------------

    def _harn_event(self, event: events.HarnEvent) -> None:
        if self._harn is None:
            from acp_host.state.harn.state import HarnState

            self._harn = HarnState(self._scheduler, self._report, self._problem)
            self._harn.join(self, "harn")
            self.note("harn")
        self._harn.apply(event)

    def _tell_harn(self, event: events.SessionEvent) -> None:
        if self._harn is not None:
            self._harn.hear(event)

    def _activity_changed(self) -> None:
        self._update_turn()
        if not self._activity.is_on and self._conversation.writer.turn is None:
            self._tidy()

    # --- which reducers fold an event ---------------------------------------------------------------------------------

    def _choose_reducers(self) -> None:
        asked = self._conversation.writer.turn is not None or self._conversation.writer.replaying
        if asked:
            self._activity.stop()
        self._reducers = self._reducers_in_turn if asked else self._reducers_between_turns

    def _behind_replay(self, reducer: Callable[[Any], None]) -> Callable[[Any], None]:
        def fold(event: Any) -> None:
            if self.is_replaying:
                self._after_replay = event
            else:
                reducer(event)

        return fold

    def _as_interruption(self, reducer: Callable[[Any], None]) -> Callable[[Any], None]:
        def fold(event: Any) -> None:
            self._conversation.interrupt()
            reducer(event)

        return fold

    # --- memory -----------------------------------------------------------------------------------------------------

    def _tidy(self) -> None:
        """After a turn, a replay, or work between turns: drop what is not to be kept, and soon pack the rest."""
        if self.is_replaying:
            return  # what is shown may be so again, or be forgotten as a whole
        keep_from = self._memory.first_to_keep(self._conversation.writer.turn_starts)
        if keep_from > self._conversation.writer.store.first and self._archived(keep_from):
            self._conversation.writer.drop_before(keep_from)
        if not self._packing and self._conversation.writer.can_pack:
            self._packing = True
            self._scheduler.later(_PAUSE, self._pack)

    def _archived(self, end: int) -> bool:
        """Give what lies before a position to the archive, if there is one; tell whether it may be dropped."""
        archive, transcript = self._archive, self._conversation.freeze()
        if archive is not None:
            from acp_host.state.json_form import to_json

            try:
                archive.append([to_json(entry) for entry in transcript[: end - transcript.first]])
            except Exception as error:  # the application's own; the entries stay until it takes them
                self._report(archive.append, error)
                return False
        return True

    def _pack(self) -> None:
        if self._conversation.writer.pack_one():
            self._scheduler.soon(self._pack)
        else:
            self._packing = False
