"""Agents, disks and hosts that make it hard to record a conversation."""

from __future__ import annotations

import json
import os
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import acp_host
from acp_host import DiagnosticKind, InvalidInput, Recording
from acp_host.recording import recorder as recorder_module
from acp_host.recording.anonymise import anonymise
from acp_host.testing import ReferenceAgent, ScriptedAgent
from tests.chaos.bad_agents import DONE, conversation, kinds, open_session, until
from tests.recording.live import recorded


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "talk.jsonl"


@pytest.fixture
def program(tmp_path: Path) -> Path:
    found = tmp_path / "program.py"
    found.write_text("print('my program')\n")
    return found


def written(path: Path) -> str:
    return path.read_text(encoding="utf-8")


async def test_r275_noise_is_recorded_as_it_came(path: Path) -> None:
    noise = ["npm warn deprecated", '[{"jsonrpc":"2.0"}]', '{"half": ', '{"n":NaN}']

    def bad(agent: ScriptedAgent) -> None:
        for line in noise:
            agent.send_raw(f"{line}\n".encode())
        agent.send_raw(b"\xff\xfe broken\r\n")

    seen = await conversation(bad, record=path)
    assert seen.result.text == "before after"
    raw = [line.raw for line in recorded(path) if line.raw is not None]
    assert raw == [*noise, "\ufffd\ufffd broken"]


