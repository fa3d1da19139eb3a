"""The driver that the documentation shows holds a whole turn."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from acp_host.testing import ReferenceAgent, ScriptedAgent

PAGE = (Path(__file__).parents[2] / "docs" / "sans-io.md").read_text(encoding="utf-8")
[DRIVER] = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="selectors knows no pipes on Windows")


def drive(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    (folder / "turn.py").write_text(DRIVER, encoding="utf-8")
    line = [sys.executable, "turn.py", *command]
    return subprocess.run(line, cwd=folder, capture_output=True, text=True, timeout=30, check=False)


def test_a_turn_with_the_reference_agent(tmp_path: Path) -> None:
    ran = drive(ReferenceAgent.command(), tmp_path)
    assert (ran.returncode, ran.stderr) == (0, "")
    said, stop_reason = ran.stdout.rsplit("\n-- ", 1)
    assert len(said) > 20
    assert stop_reason == "end_turn\n"


def test_a_turn_with_the_typescript_example_agent(tmp_path: Path, node_modules: Path) -> None:
    ran = drive(["node", str(node_modules / "acp-sdk-example" / "dist" / "examples" / "agent.js")], tmp_path)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.endswith("\n-- end_turn\n")
    assert "successfully updated the configuration" in ran.stdout


def test_a_turn_with_an_agent_that_makes_trouble(tmp_path: Path) -> None:
    script = """
        agent.send_raw(b"Loading model...\\n")
        agent.request("session/no_such_method", {})
        await agent.handshake()
        await agent.open_session()
        await agent.expect("session/prompt")
        agent.send_raw(b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"session-1","update":{')
        await agent.drain()
        agent.send_raw(b'"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Hello"}}}}\\n')
        agent.reply({"stopReason": "end_turn"})
        await agent.stall()
    """
    ran = drive(ScriptedAgent.command(script), tmp_path)
    assert (ran.returncode, ran.stdout) == (0, "Hello\n-- end_turn\n")
    assert [line.split("]")[0] for line in ran.stderr.splitlines()] == ["[noise", "[unknown_method"]


def test_an_agent_that_goes_away(tmp_path: Path) -> None:
    ran = drive([sys.executable, "-c", "import sys; sys.stdin.readline()"], tmp_path)
    assert ran.returncode == 1
    assert "OutcomeUnknown: initialize was sent, but the connection ended before its answer" in ran.stderr
