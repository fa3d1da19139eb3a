"""An arbitrary agent: valid and invalid messages, questions, floods, stalls and deaths in any order.

:class:`AnyAgent` is a state machine of Hypothesis. Whatever it does, nothing hangs, no turn that has ended is lost,
every question is answered once, nothing is left of the connection, and the state is what its recording amounts to.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import tempfile
import weakref
from collections import Counter
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

import psutil
from attrs import define
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import acp_host
from acp_host import AcpError, CancelTimeouts, ConnectionClosed, PermissionPolicy, Turn
from acp_host.replay import fold_recording
from acp_host.replay.comparing import comparable
from acp_host.state.json_form import to_json
from acp_host.testing import ScriptedAgent
from acp_host.testing.chaos.agents.asking import VENDORS
from acp_host.testing.chaos.agents.json_rpc import BROKEN_ANSWERS, ODD_ENDS, SLIPS
from acp_host.testing.chaos.agents.shapes import (
    BAD_QUESTIONS,
    MALFORMED_UPDATES,
    NOBODYS_UPDATES,
    UNKNOWN_UPDATES,
    UPDATES,
)
from acp_host.testing.chaos.agents.showing import TOOL_CALLS
from acp_host.testing.chaos.agents.stdout import NOISE
from acp_host.testing.chaos.messages import ALL, ASK, DONE, FORM, line, message_update, permission
from tests.chaos.bad_agents import Hangs

__all__ = ["AnyAgent"]

T = TypeVar("T")

DEADLINE = 10.0
"""Seconds after which anything counts as hanging."""

PIECES = [
    *NOISE.values(),
    *(line(message_update(update)) for update in UNKNOWN_UPDATES),
    *(line(message_update(update)) for update, _ in MALFORMED_UPDATES),
    *(line({"jsonrpc": "2.0", "method": "session/update", "params": params}) for params in NOBODYS_UPDATES),
    *(line(message) for name, message in SLIPS.items() if name.startswith(("answer-", "error-", "only-", "empty"))),
    *(line({"jsonrpc": "2.0", "method": method, "params": params}) for method, params in VENDORS.items()),
    b'{"jsonrpc":"2.0","id":5,"meth\n',
    b"\xff\xfe{}\n",
    b"\0\n",
]
"""Lines that change nothing."""

FACTS = [{"sessionUpdate": kind, **members} for kind, members in UPDATES.items() if "chunk" not in kind] + [
    update for _, _, _, updates in TOOL_CALLS.values() for update in updates
]
"""Updates that say something, but no text."""

QUESTIONS: list[tuple[str, Any]] = [
    (ASK, permission()),
    (ASK, permission("allow_once", "allow_once")),
    *((ASK, {**permission(), **members}) for members, _ in BAD_QUESTIONS),
    *VENDORS.items(),
    ("elicitation/create", FORM),
    ("fs/read_text_file", {"sessionId": "session-1", "path": "/etc/passwd"}),
    ("fs/write_text_file", {"sessionId": "session-1", "path": "/etc/passwd", "content": "x"}),
    ("terminal/create", {"sessionId": "session-1", "command": "sleep", "args": ["600"]}),
    ("terminal/create", {"sessionId": "session-1", "command": "no-such-program-here"}),
    ("terminal/output", {"sessionId": "session-1", "terminalId": "none"}),
    ("terminal/wait_for_exit", {"sessionId": "session-2", "terminalId": "none"}),
]


@define
class Asked:
    """A prompt: what the agent made of it so far."""

    turn: Turn
    text: str = ""
    ended: bool = False
    is_usable: bool = False
    """Its answer is one that a host can use."""


class AnyAgent(RuleBasedStateMachine):
    """One connection with one session."""

    def __init__(self) -> None:
        super().__init__()
        self.descriptors = psutil.Process().num_fds()
        self.runner = asyncio.Runner()
        self.folder = tempfile.TemporaryDirectory()
        self.children = set(psutil.Process().children(recursive=True))
        self.prompts: list[Asked] = []
        self.asked: list[tuple[int, str]] = []
        self.alive = False
        self.steps = 0
        self.answers_all = True

    def run(self, doing: Coroutine[Any, Any, T]) -> T:
        self.steps += 1

        async def bounded() -> T:
            async with asyncio.timeout(DEADLINE):
                result = await doing
                for _ in range(5):
                    await asyncio.sleep(0)
                return result

        return self.runner.run(bounded())

    @initialize(who=st.sampled_from(["allows", "rejects", "never answers"]))
    def connect(self, who: str) -> None:
        self.answers_all = who != "never answers"
        deciders: dict[str, Any] = {
            "allows": PermissionPolicy.allow_once(),
            "rejects": PermissionPolicy.reject(),
            "never answers": Hangs(),
        }

        async def script(agent: ScriptedAgent) -> None:
            await agent.handshake(ALL)
            await agent.open_session()
            await agent.stall()

        async def connecting() -> None:
            self.agent = ScriptedAgent(script)
            self.recording = Path(self.folder.name, "talk.jsonl")
            self.host = await acp_host.connect(
                self.agent.transport(),
                files=True,
                terminals=True,
                permissions=deciders[who],
                cancel_timeouts=CancelTimeouts(grace=600, withdrawn=600),  # what depends on the time cannot be repeated
                record=self.recording,
            )
            self.session = await self.host.new_session(self.folder.name)
            self.prompts.append(Asked(self.session.prompt("go")))
            self.alive = True

        self.run(connecting())

    # --- what the agent does ----------------------------------------------------------------------------------------

    def running(self) -> tuple[Asked, dict[str, Any]] | None:
        """The prompt that the host waits for, with its message."""
        messages = [message for message in self.agent.received if message.get("method") == "session/prompt"]
        for asked, message in zip(self.sent(), messages, strict=True):
            if not asked.ended and not asked.turn.done:
                return asked, message
        return None

    def sent(self) -> list[Asked]:
        """The prompts that the agent has got."""
        return [asked for asked in self.prompts if asked.turn.sent_at is not None]

    def is_alive(self) -> bool:
        return self.alive

    def is_old(self) -> bool:
        return self.alive and self.steps > 8

    def is_asked(self) -> bool:
        return self.alive and self.running() is not None

    def act(self, *pieces: bytes) -> None:
        async def sending() -> None:
            for piece in pieces:
                self.agent.send_raw(piece)
            await self.agent.drain()

        self.run(sending())

    @precondition(is_alive)
    @rule(pieces=st.lists(st.sampled_from(PIECES), min_size=1, max_size=4))
    def says_nonsense(self, pieces: list[bytes]) -> None:
        self.act(*pieces)

    @precondition(is_alive)
    @rule(facts=st.lists(st.sampled_from(FACTS), min_size=1, max_size=3))
    def tells(self, facts: list[dict[str, Any]]) -> None:
        self.act(*(line(message_update(fact)) for fact in facts))

    @precondition(is_alive)
    @rule(text=st.sampled_from(["a", "é", "\x1b[31m", "long " * 2000]), count=st.sampled_from([1, 1, 2, 300]))
    def says(self, text: str, count: int) -> None:
        running = self.running()
        if running is not None:
            running[0].text += text * count
        update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
        self.act(*[line(message_update(update))] * count)

    @precondition(is_alive)
    @rule(question=st.sampled_from(QUESTIONS), withdraws=st.booleans())
    def asks(self, question: tuple[str, Any], withdraws: bool) -> None:
        async def asking() -> None:
            number = self.agent.request(*question)
            self.asked.append((number, question[0]))
            if withdraws:
                self.agent.notify("$/cancel_request", {"requestId": number})

        self.run(asking())

    @precondition(is_asked)
    @rule(result=st.sampled_from([DONE, DONE, {"stopReason": "refusal"}, *ODD_ENDS.values()]), again=st.booleans())
    def ends_the_turn(self, result: Any, again: bool) -> None:
        running = self.running()
        assert running is not None
        asked, message = running
        asked.ended = asked.is_usable = True
        answer = line({"jsonrpc": "2.0", "id": message["id"], "result": result})
        self.act(answer, *([answer] if again else []))

    @precondition(is_asked)
    @rule(answer=st.sampled_from([*BROKEN_ANSWERS.values(), {"jsonrpc": "2.0", "error": {"code": -1, "message": ""}}]))
    def ends_the_turn_badly(self, answer: dict[str, Any]) -> None:
        running = self.running()
        assert running is not None
        running[0].ended = True
        self.act(line({"id": running[1]["id"], **answer}))

    @rule()
    def stalls(self) -> None:
        self.run(asyncio.sleep(0.03))

    @precondition(is_old)
    @rule(last=st.sampled_from([b"", b'{"jsonrpc":"2.0","id":1,"result":{"stopRea']))
    def dies(self, last: bytes) -> None:
        async def dying() -> None:
            self.agent.send_raw(last)
            await self.agent.close()
            await self.host.wait_closed()

        self.alive = False
        self.run(dying())

    # --- what the host's user does ----------------------------------------------------------------------------------

    @rule(again=st.integers(1, 3))
    def prompts_are_sent(self, again: int) -> None:
        async def prompting() -> None:
            for _ in range(again):
                with contextlib.suppress(ConnectionClosed):  # once the agent is gone
                    self.prompts.append(Asked(self.session.prompt("go")))
                    assert self.alive

        if len(self.prompts) < 8:
            self.run(prompting())

    @precondition(is_asked)
    @rule()
    def the_turn_is_cancelled(self) -> None:
        async def cancelling() -> None:
            self.session.cancel()

        self.run(cancelling())

    # --- what has to hold -------------------------------------------------------------------------------------------

    @invariant()
    def no_turn_that_has_ended_is_lost(self) -> None:
        for asked in self.prompts:
            if asked.ended:
                self.check(asked)

    def check(self, asked: Asked) -> None:
        with contextlib.suppress(AcpError):
            result = self.run(asked.turn.wait())
            assert result.text == asked.text
            return
        assert not asked.is_usable, "an answer that can be used was not taken"

    def teardown(self) -> None:
        try:
            if hasattr(self, "host"):
                self.run(self.goes_home())
                assert asyncio.all_tasks(self.runner.get_loop()) == set()
                assert set(psutil.Process().children(recursive=True)) <= self.children
        finally:
            self.runner.close()
            self.folder.cleanup()
        self.nothing_is_left()

    async def goes_home(self) -> None:
        if self.alive and self.answers_all:
            await self.all_is_answered()
        state = comparable(json.loads(json.dumps(to_json(self.session.state.snapshot()))))
        was_alive = self.alive
        await self.host.close()
        for asked in self.prompts:
            with contextlib.suppress(AcpError):
                await asked.turn.wait()
        counts = Counter(message["id"] for message in self.agent.received if "method" not in message)
        assert all(counts[number] <= 1 for number, _ in self.asked), "a question is answered once"
        if was_alive:
            self.is_what_was_recorded(state)

    async def all_is_answered(self) -> None:
        """Every question is answered; only who waits for the end of a command may wait."""
        for number, _ in self.asked:
            while not any("method" not in message and message["id"] == number for message in self.agent.received):  # noqa: ASYNC110
                await asyncio.sleep(0.002)

    def is_what_was_recorded(self, state: dict[str, Any]) -> None:
        folded = comparable(json.loads(fold_recording(self.recording).to_bytes())["sessions"]["session-1"])
        assert folded["transcript"] == state["transcript"]

    def nothing_is_left(self) -> None:
        """Once its loop is gone, which keeps the timers of notices for some seconds."""
        host = weakref.ref(self.host)
        del self.host, self.session, self.agent
        self.prompts.clear()
        gc.collect()
        assert host() is None, "a connection that is closed is forgotten"
        assert psutil.Process().num_fds() <= self.descriptors
