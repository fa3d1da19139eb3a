"""``python -m tests.ui.jupyter.screenshots FOLDER``: pictures of the widget in JupyterLab, light and dark."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path

from playwright.async_api import async_playwright

from tests.browsers import CHROMIUM, arguments
from tests.ui.jupyter.lab import Lab, jupyter_lab
from tests.ui.jupyter.test_lab import say

_CELLS = (
    "from acp_host.testing import ReferenceAgent\n"
    "from acp_host.ui.jupyter import AgentWidget\n\n"
    "widget = AgentWidget(ReferenceAgent.command(), files=True, terminals=True)\n"
    "widget",
    "%load_ext acp_host.ui.jupyter\n%acp use widget",
    "%%acp\n/say **Done.** See `notes.txt`, and [the specification](https://agentclientprotocol.com).\n/usage",
    "%acp usage",
)
_SIZE = {"width": 1000, "height": 860}
_THEMES = {"widget": "JupyterLab Light", "widget-dark": "JupyterLab Dark"}


async def _prepare(lab: Lab, folder: Path) -> None:
    async with lab.notebook(*_CELLS, reduced_motion="reduce") as notebook:
        await notebook.run(0)
        view = notebook.view()
        await notebook.page.set_viewport_size(_SIZE)
        await view.get_by_text("You control the agent").wait_for()
        for cell in (1, 2, 3):
            await notebook.run(cell)
        await say(view, "/notice warning The disk is nearly full\n/edit notes.txt")
        await view.get_by_role("group", name="asks for permission").wait_for()
        for name, theme in _THEMES.items():
            await notebook.use_theme(theme)
            await notebook.page.mouse.move(0, 0)
            await view.scroll_into_view_if_needed()
            await notebook.page.screenshot(path=folder / f"{name}.png")


async def take(folder: Path) -> None:
    """Write the pictures as PNG into a folder that is there."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=arguments())
        with tempfile.TemporaryDirectory() as place:
            async with jupyter_lab(browser, Path(place)) as lab:
                await _prepare(lab, folder)
        await browser.close()


if __name__ == "__main__":
    asyncio.run(take(Path(sys.argv[1])))
