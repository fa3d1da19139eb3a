"""``python -m tests.ui.screenshots FOLDER``: pictures of the page in light and dark, from states of the gallery."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from playwright.async_api import Browser, async_playwright

import acp_host
from acp_host import LoginQueue
from acp_host.testing import ReferenceAgent, gallery
from acp_host.ui.feed import Feed
from tests.browsers import CHROMIUM, arguments
from tests.ui.exhibit import exhibition
from tests.ui.watched import seen

PICTURES = {
    "conversation": ("turns/everything_at_once", "light", "Plan"),
    "conversation-dark": ("turns/everything_at_once", "dark", "Reminders"),
    "reminders": ("reminders/every_status", "light", "Reminders"),
    "notices": ("notices/stacked", "light", "Notices"),
}
"""The name of each picture: the state, the colours, the panel beside it."""
_SIZE = {"width": 900, "height": 580}


async def take(folder: Path, pictures: dict[str, tuple[str, str, str]] = PICTURES) -> None:
    """Write the pictures as PNG into a folder that is there."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=arguments())
        for name, (state, colours, panel) in pictures.items():
            async with exhibition(browser, color_scheme=colours, reduced_motion="reduce") as shown:
                page = shown.watched.page
                await page.set_viewport_size(_SIZE)
                await shown.show(gallery.get(state), fold=True)
                await page.get_by_role("tab", name=panel).click()
                await page.screenshot(path=folder / f"{name}.png")
        await _take_login(browser, folder / "login.png")
        await browser.close()


async def _take_login(browser: Browser, file: Path) -> None:
    queue = LoginQueue()
    agent = ReferenceAgent.command("--login", "agent", "--login", "env_var")
    async with (
        acp_host.connect(agent, authenticate=queue) as host,
        Feed(host, logins=queue) as feed,
        seen(browser, feed, color_scheme="dark", reduced_motion="reduce") as page,
    ):
        await page.page.set_viewport_size(_SIZE)
        await page.page.get_by_role("button", name="New session").click()
        await page.question("wants you to log in first").wait_for()
        await page.page.screenshot(path=file)


if __name__ == "__main__":
    asyncio.run(take(Path(sys.argv[1])))
