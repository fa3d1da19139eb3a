"""StdioTransport on Linux: launching, moving bytes, and what is said when the agent goes away.

Windows parts (job object, Ctrl+Break, the Proactor loop's pipes) are not run here; their pure parts are in
``test_windows.py``.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from acp_host.diagnostics import DiagnosticKind
from acp_host.errors import ConnectionClosed, ConnectionLost, InvalidInput, InvalidState, StartFailed
from acp_host.transports import StdioTransport, StopTimeouts, stdio

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the programs use POSIX signals")


async def test_bytes_arrive_as_they_were_sent(agents: Any) -> None:
    transport, recorder = await agents.start("echo", timeouts=StopTimeouts(exit=30))
    sent = bytes(range(256)) * 1000
    for start in range(0, len(sent), 1000):
        transport.write(sent[start : start + 1000])
        await transport.drain()
    await recorder.until(lambda: len(recorder.data) == len(sent))
    assert recorder.data == sent
    await transport.close()
    assert recorder.ends == [None]
    assert transport.exit_status == 0
    assert agents.notes == []


async def test_a_line_of_ten_megabytes(agents: Any) -> None:
    size = 10_000_000
    _transport, recorder = await agents.start("line", str(size))
    await recorder.until(lambda: len(recorder.data) == size)
    assert recorder.data.endswith(b"x\n")
    assert len(recorder.chunks) < 2000, "the pipe is read in large pieces"


async def test_a_flood_on_stderr_neither_blocks_nor_grows(agents: Any) -> None:
    transport, recorder = await agents.start("flood", str(4_000_000))
    await recorder.says("ready")
    tail = transport.stderr_tail()
    assert len(tail) == 64 * 1024
    assert tail.endswith("00039999\n")


async def test_stderr_is_shown_line_by_line(agents: Any) -> None:
    lines: list[str] = []
    _transport, recorder = await agents.start("fail", "0", "first\nsecond\r\nth\u00efrd", on_stderr=lines.append)
    await recorder.end()
    assert lines == ["first", "second", "th\u00efrd"]


async def test_a_raising_callback_is_a_diagnostic(agents: Any) -> None:
    def raises(line: str) -> None:
        raise ZeroDivisionError(line)

    transport, recorder = await agents.start("fail", "0", "one\ntwo", on_stderr=raises)
    await recorder.end()
    assert [note.kind for note in agents.notes] == [DiagnosticKind.HANDLER_FAILED] * 2
    assert "two" in agents.notes[1].message
    assert transport.stderr_tail() == "one\ntwo\n"


async def test_a_raising_receiver_does_not_stop_the_close(agents: Any) -> None:
    class Raises:
        def data_received(self, data: bytes) -> None: ...

        def connection_lost(self, error: Exception | None) -> None:
            raise ZeroDivisionError

    seen: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: seen.append(context))
    transport = agents.transport("echo")
    await transport.start(Raises())
    await transport.close()
    assert [type(context["exception"]) for context in seen] == [ZeroDivisionError]


# Surroundings


async def test_surroundings_of_the_child(agents: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INHERITED", "yes")
    monkeypatch.setenv("UNWANTED", "yes")
    transport, recorder = await agents.start(
        "environment", cwd=tmp_path, env={"ADDED": "a b&c", "UNWANTED": None, "PATH": "/nowhere"}
    )
    await recorder.until(lambda: recorder.data.count(b"\n") == 3)
    variables, cwd, position = recorder.data.decode().splitlines()
    shown = eval(variables)
    assert (shown["INHERITED"], shown["ADDED"], shown["PATH"]) == ("yes", "a b&c", "/nowhere")
    assert "UNWANTED" not in shown
    assert cwd == str(tmp_path)
    assert position == "(True, True, False)", "leads its session and its group, and has no terminal at stdin"
    assert transport.pid is not None


async def test_nothing_is_inherited_if_not_wanted(agents: Any) -> None:
    _transport, recorder = await agents.start("environment", env={"ONLY": "1"}, inherit_env=False)
    await recorder.until(lambda: recorder.data.count(b"\n") == 3)
    shown = eval(recorder.data.splitlines()[0])
    shown.pop("LC_CTYPE", None)  # Python sets it for itself
    assert set(shown) == {"ONLY", "ACP_HOST_TEST_RUN", "ACP_HOST_PROCESS_TREE"}


async def test_arguments_never_meet_a_shell(agents: Any, recorder: Any) -> None:
    words = ["$(touch x)", "a b", "*", ";", "'\"", ""]
    transport = agents.launch([sys.executable, "-c", "import sys; print(sys.argv[1:])", *words])
    await transport.start(recorder)
    await recorder.end()
    assert eval(recorder.data) == words


@pytest.mark.parametrize(
    "argv, env",
    [
        ("agent --acp", None),
        ([], None),
        ([""], None),
        (["agent", "a\0b"], None),
        (["agent", 1], None),
        (["agent"], {"A=B": "x"}),
        (["agent"], {"": "x"}),
        (["agent"], {"A": "x\0"}),
    ],
)
def test_what_can_never_be_launched_is_refused_at_once(argv: Any, env: Any) -> None:
    with pytest.raises(InvalidInput):
        StdioTransport(argv, env=env)


@pytest.mark.parametrize("value", [-1, float("nan"), float("inf")])
def test_timeouts_are_checked(value: float) -> None:
    with pytest.raises(InvalidInput, match="terminate"):
        StopTimeouts(terminate=value)


# Start failures


async def failure(transport: StdioTransport, recorder: Any) -> str:
    with pytest.raises(StartFailed) as caught:
        await transport.start(recorder)
    assert recorder.ends == []
    with pytest.raises(InvalidState):
        transport.write(b"x")
    await transport.close()
    with pytest.raises(InvalidState):
        await transport.start(recorder)
    return str(caught.value)


async def test_program_not_found(agents: Any, recorder: Any) -> None:
    message = await failure(agents.launch(["no-such-agent", "--acp"]), recorder)
    assert "cannot start `no-such-agent --acp`: No such file" in message
    assert "is not on the PATH" in message


async def test_command_given_as_one_word(agents: Any, recorder: Any) -> None:
    assert "give its arguments apart from it" in await failure(agents.launch(["python -V"]), recorder)


async def test_working_directory_missing(agents: Any, recorder: Any, tmp_path: Path) -> None:
    message = await failure(agents.launch([sys.executable], cwd=tmp_path / "gone"), recorder)
    assert f"in {tmp_path / 'gone'}" in message
    assert "working directory" in message
    assert "does not exist" in message


@pytest.mark.parametrize(
    "content, mode, hint",
    [
        (None, 0, "there is no such file"),
        ("#!/no/such/interpreter\n", 0o755, "interpreter that its first line names"),
        ("text", 0o644, "not marked as executable"),
        ("\x00\x01text", 0o755, "neither a program for this machine"),
    ],
)
async def test_a_file_that_is_no_program(
    agents: Any, recorder: Any, tmp_path: Path, content: str | None, mode: int, hint: str
) -> None:
    path = tmp_path / "agent"
    if content is not None:
        path.write_text(content)
        path.chmod(mode)
    assert hint in await failure(agents.launch([path]), recorder)


async def test_no_file_can_be_opened(agents: Any, recorder: Any, no_files: Any) -> None:
    transport = agents.transport("echo")
    with no_files():
        message = await failure(transport, recorder)
    assert "too many files open" in message


@pytest.mark.parametrize("error", [NotImplementedError(), RuntimeError("no child watcher")])
async def test_a_loop_that_cannot_start_processes(
    agents: Any, recorder: Any, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    async def refuses(*args: Any, **options: Any) -> None:
        raise error

    monkeypatch.setattr(asyncio.get_running_loop(), "subprocess_exec", refuses)
    message = await failure(agents.transport("echo"), recorder)
    assert "event loop cannot start processes" in message
    assert "ProactorEventLoop" in message


async def test_a_transport_is_used_once(agents: Any, recorder: Any) -> None:
    transport = agents.transport("echo")
    with pytest.raises(InvalidState, match="not started"):
        transport.write(b"x")
    await transport.start(recorder)
    with pytest.raises(InvalidState, match="before"):
        await transport.start(recorder)


async def test_closed_before_it_was_started(agents: Any, recorder: Any) -> None:
    transport = agents.transport("echo")
    await transport.close()
    with pytest.raises(InvalidState):
        await transport.start(recorder)
    assert recorder.ends == []


async def test_closed_while_it_starts(agents: Any, recorder: Any) -> None:
    transport = agents.transport("echo")
    starting = asyncio.create_task(transport.start(recorder))
    await asyncio.sleep(0)
    await transport.close()
    with pytest.raises(ConnectionClosed):
        await starting


# The agent goes away


async def test_early_exit_carries_status_and_stderr(agents: Any) -> None:
    transport, recorder = await agents.start("fail", "3", "npm error 403 Forbidden")
    error = await recorder.end()
    assert isinstance(error, ConnectionLost)
    assert (error.exit_status, error.stderr_tail) == (3, "npm error 403 Forbidden")
    assert "exited with status 3" in str(error)
    assert "npm error 403" in str(error)
    with pytest.raises(ConnectionLost, match="status 3"):
        transport.write(b"x")
    with pytest.raises(ConnectionLost, match="status 3"):
        await transport.drain()
    await transport.close()
    assert len(recorder.ends) == 1
    with pytest.raises(ConnectionClosed):
        transport.write(b"x")


async def test_an_end_with_status_0_is_a_loss_too(agents: Any) -> None:
    _transport, recorder = await agents.start("fail", "0")
    error = await recorder.end()
    assert isinstance(error, ConnectionLost)
    assert error.exit_status == 0


async def test_end_by_a_signal_is_named(agents: Any) -> None:
    _transport, recorder = await agents.start("fall", str(int(signal.SIGSEGV)))
    error = await recorder.end()
    assert error is not None
    assert error.exit_status == -signal.SIGSEGV
    assert "SIGSEGV" in str(error)


async def test_the_status_of_an_agent_that_takes_its_time_to_exit(agents: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """As each does on a busy machine: stdout is closed, then the interpreter clears up."""
    monkeypatch.setattr(stdio, "_SETTLE", 0.05)
    _transport, recorder = await agents.start("closes_stdout_then_exits", "0.3", "4")
    error = await recorder.end()
    assert error is not None
    assert error.exit_status == 4


async def test_closed_stdout_is_a_loss_though_the_process_lives(agents: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stdio, "_EXITS", 0.05)
    transport, recorder = await agents.start("closes_stdout")
    error = await recorder.end()
    assert error is not None
    assert error.exit_status is None
    assert "closed its stdout but is still running" in str(error)
    assert transport.exit_status is None


async def test_an_error_carries_a_bounded_part_of_stderr(agents: Any) -> None:
    _transport, recorder = await agents.start("fail", "1", "y" * 60_000 + "END")
    error = await recorder.end()
    assert error is not None
    assert error.stderr_tail.endswith("END")
    assert len(error.stderr_tail) <= 8192


# Writing to an agent that does not read


async def test_backpressure_and_a_bounded_close(agents: Any) -> None:
    transport, recorder = await agents.start("deaf")
    await recorder.says("ready")
    transport.write(b"x" * 1_000_000)
    waiting = asyncio.create_task(transport.drain())
    for _ in range(20):
        await asyncio.sleep(0)
    assert not waiting.done()
    started = time.monotonic()
    closing = asyncio.create_task(transport.close())
    with pytest.raises(ConnectionClosed):
        await waiting
    assert agents.living(), "whoever waits for the agent to read learns at once that it will not"
    await closing
    assert time.monotonic() - started < 20
    assert recorder.ends == [None]


async def test_drain_returns_when_the_agent_reads_on(agents: Any) -> None:
    transport, recorder = await agents.start("echo")
    transport.write(b"x" * 3_000_000)
    async with asyncio.timeout(40):
        await transport.drain()
    await recorder.until(lambda: len(recorder.data) == 3_000_000)


async def test_drain_can_be_cancelled(agents: Any) -> None:
    transport, recorder = await agents.start("deaf")
    await recorder.says("ready")
    transport.write(b"x" * 1_000_000)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await transport.drain()
    transport.write(b"still open")


async def test_writing_to_a_closed_stdin(agents: Any) -> None:
    transport, recorder = await agents.start("closes_stdin")
    await recorder.says("ready")
    with pytest.raises(ConnectionLost, match="closed its stdin and takes no more messages"):
        async with asyncio.timeout(40):
            while True:  # the first write may still go into a pipe that is found closed a moment later
                transport.write(b"x\n")
                await transport.drain()
                await asyncio.sleep(0)
    assert recorder.ends == [], "stdout is still open: what the agent has to say is heard"


async def test_an_agent_with_a_closed_stdin_is_lost_when_it_falls_silent(
    agents: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stdio, "_LAST_WORDS", 0.3)
    _transport, recorder = await agents.start("closes_stdin")
    await recorder.says("ready")
    error = await recorder.end()
    assert isinstance(error, ConnectionLost)
    assert "closed its stdin and takes no more messages" in str(error)
    assert error.exit_status is None


async def test_stdin_closed_in_the_middle_of_a_message(agents: Any) -> None:
    transport, recorder = await agents.start("reads_then_closes_stdin", "100000")
    await recorder.says("ready")
    transport.write(b"x" * 2_000_000)
    with pytest.raises(ConnectionLost, match="message of 2000000 bytes"):
        async with asyncio.timeout(40):
            await transport.drain()


async def test_drain_is_woken_by_the_agents_end(agents: Any) -> None:
    transport, recorder = await agents.start("deaf")
    await recorder.says("ready")
    transport.write(b"x" * 1_000_000)
    waiting = asyncio.create_task(transport.drain())
    os.kill(transport.pid, signal.SIGKILL)
    with pytest.raises(ConnectionLost, match="SIGKILL"):
        await waiting
    assert (await recorder.end()).exit_status == -signal.SIGKILL
