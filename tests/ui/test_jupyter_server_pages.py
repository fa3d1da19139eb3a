"""The pages of a Jupyter Server's agents in a browser: behind a proxy, in a tab of JupyterLab, and from Notebook 7."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, FrameLocator, Page, expect

from tests.ui.jupyter.lab import Lab
from tests.ui.jupyter_servers import Jupyter, jupyter
from tests.ui.prefix_proxy import below
from tests.ui.watched import Watched

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(180)]

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


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Jupyter]:
    traits = {"ServerApp__jpserver_extensions": LAB, "LabApp__expose_app_in_browser": True}
    async with jupyter(tmp_path_factory.mktemp("jupyter"), **traits) as running:
        yield running


async def test_in_a_tab_of_jupyterlab_and_from_notebook_7(browser: Browser, server: Jupyter) -> None:
    async with visiting(browser, f"{server.url}lab?token={server.token}") as lab:
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


async def test_jupyterlab_asks_before_it_saves_over_what_an_agent_has_written(
    browser: Browser, server: Jupyter
) -> None:
    told = await server.start()
    [session] = told["sessions"]
    lab = Lab(url=server.url, token=server.token, folder=server.root, browser=browser)
    async with lab.notebook("1", "x = 1") as notebook, server.page(told["path"]) as page:
        await notebook.do("await panel.context.save()")
        written = json.loads(notebook.path.read_text())
        written["cells"][1]["source"] = "x = 2  # by the agent"
        text = f"/write {notebook.path.name}\n{json.dumps(written)}"
        await page.do("prompt", session=session["id"], text=text)
        [question] = await page.questions()
        allow = next(option["id"] for option in question["options"] if option["kind"] == "allow_once")
        await page.do("answer", question=question["number"], option=allow)
        await page.until(lambda: page.latest["sessions"]["items"][0]["status"] == "idle")
        await notebook.do("panel.content.widgets[1].model.sharedModel.setSource('x = 3')")
        await notebook.do("void panel.context.save().catch(() => null)")
        dialog = notebook.page.locator(".jp-Dialog")
        await expect(dialog).to_contain_text("has changed on disk")
        await dialog.get_by_role("button", name="Revert").click()
        await expect(notebook.page.locator(".jp-Cell").nth(1)).to_contain_text("# by the agent")
