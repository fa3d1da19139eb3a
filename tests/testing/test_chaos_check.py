"""The kit that checks hosts, on programs that are good and bad hosts; and on those that others have made."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from acp_host.testing.chaos import BadAgent, Meeting, Report, Rule, check_host, checking, find
from acp_host.testing.chaos.program import main

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="the programs use POSIX signals"),
    pytest.mark.timeout(180),  # two interpreters for each meeting, on a machine that may be busy
]

HOSTS = Path(__file__).parents[1] / "interop" / "chaos_hosts"
OUR_HOST = [
    sys.executable,
    "-m",
    "acp_host",
    "run",
    "--permissions",
    "allow-once",
    "--read-files",
    "{agent}",
    "--",
    "hi",
]

BY_HAND = """
import json, subprocess, sys, time

agent = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

def send(**message):
    agent.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\\n")
    agent.stdin.flush()

def until(number):
    for line in agent.stdout:
        message = json.loads(line)
        if message.get("id") == number and "method" not in message:
            return message
        if "id" in message and "method" in message:
            asked(message)

def asked(message):
    send(id=message["id"], error={"code": -32601, "message": "no"})

def begin():
    send(id=0, method="initialize", params={"protocolVersion": 1})
    until(0)
    send(id=1, method="session/new", params={"cwd": "/", "mcpServers": []})
    until(1)
    send(id=2, method="session/prompt", params={"sessionId": "session-1", "prompt": []})

"""
"""What the hosts below have in common."""


@pytest.fixture
def host(tmp_path: Path) -> Any:
    """Return what makes the command of a host out of what it does."""

    def make(body: str) -> list[str]:
        (tmp_path / "host.py").write_text(BY_HAND + body)
        return [sys.executable, str(tmp_path / "host.py"), "{agent}"]

    return make


async def met(command: list[str], *names: str, **options: Any) -> list[Meeting]:
    report = await check_host(command, [find(name) for name in names], **{"timeout": 60.0, **options})
    return list(report.meetings)


def wrong(meeting: Meeting) -> set[str]:
    return {finding.rule for finding in meeting.wrong}


GOOD = "begin()\nuntil(2)\nagent.stdin.close()\nagent.wait()\n"


async def test_a_host_that_gets_it_right(host: Any) -> None:
    [meeting] = await met(host(GOOD), "unknown-method-1")
    assert (meeting.wrong, str(meeting.verdict), meeting.exit_status) == ((), "passed", 0)


SAYS_TOO_MUCH = """
def asked(message):
    for number in (message["id"], message["id"], "a stranger"):
        send(id=number, result={})

