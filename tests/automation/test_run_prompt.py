from __future__ import annotations

import errno
import io
import json
import os
import pickle
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

import acp_host
from acp_host import InvalidInput, Retries, RunFailed, RunReason, RunResult, Timeouts, run_prompt
from acp_host.automation.event_json import EventLines
from acp_host.testing import ReferenceAgent, ScriptedAgent, serve_http, serve_websocket
from tests.automation import agents

Script = Callable[[ScriptedAgent], Awaitable[Any]]


def command(script: Script) -> list[str]:
    return ScriptedAgent.command(script)


async def test_the_result_has_what_the_agent_said_and_who_it_is(tmp_path: Path) -> None:
    result = await run_prompt(ReferenceAgent.command(), "/say Hello\n/tool Look\n/usage", cwd=tmp_path)
    assert (result.outcome.kind, result.outcome.reason, result.completed) == ("completed", None, True)
    assert (result.text, result.stop_reason) == ("Hello", "end_turn")
    assert result.agent is not None
    assert result.agent.name == "acp-host-reference-agent"
    assert [(call.title, call.status) for call in result.tool_calls] == [("Look", "completed")]
    assert result.usage is not None
    assert result.usage.total_tokens > 0
    assert result.cost is not None
    assert result.cost.currency == "USD"
    assert [attempt.prompt_sent for attempt in result.attempts] == [True]
    assert result.duration > 0
    assert result.check() is result


