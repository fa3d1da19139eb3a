"""Harn's way to run commands: a whole line, the shell that reads it, and the output in the answer about its end."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import acp_host
from acp_host.services.permissions import PermissionPolicy
from acp_host.testing import ScriptedAgent
from tests.host.scripts import DONE, connected, in_session

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the commands are POSIX ones")

SH = {"id": "sh", "path": "/bin/sh", "default_args": ["-x", "-c"], "available": True}


async def run(agent: ScriptedAgent, **asked: Any) -> dict[str, Any]:
    """Run a command as Harn does; return the answer about its end."""
    created = await agent.call("terminal/create", {"sessionId": "s-1", **asked})
    terminal = {"sessionId": "s-1", "terminalId": created["result"]["terminalId"]}
    ended = await agent.call("terminal/wait_for_exit", terminal)
    assert "result" in await agent.call("terminal/output", terminal)
    assert "result" in await agent.call("terminal/release", terminal)
    result: dict[str, Any] = ended["result"]
    return result


@pytest.mark.parametrize("shell", [SH, {"id": "sh"}, "sh"])
async def test_the_shell_reads_the_line_and_the_output_comes_with_the_end(shell: Any) -> None:
    async def script(agent: ScriptedAgent) -> None:
        ended = await run(agent, command="echo out; echo err >&2; test -n '$' && exit 3", shell=shell)
        both = "out\nerr\n"
        assert ended == {"stdout": both, "stderr": "", "combined": both, "exitCode": 3, "signal": None}

    async with in_session(script, terminals=True):
        pass


async def test_a_word_is_a_line_too() -> None:
    """Without the shell, a program of this name would be looked for."""

    async def script(agent: ScriptedAgent) -> None:
        assert (await run(agent, command="set", shell=SH))["exitCode"] == 0

    async with in_session(script, terminals=True):
        pass


async def test_arguments_make_it_a_program_as_in_plain_acp() -> None:
    async def script(agent: ScriptedAgent) -> None:
        ended = await run(agent, command="echo", args=["$HOME"], shell=SH)
        assert ended == {"exitCode": 0, "signal": None}

    async with in_session(script, terminals=True):
        pass


async def test_other_agents_get_no_more_than_the_protocol_says() -> None:
    async def script(agent: ScriptedAgent) -> None:
        assert await run(agent, command="echo", args=["hi"]) == {"exitCode": 0, "signal": None}
        assert await run(agent, command="echo hi", shell=None) == {"exitCode": 0, "signal": None}

    async with in_session(script, terminals=True):
        pass


@pytest.mark.parametrize(
    ("name", "capabilities", "quirks", "out"),
    [
        ("harn", {}, True, "hi\n"),
        ("harn", {}, False, None),
        ("of-harn", {"_meta": {"harn": {}}}, True, "hi\n"),
        ("other", {}, True, None),
    ],
)
async def test_harn_gets_the_output_of_plain_commands_too(
    name: str, capabilities: Any, quirks: bool, out: str | None
) -> None:
    async def whole(agent: ScriptedAgent) -> None:
        await agent.handshake(capabilities, agentInfo={"name": name, "version": "0.10.126"})
        await agent.open_session("s-1")
        ended = await run(agent, command="echo", args=["hi"])
        assert ended.get("stdout") == out

    agent = ScriptedAgent(whole)
    options: dict[str, Any] = {} if quirks else {"quirks": ()}
    async with acp_host.connect(agent.transport(), terminals=True, **options) as host:
        await host.new_session()
        await agent.finished()


async def test_a_program_that_is_no_shell_of_this_host_is_never_run(tmp_path: Path) -> None:
    evil = tmp_path / "evil"
    evil.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    evil.chmod(0o755)

    async def script(agent: ScriptedAgent) -> None:
        asked = {"sessionId": "s-1", "command": "ls", "shell": {"id": "evil", "path": str(evil)}}
        answer = await agent.call("terminal/create", asked)
        assert answer["error"]["code"] == -32602
        assert answer["error"]["message"].startswith("this host has no such shell; it has: ")

    async with in_session(script, terminals=True):
        pass
    assert not (tmp_path / "ran").exists()


async def test_what_runs_is_permitted_like_any_other_command() -> None:
    seen = []

    def refuse(request: Any) -> str:
        seen.append((request.method, request.tool_call.raw_input["command"]))
        return "reject_once"

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session("s-1")
        answer = await agent.call("terminal/create", {"sessionId": "s-1", "command": "rm -rf x", "shell": SH})
        assert answer["error"]["data"]["permission"] == "rejected"

    async with connected(script, terminals=True, permissions=refuse) as host:
        await host.new_session()
    assert seen == [("terminal/create", "rm -rf x")]
    [record] = host.audit.records
    assert (record.action, record.subject, record.decision) == ("terminal/create", "rm -rf x", "rejected")


async def test_a_policy_judges_the_line() -> None:
    async def script(agent: ScriptedAgent) -> None:
        refused = await agent.call("terminal/create", {"sessionId": "s-1", "command": "ls", "shell": SH})
        assert "error" in refused

    async with in_session(script, terminals=True, permissions=PermissionPolicy.read_only()):
        pass


async def test_a_cancelled_command_ends_with_what_it_has_printed() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.expect("session/prompt")
        asked = {"sessionId": "s-1", "command": "echo begun; exec sleep 60", "shell": SH}
        created = await agent.call("terminal/create", asked)
        terminal = {"sessionId": "s-1", "terminalId": created["result"]["terminalId"]}
        waiting = agent.request("terminal/wait_for_exit", terminal)
        killed, released = agent.request("terminal/kill", terminal), agent.request("terminal/release", terminal)
        ended = (await agent.response(waiting))["result"]
        assert ended["exitCode"] is None or ended["exitCode"] > 0
        assert ended["stdout"] in ("", "begun\n")
        assert "result" in await agent.response(killed)
        assert "result" in await agent.response(released)
        agent.reply(DONE)

    async with in_session(script, terminals=True) as session:
        await session.prompt("Run")
