"""The turns of a session, one at a time on the wire: :class:`TurnQueue`.

It owns the queue, the turn that is on the wire, how that turn is cancelled step by step, and the clock that cancels a
silent one. It tells the state model of every step.
"""

from __future__ import annotations

import asyncio
import functools
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from acp_host.diagnostics import Diagnostic, DiagnosticKind
from acp_host.errors import (
    AcpError,
    AuthRequired,
    ConnectionClosed,
    InvalidParams,
    MalformedResponse,
    OutcomeUnknown,
    RequestFailed,
    TransportError,
)
from acp_host.host.cancel_timeouts import CancelTimeouts
from acp_host.host.driver import Driver
from acp_host.host.incoming import IncomingRequests
from acp_host.host.interruption import Interruption
from acp_host.host.outcome import Outcome, outcome_of
from acp_host.host.prompt_names import PromptNames
from acp_host.host.reminders import SessionReminders
from acp_host.host.session_gone import says_gone
from acp_host.host.turn import Turn
from acp_host.host.turn_checks import TurnChecks
from acp_host.state import events
from acp_host.state.clock import Clock
from acp_host.wire._model import NO_EXTRA, UNSET
from acp_host.wire.harn.prompt import Terminal
from acp_host.wire.ids import RequestId
from acp_host.wire.prompt import CancelNotification, PromptRequest, PromptResponse, StopReason

if TYPE_CHECKING:
    from acp_host.host.change_check import ChangeCheck

__all__ = ["TurnQueue"]


