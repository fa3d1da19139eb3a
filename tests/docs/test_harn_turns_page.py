"""The page on turns with a Harn agent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import acp_host
from acp_host.testing import ScriptedAgent
from tests.docs.snippets import run_page

PAGE = "docs/harn/turns.md"

HARN: dict[str, Any] = {
    "session": {"inject": {"modes": ["queue", "steer"]}},
    "_meta": {"harn": {"sessionUpdateExtensions": ["log"]}},
}
CALL: dict[str, Any] = {
    "sessionUpdate": "tool_call",
    "toolCallId": "c",
    "title": "edit_file",
    "_meta": {
        "harn": {
            "executor": "harn_builtin",
            "durationMs": 7,
            "mutationStatus": "applied",
            "changedPaths": ["a.py"],
            "audit": {"mutation_scope": "read_only"},
        }
    },
}
DONE: dict[str, Any] = {"stopReason": "end_turn", "_meta": {"harn": {"terminal": {"kind": "natural"}}}}


PERMISSION: dict[str, Any] = {
    "toolCall": {
        "toolCallId": "c",
        "_meta": {
            "harn": {
                "toolName": "edit_file",
                "approvalRequest": {"evidence_refs": [{"kind": "file_preimage", "path": "/a", "reason": "symlink"}]},
                "policyDecision": {"reason": "workspace edit", "risk_labels": ["path_rule"]},
                "toolDescriptor": {"schemaChanged": True},
            }
        },
    },
    "options": [{"optionId": "allow", "name": "Allow", "kind": "allow_once"}],
}


async def _script(agent: ScriptedAgent) -> None:
    await agent.handshake(HARN)
    message = await agent.expect("session/new")
    agent.reply({"sessionId": "s1"})
    await agent.expect("session/prompt")
    if "environmentPolicy" in message["params"]:
        answer = await agent.call("session/request_permission", {"sessionId": "s1", **PERMISSION})
        assert answer["result"] == {"outcome": {"outcome": "selected", "optionId": "allow"}}
    agent.update(CALL)
    agent.reply(DONE)


class _Library:
    """``acp_host``, of which ``connect`` makes another agent each time."""

    def __init__(self) -> None:
        self.agents: list[ScriptedAgent] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(acp_host, name)

    def connect(self, agent: Any, **options: Any) -> Any:
        self.agents.append(ScriptedAgent(_script))
        return acp_host.connect(self.agents[-1].transport(), **options)


async def test_the_examples_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    library = _Library()
    names = await run_page(PAGE, agent=None, project=tmp_path, acp_host=library)
    for name in ("host", "asking"):
        await names[name].close()
    printed = capsys.readouterr().out
    assert "('queue', 'steer') ('log',)\n" in printed
    assert "completed True natural\n" in printed
    assert "edit_file harn_builtin 7 applied ('a.py',)\n" in printed
    assert "it has changed something" in printed
    assert "edit_file since workspace edit ('path_rule',)\n" in printed
    assert "no preview of /a since symlink\n" in printed
    assert "the tool is not what it was\n" in printed
    assert [result.outcome.kind for result in names["results"]] == ["completed", "completed"]
    opened = [each for agent in library.agents for each in agent.received if each.get("method") == "session/new"]
    assert [each["params"].get("environmentPolicy") for each in opened] == [None, {"kind": "isolated"}, None, None]
