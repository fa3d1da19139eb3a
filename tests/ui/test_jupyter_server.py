"""The extension in a real Jupyter Server: what it answers, to whom, and that agents end with it."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest
import pytest_asyncio
from jupyter_server.extension.manager import ExtensionPackage
from websockets.exceptions import InvalidStatus

from acp_host.ui import jupyter_server
from tests.ui.jupyter_servers import AGENTS, Jupyter, jupyter

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Jupyter]:
    traits = {"AcpHostApp__max_agents": 2, "AcpHostApp__agents": {"wrong": {"files": True}, **AGENTS}}
    async with jupyter(tmp_path_factory.mktemp("jupyter"), **traits) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="module", autouse=True)
async def no_agents(server: Jupyter) -> AsyncIterator[None]:
    yield
    for agent in (await server.client.get("acp/api/agents")).json()["running"]:
        assert (await server.client.delete(f"acp/api/agents/{agent['id']}")).status_code == 204


@pytest_asyncio.fixture(loop_scope="module")
async def stranger(server: Jupyter) -> AsyncIterator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(base_url=server.url, trust_env=False) as client:
        yield client


async def test_the_extension_is_known_to_the_command_that_enables_extensions() -> None:
    known = json.loads((Path(jupyter_server.__file__).parent / "jupyter_server_config.json").read_text())
    [name] = known["ServerApp"]["jpserver_extensions"]
    assert ExtensionPackage(name=name).validate()


async def test_an_agent_is_started_talked_to_and_stopped(server: Jupyter) -> None:
    told = await server.start()
    assert (told["agent"], told["status"], told["error"]) == ("reference", "running", None)
    [session] = told["sessions"]
    async with server.page(told["path"]) as page:
        await page.do("resume", session=session["id"])
        await page.do("prompt", session=session["id"], text="/say Hello")
        await page.until(lambda: "Hello" in page.texts(session["id"]))
    listed = (await server.client.get("acp/api/agents")).json()
    assert listed["configured"] == ["reference", "missing"]
    assert [agent["id"] for agent in listed["running"]] == [told["id"]]
    assert (await server.client.get(f"acp/api/agents/{told['id']}")).json()["status"] == "running"
    assert (await server.client.delete(f"acp/api/agents/{told['id']}")).status_code == 204
    assert (await server.client.get(f"acp/api/agents/{told['id']}")).status_code == 404
    assert (await server.client.delete(f"acp/api/agents/{told['id']}")).status_code == 404


async def test_a_page_that_is_loaded_again_goes_on_where_it_was(server: Jupyter) -> None:
    told = await server.start()
    [session] = told["sessions"]
    async with server.page(told["path"]) as page:
        await page.do("resume", session=session["id"])
        await page.do("prompt", session=session["id"], text="/say One")
        await page.until(lambda: "One" in page.texts(session["id"]))
    async with server.page(told["path"], before=page) as again:
        version, resume = page.versions[session["id"]], page.hello["resume"]
        await again.do("resume", session=session["id"], version=version, resume=resume)
        await again.do("prompt", session=session["id"], text="/say Two")
        await again.until(lambda: "Two" in again.texts(session["id"]))
        assert not any(message["type"] == "snapshot" for message in again.told)


async def test_the_files_of_the_page_have_its_own_policy_and_may_be_framed_by_this_server(server: Jupyter) -> None:
    told = await server.start()
    for name, kind in (("", "text/html"), ("page.js", "text/javascript"), ("view-style.css", "text/css")):
        answer = await server.client.get(f"acp/{told['path']}{name}")
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith(kind)
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'; script-src 'self'" in policy
        assert "frame-ancestors 'self'" in policy
        assert "report-uri" not in policy
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert "x-frame-options" not in answer.headers
    assert (await server.client.get(f"acp/{told['path']}../view.js.map")).status_code == 404
    assert (await server.client.get(f"acp/{told['path']}nothing.js")).status_code == 404
    assert (await server.client.get("acp/agents/0123456789ab/")).status_code == 404
    slash = await server.client.get(f"acp/agents/{told['id']}")
    assert (slash.status_code, slash.headers["location"]) == (302, f"{told['id']}/")


async def test_nobody_is_let_in_whom_the_server_does_not_know(server: Jupyter, stranger: httpx2.AsyncClient) -> None:
    told = await server.start()
    for path in ("acp/", "acp", f"acp/{told['path']}", f"acp/{told['path']}page.js", f"acp/agents/{told['id']}"):
        answer = await stranger.get(path)
        assert answer.status_code == 302
        assert "/user/somebody/login" in answer.headers["location"]
    assert (await stranger.get("acp/api/agents")).status_code == 403
    assert (await stranger.post("acp/api/agents", json={"agent": "reference"})).status_code == 403
    assert (await stranger.delete(f"acp/api/agents/{told['id']}")).status_code == 403
    assert (await stranger.post("acp/start", data={"agent": "reference"})).status_code == 403
    with pytest.raises(InvalidStatus) as refused:
        async with server.page(told["path"], Authorization="token wrong"):
            pass
    assert refused.value.response.status_code == 403


async def logged_in(server: Jupyter, client: httpx2.AsyncClient) -> str:
    """Let a client in as a browser is; return the server's token for forms."""
    await client.get(f"?token={server.token}")
    page = await client.get("acp/")
    found = re.search(r'name="_xsrf" value="([^"]+)"', page.text)
    assert found is not None
    assert "form-action 'self'" in page.headers["content-security-policy"]
    return found[1]


