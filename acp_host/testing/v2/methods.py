"""The methods that the reference agent answers in another way in ACP v2."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping
from typing import Any

from acp_host.errors import InternalError, InvalidParams, RequestCancelled, RequestFailed
from acp_host.testing._running_turn import RunningTurn
from acp_host.testing._session_methods import SessionMethods
from acp_host.testing._turn_methods import TurnMethods
from acp_host.testing.agent_session import AgentSession
from acp_host.testing.agent_side import Handler
from acp_host.testing.agent_turn import AgentTurn
from acp_host.testing.v2.states import StatesV2
from acp_host.testing.v2.updates import Updates, commands, whole_messages
from acp_host.wire.content import ContentBlock
from acp_host.wire.converters import unstructure
from acp_host.wire.prompt import CancelNotification, PromptRequest, PromptResponse, StopReason
from acp_host.wire.session import (
    LoadSessionRequest,
    LoadSessionResponse,
    ResumeSessionRequest,
    ResumeSessionResponse,
    SessionStatus,
    SessionStatusRequest,
    SessionStatusResponse,
)
from acp_host.wire.updates import SessionUpdate

__all__ = ["SessionMethodsV2", "TurnMethodsV2"]


class SessionMethodsV2(SessionMethods):
    """The life of sessions: the answer that opens one has its commands, and its state is told before."""

    def load(self, request: LoadSessionRequest) -> LoadSessionResponse:
        """Open a session, replay it with each message as a whole, and tell its state."""
        session = self._reopen(request)
        updates, side = Updates(), self._connection.side
        for update in whole_messages(unstructure(each, SessionUpdate) for each in session.replay()):
            for said in updates.translate(session.id, update):
                side.notify("session/update", {"sessionId": session.id, "update": said})
        StatesV2(session, side).tell()
        return LoadSessionResponse(**self._settings(session))

    def resume(self, request: ResumeSessionRequest) -> ResumeSessionResponse:
        """Open a session without a replay, and tell its state."""
        session = self._reopen(request)
        StatesV2(session, self._connection.side).tell()
        return ResumeSessionResponse(**self._settings(session))

    def status(self, request: SessionStatusRequest) -> SessionStatusResponse:
        """Tell whether a session is open on any connection, and if so its state."""
        answer = super().status(request)
        if answer.status != SessionStatus.OPEN:
            return answer
        state = StatesV2(self._known(request.session_id), self._connection.side).snapshot()
        return SessionStatusResponse(answer.status, extra={"state": state})

    def _announce_commands(self, session: AgentSession) -> None:
        """Do nothing: they are in the answer."""

    def _settings(self, session: AgentSession) -> dict[str, Any]:
        told = commands(unstructure(command) for command in self._agent.commands)
        return {
            "config_options": session.settings.options(switches=True),
            "extra": {"availableCommands": told},
        }

    async def _close(self, session: AgentSession) -> None:
        works = list(session.works.values())
        for work in works:
            work.cancel()
        await super()._close(session)
        if works:
            await asyncio.wait(works)


class TurnMethodsV2(TurnMethods):
    """Turns: a prompt is answered when it is accepted, and states tell the rest."""

    def handlers(self) -> dict[str, Handler]:
        """Return the handlers by wire method."""
        return {
            **super().handlers(),
            "tool_call/cancel": lambda params: self.cancel_work("tool_call", "toolCallId", params),
            "terminal/cancel": lambda params: self.cancel_work("terminal", "terminalId", params),
        }

    def prompt(self, request: PromptRequest) -> Any | Awaitable[Any]:
        """Accept a prompt: at once, or after the work that the agent does in the session."""
        session = self._check_prompt(request)
        if session.turn is None:
            return self._accept(session, request)
        return self._hold(session, request, session.cancellations)

    async def _hold(self, session: AgentSession, request: PromptRequest, cancellations: int) -> dict[str, Any]:
        while session.turn is not None:
            await session.turn.finished.wait()
            if session.cancellations != cancellations:
                raise RequestCancelled("The session was cancelled before the prompt's turn came")
        return self._accept(session, request)

    def _accept(self, session: AgentSession, request: PromptRequest) -> dict[str, Any]:
        message_id = self._insert(session, request)
        turn, running = self._begin(session, request.prompt, self._agent.script)
        self._connection.side.start(self._converse(session, turn, running, message_id))
        return {"messageId": message_id}

    async def _converse(self, session: AgentSession, turn: AgentTurn, running: RunningTurn, message_id: str) -> None:
        """Show the prompt in the conversation, which is not done before its answer, and run the turn."""
        content = [unstructure(block, ContentBlock) for block in turn.prompt]
        update = {"sessionUpdate": "user_message", "messageId": message_id, "content": content}
        self._connection.side.notify("session/update", {"sessionId": session.id, "update": update})
        await self._run(session, turn, running)

    async def _run(self, session: AgentSession, turn: AgentTurn, running: RunningTurn) -> PromptResponse:
        states = StatesV2(session, self._connection.side)
        states.running()
        reason, failure = "error", None
        try:
            reason = await running.run()
        except RequestFailed as error:
            failure = error
        except Exception as error:
            failure = InternalError(f"{type(error).__name__}: {error}")
        except asyncio.CancelledError:  # the host is gone; who resumes the session is told that nothing is done in it
            states.idle(StopReason.CANCELLED)
            raise
        finally:
            usage = self._finish(session, turn)
        states.idle(reason, usage=usage if self._agent.unstable else None, error=failure)
        return PromptResponse(reason)

    def cancel(self, notification: CancelNotification) -> None:
        """Cancel the work in a session, and the prompts that wait for its end."""
        self._connection.open_session(notification.session_id).cancellations += 1
        super().cancel(notification)

    def cancel_work(self, kind: str, member: str, params: Any) -> dict[str, Any]:
        """Cancel one tool call or terminal."""
        given: Mapping[str, Any] = params if isinstance(params, Mapping) else {}
        session = self._connection.open_session(given.get("sessionId", ""))
        work = session.works.get((kind, given.get(member, "")))
        if work is None:
            raise InvalidParams(f"there is no such {kind} to cancel", data={"path": f"$.params.{member}"})
        work.cancel()
        return {}
