"""An agent that is served over WebSocket, and a host that connects to it: whole conversations, and who is let in."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from websockets.asyncio.client import connect as raw_connect
from websockets.exceptions import InvalidStatus

import acp_host
from acp_host import PermissionPolicy, RemoteOptions
from acp_host.errors import InvalidInput, StartFailed
from acp_host.testing import Access, ReferenceAgent, serve_websocket
from acp_host.transports import Transport

TOKEN = "a-token-that-is-long-enough"


async def test_a_whole_conversation_with_an_agent_elsewhere() -> None:
    async with serve_websocket(ReferenceAgent().serve) as served:
        options = RemoteOptions(bearer=served.token)
        async with acp_host.connect(
            served.url, remote=options, permissions=PermissionPolicy.allow_once(), elicitation=lambda _: None
        ) as host:
            session = await host.new_session("/workspace")
            result = await session.prompt("Show me what you can do")
            assert result.stop_reason == "end_turn"
            assert result.text
            assert host.connection_id
            assert tuple(host.diagnostics) == ()
            assert {record.peer for record in host.audit.records} <= {served.url}
        local = acp_host.connect(ReferenceAgent().transport(), permissions=PermissionPolicy.allow_once())
        async with local as host:
            assert (await (await host.new_session()).prompt("Show me what you can do")).text == result.text


async def test_files_are_served_only_to_agents_elsewhere_that_may_have_them(tmp_path: Any) -> None:
    (tmp_path / "a.txt").write_text("hello from this machine")
    async with (
        serve_websocket(ReferenceAgent().serve) as served,
        acp_host.connect(
            served.url_with_token,
            files=True,
            allow_remote_services=True,
            permissions=PermissionPolicy.allow_once(),
        ) as host,
    ):
        session = await host.new_session(tmp_path)
        result = await session.prompt(f"/read {tmp_path / 'a.txt'}")
        assert result.text == "It has 23 characters."
        [record] = [record for record in host.audit.records if record.action == "fs/read_text_file"]
        assert record.peer == served.url


async def test_connections_are_apart_and_sessions_outlive_them() -> None:
    async with serve_websocket(ReferenceAgent().serve) as served:
        url = served.url_with_token
        async with acp_host.connect(url) as one, acp_host.connect(url) as other:
            assert one.connection_id != other.connection_id
            first, second = await one.new_session("/a"), await other.new_session("/b")
            results = await asyncio.gather(*(session.prompt("/say Hi") for session in (first, second)))
            assert [result.text for result in results] == ["Hi", "Hi"]
        async with acp_host.connect(url) as third:
            again = await third.load_session(first.id, "/a")
            assert "Hi" in json.dumps(acp_host.to_json(again.state.snapshot()))


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
async def test_who_is_not_let_in(path: str, headers: dict[str, str], status: int) -> None:
    async with serve_websocket(ReferenceAgent().serve, access=Access(token=TOKEN)) as served:
        reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
        lines = {"Host": f"127.0.0.1:{served.port}", "Upgrade": "websocket", "Connection": "Upgrade"}
        lines |= {"Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==", **headers}
        text = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        writer.write(f"GET {path} HTTP/1.1\r\n{text}\r\n".encode())
        answer = await reader.readline()
        rest = await reader.read()
        writer.close()
        await writer.wait_closed()
        assert answer.split()[1] == str(status).encode()
        assert TOKEN.encode() not in rest
        assert (b"WWW-Authenticate: Bearer" in rest) == (status == 401)


async def test_listed_pages_are_let_in_and_the_host_learns_why_it_is_not() -> None:
    access = Access(token=TOKEN, origins=["https://editor.example"])
    async with serve_websocket(ReferenceAgent().serve, access=access) as served:
        page = RemoteOptions(headers={"Origin": "https://editor.example"}, bearer=TOKEN)
        async with acp_host.connect(served.url, remote=page) as host:
            assert not host.closed
        with pytest.raises(StartFailed, match=r"token of this server is missing or wrong.*RemoteOptions\(bearer"):
            await acp_host.connect(served.url)


async def test_the_end_of_the_server_ends_its_connections_and_agents() -> None:
    ended = asyncio.Event()

    async def agent(host: Transport) -> int:
        try:
            return await ReferenceAgent().serve(host)
        finally:
            ended.set()

    async with serve_websocket(agent) as served:
        host = await acp_host.connect(served.url_with_token, reconnect=False)
    error = await host.wait_closed()
    assert getattr(error, "close_code", None) == 1001
    assert ended.is_set()
    await host.close()


async def test_an_agent_that_does_not_end_is_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("acp_host.testing.websocket_serving._LAST_STEPS", 0.1)
    cancelled = asyncio.Event()

    async def agent(host: Transport) -> int:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise
        return 0

    async with serve_websocket(agent) as served:
        socket = await raw_connect(served.url_with_token, compression=None)
    assert cancelled.is_set()
    await socket.close()


async def test_there_are_not_more_connections_than_a_server_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("acp_host.testing.websocket_serving._MOST_CONNECTIONS", 1)
    async with serve_websocket(ReferenceAgent().serve) as served, acp_host.connect(served.url_with_token):
        with pytest.raises(StartFailed, match="too many connections") as raised:
            await acp_host.connect(served.url_with_token)
        assert raised.value.retryable


async def test_an_agent_that_fails_ends_its_connection_only(caplog: pytest.LogCaptureFixture) -> None:
    calls = 0

    async def agent(host: Transport) -> int:
        nonlocal calls
        calls += 1
        if calls == 1:
            await host.start(_Deaf())
            raise RuntimeError("an agent with a fault")
        return await ReferenceAgent().serve(host)

    async with serve_websocket(agent) as served:
        with pytest.raises(StartFailed, match=r"was lost before it answered.*failed inside") as raised:
            await acp_host.connect(served.url_with_token)
        assert (raised.value.close_code, raised.value.retryable) == (1011, True)
        async with acp_host.connect(served.url_with_token) as host:
            assert not host.closed
    assert "an agent with a fault" in caplog.text


class _Deaf:
    def data_received(self, data: bytes) -> None: ...
    def connection_lost(self, error: Any) -> None: ...


async def test_listening_for_other_machines_must_be_said() -> None:
    with pytest.raises(InvalidInput, match="other machines"):
        async with serve_websocket(ReferenceAgent().serve, host="0.0.0.0"):
            pass
    async with serve_websocket(ReferenceAgent().serve, host="0.0.0.0", allow_other_machines=True) as served:
        assert served.url.startswith("ws://127.0.0.1:")
        async with acp_host.connect(served.url_with_token):
            pass


async def test_a_name_for_several_addresses_is_served_at_one_that_is_told() -> None:
    async with serve_websocket(ReferenceAgent().serve, host="localhost") as served:
        assert f":{served.port}/" in served.url
        async with acp_host.connect(served.url_with_token) as host:
            assert not host.closed


async def test_a_port_that_is_taken_is_said() -> None:
    async with serve_websocket(ReferenceAgent().serve) as served:
        with pytest.raises(InvalidInput, match=f"port {served.port}"):
            async with serve_websocket(ReferenceAgent().serve, port=served.port):
                pass


async def test_what_is_served_shows_no_token() -> None:
    async with serve_websocket(ReferenceAgent().serve) as served:
        assert served.token not in repr(served)
        assert served.token not in served.url
        with pytest.raises(InvalidStatus):
            await raw_connect(served.url)
