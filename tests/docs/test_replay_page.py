"""What the page about replay shows works, on the command line, too."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from acp_host.cli import main
from tests.docs.snippets import ROOT, read_page, run_page

RECORDINGS = ROOT / "fixtures" / "recordings"


async def test_the_examples_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    await run_page("docs/replay.md", folder=tmp_path)
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["['/say It works.', 'It works.']", "Reference Agent 0"]
    assert "AgentMessageChunk" in lines
    assert "completed" in lines
    assert lines[-3] == "It works."
    assert re.fullmatch(r"ReplayDiverged \d+", lines[-2])
    assert lines[-1] == LAST


LAST = "the agent does not keep to the schema: session/update: required property 'title' is missing at $.params.update"


def test_the_commands_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("talk", "before", "after"):
        (tmp_path / f"{name}.jsonl").write_bytes((RECORDINGS / "qwen.jsonl").read_bytes())
    commands = re.findall(r"^\$ acp-host (replay [^#\n]*)", read_page("docs/replay.md"), re.MULTILINE)
    assert len(commands) == 5
    for command in commands:
        arguments = shlex.split(command.replace("--speed 4", "--speed 400"))
        assert main(arguments) == (1 if "--lint" in command else 0), command
        assert bool(capsys.readouterr().out) == ("--diff" not in command), command
