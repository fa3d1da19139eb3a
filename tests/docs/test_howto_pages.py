"""What the pages that say how something is done show works."""

from __future__ import annotations

import asyncio
import builtins
import inspect
import re
import sys
from pathlib import Path
from typing import Any

import pytest

import acp_host
from acp_host.testing import ReferenceAgent, serve_websocket
from tests.docs.shell_lines import run_lines, shell_lines_of
from tests.docs.snippets import ROOT, read_page, run_page, snippets_of

pytestmark = pytest.mark.timeout(180)

REMINDED = """\
inject_reminder pending
yes inject_reminder the agent offers reminders.inject
no  remind the agent does not offer session.remind
no  sidebar no person sees the panel
yes suppressed the end of the ladder: nothing is sent
pending notes.md changed on disk
revoked
pending The build is broken since 14:02
revoked
pending 2 tests failed
revoked
pending Never push to main
revoked
"""


@pytest.fixture
def said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> pytest.CaptureFixture[str]:
    """What the examples print; they run in a folder of their own."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.md").write_text("# Notes\n")
    return capsys


async def test_permissions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: pytest.CaptureFixture[str]) -> None:
    page = "docs/howto/permissions.md"
    [policy] = re.findall(r"^```toml\n(.*?)^```", read_page(page), re.MULTILINE | re.DOTALL)
    (tmp_path / "policy.toml").write_text(policy)
    monkeypatch.setattr(builtins, "input", lambda prompt: "0")
    await run_page(page, agent=ReferenceAgent.command())
    out = said.readouterr().out
    assert out.startswith("completed\n")
    assert "allowed session/request_permission sources\nallowed fs/write_text_file sources\n" in out
    assert out.count("rejected session/request_permission None\n") == 2
    assert "reject_once: no rule matches" in out
    assert "Edit notes.md allow_once Allow\n" in out
    assert "0 Allow\n1 Always allow\n" in out
    assert (tmp_path / "notes.md").read_text() == "# Notes\n" + "Edited.\n" * 4
    assert (tmp_path / "audit.jsonl").read_text().count("\n") == 1


async def test_reminders(tmp_path: Path, said: pytest.CaptureFixture[str]) -> None:
    async with acp_host.connect(ReferenceAgent().transport()) as host:
        session = await host.new_session(tmp_path)
        await run_page("docs/howto/reminders.md", host=host, session=session)
    out = said.readouterr().out
    assert out == REMINDED


async def test_notices(tmp_path: Path, said: pytest.CaptureFixture[str]) -> None:
    async with acp_host.connect(ReferenceAgent().transport()) as host:
        session = await host.new_session(tmp_path)
        await run_page("docs/howto/notices.md", host=host, session=session)
    out = said.readouterr().out
    assert out.startswith("[Reference Agent] warning: The disk is almost full\nOnly 1 GB is left.\n")
    assert "dismissed The disk is almost full\npreferences Settings were reloaded\n2 in all, 1 not shown\n" in out
    assert out.count("notify-send Reference Agent The model cannot be reached\n") == 1


async def test_agents_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: pytest.CaptureFixture[str]
) -> None:
    async with serve_websocket(ReferenceAgent().serve) as served:
        monkeypatch.setenv("AGENT_TOKEN", served.token)
        names = {"url": served.url_with_token, "plain_url": served.url, "folder": tmp_path}
        await run_page("docs/howto/remote-agents.md", **names)
    out = said.readouterr().out
    assert out.startswith("Hello from elsewhere\nReference Agent\n")
    assert "connected\n" in out
    assert re.search(r"HTTP status 401.*\n401 False\n", out)
    assert (tmp_path / "notes.md").read_text() == "A note."


@pytest.mark.skipif(sys.platform == "win32", reason="the lines are for a shell")
def test_a_bug_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = "docs/howto/bug-report.md"
    record, look, anonymise, diff = shell_lines_of(read_page(page))
    ran = run_lines(record, tmp_path)
    assert (ran.returncode, ran.stdout[:15]) == (0, "I will add a li")
    ran = run_lines(look + anonymise + diff, tmp_path)
    assert (ran.returncode, ran.stderr) == (0, "0 findings\n")
    assert "Why does it not compile?" in ran.stdout
    assert "Xxx xxxx xx xxx xxxxxxx?" in ran.stdout
    assert "Xxx xxxx xx xxx xxxxxxx?" in (tmp_path / "report.jsonl").read_text()
    asyncio.run(run_page(page))


@pytest.mark.skipif(sys.platform == "win32", reason="the lines are for a shell")
def test_a_host_of_your_own(tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests of the page are run as pytest would do it; docs/examples has such a file, which it runs by itself."""
    monkeypatch.chdir(tmp_path)
    page = read_page("docs/howto/testing-your-host.md")
    run_lines('acp-host run --record talk.jsonl acp-host agent -- "Summarise this folder"', tmp_path)
    names: dict[str, Any] = {}
    exec("\n\n".join(snippets_of(page)), names)
    tests = [value for name, value in names.items() if name.startswith("test_")]
    assert len(tests) == 4
    for test in tests:
        test(**{fixture: request.getfixturevalue(fixture) for fixture in inspect.signature(test).parameters})
    [catalogue] = shell_lines_of(page)
    ran = run_lines(catalogue, tmp_path)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "noise-banner" in ran.stdout


def test_there_is_one_for_each_task() -> None:
    pages = {path.stem for path in (ROOT / "docs" / "howto").glob("*.md")}
    tested = set(re.findall(r"docs/howto/([a-z-]+)\.md", Path(__file__).read_text(encoding="utf-8")))
    assert pages == tested
