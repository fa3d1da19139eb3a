"""What ``acp-host run --json`` writes: every line fits its schema, whatever the agent does."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from acp_host import RunResult
from acp_host.automation.schema import problem_with, run_schema
from acp_host.automation.target import resolve_target
from acp_host.testing import HarnAgent, ReferenceAgent, ScriptedAgent
from tests.cli import agents
from tests.cli.conftest import PATIENCE, PROGRAM, Command, Ran

EVERYTHING = "/plans\n/tool look\n/think so\n/usage\n/notices\n/compact\n/title hi\n/content\n/mode ask\n/say done"


def lines_of(ran: Ran) -> list[dict[str, Any]]:
    """Return the lines, each held against the schema."""
    lines = [json.loads(line) for line in ran.out.splitlines()]
    for line in lines:
        assert problem_with(line) is None, line
    assert lines[0]["type"] == "start"
    assert [line["type"] for line in lines].count("result") == 1
    assert lines[-1]["type"] == "result"
    return lines


def result_of(ran: Ran) -> RunResult:
    return RunResult.from_json(lines_of(ran)[-1]["result"])


@pytest.mark.parametrize(
    "command_line",
    [
        ReferenceAgent.command(),
        ReferenceAgent.command("--protocol-version", "2"),
        HarnAgent.command(),
        ScriptedAgent.command(agents.hostile),
        ScriptedAgent.command(agents.speaks_harn),
        ScriptedAgent.command(agents.speaks_out_of_turn),
        ScriptedAgent.command(agents.dies),
        ScriptedAgent.command(agents.fails),
        ScriptedAgent.command(agents.wants_login),
        ["no-such-agent-anywhere"],
    ],
    ids=["reference", "version 2", "harn", "hostile", "like harn", "asides", "dies", "fails", "login", "missing"],
)
def test_every_line_fits_the_schema(command: Command, tmp_path: Path, command_line: list[str]) -> None:
    options = ["--json", "--cwd", str(tmp_path), "--remind", "Be brief", "--protocol-version", "2"]
    ran = command("run", *options, "--permissions", "allow-once", *command_line, "--", EVERYTHING)
    lines = lines_of(ran)
    assert re.fullmatch(r"[\n -~]*", ran.out), "a line is printable ASCII, and cannot steer a terminal"
    times = [line["t"] for line in lines]
    assert times == sorted(times)
    assert re.search("^(acp-host:|result|login) ", ran.err, re.MULTILINE), "people are told on stderr"


def test_the_schema_is_itself_one_and_refuses_what_is_no_line(command: Command) -> None:
    printed = command("run", "--json-schema")
    assert printed.code == 0
    assert json.loads(printed.out) == run_schema()
    for wrong in ({}, {"type": "text"}, {"type": "no such type"}, {"type": "prompt", "turn": 0}):
        assert problem_with({"t": 0, **wrong}) is not None, wrong


def test_the_lines_tell_the_run(command: Command, tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("one\n")
    options = ["--json", "--cwd", str(tmp_path), "--read-files", "--write-files", "--permissions", "allow-once"]
    prompt = "/think hm\n/say Hello\n/edit notes.md\n/usage"
    ran = command("run", *options, *ReferenceAgent.command(), "--", prompt)
    lines = lines_of(ran)
    by_type: dict[str, list[dict[str, Any]]] = {}
    for line in lines:
        by_type.setdefault(line["type"], []).append(line)
    assert by_type["start"][0]["cwd"] == str(tmp_path)
    assert by_type["agent"][0]["agent"]["name"] == "acp-host-reference-agent"
    assert by_type["session"][0]["how"] == "new"
    assert "".join(line["text"] for line in by_type["text"]) == "HelloI edited it."
    assert by_type["thought"][0]["text"] == "hm"
    assert [call["status"] for call in by_type["tool_call"]][-1] == "completed"
    assert {line["decision"] for line in by_type["decision"]} == {"allowed"}
    assert by_type["usage"][-1]["cost"]["currency"] == "USD"
    result = result_of(ran)
    assert [(change.path, change.kind) for change in result.changes] == [("notes.md", "modified")]
    assert (result.text, ran.code) == ("HelloI edited it.", 0)
    assert "changed     notes.md (modified)" in ran.err
    assert "agent       Hello" in ran.err, "people read the message, too"


def test_secrets_that_the_agent_was_given_are_not_in_it(tmp_path: Path) -> None:
    secret = "s3cret-enough-to-be-one"
    program = ScriptedAgent.command(tells_its_key)
    environment = {**os.environ, "AGENT_API_KEY": secret}
    line = [*PROGRAM, "run", "--json", "--cwd", str(tmp_path), *program, "--", "x"]
    ran = subprocess.run(line, capture_output=True, text=True, timeout=PATIENCE, env=environment)
    told = Ran(ran.returncode, ran.stdout, ran.stderr)
    assert result_of(told).text == "my key is [redacted]"
    assert secret not in ran.stdout


def test_a_secret_on_the_command_line_of_the_agent_is_not_told() -> None:
    secret = "s3cret-enough-to-be-one"
    shown = resolve_target(["some-agent", "--api-key", secret, f"--token={secret}", "--acp"]).shown
    assert secret not in shown
    assert shown.startswith("some-agent --api-key ")
    assert shown.endswith(" --acp")


def test_a_secret_on_the_command_line_of_the_agent_is_not_told_by_it(command: Command, tmp_path: Path) -> None:
    secret = "s3cret-enough-to-be-one"
    program = ScriptedAgent.command(tells_its_arguments, "--api-key", secret)
    ran = command("run", "--json", "--cwd", str(tmp_path), *program, "--", "x")
    assert "--api-key" in result_of(ran).text
    assert secret not in ran.out


async def tells_its_arguments(agent: ScriptedAgent) -> None:
    import sys

    await agent.handshake()
    await agent.open_session()
    await agent.expect("session/prompt")
    agent.say(repr(sys.argv))
    agent.reply({"stopReason": "end_turn"})


async def tells_its_key(agent: ScriptedAgent) -> None:
    import os

    await agent.handshake()
    await agent.open_session()
    await agent.expect("session/prompt")
    key = os.environ["AGENT_API_KEY"]
    agent.update({"sessionUpdate": "tool_call", "toolCallId": "1", "title": key, "rawInput": {key: [key]}})
    agent.say(f"my key is {key}")
    agent.reply({"stopReason": "end_turn"})


def test_a_reader_that_goes_away_ends_the_command() -> None:
    line = [*PROGRAM, "run", "--json", *ScriptedAgent.command(agents.talks_on), "--", "x"]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.readline()
        running.stdout.close()
        complaint = running.stderr.read()
        assert running.wait(PATIENCE) == 141
    assert "Traceback" not in complaint
