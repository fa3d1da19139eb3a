"""Runs of scripts with agents that make trouble: rows R390 and on, and R520."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from acp_host import Budget, CancelTimeouts, RunReason, RunResult, Timeouts, run_prompt
from acp_host.automation import RunJournal
from acp_host.automation.changed_files import ChangeTracker
from acp_host.automation.event_json import EventLines
from acp_host.automation.schema import problem_with
from acp_host.testing import ScriptedAgent

Script = Callable[[ScriptedAgent], Awaitable[Any]]
PATIENCE = 30.0


async def begin(agent: ScriptedAgent) -> None:
    await agent.handshake()
    await agent.open_session()
    await agent.expect("session/prompt")


async def result_of(script: Script, folder: Path, **options: Any) -> RunResult:
    return await run_prompt(ScriptedAgent(script).transport(), "Go", cwd=folder, **options)


async def test_r390_an_agent_that_never_opens_the_session(tmp_path: Path) -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake()
        await agent.stall()

    result = await result_of(script, tmp_path, timeouts=Timeouts(start=0.3))
    assert (result.outcome.kind, result.outcome.reason) == ("failed", RunReason.START_TIMEOUT)
    assert [attempt.prompt_sent for attempt in result.attempts] == [False]


async def test_r391_a_flood_that_nobody_reads(tmp_path: Path) -> None:
    async def script(agent: ScriptedAgent) -> None:
        await begin(agent)
        for _ in range(400):
            for _ in range(50):
                agent.say("x")
            await agent.drain()
        agent.reply({"stopReason": "end_turn"})

    async with run_prompt(ScriptedAgent(script).transport(), "Go", cwd=tmp_path) as run:
        result = await run
        events = [event async for event in run]
    assert result.text == "x" * 20_000
    assert len(events) <= 10_001
    assert events[0].type == "skipped"
    assert events[-1].type == "result"


async def test_r392_an_agent_that_spends_on_and_does_not_hear_that_it_is_cancelled(tmp_path: Path) -> None:
    async def script(agent: ScriptedAgent) -> None:
        await begin(agent)
        cost = {"amount": 9.0, "currency": "USD"}
        agent.update({"sessionUpdate": "usage_update", "used": 1, "size": 2, "cost": cost})
        await agent.stall()

    impatient = CancelTimeouts(grace=0.1, withdrawn=0.1)
    result = await result_of(script, tmp_path, budget=Budget(cost=5), cancel_timeouts=impatient)
    assert (result.outcome.kind, result.outcome.reason) == ("incomplete", RunReason.BUDGET_EXCEEDED)


async def test_r393_an_agent_that_unspends_what_it_has_spent(tmp_path: Path) -> None:
    async def script(agent: ScriptedAgent) -> None:
        await begin(agent)
        for amount in (4.0, -4.0, 0.0):
            cost = {"amount": amount, "currency": "USD"}
            agent.update({"sessionUpdate": "usage_update", "used": 1, "size": 2, "cost": cost})
            await agent.drain()
        agent.reply({"stopReason": "end_turn"})

    result = await result_of(script, tmp_path)
    assert result.cost is not None
    assert result.cost.amount == 4.0


async def test_r520_an_agent_that_goes_on_to_spend_in_another_currency(tmp_path: Path) -> None:
    async def script(agent: ScriptedAgent) -> None:
        await begin(agent)
        for currency in ("usd", "EUR", "USD"):
            cost = {"amount": 4.0, "currency": currency}
            agent.update({"sessionUpdate": "usage_update", "used": 1, "size": 2, "cost": cost})
            await agent.drain()
        agent.reply({"stopReason": "end_turn"})

    result = await result_of(script, tmp_path, budget=Budget(cost=5, currency="USD", tokens=9))
    assert (result.completed, result.unreported) == (True, ("cost",))


@pytest.mark.skipif(sys.platform == "win32", reason="the process is killed by a signal")
@pytest.mark.timeout(4 * PATIENCE)
def test_r394_the_process_is_killed_behind_its_prompt(tmp_path: Path) -> None:
    agent = ScriptedAgent.command(works_on)
    folder, journal = tmp_path / "project", tmp_path / "runs"
    folder.mkdir()
    line = [sys.executable, "-m", "acp_host", "run", "--json", "--key", "k", "--journal", str(journal)]
    line += ["--cwd", str(folder), *agent, "--", "Go"]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as running:
        assert running.stdout is not None
        for text in running.stdout:
            if json.loads(text)["type"] == "text":
                break
        running.send_signal(signal.SIGKILL)
        running.wait(PATIENCE)
    again = subprocess.run(line, capture_output=True, text=True, timeout=2 * PATIENCE)  # on a busy machine, too
    assert again.returncode == 13
    told = [json.loads(text) for text in again.stdout.splitlines()]
    assert [each["type"] for each in told] == ["start", "result"], "nothing was started, and nothing sent"
    result = RunResult.from_json(told[-1]["result"])
    assert (result.outcome_unknown, result.from_journal, result.session_id) == (True, True, "session-1")


async def works_on(agent: ScriptedAgent) -> None:
    await agent.handshake()
    await agent.open_session()
    await agent.expect("session/prompt")
    agent.say("working")
    await agent.stall()


async def test_r395_an_agent_that_calls_complete_what_it_was_denied(tmp_path: Path) -> None:
    async def script(agent: ScriptedAgent) -> None:
        await begin(agent)
        options = [{"optionId": "no", "name": "No", "kind": "reject_once"}]
        call = {"toolCallId": "1", "title": "Format the disk", "kind": "execute"}
        await agent.call("session/request_permission", {"sessionId": "session-1", "toolCall": call, "options": options})
        agent.say("All done!")
        agent.reply({"stopReason": "end_turn"})

    result = await result_of(script, tmp_path)
    assert (result.outcome.kind, result.outcome.reason) == ("completed", RunReason.PERMISSION_DENIED)
    assert [denied.subject for denied in result.denied] == ["Format the disk"]


async def test_r396_texts_that_would_steer_a_terminal_or_break_a_line(tmp_path: Path) -> None:
    nasty = "\x1b[2J\x9b\x7f\u202e\u2028\r\n\0\U0001f600"
    deep: Any = "deep"
    for _ in range(200):
        deep = [deep]

    async def script(agent: ScriptedAgent) -> None:
        await begin(agent)
        agent.say(nasty)
        agent.update({"sessionUpdate": nasty, "deep": deep})
        agent.update({"sessionUpdate": "tool_call", "toolCallId": nasty, "title": nasty, "rawInput": deep})
        agent.reply({"stopReason": nasty})

    lines = EventLines()
    run = run_prompt(ScriptedAgent(script).transport(), "Go", cwd=tmp_path)
    told = [line async for event in run for line in lines(event)]
    for line in told:
        assert line.endswith("\n")
        assert all(" " <= character <= "~" for character in line[:-1])
        assert problem_with(json.loads(line)) is None, line
    assert json.loads(told[-1])["result"]["text"] == nasty


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pipes in folders")
async def test_r397_files_that_cannot_be_read_as_text(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("a secret of the user's\n")
    folder = tmp_path / "project"
    folder.mkdir()
    tracker = ChangeTracker(str(folder))
    tracker.begin()
    await tracker.ready()
    os.mkfifo(folder / "pipe")
    (folder / "link").symlink_to(outside)
    (folder / "binary").write_bytes(b"\0\xff" * 1000)
    (folder / "large").write_bytes(b"x" * 300_000)
    (folder / "latin").write_bytes("ä".encode("latin-1"))
    (folder / "new\nline").write_text("fine\n")
    changed = await tracker.end()
    await tracker.close()
    diffs = {change.path: change.diff for change in changed.changes}
    assert set(diffs) == {"pipe", "link", "binary", "large", "latin", "new\nline"}
    assert [path for path, diff in diffs.items() if diff is not None] == ["new\nline"]
    assert all(change.no_diff for change in changed.changes if change.diff is None)


async def test_r398_a_line_that_takes_for_ever_to_compare(tmp_path: Path) -> None:
    path = tmp_path / "many.txt"
    path.write_text("a\nb\n" * 9_000)
    tracker = ChangeTracker(str(tmp_path))
    tracker.begin()
    await tracker.ready()
    path.write_text("b\na\n" * 9_000)
    begun = time.monotonic()
    changed = await tracker.end()
    await tracker.close()
    assert [(change.path, change.kind) for change in changed.changes] == [("many.txt", "modified")]
    assert "too many lines" in changed.changes[0].no_diff
    assert time.monotonic() - begun < PATIENCE


async def test_r399_an_answer_to_the_prompt_that_is_none(tmp_path: Path) -> None:
    async def script(agent: ScriptedAgent) -> None:
        await begin(agent)
        agent.say("So far")
        agent.reply(["no", "object"])

    result = await result_of(script, tmp_path)
    assert (result.outcome.kind, result.outcome.reason) == ("incomplete", RunReason.PROTOCOL_ERROR)
    assert (result.text, result.stop_reason) == ("So far", None)


async def test_r400_the_caller_goes_away_in_the_middle(tmp_path: Path) -> None:
    cancelled = []

    async def script(agent: ScriptedAgent) -> None:
        await begin(agent)
        agent.say("working")
        await agent.expect("session/cancel")
        cancelled.append(True)
        agent.reply({"stopReason": "cancelled"})

    agent = ScriptedAgent(script)
    async with run_prompt(agent.transport(), "Go", cwd=tmp_path) as run:
        async for _ in run.text:
            break
    await agent.finished()
    assert cancelled == [True], "the turn was cancelled, and the agent not just left"
    assert run.result is None


def test_r401_many_processes_with_one_key(tmp_path: Path) -> None:
    journal = tmp_path / "runs"
    code = f"""
from acp_host.automation import RunJournal
from acp_host.errors import InvalidState
try:
    print(RunJournal({str(journal)!r}).begin("k", "digest"), flush=True)
    input()
except InvalidState:
    print("refused")
"""
    line = [sys.executable, "-c", code]
    running = [subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    said = [process.stdout.readline().strip() for process in running if process.stdout is not None]
    for process in running:
        process.communicate("\n", timeout=PATIENCE)
    assert sorted(said) == ["None", "refused", "refused"]
    assert RunJournal(journal).begin("k", "digest") is None, "whoever had begun it is gone, and had sent nothing"
