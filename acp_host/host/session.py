"""A conversation with the agent: :class:`Session`."""

from __future__ import annotations

import asyncio
import functools
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from attrs import frozen

from acp_host.diagnostics import Diagnostic, DiagnosticKind, throttled
from acp_host.errors import AcpError, ConnectionClosed, InvalidInput, InvalidState, MalformedResponse
from acp_host.host.driver import Driver
from acp_host.host.incoming import IncomingRequests, OpenRequest
from acp_host.host.notices import NoticeRouter
from acp_host.host.prompt_content import PromptPart, content_blocks
from acp_host.host.turn import PromptToSend, Turn
from acp_host.host.update_buffer import UpdateBuffer, UpdatesSkipped
from acp_host.wire._model import UNSET
from acp_host.wire.config_options import (
    SetSessionConfigOptionRequest,
    SetSessionConfigOptionResponse,
    SetSessionModeRequest,
    SetSessionModeResponse,
)
from acp_host.wire.ids import RequestId
from acp_host.wire.notices import Notice
from acp_host.wire.prompt import CancelNotification, PromptRequest
from acp_host.wire.session import (
    ForkSessionResponse,
    LoadSessionResponse,
    NewSessionResponse,
    ResumeSessionResponse,
    SessionStatusRequest,
    SessionStatusResponse,
    SetSessionTitleRequest,
    SetSessionTitleResponse,
)
from acp_host.wire.updates import SessionNotification, SessionUpdate

__all__ = ["CancelTimeouts", "Opening", "Session", "SessionContext"]

_T = TypeVar("_T")

Opening = NewSessionResponse | LoadSessionResponse | ResumeSessionResponse | ForkSessionResponse
"""What the agent answered when the session was opened: its modes and configuration options."""


@frozen(kw_only=True)
class CancelTimeouts:
    """How long a cancelled turn may take to end.

    Attributes:
        grace: seconds from ``session/cancel`` until the prompt itself is withdrawn with ``$/cancel_request``.
        withdrawn: further seconds until this side ends the turn by itself.
    """

    grace: float = 10.0
    withdrawn: float = 5.0


@frozen(kw_only=True)
class SessionContext:
    """What the sessions of a connection share.

    Attributes:
        driver: sends the requests.
        incoming: the agent's open requests.
        report: takes diagnostics.
        notices: makes the sessions' notice centers and brings them their notices.
        cancel_timeouts: how long a cancelled turn may take to end.
        after_cancel: called with the session's id when a cancelled turn is over.
    """

    driver: Driver
    incoming: IncomingRequests
    report: Callable[[Diagnostic], None]
    notices: NoticeRouter
    cancel_timeouts: CancelTimeouts
    after_cancel: Callable[[str], None]


