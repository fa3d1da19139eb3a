"""``acp-host record``, and ``acp-host run --record``."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import acp_host
from acp_host.recording import read_recording
from acp_host.recording.format import CLOSED_BY_HOST
from acp_host.testing import ReferenceAgent, ScriptedAgent
from tests.cli.conftest import PATIENCE, PROGRAM, Command

unix_only = pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
NOISY = """
import sys
sys.stdout.buffer.write(b'\\xff\\r\\n' + sys.stdin.buffer.read())
sys.stderr.write('token: abcdef12345678')
"""
TRAPS = """
import signal, sys
signal.signal(int(sys.argv[1]), lambda *_: sys.exit(9))
print('ready', flush=True)
sys.stdin.read()
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "talk.jsonl"


def record(path: Path, *agent: str, **options: object) -> subprocess.CompletedProcess[bytes]:
    command = [*PROGRAM, "record", "--output", os.fspath(path), "--", *agent]
    return subprocess.run(command, capture_output=True, timeout=PATIENCE, **options)


@pytest.fixture
def through_proxy(path: Path) -> list[str]:
    return [*PROGRAM, "record", "-o", os.fspath(path), "--", *ReferenceAgent.command()]


async def test_a_host_sees_the_agent_as_it_is(path, through_proxy, tmp_path):
    async with acp_host.connect(through_proxy) as host:
        assert host.agreement.agent_name == "Reference Agent"
        session = await host.new_session(tmp_path)
        result = await session.prompt("/say Hello")
    lines = list(read_recording(path))
    assert [line.problem for line in lines if line.problem] == []
    methods = [line.message["method"] for line in lines if line.direction == "out"]
    assert methods == ["initialize", "session/new", "session/prompt"]
    assert result.text in path.read_text()
    assert (lines[-1].event, lines[-1].note, lines[-1].details) == ("end", CLOSED_BY_HOST, {"exit_status": 0})


def test_every_byte_passes_and_secrets_are_not_recorded(path):
    ran = record(path, sys.executable, "-c", NOISY, input=b"\x00half a line")
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, b"\xff\r\n\x00half a line", b"token: abcdef12345678")
    lines = list(read_recording(path))
    assert [line.raw for line in lines if line.direction == "in"] == ["\ufffd", "\x00half a line"]
    assert [line.raw for line in lines if line.direction == "out"] == ["\x00half a line"]
    assert "abcdef12345678" not in path.read_text()


def test_stderr_is_recorded_line_by_line(path):
    record(path, sys.executable, "-c", "import sys; sys.stderr.write('one\\ntwo')")
    assert [line.note for line in read_recording(path) if line.event == "stderr"] == ["one", "two"]


def test_the_exit_status_is_the_agents(path):
    command = [*PROGRAM, "record", "-o", os.fspath(path), "--", sys.executable, "-c", "raise SystemExit(7)"]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as proxy:
        assert proxy.wait(PATIENCE) == 7
    [end] = [line for line in read_recording(path) if line.event == "end"]
    assert (end.note, end.details) == ("the agent has ended", {"exit_status": 7})


@unix_only
def test_a_signal_that_ends_the_agent_ends_the_proxy(path):
    assert record(path, "sh", "-c", "kill -USR1 $$").returncode == -signal.SIGUSR1


@unix_only
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_signals_reach_the_agent_which_decides(path, number):
    agent = [sys.executable, "-c", TRAPS, str(int(number))]
    command = [*PROGRAM, "record", "-o", os.fspath(path), "--", *agent]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as proxy:
        assert proxy.stdout is not None
        assert proxy.stdout.readline() == b"ready\n"
        proxy.send_signal(number)
        assert proxy.wait(PATIENCE) == 9


