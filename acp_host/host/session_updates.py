"""What an agent sends for a session, in order: :class:`SessionUpdates`.

Each update is folded into the session's state, or brought to its reminders or notices, then to the turn that runs or to
the buffer between turns, and then to the observers of single updates. A fault in one of these steps costs the session
no more than the update that met it.
"""

from __future__ import annotations

import functools
import traceback
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, cast

from attrs import frozen

from acp_host.diagnostics import Diagnostic, DiagnosticKind
from acp_host.errors import ConnectionClosed
from acp_host.host.reminders import SessionReminders, ShownReminder
from acp_host.host.turn import TurnOrigin
from acp_host.host.turn_queue import TurnQueue
from acp_host.host.update_buffer import UpdateBuffer, UpdatesSkipped
from acp_host.state import events
from acp_host.state.observers import Observers
from acp_host.state.session_state import SessionState
from acp_host.translate.harn import HarnReport, translate_harn
from acp_host.translate.versions import UpdateTranslator
from acp_host.wire._model import NO_EXTRA, UNSET
from acp_host.wire.chunk_runs import ChunkRun
from acp_host.wire.harn.correlation import is_replayed, prompt_name
from acp_host.wire.notices import Notice
from acp_host.wire.permission import RequestPermissionRequest
from acp_host.wire.tool_calls import ToolCall, ToolCallStatus, ToolCallUpdate
from acp_host.wire.updates import SessionNotification, SessionUpdate, UnknownSessionUpdate
from acp_host.wire.v2.tool_calls import ToolCallUpdate as PatchedToolCall

if TYPE_CHECKING:
    from acp_host.host.stated_turns import StatedTurns
    from acp_host.state.harn.permission_facts import PermissionFacts

__all__ = ["SessionUpdates"]

_CALLS = (ToolCall, ToolCallUpdate, PatchedToolCall)
_OWN_TERMINALS = (events.AgentTerminalReported, events.AgentTerminalPrinted)
_OVER = (ToolCallStatus.COMPLETED, ToolCallStatus.FAILED, "cancelled")
"""The states in which nobody needs to know any more whether a tool call may be done."""


@frozen
class _Place:
    """Where an update belongs that is not of the moment.

    Attributes:
        turn: number of its turn, which is over; ``None`` for none.
        replayed: it is told again.
    """

    turn: int | None
    replayed: bool = False


