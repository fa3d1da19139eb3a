"""Commands under a pseudo-terminal."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from acp_host.errors import InvalidParams, InvalidState
from acp_host.services.terminal_environment import EnvironmentPolicy
from acp_host.services.terminal_runner import TerminalSize
from acp_host.services.terminals import TerminalProcess, TerminalService
from acp_host.wire.terminals import (
    CreateTerminalRequest,
    EnvVariable,
    KillTerminalRequest,
    ReleaseTerminalRequest,
    TerminalExitStatus,
)

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")

SESSION = "session"
SUCCESS = TerminalExitStatus(exit_code=0, signal=None)


def open_files() -> int:
    return psutil.Process().num_fds() if sys.platform != "win32" else 0


@pytest.fixture
async def service(tmp_path: Path) -> AsyncIterator[TerminalService]:
    """A service with one open session; no file and no task may be left when it is closed."""
    await asyncio.to_thread(int)  # the threads have files of their own
    service = TerminalService(pty=TerminalSize(columns=100, rows=30))
    service.open_session(SESSION, [tmp_path], tmp_path)
    await run(service, "true")
    await service.close()
    before = open_files()
    service.open_session(SESSION, [tmp_path], tmp_path)
    yield service
    async with asyncio.timeout(40):
        await service.close()
    assert open_files() == before
    assert len(asyncio.all_tasks()) == 1


async def create(service: TerminalService, command: str, *args: str, **more: Any) -> TerminalProcess:
    request = CreateTerminalRequest(session_id=SESSION, command=command, args=args, **more)
    terminal_id = (await service.create(request)).terminal_id
    return next(terminal for terminal in service.terminals(SESSION) if terminal.terminal_id == terminal_id)


async def run(service: TerminalService, command: str, *args: str, **more: Any) -> str:
    terminal = await create(service, command, *args, **more)
    async with asyncio.timeout(40):
        assert await terminal.wait() == SUCCESS, terminal.output
    return terminal.output.replace("\r\n", "\n")


async def printed(terminal: TerminalProcess, text: str) -> None:
    async with asyncio.timeout(40):
        async for _ in terminal.watch():
            if text in terminal.output:
                return


def lives(pid: int) -> bool:
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE


def shell(script: str) -> tuple[str, ...]:
    return ("/bin/sh", "-c", script)


async def test_all_three_streams_are_the_terminal(service: TerminalService) -> None:
    script = "import os; print(*[os.isatty(fd) for fd in range(3)], os.get_terminal_size().columns)"
    assert await run(service, sys.executable, "-c", script) == "True True True 100\n"
    assert await run(service, "stty", "size") == "30 100\n"
    assert await run(service, *shell("echo one; echo two >&2; echo three > /dev/tty")) == "one\ntwo\nthree\n"


async def test_arguments_are_passed_as_they_are(service: TerminalService) -> None:
    assert await run(service, "printf", "[%s]", "$HOME; ls", "", "a b", "*", "-c") == "[$HOME; ls][][a b][*][-c]"
    assert await run(service, "echo $((1 + 1)) | cat") == "2\n"


async def test_the_command_leads_the_session_of_its_terminal(service: TerminalService) -> None:
    script = "import os; print(os.getpid() == os.getsid(0) == os.getpgid(0) == os.tcgetpgrp(0))"
    assert await run(service, sys.executable, "-c", script) == "True\n"


@pytest.mark.parametrize("command", ["tool", "./tool", "sub/../tool"])
async def test_programs_are_found_as_without_a_terminal(service: TerminalService, tmp_path: Path, command: str) -> None:
    tool = tmp_path / "tool"
    (tmp_path / "sub").mkdir()
    tool.write_text('#!/bin/sh\necho "ran $1"')
    tool.chmod(0o755)
    path = EnvVariable(name="PATH", value=f"/nowhere:{tmp_path}:{os.environ['PATH']}")
    assert await run(service, command, "it", env=(path,)) == "ran it\n"


@pytest.mark.parametrize("command", ["no-such-program", "./no-such-program", "/", "/etc/passwd"])
async def test_what_cannot_be_launched_is_refused(service: TerminalService, command: str) -> None:
    with pytest.raises(InvalidParams, match="cannot start") as refused:
        await create(service, command, "argument")
    assert refused.value.data == {"command": command}
    assert service.terminals(SESSION) == ()


async def test_the_environment_of_a_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setenv("PAGER", "less")
    service = TerminalService(pty=True, environment=EnvironmentPolicy(variables={"GIT_PAGER": "more"}))
    service.open_session(SESSION, [tmp_path], tmp_path)
    env = (EnvVariable(name="MINE", value="1"),)
    lines = (await run(service, *shell("echo $TERM $PAGER $GIT_PAGER $MINE; stty size"), env=env)).split("\n")
    await service.close()
    assert lines == ["xterm-256color cat more 1", "24 80", ""]


async def test_what_is_typed_reaches_the_command(service: TerminalService) -> None:
    terminal = await create(service, *shell("read name; echo hello $name; cat; echo over"))
    await terminal.write(b"w\xc3\xb6rld\n")
    await printed(terminal, "hello wörld")
    await terminal.write(b"more\n\x04")
    assert await terminal.wait() == SUCCESS
    assert terminal.output.replace("\r\n", "\n") == "wörld\nhello wörld\nmore\nmore\nover\n"
    with pytest.raises(InvalidState):
        await terminal.write(b"too late")


async def test_control_c_interrupts(service: TerminalService) -> None:
    terminal = await create(service, *shell("echo ready; exec sleep 60"))
    await printed(terminal, "ready")
    await terminal.write(b"\x03")
    assert (await terminal.wait()).signal == "SIGINT"


async def test_a_new_size_is_told(service: TerminalService) -> None:
    terminal = await create(service, *shell("trap 'stty size; exit' WINCH; echo ready; while :; do sleep 0.05; done"))
    await printed(terminal, "ready")
    terminal.resize(TerminalSize(columns=33, rows=11))
    assert await terminal.wait() == SUCCESS
    assert terminal.output.endswith("11 33\r\n")
    with pytest.raises(InvalidState):
        terminal.resize(TerminalSize())


async def test_writing_waits_for_a_command_that_does_not_read(service: TerminalService) -> None:
    terminal = await create(service, *shell("stty raw -echo; echo ready; exec sleep 60"))
    await printed(terminal, "ready")
    writing = asyncio.create_task(terminal.write(b"x" * 1_000_000))
    await asyncio.sleep(0)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await terminal.write(b"waits behind the other")
    assert not writing.done()
    await service.release(ReleaseTerminalRequest(SESSION, terminal.terminal_id))
    with pytest.raises(InvalidState):
        await writing


async def test_much_that_is_typed_arrives_whole(service: TerminalService) -> None:
    terminal = await create(service, *shell("stty raw -echo; echo ready; head -c 300000 | cksum"))
    await printed(terminal, "ready")
    data = bytes(range(256)) * 1172
    await terminal.write(data[:300_000])
    assert await terminal.wait() == SUCCESS
    expected = await asyncio.create_subprocess_exec(
        "cksum", stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    out, _ = await expected.communicate(data[:300_000])
    assert terminal.output.split()[1:] == out.decode().split()


async def test_all_output_is_there_when_the_end_is_told(service: TerminalService) -> None:
    expected = "".join(f"{number}\n" for number in range(1, 30_001))
    assert await run(service, "seq", "30000") == expected


DAEMON = """
import os, time
done, tell = os.pipe()
if os.fork():
    os.read(done, 1)
    os._exit(0)
