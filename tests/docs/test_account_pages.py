"""What the pages about logging in and about sessions show works, and the tables on them hold."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest

import acp_host
from acp_host.host.login_methods import LoginKind
from acp_host.host.reopening import Lost, ReopenPolicy, ReopenResult
from acp_host.testing import ReferenceAgent
from tests.docs.snippets import read_page, run_page


def first_column(page: str) -> set[str]:
    return set(re.findall(r"^\| `(\w+)` \|", read_page(page), re.MULTILINE))


async def test_the_page_on_logging_in(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    names = await run_page("docs/authentication.md", asyncio=asyncio, folder=tmp_path)
    out = capfd.readouterr().out
    assert "Reference Agent: Authentication required\n- Log in\n- Use a key\n- Show a card (" in out
    assert "You are logged in.\n" in out
    assert "agent reference-login True\nauthenticated\n" in out
    assert (tmp_path / "login").exists()
    assert names["seen"][-1] in ("authenticated", "unauthenticated")


def test_every_kind_of_login_is_listed() -> None:
    assert first_column("docs/authentication.md") == set(LoginKind)


async def test_the_page_on_sessions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async with acp_host.connect(ReferenceAgent().transport()) as host:
        names = await run_page("docs/sessions.md", host=host, folder=tmp_path)
        assert list(host.diagnostics) == []
    out = capsys.readouterr().out
    assert f"{names['info'].session_id} A greeting\nload nothing\n" in out
    assert "[('resume', 'gone'), ('load', 'gone')]" in out


def test_every_method_and_word_about_sessions_is_listed() -> None:
    page = read_page("docs/sessions.md")
    listed = first_column("docs/sessions.md") - {"lost", *Lost}
    methods = {name for name in dir(acp_host.HostConnection) if re.search(r"_sessions?$|^session_status$", name)}
    methods |= {"set_session_title"}
    assert listed == {name for name in methods if not name.startswith("_")}
    assert first_column("docs/sessions.md") >= set(Lost)
    assert all(f"`{result}`" in page for result in ReopenResult)
    assert ", ".join(f"`{step}`" for step in ReopenPolicy().steps) in page
