"""The agents as programs: what they read and write, whom they listen to, and how they end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from acp_host.errors import InvalidInput
from acp_host.testing import ReferenceAgent, ScriptedAgent
from acp_host.testing._load import load_function
from acp_host.testing.agent import main

INITIALIZE = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": 1}}


def run(command: list[str], data: bytes, **options: Any) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(command, input=data, capture_output=True, timeout=20, check=False, **options)


def lines(*messages: Any) -> bytes:
    return b"".join(json.dumps(message).encode() + b"\n" for message in messages)


def test_an_agent_ends_with_its_input() -> None:
    ended = run(ReferenceAgent.command(), lines(INITIALIZE))
    [answer] = map(json.loads, ended.stdout.splitlines())
    assert answer["result"]["agentInfo"]["name"] == "acp-host-reference-agent"
    assert (ended.returncode, ended.stderr) == (0, b"")


def test_odd_input_goes_to_stderr_and_changes_nothing() -> None:
    odd = b'hello\n\xff\xfe\n[1]\n{"a":\n\n\r\n\xef\xbb\xbf' + b"x" * 200_000 + b"\n"
    ended = run(ReferenceAgent.command(), odd + lines(INITIALIZE, {"jsonrpc": "2.0", "method": "x/unknown"}) + b"rest")
    answers = [json.loads(line) for line in ended.stdout.splitlines()]
    assert [answer["id"] for answer in answers if "result" in answer] == [0]
    assert ended.returncode == 0
    assert b"x/unknown" in ended.stderr
    assert b"Traceback" not in ended.stderr


def test_nothing_is_served_before_the_handshake(tmp_path: Path) -> None:
    new = {"jsonrpc": "2.0", "id": 1, "method": "session/new", "params": {"cwd": str(tmp_path), "mcpServers": []}}
    ended = run(ReferenceAgent.command(), lines(new, INITIALIZE, INITIALIZE | {"id": 2}, new | {"id": 3}))
    answers = {answer.get("id"): answer for answer in map(json.loads, ended.stdout.splitlines())}
    assert answers[1]["error"]["message"] == "initialize comes first"
    assert answers[2]["error"]["message"] == "initialize was sent before"
    assert answers[3]["result"]["sessionId"] == "session-1"


@pytest.mark.parametrize("version", [0, 2])
def test_the_version_is_the_agents_own(version: int) -> None:
    ended = run(ReferenceAgent.command(), lines(INITIALIZE | {"params": {"protocolVersion": version}}))
    assert json.loads(ended.stdout)["result"]["protocolVersion"] == 1


def test_a_host_that_reads_nothing_more(tmp_path: Path) -> None:
    """Its end of stdout is closed while the agent still writes; the agent ends without a word."""
    session = {"cwd": str(tmp_path), "mcpServers": []}
    prompt = {"sessionId": "session-1", "prompt": [{"type": "text", "text": "/flood 100000"}]}
    process = subprocess.Popen(
        ReferenceAgent.command(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdin.write(
        lines(
            INITIALIZE,
            {"jsonrpc": "2.0", "id": 1, "method": "session/new", "params": session},
            {"jsonrpc": "2.0", "id": 2, "method": "session/prompt", "params": prompt},
        )
    )
    process.stdin.flush()
    process.stdout.readline()
    process.stdout.close()
    assert process.wait(20) == 0
    assert process.stderr.read() == b""
    process.stdin.close()
    process.stderr.close()


def test_options() -> None:
    flags = ("--without", "load", "--without", "image", "--stable", "--require-auth")
    ended = run(ReferenceAgent.command(*flags), lines(INITIALIZE))
    result = json.loads(ended.stdout)["result"]
    assert result["agentCapabilities"]["loadSession"] is False
    assert result["agentCapabilities"]["promptCapabilities"]["image"] is False
    assert "providers" not in result["agentCapabilities"]
    assert [method["id"] for method in result["authMethods"]] == ["reference-login"]


@pytest.mark.parametrize("flags", [["--without", "teleport"], ["--page-size", "many"], ["more"]])
def test_wrong_options(flags: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(flags)
    assert end.value.code == 2
    assert "usage" in capsys.readouterr().err


def test_a_script_that_is_not_there() -> None:
    ended = run(ReferenceAgent.command("--script", "/no/such/file.py"), b"")
    assert ended.returncode == 1
    assert b"/no/such/file.py" in ended.stderr


@pytest.mark.parametrize(
    "code, told",
    [
        ("def script(", "script.py: File"),
        ("\nimport nonsuch", "script.py, line 2: ModuleNotFoundError: No module named 'nonsuch'"),
        ("{}['x']", "script.py, line 1: KeyError: 'x'"),
        ("x = 1", "script.py defines no function script"),
        (None, "script.py cannot be read: "),
    ],
)
def test_a_script_that_cannot_be_used_is_said_to_be(tmp_path: Path, code: str | None, told: str) -> None:
    path = tmp_path / "script.py"
    if code is not None:
        path.write_text(code)
    with pytest.raises(InvalidInput) as refused:
        load_function(str(path))
    assert str(refused.value).startswith(f"{tmp_path}{os.sep}{told}")


def test_what_an_agent_prints_does_not_reach_the_host() -> None:
    body = """
        import os, subprocess, sys
        await agent.handshake()
        print("from print", flush=True)
        os.write(1, b"from descriptor 1\\n")
        subprocess.run([sys.executable, "-c", "print('from a child')"], check=True)
        """
    ended = run(ScriptedAgent.command(body), lines(INITIALIZE))
    assert len(ended.stdout.splitlines()) == 1
    assert ended.stderr.split(b"\n")[:3] == [b"from print", b"from descriptor 1", b"from a child"]


def test_names_are_loaded_on_first_use() -> None:
    program = "import sys, acp_host.testing as t; assert 'acp_host.testing.reference' not in sys.modules; " + (
        "print(sorted(dir(t)) == sorted(t.__all__), all(getattr(t, name) for name in t.__all__)); "
        "import contextlib\nwith contextlib.suppress(AttributeError): t.nothing; print('found')"
    )
    ended = run([sys.executable, "-c", program], b"")
    assert ended.stdout.split() == [b"True", b"True"], ended.stderr