os.setsid()
print(os.getpid(), flush=True)
os.write(tell, b".")
time.sleep(60)
"""


async def test_what_keeps_the_terminal_open_delays_no_end_and_goes_with_it(service: TerminalService) -> None:
    terminal = await create(service, sys.executable, "-c", DAEMON)
    async with asyncio.timeout(40):
        assert await terminal.wait() == SUCCESS
    pid = int(terminal.output)
    assert lives(pid)
    await service.release(ReleaseTerminalRequest(SESSION, terminal.terminal_id))
    assert not lives(pid)


async def test_a_command_may_close_its_terminal_and_open_it_again(service: TerminalService, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    script = "echo one; exec 0<&- 1>&- 2>&-; read x < fifo; echo two > /dev/tty; exit 7"
    terminal = await create(service, *shell(script))
    await printed(terminal, "one")
    assert terminal.exit_status is None
    await asyncio.to_thread((tmp_path / "fifo").write_text, "on\n")
    assert (await terminal.wait()).exit_code == 7
    assert terminal.output == "one\r\ntwo\r\n"


@pytest.mark.parametrize("trap", ["", "trap '' HUP TERM INT; "])
async def test_kill_ends_it_and_keeps_the_output(service: TerminalService, trap: str) -> None:
    terminal = await create(service, *shell(trap + "echo ready; while :; do sleep 0.2; done"))
    await printed(terminal, "ready")
    await service.kill(KillTerminalRequest(SESSION, terminal.terminal_id))
    assert (await terminal.wait()).signal == ("SIGKILL" if trap else "SIGTERM")
    assert terminal.output == "ready\r\n"


async def test_the_end_of_the_session_closes_every_terminal(service: TerminalService) -> None:
    terminals = [await create(service, "sleep", "60") for _ in range(5)]
    await service.close_session(SESSION)
    assert [await terminal.wait() for terminal in terminals] == [
        TerminalExitStatus(exit_code=None, signal="SIGTERM")
    ] * 5


async def test_a_cancelled_create_leaves_nothing(service: TerminalService) -> None:
    for ticks in range(6):
        creating = asyncio.create_task(create(service, "sleep", "60"))
        for _ in range(ticks):
            await asyncio.sleep(0)
        creating.cancel()
        with pytest.raises(asyncio.CancelledError):
            await creating
    assert service.terminals(SESSION) == ()
