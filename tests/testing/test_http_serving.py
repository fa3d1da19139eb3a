"""An agent that is served over Streamable HTTP: whole conversations, who is let in, and what requests are refused."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

import acp_host
from acp_host import PermissionPolicy, RemoteOptions
from acp_host.errors import ConnectionClosed, ConnectionLost, InvalidInput, InvalidState, StartFailed
from acp_host.testing import Access, ReferenceAgent, ServedAgent, serve_http
from acp_host.testing._http_host import HostOnHttp
from acp_host.transports import Transport
from acp_host.transports._envelopes import read_envelope
from tests.certificates import make_certificate, trusting

TOKEN = "a-token-that-is-long-enough"
INITIALIZE = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": 1}}


@pytest.fixture
async def served() -> AsyncIterator[ServedAgent]:
    async with serve_http(ReferenceAgent().serve, access=Access(token=TOKEN), max_size=10_000) as served:
        yield served


@pytest.fixture
async def client(served: ServedAgent) -> AsyncIterator[httpx2.AsyncClient]:
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with httpx2.AsyncClient(base_url=served.url.removesuffix("/acp"), headers=headers, trust_env=False) as client:
        yield client


async def connected(client: httpx2.AsyncClient) -> dict[str, str]:
    """Shake hands; return the header that names the connection."""
    answer = await client.post("/acp", json=INITIALIZE)
    assert answer.status_code == 200
    assert answer.json()["result"]["agentInfo"]["name"] == "acp-host-reference-agent"
    return {"Acp-Connection-Id": answer.headers["Acp-Connection-Id"]}


async def test_a_whole_conversation_with_an_agent_elsewhere() -> None:
    async with serve_http(ReferenceAgent().serve) as served:
        async with acp_host.connect(
            served.url,
            remote=RemoteOptions(bearer=served.token),
            permissions=PermissionPolicy.allow_once(),
            elicitation=lambda _: None,
        ) as host:
            session = await host.new_session("/workspace")
            result = await session.prompt("Show me what you can do")
            assert result.stop_reason == "end_turn"
            assert host.connection_id
            assert tuple(host.diagnostics) == ()
            assert {record.peer for record in host.audit.records} <= {served.url}
        local = acp_host.connect(ReferenceAgent().transport(), permissions=PermissionPolicy.allow_once())
        async with local as host:
            assert (await (await host.new_session()).prompt("Show me what you can do")).text == result.text


async def test_connections_are_apart_and_sessions_outlive_them(served: ServedAgent) -> None:
    url = served.url_with_token
    async with acp_host.connect(url) as one, acp_host.connect(url) as other:
        assert one.connection_id != other.connection_id
        first, second = await one.new_session("/a"), await other.new_session("/b")
        results = await asyncio.gather(*(session.prompt("/say Hi") for session in (first, second)))
        assert [result.text for result in results] == ["Hi", "Hi"]
    async with acp_host.connect(url) as third:
        again = await third.load_session(first.id, "/a")
        assert "Hi" in json.dumps(acp_host.to_json(again.state.snapshot()))


@pytest.mark.parametrize("spoken, agreed", [((1,), 1), ((1, 2), 2)])
async def test_the_version_of_the_protocol_is_agreed_on_as_over_any_way(spoken: tuple[int, ...], agreed: int) -> None:
    """A host that is answered with 1 shakes hands again, which is another connection to the server."""
    async with (
        serve_http(ReferenceAgent(protocol_versions=spoken).serve) as served,
        acp_host.connect(served.url_with_token, protocol_versions=(2, 1)) as host,
    ):
        assert host.agreement.protocol_version == agreed
        session = await host.new_session("/workspace")
        assert (await session.prompt("/say Hello")).text == "Hello"
        assert tuple(host.diagnostics) == ()


@pytest.mark.parametrize(
    "path, headers, status",
    [
        ("/acp", {}, 401),
        ("/acp?token=wrong", {}, 401),
        ("/acp", {"Authorization": "Bearer wrong"}, 401),
        (f"/acp?token={TOKEN}", {"Origin": "https://evil.example"}, 403),
        (f"/acp?token={TOKEN}", {"Host": "evil.example"}, 421),
        (f"/other?token={TOKEN}", {}, 404),
    ],
)
@pytest.mark.parametrize("verb", ["POST", "GET", "DELETE"])
async def test_who_is_not_let_in(
    served: ServedAgent, verb: str, path: str, headers: dict[str, str], status: int
) -> None:
    async with httpx2.AsyncClient(trust_env=False) as client:
        url = served.url.removesuffix("/acp") + path
        answer = await client.request(verb, url, headers=headers)
        assert answer.status_code == status
        assert TOKEN not in answer.text


async def test_over_http2_the_name_of_the_host_is_checked_too(tmp_path: Path) -> None:
    certificate = make_certificate(tmp_path)
    async with serve_http(ReferenceAgent().serve, certificate=certificate, access=Access(token=TOKEN)) as served:
        tls = trusting(certificate[0])
        async with httpx2.AsyncClient(http2=True, verify=tls, trust_env=False) as client:
            for host, status in (("evil.example", 421), ("127.0.0.1", 200)):
                headers = {"Host": host, "Authorization": f"Bearer {TOKEN}"}
                answer = await client.post(served.url, json=INITIALIZE, headers=headers)
                assert (answer.http_version, answer.status_code) == ("HTTP/2", status)


async def test_pages_that_are_listed_are_let_in() -> None:
    access = Access(origins=["https://editor.example"])
    async with serve_http(ReferenceAgent().serve, access=access) as served:
        options = RemoteOptions(bearer=served.token, headers={"Origin": "https://editor.example"})
        async with acp_host.connect(served.url, remote=options):
            pass


@pytest.mark.parametrize(
    "request_, status",
    [
        ({"content": b"{}", "headers": {"Content-Type": "text/plain"}}, 415),
        ({"content": b"{}"}, 415),
        ({"content": b"{", "headers": {"Content-Type": "application/json"}}, 400),
        ({"json": 1}, 400),
        ({"json": [INITIALIZE]}, 501),
        ({"json": {"method": "session/list", "id": 1}}, 400),
        ({"json": {"method": "session/list", "id": 1}, "headers": {"Acp-Connection-Id": "unknown"}}, 404),
        ({"json": {"text": "x" * 10_001}}, 413),
    ],
)
async def test_messages_that_are_refused(client: httpx2.AsyncClient, request_: dict[str, Any], status: int) -> None:
    assert (await client.post("/acp", **request_)).status_code == status


async def test_requests_of_a_connection_that_are_refused(client: httpx2.AsyncClient) -> None:
    connection = await connected(client)
    assert (await client.post("/acp", json=INITIALIZE, headers=connection)).status_code == 400
    prompt = {"jsonrpc": "2.0", "id": 1, "method": "session/prompt", "params": {"sessionId": "s"}}
    assert (await client.post("/acp", json=prompt, headers=connection)).status_code == 400
    other = {**connection, "Acp-Session-Id": "other"}
    assert (await client.post("/acp", json=prompt, headers=other)).status_code == 400
    assert (await client.get("/acp", headers=connection)).status_code == 406
    stream = {"Accept": "text/event-stream"}
    assert (await client.get("/acp", headers=stream)).status_code == 400
    assert (await client.get("/acp", headers={**stream, "Acp-Connection-Id": "unknown"})).status_code == 404
    assert (await client.get("/acp", headers={**stream, **connection, "Acp-Session-Id": "x" * 2000})).status_code == 400
    answer = await client.put("/acp", headers=connection)
    assert (answer.status_code, answer.headers["Allow"]) == (405, "GET, POST, DELETE")
    assert (await client.delete("/acp")).status_code == 400
    assert (await client.delete("/acp", headers=connection)).status_code == 202
    assert (await client.delete("/acp", headers=connection)).status_code == 404


async def test_answers_come_on_the_streams_that_the_text_says(client: httpx2.AsyncClient) -> None:
    connection = await connected(client)
    listening = {**connection, "Accept": "text/event-stream"}
    async with client.sse("/acp", headers=connection) as events:
        new = {"jsonrpc": "2.0", "id": 1, "method": "session/new", "params": {"cwd": "/", "mcpServers": []}}
        assert (await client.post("/acp", json=new, headers=connection)).status_code == 202
        message = await anext(json.loads(event.data) async for event in events if event.data)
    session = {"Acp-Session-Id": message["result"]["sessionId"]}
    params = {"sessionId": session["Acp-Session-Id"], "prompt": [{"type": "text", "text": "/say Hello"}]}
    prompt = {"jsonrpc": "2.0", "id": 2, "method": "session/prompt", "params": params}
    assert (await client.post("/acp", json=prompt, headers={**connection, **session})).status_code == 202
    async with client.sse("/acp", headers={**listening, **session}) as events:
        async for event in events:
            if event.data and json.loads(event.data).get("id") == 2:
                break
    # A stream that is opened once more takes the place of the one before it.
    async with client.sse("/acp", headers=connection) as first, client.sse("/acp", headers=connection):
        assert [event async for event in first if event.data] == []


async def test_an_agent_that_ends_is_told_of() -> None:
    async def end(host: Transport) -> int:
        return 0

    async with serve_http(end) as served:
        with pytest.raises(StartFailed, match="The agent ended before it answered"):
            await acp_host.connect(served.url_with_token)


async def test_an_agent_that_does_not_end_is_ended() -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    async def stay(host: Transport) -> int:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return 0

    async with serve_http(stay) as served, httpx2.AsyncClient(trust_env=False) as client:
        request = asyncio.create_task(client.post(served.url_with_token, json=INITIALIZE))
        await begun.wait()
    await asyncio.wait({request})
    assert ended.is_set()
    request.exception()


@pytest.mark.parametrize("where", [{"host": "0.0.0.0"}, {"host": "192.0.2.1", "allow_other_machines": True}])
async def test_where_nothing_is_served(where: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        async with serve_http(ReferenceAgent().serve, **where):
            pass


async def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "hypercorn.asyncio", None)
    with pytest.raises(InvalidInput, match=r"pip install 'acp-host\[serve\]'"):
        async with serve_http(ReferenceAgent().serve):
            pass


class Agent:
    """An agent's end."""

    def __init__(self) -> None:
        self.data = b""
        self.ends: list[Any] = []

    def data_received(self, data: bytes) -> None:
        self.data += data

    def connection_lost(self, error: Any) -> None:
        self.ends.append(error)


