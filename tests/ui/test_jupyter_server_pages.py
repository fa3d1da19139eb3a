"""The pages of a Jupyter Server's agents in a browser: behind a proxy, in a tab of JupyterLab, and from Notebook 7."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from playwright.async_api import Browser, FrameLocator, Page, expect

from tests.ui.jupyter_servers import jupyter
from tests.ui.prefix_proxy import below
from tests.ui.watched import Watched

pytestmark = pytest.mark.asyncio(loop_scope="session")

LAB = {"acp_host.ui.jupyter_server": True, "jupyter_lsp": False, "jupyter_server_terminals": False}


@asynccontextmanager
async def visiting(browser: Browser, url: str) -> AsyncIterator[Watched]:
    context = await browser.new_context()
    try:
        watched = Watched(await context.new_page())
        await watched.page.goto(url)
        yield watched
    finally:
        await context.close()


async def say_hello(place: Page | FrameLocator) -> None:
    prompt = place.get_by_label("Message to the agent")
    await prompt.fill("/say Hello")
    await prompt.press("Escape")
    await prompt.press("Enter")
    await expect(place.get_by_role("article").last).to_contain_text("Hello")


async def test_behind_a_proxy_with_a_prefix_that_the_server_does_not_know(browser: Browser, tmp_path: Path) -> None:
    async with (
        jupyter(tmp_path, ServerApp__base_url="/") as server,
        below("/node/a%20b", server.url) as url,
        visiting(browser, f"{url}acp/?token={server.token}") as one,
    ):
        await one.page.get_by_role("button", name="Start").click()
        await expect(one.transcript).to_be_visible()
        assert one.page.url.startswith(f"{url}acp/agents/")
        await say_hello(one.page)
        await one.page.reload()
        await expect(one.page.get_by_role("article").last).to_contain_text("Hello")
        await one.page.goto(f"{url}acp")
        await one.page.get_by_role("button", name="Stop reference").click()
        await expect(one.page.get_by_text("None.")).to_be_visible()
        assert one.faults == []


async def test_in_a_tab_of_jupyterlab_and_from_notebook_7(browser: Browser, tmp_path: Path) -> None:
    async with (
        jupyter(tmp_path, ServerApp__jpserver_extensions=LAB) as server,
        visiting(browser, f"{server.url}lab?token={server.token}") as lab,
    ):
        await lab.page.locator(".jp-LauncherCard[title='The agents of this server']").click()
        frame = lab.page.frame_locator("iframe[src*=acp]")
        await frame.get_by_role("button", name="Start").click()
        await say_hello(frame)
        await lab.page.goto(f"{server.url}tree")
        await lab.page.get_by_role("menuitem", name="View").click()
        async with lab.page.expect_popup() as opened:
            await lab.page.get_by_role("menuitem", name="Agents").click()
        agents = await opened.value
        await agents.get_by_role("link", name="reference").click()
        await expect(agents.get_by_role("article").last).to_contain_text("Hello")
