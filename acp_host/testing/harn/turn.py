"""What the Harn-like agent can do while it answers one prompt: :class:`HarnTurn`, in whose words scripts are written.

Everything is plain JSON in Harn's forms. What a host sends is taken as it comes; a script checks what it needs.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from acp_host.errors import RequestFailed
from acp_host.testing._reminder_shelf import AgentReminder
from acp_host.testing.harn._composition import CompositionRun
from acp_host.testing.harn._frames import harn_meta, named, text_block
from acp_host.testing.harn._human import HumanRequest
from acp_host.testing.harn._permission import approval, is_allowed
from acp_host.testing.harn._session import HarnSession
from acp_host.testing.harn._tool_call import HarnToolCall
from acp_host.testing.harn._worker import HarnWorker

if TYPE_CHECKING:
    from acp_host.testing.harn._host import Host

__all__ = ["HarnScript", "HarnTurn"]

_BACKOFFS = (100, 500, 1000, 2000)
"""Milliseconds that Harn waits before it looks again whether there is something to do, as it tells them."""
_BETWEEN_ROUNDS = 0.01
"""Seconds that this agent waits in place of them."""


class HarnTurn:
    """One prompt, and the means to answer it.

    Args:
        session: the session.
        text: the text blocks of the prompt, each on lines of its own.
        message_id: the prompt's id, where the host gave it one.
        host: the way to the host.

    Attributes:
        seen: the reminders that the model was shown in this turn, each time that it was asked.
        delivered: the texts that the host put before this turn meanwhile.
        calls: the tool calls that run, by id.
    """

    def __init__(self, session: HarnSession, text: str, message_id: str | None, host: Host) -> None:
        self.session = session
        self.text = text
        self.message_id = message_id
        self.seen: list[tuple[AgentReminder, ...]] = []
        self.delivered: list[str] = []
        self.calls: dict[str, HarnToolCall] = {}
        self._host = host
        self._stop_reason = "end_turn"
        self._terminal: dict[str, Any] | None = None
        self.end("natural")

    # --- how it ends ------------------------------------------------------------------------------------------------

    def end(
        self, kind: str | None, reason: str = "done", owner: str = "agent", stop_reason: str = "end_turn", **more: Any
    ) -> None:
        """Set the verdict of this turn; ``None``: give none."""
        self._stop_reason = stop_reason
        self._terminal = None if kind is None else {"kind": kind, "reason": reason, "owner": owner, **more}

    def result(self) -> dict[str, Any]:
        """Return what the prompt is answered with."""
        return {"stopReason": self._stop_reason, **harn_meta(terminal=self._terminal)}

    @staticmethod
    def failure(terminal_class: str, message: str = "the prompt has failed", **data: Any) -> RequestFailed:
        """Return the error that a script raises to let the prompt fail as Harn's do.

        Args:
            terminal_class: e.g. ``rate_limited``.
            message: for people.
            data: more of it, e.g. ``retryable=True, retryAfterMs=2000``.
        """
        told = {"schema": "harn.acp.prompt_error.v1", "terminalClass": terminal_class, **data}
        return RequestFailed(message, code=-32000, data=told)

    # --- to tell something ------------------------------------------------------------------------------------------

    def update(self, update: Mapping[str, Any]) -> None:
        """Send any update, and keep it for a replay."""
        self._host.update(self.session, update, self.message_id)

    def tell(self, kind: str, /, **members: Any) -> None:
        """Send an update of a kind of Harn's, e.g. ``turn.tell("log", level="info", message="Ready")``."""
        self.update(named(kind, **members))

    def event(self, kind: str, /, **fields: Any) -> None:
        """Send ``_harn/agentEvent``, and keep it for a replay."""
        self._host.notify(self.session, "_harn/agentEvent", {"kind": kind, **fields}, self.message_id)

    async def say(self, text: str, *, visible: str | None = None) -> None:
        """Say something, a word at a time; with ``visible`` that is what a person sees, and ``text`` is marked-up."""
        if visible is not None:
            self._chunk(text_block(text, visible_text=visible, visible_delta=visible))
        else:
            for word in text.split(" "):
                self._chunk(text_block(f"{word} "))
                await self.pause()
        await self.pause()

    def _chunk(self, content: dict[str, Any]) -> None:
        self.update({"sessionUpdate": "agent_message_chunk", "content": content})

    async def pause(self, seconds: float | None = None) -> None:
        """Wait; ``None``: as long as the agent waits between two words."""
        await self._host.pause(seconds)

    def tool_call(self, tool: str, kind: str = "other", raw_input: Any = None, **harn: Any) -> HarnToolCall:
        """Return a tool call, to be used as an ``async with`` block; ``harn``: ``executor``, ``audit``."""
        call = HarnToolCall(
            self.new_id("call"),
            tool,
            kind,
            {} if raw_input is None else raw_input,
            send=self.update,
            is_interrupted=lambda: self.session.wants_interrupt,
            ended=self._call_ended,
            **harn,
        )
        self.calls[call.id] = call
        return call

    def _call_ended(self, call: HarnToolCall) -> None:
        del self.calls[call.id]
        self.ask_model()

    def worker(self, name: str, task: str) -> HarnWorker:
        """Spawn a worker."""
        worker = HarnWorker(self.new_id("worker"), name, task, self.update)
        worker.tell("WorkerSpawned")
        return worker

    def composition(self, ceiling: str = "read_only") -> CompositionRun:
        """Begin a run of composed tool calls."""
        return CompositionRun(self.new_id("run"), ceiling, self.event)

    # --- what the host puts before the model ------------------------------------------------------------------------

    def ask_model(self) -> tuple[AgentReminder, ...]:
        """Ask the model, as it were: deliver what waits, and return the reminders that it is shown.

        That happens by itself when the turn begins, and after each tool call.
        """
        self._deliver(at_exit=False)
        shown = self.session.shelf.show()
        for reminder in shown:
            self._host.show_reminder(self.session, reminder, self.message_id)
        self.seen.append(shown)
        return shown

    def leave_loop(self) -> None:
        """End the interaction: deliver what the model does not come to see any more."""
        self._deliver(at_exit=True)

    def _deliver(self, *, at_exit: bool) -> None:
        for inject in self.session.injections.take(at_exit=at_exit):
            self.delivered += [str(block.get("text", "")) for block in inject.content]
            content = list(inject.content)
            self.update({"sessionUpdate": "user_message", "messageId": inject.id, "content": content})

    # --- to ask the host --------------------------------------------------------------------------------------------

    async def request(self, method: str, params: Mapping[str, Any]) -> Any:
        """Send any request to the host, and return its result as decoded.

        Raises:
            RequestFailed: the host refused.
        """
        return await self._host.request(method, params, self.message_id)

    async def permitted(self, call: HarnToolCall, *diffs: Mapping[str, Any]) -> bool:
        """Ask for permission for a tool call, as Harn does; everything but the option ``allow`` is no.

        Args:
            call: the call.
            diffs: what it is about to change: ``path``, ``oldText`` and ``newText`` of each.
        """
        params = {"sessionId": self.session.id, **approval(call, self.session.id, diffs)}
        return is_allowed(await self.request("session/request_permission", params))

    async def host_operation(self, name: str, **args: Any) -> Any:
        """Ask the host for an operation, e.g. ``process.list_shells``."""
        return await self.request("host/call", {"sessionId": self.session.id, "name": name, "args": args})

    async def host_capabilities(self) -> Mapping[str, Any]:
        """Return what operations the host has; none where it does not say."""
        return await self._host.capabilities(self.session, self.message_id)

    async def host_tools(self) -> list[Mapping[str, Any]]:
        """Return the descriptions of the host's tools."""
        return list((await self.request("host/tools/list", {}))["tools"])

    async def call_host_tool(self, name: str, **args: Any) -> Any:
        """Call a tool of the host and return its result."""
        return await self.request("builtin_call", {"name": name, "args": [args]})

    async def run_line(self, line: str) -> Mapping[str, Any]:
        """Run a line by the host's shell and return what ``terminal/wait_for_exit`` told.

        The shell is the one that the host names as its own; without any, Harn's fallback.
        """
        shell: Any = {"id": "sh", "path": "/bin/sh"}
        if "get_default_shell" in (await self.host_capabilities()).get("process", {}).get("ops", ()):
            shell = await self.host_operation("process.get_default_shell")
        return await self._host.run_line(self.session, line, shell, self.message_id)

    def ask_human(self, kind: str, /, **payload: Any) -> HumanRequest:
        """Ask a person, and announce it in both ways; see :class:`HumanRequest` for the answer.

        Args:
            kind: ``question``, ``approval``, ``dual_control`` or ``escalation``.
            payload: e.g. ``prompt`` and ``schema`` of a question.
        """
        request = HumanRequest(self.new_id(f"hitl_{kind}_{self.session.id}"), kind, self._settled)
        self.session.questions[request.id] = request
        self.tell("hitl_request", requestId=request.id, kind=kind, payload=payload)
        told = {"request_id": request.id, "kind": kind, "agent": "main", "trace_id": "trace", "requested_at": ""}
        self._host.notify(self.session, "harn.hitl.requested", {**told, "payload": payload}, self.message_id)
        return request

    def _settled(self, request: HumanRequest) -> None:
        del self.session.questions[request.id]
        self.tell("hitl_resolved", requestId=request.id, kind=request.kind, outcome=request.outcome)

    async def idle(self, *, rounds: int = 100) -> bool:
        """Tell that the agent has nothing to do, again and again, until the host puts something before it or lets it go
        on; tell whether it has, after so many rounds.
        """
        for iteration in range(1, rounds + 1):
            told = {"iteration": iteration, "backoff_ms": _BACKOFFS[min(iteration, len(_BACKOFFS)) - 1]}
            self._host.notify(self.session, "agent/idle", told, self.message_id)
            await self.pause(_BETWEEN_ROUNDS)
            if self.session.resumed or self.session.injections.waiting or self.session.shelf.waiting:
                self.session.resumed = False
                return True
        return False

    def new_id(self, word: str) -> str:
        """Return an id that the agent has not used yet."""
        return self._host.number(word)


HarnScript = Callable[[HarnTurn], Awaitable[Any]]
"""What the agent does with a prompt. It may raise :class:`~acp_host.errors.RequestFailed`; its result is ignored."""
