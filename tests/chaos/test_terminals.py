"""Commands that agents have run by the host, and what agents and commands get wrong about them."""

from __future__ import annotations

import asyncio
import shlex
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from acp_host import DiagnosticKind, TerminalService
from acp_host.services import _terminal_process, terminals
from acp_host.services.terminal_environment import SECRET_NAMES, EnvironmentPolicy
from acp_host.services.terminal_runner import RunningCommand, TerminalCommand, TerminalEvents
from acp_host.testing import ScriptedAgent
from tests.chaos.bad_agents import PATIENCE, kinds, open_session, until
from tests.processes import started_by_tests

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the commands are those of a POSIX shell")

Terminal = dict[str, Any]


async def create(agent: ScriptedAgent, command: str, *args: str, **more: Any) -> Terminal:
    """Have a command run; return the parameters that name its terminal."""
    params = {"sessionId": "session-1", "command": command, "args": list(args), **more}
    return {"sessionId": "session-1", **(await agent.call("terminal/create", params))["result"]}


async def shell(agent: ScriptedAgent, script: str, **more: Any) -> Terminal:
    return await create(agent, "/bin/sh", "-c", script, **more)


async def ask(agent: ScriptedAgent, what: str, terminal: Terminal) -> Any:
    return (await agent.call(f"terminal/{what}", terminal))["result"]


async def first_output(agent: ScriptedAgent, terminal: Terminal) -> str:
    """Ask again and again until the command has printed something."""
    # The protocol has no event for output.
    while not (printed := (await ask(agent, "output", terminal))["output"]):  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    return str(printed)


async def output_of(agent: ScriptedAgent, script: str, **more: Any) -> dict[str, Any]:
    terminal = await shell(agent, script, **more)
    await ask(agent, "wait_for_exit", terminal)
    output: dict[str, Any] = await ask(agent, "output", terminal)
    await ask(agent, "release", terminal)
    return output


async def play(script: Callable[[ScriptedAgent], Awaitable[None]], **services: Any) -> list[DiagnosticKind]:
    """Run a script of an agent to its end in a session; return what was reported."""
    services.setdefault("terminals", True)
    async with open_session(script, **services) as (host, _):
        pass
    return kinds(host.diagnostics)


def alive(pid: int) -> bool:
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE


@pytest.mark.parametrize("pty", [False, True])
async def test_r110_characters_that_come_in_pieces(pty: bool) -> None:
    """Decoding each chunk by itself makes two question marks of one letter."""
    pieces = b"caf\xc3\xa9 \xf0\x9f\x98\x80 \xff"
    script = "; ".join(f"printf '\\{byte:03o}'; sleep 0.01" for byte in pieces)

    async def agent(agent: ScriptedAgent) -> None:
        answer = await output_of(agent, script)
        assert answer == {
            "output": "café 😀 \ufffd",
            "truncated": False,
            "exitStatus": {"exitCode": 0, "signal": None},
        }

    await play(agent, terminals=TerminalService(pty=pty))


async def test_r110_the_cut_at_the_limit_is_between_characters() -> None:
    async def agent(agent: ScriptedAgent) -> None:
        for limit, kept in [(0, ""), (1, ""), (3, ""), (4, "😀"), (7, "😀"), (8, "😀😀"), (2**80, "a😀😀")]:
            answer = await output_of(agent, "printf 'a😀😀'", outputByteLimit=limit)
            assert (answer["output"], answer["truncated"]) == (kept, kept != "a😀😀"), limit

    await play(agent)


