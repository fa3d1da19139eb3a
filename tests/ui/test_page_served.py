"""The page as ``acp-host serve`` gives it: over HTTP, behind a token, with its own policy."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, expect

from acp_host.ui.serve import serve_feed
from tests.ui.watched import Watched, fed

pytestmark = pytest.mark.asyncio(loop_scope="session")


@asynccontextmanager
async def visiting(browser: Browser, url: str) -> AsyncIterator[Watched]:
    context = await browser.new_context()
    try:
        page: Page = await context.new_page()
        watched = Watched(page)
        await page.goto(url)
        yield watched
        assert watched.faults == []
    finally:
        await context.close()


async def test_two_browsers_see_one_session_and_come_back_to_it(browser: Browser, tmp_path: Path) -> None:
    async with fed(cwd=tmp_path) as (_, session, feed), serve_feed(feed) as served:
        async with visiting(browser, served.url) as one, visiting(browser, served.url) as other:
            assert "token" not in one.page.url
            await one.say("/edit notes.md")
            await expect(other.transcript.locator("article").first).to_contain_text("/edit notes.md")
            await one.question("asks for permission").get_by_role("button", name="(reject once)").click()
            await expect(other.page.get_by_text("Turn 1:")).to_be_visible()
            await one.page.reload()  # the cookie lets it in
            await expect(one.transcript.locator("article").first).to_contain_text("/edit notes.md")
            await expect(other.page.get_by_text("Nobody controls the agent, 1 more viewer")).to_have_count(0)
        assert session.state.snapshot().turn.status == "idle"


async def test_a_link_on_a_page_elsewhere_leads_in(browser: Browser, tmp_path: Path) -> None:
    async with fed(cwd=tmp_path) as (_, _session, feed), serve_feed(feed) as served:
        context = await browser.new_context()
        try:
            page = await context.new_page()
            link = f'<a href="{served.url}">the conversation</a>'
            await context.route(
                "http://elsewhere.test/", lambda route: route.fulfill(body=link, content_type="text/html")
            )
            await page.goto("http://elsewhere.test/")
            await page.get_by_role("link").click()
            await expect(Watched(page).transcript).to_be_visible()
            assert "token" not in page.url
        finally:
            await context.close()
