"""The widgets in a real Notebook 7: one whose agent lives in the kernel, and one whose agent the server hosts."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.async_api import Browser, expect

from tests.ui.jupyter.lab import Lab, Notebook, say
from tests.ui.jupyter_servers import Jupyter, jupyter

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(180)]

CELLS = (
    "from acp_host.testing import ReferenceAgent\n"
    "from acp_host.ui.jupyter import AgentWidget, ServerAgentWidget\n"
    "widget = AgentWidget(ReferenceAgent.command(), files=True, permissions='allow_once')\n"
    "widget",
    "ServerAgentWidget('reference')",
)
EXTENSIONS = {"acp_host.ui.jupyter_server": True, "jupyter_lsp": False, "jupyter_server_terminals": False}


class Notebook7(Notebook):
    """A notebook in Notebook 7."""

    page_path = "notebooks"
    complaints = ("Cannot read properties of undefined (reading 'schema')",)


async def in_kernel(notebook: Notebook) -> None:
    await notebook.run(0)
    view = notebook.view(0)
    await say(view, "/say Hello")
    await expect(view.get_by_label("Conversation")).to_contain_text("Hello")
    await say(view, "/write x.ipynb\nno notebook")
    await expect(view.get_by_label("Conversation")).to_contain_text("is a notebook, and this is not JSON")


async def of_the_server(notebook: Notebook, server: Jupyter) -> None:
    await notebook.run(1)
    await expect(notebook.page.get_by_text("No agent reference runs in the server")).to_be_visible()
    await server.start(agent="reference")
    view = notebook.view(1)
    await say(view, "/say Hello from the server")
    await expect(view.get_by_label("Conversation")).to_contain_text("Hello from the server")
    await notebook.do("await panel.sessionContext.session.kernel.restart()")
    await say(view, "/say Still here")
    await expect(view.get_by_label("Conversation")).to_contain_text("Still here")


async def test_both_widgets(browser: Browser, tmp_path: Path) -> None:
    traits = {"JupyterNotebookApp__expose_app_in_browser": True, "ServerApp__jpserver_extensions": EXTENSIONS}
    async with jupyter(tmp_path, **traits) as server:
        place = Lab(url=server.url, token=server.token, folder=server.root, browser=browser)
        async with place.notebook(*CELLS, kind=Notebook7) as notebook:
            await in_kernel(notebook)
            await of_the_server(notebook, server)
