"""The web server of the page: who is let in, what is served, and what viewers get."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

import acp_host
from acp_host import PermissionQueue
from acp_host.errors import InvalidInput
from acp_host.testing import ReferenceAgent
from acp_host.ui.feed import Feed
from acp_host.ui.page_access import PageAccess
from acp_host.ui.serve import ServedFeed, serve_feed
from tests.ui.browsers import Browser, get
from tests.ui.pages import Page


@asynccontextmanager
async def served(tmp_path: Path, **options: Any) -> AsyncIterator[tuple[acp_host.HostConnection, ServedFeed]]:
    (tmp_path / "index.html").write_text("<!doctype html><p>the page")
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "main.js").write_text("let a = 1")
    (tmp_path / "notes.secret").write_text("not for the web")
    queue = PermissionQueue()
    async with (
        acp_host.connect(ReferenceAgent().transport(), permissions=queue, sidebar=True) as host,
        Feed(host, permissions=queue) as feed,
        serve_feed(feed, static=tmp_path, **options) as where,
    ):
        yield host, where


async def test_the_token_is_exchanged_for_a_cookie_and_dropped_from_the_address(tmp_path: Path) -> None:
    async with served(tmp_path) as (_, where):
        browser = Browser(where)
        first = await browser.get(where.url.partition(browser.host)[2])
        assert (first.status, first.headers["location"]) == (303, "/")
        assert first.headers["set-cookie"].startswith(f"acp_host_{where.port}=")
        assert first.headers["set-cookie"].endswith("; HttpOnly; SameSite=Strict; Path=/")
        assert where.url.partition("token=")[2] not in first.headers["set-cookie"]
        page = await browser.open()
        assert (page.status, page.body) == (200, "<!doctype html><p>the page")
        assert (await browser.get("/app/main.js")).headers["content-type"] == "text/javascript; charset=utf-8"
        assert "token=" not in repr(where)


async def test_every_answer_keeps_the_page_to_itself(tmp_path: Path) -> None:
    async with served(tmp_path) as (_, where):
        browser = Browser(where)
        answers = [await browser.get("/"), await browser.get("/?token=wrong"), await browser.get("/", Host="evil.test")]
        await browser.open()
        answers += [await browser.get(target) for target in ("/", "/app/main.js", "/none", "/feed", where.url)]
        for answer in answers:
            policy = answer.headers["content-security-policy"]
            assert "default-src 'none'; script-src 'self'; style-src 'self'" in policy
            assert "unsafe" not in policy
            assert "http" not in policy
            assert "evil" not in policy
            assert answer.headers["referrer-policy"] == "no-referrer"
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.headers["cache-control"] == "no-store"
            assert "server" not in answer.headers


async def test_nobody_is_let_in_without_the_token(tmp_path: Path) -> None:
    async with served(tmp_path) as (_, where):
        browser = Browser(where)
        for target in ("/", "/app/main.js", "/feed", "/?token=", "/?token=wrong", f"{where.url}&token=x"):
            assert (await browser.get(target)).status == 401, target
        browser.headers["Cookie"] = f"acp_host_{where.port}={where.url.partition('token=')[2]}"
        assert (await browser.get("/")).status == 401
        with pytest.raises(InvalidStatus, match="401"):
            async with browser.page():
                pass


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "localhost;x", "", "127.0.0.1:1;x", "[::1", "a b"]
)
async def test_other_names_of_this_machine_are_refused(tmp_path: Path, host: str) -> None:
    async with served(tmp_path) as (_, where):
        browser = Browser(where)
        await browser.open()
        assert (await browser.get("/", Host=host)).status == 421
        assert (await get(where.port, "/", {"Cookie": browser.headers["Cookie"]})).status in (400, 421)


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:1", "http://localhost"])
async def test_pages_of_other_sites_and_servers_do_not_reach_the_feed(tmp_path: Path, origin: str) -> None:
    async with served(tmp_path) as (_, where):
        browser = Browser(where)
        await browser.open()
        with pytest.raises(InvalidStatus, match="403"):
            async with browser.page(origin=origin):
                pass


async def test_listed_pages_and_names_do_reach_it(tmp_path: Path) -> None:
    access = PageAccess(origins=["https://Notebooks.example/"], hosts=["box.example"])
    async with served(tmp_path, access=access) as (_, where):
        browser = Browser(where)
        await browser.open()
        assert (await browser.get("/", Host="box.example")).status == 200
        async with browser.page(origin="https://notebooks.example") as page:
            await page.until(lambda: page.hello)


async def test_a_browser_that_comes_by_a_link_elsewhere_loads_once_more(tmp_path: Path) -> None:
    async with served(tmp_path) as (_, where):
        browser = Browser(where)
        again = await browser.get("/", **{"Sec-Fetch-Site": "cross-site"})
        assert (again.status, "refresh" in again.body) == (200, True)
        assert (await browser.get("/", **{"Sec-Fetch-Site": "same-origin"})).status == 401
        assert (await browser.get("/app/main.js", **{"Sec-Fetch-Site": "cross-site"})).status == 401


@pytest.mark.parametrize(
    "target",
    ["/../notes.secret", "/%2e%2e/x", "/notes.secret", "//etc/passwd", "/app", "/app/../../x", "/index.html/x"],
)
async def test_only_files_of_the_page_are_served(tmp_path: Path, target: str) -> None:
    async with served(tmp_path) as (_, where):
        browser = Browser(where)
        await browser.open()
        assert (await browser.get(target)).status == 404


async def test_a_page_that_is_not_built_says_so(tmp_path: Path) -> None:
    empty = tmp_path / "none"
    async with (
        acp_host.connect(ReferenceAgent().transport()) as host,
        Feed(host) as feed,
        serve_feed(feed, static=empty) as where,
    ):
        answer = await Browser(where).open()
        assert (answer.status, "not been built" in answer.body) == (200, True)


async def test_a_conversation_over_the_feed(tmp_path: Path) -> None:
    async with served(tmp_path) as (host, where):
        browser = Browser(where)
        await browser.open()
        async with browser.page() as page:
            session = (await page.do("new_session"))["session"]
            await page.do("resume", session=session)
            await page.do("prompt", session=session, text="/say Hello")
            await page.until(lambda: page.texts(session) == ["/say Hello", "Hello"])
        await host.sessions[0].prompt("/say meanwhile")
        async with browser.page(before=page) as again:
            await again.do("resume", session=session, version=page.versions[session], resume=page.hello["resume"])
            assert again.texts(session)[-1] == "meanwhile"
            assert [message["type"] for message in again.told if message.get("session")] == ["delta"]


async def test_who_has_the_other_url_may_look_only(tmp_path: Path) -> None:
    async with served(tmp_path) as (host, where):
        session = await host.new_session()
        watcher, actor = Browser(where), Browser(where)
        await watcher.open(where.watch_url)
        await actor.open()
        async with watcher.page() as looks, actor.page() as acts:
            await looks.do("resume", session=session.id)
            assert not (await looks.ask("control", take=True))["ok"]
            assert not (await looks.ask("prompt", session=session.id, text="/say x"))["ok"]
            await acts.do("prompt", session=session.id, text="/say Hello")
            await looks.until(lambda: looks.texts(session.id)[-1:] == ["Hello"])


async def test_a_program_may_use_the_token_as_a_header(tmp_path: Path) -> None:
    async with served(tmp_path) as (_, where):
        token = where.url.partition("token=")[2]
        async with Browser(where).page(headers={"Authorization": f"Bearer {token}"}, origin=None) as page:
            await page.until(lambda: page.hello.get("controller"))


async def test_a_command_that_is_too_long_ends_only_its_own_connection(tmp_path: Path) -> None:
    async with served(tmp_path) as (_, where):
        browser = Browser(where)
        await browser.open()
        async with browser.page() as one, browser.page() as other:
            await one.until(lambda: one.hello)
            await other.until(lambda: other.latest.get("control", {}).get("viewers") == [1, 2])
            with suppress(ConnectionClosed):  # which may come before all of it is sent
                await one.give(["x" * 2**20] * 9)  # in fragments
            await other.until(lambda: other.latest["control"]["viewers"] == [2])
            await other.do("control", take=True)


async def test_viewers_are_told_goodbye_and_nothing_is_left_behind(tmp_path: Path) -> None:
    browser: Browser
    async with served(tmp_path) as (_, where):
        browser = Browser(where)
        await browser.open()
        page = browser.page()
        told: Page = await page.__aenter__()
        await told.until(lambda: told.hello)
    await page.__aexit__(None, None, None)
    with pytest.raises(OSError):  # noqa: PT011 - whatever the system says
        await browser.get("/")


async def test_there_is_a_limit_to_viewers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("acp_host.ui.serve._MOST_VIEWERS", 1)
    async with served(tmp_path) as (_, where):
        browser = Browser(where)
        await browser.open()
        async with browser.page():
            with pytest.raises(InvalidStatus, match="503"):
                async with browser.page():
                    pass


async def test_a_viewer_that_reads_nothing_holds_up_nobody(tmp_path: Path) -> None:
    async with served(tmp_path) as (host, where):
        browser = Browser(where)
        await browser.open()
        session = await host.new_session()
        async with browser.page() as quick:
            await quick.do("resume", session=session.id)
            reader, writer = await asyncio.open_connection("127.0.0.1", where.port)
            lines = [
                "GET /feed HTTP/1.1",
                f"Host: {browser.host}",
                f"Cookie: {browser.headers['Cookie']}",
                "Upgrade: websocket",
                "Connection: Upgrade",
                "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
                "Sec-WebSocket-Version: 13",
            ]
            writer.write(("\r\n".join(lines) + "\r\n\r\n").encode())
            await reader.readuntil(b"\r\n\r\n")
            writer.transport.pause_reading()
            for number in range(10):
                await session.prompt(f"/flood 2000\n/say {number}")
                await quick.until(lambda number=number: quick.texts(session.id)[-1:] == [f"{number}"])
            writer.close()


@pytest.mark.parametrize("where", ["0.0.0.0", "", "::", "192.0.2.1"])
async def test_other_machines_are_let_in_only_explicitly(where: str) -> None:
    async with acp_host.connect(ReferenceAgent().transport()) as host, Feed(host) as feed:
        with pytest.raises(InvalidInput, match="other machines"):
            async with serve_feed(feed, host=where):
                pass


@pytest.mark.parametrize("token", ["short", "with a\nnewline and more", "ümlaute sind nicht erlaubt"])
def test_tokens_that_can_be_guessed_or_sent_by_nobody_are_refused(token: str) -> None:
    with pytest.raises(InvalidInput):
        PageAccess(token=token)
    assert repr(PageAccess()).count("=") == 2
