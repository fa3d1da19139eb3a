"""Runs with agents that were made with the official SDKs, by the API and by the command."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from acp_host import PermissionPolicy, RunReason, RunResult, Timeouts, run_prompt
from acp_host.automation.schema import problem_with
from acp_host.cli import main

PYTHON_AGENT = [sys.executable, str(Path(__file__).parent / "python_sdk_agent.py")]


async def test_a_run_with_an_agent_of_the_python_sdk_edits_a_file(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("a note\n")
    allowed = PermissionPolicy.allow_once()
    result = await run_prompt(PYTHON_AGENT, "edit", cwd=tmp_path, files=True, permissions=allowed)
    assert (result.outcome.kind, result.outcome.reason, result.text) == ("completed", None, "Written.")
    [change] = result.changes
    assert change.diff == "--- a/notes.txt\n+++ b/notes.txt\n@@ -1 +1 @@\n-a note\n+A NOTE\n"
    assert [(call.title, call.status) for call in result.tool_calls] == [("Edit notes.txt", "completed")]
    assert RunResult.from_json(json.loads(json.dumps(result.to_json()))) == result


async def test_what_such_an_agent_is_denied_is_told(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("a note\n")
    result = await run_prompt(PYTHON_AGENT, "edit", cwd=tmp_path, files=True)
    assert (result.text, result.changes, result.outcome.reason) == ("Left alone.", (), RunReason.PERMISSION_DENIED)


async def test_such_an_agent_is_cancelled_when_it_is_silent(tmp_path: Path) -> None:
    result = await run_prompt(PYTHON_AGENT, "wait", cwd=tmp_path, timeouts=Timeouts(idle=0.5))
    assert (result.outcome.kind, result.outcome.reason) == ("incomplete", RunReason.IDLE_TIMEOUT)
    assert (result.stop_reason, result.text) == ("cancelled", "Waiting.")


async def test_the_text_of_the_typescript_sdks_example_comes_in_pieces(tmp_path: Path, node_modules: Path) -> None:
    example = ["node", str(node_modules / "acp-sdk-example" / "dist" / "examples" / "agent.js")]
    allowed = PermissionPolicy.allow_once()
    async with run_prompt(example, "hello", cwd=tmp_path, permissions=allowed) as run:
        pieces = [piece async for piece in run.text]
        result = await run
    assert len(pieces) > 1
    assert "".join(pieces) == result.text
    assert result.completed
    assert [call.status for call in result.tool_calls] == ["completed", "completed"]


def test_the_lines_of_the_command_fit_the_schema(
    tmp_path: Path, node_modules: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    example = ["node", str(node_modules / "acp-sdk-example" / "dist" / "examples" / "agent.js")]
    for agent in (PYTHON_AGENT, example):
        options = ["--json", "--cwd", str(tmp_path), "--journal", str(tmp_path.parent / "runs"), "--permissions"]
        assert main(["run", *options, "allow-once", *agent, "--", "hello"]) == 0
        lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        assert [problem for line in lines if (problem := problem_with(line))] == []
        assert RunResult.from_json(lines[-1]["result"]).completed