def message(**members: Any) -> Any:
    data = json.dumps(members).encode()
    return data, read_envelope(data)


async def test_the_agents_end_of_a_connection() -> None:
    host, agent = HostOnHttp(), Agent()
    with pytest.raises(InvalidState):
        host.write(b"{}\n")
    host.receive(*message(method="early"))
    await host.start(agent)
    with pytest.raises(InvalidState):
        await host.start(agent)
    host.receive(b'{\n"method": "spread"}', read_envelope(b'{"method": "spread"}'))
    assert agent.data.count(b"\n") == 2
    host.write(b'{"method": "in ')
    host.write(b'parts"}\n')
    assert await anext(aiter(host.listen(None))) == b'data: {"method": "in parts"}\n\n'
    await host.close()
    await host.close()
    with pytest.raises(ConnectionClosed):
        host.write(b"{}\n")
    assert agent.ends == [None]


async def test_an_event_that_was_not_sent_waits_for_the_next_reader() -> None:
    host = HostOnHttp()
    await host.start(Agent())
    for number in range(3):
        host.write(b'{"n": %d}\n' % number)
    reader = host.listen(None)
    assert b"0" in await anext(reader)
    assert b"1" in await anext(reader)
    await reader.aclose()
    again = host.listen(None)
    assert [(await anext(again))[-5:-3] for _ in range(2)] == [b" 1", b" 2"]
    await host.close()
    assert [event async for event in again] == []


async def test_an_agent_is_held_back_and_then_gives_a_host_up_that_does_not_read() -> None:
    host, agent = HostOnHttp(), Agent()
    await host.start(agent)
    await host.drain()
    host.write(b'{"text": "%b"}\n' % (b"x" * 300_000))
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await host.drain()
    reader = host.listen(None)
    await anext(reader)
    draining = asyncio.create_task(host.drain())
    reading = asyncio.create_task(anext(reader))
    await draining
    reading.cancel()
    for _ in range(300):
        if not host.ended.is_set():
            host.write(b'{"text": "%b"}\n' % (b"x" * 300_000))
    assert isinstance(agent.ends[0], ConnectionLost)
