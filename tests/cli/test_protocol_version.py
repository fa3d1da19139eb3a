"""``--protocol-version`` of the commands that show a conversation until somebody ends it."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from acp_host.testing import ReferenceAgent
from tests.cli.conftest import Command
from tests.cli.test_serve import serving

AGENT = ReferenceAgent.command("--protocol-version", "2", "--require-auth")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("name", ["serve", "chat"])
def test_version_1_is_what_is_asked_for_otherwise(command: Command, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    at_a_terminal(monkeypatch, name)
    assert command(name, *AGENT).code == 1


def test_version_2_in_a_chat(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """An agent that wants a login first was agreed with."""
    at_a_terminal(monkeypatch, "chat")
    assert command("chat", "--protocol-version", "2", *AGENT).code == 6


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C cannot be sent to one process there")
async def test_version_2_on_the_page(tmp_path: Path) -> None:
    """The agent that was agreed with wants a login first, which the page asks for."""
    async with serving("serve", "--protocol-version", "2", *AGENT, cwd=tmp_path) as served:
        await served.browser.open()
        async with served.browser.page() as page:
            (question,) = await page.questions()
            await page.do("answer", question=question["number"], login=question["ways"][0]["id"])
            await page.until(lambda: page.latest["sessions"]["items"])
        assert await served.interrupt() == (0, "")


def at_a_terminal(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Let the command believe that it runs at a terminal."""
    if name == "chat":
        pytest.importorskip("textual")
    monkeypatch.setattr("sys.stdin", Terminal())
    monkeypatch.setattr("sys.stdout", Terminal())
