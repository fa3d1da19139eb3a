from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from acp_host.state.reminder_entry import Rung
from acp_host.testing import ReferenceAgent, ScriptedAgent
from tests.cli import agents
from tests.cli.conftest import Command
from tests.cli.test_run import UNSAFE

QUIRKY = """
await agent.handshake(
    {"loadSession": True, "sessionCapabilities": {"resume": {}, "list": None}, "reminders": {"inject": True},
     "_meta": {"vendor": {"level": 3}}},
    agentInfo={"name": "qwen-code", "version": "0.15.10", "title": "Qwen"},
    authMethods=[{"id": "key", "name": "API key", "description": "Set AGENT_KEY."}, {"id": "x", "type": "retina"}],
)
await agent.stall()
"""


def test_tables(command: Command) -> None:
    ran = command("inspect", *ScriptedAgent.command(QUIRKY))
    assert (ran.code, ran.err) == (0, "")
    rows = [[cell.strip() for cell in line.strip("│").split("│")] for line in ran.out.splitlines() if "│" in line]
    for row in (
        ["name", "Qwen (qwen-code)"],
        ["version", "0.15.10"],
        ["protocol version", "1"],
        ["loadSession", "yes"],
        ["promptCapabilities.image", "no"],
        ["sessionCapabilities.resume", "yes"],
        ["sessionCapabilities.list", "no"],
        ["reminders", '{"inject": true}'],
        ["_meta.vendor", '{"level": 3}'],
        ["fs.readTextFile", "no"],
        ["session.notices", "yes"],
        ["key", "API key", "agent", "Set AGENT_KEY."],
        ["x", "", "retina", ""],
        ["session/new", "stable", "yes", ""],
        ["session/load", "stable", "yes", "agentCapabilities.loadSession"],
        ["session/resume", "stable", "no", "quirk: advertises resume and answers method not found"],
        ["session/fork", "draft", "no", "agentCapabilities.sessionCapabilities.fork"],
        ["absent_though_advertised", "session/resume", "advertises resume and answers method not found"],
        ["inject_reminder", "yes", "yes", "the agent offers reminders.inject"],
        ["sidebar", "no", "yes", "no person sees the panel"],
        ["prefixed_user_message", "yes", "no", "the policy allows it, marked, before the next prompt"],
    ):
        assert row in rows


def test_json(command: Command) -> None:
    ran = command("inspect", "--json", *ScriptedAgent.command(QUIRKY))
    assert (ran.code, ran.err) == (0, "")
    document = json.loads(ran.out)
    assert ran.out == json.dumps(document, indent=2, sort_keys=True) + "\n"
    assert document["version"] == 1
    assert document["agreement"] == {
        "protocolVersion": 1,
        "agentInfo": {"name": "qwen-code", "version": "0.15.10", "title": "Qwen"},
        "agentCapabilities": {
            "loadSession": True,
            "sessionCapabilities": {"resume": {}, "list": None},
            "reminders": {"inject": True},
            "_meta": {"vendor": {"level": 3}},
        },
        "authMethods": [
            {"id": "key", "name": "API key", "description": "Set AGENT_KEY."},
            {"id": "x", "type": "retina"},
        ],
        "clientCapabilities": document["agreement"]["clientCapabilities"],
    }
    assert document["agreement"]["clientCapabilities"]["fs"] == {"readTextFile": False, "writeTextFile": False}
    assert document["methods"]["session/load"]["usable"] is True
    assert document["methods"]["session/resume"] == {
        "usable": False,
        "capability": "agentCapabilities.sessionCapabilities.resume",
        "stable": True,
        "notification": False,
    }
    assert [quirk["subject"] for quirk in document["quirks"]] == ["session/resume"]
    assert command("inspect", "--json", *ScriptedAgent.command(QUIRKY)).out == ran.out


INJECT, REMIND, NONE = {"inject": True}, {"session": {"remind": {}}}, {}
HARN = {"_meta": {"harn": {}}}


