"""The widget in a real JupyterLab, with a real kernel, in a browser."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser, expect

from tests.ui.jupyter.lab import Lab, jupyter_lab, say

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(180)]

BEGIN = """\
import time
from pathlib import Path
from IPython.display import display
from acp_host.testing import ReferenceAgent
from acp_host.ui.jupyter import AgentWidget

widget = AgentWidget(ReferenceAgent.command(), files=True)
widget
"""
SLEEP = """\
turn = widget.prompt("/edit a.txt\\n/slow 3")
for _ in range(300):
    time.sleep(0.1)
    if turn.done:
        break
print(turn.result.outcome.kind)
"""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def lab(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Lab]:
    async with jupyter_lab(browser, tmp_path_factory.mktemp("lab")) as running:
        yield running


async def test_a_conversation(lab: Lab) -> None:
    async with lab.notebook(BEGIN, "widget") as notebook:
        await notebook.run(0)
        view = notebook.view()
        transcript = view.get_by_label("Conversation")
        await say(view, "/slow 3")
        await expect(view).to_contain_text("Turn 1: completed")

        await say(view, "/edit notes.txt")
        question = view.get_by_role("group", name="asks for permission")
        await question.get_by_role("button", name="(allow once)").click()
        await expect(view).to_contain_text("Turn 2: completed")
        assert (lab.folder / "notes.txt").exists()

        await view.get_by_placeholder("Tell the model something").fill("2 tests failed")
        await view.get_by_role("button", name="Remind").click()
        await expect(view.get_by_role("tabpanel")).to_contain_text("2 tests failed")
        await say(view, "/notice warning The disk is nearly full")
        await expect(view.locator(".toast")).to_contain_text("The disk is nearly full")

        await notebook.run(1)  # another view of the same conversation, which looks on
        other = notebook.view(1)
        await expect(other).to_contain_text("You are looking on, 1 more viewer")
        await expect(other.locator("article").first).to_contain_text("/slow 3")
        await other.get_by_role("button", name="Take control").click()
        await say(other, "/say Hello")
        await expect(transcript.locator("article").last).to_contain_text("Hello")

        # What is typed and pressed in the view is not the notebook's, whose `dd` would delete the cell.
        await other.get_by_role("button", name="Give away").focus()
        for key in ("d", "d", "Escape", "d", "d"):
            await notebook.page.keyboard.press(key)
        await expect(notebook.page.locator(".jp-CodeCell")).to_have_count(2)

        await notebook.do("await panel.context.save()")
        await notebook.load()  # its views are missed, and the new one acts
        await expect(notebook.page.get_by_text("You control the agent, 1 more viewer")).to_have_count(1)


async def test_cells_that_run_or_wait_hold_up_neither_agent_nor_answers(lab: Lab) -> None:
    awaiting = "print((await widget.prompt('/edit b.txt')).outcome.kind)"
    waiting = "display(widget)\nprint(widget.prompt('/edit c.txt').wait().outcome.kind)"
    async with lab.notebook(BEGIN, SLEEP, awaiting, waiting) as notebook:
        await notebook.run(0)
        view = notebook.view()
        await expect(view).to_contain_text("You control the agent")
        for cell in (1, 2, 3):
            await notebook.run(cell, wait=False)
            question = view.get_by_role("group", name="asks for permission")
            await question.get_by_role("button", name="(allow once)").click()
            await expect(question).to_have_count(0)
        await notebook.cell("pass")  # runs after the others
        assert [await notebook.printed(cell) for cell in (1, 2, 3)] == ["completed\n"] * 3


async def test_a_kernel_that_is_restarted_ends_the_agent_and_the_view_says_so(lab: Lab) -> None:
    show_agent = "import psutil\nwidget.session\nprint(*[child.pid for child in psutil.Process().children()])"
    async with lab.notebook(BEGIN, show_agent) as notebook:
        await notebook.run(0)
        await expect(notebook.view()).to_contain_text("You control the agent")
        await notebook.run(1)
        [agent] = map(int, (await notebook.printed(1)).split())
        await notebook.do("await panel.sessionContext.session.kernel.restart()")
        gone = f"import psutil\nprint(psutil.pid_exists({agent}) and psutil.Process({agent}).status())"
        assert await notebook.cell(gone) in ("False\n", "zombie\n")
        words = notebook.page.get_by_text("has ended with the kernel")
        await expect(words).to_be_visible(timeout=30_000)
