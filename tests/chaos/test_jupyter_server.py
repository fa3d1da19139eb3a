"""What agents, users and other pages can do to a Jupyter Server that hosts agents, and to its notebooks."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import nbformat
import psutil
import pytest
import pytest_asyncio
from websockets.exceptions import InvalidStatus

from acp_host.blocking._thread import LoopThread
from acp_host.errors import InvalidParams
from acp_host.testing import ReferenceAgent
from acp_host.ui.jupyter_server.agent_settings import AgentSettings
from acp_host.ui.jupyter_server.other_loop import on_loop
from tests.chaos.bad_agents import until
from tests.services.files.test_notebooks import code, notebook, prose
from tests.ui.contents import NAME, Contents
from tests.ui.jupyter_servers import Jupyter, jupyter
from tests.ui.pages import Page
from tests.ui.test_hosted_agents import hosting, started

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(120)]

SCRIPT = {"output_type": "display_data", "data": {"text/html": "<script>x()</script>"}, "metadata": {}}
ONLY_LOOKS = """
from jupyter_server.auth import Authorizer
class OnlyLooks(Authorizer):
    def is_authorized(self, handler, user, action, resource):
        return action == "read" or handler.request.headers.get("X-Looks") is None
c.ServerApp.authorizer_class = OnlyLooks
"""


@pytest.fixture
def thread() -> Any:
    thread = LoopThread("agents of a test")
    yield thread
    thread.stop()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Jupyter]:
    async with jupyter(tmp_path_factory.mktemp("jupyter"), ONLY_LOOKS) as running:
        yield running


async def test_r375_what_is_no_notebook_leaves_the_servers_as_it_was(tmp_path: Path, thread: LoopThread) -> None:
    there = Contents(tmp_path, thread)
    await there.save(notebook(code("a", "x", count=1), prose("b")))
    before, content = (tmp_path / NAME).read_bytes(), await there.read()
    twice = json.dumps({**content, "cells": content["cells"] * 2})
    for text in ("", "{}", "# %%", json.dumps(content)[:-9], twice, json.dumps({**content, "nbformat": 3})):
        with pytest.raises(InvalidParams, match="is a notebook, and"):
            await there.write(text)
        assert (tmp_path / NAME).read_bytes() == before


async def test_r376_users_and_agents_save_one_after_the_other(tmp_path: Path, thread: LoopThread) -> None:
    there = Contents(tmp_path, thread)
    await there.save(notebook(prose("a", "0")))
    for turn in range(10):
        content = await there.read()
        content["cells"].append(prose(f"agent-{turn}"))
        saves = there.write(content), there.save(notebook(prose("a", f"user {turn}")))
        outcomes = await asyncio.gather(*saves, return_exceptions=True)
        assert outcomes[1] is None
        assert outcomes[0] is None or isinstance(outcomes[0], InvalidParams)
        assert there.cells[0]["source"] == f"user {turn}"


async def test_r376_an_agent_reads_while_a_user_saves(
    tmp_path: Path, thread: LoopThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = Contents(tmp_path, thread)
    await there.save(notebook(prose("a", "old")))
    half, whole = threading.Event(), threading.Event()
    write = nbformat.write

    def slow_write(*arguments: Any, **options: Any) -> None:
        half.set()
        assert whole.wait(30)
        write(*arguments, **options)

    monkeypatch.setattr(nbformat, "write", slow_write)
    saving = asyncio.create_task(there.save(notebook(prose("a", "new"))))
    await asyncio.to_thread(half.wait, 30)
    reading = asyncio.create_task(there.read())
    await asyncio.wait([reading], timeout=0.2)
    whole.set()
    await saving
    assert (await reading)["cells"][0]["source"] == ["new"]
    assert there.cells[0]["source"] == "new"


async def test_r377_outputs_and_trust_are_never_an_agents(tmp_path: Path, thread: LoopThread) -> None:
    there = Contents(tmp_path, thread)
    await there.save(notebook(code("a", "x") | {"outputs": [SCRIPT]}))  # somebody else's notebook: not trusted
    content = await there.read()
    content["cells"][0]["metadata"]["trusted"] = True
    content["cells"].append(code("b", "y") | {"outputs": [SCRIPT], "metadata": {"trusted": True}})
    await there.write(content)
    first, second = (await there.get())["cells"]
    assert first["metadata"]["trusted"] is False
    assert second["outputs"] == []


async def test_r378_an_agent_that_never_answers_is_told_and_can_be_stopped(tmp_path: Path) -> None:
    silent = AgentSettings.of("silent", [sys.executable, "-c", "import time; time.sleep(600)"])
    async with hosting(tmp_path, {"silent": silent}) as agents:
        agent = await agents.start("silent")
        await agents.started(agent, 0.1)
        assert (await agents.described())[0]["status"] == "starting"
        children = psutil.Process().children(recursive=True)
        assert await agents.stop(agent.id)
        assert agent.status == "stopped"
        assert not any("time.sleep(600)" in " ".join(_words(child)) for child in children)


def _words(process: psutil.Process) -> list[str]:
    with suppress(psutil.NoSuchProcess):
        return process.cmdline()
    return []


async def test_r379_strangers_and_pages_elsewhere_get_nothing(server: Jupyter) -> None:
    told = await server.start()
    for headers in ({"Authorization": "token wrong"}, {"Origin": "https://elsewhere.example"}):
        with pytest.raises(InvalidStatus) as refused:
            async with server.page(told["path"], **headers):
                pass
        assert refused.value.response.status_code == 403


async def test_r380_who_may_only_read_looks_on(server: Jupyter) -> None:
    told = await server.start()
    [session] = told["sessions"]
    token = {"Authorization": f"token {server.token}"}
    async with server.page(told["path"], **token, **{"X-Looks": "1"}) as looking:
        await looking.do("resume", session=session["id"])
        for command in ({"command": "control", "take": True}, {"command": "prompt", "text": "/say no"}):
            result = await looking.ask(**{"session": session["id"], **command} if len(command) > 1 else command)
            assert not result["ok"]
        async with server.page(told["path"]) as acting:
            await acting.do("prompt", session=session["id"], text="/say yes")
        await looking.until(lambda: "yes" in looking.texts(session["id"]))
    looks = {"X-Looks": "1"}
    for path in ("acp/api/agents", "acp/start"):
        assert (await server.client.post(path, json={"agent": "reference"}, headers=looks)).status_code == 403
    assert (await server.client.delete(f"acp/api/agents/{told['id']}", headers=looks)).status_code == 403


async def test_r381_an_agent_is_served_while_the_servers_loop_stands_still(tmp_path: Path) -> None:
    async with hosting(tmp_path) as agents:
        agent = await started(agents)
        ended, page = threading.Event(), Page()

        async def talk() -> None:
            page.viewer = await agent.join(page.take, may_control=True)
            page.give = page.viewer.receive
            [session] = agent.sessions()
            await page.do("resume", session=session["id"])
            await page.do("prompt", session=session["id"], text="/flood 2000\n/say done")
            await page.until(lambda: page.texts(session["id"])[-1:] and page.texts(session["id"])[-1].endswith("done"))
            ended.set()

        agents.call_soon(lambda: asyncio.ensure_future(talk()))
        assert ended.wait(60)  # on the loop of the server, which stands still meanwhile


@pytest.mark.parametrize("kill", [False, True])
async def test_r382_no_process_of_an_agent_survives_the_server(tmp_path: Path, kill: bool) -> None:
    agent = [sys.executable, "-c", _WITH_CHILD, *ReferenceAgent.command()]
    async with jupyter(tmp_path, AcpHostApp__agents={"reference": agent}) as server:
        await server.start()
        children = psutil.Process(server.process.pid).children(recursive=True)
        assert len(children) >= 3
        server.process.kill() if kill else server.process.terminate()
        await server.process.wait()
    if kill:
        records = tmp_path / "jupyter_runtime_dir" / "acp-agents"
        async with hosting(tmp_path, process_records=str(records)) as agents:
            await started(agents)  # the next one with the same directory ends what was left
    _, alive = await asyncio.to_thread(psutil.wait_procs, children, 10)
    assert alive == []


_WITH_CHILD = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
sys.exit(subprocess.call(sys.argv[1:]))
"""