class SessionUpdates:
    """Takes the updates of one session.

    Args:
        session_id: the agent's id of the session.
        state: what the updates are folded into.
        turns: knows which turn runs.
        translator: makes events of the updates.
        reminders: takes what updates say about reminders.
        tell_notice: takes notices, and whether they are told again.
        call_ended: called with the session's id and that of a tool call that is over, while questions are open.
        awaits_opening: tells whether the request that opens the session is not answered yet.
        report: takes diagnostics.
        report_observer: called with an observer and what it raised.

    Attributes:
        reminders: as above; another one takes its place when the session goes on from an earlier connection.
        open_questions: how many questions the user has to answer.
    """

    def __init__(
        self,
        session_id: str,
        *,
        state: SessionState,
        turns: TurnQueue,
        translator: UpdateTranslator,
        reminders: SessionReminders,
        tell_notice: Callable[[Notice, bool], None],
        call_ended: Callable[[str, str], None],
        awaits_opening: Callable[[], bool],
        report: Callable[[Diagnostic], None],
        report_observer: Callable[[Callable[..., Any], BaseException], None],
    ) -> None:
        self.reminders = reminders
        self.open_questions = 0
        self._session_id = session_id
        self._state = state
        self._turns = turns
        self._translate = translator.translate
        self._translate_run = translator.translate_run
        self._plain = translator.plain
        self._bring = self._bring_to_turn
        if turns.hears_updates:
            self._bring = functools.partial(self._bring_to_stated_turn, cast("StatedTurns", turns))
        self._tell_notice = tell_notice
        self._call_ended = call_ended
        self._awaits_opening = awaits_opening
        self._report = report
        self._between_turns = UpdateBuffer()
        self._observers: Observers[SessionUpdate] = Observers(report_observer)

    # --- for readers ------------------------------------------------------------------------------------------------

    async def next_between_turns(self) -> SessionUpdate | UpdatesSkipped:
        """Return the oldest update that belongs to no turn, waiting for one.

        Raises:
            ConnectionClosed: the connection ended, and none is left.
        """
        update = self._between_turns.take()
        while update is None:
            if not await self._between_turns.wait():
                raise ConnectionClosed("the connection has ended; no further update will come")
            update = self._between_turns.take()
        return update

    def take_between_turns(self) -> list[SessionUpdate | UpdatesSkipped]:
        """Return the updates that belong to no turn and have come so far, oldest first."""
        return list(iter(self._between_turns.take, None))

    def observe(self, observer: Callable[[SessionUpdate], None]) -> Callable[[], None]:
        """Call ``observer`` with every update from now on; return a function that ends this."""
        return self._observers.connect(observer)

    def close(self) -> None:
        """Take the end of the session: whoever waits for an update learns that none will come."""
        self._between_turns.close()

    # --- for the connection -----------------------------------------------------------------------------------------

    def receive(self, arrival: SessionNotification | ChunkRun) -> None:
        """Take an update of the session, or a run of them."""
        if not isinstance(arrival, ChunkRun):
            self._receive_update(arrival.update, arrival.extra)
        elif self._can_take_whole(arrival):
            self._receive_run(arrival)
        else:
            for chunk in arrival.updates():
                self._receive_update(chunk, arrival.extra)

    def receive_notification(self, method: str, params: Mapping[str, Any]) -> None:
        """Take a notification of Harn that belongs to the session."""
        from acp_host.translate.harn.notifications import translate_notification  # loaded for such agents only

        report = translate_notification(method, params)
        if report is None:
            return
        try:
            self._fold_harn(report, method, params)
        except Exception as error:  # a fault of this library must not cost the session more than this notification
            self.report_unfolded(method, error)
        if self._turns.watches_idle:
            self._turns.note_activity()

    def facts_of(self, question: Any) -> PermissionFacts | None:
        """Return what Harn says of a permission request besides."""
        if not isinstance(question, RequestPermissionRequest) or not (question.tool_call.meta or question.extra):
            return None
        from acp_host.translate.harn.permissions import permission_facts  # loaded when there may be something

        facts, problems = permission_facts(question)
        for problem in problems:
            text = f"a permission request of Harn is malformed: {problem}"
            self._report(Diagnostic(DiagnosticKind.MALFORMED, text, session_id=self._session_id))
        return facts

    def report_unfolded(self, told: SessionUpdate | ChunkRun | str, error: Exception) -> None:
        """Report what could not be folded into a state, and why."""
        what = told if isinstance(told, str) else f"an update ({type(told).__name__})"
        text = f"{what} was not folded into the state: {type(error).__name__}: {error}"
        trace = "".join(traceback.format_exception(error, limit=-5))
        kind = DiagnosticKind.HANDLER_FAILED
        self._report(Diagnostic(kind, text, method="session/update", session_id=self._session_id, data=trace))

    def _receive_update(self, update: Any, told: Mapping[str, Any] = NO_EXTRA) -> None:
        """Take an update, and what else stood beside it in the message."""
        place = None
        try:
            kind: Any = update.__class__
            plain = kind in self._plain and update.meta is UNSET and update.extra is NO_EXTRA and told is NO_EXTRA
            if not plain or self.reminders.is_listening:
                place = self._place_of(update, told)
                self._receive_special(update, place)
            else:
                self._fold(update)
        except Exception as error:  # a fault of this library must not cost the session more than this update
            self.report_unfolded(update, error)
        if place is None:
            self._bring(update)
        else:
            self._between_turns.push(update)
        if self._observers.connected:
            self._observers.tell(update)

    def _place_of(self, update: Any, told: Mapping[str, Any]) -> _Place | None:
        """Return where an update belongs that is not of the moment; ``None`` if it is, as all but Harn's are."""
        meta = update.data.get("_meta") if isinstance(update, UnknownSessionUpdate) else update.meta
        if is_replayed(told, meta) and not self._state.is_replaying:
            return _Place(None, replayed=True)
        number = self._turns.ended_turn(prompt_name(told))
        return None if number is None else _Place(number)

    def _bring_to_turn(self, update: Any) -> None:
        """Bring an update to the turn that runs, or to the buffer between turns."""
        if self.open_questions and isinstance(update, _CALLS) and update.status in _OVER:
            self._call_ended(self._session_id, update.tool_call_id)
        turn = self._turns.current
        if turn is None:
            self._between_turns.push(update)
        else:
            turn.receive(update)
            if self._turns.watches_idle:
                self._turns.note_activity()

    def _bring_to_stated_turn(self, turns: StatedTurns, update: Any) -> None:
        """Bring an update to the turn that it may begin, and may end."""
        turns.hear(update)
        turn = turns.current
        self._bring_to_turn(update)
        if turn is not None and turn.origin == TurnOrigin.AGENT:
            self._between_turns.push(update)
        turns.heard(update)

    def _can_take_whole(self, run: ChunkRun) -> bool:
        """Tell whether nobody needs to see each chunk of a run."""
        if self._observers.connected or self.reminders.is_listening:
            return False
        return run.extra is NO_EXTRA or self._turns.ended_turn(prompt_name(run)) is None

    def _receive_run(self, run: ChunkRun) -> None:
        """Take chunks all at once, to the same effect."""
        try:
            self._state.apply(self._translate_run(run))
        except Exception as error:
            self.report_unfolded(run, error)
        turn = self._turns.current
        if turn is None or turn.origin == TurnOrigin.AGENT:
            self._between_turns.extend(run.updates())
        if turn is not None:
            turn.receive_run(run)
            if self._turns.watches_idle:
                self._turns.note_activity()

    def _receive_special(self, update: SessionUpdate, place: _Place | None) -> None:
        """Take an update that may be about reminders, or one of Harn's, or not of the moment."""
        if not self._take_reminders(update, place) and not self._take_harn(update, place):
            self._fold(update, place)

    def _fold(self, update: SessionUpdate, place: _Place | None = None) -> None:
        """Fold an update into the state, or bring it to the notices."""
        event: Any = self._translate(update)
        if event is not None:
            if place is None:
                self._state.apply(event)
            else:
                self._apply(event, place)
            if event.__class__ in _OWN_TERMINALS and event.problem:
                kind = DiagnosticKind.MALFORMED
                self._report(Diagnostic(kind, event.problem, None, "session/update", self._session_id, update))
        elif isinstance(update, Notice):
            self._tell_notice(update, place is not None and place.replayed)

    def _apply(self, event: events.SessionEvent, place: _Place | None) -> None:
        self._state.apply(event if place is None else events.ToldAside(event, place.turn, place.replayed))

    def _take_reminders(self, update: SessionUpdate, place: _Place | None) -> bool:
        """Take what an update says about reminders; tell whether the state has been told of the update thereby."""
        again = place is not None and place.replayed
        parts = self.reminders.receive(
            update,
            replayed=again or self._state.is_replaying,
            reports_replayed=again or self._awaits_opening(),
        )
        for part in parts or ():
            if part is update:
                return False  # it comes last, and is what it is
            if isinstance(part, ShownReminder):
                self._apply(events.ReminderShown(part.id, part.body), place)
            elif (event := self._translate(part)) is not None:
                self._apply(event, place)
        return parts is not None

    def _take_harn(self, update: SessionUpdate, place: _Place | None) -> bool:
        """Take what an update says by an extension of Harn; tell whether that is all it says."""
        report = translate_harn(update, is_harn=self._turns.agent_is_harn)
        if report is None:
            return False
        self._fold_harn(report, "a Harn update", update, place)
        return report.is_update

    def _fold_harn(self, report: HarnReport, what: str, told: Any, place: _Place | None = None) -> None:
        for problem in report.problems:
            text = f"{what} is malformed: {problem}"
            self._report(Diagnostic(DiagnosticKind.MALFORMED, text, session_id=self._session_id, data=told))
        for event in report.events:
            self._apply(event, place)
        if report.ends_session:
            self._turns.drop_questions()
