"""``acp-host serve`` and ``acp-host replay --ui``: a page in the browser, and how it ends."""

from __future__ import annotations

import asyncio
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import psutil
import pytest
from attrs import define

from acp_host.testing import ReferenceAgent
from acp_host.ui.serve import ServedFeed
from tests.cli.conftest import PATIENCE, PROGRAM, Command
from tests.cli.test_replay import REAL
from tests.ui.browsers import Browser

AGENT = ReferenceAgent.command()


@define
class Serving:
    """A command that serves a page."""

    process: Process
    browser: Browser
    said: str

    async def interrupt(self) -> tuple[int, str]:
        """Press Ctrl-C; return the exit code, and what was said on stderr since."""
        self.process.send_signal(signal.SIGINT)
        async with asyncio.timeout(PATIENCE):
            _, said = await self.process.communicate()
        assert self.process.returncode is not None
        return self.process.returncode, said.decode()


@asynccontextmanager
async def serving(*arguments: str, cwd: Path) -> AsyncIterator[Serving]:
    process = await asyncio.create_subprocess_exec(*PROGRAM, *arguments, cwd=cwd, stdout=PIPE, stderr=PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        async with asyncio.timeout(PATIENCE):
            url = (await process.stdout.readline()).decode().strip()
            said = (await process.stderr.readline()).decode()
        assert url.startswith("http://127.0.0.1:"), (url, said)
        address, _, _ = url.partition("?")
        port = int(address.rpartition(":")[2].strip("/"))
        yield Serving(process, Browser(ServedFeed(url, said.split("; ")[1].split()[0], address, port)), said)
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C cannot be sent to one process there")
async def test_a_conversation_in_the_browser_until_ctrl_c(tmp_path: Path) -> None:
    async with serving("serve", "--write-files", *AGENT, cwd=tmp_path) as served:
        assert "whoever has this address" in served.said
        assert (await served.browser.open()).status == 200
        async with served.browser.page() as page:
            await page.until(lambda: page.hello)
            (session,) = [item["id"] for item in page.hello["sessions"]]
            await page.do("resume", session=session)
            await page.do("prompt", session=session, text="/write notes.txt\na note")
            (question,) = await page.questions()
            allow = next(option["id"] for option in question["options"] if option["kind"] == "allow_once")
            await page.do("answer", question=question["number"], option=allow)
            await page.until(lambda: page.states[session]["turn"]["outcome"] == "completed")
            assert (tmp_path / "notes.txt").read_text() == "a note"
            assert (await page.do("new_session"))["session"] != session
            assert page.hello["agent"]["name"]
        watcher = Browser(served.browser.served)
        await watcher.open(served.browser.served.watch_url)
        async with watcher.page() as page:
            await page.until(lambda: page.hello)
            assert page.hello["mayControl"] is False
        assert await served.interrupt() == (0, "")


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C cannot be sent to one process there")
async def test_the_page_stays_when_the_agent_has_gone(tmp_path: Path) -> None:
    async with serving("serve", *AGENT, cwd=tmp_path) as served:
        await served.browser.open()
        async with served.browser.page() as page:
            await page.until(lambda: page.hello)
            session = page.hello["sessions"][0]["id"]
            await page.do("resume", session=session)
            for child in psutil.Process(served.process.pid).children(recursive=True):
                child.kill()
            await page.until(lambda: page.latest["health"]["status"] == "lost")
            await page.until(lambda: page.states[session]["health"]["status"] == "lost")
        code, said = await served.interrupt()
        assert code == 1
        assert "the page stays until Ctrl-C" in said


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C cannot be sent to one process there")
@pytest.mark.parametrize("speed", [(), ("--speed", "100000")])
async def test_a_recording_is_a_page_that_nobody_can_act_in(tmp_path: Path, speed: tuple[str, ...]) -> None:
    async with serving("replay", "--ui", *speed, REAL, cwd=tmp_path) as served:
        await served.browser.open()
        async with served.browser.page() as page:
            await page.until(lambda: page.hello)
            assert page.hello["mayControl"] is False
            session = page.hello["sessions"][0]["id"]
            await page.do("resume", session=session)
            await page.until(lambda: len(page.states[session]["transcript"]["entries"]) > 20)
            assert not (await page.ask("prompt", session=session, text="Hello"))["ok"]
        assert await served.interrupt() == (0, "")


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C cannot be sent to one process there")
async def test_an_agent_that_wants_a_login_first_asks_on_the_page(tmp_path: Path) -> None:
    async with serving("serve", *AGENT, "--require-auth", cwd=tmp_path) as served:
        await served.browser.open()
        async with served.browser.page() as page:
            (question,) = await page.questions()
            assert page.latest["sessions"]["items"] == []
            await page.do("answer", question=question["number"], login=question["ways"][0]["id"])
            (session,) = await page.until(lambda: page.latest["sessions"]["items"])
            await page.do("resume", session=session["id"])
        assert await served.interrupt() == (0, "")


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C cannot be sent to one process there")
async def test_who_does_not_log_in_is_told_why_there_is_no_session(tmp_path: Path) -> None:
    async with serving("serve", *AGENT, "--require-auth", cwd=tmp_path) as served:
        await served.browser.open()
        async with served.browser.page() as page:
            (question,) = await page.questions()
            await page.do("answer", question=question["number"], action="cancel")
            await page.until(lambda: page.latest["questions"]["items"] == [])
            await page.send("new_session")
            await page.questions()
        code, said = await served.interrupt()
        assert code == 0
        assert "no session was opened" in said


def test_two_dashes_may_stand_before_the_agent(command: Command) -> None:
    assert "cannot start `no-such-agent`" in command("serve", "--", "no-such-agent").err


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["serve"], "no agent"),
        (["serve", "--cwd", "nowhere", "some-agent"], "not a directory"),
        (["serve", "wss://agents.example/acp"], "needs --cwd"),
        (["serve", "--permissions", "perhaps", "some-agent"], "--permissions takes"),
        (["serve", "--host", "0.0.0.0", *AGENT], "other machines"),
        (["serve", "--token-env", "NO_SUCH_VARIABLE", *AGENT], "NO_SUCH_VARIABLE"),
        (["replay", "--ui", "--json", REAL], "not allowed with"),
        (["replay", "--json", "--speed", "2", REAL], "--speed is for showing"),
    ],
)
def test_what_is_wrong_is_said(command: Command, arguments: list[str], said: str) -> None:
    ran = command(*arguments)
    assert ran.code == 2
    assert said in ran.err


def test_a_recording_without_a_session(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "empty.jsonl"
    path.write_text('{"dir": "meta", "t": 0, "note": "nothing"}\n')
    ran = command("replay", "--ui", str(path))
    assert ran.code == 2
    assert "no session to show" in ran.err
