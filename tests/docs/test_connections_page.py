"""What the page on connections shows works, and its table is that of the code."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

import acp_host
from acp_host.testing import ReferenceAgent
from acp_host.wire.content import TextContent
from acp_host.wire.tool_calls import ToolCall, ToolCallUpdate
from acp_host.wire.updates import AgentMessageChunk
from tests.docs.snippets import read_page, run_page

PAGE = "docs/connections.md"


async def test_the_examples(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.md").write_text("# Notes\n", encoding="utf-8")
    types = [AgentMessageChunk, TextContent, ToolCall, ToolCallUpdate]
    async with acp_host.connect(ReferenceAgent().transport()) as host:
        session = await host.new_session()
        names = {"host": host, "session": session, **{type.__name__: type for type in types}}
        names = await run_page(PAGE, **names)
    assert names["result"].outcome.kind == "completed"
    out = capsys.readouterr().out
    assert "I changed nothing. I checked nothing." in out
    assert "call-1 failed\n" in out


def test_the_arguments_of_connect_are_listed_with_their_defaults() -> None:
    defaults = {name: parameter.default for name, parameter in inspect.signature(acp_host.connect).parameters.items()}
    listed = dict(re.findall(r"^\| `(\w+)=` \| (.*?) \|", read_page(PAGE), re.MULTILINE))
    words = {None: {"nothing", "reject"}, False: {"`False`"}, True: {"`True`"}}
    assert len(listed) == 7
    for name, default in listed.items():
        assert default in words[defaults[name]], name
