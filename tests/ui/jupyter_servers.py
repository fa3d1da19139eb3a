"""Real Jupyter servers for tests, as processes: :func:`jupyter`."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import httpx2
from attrs import frozen
from websockets.asyncio.client import connect

from acp_host.testing import ReferenceAgent
from tests.ui.pages import Page, page_over

__all__ = ["AGENTS", "Jupyter", "jupyter"]

AGENTS = {"reference": {"target": ReferenceAgent.command(), "files": True}, "missing": ["/no/such/agent"]}
_PATIENCE = 60.0
_LEFT_OUT = ("jupyter_lsp", "jupyter_server_terminals", "jupyterlab", "notebook", "notebook_shim")
"""Extensions that are installed here or there, and take their time."""


@frozen
class Jupyter:
    """A server that runs.

    Attributes:
        url: its address, with the base URL.
        token: lets anybody in.
        process: the server's.
        root: its directory.
        client: sends requests, with the token.
    """

    url: str
    token: str
    process: asyncio.subprocess.Process
    root: Path
    client: httpx2.AsyncClient

    async def start(self, agent: str = "reference", **members: Any) -> dict[str, Any]:
        """Start an agent; return what is told of it."""
        answer = await self.client.post("acp/api/agents", json={"agent": agent, **members})
        assert answer.status_code == 201, answer.text
        return answer.json()

    @asynccontextmanager
    async def page(self, path: str, before: Page | None = None, **headers: str) -> AsyncIterator[Page]:
        """Open the feed of an agent as its page does."""
        url = self.url.replace("http", "ws", 1) + f"acp/{path}feed"
        headers = headers or {"Authorization": f"token {self.token}"}
        async with (
            connect(url, additional_headers=headers, proxy=None, compression=None, max_size=None) as socket,
            page_over(socket, before) as page,
        ):
            yield page


@asynccontextmanager
async def jupyter(folder: Path, code: str = "", **config: Any) -> AsyncIterator[Jupyter]:
    """Run a server.

    Args:
        folder: an empty one, for all that it writes.
        code: more lines of its configuration.
        **config: traits by ``App__name``, besides or in place of those here.
    """
    root = folder / "root"
    root.mkdir()
    traits = {
        "ServerApp__base_url": "/user/somebody/",
        "ServerApp__root_dir": str(root),
        "ServerApp__jpserver_extensions": dict.fromkeys(_LEFT_OUT, False) | {"acp_host.ui.jupyter_server": True},
        "ServerApp__port": 0,
        "ServerApp__ip": "127.0.0.1",
        "ServerApp__open_browser": False,
        "ServerApp__allow_root": True,
        "AcpHostApp__agents": AGENTS,
        **config,
    }
    lines = [f"c.{name.replace('__', '.')} = {value!r}" for name, value in traits.items()]
    (folder / "config.py").write_text("\n".join([*lines, code]))
    places = {name: str(folder / name.lower()) for name in ("JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR")}
    places["JUPYTER_DATA_DIR"] = str(folder / "data")
    places["IPYTHONDIR"] = str(folder / "ipython")
    with (folder / "log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "jupyter_server", "--config", str(folder / "config.py")),
            env={**os.environ, **places},
            cwd=folder,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
    try:
        info = await _info(Path(places["JUPYTER_RUNTIME_DIR"]), process, folder / "log")
        headers = {"Authorization": f"token {info['token']}"}
        url = info["url"].replace("localhost", "127.0.0.1")
        async with httpx2.AsyncClient(base_url=url, headers=headers, timeout=_PATIENCE, trust_env=False) as client:
            yield Jupyter(url, info["token"], process, root, client)
    finally:
        if process.returncode is None:
            process.terminate()
        await asyncio.wait_for(process.wait(), _PATIENCE)


async def _info(folder: Path, process: asyncio.subprocess.Process, log: Path) -> dict[str, Any]:
    """Wait until the server runs; return what it tells of itself."""
    async with asyncio.timeout(_PATIENCE):
        while (told := await asyncio.to_thread(_told, folder)) is None:
            assert process.returncode is None, await asyncio.to_thread(log.read_text)
            await asyncio.sleep(0.05)
    return told


def _told(folder: Path) -> dict[str, Any] | None:
    for path in folder.glob("jpserver-*.json"):
        with suppress(json.JSONDecodeError):  # half of it is there
            return json.loads(path.read_text())
    return None
