"""A session as its connection knows it: :class:`ConnectedSession`.

Owns what happens to a session from outside: what the agent sends and asks, the loss of the connection and its return,
the end. What an application does with it is :class:`~acp_host.host.session.Session`'s.
"""

from __future__ import annotations

import functools
import itertools
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Self

from attrs import evolve

from acp_host.diagnostics import Diagnostic, DiagnosticKind, throttled
from acp_host.errors import AcpError, ConnectionClosed, ConnectionLost, InvalidState
from acp_host.host.incoming import OpenRequest
from acp_host.host.injections import SessionInjections
from acp_host.host.interruption import Interruption, interrupted_turn
from acp_host.host.live_standing import LiveStanding
from acp_host.host.prompt_content import PromptPart
from acp_host.host.reminders import ReminderContext, SessionReminders
from acp_host.host.replay_window import ReplayWindow
from acp_host.host.session_context import Opening, SessionContext
from acp_host.host.session_methods import SessionMethods
from acp_host.host.session_origin import SessionOrigin
from acp_host.host.session_updates import SessionUpdates
from acp_host.host.subagents import Subagents
from acp_host.host.terminals import TerminalFeed
from acp_host.host.turn import PromptToSend, Turn, TurnOrigin
from acp_host.host.turn_queue import TurnQueue
from acp_host.services.permission_subject import PermissionSubject
from acp_host.state import events
from acp_host.state.observers import Observers
from acp_host.state.session_state import SessionState
from acp_host.translate.v1 import commands_told, opened
from acp_host.translate.versions import update_translator
from acp_host.wire.chunk_runs import ChunkRun
from acp_host.wire.notices import Notice
from acp_host.wire.updates import SessionNotification

if TYPE_CHECKING:
    from acp_host.host.change_check import ChangeCheck
    from acp_host.services.terminals import TerminalProcess

__all__ = ["ConnectedSession"]


