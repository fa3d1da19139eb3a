"""A bad agent that has met a host: :class:`Encounter`, what its part is played with.

It is a scripted agent that takes any host as it comes: what a host asks besides is answered as a good agent would, so
that nothing but the fault stands between the two. What was asked, answered and seen is in its journal.
"""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from acp_host.errors import AcpError, ConnectionLost
from acp_host.testing.chaos.journal import Journal, What
from acp_host.testing.chaos.judging import Finding, judge
from acp_host.testing.chaos.messages import ALL, DONE
from acp_host.testing.scripted import ScriptedAgent
from acp_host.wire.framing import LineFramer, Oversized

__all__ = ["PATIENCE", "Encounter", "Play", "Step", "first_turn"]

PATIENCE = 5.0
"""Seconds that a host may take for an answer. Nobody sits in front of it, so that is long."""
_LONGEST = 1_000_000
"""Length of a line of the agent that is looked into for a request."""

Play = Callable[["Encounter"], Awaitable[None]]
"""Plays a bad agent's whole part."""
Step = Callable[["Encounter"], Any]
"""Does something bad in the middle of a turn; what it returns is awaited where it can be."""


class Encounter(ScriptedAgent):
    """One connection of a bad agent.

    Args:
        play: the agent's part. After it, what a host still asks is answered, and further prompts get an answer each.
        journal: takes everything down; ``None`` for one in memory.

    Attributes:
        journal: the same.
    """

    def __init__(self, play: Play, journal: Journal | None = None) -> None:
        super().__init__(self._meet)
        self.journal = journal or Journal()
        self._play = play
        self._claimed = {"initialize", "session/new", "session/prompt"}
        self._agreed: Any = None
        self._sessions = 0
        self._outgoing = LineFramer()
        self._is_over = False

    # --- what most agents do ----------------------------------------------------------------------------------------

    async def begin(self, capabilities: Mapping[str, Any] | None = None, *, version: int = 1, **members: Any) -> None:
        """Shake hands and open a session, both as they should be; ``members`` are of the result of ``session/new``."""
        await self.greet(ALL if capabilities is None else capabilities, version=version)
        await self.next("session/new")
        self._sessions += 1
        self.reply({"sessionId": "session-1", **members})
        self._claimed.discard("session/new")

    async def greet(self, capabilities: Mapping[str, Any] | None = None, *, version: int = 1, **members: Any) -> None:
        """Shake hands alone; for arguments see :meth:`ScriptedAgent.handshake`."""
        await self.handshake(capabilities, version=version, **members)
        self._agreed = {"protocolVersion": version, "agentCapabilities": capabilities or {}, **members}
        self._claimed.discard("initialize")

    def claim(self, *methods: str) -> None:
        """Leave requests of these methods to the play."""
        self._claimed.update(methods)

    async def next(self, *methods: str) -> dict[str, Any]:
        """Return the host's next message of these methods, whatever comes before; :meth:`reply` answers a request."""
        message = await self._take(lambda message: message.get("method") in methods, " or ".join(methods))
        if "id" in message:
            self._request = message
        return message

    def not_seen(self, rule: str, why: str) -> None:
        """Take down that the host did not come into the way of the fault."""
        self.journal.note(What.FOUND, ok=None, text=rule, method=why)

    async def prompt(self) -> dict[str, Any]:
        """Return the host's next prompt. Until its end, the host may cancel."""
        message = await self.next("session/prompt")
        self.journal.note(What.WORKING, session=message["params"].get("sessionId"))
        return message

    def end(self, prompt: Mapping[str, Any], result: Any = DONE) -> None:
        """Answer a prompt."""
        self.reply(result, to=prompt)
        self.ended(prompt)

    def ended(self, prompt: Mapping[str, Any]) -> None:
        """Take down that a prompt was answered, or never will be."""
        self.journal.note(What.ENDED, session=prompt["params"].get("sessionId"))

    def over(self) -> None:
        """Say that from here on the host may leave."""
        if not self._is_over:
            self._is_over = True
            self.journal.note(What.OVER)

    async def do(self, step: Step) -> None:
        """Take a step."""
        done = step(self)
        if inspect.isawaitable(done):
            await done

    # --- to look at what the host does ------------------------------------------------------------------------------

    async def ask(self, method: str, params: Any, *, patience: float = PATIENCE) -> dict[str, Any]:
        """Send a request and return the host's whole response; an empty one where none comes in time."""
        return await self.answer(self.request(method, params), patience=patience)

    async def answer(self, request_id: Any, *, patience: float = PATIENCE) -> dict[str, Any]:
        """Return the host's whole response; an empty one where none comes in time."""
        try:
            async with asyncio.timeout(patience):
                return await self.response(request_id)
        except TimeoutError:
            return {}

    async def cancelled(self, patience: float = PATIENCE) -> bool:
        """Wait for ``session/cancel``; tell whether it came. If not, that is taken down."""
        try:
            async with asyncio.timeout(patience):
                await self.next("session/cancel")
        except TimeoutError:
            self.not_seen("the host cancels", "it did not")
            return False
        return True

    def must(self, rule: str, ok: bool, seen: Any = "") -> None:
        """Take down whether a host keeps to a rule of this agent's own.

        Args:
            rule: in words.
            ok: whether it does.
            seen: what it did.
        """
        self.journal.note(What.FOUND, ok=bool(ok), text=rule, method="" if ok else json.dumps(seen)[:300])

    def findings(self) -> list[Finding]:
        """Return what was found so far, see :func:`~acp_host.testing.chaos.judging.judge`."""
        return judge(self.journal.events)

    # --- beneath ----------------------------------------------------------------------------------------------------

    def send_raw(self, data: bytes) -> None:
        """Send bytes, and take down which requests are in them."""
        for line in self._outgoing.feed(data):
            if not isinstance(line, Oversized) and len(line) < _LONGEST:
                self._note_request(line)
        super().send_raw(data)

    async def close(self) -> None:
        """End the stream to the host."""
        self.journal.note(What.CLOSED)
        await super().close()

    def connection_lost(self, error: AcpError | None) -> None:
        """Take the end of the connection."""
        self.journal.note(What.GONE)
        super().connection_lost(error)

    def _line_received(self, line: bytes) -> None:
        message = self.journal.received(line)
        if message is None:
            return
        if "method" in message and "id" in message and message["method"] not in self._claimed:
            self.received.append(message)
            self._oblige(message)
        else:
            self._take_in(message)

    def _oblige(self, request: dict[str, Any]) -> None:
        """Answer a request that the play has nothing to do with."""
        match request["method"]:
            case "initialize":
                self.reply(self._agreed, to=request)
            case "session/new" | "session/fork":
                self._sessions += 1
                self.reply({"sessionId": f"session-{self._sessions}"}, to=request)
            case "session/list":
                self.reply({"sessions": []}, to=request)
            case method if method.startswith(("session/", "authenticate", "logout")):
                self.reply({}, to=request)
            case _:
                self.reply_error(-32601, "Method not found", to=request)

    def _note_request(self, line: bytes) -> None:
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            return
        if not isinstance(message, dict) or not {"method", "id"} <= message.keys():
            return
        is_whole = (
            message.get("jsonrpc") == "2.0"
            and type(message["id"]) in (str, int)
            and isinstance(message["method"], str)
            and isinstance(message.get("params", {}), dict | list)
            and not {"result", "error"} & message.keys()
        )
        self.journal.asked(message["id"], str(message["method"]), must_be_answered=is_whole)

    async def _meet(self, _: ScriptedAgent) -> None:
        try:
            await self._play(self)
            self.over()
            while not self._closed:
                prompt = await self.prompt()
                self.say("second")
                self.end(prompt)
            await self.stall()
        except SystemExit:
            self.journal.note(What.CLOSED)
            raise
        except ConnectionLost:
            pass


def first_turn(step: Step) -> Play:
    """Return the part of an agent that does something bad in its first turn, after its first words."""

    async def play(agent: Encounter) -> None:
        await agent.begin()
        prompt = await agent.prompt()
        agent.say("before ")
        await agent.do(step)
        agent.say("after")
        agent.end(prompt)

    return play
