"""How the Harn-like agent answers prompts, ends them, and takes what a person has answered: :class:`PromptMethods`."""

from __future__ import annotations

from collections.abc import Awaitable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any

from acp_host.errors import InvalidParams, RequestFailed
from acp_host.testing.agent_side import Handler
from acp_host.testing.harn._injections import ACTOR_OF_OLD
from acp_host.testing.harn._params import text_member
from acp_host.testing.harn._running_prompt import RunningPrompt
from acp_host.testing.harn._session import HarnSession
from acp_host.testing.harn.turn import HarnTurn
from acp_host.wire.content import TextContent
from acp_host.wire.prompt import CancelNotification, PromptRequest

if TYPE_CHECKING:
    from acp_host.testing.harn._connection import Connection

__all__ = ["PromptMethods"]


class PromptMethods:
    """The prompts of one connection. To cancel one, or a tool call in it, is acted on at once while it runs."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._agent = connection.agent

    def handlers(self) -> dict[str, Handler]:
        """Return the handlers by wire method."""
        behind, of_the_bridge = self._connection.queue.behind, self._connection.of_the_bridge
        return {
            "session/prompt": self._prompt_read,
            "session/cancel": self.cancel,
            "session/cancel_tool_call": self.cancel_tool_call,
            "session/set_budget": self.set_budget,
            "agent/resume": of_the_bridge(self.resume),
            "skills/update": of_the_bridge(lambda params: self._agent.notified("skills/update")),
            "harn.hitl.respond": behind(self.respond),
        }

    def _prompt_read(self, request: PromptRequest) -> Any:
        session = self._agent.sessions.get(request.session_id)
        if session is not None and session.prompt is not None:
            self._agent.overlapping += 1  # it might take a cancellation of the first one back: no host should send it
        return self._connection.queue.behind(self.prompt)(request)

    def prompt(self, request: PromptRequest) -> Coroutine[Any, Any, dict[str, Any]]:
        """Begin a prompt at once, so that what follows finds it; return what awaits its end."""
        session = self._agent.sessions.get(request.session_id)
        if session is None:
            raise InvalidParams(f"unknown session: {request.session_id}")
        text = "\n".join(block.text for block in request.prompt if isinstance(block, TextContent))
        message_id = request.extra.get("messageId")
        session.history += [("session/update", {"update": _user_chunk(text)})]
        session.turns += 1
        known = message_id if isinstance(message_id, str) else None
        session.prompt = RunningPrompt(HarnTurn(session, text, known, self._connection.host), self._agent.script)
        self._connection.queue.begin()
        return self._run(session, session.prompt)

    async def _run(self, session: HarnSession, prompt: RunningPrompt) -> dict[str, Any]:
        try:
            return await prompt.run()
        finally:
            session.prompt = None
            session.shelf.turn_ended()
            self._connection.queue.end()

    def cancel(self, params: CancelNotification | Mapping[str, Any]) -> Awaitable[Any]:
        """Stop a prompt at once; the answer, if one is wanted, comes when it is over."""
        session_id = params.session_id if isinstance(params, CancelNotification) else text_member(params, "sessionId")
        session = self._agent.sessions.get(session_id)
        if session is None:
            rejected = {"method": "session/cancel", "outcome": "unknown_session", "status": "rejected"}
            self._connection.side.notify(
                "_harn/agentEvent", {"sessionId": session_id, "kind": "control_outcome", **rejected}
            )
            raise RequestFailed(f"Session not found: {session_id}", code=-32004)
        prompt = session.prompt
        status = "already_cancelled" if prompt is None or prompt.is_cancelled else "cancelled"
        if prompt is not None:
            prompt.cancel()
        actor = {"actor": dict(ACTOR_OF_OLD)}
        done = {"sessionId": session_id, "status": status, "_meta": {"harn": actor}}
        return self._connection.queue.behind_all(lambda: done)

    def cancel_tool_call(self, params: Any) -> dict[str, Any]:
        """End a tool call."""
        session = self._connection.session_of(params)
        call_id = text_member(params, "toolCallId", "tool_call_id", "callId", "call_id")
        call = session.prompt.turn.calls.get(call_id) if session.prompt else None
        if call is None:
            return {"status": "not_found", "callId": call_id, "tool": None}
        status = "already_cancelled" if call.cancelled else "cancelled"
        call.cancel()
        return {"status": status, "callId": call_id, "tool": call.tool}

    def set_budget(self, params: Any) -> None:
        """Note the caps of a session, or of all."""
        caps = {name: params[name] for name in ("llm_cost_usd", "llm_tokens") if name in params}
        for session in self._named(params):
            session.budget |= caps

    def resume(self, params: Any) -> None:
        """Let a session go on that waits for something to happen, or all of them."""
        for session in self._named(params):
            session.resumed = True

    def _named(self, params: Any) -> list[HarnSession]:
        """Return the session that parameters name, or all of them where they name none."""
        named = isinstance(params, Mapping) and "sessionId" in params
        return [self._connection.session_of(params)] if named else list(self._agent.sessions.values())

    def respond(self, params: Any) -> dict[str, Any]:
        """Take what a person has answered."""
        id = text_member(params, "request_id")
        if not id.startswith("hitl_"):
            raise RequestFailed(f"harn.hitl.respond: {id} is no request", code=-32000)
        if not any(member in params for member in ("answer", "approved", "accepted")):
            raise InvalidParams("harn.hitl.respond: an answer is missing")
        for session in list(self._agent.sessions.values()):
            if id in session.questions:
                session.questions[id].answer(params)
        return {"ok": True}


def _user_chunk(text: str) -> dict[str, Any]:
    return {"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": text}}
