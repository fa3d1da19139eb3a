"""Whole conversations in ACP v2 with the official TypeScript SDK, whose v2 is a draft like the protocol's."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from acp_host.testing import ReferenceAgent
from tests.testing.host_v2 import kinds, merged, texts, validate

CLIENT = Path(__file__).with_name("ts_sdk_client_v2.mjs")


async def conversation(*flags: str) -> dict[str, Any]:
    """Run the client with a reference agent and return what it tells."""
    command = ["node", str(CLIENT), *ReferenceAgent.command(*flags)]
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    output, _ = await process.communicate()
    assert process.returncode == 0, "the SDK refused something; it says what on stderr"
    told: dict[str, Any] = json.loads(output)
    return told


@pytest.mark.parametrize("flags", [("2",), ("2", "--protocol-version", "1")], ids=["v2", "v1 and v2"])
async def test_the_reference_agent_and_a_client_of_the_typescript_sdk(
    node_modules: Path, flags: tuple[str, ...]
) -> None:
    told = await conversation("--require-auth", "--protocol-version", *flags)
    assert told["agreed"]["protocolVersion"] == 2
    assert told["exitCode"] == 0
    assert told["before"]["code"] == told["after"]["code"] == -32000, "before the login, and after the logout"
    assert told["options"] == ["mode", "model", "thoughts", "plans"]

    shown = told["shown"]["updates"]
    assert texts(shown).endswith("I added the line. The check ended with status 0.")
    assert (shown[0]["messageId"], shown[-1]["stopReason"]) == (told["shown"]["messageId"], "end_turn")
    assert {"requires_action", "terminal_output_chunk", "tool_call_content_chunk", "plan_update"} <= set(kinds(shown))
    assert [asked["subject"] for asked in told["asked"]] == ["tool_call", "command", "form", "url"]
    assert "You answered: {'name': 'Ada'}" in texts(told["questions"]["updates"])
    assert {"notice", "plan_removed", "compaction_update"} <= set(kinds(told["plans"]["updates"]))

    assert told["afterCall"][-1]["stopReason"] == "end_turn"
    (call,) = {update["toolCallId"] for update in told["afterCall"] if "toolCallId" in update}
    assert merged(told["afterCall"], call)["status"] == "cancelled"
    assert told["cancelled"][-1]["stopReason"] == "cancelled"
    assert told["background"] == [{"type": "terminal", "terminalId": "terminal-2"}]
    assert told["afterTerminal"][-1]["background"] == []
    assert told["unknown"]["code"] == told["noCall"]["code"] == -32602
    assert [kinds(updates)[-1] for updates in told["later"]] == ["idle", "idle"]
    assert texts(told["later"][1]) == "I am back."

    assert told["status"]["state"]["state"] == "idle"
    assert len(told["listed"]["sessions"]) == 2
    assert kinds(told["replay"])[:2] == ["user_message", "agent_thought"]
    check_wire(told["wire"])


def check_wire(wire: str) -> None:
    """Hold everything that the agent wrote against the upstream schema, which the SDK reads tolerantly."""
    messages = [json.loads(line) for line in wire.splitlines()]
    for message in messages:
        assert message["jsonrpc"] == "2.0"
        if "method" in message:
            validate(message["method"], "Request" if "id" in message else "Notification", message["params"])
    assert len([message for message in messages if "method" in message]) > 100
