"""An agent whose commands do not want to end, or want more than they are given.

The programs are in ``programs/clinger.py``. What lives of them is found by a word in their arguments, which is not how
the library finds it.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
import uuid
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import psutil
import pytest

import acp_host
from acp_host import StopTimeouts, TerminalService
from acp_host.sandbox import Bubblewrap
from acp_host.services import terminals
from acp_host.testing import ScriptedAgent
from tests.chaos.bad_agents import DONE, open_session, until
from tests.chaos.test_hostile_agent import refused, served
from tests.sandboxes import BOTH, keep_checkout

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the programs use POSIX signals")

PROGRAM = Path(__file__).with_name("programs") / "clinger.py"
SESSION = {"sessionId": "session-1"}


class Clingers:
    """Starts the programs of one test by an agent, and knows which live."""

    def __init__(self) -> None:
        self.token = uuid.uuid4().hex

    def command(self, how: str) -> list[str]:
        return [sys.executable, "-S", "-E", str(PROGRAM), self.token, how]

    async def start(self, agent: ScriptedAgent, how: str, **members: Any) -> dict[str, Any]:
        """Let the agent start one; return its terminal once it is ready."""
        program, *arguments = self.command(how)
        params = {**SESSION, "command": program, "args": arguments, **members}
        terminal = {**SESSION, **(await agent.call("terminal/create", params))["result"]}
        # The protocol has no event for output.
        while "ready" not in (await agent.call("terminal/output", terminal))["result"]["output"]:  # noqa: ASYNC110
            await asyncio.sleep(0.005)
        return terminal

    def living(self) -> list[psutil.Process]:
        found = []
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error):
                if self.token in process.cmdline() and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(process)
        return found


@pytest.fixture
async def clingers() -> AsyncIterator[Clingers]:
    made = Clingers()
    yield made
    left = made.living()
    for process in left:
        process.kill()
    assert left == []


HOWS = ["stay", "stopped", "background", "group", "session", "daemon", "nameless", "runner", "many"]


@pytest.mark.parametrize("ending", ["kill", "release", "close"])
@pytest.mark.parametrize("how", HOWS)
async def test_r146_no_command_outlives_its_terminal_or_session(clingers: Clingers, how: str, ending: str) -> None:
    started = asyncio.Event()

    async def script(agent: ScriptedAgent) -> None:
        terminal = await clingers.start(agent, how)
        started.set()
        if ending == "close":
            agent.reply({}, to=await agent.expect("session/close"))
            return
        await agent.call(f"terminal/{ending}", terminal)
        assert clingers.living() == []

    async with open_session(script, **served()) as (host, session):
        if ending == "close":
            await started.wait()
            await host.close_session(session.id)
            assert clingers.living() == []


@pytest.mark.parametrize("how", HOWS)
async def test_r146_no_command_outlives_its_connection(clingers: Clingers, how: str) -> None:
    async def script(agent: ScriptedAgent) -> None:
        await clingers.start(agent, how)

    async with open_session(script, **served()):
        pass
    assert clingers.living() == []


@pytest.mark.parametrize("how", ["stay", "daemon"])
async def test_r146_no_command_outlives_a_cancelled_turn(clingers: Clingers, how: str) -> None:
    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        await clingers.start(agent, how)
        agent.say("started")
        await agent.expect("session/cancel")
        agent.reply({"stopReason": "cancelled"}, to=prompt)

    async with open_session(script, **served()) as (_, session):
        async for _ in (turn := session.prompt("go")):
            turn.cancel()
        await turn
        await until(lambda: clingers.living() == [])


async def test_r146_commands_that_are_asked_for_while_the_session_ends(clingers: Clingers) -> None:
    async def script(agent: ScriptedAgent) -> None:
        closing = await agent.expect("session/close")
        program, *arguments = clingers.command("session")
        params = {**SESSION, "command": program, "args": arguments}
        asked = [agent.request("terminal/create", params) for _ in range(10)]
        agent.reply({}, to=closing)
        asked += [agent.request("terminal/create", params) for _ in range(10)]
        for request in asked:
            await agent.response(request)

    async with open_session(script, **served()) as (host, session):
        await host.close_session(session.id)
    assert clingers.living() == []


START = """
import subprocess
await agent.handshake()
await agent.open_session("session-1")
prompt = await agent.expect("session/prompt")
started = subprocess.Popen({command!r}, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
started.stdout.readline()
agent.reply({{"stopReason": "end_turn"}}, to=prompt)
await agent.stall()
"""

HELD = {"no sandbox": ["stay", "daemon", "nameless"], "bubblewrap": ["stay", "daemon", "vanished", "flier"]}
"""Where the program runs → what is held there, of ``programs/clinger.py``."""


@pytest.mark.parametrize("where, how", [(where, how) for where in BOTH for how in HELD[where]])
async def test_r146_no_process_outlives_the_agent(
    clingers: Clingers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str, how: str
) -> None:
    keep_checkout(monkeypatch)
    command = ScriptedAgent.command(START.format(command=clingers.command(how)))
    launcher = Bubblewrap(writable=[tmp_path]) if where == "bubblewrap" else None
    timeouts = StopTimeouts(exit=0.3, terminate=0.3, kill=5)
    async with acp_host.connect(command, cwd=tmp_path, launcher=launcher, stop_timeouts=timeouts) as host:
        await (await host.new_session(tmp_path)).prompt("go")
        await until(clingers.living)
    await until(lambda: clingers.living() == [])


MARKS = ["", "0", "ffffffffffffffff", ":", "x" * 1000]


@pytest.mark.parametrize("mark", MARKS)
async def test_r147_the_mark_of_a_command_cannot_be_replaced(clingers: Clingers, mark: str) -> None:
    async def script(agent: ScriptedAgent) -> None:
        terminal = await clingers.start(agent, "daemon", env=[{"name": "ACP_HOST_PROCESS_TREE", "value": mark}])
        await agent.call("terminal/release", terminal)
        assert clingers.living() == []

    async with open_session(script, **served()):
        pass


@pytest.mark.parametrize(
    "name, value", [("", "x"), ("A=B", "x"), ("A\0", "x"), ("A", "x\0y"), ("A", "\ud83d"), ("\udcff", "x")]
)
async def test_r147_a_variable_that_cannot_be_is_refused(name: str, value: str) -> None:
    async def script(agent: ScriptedAgent) -> None:
        params = {**SESSION, "command": "env", "args": [], "env": [{"name": name, "value": value}]}
        assert refused(await agent.call("terminal/create", params), -32602)

    async with open_session(script, **served()):
        pass


@pytest.mark.parametrize("command", ["", "\0", "a\0b", "\ud83d", "x" * 300_000, ".", "/", "/etc", "/dev/null"])
async def test_r147_a_command_that_cannot_be_is_refused(command: str) -> None:
    async def script(agent: ScriptedAgent) -> None:
        assert "error" in await agent.call("terminal/create", {**SESSION, "command": command, "args": ["x"]})

    async with open_session(script, **served()):
        pass


async def test_r147_more_commands_than_may_run_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminals, "MAX_TERMINALS", 10)

    async def script(agent: ScriptedAgent) -> None:
        params = {**SESSION, "command": "sleep", "args": ["600"]}
        asked = [agent.request("terminal/create", params) for _ in range(13)]
        answers = [await agent.response(request) for request in asked]
        assert sum(refused(answer, -32603) for answer in answers) == 3

    async with open_session(script, **served()):
        pass
    assert not [process for process in psutil.Process().children(recursive=True) if process.name() == "sleep"]


async def test_r147_a_flood_of_output_is_bounded(clingers: Clingers) -> None:
    async def script(agent: ScriptedAgent) -> None:
        terminal = {**SESSION, **(await agent.call("terminal/create", {**SESSION, "command": "yes"}))["result"]}
        for _ in range(20):
            output = (await agent.call("terminal/output", terminal))["result"]
            assert len(output["output"]) <= 50_000
        await agent.call("terminal/release", terminal)

    async with open_session(script, **{**served(), "terminals": TerminalService(max_output=50_000)}):
        pass


async def test_r147_a_turn_ends_although_its_commands_do_not(clingers: Clingers) -> None:
    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        terminal = await clingers.start(agent, "stay")
        waiting = [agent.request("terminal/wait_for_exit", terminal) for _ in range(50)]
        agent.reply(DONE, to=prompt)
        agent.reply({}, to=await agent.expect("session/close"))
        for request in waiting:
            await agent.response(request)

    async with open_session(script, **served()) as (host, session):
        await session.prompt("go")
        await host.close_session(session.id)
    assert clingers.living() == []