begin()
agent.stdin.write(b"hello\\n")
agent.stdin.flush()
until(2)
"""
ASKS_TOO_MUCH = """
begin()
send(id=2, method="session/list", params={})
send(id=3, method="session/prompt", params={"sessionId": "session-1", "prompt": []})
until(2)
"""


@pytest.mark.parametrize(
    "body, name, rules",
    [
        (SAYS_TOO_MUCH, "cursor-task", {Rule.ANSWERED, Rule.NOT_ASKED, Rule.JSON_RPC}),
        (ASKS_TOO_MUCH, "questions-between-chunks", {Rule.IDS, Rule.ONE_PROMPT}),
        ("begin()\nagent.stdin.close()\nagent.wait()", "questions-between-chunks", {Rule.STAYS}),
        (GOOD + "sys.exit(1)", "same-text-again", {Rule.STATUS}),
        ("begin()\nagent.stdin.close()\nagent.wait()", "ends-in-a-turn-1", {Rule.STATUS}),
        ("begin()\nuntil(2)\ntime.sleep(600)", "same-text-again", {Rule.EXITS}),
        ("begin()\nuntil(2)\nagent.stdin.close()", "children-in-sessions-of-their-own", {Rule.NONE_LEFT}),
    ],
)
async def test_what_hosts_get_wrong_is_found(
    host: Any, body: str, name: str, rules: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checking, "_LAST_STEPS", 1.0 if Rule.NONE_LEFT in rules else 10.0)
    [meeting] = await met(host(body), name, timeout=2.0 if Rule.EXITS in rules else 60.0)
    assert rules <= wrong(meeting), meeting


async def test_a_cancel_that_does_not_come_is_not_seen_and_ctrl_c_makes_one() -> None:
    name = "asks-after-cancel"
    [alone], [pressed] = await asyncio.gather(met(OUR_HOST, name), met(OUR_HOST, name, interrupt=True))
    assert str(alone.verdict) == "not_seen", alone
    assert str(pressed.verdict) == "passed", pressed


async def test_a_host_that_loads_no_session_meets_no_history(host: Any) -> None:
    [meeting] = await met(host(GOOD), "history-after-the-answer")
    assert (meeting.wrong, str(meeting.verdict), meeting.exit_status) == ((), "not_seen", 0)


async def test_our_own_command_line() -> None:
    report = await check_host(OUR_HOST, [find(name) for name in ("deep-request", "killed", "daemons")], at_once=3)
    assert report.failed == ()


async def test_a_host_made_with_the_python_sdk() -> None:
    """It is what it is: what is found of it is not ours to mend."""
    command = [sys.executable, str(HOSTS / "python_sdk_host.py"), "{agent}"]
    good, bad = await met(command, "id-zero", "noise-json-string")
    assert str(good.verdict) == "passed", good
    assert wrong(bad) >= {Rule.STAYS}, "it does not survive JSON that is no object"


async def test_a_host_made_with_the_typescript_sdk(node_modules: Path) -> None:
    command = ["node", str(HOSTS / "ts_sdk_host.mjs"), "{agent}"]
    good, bad = await met(command, "id-zero", "noise-banner")
    assert str(good.verdict) == "passed", good
    assert wrong(bad) == {"lines that are no messages are not answered"}


def test_the_report_as_text_and_as_json(host: Any, capsys: pytest.CaptureFixture[str]) -> None:
    command = host("def asked(message): pass\n" + GOOD)
    arguments = ["check", "--only", "cursor-task", "--only", "same-text-again"]
    assert main([*arguments, "--", *command]) == 1
    text = capsys.readouterr().out
    assert "FAILED C169 cursor-task" in text
    assert "1 passed, 1 failed, 0 not seen" in text
    assert main(["check", "--json", "--only", "same-text-again", "--", *command]) == 0
    plain = json.loads(capsys.readouterr().out)
    assert (plain["version"], plain["counts"]) == (1, {"passed": 1, "failed": 0, "not_seen": 0})


def test_an_exit_status_that_means_something_else_need_not_be_judged(
    host: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    command = host(GOOD + "sys.exit(1)")
    check = ["check", "--only", "same-text-again"]
    assert main([*check, "--", *command]) == 1
    assert "With --any-status it is not judged." in capsys.readouterr().out
    assert main([*check, "--any-status", "--", *command]) == 0
    assert "--any-status" not in capsys.readouterr().out


@pytest.mark.parametrize(
    "words, says",
    [
        (["check", "--", "my-host"], "{agent}"),
        (["check", "--", "no-such-host-here", "{agent}"], "no program no-such-host-here"),
        (["check", "--only", "xyzzy", "--", "true", "{agent}"], "no bad agent 'xyzzy'; acp-host chaos list"),
        (["nobody"], "no bad agent 'nobody'"),
    ],
)
def test_what_cannot_be_run(words: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    assert says in capsys.readouterr().err


def test_nothing_in_a_report_steers_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    from acp_host.testing.chaos import Finding

    bad: BadAgent = find("noise-banner")
    report = Report((Meeting(bad, (Finding("x", False, "\x1b[2J"),), 1, 0.1, "\x1b]0;owned\x07"),))
    assert not set("\x1b\x07") & set("\n".join(report.lines()))


def test_the_agent_as_a_command_of_ours() -> None:
    initialize = json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": 1}})
    command = [sys.executable, "-m", "acp_host", "agent", "--chaos", "version-99"]
    said = subprocess.run(command, input=f"{initialize}\n", capture_output=True, text=True, check=False, timeout=30)
    assert json.loads(said.stdout)["result"]["protocolVersion"] == 99
    listed = subprocess.run([sys.executable, "-m", "acp_host", "chaos", "list"], capture_output=True, text=True)
    assert "C224 version-0" in listed.stdout
