"""What the page about agents for tests shows works, and its table has every command."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from acp_host.testing.script_language import builtin_commands
from tests.docs.snippets import read_page, run_page


async def test_the_examples_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    await run_page("docs/testing.md", folder=tmp_path)
    out = capsys.readouterr().out
    assert "a scripted agent closed the connection\n['noise']" in out
    assert "2 completed agent\n" in out


def test_every_command_is_listed() -> None:
    table = re.findall(r"^\| (`/.*?) \|", read_page("docs/testing.md"), re.MULTILINE)
    listed = re.findall(r"`/([a-z-]+)", " ".join(table))
    assert sorted(listed) == sorted(command.name for command in builtin_commands())
