"""A real JupyterLab, and notebooks that are open in it in a browser: :func:`jupyter_lab`, :class:`Notebook`."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import nbformat
from attrs import frozen
from playwright.async_api import Browser, ConsoleMessage, Locator, Page

__all__ = ["Lab", "Notebook", "jupyter_lab", "say"]

_PATIENCE = 60.0
"""Seconds that a server, a kernel or a cell may take."""
_GOODBYE = 15.0
"""Seconds that a server may take to end; its kernels notice its end."""
_QUIET = {"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": True}}
"""No news from elsewhere."""


@frozen(kw_only=True)
class Lab:
    """A server.

    Attributes:
        url: its address.
        token: lets one in.
        folder: where its notebooks are.
        browser: shows them.
    """

    url: str
    token: str
    folder: Path
    browser: Browser

    @asynccontextmanager
    async def notebook(self, *cells: str, kind: type[Notebook] | None = None, **look: Any) -> AsyncIterator[Notebook]:
        """Open a new notebook with these cells."""
        path = self.folder / f"{secrets.token_hex(4)}.ipynb"
        kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
        written = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells], metadata=kernel)
        nbformat.write(written, path)
        context = await self.browser.new_context(viewport={"width": 1200, "height": 1000}, **look)
        try:
            notebook = (kind or Notebook)(self, path, await context.new_page())
            await notebook.load()
            yield notebook
            faults = [fault for fault in notebook.faults if fault not in notebook.complaints]
            assert faults == [], faults
            await notebook.do("await panel.sessionContext.shutdown()")
        finally:
            await context.close()


class Notebook:
    """A notebook in the browser.

    Attributes:
        path: its file.
        page: the browser's page.
        faults: errors of scripts.
        page_path: where the application shows notebooks.
        complaints: errors that the application has without us.
    """

    page_path = "doc/tree"
    complaints: tuple[str, ...] = ()

    def __init__(self, lab: Lab, path: Path, page: Page) -> None:
        self._lab = lab
        self.path = path
        self.page = page
        self.faults: list[str] = []
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("console", self._said)

    def _said(self, message: ConsoleMessage) -> None:
        if message.type == "error" and "acp" in message.text:
            self.faults.append(message.text)

    async def load(self) -> None:
        """Load the page, for the first time or again; returns when the kernel is ready."""
        await self.page.goto(f"{self._lab.url}{self.page_path}/{self.path.name}?token={self._lab.token}")
        await self.page.wait_for_function("window.jupyterapp !== undefined", timeout=_PATIENCE * 1000)
        await self.do("await panel.sessionContext.session.kernel.info")

    async def do(self, script: str) -> Any:
        """Run a script in the page, for which ``app`` is JupyterLab, and ``panel`` the notebook."""
        begin = """
            const app = window.jupyterapp;
            await app.restored;
            while (!app.shell.currentWidget?.context) await new Promise((done) => setTimeout(done, 50));
            const panel = app.shell.currentWidget;
            await panel.context.ready;
            await panel.sessionContext.ready;
        """
        async with asyncio.timeout(_PATIENCE):
            return await self.page.evaluate(f"async () => {{ {begin} {script} }}")

    async def run(self, cell: int, *, wait: bool = True) -> None:
        """Run a cell; without ``wait``, return when the kernel has got it."""
        await self.do(f"""
            panel.content.activeCellIndex = {cell};
            panel.content.deselectAll();
            const run = app.commands.execute("notebook:run-cell");
            if ({json.dumps(wait)}) await run;
        """)

    async def cell(self, text: str) -> str:
        """Run a new cell at the end; return what it prints."""
        place = await self.do(f"""
            panel.content.activeCellIndex = panel.content.widgets.length - 1;
            await app.commands.execute("notebook:insert-cell-below");
            panel.content.activeCell.model.sharedModel.setSource({json.dumps(text)});
            return panel.content.activeCellIndex;
        """)
        await self.run(place)
        return await self.printed(place)

    async def printed(self, cell: int) -> str:
        """What a cell has printed, or raised."""
        outputs = await self.do(f"return panel.content.widgets[{cell}].model.outputs.toJSON()")
        return "".join(output.get("text", "") + "\n".join(output.get("traceback", ())) for output in outputs)

    async def use_theme(self, name: str) -> None:
        """Switch to another theme, e.g. ``JupyterLab Dark``."""
        await self.do(f"await app.commands.execute('apputils:change-theme', {{ theme: {json.dumps(name)} }})")
        await self.page.locator(f"body[data-jp-theme-name={json.dumps(name)}]").wait_for(state="attached")

    def view(self, number: int = 0) -> Locator:
        """A view of a widget, counted from the top of the page."""
        return self.page.locator(".acp-view").nth(number)


@asynccontextmanager
async def jupyter_lab(browser: Browser, folder: Path) -> AsyncIterator[Lab]:
    """Start a server on this machine, at a port that is free, with all of its files in a folder."""
    notebooks, config, runtime = (folder / name for name in ("notebooks", "config", "runtime"))
    (config / "labconfig").mkdir(parents=True)
    notebooks.mkdir()
    (config / "labconfig" / "page_config.json").write_text(json.dumps(_QUIET))
    places = {
        "JUPYTER_CONFIG_DIR": config,
        "JUPYTER_RUNTIME_DIR": runtime,
        "JUPYTER_DATA_DIR": folder / "data",
        "JUPYTERLAB_SETTINGS_DIR": folder / "settings",
        "JUPYTERLAB_WORKSPACES_DIR": folder / "workspaces",
        "IPYTHONDIR": folder / "ipython",
    }
    token = secrets.token_hex(16)
    options = [
        "--no-browser",
        "--ip=127.0.0.1",
        "--port=0",
        "--allow-root",
        f"--IdentityProvider.token={token}",
        f"--ServerApp.root_dir={notebooks}",
        "--LabApp.expose_app_in_browser=True",
    ]
    log = folder / "jupyterlab.log"
    with log.open("wb") as output:
        server = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "jupyterlab",
            *options,
            env={**os.environ, **{name: str(place) for name, place in places.items()}},
            cwd=notebooks,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )
        try:
            url = await _address(server, runtime, log)
            yield Lab(url=url, token=token, folder=notebooks, browser=browser)
        finally:
            await _ended(server)


async def say(view: Locator, text: str) -> None:
    """Send a prompt in a view, as a user does."""
    prompt = view.get_by_label("Message to the agent")
    await prompt.fill(text)
    await prompt.press("Escape")
    await prompt.press("Enter")


async def _ended(server: asyncio.subprocess.Process) -> None:
    """End a server, and with it its kernels."""
    if server.returncode is None:
        server.terminate()
    try:
        async with asyncio.timeout(_GOODBYE):
            await server.wait()
    except TimeoutError:
        server.kill()
        await server.wait()


async def _address(server: asyncio.subprocess.Process, runtime: Path, log: Path) -> str:
    """Wait until the server has written where it is."""
    async with asyncio.timeout(_PATIENCE):
        while (url := _written_address(runtime)) is None:
            assert server.returncode is None, _text(log)
            await asyncio.sleep(0.05)
    return url


def _written_address(runtime: Path) -> str | None:
    for file in runtime.glob("jpserver-*.json"):
        if text := _text(file):
            return str(json.loads(text)["url"])
    return None


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8")
