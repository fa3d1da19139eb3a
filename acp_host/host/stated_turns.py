"""The turns of an agent that says what it is doing, as those of version 2 do: :class:`StatedTurns`.

``session/prompt`` is answered as soon as the user's message has its place in the conversation; the turn goes on until
the agent's state says that it is over, see :mod:`acp_host.host.foreground`. An agent may also work without a prompt:
that is a turn, too, and the prompts that come meanwhile wait for its end, since only an agent that is idle is ready for
one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from acp_host.diagnostics import Diagnostic, DiagnosticKind
from acp_host.errors import AcpError, MalformedResponse, OutcomeUnknown, RequestFailed
from acp_host.host.foreground import Foreground
from acp_host.host.turn import PromptToSend, Turn, TurnOrigin
from acp_host.host.turn_queue import TurnQueue
from acp_host.state import events
from acp_host.wire.prompt import PromptRequest, PromptResponse
from acp_host.wire.subagents import IdleStopReason
from acp_host.wire.v2.messages import UserMessage, UserMessageChunk
from acp_host.wire.v2.prompt import PromptResponse as PromptInserted
from acp_host.wire.v2.state_update import SessionStateUpdate

__all__ = ["StatedTurns"]


class StatedTurns(TurnQueue):
    """The turn that is running, a prompt's or the agent's own, and those that wait.

    Args:
        session_id: as for :class:`~acp_host.host.turn_queue.TurnQueue`; so are ``shared``.
        new_turn: makes a turn.
        is_open: whether the session is open and what comes is not its history.
        shared: see above.
    """

    hears_updates: ClassVar[bool] = True

    def __init__(
        self,
        session_id: str,
        *,
        new_turn: Callable[[PromptToSend, TurnOrigin], Turn],
        is_open: Callable[[], bool],
        **shared: Any,
    ) -> None:
        super().__init__(session_id, **shared)
        self._new_turn = new_turn
        self._is_open = is_open
        self._foreground = Foreground()
        self._is_answered = False
        self._ends_with: SessionStateUpdate | None = None
        """What the turn that is running ends with, or what the last one has ended with."""

    # --- what the agent says ----------------------------------------------------------------------------------------

    def hear(self, update: Any) -> None:
        """Take an update before it is brought to the turn: the agent may begin one with it."""
        if isinstance(update, SessionStateUpdate):
            is_over = self._foreground.told(update)
            self._ends_with = update if is_over and self.current is not None else None
            self._begin_by_agent()
        elif isinstance(update, UserMessage | UserMessageChunk):
            self._foreground.user_message(update.message_id)

    def heard(self, update: Any) -> None:
        """Take an update after it was brought to the turn: it may have been the last of it."""
        if not isinstance(update, SessionStateUpdate):
            return
        if self._ends_with is not None and self.current is not None:
            self._finish(self.current, _end(self._ends_with))
        elif not self._foreground.is_active:
            self.send_next()

    def opened(self) -> None:
        """Learn that the session is open: what the agent was at work on before, it goes on with."""
        self._begin_by_agent()

    def _begin_by_agent(self) -> None:
        if self.current is not None or not self._foreground.is_active or not self._is_open():
            return
        turn = self.current = self._new_turn(PromptToSend(()), TurnOrigin.AGENT)
        self._foreground.turn_begins(at_work=True)
        self._checks.turn_begins()
        self._is_answered, self.watches_idle = True, False
        self._ends_with = None
        self._apply(events.TurnStarted(turn.number, (), (), origin=turn.origin))

    # --- what differs from turns that end with the answer to their prompt -------------------------------------------

    def _is_ready(self) -> bool:
        return not self._foreground.is_active and super()._is_ready()

    def _write(self, turn: Turn, params: PromptRequest) -> AcpError | None:
        self._foreground.turn_begins()
        self._is_answered, self._ends_with = False, None
        return super()._write(turn, params)

    def _ended(self, turn: Turn, params: PromptRequest, end: Any) -> None:
        if turn is not self.current:
            return
        if isinstance(end, PromptInserted):
            self._foreground.inserted(end.message_id)
            self._apply(events.PromptInserted(turn.number, end.message_id))
        elif isinstance(end, MalformedResponse) and end.has_result:
            kind = DiagnosticKind.MALFORMED
            self._report(Diagnostic(kind, str(end), method="session/prompt", session_id=self._session_id))
        else:
            super()._ended(turn, params, end)
            self._begin_by_agent()
            return
        self._is_answered = True
        self.reminders.prompt_accepted()

    def _leave(self, turn: Turn, end: Any) -> None:
        if turn.origin == TurnOrigin.USER:
            super()._leave(turn, end)
            return
        self._stop_timer()
        self.current = None
        if turn.cancel_requested:
            self._after_cancel(self._session_id)

    def _after_check(self, turn: Turn, settle: Callable[[], None]) -> None:
        # Before work that the agent begins by itself, nobody could have looked what there was.
        if turn.origin == TurnOrigin.USER:
            super()._after_check(turn, settle)
        else:
            settle()

    def _check_gone(self, end: Any) -> None:
        if not self._is_answered:  # else it is the work that has failed, in a session that is there
            super()._check_gone(end)

    def _tell_end(self, turn: Turn) -> None:
        outcome, idle = turn.outcome, self._ends_with or SessionStateUpdate("")
        assert outcome is not None
        reason = turn.stop_reason or idle.stop_reason or None
        self._apply(events.TurnEnded(turn.number, outcome.kind, reason, outcome.detail, idle.usage or None))

    def _withdraw_prompt(self) -> None:
        if self._is_answered:
            self.wait_no_more()
        else:
            super()._withdraw_prompt()

    def abandon(self) -> None:
        """As where nothing is said about the end; what the agent says of this one counts no more."""
        self._foreground.give_up()
        super().abandon()

    def _let_answer_come(self) -> None:
        if not self._is_answered:
            super()._let_answer_come()

    def _check_idle(self) -> None:
        if self._foreground.requires_action:
            self.note_activity()
        super()._check_idle()

    def stop(self, cause: AcpError) -> None:
        super().stop(cause)
        self._cut_off(cause)

    def suspend(self, cause: AcpError) -> None:
        super().suspend(cause)
        self._cut_off(cause)

    def _cut_off(self, cause: AcpError) -> None:
        """End a turn whose prompt was answered: no call ends with the connection that would end it."""
        self._foreground = Foreground()  # what was told is of this connection
        turn = self.current
        if turn is None or not self._is_answered:
            return
        if turn.origin != TurnOrigin.USER:
            self._finish(turn, cause)
            return
        end = OutcomeUnknown("session/prompt", cause)
        end.interruption = self._interrupted(turn, True)
        self._finish(turn, end)


def _end(idle: SessionStateUpdate) -> Any:
    """Return what a turn ends with, as an agent of version 1 would answer the prompt."""
    error = idle.error
    if idle.stop_reason == IdleStopReason.ERROR:
        if not error:
            return RequestFailed("the agent's work has failed, and it does not say why", method="session/prompt")
        return RequestFailed.from_code(error.code, error.message, error.data or None, "session/prompt")
    if not idle.stop_reason:
        return MalformedResponse("the agent's work is over, and it does not say why", has_result=True, result=None)
    return PromptResponse(idle.stop_reason, idle.usage, idle.meta)