async def test_r276_a_writer_that_is_stuck_holds_nothing_up(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    go, next_batch = threading.Event(), recorder_module._next_batch
    monkeypatch.setattr(recorder_module, "MAX_WAITING", 10_000)
    monkeypatch.setattr(recorder_module, "_next_batch", lambda waiting: go.wait(10) and next_batch(waiting))

    def flood(agent: ScriptedAgent) -> None:
        for number in range(2_000):
            agent.say(f"{number} ")

    try:
        seen = await conversation(flood, record=path)
    finally:
        go.set()
    assert seen.result.text.endswith("1999 after")
    await until(lambda: not any(thread.name == "acp_host recording" for thread in threading.enumerate()))
    lines = recorded(path)
    missing = sum(line.details["count"] for line in lines if line.event == "not_recorded")
    assert missing > 1_000
    assert missing + sum(line.direction == "in" for line in lines) >= 2_000


async def test_r277_a_full_disk_is_told_once_and_ends_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def write(fd: int, data: Any) -> int:
        raise OSError(28, "No space left on device")

    failed = threading.Event()
    tell = recorder_module.Recorder._tell

    def told(recorder: Any, sort: str, text: str) -> None:
        tell(recorder, sort, text)
        failed.set()

    monkeypatch.setattr(recorder_module.Recorder, "_tell", told)
    monkeypatch.setattr("acp_host.recording.file.os.write", write)

    async def wait(agent: ScriptedAgent) -> None:
        await until(failed.is_set)

    seen = await conversation(wait, record=path)
    assert kinds(seen.diagnostics).count(DiagnosticKind.RECORDING) == 1


async def test_r278_secrets_are_in_no_recording(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "correct-horse-battery")

    def leak(agent: ScriptedAgent) -> None:
        agent.say("I have correct-horse-battery and Authorization: Bearer abcdef0123456789. ")
        agent.update(
            {
                "sessionUpdate": "tool_call",
                "toolCallId": "1",
                "title": "curl https://ann:hunter22@example.org",
                "rawInput": {"headers": {"X-Any": "hunter22"}, "password": "hunter22"},
                "_meta": {"accessToken": "hunter22"},
            }
        )
        agent.send_raw(b"token=hunter22 on stdout\n")

    seen = await conversation(leak, record=path)
    assert "correct-horse" in seen.result.text, "what is shown to the user stays"
    text = written(path)
    for secret in ("correct-horse", "abcdef0123456789", "hunter22"):
        assert secret not in text


async def test_r492_a_key_that_is_a_word_changes_no_words(path: Path) -> None:
    """As with models of this machine, whose agents are told to use the key ``none``."""
    script = """
        await agent.handshake()
        await agent.open_session()
        prompt = await agent.expect("session/prompt")
        agent.say("Error: (none), and hunter22hunter22")
        agent.reply({"stopReason": "end_turn"}, to=prompt)
    """
    keys = {"OPENAI_API_KEY": "none", "SOME_TOKEN": "hunter22hunter22"}
    async with acp_host.connect(ScriptedAgent.command(script), env=keys, record=path) as host:
        await (await host.new_session()).prompt("question")
    text = written(path)
    assert "Error: (none), and [redacted]" in text
    assert "hunter22" not in text


async def test_r500_what_is_nearly_a_secret_without_end(path: Path) -> None:
    """Backslashes, tokens and addresses that go on and on: in messages, in errors, and in lines that are none."""
    lures = ["\\" * 200_000, "eyJ-" * 50_000, "://" + "a:" * 100_000]

    async def bad(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        for lure in lures:
            agent.say(lure)
            agent.send_raw(lure.encode() + b"\n")
        agent.reply_error(-32603, "".join(lures), {"details": lures}, to=prompt)

    began = time.process_time()
    async with open_session(bad, record=path) as (host, session):
        with pytest.raises(acp_host.RequestFailed):
            await session.prompt("question")
    assert time.process_time() - began < 15  # a second; minutes, where each place is searched from anew
    assert len(host.diagnostics) == len(lures)
    assert "\\" * 100_000 in written(path)


async def test_r279_the_last_words_of_an_agent_that_dies_are_recorded(path: Path, tmp_path: Path) -> None:
    script = """
    import sys
    await agent.handshake()
    await agent.open_session()
    await agent.expect("session/prompt")
    agent.send_raw(b'{"jsonrpc":"2.0","method":"session/up')
    print("panic: at the disco", file=sys.stderr)
    sys.exit(3)
    """
    async with acp_host.connect(ScriptedAgent.command(script), record=path) as host:
        session = await host.new_session(tmp_path)
        with pytest.raises(acp_host.AcpError):
            await session.prompt("Hello")
    *_, half, end = recorded(path)
    assert half.raw == '{"jsonrpc":"2.0","method":"session/up'
    assert end.details["exit_status"] == 3
    assert "panic: at the disco" in end.details["stderr"]


async def test_r280_a_message_of_megabytes_is_cut_in_the_recording_alone(path: Path) -> None:
    def long(agent: ScriptedAgent) -> None:
        agent.say("x" * 5_000_000)

    seen = await conversation(long, record=Recording(path, max_line=100_000))
    assert len(seen.result.text) > 5_000_000
    [cut] = [line for line in recorded(path) if "cut" in line.details]
    text = cut.message["params"]["update"]["content"]["text"]
    assert len(text) + cut.details["cut"] == 5_000_000
    assert len(written(path)) < 200_000


async def test_r281_an_agent_that_is_started_anew_goes_on_in_one_recording(path: Path) -> None:
    async with acp_host.connect(ReferenceAgent.command(), record=path) as host:
        await host.restart()
    lines = recorded(path)
    assert [line.event for line in lines if line.direction == "meta"] == [
        *("start", "connection", "end", "connection", "end")
    ]
    assert [line.time for line in lines] == sorted(line.time for line in lines)


async def test_r282_what_cannot_be_recorded_is_said_before_an_agent_starts(program: Path, tmp_path: Path) -> None:
    for target, reason in ((program, "is no recording"), (tmp_path / "no" / "file", "No such file")):
        with pytest.raises(InvalidInput, match=reason):
            await acp_host.connect(["touch", os.fspath(tmp_path / "started")], record=target)
    assert written(program) == "print('my program')\n"
    assert not (tmp_path / "started").exists()
    with pytest.raises(InvalidInput, match="another recording writes it"):
        free = tmp_path / "free.jsonl"
        async with acp_host.connect(ReferenceAgent().transport(), record=free):
            await acp_host.connect(ReferenceAgent().transport(), record=free)


async def test_r283_a_recording_is_whole_once_the_connection_is_closed(path: Path) -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.expect("session/prompt")
        for number in range(300):
            agent.say(f"{number} ")
        agent.reply(DONE)

    async with open_session(script, record=path) as (_, session):
        result = await session.prompt("Count")
    chunks = [
        line.message["params"]["update"]["content"]["text"]
        for line in recorded(path)
        if line.direction == "in" and line.message.get("method") == "session/update"
    ]
    assert "".join(chunks) == result.text
    assert not any(thread.name == "acp_host recording" for thread in threading.enumerate())


async def test_r284_an_anonymous_recording_holds_no_words_wherever_they_stood(path: Path) -> None:
    def talk(agent: ScriptedAgent) -> None:
        agent.say("\x1b]0;Ann Lee\x07 is \u202eAnn Lee ")
        agent.send_raw(b"Ann Lee on stdout\n")
        for members in (
            {"sessionUpdate": "Ann Lee", "Ann Lee": {"Ann Lee": ["Ann Lee"]}},
            {
                "sessionUpdate": "tool_call",
                "toolCallId": "Ann Lee",
                "title": 5,
                "kind": "Ann Lee",
                "status": ["Ann Lee"],
            },
            {"sessionUpdate": "plan", "entries": [{"content": "Ann Lee", "priority": "Ann Lee"}, "Ann Lee"]},
            {"sessionUpdate": "session_info_update", "title": "Ann Lee", "updatedAt": "Ann Lee"},
        ):
            agent.update(members)

    await conversation(talk, record=path)
    lines = recorded(path)
    made = list(anonymise(lines))
    assert len(made) == len(lines)
    said = json.dumps([[line.message, line.raw, line.note, dict(line.details)] for line in made], ensure_ascii=False)
    assert "Ann" not in said
    assert "Lee" not in said
