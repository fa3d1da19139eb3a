"""What a session's state shows of the commands that run for its agent."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from acp_host import Session
from acp_host.host.terminals import TerminalFeed
from acp_host.services.terminal_runner import TerminalCommand
from acp_host.services.terminals import TerminalProcess
from acp_host.state import events
from acp_host.state.clock import ManualScheduler
from acp_host.state.snapshot import TerminalView
from acp_host.testing import ScriptedAgent
from acp_host.wire.terminals import TerminalExitStatus
from tests.host.scripts import connected, in_session, until


class Feed:
    """A feed, and what it made."""

    def __init__(self) -> None:
        self.made: list[events.TerminalReported] = []
        self.scheduler = ManualScheduler()
        self.feed = TerminalFeed(self.made.append, self.scheduler)


def process(*argv: str, via_shell: bool = False, name: str = "t") -> TerminalProcess:
    command = TerminalCommand(session_id="s", argv=argv, via_shell=via_shell, cwd="/")
    return TerminalProcess(name, command, output_limit=100)


class TestFeed:
    def test_however_often_a_command_prints_it_is_one_event_each_turn_of_the_loop(self):
        test, one, two = Feed(), process("ls", name="1"), process("ls", name="2")
        for piece in "abc":
            test.feed.changed(one, piece)
            test.feed.changed(two, piece.upper())
        assert test.made == []
        test.scheduler.flush()
        assert [(event.terminal_id, event.printed) for event in test.made] == [("1", "abc"), ("2", "ABC")]
        test.feed.changed(one, "d")
        test.scheduler.flush()
        assert [event.printed for event in test.made[2:]] == ["d"]
        assert test.scheduler.next_due is None

    def test_each_event_says_how_the_command_is(self):
        test, terminal = Feed(), process("ls", "a b")
        test.feed.changed(terminal, "")
        test.scheduler.flush()
        terminal.exit_status = TerminalExitStatus(exit_code=0, signal=None)
        test.feed.changed(terminal, "")
        test.scheduler.flush()
        terminal.exit_status, terminal.released = TerminalExitStatus(exit_code=None, signal="SIGKILL"), True
        test.feed.changed(terminal, "")
        test.scheduler.flush()
        command = "ls 'a b'" if sys.platform != "win32" else 'ls "a b"'
        assert test.made == [
            events.TerminalReported("t", command),
            events.TerminalReported("t", command, ended=True, exit_code=0),
            events.TerminalReported("t", command, ended=True, signal="SIGKILL", released=True),
        ]

    def test_a_command_line_is_shown_as_one_line_that_does_no_harm(self):
        test = Feed()
        test.feed.changed(process("echo \x1b[2J\nrm  x" + "y" * 9000, via_shell=True), "")
        test.scheduler.flush()
        assert test.made[0].command.startswith("echo \\x1b[2J rm xy")
        assert len(test.made[0].command) <= 2000
        assert test.made[0].via_shell

    def test_after_its_end_it_says_nothing(self):
        test, terminal = Feed(), process("ls")
        test.feed.changed(terminal, "a")
        test.feed.close()
        test.feed.changed(terminal, "b")
        test.scheduler.flush()
        assert test.made == []


PRINT = "import sys; sys.stdout.write('x' * 100_000); sys.stdout.flush(); sys.stdin.read(); sys.exit(3)"


def only(session: Session) -> TerminalView:
    (view,) = session.state.snapshot().terminals.values()
    return view


async def create(agent: ScriptedAgent, command: str, *args: str, **more: Any) -> dict[str, Any]:
    params = {"sessionId": "s-1", "command": command, "args": list(args), **more}
    answer = await agent.call("terminal/create", params)
    return {"sessionId": "s-1", "terminalId": answer["result"]["terminalId"]}


async def test_a_command_from_its_beginning_until_it_is_released() -> None:
    async def script(agent: ScriptedAgent) -> None:
        terminal = await create(agent, sys.executable, "-c", PRINT, outputByteLimit=10)
        await agent.call("terminal/wait_for_exit", terminal)
        await agent.expect("_test/go_on")
        agent.reply({})
        await agent.call("terminal/release", terminal)

    async with in_session(script, terminals=True) as session:
        seen: list[TerminalView] = []
        session.state.select(lambda snapshot: tuple(snapshot.terminals.values()), lambda views: seen.extend(views))
        await until(lambda: seen and seen[-1].ended)
        view = only(session)
        assert (view.exit_code, view.signal, view.released, view.via_shell) == (3, None, False, False)
        # The user sees more than the agent asked for.
        assert ("".join(view.output), view.truncated) == ("x" * 100_000, False)
        assert "sys.exit(3)" in view.command
        await session._driver.call("_test/go_on")
        await until(lambda: only(session).released)
        assert only(session).output == view.output
    assert [view.released for view in seen] == sorted(view.released for view in seen)


@pytest.mark.skipif(sys.platform == "win32", reason="written for a POSIX shell")
async def test_a_whole_command_line_is_marked() -> None:
    async def script(agent: ScriptedAgent) -> None:
        params = {"sessionId": "s-1", "command": "echo $((1 + 1)); exit 4"}
        answer = await agent.call("terminal/create", params)
        await agent.call("terminal/wait_for_exit", {"sessionId": "s-1", **answer["result"]})

    async with in_session(script, terminals=True) as session:
        await until(lambda: session.state.snapshot().terminals and only(session).ended)
        view = only(session)
        assert (view.command, view.via_shell, view.output, view.exit_code) == (
            "echo $((1 + 1)); exit 4",
            True,
            ("2\n",),
            4,
        )


async def test_a_command_that_cannot_be_launched_is_not_shown() -> None:
    async def script(agent: ScriptedAgent) -> None:
        answer = await agent.call("terminal/create", {"sessionId": "s-1", "command": "no-such-program-at-all"})
        assert "error" in answer

    async with in_session(script, terminals=True) as session:
        pass
    assert session.state.snapshot().terminals == {}


async def test_a_closed_session_has_none_and_a_reloaded_one_keeps_what_ran(tmp_path: Path) -> None:
    sleeper = (sys.executable, "-c", "import sys, time; print('on', flush=True); time.sleep(1000)")

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session("s-1")
        await create(agent, *sleeper)
        await agent.expect("session/close")
        agent.reply({})
        await agent.expect("session/load")
        agent.reply({})
        await create(agent, *sleeper)
        await agent.expect("session/close")
        agent.reply({})

    async with connected(script, terminals=True) as host:
        session = await host.new_session()
        await until(lambda: session.state.snapshot().terminals and only(session).output)
        await host.load_session("s-1")
        await until(lambda: only_released(session))
        await until(lambda: len(session.state.snapshot().terminals) == 2)
        await host.close_session("s-1")
        assert session.state.snapshot().terminals == {}
    assert session.state.snapshot().terminals == {}


def only_released(session: Session) -> bool:
    first, *_ = session.state.snapshot().terminals.values()
    return first.released and first.ended


async def test_what_ran_when_the_connection_ended_is_shown_as_over() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await create(agent, sys.executable, "-c", "import time; print('on', flush=True); time.sleep(1000)")

    async with in_session(script, terminals=True) as session:
        await until(lambda: session.state.snapshot().terminals and only(session).output)
        assert not only(session).ended
    await until(lambda: only(session).released)
    assert only(session).ended
    assert "".join(only(session).output).strip() == "on"


async def test_a_session_that_is_loaded_without_being_closed_keeps_its_output_once() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session("s-1")
        await create(agent, sys.executable, "-c", "import time; print('on', flush=True); time.sleep(1000)")
        await agent.expect("session/load")
        agent.reply({})

    async with connected(script, {"loadSession": True}, terminals=True) as host:
        session = await host.new_session()
        await until(lambda: session.state.snapshot().terminals and only(session).output)
        await host.load_session("s-1")
    await until(lambda: only(session).released)
    assert "".join(only(session).output).split() == ["on"]
