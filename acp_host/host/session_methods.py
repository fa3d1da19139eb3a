"""The requests about one session that set or ask something: :class:`SessionMethods`.

What the agent takes is folded into the state in the same step as its answer is read, so that an update right behind the
answer counts more.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from acp_host.diagnostics import Diagnostic, DiagnosticKind
from acp_host.errors import AcpError, MalformedResponse
from acp_host.host.driver import Driver
from acp_host.state import events
from acp_host.state.session_state import SessionState
from acp_host.wire._model import UNSET
from acp_host.wire.config_options import (
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

__all__ = ["SessionMethods"]

_T = TypeVar("_T")


class SessionMethods:
    """The typed requests about a session; a base of :class:`~acp_host.host.session.Session`."""

    id: str
    state: SessionState
    _driver: Driver
    _report: Callable[[Diagnostic], None]
    _close_session: Callable[..., Awaitable[CloseSessionResponse]]

    async def set_mode(self, mode_id: str, *, force: bool = False) -> SetSessionModeResponse:
        """Switch to another mode (``session/set_mode``); :attr:`state` shows it when the agent has answered.

        Raises:
            RequestFailed: the agent refused.
        """
        request = SetSessionModeRequest(self.id, mode_id)

        def is_set(answer: SetSessionModeResponse) -> None:  # some agents tell it in no other way
            self.state.apply(events.ModeChanged(mode_id))

        return await self._call("session/set_mode", request, SetSessionModeResponse, force, is_set)

    async def set_config_option(
        self, config_id: str, value: str | bool, *, force: bool = False
    ) -> SetSessionConfigOptionResponse:
        """Give a configuration option another value (``session/set_config_option``).

        :attr:`state` shows it when the agent has answered, and what it says about the other options.

        Args:
            config_id: the option's id.
            value: a boolean for an on/off option, else the id of the value to select.
            force: send it although its capability was not agreed.

        Raises:
            RequestFailed: the agent refused.
        """
        kind = "boolean" if isinstance(value, bool) else UNSET
        request = SetSessionConfigOptionRequest(session_id=self.id, config_id=config_id, value=value, type=kind)

        def is_set(answer: SetSessionConfigOptionResponse) -> None:
            options = answer.config_options
            told = events.ConfigOptionsReplaced(options) if options else events.ConfigOptionSet(config_id, value)
            self.state.apply(told)

        def is_set_without_a_word(error: AcpError) -> None:
            if _says_nothing(error):
                method = "session/set_config_option"
                self._report(Diagnostic(DiagnosticKind.REPAIRED, str(error), method=method, session_id=self.id))
                is_set(SetSessionConfigOptionResponse(()))

        try:
            return await self._call(
                "session/set_config_option",
                request,
                SetSessionConfigOptionResponse,
                force,
                is_set,
                is_set_without_a_word,
            )
        except MalformedResponse as error:
            if _says_nothing(error):
                return SetSessionConfigOptionResponse(())
            raise

    async def close(self, *, force: bool = False) -> CloseSessionResponse:
        """Let the agent free what the session holds (``session/close``); the host's processes for it are ended too.

        Raises:
            NotSupported: the agent does not offer it.
        """
        return await self._close_session(self.id, force=force)

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

    async def _call(
        self,
        method: str,
        params: Any,
        result: type[_T],
        force: bool,
        on_result: Callable[[_T], None] = lambda _: None,
        on_error: Callable[[AcpError], None] = lambda _: None,
    ) -> _T:
        answer: _T = await self._driver.call(method, params, force=force, on_result=on_result, on_error=on_error)
        return answer


def _says_nothing(error: AcpError) -> bool:
    """Whether what a call ended with is a result without what it should have: some agents answer with ``{}``."""
    return isinstance(error, MalformedResponse) and error.has_result and error.result in (None, {})
