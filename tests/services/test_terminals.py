"""Commands that run for an agent: what runs where, what is kept of them, and that nothing outlives its session."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import attrs
import psutil
import pytest

from acp_host.errors import InternalError, InvalidInput, InvalidParams, ResourceNotFound
from acp_host.services import TerminalProcess, TerminalService, terminals
from acp_host.services._process_runner import ProcessRunner
from acp_host.services.terminal_runner import RunningCommand
from acp_host.wire.terminals import (
    CreateTerminalRequest,
    EnvVariable,
    KillTerminalRequest,
    ReleaseTerminalRequest,
    TerminalExitStatus,
    TerminalOutputRequest,
    TerminalOutputResponse,
    WaitForTerminalExitRequest,
    WaitForTerminalExitResponse,
)

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the commands are POSIX ones")

SESSION = "session"
MARK = "ACP_HOST_TEST_TERMINALS"
"""Every command of a test inherits this variable, so that those which hide are found."""


@pytest.fixture
async def service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[TerminalService]:
    """A service with one open session in ``tmp_path/work``; nothing may be left when it is closed."""
    monkeypatch.setenv(MARK, str(tmp_path))
    (tmp_path / "work/sub").mkdir(parents=True)
    service = TerminalService()
    service.open_session(SESSION, [tmp_path / "work"], tmp_path / "work")
    yield service
    await service.close()
    assert left(tmp_path) == []


@pytest.fixture
def fifo(tmp_path: Path) -> Path:
    """A FIFO: reading it waits until a command has written to it, and the other way round."""
    os.mkfifo(tmp_path / "fifo")
    return tmp_path / "fifo"


def request(command: str, *args: str, **more: Any) -> CreateTerminalRequest:
    return CreateTerminalRequest(session_id=SESSION, command=command, args=args, **more)


def shell(script: str, **more: Any) -> CreateTerminalRequest:
    return request("/bin/sh", "-c", script, **more)


async def create(service: TerminalService, asked: CreateTerminalRequest) -> TerminalProcess:
    terminal_id = (await service.create(asked)).terminal_id
    return next(terminal for terminal in service.terminals(SESSION) if terminal.terminal_id == terminal_id)


async def output(service: TerminalService, terminal: TerminalProcess) -> TerminalOutputResponse:
    return await service.output(TerminalOutputRequest(session_id=SESSION, terminal_id=terminal.terminal_id))


async def exit_of(service: TerminalService, terminal: TerminalProcess) -> WaitForTerminalExitResponse:
    return await service.wait_for_exit(WaitForTerminalExitRequest(SESSION, terminal.terminal_id))


async def run(service: TerminalService, asked: CreateTerminalRequest) -> TerminalOutputResponse:
    terminal = await create(service, asked)
    await exit_of(service, terminal)
    return await output(service, terminal)


async def written_to(fifo: Path) -> list[int]:
    """Wait until a command has written to ``fifo``; return the process ids it wrote."""
    return [int(pid) for pid in (await asyncio.to_thread(fifo.read_text)).split()]


async def printed(terminal: TerminalProcess, text: str) -> None:
    """Wait until the output of the command is ``text``."""
    async with asyncio.timeout(40):
        async for _ in terminal.watch():
            if terminal.output == text:
                return


@attrs.frozen
class Gate:
    """Holds a launch back after the process was started and before anybody hears of it."""

    reached: asyncio.Event
    opened: asyncio.Event


@pytest.fixture
async def gate(monkeypatch: pytest.MonkeyPatch) -> Gate:
    gate = Gate(asyncio.Event(), asyncio.Event())
    start = ProcessRunner.start

    async def slow(*args: Any) -> RunningCommand:
        running = await start(*args)
        gate.reached.set()
        await gate.opened.wait()
        return running

    monkeypatch.setattr(ProcessRunner, "start", slow)
    return gate


def lives(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def left(mark: Path) -> list[str]:
    """The living processes, whoever their parent is, that a test's commands have started."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.environ().get(MARK) == str(mark):
                found.append(f"{process.pid} {process.cmdline()}")
    return found