async def test_r383_agents_that_nobody_needs_are_ended_and_no_others(tmp_path: Path) -> None:
    used: list[float] = []
    async with hosting(tmp_path, used=lambda: used.append(time.monotonic()), idle_timeout=1.0) as agents:
        working = await agents.start("reference")
        page = Page()

        async def talk() -> None:
            viewer = await working.join(page.take, may_control=True)
            session = working.sessions()[0]["id"]
            await viewer.receive(json.dumps({"id": 1, "command": "prompt", "session": session, "text": "/wait"}))
            await page.until(lambda: 1 in page.results)
            viewer.leave()

        await on_loop(agents.loop, talk)
        idle = await agents.start("reference")
        await until(lambda: agents.find(idle.id) is None)
        await until(lambda: idle.status == "stopped")
        before = len(used)
        await until(lambda: len(used) >= before + 5)  # again and again it is seen to work
        assert working.status == "running"


async def test_r384_viewers_come_and_go_and_the_agent_goes_on(server: Jupyter) -> None:
    told = await server.start()
    [session] = told["sessions"]
    async with server.page(told["path"]) as page:
        await page.do("resume", session=session["id"])
        await page.do("prompt", session=session["id"], text="/slow 5\n/say done")
    for _ in range(3):
        async with server.page(told["path"], before=page) as page:
            version, resume = page.versions[session["id"]], page.hello["resume"]
            await page.do("resume", session=session["id"], version=version, resume=resume)
    async with server.page(told["path"], before=page) as page:
        await page.do("resume", session=session["id"])
        await page.until(lambda: page.texts(session["id"])[-1].endswith("done"))