class ConnectedSession(SessionMethods):
    """What a connection tells a session: its methods are for the connection to call, and none is for applications.

    The attributes are described at the class that it is a base of.

    Args:
        session_id: the agent's id of the session.
        cwd: its working directory, absolute.
        context: what it gets from its connection.
        changes: holds what each turn has changed against the policy; ``None``: nobody does.
    """

    def __init__(self, session_id: str, cwd: str, context: SessionContext, changes: ChangeCheck | None = None) -> None:
        super().__init__(context)
        self.id = session_id
        self.cwd = cwd
        self._directories = context.directories
        self.opening: Opening | None = None
        self.origin: SessionOrigin | None = None
        self.notices = context.notices.make_center(session_id)
        self.state = context.make_state(
            session_id, context.scheduler, self._report_observer, context.memory, self._report_misfit
        )
        self.standing = LiveStanding(self.state)
        self._terminals = TerminalFeed(self.state.apply, context.scheduler)
        self._notice_router = context.notices
        self._report = throttled(context.report)
        self._reminder_context = ReminderContext(
            driver=context.driver, settings=context.reminders, report=self._report_reminder
        )
        self._reminders = SessionReminders(
            session_id, self._reminder_context, context.scheduler, context.clock, self._report_observer
        )
        self._continues = False
        self._is_suspended = False
        self._was_interrupted = False
        self.state.attach(reminders=self._reminders.panel, notices=self.notices)
        version = context.driver.protocol.agreement.protocol_version
        self._says_its_state = version >= 2
        self._numbers = itertools.count(1)
        self._turns = self._queue_of_turns()(
            session_id,
            driver=context.driver,
            incoming=context.incoming,
            timeouts=context.cancel_timeouts,
            reminders=self._reminders,
            apply=self.state.apply,
            report=context.report,
            after_cancel=context.after_cancel,
            log_in_for=context.authentication.log_in_for,
            check=changes,
            gone=self._is_gone,
            refusal=self.standing.refusal,
            interrupted=self._interrupted,
            clock=context.clock,
        )
        self.injections = SessionInjections(
            session_id,
            cwd=self.cwd_here,
            driver=context.driver,
            running=lambda: self._turns.running,
            prompt=self._prompt,
            apply=self.state.apply,
            known=lambda: self.state.injections,
            client_id=lambda: self.standing.client_id,
        )
        self._reminders.others_asked = self.injections.asked
        self._changes = changes
        self._scheduler = context.scheduler
        self._subagent_observers: Observers[str] = Observers(self._report_observer)
        self.subagents = Subagents(
            self.state,
            lambda child: SessionState(
                child, context.scheduler, self._report_observer, context.memory, self._report_misfit
            ),
            lambda update, error: self._updates.report_unfolded(update, error),
            update_translator(version),
            self._subagent_observers.tell,
            self._report_misfit,
        )
        self._replay: ReplayWindow | None = None
        self._updates = SessionUpdates(
            session_id,
            state=self.state,
            turns=self._turns,
            translator=update_translator(version),
            reminders=self._reminders,
            tell_notice=self._tell_notice,
            call_ended=context.incoming.call_ended,
            awaits_opening=lambda: self._awaits_opening,
            report=self._report,
            report_observer=self._report_observer,
        )
        self.receive = self._updates.receive
        """Takes an update of this session, or a run of them."""
        self.receive_notification = self._updates.receive_notification
        """Takes a notification of Harn that belongs to this session."""
        self._clock = context.clock
        self._decisions_since = context.decisions_since
        self._tell_gone = context.gone
        self._closed = ""
        self._lost = False
        self.lacks_history = False
        self._write_observers: Observers[str] = Observers(self._report_observer)

    @abstractmethod
    def _prompt(
        self,
        content: PromptPart | Iterable[PromptPart],
        *,
        idle_timeout: float | None = None,
        meta: Mapping[str, Any] | None = None,
        follows: Turn | None = None,
    ) -> Turn:
        """Make a turn of a message of the user, which waits for another one if that is given."""

    def cwd_here(self) -> str | None:
        """Return the working directory; ``None`` where it is on another machine."""
        return self.cwd if self._directories.here else None

    # --- what happens in it -------------------------------------------------------------------------------------------

    def receive_from_subagent(self, arrival: SessionNotification | ChunkRun) -> None:
        """Take an update of a subagent, or a run of them: the session is not idle."""
        self.subagents.receive(arrival)
        self._note_activity()

    def permitted(self, subject: PermissionSubject, *, always: bool = False) -> None:
        """Learn what was permitted to the agent; ``always``: by a user who does not want to be asked again."""
        if self._changes is not None:
            self._changes.permit(subject, always=always)

    def refused(self, subject: PermissionSubject) -> None:
        """Learn what was refused to the agent."""
        if self._changes is not None:
            self._changes.refuse(subject)

    def file_written(self, path: str) -> None:
        """Learn that the agent writes a file through this host."""
        self._write_observers.tell(path)

    def terminal_changed(self, terminal: TerminalProcess, printed: str) -> None:
        """Learn what a command does that runs for the agent."""
        self._terminals.changed(terminal, printed)

    # --- how it is opened ---------------------------------------------------------------------------------------------

    def continue_from(self, earlier: Self) -> None:
        """Take over what outlives a connection from the session's object on an earlier one."""
        if earlier is not self:
            self._continues = True
            self._reminders = self._turns.reminders = self._updates.reminders = earlier._reminders
            self.state.attach(reminders=self._reminders.panel)
            self._reminders.reattach(self._reminder_context)
            self._reminders.others_asked = self.injections.asked
            self.injections.continue_from(earlier.injections)
            self.standing.continue_from(earlier.standing)

    def _queue_of_turns(self) -> Callable[..., TurnQueue]:
        """Return what makes the queue: of an agent that says what it is doing, or of one that answers prompts."""
        if not self._says_its_state:
            return TurnQueue
        from acp_host.host.stated_turns import StatedTurns  # loaded for agents of version 2 only

        return functools.partial(StatedTurns, new_turn=self._new_turn, is_open=lambda: not self.state.is_replaying)

    def _new_turn(self, prompt: PromptToSend, origin: TurnOrigin = TurnOrigin.USER) -> Turn:
        return Turn(next(self._numbers), prompt, self._turns.cancel, origin, self.state.turn_of_message)

    @property
    def _awaits_opening(self) -> bool:
        return self._replay is not None and self._replay.awaits_answer

    def replay_begins(self, *, whole: bool) -> None:
        """Learn that what comes until :meth:`opened` is the history of the session.

        Args:
            whole: the agent is asked for all of it, and may go on with it afterwards.
        """
        self.replay_ends()
        goes_on = whole and not self._says_its_state
        self._replay = ReplayWindow(self.state, self._scheduler, whole=whole, goes_on=goes_on)
        self._reminders.replay_begins()

    def replay_ends(self) -> None:
        """Learn that no more history comes, e.g. because the session could not be opened."""
        if self._replay is not None:
            self._replay.close()

    def opened(self, opening: Opening) -> None:
        """Take the agent's answer to the request that opened the session."""
        self.opening = opening
        self.state.apply(opened(opening))
        commands = commands_told(opening)
        if commands is not None:
            self.state.apply(commands)
        if self._replay is not None:
            self._replay.answered()
        self._turns.opened()
        if self._is_suspended:
            self._reminders.reattach(self._reminder_context)
            self._reminders.reopened()
        elif self._continues:
            self._continues = False
            self.state.apply(events.HealthChanged("connected"))
            self._reminders.reopened()

    # --- what the agent asks ------------------------------------------------------------------------------------------

    def request_begins(self, request: OpenRequest) -> None:
        """Learn that the agent asks for something that concerns this session."""
        self._note_activity()
        if request.is_question:
            self.question_begins(request)

    def request_ends(self, request: OpenRequest) -> None:
        """Learn that such a request has been answered, one way or another."""
        self._note_activity()
        if request.is_question:
            self.question_ends(request)

    def question_begins(self, request: OpenRequest) -> None:
        """Learn that the user has something to answer about such a request."""
        self._updates.open_questions += 1
        if self.standing.may_decide or request.method != "session/request_permission":
            self.question_shown(request)

    def question_shown(self, request: OpenRequest) -> None:
        """Learn that such a request is this host's to answer, and shown to the user."""
        if self._replay is not None:
            self._replay.interrupt()
        facts = self._updates.facts_of(request.asks)
        self.state.apply(events.QuestionAsked(request.id, request.method, request.asks, facts))

    def question_ends(self, request: OpenRequest) -> None:
        """Learn that the user has nothing to answer about it any more."""
        self._updates.open_questions -= 1
        self.state.apply(events.QuestionClosed(request.id))

    def has_sent(self, prompt: str) -> bool:
        """Tell whether this session has sent the prompt with this name, which a Harn agent was given."""
        return self._turns.has_named(prompt)

    def is_over(self, prompt: str) -> bool:
        """Tell whether the turn of such a prompt is over."""
        return self._turns.ended_turn(prompt) is not None

    @property
    def is_cancelling(self) -> bool:
        """Whether a turn is being cancelled."""
        return self._turns.is_cancelling

    def _note_activity(self) -> None:
        if self._turns.watches_idle:
            self._turns.note_activity()

    # --- the connection -----------------------------------------------------------------------------------------------

    def connection_renewed(self) -> None:
        """Learn that the agent can be reached again, and is about to open the session again."""
        self._continues = True
        self._reminders.reattach(self._reminder_context)

    def connection_lost(self, detail: str, *, may_return: bool) -> None:
        """Take the loss of the connection, before any call learns of it.

        Args:
            detail: why it was lost, for people.
            may_return: it is being made again: what is queued waits for :meth:`goes_on`; else for nothing, and
                :meth:`connection_ended` follows.
        """
        if may_return:
            self._is_suspended = True
            self._was_interrupted = self._was_interrupted or self._turns.current is not None
            self._turns.suspend(ConnectionLost(detail or "the connection has ended"))
            self._apply_health("reconnecting", detail)
        self.replay_ends()
        self._reminders.connection_lost(may_return=may_return)
        self.injections.ended("the connection was lost")

    def hold_prompts(self) -> None:
        """Send no more prompts over this connection: this side is about to leave it."""
        self._turns.hold()

    async def wait_for_turn(self) -> None:
        """Wait until the agent is done with the turn on the wire, if there is one."""
        turn = self._turns.at_agent
        if turn is not None:
            await turn.over()

    def prompt_withdrawn(self) -> None:
        """Learn that the prompt of a turn that is being cancelled was withdrawn by somebody else than its deadline."""
        self._turns.wait_no_more()

    def give_up_cancelled(self) -> None:
        """Take the turn on the wire as over if it is being cancelled; nobody waits for its end any more."""
        if self._turns.is_cancelling:
            self._turns.abandon()

    @property
    def is_working(self) -> bool:
        """Whether the agent works on a turn."""
        return self._turns.running is not None

    @property
    def is_suspended(self) -> bool:
        """Whether the connection is lost and being made again, and the agent has not opened this session since."""
        return self._is_suspended

    def goes_on(self) -> None:
        """Learn that the session is open again: what waits is sent."""
        self._is_suspended = False
        if self._was_interrupted:
            self._note_break("nothing", "")
        self._apply_health("connected", "")
        self._turns.resume()

    def _note_break(self, lost: str, summary: str) -> None:
        """Mark the place of the transcript at which the connection was lost."""
        self.state.apply(events.ConnectionBroken(lost, self._was_interrupted, summary))
        self._was_interrupted = False

    def _apply_health(self, status: str, detail: str) -> None:
        self.state.apply(events.HealthChanged(status, detail))
        self.subagents.apply(events.HealthChanged(status, detail))

    def _interrupted(self, turn: Turn, accepted: bool) -> Interruption:
        since = self._clock.now() if turn.sent_at is None else turn.sent_at
        decisions = self._decisions_since(self.id, since)
        return interrupted_turn(turn.number, turn.text, self.state.snapshot(), decisions, accepted=accepted)

    def connection_ended(self, status: str, detail: str) -> None:
        """Take the end of the connection: nothing that is queued will be sent."""
        self._turns.stop(ConnectionLost(detail or "the connection has ended"))
        self._turns.drop(ConnectionClosed("the prompt was not sent: the connection has ended"))
        self._updates.close()
        self.replay_ends()
        self._reminders.connection_lost()
        self.injections.ended("the connection has ended")
        self._apply_health(status, detail)

    # --- the end ------------------------------------------------------------------------------------------------------

    def _is_gone(self, error: AcpError) -> None:
        """Take the agent's word that it does not know the session any more."""
        self.give_up("the agent does not know it any more", error)

    def give_up(self, why: str, error: AcpError, summary: str = "") -> None:
        """Take it that nobody can go on with this session.

        Args:
            why: the end of a sentence that says so.
            error: what says so.
            summary: what the user is to be told, where the connection was lost before.
        """
        self._lost, was_open = True, not self._closed
        if summary:
            self._note_break("context", summary)
        self._closed = f"session {self.id} is lost: {why}. Go on with open_session()"
        note = Diagnostic(DiagnosticKind.UNEXPECTED, f"the session is lost: {error}", session_id=self.id)
        self._report(note)
        self._apply_health("lost", str(error))
        if was_open:  # else its id may be another session's by now
            self._tell_gone(self.id)

    def let_go(self) -> None:
        """Take the end of the session: the agent has let it go, and may never answer the prompt on the wire."""
        self._closed = self._closed or f"session {self.id} was closed; load or resume it to go on with it"
        self._turns.drop(InvalidState(f"the prompt was not sent: {self._closed}"))
        self._updates.close()
        self.replay_ends()
        self._terminals.close()
        self.injections.ended(self._closed)
        self.state.apply(events.SessionClosed())
        self.subagents.apply(events.SessionClosed())
        self._turns.abandon_closed("the session was closed")
        self._turns.forget_prompt()

    # --- reports ------------------------------------------------------------------------------------------------------

    def _tell_notice(self, notice: Notice, replayed: bool) -> None:
        during_replay = replayed or self._awaits_opening
        self._notice_router.receive(self.id, notice, self.notices, during_replay=during_replay)

    def _report_reminder(self, diagnostic: Diagnostic) -> None:
        self._report(evolve(diagnostic, session_id=self.id))

    def _report_misfit(self, problem: str) -> None:
        self._report(Diagnostic(DiagnosticKind.UNEXPECTED, problem, session_id=self.id))

    def _report_observer(self, observer: Callable[..., Any], error: BaseException) -> None:
        text = f"an observer of the session failed: {type(error).__name__}: {error}"
        self._report(Diagnostic(DiagnosticKind.HANDLER_FAILED, text, session_id=self.id))
