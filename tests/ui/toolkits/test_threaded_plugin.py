"""The plugin that the documentation shows holds a whole turn, with an agent of this library and with one of others."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from acp_host.testing import ReferenceAgent, ScriptedAgent

ROOT = Path(__file__).parents[3]
SCRIPT = """
async def script(turn):
    await turn.notice("warning", "The disk is almost full")
    turn.remind("It is past midnight.")
    await turn.say("Hello ")
    async with turn.tool_call("Write notes.txt", kind="edit") as call:
        await turn.say("allowed" if await turn.permitted(call) else "refused")
"""


def play(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, str(ROOT / "docs" / "examples" / "threaded_plugin.py"), *command]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(line, cwd=folder, env=environment, capture_output=True, text=True, timeout=50, check=False)


def test_a_turn(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    ran = play(ReferenceAgent.command("--script", str(script)), tmp_path)
    assert (ran.returncode, ran.stderr) == (0, "")
    lines = ran.stdout.splitlines()
    assert "toasts: Reference Agent: The disk is almost full" in lines
    assert "reminders: emitted: It is past midnight." in lines
    assert "added tool_call 2: Write notes.txt" in lines
    assert [line for line in lines if line.startswith("turn: ")] == [
        "turn: running",
        "turn: waiting",
        "turn: running",
        "turn: idle",
    ]
    assert any("allowed" in line for line in lines)


def test_a_turn_with_the_typescript_example_agent(tmp_path: Path, node_modules: Path) -> None:
    ran = play(["node", str(node_modules / "acp-sdk-example" / "dist" / "examples" / "agent.js")], tmp_path)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.splitlines()[-1] == "turn: idle"
    assert "tool_call" in ran.stdout


def test_an_agent_that_goes_away(tmp_path: Path) -> None:
    script = """
        await agent.handshake()
        await agent.open_session()
        await agent.expect("session/prompt")
        raise SystemExit(1)
    """
    ran = play(ScriptedAgent.command(script), tmp_path)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "failed: session/prompt was sent, but the connection ended before its answer" in ran.stdout
