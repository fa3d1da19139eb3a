"""An arbitrary agent: valid and invalid messages, questions, floods, stalls and deaths in any order.

:class:`AnyAgent` is a state machine of Hypothesis. Whatever it does, nothing hangs, no turn that has ended is lost,
every question is answered once, nothing is left of the connection, and the state is what its recording amounts to.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import sys
import tempfile
import weakref
from collections import Counter
from collections.abc import Coroutine, Iterator
from pathlib import Path
from typing import Any, TypeVar

import psutil
from attrs import define
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import acp_host
from acp_host import AcpError, CancelTimeouts, ConnectionClosed, PermissionPolicy, Turn
from acp_host.replay import fold_recording
from acp_host.replay.comparing import compare_states
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
from tests.chaos.bad_agents import Hangs, until

__all__ = ["AnyAgent"]

T = TypeVar("T")

DEADLINE = 30.0
"""Seconds after which anything counts as hanging."""

NEVER = CancelTimeouts(grace=600, withdrawn=600)
SOON = CancelTimeouts(grace=0.01, withdrawn=0.01)
"""Whoever cancels then waits for the end: what depends on the time could not be repeated."""
MARK = "ACP_HOST_ANY_AGENT"
"""In the environment of each command of an agent, with the folder of its session."""

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
    ("terminal/create", {"sessionId": "session-1", "command": "sh", "args": ["-c", "sleep 600 & sleep 600"]}),
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
    """Its end is one that a host can use: an answer, or this side has given it up."""


class AnyAgent(RuleBasedStateMachine):
    """One connection with one session."""

    def __init__(self) -> None:
        super().__init__()
        self.before, self.modules = living(), set(sys.modules)
        self.descriptors = psutil.Process().num_fds()
        self.runner = asyncio.Runner()
        self.folder = tempfile.TemporaryDirectory()
        self.children = set(psutil.Process().children(recursive=True))
        self.prompts: list[Asked] = []
        self.asked: list[tuple[int, str]] = []
        self.given_up: list[dict[str, Any]] = []
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

    @initialize(who=st.sampled_from(["allows", "rejects", "never answers"]), gives_up=st.booleans())
    def connect(self, who: str, gives_up: bool) -> None:
        self.answers_all = who != "never answers"
        self.gives_up = gives_up
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
                cancel_timeouts=SOON if gives_up else NEVER,
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
    @rule(text=st.sampled_from(["a", "é", "\x1b[31m", "long " * 400]), count=st.sampled_from([1, 1, 2, 300]))
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
            method, params = question
            if method == "terminal/create":
                params = {**params, "env": [{"name": MARK, "value": self.folder.name}]}
            number = self.agent.request(method, params)
            self.asked.append((number, method))
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

    def has_given_up(self) -> bool:
        return self.alive and bool(self.given_up)

    @precondition(has_given_up)
    @rule(result=st.sampled_from([DONE, *ODD_ENDS.values()]))
    def ends_a_turn_too_late(self, result: Any) -> None:
        self.act(line({"jsonrpc": "2.0", "id": self.given_up.pop(0)["id"], "result": result}))

    @precondition(is_old)
    @rule(last=st.sampled_from([b"", b'{"jsonrpc":"2.0","id":1,"result":{"stopRea']), ends=st.booleans())
    def dies(self, last: bytes, ends: bool) -> None:
        running = self.running() if ends else None

        async def dying() -> None:
            if running is not None:
                self.agent.send_raw(line({"jsonrpc": "2.0", "id": running[1]["id"], "result": DONE}))
            self.agent.send_raw(last)
            await self.agent.close()
            await self.host.wait_closed()

        if running is not None:
            running[0].ended = running[0].is_usable = True
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
        running = self.running()
        assert running is not None
        asked, message = running

        async def cancelling() -> None:
            if self.gives_up:
                self.prompts.append(Asked(self.session.prompt("go")))  # by its next prompt it is recorded
                asked.turn.cancel()
                await asked.turn.wait()  # the agent has nothing to say: this side ends the turn by itself
            else:
                self.session.cancel()

        self.run(cancelling())
        if self.gives_up:
            asked.ended = asked.is_usable = True
            self.given_up.append(message)

    # --- what has to hold -------------------------------------------------------------------------------------------

    @invariant()
    def no_turn_that_has_ended_is_lost(self) -> None:
        for asked in self.prompts:
            if asked.ended:
                self.check(asked)

    def check(self, asked: Asked) -> None:
        with contextlib.suppress(AcpError):
            result = self.run(asked.turn.wait())
            assert result.text == asked.text, "a turn has the text that was said in it"
            return
        assert not asked.is_usable, "an answer that can be used was not taken"

    def teardown(self) -> None:
        try:
            if hasattr(self, "host"):
                state = self.run(self.goes_home())
                assert asyncio.all_tasks(self.runner.get_loop()) == set(), "a task is left"
                assert set(psutil.Process().children(recursive=True)) <= self.children, "a process is left"
                assert not list(self.commands()), "a process of a command is left"
                self.is_what_was_recorded(state)
        finally:
            self.runner.close()
            self.folder.cleanup()
        self.nothing_is_left()

    def commands(self) -> Iterator[psutil.Process]:
        """What commands of the agent have started and is there yet, whoever its parent is now."""
        if any(method == "terminal/create" for _, method in self.asked):
            for process in psutil.process_iter():
                with contextlib.suppress(psutil.Error):
                    if process.environ().get(MARK) == self.folder.name:
                        yield process

    async def goes_home(self) -> dict[str, Any]:
        """Close; return the state right before."""
        if self.alive and self.answers_all:
            await self.all_is_answered()
        state = to_json(self.session.state.snapshot())
        was_alive = self.alive
        await self.host.close()
        for asked in self.prompts:
            with contextlib.suppress(AcpError):
                await asked.turn.wait()
        counts = Counter(message["id"] for message in self.agent.received if "method" not in message)
        least = 1 if was_alive else 0
        assert all(least <= counts[number] <= 1 for number, _ in self.asked), "a question is answered once"
        return state

    async def all_is_answered(self) -> None:
        """Every question is answered; only who waits for the end of a command may wait."""
        for number, _ in self.asked:
            await until(lambda number=number: number in [m["id"] for m in self.agent.received if "method" not in m])

    def is_what_was_recorded(self, state: dict[str, Any]) -> None:
        folded = fold_recording(self.recording).to_json()["sessions"]["session-1"]
        differences = compare_states(_recorded(state), _recorded(folded))
        assert not differences, f"the recording amounts to something else: {differences[:3]}"

    def nothing_is_left(self) -> None:
        """Once its loop is gone, which keeps the timers of notices for some seconds."""
        host = weakref.ref(self.host)
        del self.host, self.session, self.agent
        self.prompts.clear()
        after = living()
        assert host() is None, "a connection that is closed is forgotten"
        more = {kind: count for kind, count in (after - self.before).items() if kind.__module__ in self.modules}
        assert not more, f"and so is all that belonged to it, but {more}"
        assert psutil.Process().num_fds() <= self.descriptors, "a descriptor is left"


def living() -> Counter[type]:
    """Count the objects of the library's classes, but for what it learns of the schema, once for each of its types."""
    gc.collect()
    counts = Counter(map(type, gc.get_objects()))
    return Counter(
        {
            kind: count
            for kind, count in counts.items()
            if kind.__module__.startswith("acp_host.") and kind.__module__ != "acp_host.wire._shape"
        }
    )


def _recorded(state: dict[str, Any]) -> dict[str, Any]:
    """Leave out what the end of a recording settles, prompts and questions that wait, and what the clock says."""
    turn = {**state["turn"], "queued": [], "activity": False}
    if turn["status"] == "waiting":  # for the answer to a question
        turn["status"] = "running"
    return {"sessions": {"session-1": {**state, "turn": turn, "questions": []}}}