class Session:
    """A conversation with the agent; made by the methods of :class:`~acp_host.host.connection.HostConnection`.

    Attributes:
        id: the agent's id of the session.
        cwd: its working directory, absolute.
        opening: the agent's answer to the request that opened it; ``None`` while that is pending.
        notices: what the agent tells the user beside the conversation: toasts and a history.
    """

    def __init__(self, session_id: str, cwd: str, context: SessionContext) -> None:
        self.id = session_id
        self.cwd = cwd
        self.opening: Opening | None = None
        self.notices = context.notices.make_center(session_id)
        self._notice_router = context.notices
        self._driver = context.driver
        self._incoming = context.incoming
        self._report = context.report
        self._report_observer = throttled(context.report)
        self._cancel_timeouts = context.cancel_timeouts
        self._after_cancel = context.after_cancel
        self._queue: deque[Turn] = deque()
        self._current: Turn | None = None
        self._prompt_id: RequestId = None
        self._closed = False
        self._between_turns = UpdateBuffer()
        self._observers: list[Callable[[SessionUpdate], None]] = []
        self._timer: asyncio.TimerHandle | None = None
        self._watches_idle = False
        self._last_activity = 0.0

    # --- turns ------------------------------------------------------------------------------------------------------

    def prompt(
        self,
        content: PromptPart | Iterable[PromptPart],
        *,
        idle_timeout: float | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> Turn:
        """Put a prompt into the session's queue and return its turn at once (``session/prompt``).

        It is sent when the turns before it are over; one turn at a time is on the wire.

        Args:
            content: text, paths, image bytes or content blocks; one or several.
            idle_timeout: seconds without any update after which the turn is cancelled; an open question to the user
                stops the clock. ``None``: no limit.
            meta: ``_meta`` of the request.

        Raises:
            InvalidInput: ``content`` is none that a prompt can take.
            NotSupported: the agent does not take a kind of content; names the capability.
            ConnectionClosed: the connection has ended.
            InvalidState: the session was closed.
        """
        if self._driver.protocol.ended:
            raise ConnectionClosed("the prompt was not queued: the connection has ended")
        if self._closed:
            raise InvalidState(f"session {self.id} was closed; load or resume it to go on with it")
        if idle_timeout is not None and idle_timeout <= 0:
            raise InvalidInput(f"idle_timeout is a number of seconds above 0, not {idle_timeout!r}")
        blocks = content_blocks(content, self._driver.protocol.agreement, self.cwd)
        turn = Turn(PromptToSend(blocks, dict(meta or {}), idle_timeout), self._cancel_turn)
        self._queue.append(turn)
        self._send_next()
        return turn

    @property
    def current_turn(self) -> Turn | None:
        """The turn that is on the wire, or ``None``."""
        return self._current

    @property
    def queued_turns(self) -> tuple[Turn, ...]:
        """The turns that wait, in the order in which they will be sent."""
        return tuple(self._queue)

    def cancel(self) -> None:
        """Cancel the running turn and every queued one; see :meth:`Turn.cancel`."""
        for turn in (*self._queue, *([self._current] if self._current else [])):
            turn.cancel()

    # --- updates outside of turns -----------------------------------------------------------------------------------

    async def next_update_between_turns(self) -> SessionUpdate | UpdatesSkipped:
        """Return the oldest update that belongs to no turn, waiting for one.

        Such updates come before the first prompt, after the end of a turn, and as the replay of a loaded session. The
        newest 10,000 are kept.

        Raises:
            ConnectionClosed: the connection ended, and none is left.
        """
        update = self._between_turns.take()
        while update is None:
            if not await self._between_turns.wait():
                raise ConnectionClosed("the connection has ended; no further update will come")
            update = self._between_turns.take()
        return update

    def on_update(self, observer: Callable[[SessionUpdate], None]) -> Callable[[], None]:
        """Call ``observer`` with every update of the session from now on, in order; return a function that ends this.

        It is called from the reader: an observer that blocks holds everything up. One that raises is reported as a
        diagnostic and called again.
        """
        self._observers.append(observer)
        return lambda: self._observers.remove(observer) if observer in self._observers else None

    # --- requests about this session --------------------------------------------------------------------------------

    async def set_mode(self, mode_id: str, *, force: bool = False) -> SetSessionModeResponse:
        """Switch to another mode (``session/set_mode``).

        Raises:
            RequestFailed: the agent refused.
        """
        return await self._call(
            "session/set_mode", SetSessionModeRequest(self.id, mode_id), SetSessionModeResponse, force
        )

    async def set_config_option(
        self, config_id: str, value: str | bool, *, force: bool = False
    ) -> SetSessionConfigOptionResponse:
        """Give a configuration option another value (``session/set_config_option``).

        Args:
            config_id: the option's id.
            value: a boolean for an on/off option, else the id of the value to select.
            force: send it although its capability was not agreed.

        Raises:
            RequestFailed: the agent refused.
        """
        kind = "boolean" if isinstance(value, bool) else UNSET
        request = SetSessionConfigOptionRequest(session_id=self.id, config_id=config_id, value=value, type=kind)
        return await self._call("session/set_config_option", request, SetSessionConfigOptionResponse, force)

    async def set_title(self, title: str, *, force: bool = False) -> SetSessionTitleResponse:
        """Name the session (``session/set_title``). Unstable.

        Raises:
            NotSupported: the agent does not offer it.
        """
        return await self._call(
            "session/set_title", SetSessionTitleRequest(self.id, title), SetSessionTitleResponse, force
        )

    async def status(self, *, force: bool = False) -> SessionStatusResponse:
        """Ask whether the agent holds the session open (``session/status``). Unstable.

        Raises:
            NotSupported: the agent does not offer it.
        """
        return await self._call("session/status", SessionStatusRequest(self.id), SessionStatusResponse, force)

    async def _call(self, method: str, params: Any, result: type[_T], force: bool) -> _T:
        answer: _T = await self._driver.call(method, params, force=force)
        return answer

    # --- for the connection -----------------------------------------------------------------------------------------

    def receive(self, notification: SessionNotification) -> None:
        """Take an update of this session."""
        update = notification.update
        if update.__class__ is Notice:
            self._notice_router.receive(self.id, update, self.notices)
        turn = self._current
        if turn is None:
            self._between_turns.push(update)
        else:
            turn.receive(update)
            if self._watches_idle:
                self._note_activity()
        if self._observers:
            self._tell_observers(update)

    def end(self) -> None:
        """Take the end of the connection: nothing that is queued will be sent."""
        self._stop_timer()
        self._drop_queue(ConnectionClosed("the prompt was not sent: the connection has ended"))

    def close(self) -> None:
        """Take the end of the session: the agent has let it go, and may never answer the prompt on the wire."""
        self._closed = True
        self._drop_queue(InvalidState("the prompt was not sent: the session was closed"))
        turn = self._current
        if turn is not None and not turn.cancel_requested:
            turn.cancel_requested, turn.cancel_reason = True, "the session was closed"
            self._incoming.cancel_questions(self.id, self._prompt_id)
            self._driver.flush()
            self._start_timer(self._cancel_timeouts.grace, self._withdraw_prompt)

    def _drop_queue(self, error: AcpError) -> None:
        queue, self._queue = self._queue, deque()
        for turn in queue:
            turn.fail(error)
        self._between_turns.close()

    def _tell_observers(self, update: SessionUpdate) -> None:
        for observer in tuple(self._observers):
            try:
                observer(update)
            except Exception as error:
                text = f"an observer of the session's updates failed: {type(error).__name__}: {error}"
                self._report_observer(Diagnostic(DiagnosticKind.HANDLER_FAILED, text, session_id=self.id))

    def note_request(self, request: OpenRequest) -> None:
        """Learn that a request of the agent begins or ends: if it belongs to the turn, the turn is not idle."""
        if self._watches_idle and request.concerns(self.id, self._prompt_id):
            self._note_activity()

    def cancels(self, request: OpenRequest) -> bool:
        """Tell whether a request belongs to a turn that is being cancelled."""
        turn = self._current
        return turn is not None and turn.cancel_requested and request.concerns(self.id, self._prompt_id)

    # --- the turn on the wire ---------------------------------------------------------------------------------------

    def _send_next(self) -> None:
        while self._current is None and self._queue:
            turn = self._queue.popleft()
            params = PromptRequest(self.id, turn.prompt.blocks, turn.prompt.meta or UNSET)
            self._current = turn
            try:
                self._prompt_id = self._driver.send("session/prompt", params, functools.partial(self._ended, turn))
            except AcpError as error:
                self._current = None
                turn.fail(error)
            else:
                self._watch_idle(turn)

    def _ended(self, turn: Turn, end: Any) -> None:
        if turn is not self._current:
            return
        self._leave(turn)
        if not isinstance(end, AcpError):
            turn.finish(end)
        elif turn.cancel_requested and not self._driver.protocol.ended:
            turn.finish_cancelled(end)
        elif isinstance(end, MalformedResponse) and end.has_result:
            self._report(Diagnostic(DiagnosticKind.MALFORMED, str(end), method="session/prompt", session_id=self.id))
            turn.finish_without_reason(end)
        else:
            turn.fail(end)
        # Not at once: what arrived in one piece with the answer cannot be about a prompt that was not sent yet.
        asyncio.get_running_loop().call_soon(self._send_next)

    def _leave(self, turn: Turn) -> None:
        self._stop_timer()
        self._current = None
        if turn.cancel_requested:
            self._after_cancel(self.id)

    def _cancel_turn(self, turn: Turn, reason: str) -> None:
        if turn.cancel_requested:
            return
        turn.cancel_requested = True
        turn.cancel_reason = reason
        if turn is not self._current:
            self._queue.remove(turn)
            turn.finish_cancelled()
            return
        # In one write, the answers first: an agent that waits for a permission may not look for a cancel before it.
        self._incoming.cancel_questions(self.id, self._prompt_id)
        self._driver.notify("session/cancel", CancelNotification(self.id))
        self._start_timer(self._cancel_timeouts.grace, self._withdraw_prompt)

    def _withdraw_prompt(self) -> None:
        self._report_stuck(
            f"has not ended {self._cancel_timeouts.grace:g} s after session/cancel; its prompt is withdrawn"
        )
        self._driver.protocol.cancel(self._prompt_id)
        self._driver.flush()
        self._start_timer(self._cancel_timeouts.withdrawn, self._abandon)

    def _abandon(self) -> None:
        self._report_stuck(
            "never ended after it was cancelled; it is taken as over. Restart the agent if it stays stuck"
        )
        turn = self._current
        if turn is not None:
            self._driver.forget(self._prompt_id)
            self._leave(turn)
            turn.finish_cancelled()
            self._send_next()

    def _report_stuck(self, what: str) -> None:
        text = f"the turn of session {self.id} {what}"
        self._report(Diagnostic(DiagnosticKind.UNEXPECTED, text, method="session/prompt", session_id=self.id))

    # --- the clock of the turn on the wire --------------------------------------------------------------------------

    def _note_activity(self) -> None:
        self._last_activity = asyncio.get_running_loop().time()

    def _watch_idle(self, turn: Turn) -> None:
        self._watches_idle = turn.prompt.idle_timeout is not None
        if turn.prompt.idle_timeout is not None:
            self._note_activity()
            self._start_timer(turn.prompt.idle_timeout, self._check_idle)

    def _check_idle(self) -> None:
        """Cancel a turn that was silent for too long; one timer per timeout, not one per update."""
        turn = self._current
        if turn is None or turn.prompt.idle_timeout is None or turn.cancel_requested:
            return
        if self._incoming.is_waiting(self.id, self._prompt_id):
            self._note_activity()
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