class TurnQueue:
    """The turn on the wire and those that wait.

    Attributes:
        current: the turn on the wire, or ``None``.
        prompt_id: id of the newest prompt request; ``None`` before the first.
        watches_idle: whether every update of the turn is to be noted with :meth:`note_activity`.
        reminders: see below.

    Args:
        session_id: whose turns they are.
        driver: sends the prompts.
        incoming: the agent's open requests.
        timeouts: how long a cancelled turn may take.
        reminders: leads prompts with reminders, and is told what becomes of them.
        apply: takes what happens, for the state model.
        report: takes diagnostics.
        after_cancel: called when the agent was told of a cancel, and again when the cancelled turn is over.
        log_in_for: lets the user log in because a prompt was refused, and calls back; tells whether it does.
        check: holds what each turn has changed against the policy; ``None``: nobody does.
        gone: called when the agent has answered a prompt that it does not know the session.
        refusal: returns why no prompt may be sent now; ``None`` if one may.
        interrupted: returns what is known of a turn that the end of the connection has cut off, given whether the
            agent has accepted its prompt.
        clock: says when a prompt was written.
    """

    hears_updates: ClassVar[bool] = False
    """Whether it is told of every update: a turn begins and ends with one where the agent says what it is doing."""

    def __init__(
        self,
        session_id: str,
        *,
        driver: Driver,
        incoming: IncomingRequests,
        timeouts: CancelTimeouts,
        reminders: SessionReminders,
        apply: Callable[[events.SessionEvent], None],
        report: Callable[[Diagnostic], None],
        after_cancel: Callable[[str], None],
        log_in_for: Callable[[AuthRequired, Callable[[AcpError | None], None]], bool],
        check: ChangeCheck | None,
        gone: Callable[[RequestFailed], None],
        refusal: Callable[[], AcpError | None],
        interrupted: Callable[[Turn, bool], Interruption],
        clock: Clock,
    ) -> None:
        self.current: Turn | None = None
        self.prompt_id: RequestId = None
        self._session_id = session_id
        self._driver = driver
        self._incoming = incoming
        self.reminders = reminders
        self._timeouts = timeouts
        self._apply = apply
        self._report = report
        self._after_cancel = after_cancel
        self._log_in_for = log_in_for
        self._gone = gone
        self._refusal = refusal
        self._interrupted = interrupted
        self._clock = clock
        self._is_suspended = False
        """Whether the connection is left or lost, and may come back; nothing is sent meanwhile."""
        self._repeated: Turn | None = None
        self._awaits_login = False
        self._after_return: Callable[[], None] | None = None
        """Sends the prompt of the turn on the wire once more, after a login; called by :meth:`resume`."""
        self._checks = TurnChecks(check, lambda: bool(self._queue), self.send_next)
        self._names = PromptNames()
        """What a Harn agent calls the prompts."""
        self._is_held = False
        """Whether a prompt that was given up is still to be answered before another one may be sent."""
        self._queue: deque[Turn] = deque()
        self._timer: asyncio.TimerHandle | None = None
        self.watches_idle = False
        self._last_activity = 0.0

    @property
    def waiting(self) -> tuple[Turn, ...]:
        """The turns that wait, in the order in which they will be sent."""
        return tuple(self._queue)

    def add(self, turn: Turn) -> None:
        """Queue a turn; it is sent at once if none is on the wire."""
        self._queue.append(turn)
        self._apply(events.TurnQueued(turn.number, turn.prompt.blocks))
        self.send_next()

    @property
    def running(self) -> Turn | None:
        """The turn that the agent works on and is meant to go on with, or ``None``."""
        turn = self.current
        return None if turn is None or turn.cancel_requested or self._awaits_login else turn

    @property
    def at_agent(self) -> Turn | None:
        """The turn whose end is the agent's to tell, cancelled or not, or ``None``."""
        return None if self._awaits_login else self.current

    def drop(self, error: AcpError) -> None:
        """Fail every turn that waits."""
        queue, self._queue = self._queue, deque()
        for turn in queue:
            self._apply(events.TurnDropped(turn.number))
            turn.fail_unsent(error)

    def forget_prompt(self) -> None:
        """Learn that nothing will be asked about the newest prompt any more: the session is closed."""
        self._incoming.prompt_is(self._session_id, None, self.prompt_id)

    def hold(self) -> None:
        """Send nothing more until :meth:`resume`; the turn on the wire goes on."""
        self._is_suspended = True

    def suspend(self, cause: AcpError) -> None:
        """Learn that the connection is lost by ``cause`` and may come back: what waits goes on waiting."""
        self.hold()
        self._incoming.prompt_is(self._session_id, None, self.prompt_id)
        self.prompt_id = None  # the next connection counts anew

    def resume(self) -> None:
        """Learn that the agent has opened the session again."""
        self._is_suspended = False
        again, self._after_return = self._after_return, None
        if again is not None:
            again()
        self.send_next()

    def stop(self, cause: AcpError) -> None:
        """Stop the clock; the connection is over, and ``cause`` says why."""
        self._stop_timer()
        if self._after_return is not None and self.current is not None:
            self._awaits_login, self._after_return = False, None
            self._fail_unsent(self.current, ConnectionClosed("the prompt was not sent: the connection has ended"))

    def opened(self) -> None:
        """Learn that the session is open."""

    # --- the turn on the wire ---------------------------------------------------------------------------------------

    def send_next(self) -> None:
        """Send the next turn if none is on the wire; where none may be sent, those that wait fail."""
        if self._is_suspended:
            return
        refusal = self._refusal() if self._queue and self.current is None else None
        if refusal is not None:
            self.drop(refusal)
        while self.current is None and self._queue and not self._is_held and self._is_ready():
            self._checks.turn_begins()
            turn = self._queue.popleft()
            leading = self.reminders.lead_prompt()
            blocks = (*(reminder.block for reminder in leading), *turn.prompt.blocks)
            named = {"messageId": self._names.new(turn.number)} if self.agent_is_harn else NO_EXTRA
            params = PromptRequest(self._session_id, blocks, turn.prompt.meta or UNSET, extra=named)
            self.current = turn
            error = self._write(turn, params)
            if error is not None and self._driver.may_return and isinstance(error, TransportError | ConnectionClosed):
                self._put_back(turn)
                return
            shown = tuple([events.ReminderShown(reminder.id, reminder.body) for reminder in leading])
            self._apply(events.TurnStarted(turn.number, turn.prompt.blocks, blocks, shown))
            if error is not None:
                self._fail_unsent(turn, error)

    @property
    def agent_is_harn(self) -> bool:
        """Whether the agent is Harn."""
        return self._driver.agreement.harn is not None

    def has_named(self, name: str) -> bool:
        """Tell whether a prompt with this name was sent here, as far as is remembered."""
        return name in self._names

    def ended_turn(self, name: str | None) -> int | None:
        """Return the number of the turn whose prompt has this name, if it is over; ``None`` for every other name."""
        number = self._names.turn_of(name)
        return None if self.current is not None and self.current.number == number else number

    def _is_ready(self) -> bool:
        """Tell whether the next turn may be sent; :meth:`send_next` is called again when it may."""
        return self._checks.is_ready()

    def _write(self, turn: Turn, params: PromptRequest) -> AcpError | None:
        """Write the prompt of the turn on the wire; return why nothing was written, if that is so."""
        try:
            prompt_id = self._driver.send("session/prompt", params, functools.partial(self._ended, turn, params))
        except AcpError as error:
            return error
        turn.sent_at = turn.sent_at or self._clock.now()
        self._incoming.prompt_is(self._session_id, prompt_id, self.prompt_id)
        self.prompt_id = prompt_id
        self._watch_idle(turn)
        return None

    def _put_back(self, turn: Turn) -> None:
        """Let a turn wait that could not be written: the end of the connection is on its way, and another follows."""
        self.current, self._is_suspended = None, True
        self._queue.appendleft(turn)
        self.reminders.turn_over(ConnectionClosed("the prompt was not sent"))

    def _fail_unsent(self, turn: Turn, error: AcpError) -> None:
        """End a turn whose prompt could not be written."""
        self._leave(turn, error)
        turn.fail_unsent(error)
        self._tell_end(turn)

    def _ended(self, turn: Turn, params: PromptRequest, end: Any) -> None:
        if turn is not self.current or self._repeats_after_login(turn, params, end):
            return
        if isinstance(end, OutcomeUnknown):
            end.interruption = self._interrupted(turn, False)
        self._finish(turn, end)

    def _repeats_after_login(self, turn: Turn, params: PromptRequest, end: Any) -> bool:
        """Let the user log in if a prompt was refused for want of it, and send it once more; tell whether that is so.

        The agent has refused the prompt and done nothing with it, so that this is safe. The clock stands meanwhile.
        """
        if not isinstance(end, AuthRequired) or turn.cancel_requested or turn is self._repeated:
            return False

        def then(failure: AcpError | None) -> None:
            if turn is not self.current:
                return  # it was cancelled, or the session closed
            if failure is None and self._is_suspended:
                self._after_return = functools.partial(self._repeat, turn, params)
            elif failure is None and not self._driver.protocol.ended:
                self._repeat(turn, params)
            else:
                self._awaits_login = False
                end.__cause__ = failure
                self._finish(turn, end)

        self._repeated = turn
        self._awaits_login = self._log_in_for(end, then)
        if self._awaits_login:
            self._stop_timer()
        return self._awaits_login

    def _repeat(self, turn: Turn, params: PromptRequest) -> None:
        """Write the prompt of the turn on the wire once more."""
        if turn is not self.current:
            return
        self._awaits_login = False
        error = self._write(turn, params)
        if error is not None:
            self._fail_unsent(turn, error)
            self.send_next()

    def _finish(self, turn: Turn, end: Any) -> None:
        """End the turn on the wire with what its prompt was answered, and send the next one."""
        self._leave(turn, end)
        self._after_check(turn, functools.partial(self._settle, turn, end))

    def _after_check(self, turn: Turn, settle: Callable[[], None]) -> None:
        """Call ``settle`` once it is known what has changed in a turn that is over; no other one is sent before."""
        self._checks.turn_over(turn, settle)

    def _settle(self, turn: Turn, end: Any) -> None:
        if not isinstance(end, AcpError):
            turn.finish(end, self._outcome(end))
        elif turn.cancel_requested and not isinstance(end, OutcomeUnknown):
            turn.finish_cancelled(end)
        elif isinstance(end, MalformedResponse) and end.has_result:
            diagnostic = Diagnostic(
                DiagnosticKind.MALFORMED, str(end), method="session/prompt", session_id=self._session_id
            )
            self._report(diagnostic)
            turn.finish_without_reason(end)
        else:
            self._report_choices(turn, end)
            turn.fail(end)
        self._tell_end(turn)
        if turn.stop_reason == StopReason.CANCELLED:  # also where this side did not ask for it
            self._drop_followers(turn)
        self._check_gone(end)
        # Not at once: what arrived in one piece with the answer cannot be about a prompt that was not sent yet (R22).
        asyncio.get_running_loop().call_soon(self.send_next)

    def _check_gone(self, end: Any) -> None:
        """Find out whether the agent says by the end of a turn that it does not know the session."""
        if isinstance(end, RequestFailed) and says_gone(end, self._session_id, was_open=True):
            self._gone(end)

    def _outcome(self, response: PromptResponse) -> Outcome:
        terminal, problems = Terminal.of(response.meta)
        for problem in problems:
            kind = DiagnosticKind.MALFORMED
            self._report(Diagnostic(kind, problem, method="session/prompt", session_id=self._session_id))
        return outcome_of(response, terminal, vouches=self.agent_is_harn)

    def _leave(self, turn: Turn, end: Any) -> None:
        self._stop_timer()
        self.current = None
        self.reminders.turn_over(end)
        if turn.cancel_requested:
            self._after_cancel(self._session_id)

    def _tell_end(self, turn: Turn) -> None:
        outcome = turn.outcome
        assert outcome is not None
        usage = turn.result.usage if turn.result else None
        self._apply(events.TurnEnded(turn.number, outcome.kind, turn.stop_reason, outcome.detail, usage))

    # --- cancelling -------------------------------------------------------------------------------------------------

    def cancel(self, turn: Turn, reason: str) -> None:
        """Cancel a turn: drop it if it waits, else answer its questions and tell the agent, in one write."""
        if turn.cancel_requested or turn is self._checks.judging:
            return
        turn.cancel_requested, turn.cancel_reason = True, reason
        if turn is not self.current:
            self._queue.remove(turn)
            self._apply(events.TurnDropped(turn.number))
            turn.finish_cancelled()
            return
        self._drop_followers(turn)
        if self._awaits_login:
            self._abandon_turn(turn)
            return
        # The answers first: an agent that waits for a permission may not look for a cancel before it.
        self._incoming.cancel_questions(self._session_id, self.prompt_id)
        self._driver.notify("session/cancel", CancelNotification(self._session_id))
        self._after_cancel(self._session_id)  # an agent that waits for a command may look for a cancel only after it
        self._start_timer(self._timeouts.grace, self._withdraw_prompt)

    def drop_questions(self) -> None:
        """Answer what the agent asks in the session as cancelled: it does not wait for that any more."""
        self._incoming.cancel_questions(self._session_id, self.prompt_id)
        self._driver.flush()

    def _drop_followers(self, turn: Turn) -> None:
        for waiting in self.waiting:
            if waiting.prompt.follows == turn.number:
                waiting.cancel("the turn before it was cancelled")

    def abandon_closed(self, reason: str) -> None:
        """End the turn on the wire of a session that the agent has let go: its answer may never come."""
        turn = self.current
        if turn is not None and not turn.cancel_requested:
            turn.cancel_requested, turn.cancel_reason = True, reason
            if self._awaits_login:
                self._abandon_turn(turn)
                return
            self._incoming.cancel_questions(self._session_id, self.prompt_id)
            self._driver.flush()
            self._start_timer(self._timeouts.grace, self._withdraw_prompt)

    def _abandon_turn(self, turn: Turn) -> None:
        """End a cancelled turn that the agent will not end: it never does, or its prompt waits for a login."""
        self._awaits_login = False
        self._leave(turn, None)
        self._after_check(turn, functools.partial(self._settle_abandoned, turn))

    def _settle_abandoned(self, turn: Turn) -> None:
        turn.finish_cancelled()
        self._tell_end(turn)
        self.send_next()

    @property
    def is_cancelling(self) -> bool:
        """Whether the turn on the wire is being cancelled."""
        return self.current is not None and self.current.cancel_requested

    def _withdraw_prompt(self) -> None:
        self._report_stuck(f"has not ended {self._timeouts.grace:g} s after session/cancel; its prompt is withdrawn")
        self._driver.protocol.cancel(self.prompt_id)
        self._driver.flush()
        self.wait_no_more()

    def wait_no_more(self) -> None:
        """Wait a last time for the end of a cancelled turn: its prompt is withdrawn."""
        if self.is_cancelling:
            self._start_timer(self._timeouts.withdrawn, self.abandon)

    def abandon(self) -> None:
        """End a cancelled turn that the agent never ends."""
        self._report_stuck("never ended after it was cancelled; it is taken as over. Restart the agent if it is stuck")
        turn = self.current
        if turn is not None:
            self._let_answer_come()
            self._abandon_turn(turn)

    def _let_answer_come(self) -> None:
        """Wait for the answer to a prompt that was given up, as far as anybody has to."""
        # To Harn, another prompt of the session would take the cancel back.
        self._is_held = self.agent_is_harn
        self._driver.forget(self.prompt_id, self._release)

    def _release(self) -> None:
        """Learn that a prompt that was given up is answered."""
        self._is_held = False
        self.send_next()

    def _report_choices(self, turn: Turn, error: AcpError) -> None:
        """Say which options were chosen in a turn that failed since the agent would not take a parameter."""
        if isinstance(error, InvalidParams) and turn.choices:
            text = f"the agent may not have taken the answer to a permission request that it offered itself: {error}"
            data = "\n".join(turn.choices)
            method = "session/request_permission"
            self._report(Diagnostic(DiagnosticKind.PERMISSION, text, None, method, self._session_id, data))

    def _report_stuck(self, what: str) -> None:
        text = f"the turn of session {self._session_id} {what}"
        self._report(Diagnostic(DiagnosticKind.UNEXPECTED, text, method="session/prompt", session_id=self._session_id))

    # --- the clock of the turn on the wire --------------------------------------------------------------------------

    def note_activity(self) -> None:
        """Learn that the turn on the wire is not idle: the agent sends something, or a request of it begins or ends."""
        self._last_activity = asyncio.get_running_loop().time()

    def _watch_idle(self, turn: Turn) -> None:
        self.watches_idle = turn.prompt.idle_timeout is not None
        if turn.prompt.idle_timeout is not None:
            self.note_activity()
            self._start_timer(turn.prompt.idle_timeout, self._check_idle)

    def _check_idle(self) -> None:
        """Cancel a turn that was silent for too long; one timer per timeout, not one per update."""
        turn = self.current
        if turn is None or turn.prompt.idle_timeout is None or turn.cancel_requested:
            return
        if self._incoming.is_waiting(self._session_id, self.prompt_id):
            self.note_activity()
        silent = asyncio.get_running_loop().time() - self._last_activity
        if silent >= turn.prompt.idle_timeout:
            turn.cancel(f"no update for {turn.prompt.idle_timeout:g} s")
        else:
            self._start_timer(turn.prompt.idle_timeout - silent, self._check_idle)

    def _start_timer(self, seconds: float, callback: Callable[[], None]) -> None:
        self._stop_timer()
        self._timer = asyncio.get_running_loop().call_later(seconds, callback)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
