"""The pages on options and on MCP servers: the examples run, and the tables leave nothing out."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import attrs
import pytest

import acp_host
from acp_host.services.mcp import MAX_OPEN
from acp_host.testing import ReferenceAgent
from tests.docs.snippets import read_page, run_page


async def play(page: str) -> dict[str, Any]:
    """Run the examples of a page with the reference agent; return their names."""
    async with acp_host.connect(ReferenceAgent().transport()) as host:
        session = await host.new_session()
        names = await run_page(page, host=host, session=session, asyncio=asyncio)
        assert list(host.diagnostics) == []
        return names


async def test_the_page_on_options(capsys: pytest.CaptureFixture[str]) -> None:
    names = await play("docs/options.md")
    out = capsys.readouterr().out.splitlines()
    assert out[:4] == [
        "mode mode ask ['ask', 'auto']",
        "model model small ['small', 'large']",
        "thoughts thought_level shown ['shown', 'off']",
        "plans None True []",
    ]
    assert out[4:] == ["large", "small", "option model cannot be 'huge'; its choices are small, large", "['auto']"]
    assert names["values"] == ["auto"]


def test_every_member_of_an_option_is_listed() -> None:
    cells = re.findall(r"^\| (`.*?) \|", read_page("docs/options.md"), re.MULTILINE)
    listed = [word for cell in cells for word in re.findall(r"`(\w+)`", cell)]
    assert sorted(listed) == sorted(attribute.name for attribute in attrs.fields(acp_host.SessionOption))


async def test_the_page_on_mcp_servers(capsys: pytest.CaptureFixture[str]) -> None:
    names = await play("docs/mcp.md")
    counted, told = capsys.readouterr().out.splitlines()[0], names["clock"]("tools/list", None)
    assert '"text": "42"' in counted
    assert told["tools"][0]["name"] == "now"
    assert f"{MAX_OPEN} open requests" in read_page("docs/mcp.md")


async def test_the_servers_on_the_page_are_taken() -> None:
    names = await play("docs/mcp.md")
    async with acp_host.connect(ReferenceAgent().transport()) as host, asyncio.timeout(10):
        await host.new_session(mcp_servers=names["servers"][:1])
        with pytest.raises(acp_host.NotSupported, match="http"):
            await host.new_session(mcp_servers=names["servers"])