# What runs


async def test_arguments_are_passed_as_they_are_without_a_shell(service: TerminalService) -> None:
    terminal = await create(service, request("printf", "[%s]", "$HOME; ls", "", "a b", "*"))
    assert await exit_of(service, terminal) == WaitForTerminalExitResponse(exit_code=0, signal=None)
    assert terminal.output == "[$HOME; ls][][a b][*]"
    assert terminal.argv == ("printf", "[%s]", "$HOME; ls", "", "a b", "*")
    assert not terminal.via_shell


@pytest.mark.parametrize("args", [(), None])
async def test_a_whole_command_line_runs_by_the_shell_and_says_so(service: TerminalService, args: Any) -> None:
    line = 'echo "a  b" && echo $((1+1)) >&2 | cat'
    asked = request(line) if args == () else CreateTerminalRequest(session_id=SESSION, command=line)
    terminal = await create(service, asked)
    await exit_of(service, terminal)
    assert terminal.output == "a  b\n2\n"
    assert terminal.via_shell
    assert terminal.argv == (line,)


@pytest.mark.parametrize("command", ["my tool", "./my tool", "{work}/my tool"])
async def test_a_program_with_a_blank_in_its_name_is_no_command_line(
    service: TerminalService, tmp_path: Path, command: str
) -> None:
    program = tmp_path / "work/my tool"
    program.write_text("#!/bin/sh\necho ran")
    program.chmod(0o755)
    path = EnvVariable(name="PATH", value=f"{program.parent}:{os.environ['PATH']}")
    terminal = await create(service, request(command.format(work=program.parent), env=(path,)))
    await exit_of(service, terminal)
    assert (terminal.output, terminal.via_shell) == ("ran\n", False)


async def test_a_single_word_is_a_program(service: TerminalService) -> None:
    terminal = await create(service, request("pwd"))
    assert not terminal.via_shell


async def test_standard_input_is_empty(service: TerminalService) -> None:
    assert (await run(service, request("cat"))).output == ""


async def test_both_streams_are_merged_in_order(service: TerminalService) -> None:
    assert (await run(service, shell("echo 1; echo 2 >&2; echo 3"))).output == "1\n2\n3\n"


@pytest.mark.parametrize("command", ["no-such-program", "./no-such-program", "/", "/etc/passwd"])
async def test_a_command_that_cannot_be_launched_is_refused_by_name(service: TerminalService, command: str) -> None:
    with pytest.raises(InvalidParams, match="cannot start") as refused:
        await service.create(request(command, "argument"))
    assert refused.value.data == {"command": command}
    assert command in refused.value.message
    assert service.terminals(SESSION) == ()


@pytest.mark.parametrize(
    "asked",
    [
        request(""),
        request("echo", "\0"),
        request("echo", "\ud83d"),
        request("echo \ud83d"),
        request("echo", env=(EnvVariable(name="", value="x"),)),
        request("echo", env=(EnvVariable(name="A=B", value="x"),)),
        request("echo", env=(EnvVariable(name="A", value="\0"),)),
        request("echo", env=(EnvVariable(name="A", value="\udc80"),)),
    ],
)
async def test_what_no_system_can_run_is_refused(service: TerminalService, asked: CreateTerminalRequest) -> None:
    with pytest.raises(InvalidParams) as refused:
        await service.create(asked)
    refused.value.message.encode()
    assert service.terminals(SESSION) == ()


