"""How the reference agent answers prompts and changes of settings: :class:`TurnMethods`."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from typing import TYPE_CHECKING, Any

from acp_host.errors import InvalidParams, InvalidRequest
from acp_host.testing._running_turn import RunningTurn, TurnScript
from acp_host.testing.agent_session import SWITCHES, AgentSession
from acp_host.testing.agent_side import Handler
from acp_host.testing.agent_turn import AgentTurn
from acp_host.wire._model import UNSET
from acp_host.wire.config_options import (
    ConfigOptionUpdate,
    SetSessionConfigOptionRequest,
    SetSessionConfigOptionResponse,
    SetSessionModeRequest,
)
from acp_host.wire.content import (
    AudioContent,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
)
from acp_host.wire.prompt import CancelNotification, PromptRequest, PromptResponse
from acp_host.wire.updates import UserMessageChunk
from acp_host.wire.usage import Usage

if TYPE_CHECKING:
    from acp_host.testing._connection import Connection

__all__ = ["TurnMethods"]

_NEEDS = {ImageContent: "image", AudioContent: "audio", EmbeddedResource: "embeddedContext"}


class TurnMethods:
    """What happens inside the sessions of one connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._agent = connection.agent

    def handlers(self) -> dict[str, Handler]:
        """Return the handlers by wire method."""
        return {
            "session/prompt": self.prompt,
            "session/cancel": self.cancel,
            "session/set_mode": self.set_mode,
            "session/set_config_option": self.set_config_option,
            "session/set_model": self.set_model,
        }

    def prompt(self, request: PromptRequest) -> Awaitable[PromptResponse]:
        """Begin a turn at once, so that a cancel that follows finds it; return what awaits its end."""
        session = self._check_prompt(request)
        if session.turn is not None:
            raise InvalidRequest("a turn is running in this session", data={"sessionId": session.id})
        self._insert(session, request)
        return self._run(session, *self._begin(session, request.prompt, self._agent.script))

    def _check_prompt(self, request: PromptRequest) -> AgentSession:
        """Return the session that a prompt is for, unless something is wrong with it."""
        session = self._connection.open_session(request.session_id)
        self._connection.require_login()
        if not request.prompt:
            raise InvalidParams("a prompt needs at least one block", data={"path": "$.params.prompt"})
        for block in request.prompt:
            self._check_block(block)
        return session

    def _insert(self, session: AgentSession, request: PromptRequest) -> str:
        """Put a prompt into the history of its session; return the message's id."""
        message_id = self._agent.number("message")
        session.history += [UserMessageChunk(block, message_id=message_id) for block in request.prompt]
        return message_id

    def _begin(
        self, session: AgentSession, prompt: tuple[ContentBlock, ...], script: TurnScript
    ) -> tuple[AgentTurn, RunningTurn]:
        session.turns += 1
        session.updated_at = self._agent.now()
        turn = AgentTurn(session, prompt, self._connection.turn_context(session))
        session.turn = RunningTurn(turn, script)
        return turn, session.turn

    async def _run(self, session: AgentSession, turn: AgentTurn, running: RunningTurn) -> PromptResponse:
        try:
            reason = await running.run()
        finally:
            usage = self._finish(session, turn)
        return PromptResponse(reason, usage=usage if self._agent.unstable else UNSET)

    def _finish(self, session: AgentSession, turn: AgentTurn) -> Usage:
        """Count a turn that is over, and begin what the agent means to do by itself; return the usage."""
        session.turn = None
        self._connection.desk.turn_ended(session)
        if session.later:
            self._connection.side.start(self._work_by_itself(session))
        return turn.usage()

    async def _work_by_itself(self, session: AgentSession) -> None:
        if session.turn is None and session.later and session.reader is self._connection:
            await self._run(session, *self._begin(session, (), session.later.pop(0)))

    def cancel(self, notification: CancelNotification) -> None:
        """Cancel the turn that runs in a session."""
        session = self._connection.open_session(notification.session_id)
        if session.turn is not None:
            session.turn.cancel()

    def set_mode(self, request: SetSessionModeRequest) -> None:
        """Turn a mode on."""
        self._change(self._connection.open_session(request.session_id), "mode", request.mode_id)

    def set_model(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Choose a model, in the way of an older draft; nothing but the answer tells of it."""
        session = self._connection.open_session(params.get("sessionId", ""))
        session.settings.set("model", params.get("modelId", ""))
        return {}

    def set_config_option(self, request: SetSessionConfigOptionRequest) -> SetSessionConfigOptionResponse:
        """Set an option and return all of them."""
        session = self._connection.open_session(request.session_id)
        self._change(session, request.config_id, request.value)
        options = session.settings.options(switches=self._connection.offers(SWITCHES))
        return SetSessionConfigOptionResponse(options)

    def _change(self, session: AgentSession, option: str, value: str | bool) -> None:
        old = "old_options" in self._agent.features
        for update in session.change(option, value, switches=self._connection.offers(SWITCHES)):
            if not (old and isinstance(update, ConfigOptionUpdate)):
                self._connection.side.update(session.id, update)

    def _check_block(self, block: ContentBlock) -> None:
        feature = _NEEDS.get(type(block), "")
        known = isinstance(block, TextContent | ResourceLink)
        if not known and feature not in self._agent.features:
            raise InvalidParams(f"this agent takes no {type(block).__name__} in a prompt")