@pytest.mark.parametrize(
    ("capabilities", "options", "name", "available"),
    [
        ({"reminders": INJECT}, [], "x", ["inject_reminder"]),
        (REMIND, [], "x", ["remind"]),
        (HARN, [], "x", ["remind"]),
        (NONE, [], "harn", ["remind"]),
        ({"reminders": INJECT, **REMIND}, [], "x", ["inject_reminder", "remind"]),
        ({"reminders": {"inject": False}}, [], "x", []),
        (NONE, ["--sidebar"], "x", ["sidebar"]),
    ],
)
def test_the_ladder(
    command: Command, capabilities: dict[str, Any], options: list[str], name: str, available: list[str]
) -> None:
    script = f"await agent.handshake({capabilities!r}, agentInfo={{'name': {name!r}, 'version': '1'}})"
    ran = command("inspect", "--json", *options, *ScriptedAgent.command(script))
    ladder = json.loads(ran.out)["ladder"]
    assert [step["rung"] for step in ladder] == list(Rung)
    assert all(step["reason"] for step in ladder)
    assert [step["rung"] for step in ladder if step["available"] and step["default"]] == [*available, "suppressed"]
    assert [step["rung"] for step in ladder if not step["default"]] == ["steering", "prefixed_user_message"]
    assert [step["adjustments"] for step in ladder] == [[]] * len(Rung)


def test_no_session_is_created_and_nothing_is_asked(command: Command) -> None:
    ran = command("inspect", *ScriptedAgent.command("await agent.handshake(); await agent.expect()"))
    assert (ran.code, ran.err) == (0, "")


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_hostile_text_stays_text(command: Command, options: list[str]) -> None:
    ran = command("inspect", *options, *ScriptedAgent.command(agents.hostile))
    assert ran.code == 0
    assert UNSAFE.search(ran.out + ran.err) is None
    assert "[bold]b[/bold] :smile:" in ran.out


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_an_agent_that_is_none(command: Command, options: list[str]) -> None:
    program = "import sys; print('Welcome!'); print('usage: none', file=sys.stderr); sys.exit(3)"
    ran = command("inspect", *options, sys.executable, "-c", program)
    assert (ran.code, ran.out) == (1, "")
    assert "ended before it answered initialize" in ran.err
    assert "status 3" in ran.err
    assert "usage: none" in ran.err
    assert "Welcome!" in ran.err, "what it printed instead of an answer explains a lot"
    assert "Traceback" not in ran.err


def test_an_agent_of_another_version(command: Command) -> None:
    ran = command("inspect", *ScriptedAgent.command("await agent.handshake(protocolVersion=2)"))
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith("acp-host: scripted-agent speaks ACP version 2")


@pytest.mark.parametrize("arguments", [[], ["--"], ["--json"]])
def test_no_agent(command: Command, arguments: list[str]) -> None:
    ran = command("inspect", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert "no agent: give its command" in ran.err


def test_dashes_belong_to_the_command_of_the_agent(command: Command) -> None:
    script = "import sys\nawait agent.handshake(agentInfo={'name': repr(sys.argv[1:]), 'version': '1'})"
    ran = command("inspect", "--", *ScriptedAgent.command(script, "--json", "--", "x"))
    assert "│ ['--json', '--', 'x'] " in ran.out


def test_example_agent_of_the_typescript_sdk(process: Command, node_modules: Path) -> None:
    example = node_modules / "acp-sdk-example" / "dist" / "examples" / "agent.js"
    ran = process("inspect", "--json", "node", str(example))
    assert ran.code == 0
    assert json.loads(ran.out)["agreement"]["agentCapabilities"] == {"loadSession": False}


def test_version_2_where_it_is_asked_for(command: Command) -> None:
    agent = ReferenceAgent.command("--protocol-version", "1", "--protocol-version", "2")
    for asked, spoken in (([], 1), (["--protocol-version", "2"], 2)):
        ran = command("inspect", "--json", *asked, *agent)
        assert (ran.code, json.loads(ran.out)["agreement"]["protocolVersion"]) == (0, spoken)


DEEP = """
request = await agent.expect("initialize")
deep = '{"x":' * 990 + "0" + "}" * 990
result = '{"protocolVersion":1,"agentCapabilities":{"_meta":%s,"more":%s}}' % (deep, deep)
agent.send_raw(b'{"jsonrpc":"2.0","id":%d,"result":%s}' % (request["id"], result.encode()) + bytes([10]))
await agent.stall()
"""


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_capabilities_that_are_nested_as_deep_as_is_read(command: Command, options: list[str]) -> None:
    """Standard JSON writers do not reach as deep."""
    ran = command("inspect", *options, *ScriptedAgent.command(DEEP))
    assert (ran.code, ran.err) == (0, "")
    assert "nested too deeply" in ran.out
    assert not options or "more" in json.loads(ran.out)["agreement"]["agentCapabilities"]