async def test_an_event_loop_without_processes_is_named(
    service: TerminalService, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def cannot(*_: Any, **__: Any) -> None:
        raise NotImplementedError

    monkeypatch.setattr(asyncio.get_running_loop(), "subprocess_exec", cannot)
    with pytest.raises(InvalidParams, match="event loop cannot start processes"):
        await service.create(request("echo"))


# Where it runs


@pytest.mark.parametrize("cwd", [None, "", "{work}/sub", "{work}/sub/..", "{work}/link", "{work}"])
async def test_commands_start_inside_the_session(service: TerminalService, tmp_path: Path, cwd: str | None) -> None:
    work = tmp_path / "work"
    (work / "link").symlink_to("sub")
    asked = request("pwd", "-P", cwd=cwd and cwd.format(work=work))
    expected = work / "sub" if cwd and cwd.endswith(("sub", "link")) else work
    assert (await run(service, asked)).output == f"{expected}\n"


@pytest.mark.parametrize(
    "cwd",
    ["{tmp}", "/", "{tmp}/work/..", "{tmp}/work/out", "sub", "{tmp}/work/none", "{tmp}/work/file", "\0", "/\ud83d"],
)
async def test_commands_start_nowhere_else(service: TerminalService, tmp_path: Path, cwd: str) -> None:
    (tmp_path / "work/out").symlink_to(tmp_path)
    (tmp_path / "work/file").touch()
    with pytest.raises(InvalidParams):
        await service.create(request("touch", "here", cwd=cwd.format(tmp=tmp_path)))
    assert not any((tmp_path / where / "here").exists() for where in (".", "work", "work/sub"))


async def test_a_session_directory_that_is_gone_is_named(service: TerminalService, tmp_path: Path) -> None:
    (tmp_path / "work").rename(tmp_path / "moved")
    with pytest.raises(InvalidParams, match="working directory"):
        await service.create(request("pwd"))


def test_the_session_directory_must_be_absolute(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="absolute"):
        TerminalService().open_session(SESSION, [tmp_path], "work")


async def test_variables_are_added_to_the_environment(
    service: TerminalService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OURS", "kept")
    monkeypatch.setenv("BOTH", "ours")
    env = (EnvVariable(name="BOTH", value="theirs"), EnvVariable(name="EMPTY", value=""))
    assert (await run(service, shell("echo $OURS $BOTH ${EMPTY-unset}.", env=env))).output == "kept theirs .\n"


async def test_the_environment_can_be_another_than_the_hosts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "token")
    service = TerminalService(environment={"PATH": os.environ["PATH"], "GIVEN": "1"})
    service.open_session(SESSION, [tmp_path], tmp_path)
    printed = (await run(service, request("env", env=(EnvVariable(name="MORE", value="2"),)))).output
    await service.close()
    assert {"GIVEN=1", "MORE=2"} <= set(printed.split("\n"))
    assert "token" not in printed


# What is kept


async def test_output_is_complete_when_the_exit_is_told(service: TerminalService) -> None:
    expected = "".join(f"{number}\n" for number in range(1, 30001))
    assert (await run(service, request("seq", "30000"))).output == expected


@pytest.mark.parametrize(
    ("asked", "ceiling", "kept"),
    [
        (None, 1000, "é😀é😀"),
        (12, 1000, "é😀é😀"),
        (11, 1000, "😀é😀"),
        (9, 1000, "é😀"),
        (0, 1000, ""),
        (1000, 5, "😀"),
        (None, 5, "😀"),
    ],
)
async def test_the_newest_output_is_kept_up_to_the_smaller_limit(
    tmp_path: Path, asked: int | None, ceiling: int, kept: str
) -> None:
    service = TerminalService(max_output=ceiling)
    service.open_session(SESSION, [tmp_path], tmp_path)
    response = await run(service, request("printf", "é😀é😀", output_byte_limit=asked))
    await service.close()
    assert (response.output, response.truncated) == (kept, kept != "é😀é😀")


async def test_a_character_may_come_in_two_pieces(service: TerminalService, fifo: Path) -> None:
    terminal = await create(service, shell(f"printf 'a\\303'; read x < {fifo}; printf '\\251b'"))
    await printed(terminal, "a")
    await asyncio.to_thread(fifo.write_text, "on\n")
    await exit_of(service, terminal)
    assert terminal.output == "aéb"


async def test_bytes_that_are_no_text_are_replaced(service: TerminalService) -> None:
    assert (await run(service, shell("printf 'a\\377b\\303'"))).output == "a\ufffdb\ufffd"


async def test_output_is_readable_while_the_command_runs(service: TerminalService) -> None:
    terminal = await create(service, shell("echo ready; exec sleep 60"))
    await printed(terminal, "ready\n")
    assert not (await output(service, terminal)).exit_status


@pytest.mark.parametrize(
    ("script", "status"),
    [
        ("exit 0", TerminalExitStatus(exit_code=0, signal=None)),
        ("exit 3", TerminalExitStatus(exit_code=3, signal=None)),
        ("kill -TERM $$", TerminalExitStatus(exit_code=None, signal="SIGTERM")),
        ("kill -KILL $$", TerminalExitStatus(exit_code=None, signal="SIGKILL")),
    ],
)
async def test_the_exit_is_told_as_a_code_or_a_signal(
    service: TerminalService, script: str, status: TerminalExitStatus
) -> None:
    assert (await run(service, shell(script))).exit_status == status


@pytest.mark.skipif(not hasattr(signal, "SIGRTMIN"), reason="there are no real-time signals here")
async def test_a_signal_without_a_name_has_its_number(service: TerminalService) -> None:
    number = signal.SIGRTMIN + 3
    response = await run(service, shell(f"kill -{number} $$"))
    assert response.exit_status == TerminalExitStatus(exit_code=None, signal=f"SIG{number}")


# Waiting, killing, releasing


async def test_any_number_may_wait(service: TerminalService, fifo: Path) -> None:
    terminal = await create(service, shell(f"read x < {fifo}; exit 5"))
    async with asyncio.TaskGroup() as group:
        waiters = [group.create_task(exit_of(service, terminal)) for _ in range(20)]
        impatient = group.create_task(exit_of(service, terminal))
        await asyncio.sleep(0)
        impatient.cancel()
        await asyncio.to_thread(fifo.write_text, "on\n")
    assert [waiter.result().exit_code for waiter in waiters] == [5] * 20
    assert impatient.cancelled()
    assert (await exit_of(service, terminal)).exit_code == 5


TREE = (
    "sleep 61 & (setsid sh -c 'sleep 62 & setsid sleep 63 & wait' &) ; (sleep 64 & exec sleep 65) & "
    "echo $$ $! > {fifo}; echo out; wait"
)
STUBBORN = "trap '' TERM HUP INT; echo $$ > {fifo}; echo out; while :; do sleep 0.2; done"


@pytest.mark.parametrize("script", [TREE, STUBBORN])
async def test_kill_ends_all_and_keeps_the_output(
    service: TerminalService, tmp_path: Path, fifo: Path, script: str
) -> None:
    terminal = await create(service, shell(script.format(fifo=fifo)))
    waiter = asyncio.create_task(exit_of(service, terminal))
    pids = await written_to(fifo)
    await printed(terminal, "out\n")
    assert left(tmp_path)
    await service.kill(KillTerminalRequest(SESSION, terminal.terminal_id))
    assert not any(map(lives, pids))
    assert left(tmp_path) == []
    assert (await waiter).signal == ("SIGKILL" if script is STUBBORN else "SIGTERM")
    assert (await output(service, terminal)).output == "out\n"
    await service.kill(KillTerminalRequest(SESSION, terminal.terminal_id))


async def test_a_user_may_stop_a_command_and_the_agent_hears_of_the_end(
    service: TerminalService, tmp_path: Path, fifo: Path
) -> None:
    """Also while the agent kills it; afterwards, and of one that was released, it does nothing."""
    terminal = await create(service, shell(TREE.format(fifo=fifo)))
    waiter = asyncio.create_task(exit_of(service, terminal))
    await written_to(fifo)
    await asyncio.gather(terminal.end(), service.kill(KillTerminalRequest(SESSION, terminal.terminal_id)))
    assert (await waiter).signal == "SIGTERM"
    assert left(tmp_path) == []
    assert service.terminals(SESSION) == (terminal,), "the agent can still read it"
    await terminal.end()
    await service.release(ReleaseTerminalRequest(SESSION, terminal.terminal_id))
    await terminal.end()
    assert terminal.exit_status is not None
    assert terminal.exit_status.signal == "SIGTERM"


async def test_kill_after_the_end_changes_nothing(service: TerminalService) -> None:
    terminal = await create(service, shell("exit 4"))
    await exit_of(service, terminal)
    await service.kill(KillTerminalRequest(SESSION, terminal.terminal_id))
    assert (await exit_of(service, terminal)).exit_code == 4


async def test_a_cancelled_kill_kills_all_the_same(service: TerminalService, fifo: Path) -> None:
    terminal = await create(service, shell(STUBBORN.format(fifo=fifo)))
    pids = await written_to(fifo)
    killing = asyncio.create_task(service.kill(KillTerminalRequest(SESSION, terminal.terminal_id)))
    await asyncio.sleep(0)
    killing.cancel()
    assert (await exit_of(service, terminal)).signal == "SIGKILL"
    assert killing.cancelled()
    assert not any(map(lives, pids))


async def test_release_ends_all_and_forgets(service: TerminalService, fifo: Path, tmp_path: Path) -> None:
    terminal = await create(service, shell(TREE.format(fifo=fifo)))
    waiter = asyncio.create_task(exit_of(service, terminal))
    await written_to(fifo)
    await service.release(ReleaseTerminalRequest(SESSION, terminal.terminal_id))
    assert left(tmp_path) == []
    assert (await waiter).signal == "SIGTERM"
    assert service.terminals(SESSION) == ()
    with pytest.raises(ResourceNotFound):
        await output(service, terminal)
    with pytest.raises(ResourceNotFound):
        await service.release(ReleaseTerminalRequest(SESSION, terminal.terminal_id))


async def test_what_is_left_in_the_background_delays_no_exit_and_goes_with_the_terminal(
    service: TerminalService, fifo: Path
) -> None:
    terminal = await create(service, shell(f"sleep 60 & echo $! > {fifo}; echo started"))
    [pid] = await written_to(fifo)
    async with asyncio.timeout(40):
        assert (await exit_of(service, terminal)).exit_code == 0
    assert (await output(service, terminal)).output == "started\n"
    assert lives(pid)
    await service.release(ReleaseTerminalRequest(SESSION, terminal.terminal_id))
    assert not lives(pid)


# Sessions


async def test_closing_a_session_ends_its_commands_and_answers_who_waits(
    service: TerminalService, fifo: Path, tmp_path: Path
) -> None:
    terminal = await create(service, shell(TREE.format(fifo=fifo)))
    waiters = [asyncio.create_task(exit_of(service, terminal)) for _ in range(3)]
    await written_to(fifo)
    await service.close_session(SESSION)
    assert left(tmp_path) == []
    assert [(await waiter).signal for waiter in waiters] == ["SIGTERM"] * 3
    with pytest.raises(ResourceNotFound):
        await output(service, terminal)
    with pytest.raises(ResourceNotFound):
        await service.create(request("echo"))
    await service.close_session(SESSION)


async def test_a_cancelled_close_is_finished_all_the_same(service: TerminalService, fifo: Path) -> None:
    terminal = await create(service, shell(f"echo $$ > {fifo}; exec sleep 60"))
    [pid] = await written_to(fifo)
    closing = asyncio.create_task(service.close_session(SESSION))
    await asyncio.sleep(0)
    closing.cancel()
    assert (await terminal.wait()).signal == "SIGTERM"
    assert not lives(pid)


async def test_a_command_that_starts_while_its_session_closes_is_ended(
    service: TerminalService, gate: Gate, tmp_path: Path
) -> None:
    starting = asyncio.create_task(service.create(request("sleep", "60")))
    await gate.reached.wait()
    [terminal] = service.terminals(SESSION)
    closing = asyncio.create_task(service.close_session(SESSION))
    await asyncio.sleep(0)
    gate.opened.set()
    await closing
    await starting
    assert (await terminal.wait()).signal == "SIGTERM"
    assert left(tmp_path) == []


async def test_a_session_that_closes_before_the_command_starts_gets_none(
    service: TerminalService, tmp_path: Path
) -> None:
    command = await service.describe(request("sleep", "60"))
    await service.close_session(SESSION)
    with pytest.raises(ResourceNotFound):
        await service.create(request("sleep", "60"), command)
    service.open_session(SESSION, [tmp_path], tmp_path)
    creating = asyncio.create_task(service.create(request("sleep", "60")))
    await asyncio.sleep(0)
    await service.close_session(SESSION)
    with pytest.raises(ResourceNotFound):
        await creating
    assert left(tmp_path) == []


async def test_a_cancelled_create_leaves_nothing(service: TerminalService, gate: Gate, tmp_path: Path) -> None:
    starting = asyncio.create_task(service.create(request("sleep", "60")))
    await gate.reached.wait()
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    assert service.terminals(SESSION) == ()
    gate.opened.set()
    await service.close()
    assert left(tmp_path) == []


async def test_terminals_belong_to_one_session(service: TerminalService, tmp_path: Path) -> None:
    service.open_session("other", [tmp_path], tmp_path)
    terminal = await create(service, request("echo"))
    with pytest.raises(ResourceNotFound, match="no such terminal") as refused:
        await service.output(TerminalOutputRequest("other", terminal.terminal_id))
    assert refused.value.data == {"terminalId": terminal.terminal_id}
    with pytest.raises(ResourceNotFound):
        await service.kill(KillTerminalRequest("third", terminal.terminal_id))


async def test_opening_a_session_again_keeps_its_terminals_and_changes_where_they_start(
    service: TerminalService, tmp_path: Path
) -> None:
    terminal = await create(service, request("echo", "kept"))
    await exit_of(service, terminal)
    service.open_session(SESSION, [tmp_path], tmp_path)
    assert (await output(service, terminal)).output == "kept\n"
    assert (await run(service, request("pwd", "-P"))).output == f"{tmp_path}\n"


async def test_kill_all_ends_what_runs_and_keeps_the_rest(service: TerminalService, fifo: Path) -> None:
    done = await create(service, request("echo", "done"))
    await exit_of(service, done)
    running = await create(service, shell(f"echo $$ > {fifo}; exec sleep 60"))
    [pid] = await written_to(fifo)
    await service.kill_all(SESSION)
    assert not lives(pid)
    assert service.terminals(SESSION) == (done, running)
    assert (done.output, done.exit_status) == ("done\n", TerminalExitStatus(exit_code=0, signal=None))
    await service.kill_all("unknown")


async def test_many_that_have_ended_are_looked_after_at_once(
    service: TerminalService, monkeypatch: pytest.MonkeyPatch, fifo: Path
) -> None:
    """A look reads all processes of the system; one for each forgotten terminal stopped the event loop for seconds."""
    leaving = await create(service, shell(f"sleep 60 & echo $! > {fifo}"))
    [pid] = await written_to(fifo)
    ended = [leaving, *[await create(service, request("true")) for _ in range(20)]]
    for terminal in ended:
        await exit_of(service, terminal)
    looks, pids = [], psutil.pids

    def look() -> list[int]:
        looks.append(None)
        return pids()

    monkeypatch.setattr(psutil, "pids", look)
    await service.kill_all(SESSION)
    assert not lives(pid)
    assert len(looks) < 20
    looks.clear()
    await service.close_session(SESSION)
    assert len(looks) < 20


async def test_the_number_of_terminals_is_bounded(service: TerminalService, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminals, "MAX_TERMINALS", 2)
    running = await create(service, request("sleep", "60"))
    ended = await create(service, request("echo"))
    await exit_of(service, ended)
    newest = await create(service, request("sleep", "60"))
    assert service.terminals(SESSION) == (running, newest)
    with pytest.raises(InternalError, match="2 commands"):
        await service.create(request("echo"))


def test_ids_are_not_used_again_by_another_service(tmp_path: Path) -> None:
    async def one() -> str:
        service = TerminalService()
        service.open_session(SESSION, [tmp_path], tmp_path)
        terminal_id = (await service.create(request(sys.executable, "-c", ""))).terminal_id
        await service.close()
        return terminal_id

    assert asyncio.run(one()) != asyncio.run(one())


class Heard:
    """What a listener was told."""

    def __init__(self) -> None:
        self.news: list[tuple[str, bool, bool]] = []

    def __call__(self, terminal: TerminalProcess, printed: str) -> None:
        self.news.append((printed, terminal.exit_status is not None, terminal.released))

    @property
    def printed(self) -> str:
        return "".join(printed for printed, _, _ in self.news)


async def test_a_listener_hears_of_every_change(service: TerminalService, tmp_path: Path) -> None:
    heard = Heard()
    service.open_session(SESSION, [tmp_path], tmp_path, heard)
    terminal = await create(
        service, shell("printf 'caf\\303'; sleep 0.05; printf '\\251'; exit 3", output_byte_limit=1)
    )
    assert heard.news[0][1:] == (False, False)
    await exit_of(service, terminal)
    assert heard.printed == "café"
    assert heard.news[-1] == ("", True, False)
    await service.release(ReleaseTerminalRequest(SESSION, terminal.terminal_id))
    assert heard.news[-1] == ("", True, True)
    assert [over for _, over, _ in heard.news] == sorted(over for _, over, _ in heard.news)


async def test_a_listener_that_comes_later_hears_what_was_printed_before(
    service: TerminalService, tmp_path: Path
) -> None:
    terminal = await create(service, request("echo", "kept"))
    await exit_of(service, terminal)
    heard = Heard()
    for _ in range(2):
        service.open_session(SESSION, [tmp_path], tmp_path, heard)
    assert heard.news == [("kept\n", True, False)]


async def test_a_listener_hears_nothing_of_what_could_not_be_launched(service: TerminalService, tmp_path: Path) -> None:
    heard = Heard()
    service.open_session(SESSION, [tmp_path], tmp_path, heard)
    with pytest.raises(InvalidParams):
        await service.create(request("no-such-program-at-all"))
    assert heard.news == []


# What would run


async def test_a_command_is_described_before_it_runs(service: TerminalService, tmp_path: Path) -> None:
    env = (EnvVariable(name="PAGER", value="cat"),)
    command = await service.describe(request("touch", "a b", cwd=str(tmp_path / "work/sub"), env=env))
    assert (command.argv, command.command_line, command.via_shell) == (("touch", "a b"), "touch 'a b'", False)
    assert (command.cwd, command.agent_env) == (str(tmp_path / "work/sub"), {"PAGER": "cat"})
    assert command.env["PAGER"] == "cat"
    assert command.env["PATH"] == os.environ["PATH"]
    assert command.size is None
    assert os.environ["PATH"] not in repr(command)
    line = await service.describe(request("touch it && exit"))
    assert (line.command_line, line.via_shell) == ("touch it && exit", True)
    assert list((tmp_path / "work").rglob("*")) == [tmp_path / "work/sub"]
    assert service.terminals(SESSION) == ()


async def test_what_was_described_is_what_runs(service: TerminalService, tmp_path: Path) -> None:
    """A file that appears in between does not turn a command line into a program."""
    asked = request("echo shown")
    command = await service.describe(asked)
    (tmp_path / "work/echo shown").write_text("#!/bin/sh\necho something else")
    (tmp_path / "work/echo shown").chmod(0o755)
    terminal_id = (await service.create(asked, command)).terminal_id
    await service.wait_for_exit(WaitForTerminalExitRequest(SESSION, terminal_id))
    assert (await service.output(TerminalOutputRequest(SESSION, terminal_id))).output == "shown\n"


async def test_what_cannot_run_cannot_be_described(service: TerminalService) -> None:
    with pytest.raises(InvalidParams):
        await service.describe(request("ls", cwd="/"))
    with pytest.raises(ResourceNotFound):
        await service.describe(CreateTerminalRequest(session_id="other", command="ls"))


async def test_a_variable_that_agents_may_not_set_is_refused(service: TerminalService, tmp_path: Path) -> None:
    env = (EnvVariable(name="LD_PRELOAD", value=str(tmp_path / "evil.so")), EnvVariable(name="A", value="1"))
    with pytest.raises(InvalidParams, match="'LD_PRELOAD'") as refused:
        await service.create(request("ls", env=env))
    assert refused.value.data == {"env": ["LD_PRELOAD"]}
    assert service.terminals(SESSION) == ()
