"""What the recorded host did, done again by the host of now: :class:`HostActions`.

==============================================  ========================================================================
the recorded host sent                          the host of now
==============================================  ========================================================================
``session/new|fork``, ``session/load|resume``   opens the session; no directory has to exist
``session/prompt``                              queues the prompt; reminders that lead it are reminders again
``session/cancel``                              cancels the turn that runs
``session/set_mode|set_model|…``                sets the option
a reminder, a message into a running turn       sends it the same way
``session/close|delete|archive``                lets go of the session once the agent has
any other request                               sends it as it was
==============================================  ========================================================================
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from acp_host.host.session import Session
from acp_host.host.turn import PromptToSend
from acp_host.reminders import ReminderPolicy
from acp_host.replay.recorded_reminders import CARRIERS, leading_in, policy_from, reminder_in
from acp_host.replay.replayed_host import ReplayedHost
from acp_host.state.reminder_entry import Rung
from acp_host.wire.content import ContentBlock
from acp_host.wire.converters import structure_tolerant
from acp_host.wire.prompt import PromptRequest

__all__ = ["HostActions"]

_Params = Mapping[str, Any]

_CREATES = ("session/new", "session/fork")
_REOPENS = ("session/load", "session/resume")
_CLOSES = ("session/close", "session/delete", "session/archive")


class HostActions:
    """Does again what a recorded request was for.

    Args:
        host: the host of now.
        goes_on: tells whether the recorded host opened a session again right after it had closed it.
        in_the_middle: the beginning of the recording is missing, so that sessions are open which nobody has seen open.
    """

    def __init__(self, host: ReplayedHost, goes_on: Callable[[str], bool], *, in_the_middle: bool) -> None:
        self._host = host
        self._goes_on = goes_on
        self._in_the_middle = in_the_middle

    async def do(self, method: str, params: Any) -> None:
        """Do it, and wait until the recorded agent has answered.

        Raises:
            AcpError: it came to nothing, as it did then; or the host of now would not send such a thing.
        """
        given: _Params = params if isinstance(params, Mapping) else {}
        if method == "initialize":
            await self._host.initialize()
        elif method in _CREATES:
            await self._host.create(method, given)
        elif method in _REOPENS:
            # In version 2, a session is resumed with its history.
            await self._host.reopen("session/load" if given.get("replayFrom") else method, given)
        elif method in _CLOSES:
            await self._close(method, given)
        else:
            session = self._session(given)
            if session is None and method == "session/prompt":
                self._host.report("a prompt for a session that was not open is in no transcript", method=method)
            again = None if session is None else self._in_session(session, method, given)
            await (self._host.call(method, params) if again is None else again)

    def cancel(self, params: _Params) -> None:
        """Do again what a ``session/cancel`` was for.

        A prompt that waits here was on the wire, too, if it is in the recording; what became of it is to come.
        """
        session = self._host.session(params.get("sessionId"))
        if session is not None and session.current_turn is not None:
            session.current_turn.cancel()

    def _session(self, params: _Params) -> Session | None:
        """Return the session of a request; one that was opened before the recording begins is made known."""
        session_id = params.get("sessionId")
        if not isinstance(session_id, str) or not session_id:
            return None
        session = self._host.session(session_id)
        return self._host.know(session_id) if session is None and self._in_the_middle else session

    def _in_session(self, session: Session, method: str, params: _Params) -> Awaitable[Any] | None:
        """Return what does again what a request in a session was for; ``None``: it is only sent."""
        match method, params:
            case "session/prompt", _:
                return self._prompt(session, params)
            case "session/set_mode", {"modeId": str() as mode}:
                return session.set_mode(mode, force=True)
            case "session/set_model", {"modelId": str() as model}:
                return session.set_model(model, force=True)
            case "session/set_config_option", {"configId": str() as option, "value": str() | bool() as value}:
                return session.set_config_option(option, value, force=True)
            case "session/set_title", {"title": str() as title}:
                return session.set_title(title, force=True)
            case (("session/inject_reminder" | "session/remind"), _):
                return session.remind(reminder_in(params), policy=policy_from(CARRIERS[method]))
            case "session/revoke_reminder", {"reminderId": str() as reminder}:
                return session.reminders.revoke(reminder)
            case "session/pending_injections", _:
                return session.pending_injections()
            case "session/inject", {"mode": str() as mode, "content": list() as content}:
                return session.inject(_blocks(content), mode=mode, goal=_goal(params))
            case "session/revoke_inject", {"messageId": str() as message}:
                return session.injections.revoke(message)
            case "session/replace_inject", {"messageId": str() as message, "content": list() as content}:
                return session.injections.replace(message, _blocks(content))
        if session.agreement.harn is None:
            return None
        from acp_host.replay.harn_actions import harn_action  # loaded for such agents only

        return harn_action(session, method, params)

    async def _prompt(self, session: Session, params: _Params) -> None:
        request: PromptRequest = structure_tolerant(params, PromptRequest)[0]
        leading, own = leading_in(request.prompt)
        for reminder in leading:
            session.remind_soon(reminder, policy=ReminderPolicy(rungs=(Rung.PREFIXED_USER_MESSAGE,)))
        await session.queue_prompt(PromptToSend(own, dict(request.meta or {}))).wait()

    async def _close(self, method: str, params: _Params) -> None:
        await self._host.call(method, params)
        session_id = params.get("sessionId")
        if isinstance(session_id, str) and not self._goes_on(session_id):
            await self._host.forget(session_id)


def _blocks(content: list[Any]) -> tuple[ContentBlock, ...]:
    request: PromptRequest = structure_tolerant({"sessionId": "-", "prompt": content}, PromptRequest)[0]
    return request.prompt


def _goal(params: _Params) -> str | None:
    goal = params.get("goal")
    objective = goal.get("objective") if isinstance(goal, Mapping) else None
    return objective if isinstance(objective, str) else None