async def test_files_that_have_changed_come_with_their_diffs(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("one\n")
    (tmp_path / "image.bin").write_bytes(b"\0\1")
    (tmp_path / "sub").mkdir()
    prompt = "/edit notes.md\n/write sub/new.txt\nfresh\n/run rm image.bin"
    more: dict[str, Any] = {"files": True, "terminals": True}
    assert (await run_prompt(ReferenceAgent.command(), prompt, cwd=tmp_path, **more)).changes == ()
    more["permissions"] = acp_host.PermissionPolicy.allow_once()
    result = await run_prompt(ReferenceAgent.command(), prompt, cwd=tmp_path, **more)
    changes = {change.path: change for change in result.changes}
    assert {path: change.kind for path, change in changes.items()} == {
        "notes.md": "modified",
        "sub/new.txt": "created",
        "image.bin": "deleted",
    }
    assert changes["notes.md"].diff is not None
    assert changes["notes.md"].diff.startswith("--- a/notes.md\n+++ b/notes.md\n@@ -1 +1,2 @@\n one\n+")
    assert changes["sub/new.txt"].diff is not None
    assert changes["sub/new.txt"].diff.startswith("--- /dev/null\n+++ b/sub/new.txt\n@@ -0,0 +1 @@\n+fresh\n")
    assert (changes["image.bin"].diff, bool(changes["image.bin"].no_diff)) == (None, True)


async def test_a_result_survives_json_and_pickle(tmp_path: Path) -> None:
    for script in (agents.asks, agents.dies, agents.dies_at_once, agents.wants_login):
        result = await run_prompt(command(script), "end_turn", cwd=tmp_path, remind="Be brief")
        told = json.loads(json.dumps(result.to_json()))
        assert RunResult.from_json(told) == result
        assert RunResult.from_json({**told, "of_a_later_version": 1}) == result
        assert pickle.loads(pickle.dumps(result)) == result


def test_json_that_is_no_result_is_refused_with_the_place() -> None:
    with pytest.raises(InvalidInput, match=r"no result of a run: .*is a required property"):
        RunResult.from_json({})


@pytest.mark.parametrize(
    "script, prompt, kind, reason",
    [
        (agents.stops, "end_turn", "completed", None),
        (agents.stops, "max_tokens", "incomplete", None),
        (agents.stops, "refusal", "refused", None),
        (agents.stops, "cancelled", "cancelled", None),
        (agents.fails, "x", "failed", RunReason.AGENT_FAILED),
        (agents.dies, "x", "failed", RunReason.OUTCOME_UNKNOWN),
        (agents.dies_at_once, "x", "failed", RunReason.AGENT_FAILED),
        (agents.wants_login, "x", "failed", RunReason.LOGIN_NEEDED),
        (agents.asks, "end_turn", "completed", RunReason.PERMISSION_DENIED),
        (agents.asks, "refusal", "refused", RunReason.PERMISSION_DENIED),
        (agents.asks, "max_tokens", "incomplete", None),
    ],
)
async def test_the_outcome_says_how_it_ended(
    tmp_path: Path, script: Script, prompt: str, kind: str, reason: str | None
) -> None:
    result = await run_prompt(command(script), prompt, cwd=tmp_path)
    assert (result.outcome.kind, result.outcome.reason) == (kind, reason)
    assert result.outcome_unknown is (script is agents.dies)
    if kind != "completed":
        with pytest.raises(RunFailed, match=kind) as raised:
            result.check()
        assert raised.value.result is result


async def test_what_was_said_before_the_agent_died_is_kept(tmp_path: Path) -> None:
    result = await run_prompt(command(agents.dies), "x", cwd=tmp_path)
    assert result.text == "I think"
    assert [call.status for call in result.tool_calls] == ["in_progress"]
    assert result.error is not None
    assert result.error.type == "OutcomeUnknown"
    assert "tool calls were made: 1, of which 1 had not ended" in result.error.interruption


async def test_the_text_comes_in_pieces_while_it_is_said(tmp_path: Path) -> None:
    async with run_prompt(ReferenceAgent.command(), "/slow 3", cwd=tmp_path) as run:
        pieces = [piece async for piece in run.text]
        result = await run
    assert len(pieces) == 3
    assert "".join(pieces) == result.text


async def test_events_tell_the_run_in_order(tmp_path: Path) -> None:
    run = run_prompt(ReferenceAgent.command(), "/say Hello", cwd=tmp_path, remind="Be brief")
    told = [event.type async for event in run]
    assert told[:3] == ["start", "agent", "session"]
    assert told.index("session") < told.index("reminder") < told.index("prompt") < len(told) - 2
    assert told[-1] == "result"
    assert run.result is not None


async def test_a_run_that_is_cancelled_has_what_came_before(tmp_path: Path) -> None:
    async with run_prompt(command(agents.slow), "x", cwd=tmp_path) as run:
        async for _ in run.text:
            run.cancel("enough")
        result = await run
    assert (result.outcome.kind, result.outcome.detail, result.text) == ("cancelled", "enough", "working, stopped")


async def test_a_start_that_is_cancelled_ends(tmp_path: Path) -> None:
    run = run_prompt(command(agents.silent), "x", cwd=tmp_path)
    run.cancel()
    assert (await run).outcome.kind == "cancelled"


@pytest.mark.parametrize(
    "script, timeouts, kind, reason",
    [
        (agents.silent, Timeouts(start=0.3), "failed", RunReason.START_TIMEOUT),
        (agents.silent, Timeouts(total=0.3), "failed", RunReason.TOTAL_TIMEOUT),
        (agents.slow, Timeouts(idle=0.3), "incomplete", RunReason.IDLE_TIMEOUT),
        (agents.slow, Timeouts(total=4.0), "incomplete", RunReason.TOTAL_TIMEOUT),
    ],
)
async def test_what_takes_too_long_is_ended(
    tmp_path: Path, script: Script, timeouts: Timeouts, kind: str, reason: str
) -> None:
    result = await run_prompt(command(script), "x", cwd=tmp_path, timeouts=timeouts)
    assert (result.outcome.kind, result.outcome.reason) == (kind, reason)
    assert result.text == ("working, stopped" if script is agents.slow else "")


async def test_only_what_was_certainly_not_begun_is_tried_again(tmp_path: Path) -> None:
    retries = Retries(attempts=3, delay=0)
    result = await run_prompt(command(agents.dies_at_once), "x", cwd=tmp_path, retries=retries)
    assert [attempt.number for attempt in result.attempts] == [1, 2, 3]
    for script in (agents.dies, agents.fails, agents.wants_login):
        assert len((await run_prompt(command(script), "x", cwd=tmp_path, retries=retries)).attempts) == 1
    missing = await run_prompt(["no-such-agent"], "x", cwd=tmp_path, retries=retries)
    assert len(missing.attempts) == 1
    asked = Retries(attempts=2, delay=0, after_prompt=True)
    assert len((await run_prompt(command(agents.dies), "x", cwd=tmp_path, retries=asked)).attempts) == 2


@pytest.mark.parametrize(
    "arguments, problem",
    [
        ({"prompt": " "}, "the prompt is empty"),
        ({"prompt": [Path("missing.txt")]}, "missing.txt is not a file"),
        ({"cwd": "no/such"}, "is not a directory"),
        ({"agent": []}, "the agent's command"),
        ({"retries": -1}, "retries"),
        ({"timeouts": -1}, "seconds"),
        ({"files": 7}, "files"),
    ],
)
def test_a_wrong_argument_is_refused_at_once(tmp_path: Path, arguments: dict[str, Any], problem: str) -> None:
    with pytest.raises(InvalidInput, match=problem):
        run_prompt(**{"agent": ["agent"], "prompt": "x", "cwd": tmp_path, **arguments})


async def test_what_the_run_itself_writes_there_is_no_change_of_the_agents(tmp_path: Path) -> None:
    (tmp_path / "talks").mkdir()
    own: dict[str, Any] = {"key": "x", "journal": tmp_path / "runs.sqlite3", "record": tmp_path / "talks"}
    own["audit"] = acp_host.AuditTrail(file=tmp_path / "audit.jsonl")
    prompt = "/write notes.md\nNew"
    own |= {"files": True, "permissions": acp_host.PermissionPolicy.allow_once()}
    result = await run_prompt(ReferenceAgent.command(), prompt, cwd=tmp_path, **own)
    own["audit"].close()
    assert [len(os.listdir(folder)) for folder in (tmp_path, tmp_path / "talks")] == [4, 1]
    assert [change.path for change in result.changes] == ["notes.md"]


@pytest.mark.parametrize("serve", [serve_websocket, serve_http])
async def test_an_agent_elsewhere_is_reached_by_its_url(serve: Any) -> None:
    async with serve(ReferenceAgent().serve) as served:
        remote = acp_host.RemoteOptions(bearer=served.token)
        result = await run_prompt(served.url, "/say Hello", cwd="/workspace", remote=remote, remind="Be brief")
    assert (result.text, result.changes, result.completed) == ("Hello", (), True)
    assert served.token not in json.dumps(result.to_json())


def test_without_await(tmp_path: Path) -> None:
    with acp_host.blocking.run_prompt(ReferenceAgent.command(), "/slow 2", cwd=tmp_path) as run:
        pieces = list(run.text)
        result = run.wait()
    assert "".join(pieces) == result.text
    assert result.completed
    assert run.result == result
    assert acp_host.blocking.run_prompt(command(agents.answers), "Hi", cwd=tmp_path).wait().text == "Hi"


def test_without_await_a_handler_may_block(tmp_path: Path) -> None:
    asked = []

    def ask(request: Any) -> str:
        asked.append(request.tool_call.title)
        return "yes"

    run = acp_host.blocking.run_prompt(command(agents.asks), "end_turn", cwd=tmp_path, permissions=ask)
    assert (run.wait().text, asked) == ("yes", ["Remove the disk"])


async def test_what_is_awaited_before_the_prompt_may_keep_it_from_being_sent(tmp_path: Path) -> None:
    seen: list[str] = []

    async def note() -> None:
        seen.append("before")

    async def refuse() -> None:
        run.cancel("not any more")

    result = await run_prompt(ReferenceAgent.command(), "/say Hello", cwd=tmp_path, before_prompt=note)
    assert (result.text, seen) == ("Hello", ["before"])
    run = run_prompt(ReferenceAgent.command(), "/write here.txt\nx", cwd=tmp_path, files=True, before_prompt=refuse)
    result = await run
    assert (result.outcome.kind, result.outcome.detail) == ("cancelled", "not any more")
    assert [attempt.prompt_sent for attempt in result.attempts] == [False]


async def test_what_an_agent_says_before_its_handshake_is_without_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ACME_API_KEY", "one-of-our-own")
    code = "import os, sys; sys.exit(os.environ['ACME_API_KEY'] + os.environ['LAB_TOKEN'])"
    agent = [sys.executable, "-c", code, "--api-key=in-the-command"]
    lines, write = [], EventLines()
    async with run_prompt(agent, "x", cwd=tmp_path, env={"LAB_TOKEN": "given-to-it"}) as run:
        async for event in run:
            lines += write(event)
    told = "".join(lines) + str(await run)
    assert "[redacted]" in told
    for secret in ("one-of-our-own", "given-to-it", "in-the-command"):
        assert secret not in told


async def test_a_full_disk_takes_diffs_and_not_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_space(*_: Any, **__: Any) -> Any:
        raise OSError(errno.ENOSPC, "No space left on device")

    (tmp_path / "notes.md").write_text("one\n")
    monkeypatch.setattr("acp_host.automation.changed_files.tempfile.TemporaryFile", no_space)
    more: dict[str, Any] = {"files": True, "permissions": acp_host.PermissionPolicy.allow_once()}
    result = await run_prompt(ReferenceAgent.command(), "/edit notes.md", cwd=tmp_path, **more)
    assert result.completed
    assert [(change.path, change.diff) for change in result.changes] == [("notes.md", None)]


@pytest.mark.parametrize("written", [0, 3])
async def test_a_disk_that_becomes_full_takes_diffs_and_not_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: int
) -> None:
    class Full(io.BytesIO):
        def write(self, data: Any) -> int:
            if not written:
                raise OSError(errno.ENOSPC, "No space left on device")
            return super().write(data[:written])

    (tmp_path / "notes.md").write_text("one\n")
    monkeypatch.setattr("acp_host.automation.changed_files.tempfile.TemporaryFile", lambda **_: Full())
    more: dict[str, Any] = {"files": True, "permissions": acp_host.PermissionPolicy.allow_once()}
    result = await run_prompt(ReferenceAgent.command(), "/edit notes.md", cwd=tmp_path, **more)
    assert result.completed
    assert [(change.path, change.diff) for change in result.changes] == [("notes.md", None)]
