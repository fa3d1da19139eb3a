"""The requests about one session that set or ask something: :class:`SessionMethods`.

What the agent takes is folded into the state in the same step as its answer is read, so that an update right behind the
answer counts more.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from acp_host.diagnostics import Diagnostic, DiagnosticKind
from acp_host.errors import AcpError, InvalidInput, MalformedResponse, MethodNotFound, NotSupported
from acp_host.host.session_context import SessionContext
from acp_host.printable import printable
from acp_host.protocol.negotiation import Agreement
from acp_host.state.events import OptionSetFailed, OptionSetSent, OptionSetTaken, SessionInfoChanged
from acp_host.state.option_entries import OptionSource
from acp_host.state.options import OptionsView
from acp_host.state.session_state import SessionState
from acp_host.wire._model import NO_EXTRA, UNSET
from acp_host.wire.config_options import (
    SessionConfigOptionCategory,
    SetSessionConfigOptionRequest,
    SetSessionConfigOptionResponse,
    SetSessionModeRequest,
    SetSessionModeResponse,
)
from acp_host.wire.session import (
    CloseSessionResponse,
    SessionStatusRequest,
    SessionStatusResponse,
    SetSessionTitleRequest,
    SetSessionTitleResponse,
)

if TYPE_CHECKING:
    from acp_host.wire.v2.terminals import CancelTerminalResponse
    from acp_host.wire.v2.tool_calls import CancelToolCallResponse

__all__ = ["SessionMethods", "title_request"]

_T = TypeVar("_T")


class SessionMethods:
    """The typed requests about a session; a base of :class:`~acp_host.host.session.Session`.

    Args:
        context: what the session gets from its connection.
    """

    id: str
    state: SessionState
    _closed: str
    _report: Callable[[Diagnostic], None]

    def __init__(self, context: SessionContext) -> None:
        self._driver = context.driver
        self._logged_in = context.authentication.logged_in
        self._close_session = context.close_session
        self._set_numbers = itertools.count(1)
        self._made: dict[Callable[..., Any], Any] = {}

    @property
    def options(self) -> OptionsView:
        """What the user can set: configuration options, modes and models in one form; reactive."""
        return self.state.options

    async def set_option(self, option_id: str, value: str | bool, *, force: bool = False) -> None:
        """Set one of :attr:`options`, by the method that its source needs.

        It is shown at once, as ``pending``; where the agent refuses it, what the agent last said is shown again.

        Args:
            option_id: its ``id``.
            value: the ``value`` of one of its choices, or a boolean for a switch.
            force: send it although it was not agreed.

        Raises:
            InvalidInput: there is no such option, or it cannot have this value; nothing was sent.
            RequestFailed: the agent refused.
            OutcomeUnknown: the connection ended before the answer.
        """
        options = self.options.snapshot()
        option = options.get(option_id)
        if option is None:
            named = ", ".join(printable(each.id) for each in options.entries) or "none"
            raise InvalidInput(f"the session has no option {option_id!r}; its options are: {named}")
        option.check(value)
        if option.source is OptionSource.CONFIG_OPTION:
            await self.set_config_option(option.id, value, force=force)
        elif option.source is OptionSource.MODE:
            await self.set_mode(str(value), force=force)
        else:
            await self.set_model(str(value), force=force)

    async def cancel_tool_call(self, tool_call_id: str) -> CancelToolCallResponse:
        """Ask the agent to cancel one tool call, and nothing else (``tool_call/cancel`` of version 2).

        The answer says that it will; the call is over when its entry in the transcript says so.

        Args:
            tool_call_id: the agent's id of a call whose entry is ``cancellable``.

        Raises:
            InvalidInput: there is no such call.
            NotSupported: the agent does not offer to cancel it, or not any more; nothing was sent.
            RequestFailed: the agent refused.
            OutcomeUnknown: the connection ended before the answer.
        """
        call = self.state.tool_call(tool_call_id)
        if call is None:
            raise InvalidInput(f"the session has no tool call {tool_call_id!r}")
        _check_cancellable(call.cancellable, f"the tool call {tool_call_id!r}", "tool_call/cancel")
        from acp_host.wire.v2.tool_calls import CancelToolCallRequest

        answer: CancelToolCallResponse = await self._driver.call(
            "tool_call/cancel", CancelToolCallRequest(self.id, tool_call_id)
        )
        return answer

    async def cancel_terminal(self, terminal_id: str) -> CancelTerminalResponse:
        """Ask the agent to end a command that it runs by itself (``terminal/cancel`` of version 2).

        The answer says that it will; the command has ended when the state's ``terminals`` say so.

        Args:
            terminal_id: the agent's id of a terminal that is ``cancellable``.

        Raises:
            InvalidInput: the agent has no such terminal.
            NotSupported: the agent does not offer to end it, or not any more; nothing was sent.
            RequestFailed: the agent refused.
            OutcomeUnknown: the connection ended before the answer.
        """
        terminal = self.state.snapshot().terminals.get(terminal_id)
        if terminal is None:
            raise InvalidInput(f"the session has no terminal {terminal_id!r}")
        _check_cancellable(terminal.cancellable, f"the terminal {terminal_id!r}", "terminal/cancel")
        from acp_host.wire.v2.terminals import CancelTerminalRequest

        answer: CancelTerminalResponse = await self._driver.call(
            "terminal/cancel", CancelTerminalRequest(self.id, terminal_id)
        )
        return answer

    async def set_mode(self, mode_id: str, *, force: bool = False) -> SetSessionModeResponse:
        """Switch to another mode (``session/set_mode``); :meth:`set_option` does it for every agent.

        In version 2 of the protocol the modes are a configuration option of the category ``mode``, which is set then.

        Raises:
            RequestFailed: the agent refused.
            NotSupported: it speaks version 2, and the session has no such option.
        """
        option = self._mode_option() if self.agreement.protocol_version == 2 else None
        if option is not None:
            await self.set_config_option(option, mode_id, force=force)
            return SetSessionModeResponse()
        sent = OptionSetSent(next(self._set_numbers), OptionSource.MODE, mode_id)
        request = SetSessionModeRequest(self.id, mode_id)
        answer = await self._set(sent, "session/set_mode", request, force)
        return answer or SetSessionModeResponse()

    def _mode_option(self) -> str | None:
        """Return the id of the configuration option that is the session's mode."""
        options = self.options.snapshot().entries
        return next((each.id for each in options if each.category == SessionConfigOptionCategory.MODE), None)

    async def set_model(self, model_id: str, *, force: bool = False) -> None:
        """Switch to another model (``session/set_model``) of an agent that tells of models as an older draft has it.

        :meth:`set_option` does it for every agent.

        Raises:
            RequestFailed: the agent refused.
        """
        sent = OptionSetSent(next(self._set_numbers), OptionSource.MODEL, model_id)
        await self._set(sent, "session/set_model", {"sessionId": self.id, "modelId": model_id}, force)

    async def set_config_option(
        self, config_id: str, value: str | bool, *, force: bool = False
    ) -> SetSessionConfigOptionResponse:
        """Give a configuration option another value (``session/set_config_option``); :meth:`set_option` checks it.

        Args:
            config_id: the option's id.
            value: a boolean for an on/off option, else the id of the value to select.
            force: send it although its capability was not agreed.

        Raises:
            RequestFailed: the agent refused.
        """
        sent = OptionSetSent(next(self._set_numbers), OptionSource.CONFIG_OPTION, value, config_id)
        kind = "boolean" if isinstance(value, bool) else UNSET
        request = SetSessionConfigOptionRequest(session_id=self.id, config_id=config_id, value=value, type=kind)
        answer = await self._set(sent, "session/set_config_option", request, force)
        return answer or SetSessionConfigOptionResponse(())

    async def _set(self, sent: OptionSetSent, method: str, request: Any, force: bool) -> Any:
        """Send a set, and fold what becomes of it in the same step as that is read.

        Returns:
            The answer; ``None`` if it is a result that cannot be read: some agents answer with ``{}``.
        """

        def taken(answer: Any) -> None:
            self.state.apply(OptionSetTaken(sent, getattr(answer, "config_options", ())))

        def failed(error: BaseException) -> None:
            if isinstance(error, MalformedResponse) and error.has_result:
                self._report(Diagnostic(DiagnosticKind.REPAIRED, str(error), method=method, session_id=self.id))
                taken(None)
            else:
                self.state.apply(OptionSetFailed(sent.number, str(error)))

        def send() -> Awaitable[Any]:
            self.state.apply(sent)
            return self._driver.call(method, request, force=force, on_result=taken, on_error=failed, on_late=taken)

        try:
            return await self._logged_in(method, send)
        except MalformedResponse as error:
            if not error.has_result:
                raise
            return None
        except asyncio.CancelledError:
            self.state.apply(OptionSetFailed(sent.number, "it was given up before the agent answered"))
            raise
        except AcpError as error:
            failed(error)  # it may not have been sent at all
            raise

    def once(self, make: Callable[[Self], _T]) -> _T:
        """Return what ``make`` makes of this session; it is made once, and lives as long as the session.

        For what is built on sessions and holds something of its own for each.
        """
        if make not in self._made:
            self._made[make] = make(self)
        made: _T = self._made[make]
        return made

    @property
    def agreement(self) -> Agreement:
        """What was agreed with the agent."""
        return self._driver.agreement

    async def ext_request(
        self,
        method: str,
        params: Mapping[str, Any] = NO_EXTRA,
        *,
        on_result: Callable[[Any], None] = lambda _: None,
    ) -> Any:
        """Send a request of an extension about this session, and return its result as plain JSON.

        There is no time limit: some agents answer only when the turn is over. Cancel the task to give it up.

        Args:
            method: wire method.
            params: plain JSON; ``sessionId`` is put in.
            on_result: called with the result before any later message of the agent is looked at, also where the task
                was cancelled meanwhile: the agent has done it all the same.

        Raises:
            RequestFailed: the agent refused, or does not have the method.
            OutcomeUnknown: the connection ended before the answer.
        """
        whole = {"sessionId": self.id, **params}
        try:
            return await self._logged_in(
                method, lambda: self._driver.call(method, whole, on_result=on_result, on_late=on_result)
            )
        except MethodNotFound:
            self._driver.absent.add(method)
            raise

    def lacks(self, method: str) -> bool:
        """Whether the agent has said on this connection, in any session, that it does not have such a method."""
        return method in self._driver.absent

    def ext_notify(self, method: str, params: Mapping[str, Any] = NO_EXTRA) -> None:
        """Send a notification of an extension about this session; arguments as for :meth:`ext_request`."""
        self._driver.notify(method, {"sessionId": self.id, **params})

    def report_malformed(self, method: str, problems: Iterable[str]) -> None:
        """Make diagnostics of what could not be used in an answer to an extension's request."""
        for problem in problems:
            text = f"the answer to {method} is malformed: {problem}"
            self._report(Diagnostic(DiagnosticKind.MALFORMED, text, method=method, session_id=self.id))

    async def close(self, *, force: bool = False, timeout: float | None = None) -> CloseSessionResponse:
        """Let the agent free what the session holds (``session/close``); the host's processes for it are ended too.

        One that is closed or lost already stays so, and nothing is sent: its id may mean another session by now.

        Args:
            force: send it although it was not agreed.
            timeout: seconds until the request is withdrawn, and the session stays open; ``None`` for no limit.

        Raises:
            NotSupported: the agent does not offer it.
            TimeoutError: no answer within ``timeout``; the agent was told with ``$/cancel_request``.
        """
        if self._closed:
            return CloseSessionResponse()
        return await self._close_session(self.id, force=force, timeout=timeout)

    async def set_title(self, title: str, *, force: bool = False) -> SetSessionTitleResponse:
        """Name the session (``session/set_title``); :attr:`state` has the title as the agent keeps it. Unstable.

        Raises:
            InvalidInput: the title is blank.
            NotSupported: the agent does not offer it.
        """

        def named(answer: SetSessionTitleResponse) -> None:  # the agent may have cut it
            self.state.apply(SessionInfoChanged(answer.title))

        request = title_request(self.id, title)
        return await self._call("session/set_title", request, SetSessionTitleResponse, force, named)

    async def status(self, *, force: bool = False) -> SessionStatusResponse:
        """Ask whether the agent holds the session open (``session/status``). Unstable.

        Raises:
            NotSupported: the agent does not offer it.
        """
        return await self._call("session/status", SessionStatusRequest(self.id), SessionStatusResponse, force)

    async def _call(
        self,
        method: str,
        params: Any,
        result: type[_T],
        force: bool,
        on_result: Callable[[_T], None] = lambda _: None,
    ) -> _T:
        answer: _T = await self._logged_in(
            method, lambda: self._driver.call(method, params, force=force, on_result=on_result)
        )
        return answer


def _check_cancellable(is_cancellable: bool, what: str, method: str) -> None:
    if not is_cancellable:
        raise NotSupported(
            f"the agent does not offer to cancel {what}; nothing was sent", capability="cancel", method=method
        )


def title_request(session_id: str, title: str) -> SetSessionTitleRequest:
    """Return the request to name a session.

    Raises:
        InvalidInput: the title is blank.
    """
    if not title.strip():
        raise InvalidInput("the title of a session cannot be blank")
    return SetSessionTitleRequest(session_id, title)
