"""Servers that refuse what comes over Streamable HTTP, and who is who."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from acp_host.diagnostics import Diagnostic
from acp_host.errors import ConnectionLost, InvalidInput
from acp_host.transports import RemoteOptions, remote_transport
from acp_host.transports.streamable_http import HttpTransport, _server
from tests.transports.conftest import Recorder
from tests.transports.http_clients import Client, connected, result, update
from tests.transports.http_server import Exchange, HttpServer

TOKEN = "a-token-that-nobody-may-see"


# --- refusals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "says"),
    [
        (307, "nothing was sent there"),
        (400, "does not understand the request"),
        (401, "RemoteOptions(bearer=…)"),
        (403, "allowed origins"),
        (404, "no ACP endpoint at this path"),
        (405, "connect to ws:// or wss://"),
        (406, "no event stream"),
        (415, "takes no JSON"),
        (421, "not the server for this host"),
        (426, "speaks WebSocket only"),
        (429, "try again after 30"),
        (501, "takes no batches"),
        (503, "has failed"),
    ],
)
async def test_what_initialize_may_be_refused_with(server: HttpServer, status: int, says: str) -> None:
    async def refuse(exchange: Exchange) -> bool:
        more = {"Location": "https://elsewhere.example/acp?token=secret"} if status == 307 else {"Retry_After": "30"}
        await exchange.answer(status, f"said \x1b[31m with {TOKEN}", Content_Type="text/plain", **more)
        return True

    server.on = refuse
    client = Client(server.url, RemoteOptions(bearer=TOKEN))
    await client.transport.start(client)
    client.write("initialize", id=0)
    error = await client.end()
    assert isinstance(error, ConnectionLost)
    assert error.http_status == status
    text = str(error)
    assert (says in text, f"HTTP status {status}" in text, "said" in text) == (True,) * 3
    assert (TOKEN in text, "\x1b" in text, "secret" in text) == (False,) * 3
    await client.transport.close()
    assert len(server.exchanges) == 1


@pytest.mark.parametrize("status", [307, 400, 409, 413, 415, 418, 429])
async def test_a_request_that_is_refused_fails_and_nothing_else_does(server: HttpServer, status: int) -> None:
    async with connected(server) as client:

        async def refuse(exchange: Exchange) -> bool:
            if exchange.verb == "POST":
                await exchange.answer(status, "no")
            return exchange.verb == "POST"

        server.on = refuse
        client.prompt(1)
        error = (await client.answer(1))["error"]
        assert (error["code"], error["data"]) == (-32603, {"httpStatus": status})
        assert "refused session/prompt" in error["message"]
        client.write("session/cancel", params={"sessionId": "s"})
        await client.notes_say("refused session/cancel")
        await (await server.stream("s")).event(update("and on"))
        await client.says("and on")
    assert len(server.messages("session/prompt")) == 1


@pytest.mark.parametrize("status", [401, 403, 404, 410, 500, 502, 503])
async def test_a_refusal_after_which_nothing_can_be_expected(server: HttpServer, status: int) -> None:
    async with connected(server) as client:

        async def refuse(exchange: Exchange) -> bool:
            if exchange.verb == "POST":
                await exchange.answer(status)
            return exchange.verb == "POST"

        server.on = refuse
        client.prompt(1)
        error = await client.end()
        assert isinstance(error, ConnectionLost)
        assert (error.http_status, error.retryable) == (status, status not in (401, 403))
        with pytest.raises(ConnectionLost):
            client.write("session/cancel")
        with pytest.raises(ConnectionLost):
            await client.transport.drain()
    assert len(server.messages("session/prompt")) == 1
    assert client.ends == [error]


async def test_a_session_that_the_server_does_not_know(server: HttpServer) -> None:
    async def refuse(exchange: Exchange) -> bool:
        if exchange.session_id is not None:
            await exchange.answer(404, '{"error": "Unknown session id"}', Content_Type="application/json")
        return exchange.session_id is not None

    server.on = refuse
    async with connected(server) as client:
        client.prompt(1, "unknown")
        assert "Unknown session id" in (await client.answer(1))["error"]["message"]
        client.write("session/list", id=2)
        await server.until(lambda: server.messages("session/list"))


@pytest.mark.parametrize("session_id", ["a\r\nX-Evil: 1", "ключ", "", " "])
async def test_a_session_id_that_no_header_can_hold(server: HttpServer, session_id: str) -> None:
    async with connected(server) as client:
        await (await server.stream()).event(result(7, sessionId=session_id))
        client.prompt(1, session_id)
        assert "no HTTP header can hold" in (await client.answer(1))["error"]["message"]
    assert not server.messages("session/prompt")


async def test_a_post_that_is_never_answered_loses_the_connection(
    server: HttpServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_server, "ANSWER_TIMEOUT", 0.2)

    async def hang(exchange: Exchange) -> bool:
        if exchange.method == "session/prompt":
            await exchange.ended.wait()
        return False

    server.on = hang
    async with connected(server) as client:
        client.prompt(1)
        error = await client.end()
        assert "session/prompt was not answered within" in str(error)
    assert len(server.messages("session/prompt")) == 1


async def test_a_post_that_breaks_off_is_not_sent_again(server: HttpServer) -> None:
    async def cut(exchange: Exchange) -> bool:
        if exchange.method == "session/prompt":
            exchange.cut()
        return exchange.method == "session/prompt"

    server.on = cut
    async with connected(server) as client:
        client.prompt(1)
        error = await client.end()
        assert "session/prompt was not answered" in str(error)
    assert len(server.messages("session/prompt")) == 1


async def test_no_server(server: HttpServer) -> None:
    client = Client("http://127.0.0.1:1/acp")
    await client.transport.start(client)
    client.write("initialize", id=0)
    error = await client.end()
    assert "initialize could not be sent" in str(error)
    assert "is the server up" in str(error)
    await client.transport.close()


async def test_what_answers_initialize_is_no_acp_server(server: HttpServer) -> None:
    for body, kind in (
        ("<html>", "text/html"),
        (json.dumps(result(9)), "application/json"),
        (json.dumps(result(0)), "application/json"),
    ):

        async def page(exchange: Exchange, body: str = body, kind: str = kind) -> bool:
            await exchange.answer(200, body, Content_Type=kind)
            return True

        server.on = page
        client = Client(server.url)
        await client.transport.start(client)
        client.write("initialize", id=0)
        error = await client.end()
        assert error is not None
        assert not error.retryable
        await client.transport.close()


# --- who is who -------------------------------------------------------------------------------------------------------


async def test_credentials_go_with_every_request_and_are_shown_nowhere(server: HttpServer) -> None:
    options = RemoteOptions(bearer=TOKEN, headers={"X-Key": "another-secret"}, cookies={"who": "the-user"})
    async with connected(server, options) as client:
        client.prompt(1)
        await server.stream("s")
        await server.until(lambda: server.messages("session/prompt"))
        assert {TOKEN, "another-secret", "the-user"} <= set(client.transport.secrets)
        assert TOKEN not in client.transport.description + client.transport.peer + repr(client.transport)
    for exchange in server.exchanges:
        assert exchange.headers["authorization"] == f"Bearer {TOKEN}"
        assert (exchange.headers["x-key"], exchange.headers["cookie"]) == ("another-secret", "who=the-user")


async def test_cookies_do_not_become_many(server: HttpServer) -> None:
    async def set_cookies(exchange: Exchange) -> bool:
        if exchange.verb == "POST" and exchange.method != "initialize":
            await exchange.answer(202, Set_Cookie=f"n{len(server.exchanges)}=some-value; Path=/")
            return True
        return False

    server.on = set_cookies
    async with connected(server) as client:
        for _ in range(70):
            client.write("note")
    assert len(client.transport.secrets) == 50


async def test_what_on_diagnostic_raises_stops_nothing(server: HttpServer) -> None:
    def fail(_: Diagnostic) -> None:
        raise RuntimeError("a bug of the application")

    complaints: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context["exception"]))
    async with connected(server, RemoteOptions(warn_size=10)) as client:
        client.note = fail
        client.write("session/list", id=1)
        await server.until(lambda: server.messages("session/list"))
        await (await server.stream()).event(result(1))
        await client.answer(1)
    assert client.ends == [None]
    assert isinstance(complaints[0], RuntimeError)


async def test_cookies_outlive_a_connection(server: HttpServer) -> None:
    async def set_cookie(exchange: Exchange) -> bool:
        if exchange.method == "initialize":
            body = json.dumps(result(0))
            await exchange.answer(200, body, Acp_Connection_Id="1", Set_Cookie="backend=seven; Path=/; HttpOnly")
        return exchange.method == "initialize"

    server.on = set_cookie
    async with connected(server) as client:
        await server.stream()
    again = client.transport.again({})
    assert again is not None
    assert client.transport.again({"NAME": "value"}) is None
    receiver = Recorder()
    await again.start(receiver)
    again.write(json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize"}).encode() + b"\n")
    await receiver.says('"id": 0')
    await again.close()
    cookies = [exchange.headers.get("cookie") for exchange in server.exchanges]
    assert cookies[0] is None
    assert set(cookies[1:]) == {"backend=seven"}
    assert [exchange.method for exchange in server.exchanges].count("initialize") == 2


async def test_credentials_in_the_open_are_told_of(server: HttpServer) -> None:
    client = Client("http://agents.example/acp", RemoteOptions(bearer=TOKEN))
    await client.transport.start(client)
    assert "not encrypted" in client.notes[0].message
    await client.transport.close()


async def test_a_message_that_may_be_too_long_is_told_of(server: HttpServer) -> None:
    async with connected(server, RemoteOptions(warn_size=100)) as client:
        client.write("session/prompt", id=1, params={"sessionId": "s", "text": "x" * 200})
        await client.notes_say("bytes long")
        await server.until(lambda: server.messages("session/prompt"))


@pytest.mark.parametrize(
    "url", ["ws://localhost/acp", "ftp://localhost/", "http:///acp", "http://user:word@localhost/"]
)
def test_urls_and_options_that_do_not_fit(url: str) -> None:
    with pytest.raises(InvalidInput):
        HttpTransport(url, RemoteOptions(bearer=TOKEN))


async def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    for name in [name for name in sys.modules if name.startswith("acp_host.transports.streamable_http")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "httpx2", None)
    with pytest.raises(InvalidInput, match=r"pip install 'acp-host\[http\]'"):
        remote_transport("https://agents.example/acp")