async def test_the_list_starts_and_stops_agents_with_the_servers_token_for_forms(
    server: Jupyter, stranger: httpx2.AsyncClient
) -> None:
    xsrf = await logged_in(server, stranger)
    form = {"agent": "reference", "folder": ""}
    assert (await stranger.post("acp/start", data=form)).status_code == 403
    elsewhere = {"Origin": "https://elsewhere.example"}
    assert (await stranger.post("acp/start", data={**form, "_xsrf": xsrf}, headers=elsewhere)).status_code == 404
    started = await stranger.post("acp/start", data={**form, "_xsrf": xsrf})
    assert started.status_code == 303
    assert re.fullmatch(r"agents/[0-9a-f]+/", started.headers["location"])
    listed = await stranger.get("acp/")
    assert f'<a href="{started.headers["location"]}">reference</a> – running' in listed.text
    agent_id = started.headers["location"].split("/")[1]
    assert (await stranger.post("acp/stop", data={"id": agent_id})).status_code == 403
    assert (await stranger.post("acp/stop", data={"id": agent_id, "_xsrf": xsrf})).status_code == 303
    assert "<p>None.</p>" in (await stranger.get("acp/")).text


async def test_a_page_elsewhere_cannot_open_the_feed(server: Jupyter, stranger: httpx2.AsyncClient) -> None:
    told = await server.start()
    await logged_in(server, stranger)
    cookies = "; ".join(f"{name}={value}" for name, value in stranger.cookies.items())
    with pytest.raises(InvalidStatus) as refused:
        async with server.page(told["path"], Cookie=cookies, Origin="https://elsewhere.example"):
            pass
    assert refused.value.response.status_code == 403
    own = server.url.partition("/user")[0]
    async with server.page(told["path"], Cookie=cookies, Origin=own) as page:
        await page.until(lambda: page.hello)


async def test_an_entry_that_is_wrong_hides_no_other_and_is_told(server: Jupyter) -> None:
    assert (await server.client.get("acp/api/agents")).json()["configured"] == list(AGENTS)
    wrong = "target is its command"
    page = (await server.client.get("acp/")).text
    assert wrong in page
    assert "<option>wrong" not in page
    assert wrong in (server.root.parent / "log").read_text()


async def test_what_cannot_be_started_is_told(server: Jupyter) -> None:
    failed = await server.start("missing")
    assert failed["status"] == "failed"
    assert "/no/such/agent" in failed["error"]
    assert "/no/such/agent" in (await server.client.get("acp/")).text
    for body, words in (
        ({"agent": "other"}, "no agent of that name"),
        ({"agent": "reference", "folder": "../.."}, "no such folder"),
        ({"agent": "reference", "folder": "nothing"}, "no such folder"),
        ({"agent": 3}, "a JSON object"),
        ([], "a JSON object"),
    ):
        answer = await server.client.post("acp/api/agents", json=body)
        assert (answer.status_code, words in answer.json()["message"]) == (400, True)
    await server.start()
    await server.start()  # takes the place of the one that failed
    answer = await server.client.post("acp/api/agents", json={"agent": "reference"})
    assert answer.status_code == 409
    assert "2 agents are running" in answer.json()["message"]


async def test_agents_work_in_a_folder_of_the_server(server: Jupyter) -> None:
    (server.root / "sub").mkdir()
    told = await server.start(folder="sub")
    assert told["cwd"] == told["sessions"][0]["cwd"] == str(server.root / "sub")