def test_an_agent_that_ends_while_its_host_waits_is_over(path):
    command = [*PROGRAM, "record", "-o", os.fspath(path), "--", sys.executable, "-c", "print('bye')"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as proxy:
        assert proxy.wait(PATIENCE) == 0
        assert proxy.stdout is not None
        assert proxy.stdout.read().strip() == b"bye"


@unix_only
def test_what_an_agent_leaves_behind_keeps_nobody_waiting(path):
    agent = "import os, subprocess, sys\nchild = subprocess.Popen(['sleep', '60'])\n"
    agent += "print(child.pid, file=sys.stderr, flush=True)\nsys.stdout.write('x' * 300_000)\nsys.exit(3)"
    command = [*PROGRAM, "record", "-o", os.fspath(path), "--", sys.executable, "-c", agent]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as proxy:
        assert proxy.stdout is not None
        assert proxy.stderr is not None
        left_behind = int(proxy.stderr.readline())
        try:
            assert len(proxy.stdout.read(300_000)) == 300_000
            assert proxy.wait(30) == 3
        finally:
            os.kill(left_behind, signal.SIGKILL)


class TestMistakes:
    def test_no_agent(self, command: Command) -> None:
        ran = command("record")
        assert ran.code == 2
        assert "no agent" in ran.err

    def test_an_agent_that_does_not_start(self, command: Command, path: Path) -> None:
        ran = command("record", "-o", str(path), "--", "/no/such/agent")
        assert ran.code == 1
        assert "cannot start `/no/such/agent`" in ran.err
        assert [line.note for line in read_recording(path) if line.event == "end"] == ["not started"]

    def test_a_file_that_cannot_be_written(self, command: Command, tmp_path: Path) -> None:
        ran = command("record", "-o", str(tmp_path / "no" / "talk.jsonl"), "--", "touch", str(tmp_path / "started"))
        assert ran.code == 2
        assert "cannot be written" in ran.err
        assert not (tmp_path / "started").exists()

    def test_a_recording_that_is_not_there(self, command: Command) -> None:
        ran = command("record", "anonymise", "/no/such/file")
        assert ran.code == 2
        assert "cannot be read" in ran.err

    def test_a_file_that_is_no_recording_leaves_nothing_behind(self, command: Command, tmp_path: Path) -> None:
        source, out = tmp_path / "notes.txt", tmp_path / "report.jsonl"
        source.write_text("a line\n")
        ran = command("record", "anonymise", str(source), "-o", str(out))
        assert ran.code == 2
        assert "notes.txt holds no line of a recording" in ran.err
        assert not out.exists()

    def test_a_report_that_cannot_be_written(self, command: Command, tmp_path: Path) -> None:
        ran = command("record", "anonymise", "talk.jsonl", "-o", str(tmp_path / "no" / "report.jsonl"))
        assert ran.code == 2
        assert "report.jsonl cannot be written" in ran.err

    @pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the folder is not chosen by a variable")
    def test_a_folder_that_cannot_be_made(self, command: Command, tmp_path: Path, monkeypatch) -> None:
        (tmp_path / "file").touch()
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
        ran = command("record", "--", "some-agent")
        assert ran.code == 2
        assert "the folder for recordings cannot be made" in ran.err
        assert "name a file with --output" in ran.err

    def test_it_stands_between_run_and_an_agent(self, command: Command, tmp_path: Path) -> None:
        path = tmp_path / "talk.jsonl"
        ran = command("run", *PROGRAM, "record", "-o", str(path), *PROGRAM, "agent", "--", "/say Hello")
        assert (ran.code, ran.out) == (0, "Hello\n")
        assert any(line.message for line in read_recording(path))


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the folder is not chosen by a variable")
def test_without_a_name_it_is_kept_with_the_others(process: Command, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    folder = Path(process("record", "--where").out.strip())
    process("record", "--", sys.executable, "-c", "")
    [found] = folder.iterdir()
    assert folder.is_relative_to(tmp_path)
    assert [line.event for line in read_recording(found)] == ["start", "connection", "end"]


SECRETIVE = """
await agent.handshake()
await agent.open_session()
prompt = await agent.expect("session/prompt")
agent.say("The secret garden of Ann.")
agent.reply({"stopReason": "end_turn"}, to=prompt)
"""


class TestAnonymise:
    @pytest.fixture
    def talk(self, command: Command, path: Path) -> Path:
        ran = command("run", "--record", str(path), *ScriptedAgent.command(SECRETIVE), "--", "Tell me about Ann.")
        assert ran.out.strip() == "The secret garden of Ann."
        return path

    def test_words_are_gone_and_the_structure_is_there(self, command: Command, talk: Path, tmp_path: Path) -> None:
        out = tmp_path / "report.jsonl"
        assert command("record", "anonymise", str(talk), "--output", str(out)).code == 0
        assert "Ann" in talk.read_text()
        assert "Ann" not in out.read_text()
        before, after = list(read_recording(talk)), list(read_recording(out))
        assert [(line.direction, line.event, line.time) for line in after] == [
            (line.direction, line.event, line.time) for line in before
        ]

    def test_a_file_is_not_written_over(self, command: Command, talk: Path, tmp_path: Path) -> None:
        out = tmp_path / "report.jsonl"
        out.write_text("mine")
        ran = command("record", "anonymise", str(talk), "-o", str(out))
        assert (ran.code, out.read_text()) == (2, "mine")

    def test_it_goes_to_stdout(self, process: Command, talk: Path) -> None:
        ran = process("record", "anonymise", str(talk), "--hide-programs")
        assert ran.code == 0
        assert len(ran.out.splitlines()) == len(talk.read_text().splitlines())
        assert "acp_host" not in ran.out.split("\n", 1)[1]


def test_run_leaves_out_what_it_is_told_to(command: Command, path: Path) -> None:
    agent = ScriptedAgent.command(SECRETIVE)
    command("run", "--record", str(path), "--hide-field", "prompt", *agent, "--", "About Ann.")
    assert "About Ann." not in path.read_text()
    assert "garden of Ann." in path.read_text()
