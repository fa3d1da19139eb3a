"""How the Harn-like agent answers prompts and what the host sends in the midst of them: :class:`PromptMethods`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any

from acp_host.errors import InvalidParams, RequestFailed
from acp_host.testing._reminder_shelf import AgentReminder, Withdrawal
from acp_host.testing._reminder_wire import read_remind
from acp_host.testing.agent_side import Handler
from acp_host.testing.harn._injections import ACTOR_OF_OLD, Inject, InjectMode
from acp_host.testing.harn._params import content_blocks, harn_member, text_member
from acp_host.testing.harn._running_prompt import RunningPrompt
from acp_host.testing.harn._session import HarnSession
from acp_host.testing.harn.turn import HarnTurn
from acp_host.wire.content import TextContent
from acp_host.wire.prompt import CancelNotification, PromptRequest

if TYPE_CHECKING:
    from acp_host.testing.harn._connection import Connection

__all__ = ["PromptMethods"]

_MODES = {
    "interrupt_immediate": InjectMode.INTERRUPT_IMMEDIATE,
    "steer": InjectMode.FINISH_STEP,
    "queue": InjectMode.AUDIT_ONLY,
}


class PromptMethods:
    """Prompts, and what is put before their model, on one connection.

    A prompt, an inject, a cancellation and the end of a tool call are acted on at once while a prompt runs; whatever
    else there is waits for its end. An agent of the bridge takes reminders and the wish to go on at once too.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._agent = connection.agent

    def handlers(self) -> dict[str, Handler]:
        """Return the handlers by wire method."""
        behind: Callable[[Handler], Handler] = self._connection.queue.behind
        of_the_bridge = (lambda handle: handle) if self._agent.bridge else behind
        handlers: dict[str, Handler] = {
            "session/prompt": self._prompt_read,
            "session/cancel": self.cancel,
            "session/cancel_tool_call": self.cancel_tool_call,
            "session/remind": of_the_bridge(self.remind),
            "session/pending_injections": behind(self.pending_injections),
            "session/revoke_reminder": behind(self.revoke_reminder),
            "session/set_budget": self.set_budget,
            "agent/resume": of_the_bridge(self.resume),
            "skills/update": of_the_bridge(lambda params: self._agent.notified("skills/update")),
            "harn.hitl.respond": behind(self.respond),
        }
        if self._agent.inject_modes:
            handlers["session/inject"] = self.inject
            handlers["session/revoke_inject"] = behind(self.revoke_inject)
            handlers["session/replace_inject"] = behind(self.replace_inject)
        return handlers

    # --- prompts ----------------------------------------------------------------------------------------------------

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
        session = self._session(params)
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
        for session in [self._session(params)] if "sessionId" in params else self._agent.sessions.values():
            session.budget |= caps

    def resume(self, params: Any) -> None:
        """Let a session go on that waits for something to happen, or all of them."""
        for session in [self._session(params)] if params and "sessionId" in params else self._agent.sessions.values():
            session.resumed = True

    # --- user messages in the midst of a prompt ---------------------------------------------------------------------

    def inject(self, params: Any) -> dict[str, Any]:
        """Take a user message for the prompt that runs."""
        session = self._session(params)
        if session.prompt is None:
            raise RequestFailed("Session has no active prompt", code=-32004)
        mode = params.get("mode")
        if mode not in self._agent.inject_modes:
            self._reject(session, "invalid_mode")
            raise InvalidParams(f"session/inject: unsupported mode {mode!r}")
        actor = harn_member(params, "actor") or dict(ACTOR_OF_OLD)
        content = content_blocks(params.get("content"))
        inject = Inject(id=self._agent.number("msg_inj"), mode=_MODES[mode], content=content, actor=actor)
        session.injections.waiting.append(inject)
        return {"messageId": inject.id, "status": "accepted", "_meta": {"harn": {"actor": actor}}}

    def revoke_inject(self, params: Any) -> dict[str, Any]:
        """Take a user message back."""
        session, message_id = self._session(params), text_member(params, "messageId")
        actor = harn_member(params, "actor") or ACTOR_OF_OLD
        return {"messageId": message_id, "status": session.injections.revoke(message_id, actor)}

    def replace_inject(self, params: Any) -> dict[str, Any]:
        """Give a user message another content."""
        session, message_id = self._session(params), text_member(params, "messageId")
        actor = harn_member(params, "actor") or ACTOR_OF_OLD
        session.injections.replace(message_id, content_blocks(params.get("content")), actor)
        return {"messageId": message_id, "status": "replaced"}

    def pending_injections(self, params: Any) -> dict[str, Any]:
        """List what the model has not been shown yet."""
        rows = self._session(params).pending()
        return {"pendingCount": len(rows), "injections": rows}

    def _reject(self, session: HarnSession, reason: str) -> None:
        told = {"method": "session/inject", "status": "rejected", "outcome": "rejected", "reason": reason}
        self._connection.host.notify(session, "_harn/agentEvent", {"kind": "control_outcome", **told})

    # --- reminders and answers --------------------------------------------------------------------------------------

    def remind(self, params: Any) -> dict[str, Any]:
        """Take a reminder for the prompt that runs; behind it there is none any more."""
        session = self._session(params)
        if session.prompt is None:
            raise RequestFailed("session/remind: no active bridge", code=-32004)
        read = {name: value for name, value in read_remind(params, old=False).items() if value is not None}
        reminder = AgentReminder(**{"id": self._agent.number("reminder"), "fired_at_turn": session.turns, **read})
        session.shelf.put(reminder)
        return {"reminderId": reminder.id}

    def revoke_reminder(self, params: Any) -> dict[str, Any]:
        """Take a reminder back."""
        session, id = self._session(params), text_member(params, "reminderId", "reminder_id")
        result = session.shelf.revoke(id)
        if result in (Withdrawal.ALREADY_DELIVERED, Withdrawal.UNKNOWN):
            raise InvalidParams(f"session/revoke_reminder: {result}", data={"reason": str(result), "reminderId": id})
        return {"reminderId": id, "status": str(result)}

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

    def _session(self, params: Any) -> HarnSession:
        session_id = text_member(params, "sessionId")
        session = self._agent.sessions.get(session_id)
        if session is None:
            raise RequestFailed(f"Session not found: {session_id}", code=-32004)
        return session


def _user_chunk(text: str) -> dict[str, Any]:
    return {"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": text}}