@pytest.mark.parametrize("pty", [False, True])
@pytest.mark.parametrize("waits", [False, True])
async def test_r111_a_command_that_outlives_its_session(pty: bool, waits: bool) -> None:
    """A pending wait must not keep the process, nor the process the wait."""
    pids: list[int] = []

    async def agent(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        terminal = await shell(agent, "trap '' HUP TERM INT; echo $$; while :; do sleep 0.1; done")
        waiting = [agent.request("terminal/wait_for_exit", terminal) for _ in range(3)]
        pids.append(int(await first_output(agent, terminal)))
        agent.reply({"stopReason": "end_turn"}, to=prompt)
        close = await agent.expect("session/close")
        if not waits:
            agent.reply({}, to=close)
        answers = [(await agent.response(request))["result"] for request in waiting]
        if waits:
            agent.reply({}, to=close)
        assert [answer["signal"] for answer in answers] == ["SIGKILL"] * 3

    async with open_session(agent, terminals=TerminalService(pty=pty)) as (host, session):
        await session.prompt("hello")
        await host.close_session(session.id)
        assert not alive(pids[0])


async def test_r112_a_login_shell_and_no_directory() -> None:
    """As fast-agent sends them: without `cwd`, either `/bin/sh -lc` or the bare words."""
    here = str(Path.cwd().resolve())

    async def agent(agent: ScriptedAgent) -> None:
        for command in (["/bin/sh", "-lc", "pwd -P && echo $0"], ["pwd", "-P"]):
            terminal = await create(agent, *command)
            assert (await ask(agent, "wait_for_exit", terminal))["exitCode"] == 0
            lines = (await ask(agent, "output", terminal))["output"].split()
            assert lines == [here, "/bin/sh"][: len(lines)]
            await ask(agent, "release", terminal)

    await play(agent)


DAEMON = """
import os, signal, sys, time
for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
    signal.signal(number, signal.SIG_IGN)
if os.fork(): os._exit(0)
os.setsid()
if os.fork(): os._exit(0)
os.chdir("/")
print(os.getpid(), flush=True)
null = os.open(os.devnull, os.O_RDWR)
for fd in range(3): os.dup2(null, fd)
time.sleep(600)
"""


async def test_r113_daemons_end_with_the_terminal_that_started_them() -> None:
    pids: list[int] = []

    async def agent(agent: ScriptedAgent) -> None:
        for _ in range(2):
            terminal = await create(agent, sys.executable, "-c", DAEMON)
            assert (await ask(agent, "wait_for_exit", terminal))["exitCode"] == 0
            pids.append(int(await first_output(agent, terminal)))
            assert alive(pids[-1])
            if len(pids) == 1:
                await ask(agent, "release", terminal)
                assert not alive(pids[0])

    await play(agent)
    assert not alive(pids[1])


async def test_r114_output_closed_before_the_end() -> None:
    async def agent(agent: ScriptedAgent) -> None:
        answer = await output_of(agent, "echo early; exec >&- 2>&-; sleep 0.3; exit 9")
        assert answer["exitStatus"] == {"exitCode": 9, "signal": None}
        assert answer["output"] == "early\n"

    await play(agent)


async def test_r114_output_held_open_after_the_end() -> None:
    async def agent(agent: ScriptedAgent) -> None:
        started = time.monotonic()
        terminal = await shell(agent, "sleep 600 & echo started")
        assert (await ask(agent, "wait_for_exit", terminal))["exitCode"] == 0
        assert time.monotonic() - started < PATIENCE
        assert (await ask(agent, "output", terminal))["output"] == "started\n"

    await play(agent)


@pytest.mark.parametrize("pty", [False, True])
async def test_r115_a_flood_of_output_stops_nothing_else(pty: bool) -> None:
    async def agent(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        flood = await create(agent, "yes", "x" * 70)
        for number in range(5):
            agent.say(f"{number} ")
            answer = await output_of(agent, "echo beside it")
            assert answer["output"].split() == ["beside", "it"]
        kept = await ask(agent, "output", flood)
        assert kept["truncated"]
        assert len(kept["output"]) <= 10_000
        await ask(agent, "kill", flood)
        agent.reply({"stopReason": "end_turn"}, to=prompt)

    service = TerminalService(max_output=10_000, pty=pty)
    async with open_session(agent, terminals=service) as (_, session):
        result = await session.prompt("hello")
        assert result.text.split() == [str(number) for number in range(5)]
        views = session.state.snapshot().terminals.values()
        assert all(sum(map(len, view.output)) <= 65 * 4096 for view in views)


async def test_r116_variables_that_would_run_other_code(tmp_path: Path) -> None:
    async def agent(agent: ScriptedAgent) -> None:
        for name in ("LD_PRELOAD", "DYLD_INSERT_LIBRARIES", "BASH_ENV"):
            params = {"sessionId": "session-1", "command": "touch", "args": [str(tmp_path / "ran")]}
            answer = await agent.call("terminal/create", {**params, "env": [{"name": name, "value": "/tmp/evil.so"}]})
            assert answer["error"]["code"] == -32602
            assert answer["error"]["data"] == {"env": [name]}
        answer = await output_of(agent, "echo $GREETING", env=[{"name": "GREETING", "value": "hello"}])
        assert answer["output"] == "hello\n"

    await play(agent)
    assert not (tmp_path / "ran").exists()


async def test_r116_secrets_of_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXAMPLE_API_KEY", "s3cret")

    async def agent(agent: ScriptedAgent) -> None:
        assert "s3cret" not in (await output_of(agent, "env"))["output"]

    await play(agent, terminals=TerminalService(environment=EnvironmentPolicy.isolated()))
    await play(agent, terminals=TerminalService(environment=EnvironmentPolicy.inherit(deny=SECRET_NAMES)))


async def test_r117_terminals_that_are_not_there() -> None:
    async def agent(agent: ScriptedAgent) -> None:
        terminal = await shell(agent, "echo")
        await ask(agent, "release", terminal)
        wrong = [terminal, {**terminal, "terminalId": "none"}, {**terminal, "sessionId": "none"}]
        for what in ("output", "wait_for_exit", "kill", "release"):
            for parameters in wrong:
                answer = await agent.call(f"terminal/{what}", parameters)
                assert answer["error"]["code"] == -32002, (what, parameters)

    await play(agent)


class FallingRunner:
    """Stands for an application whose own terminal fails in one way after the other."""

    def __init__(self) -> None:
        self.started = 0

    async def start(self, command: TerminalCommand, events: TerminalEvents) -> RunningCommand:
        self.started += 1
        if self.started == 1:
            raise RuntimeError("no window")
        if self.started == 2:
            return None
        events.printed("half")
        return _Stuck()


class _Stuck(RunningCommand):
    async def end(self) -> None:
        raise RuntimeError("the window is gone")

    async def release(self) -> None:
        await asyncio.Event().wait()


async def test_r118_the_terminal_of_the_application_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_terminal_process, "_END_LIMIT", 0.05)

    async def agent(agent: ScriptedAgent) -> None:
        for _ in range(2):
            answer = await agent.call("terminal/create", {"sessionId": "session-1", "command": "make"})
            assert answer["error"]["code"] == -32603
            assert "window" not in answer["error"]["message"]
        terminal = await create(agent, "make")
        waiting = agent.request("terminal/wait_for_exit", terminal)
        assert await ask(agent, "kill", terminal) is not None
        assert (await agent.response(waiting))["result"] == {"exitCode": None, "signal": None}
        assert (await ask(agent, "output", terminal))["output"] == "half"
        assert await ask(agent, "release", terminal) is not None

    reported = await play(agent, terminals=TerminalService(runner=FallingRunner()))
    assert reported == [DiagnosticKind.HANDLER_FAILED] * 2


@pytest.mark.parametrize("pty", [False, True])
async def test_r119_terminals_that_are_never_released(pty: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The agent starts one after the other and forgets them; those that have ended make room."""
    monkeypatch.setattr(terminals, "MAX_TERMINALS", 10)
    fds = psutil.Process().num_fds()
    service = TerminalService(pty=pty)

    async def agent(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        for number in range(15):
            terminal = await create(agent, "true")
            if number % 5 == 0:
                await create(agent, "sleep", "600")
            await ask(agent, "wait_for_exit", terminal)
        assert len(service.terminals("session-1")) == 10
        agent.reply({"stopReason": "end_turn"}, to=prompt)

    async with open_session(agent, terminals=service) as (_, session):
        await session.prompt("hello")
    await until(lambda: psutil.Process().num_fds() <= fds)
    left = [shlex.join(child.cmdline()) for child in started_by_tests() if alive(child.pid)]
    assert left == []
