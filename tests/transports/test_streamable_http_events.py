"""The event streams of Streamable HTTP: what comes on them, and what becomes of those that end or break."""

from __future__ import annotations

import json

import pytest

import acp_host
from acp_host.errors import ConnectionLost, StartFailed
from acp_host.transports import RemoteOptions
from tests.transports.http_clients import Client, connected, result, texts, update
from tests.transports.http_server import Exchange, HttpServer

# --- event streams ----------------------------------------------------------------------------------------------------

HELLO = json.dumps(update("héllo 🎈"), ensure_ascii=False)


@pytest.mark.parametrize(
    "stream",
    [
        f"data: {HELLO}\n\n",
        f"data:{HELLO}\r\n\r\n",
        f"data: {HELLO}\r\r",
        f"\ufeffdata: {HELLO}\n\n",
        f": keepalive\n\n:\n\ndata: {HELLO}\n: in between\nid: 7\nevent: message\nretry: 10\nunknown: x\nalone\n\n",
        "data: " + json.dumps(update("héllo 🎈"), ensure_ascii=False, indent=1).replace("\n", "\ndata: ") + "\n\n",
        f"data: {HELLO}",
        f"data: {HELLO}\n",
        f"event: some/name\ndata: {HELLO}\n\n",
        f"data\n\ndata:\n\nid: 1\n\ndata: {HELLO}\n\n",
    ],
)
@pytest.mark.parametrize("size", [1, 7, 10_000])
async def test_every_way_to_write_an_event(server: HttpServer, stream: str, size: int) -> None:
    async with connected(server) as client:
        data = stream.encode()
        open_stream = await server.stream()
        for start in range(0, len(data), size):
            await open_stream.send(data[start : start + size])
        await open_stream.end()
        await client.until(lambda: len(client.messages) == 2)
        assert texts(client) == ["héllo 🎈"]


async def test_what_is_no_json_is_passed_on_for_others_to_judge(server: HttpServer) -> None:
    async with connected(server) as client:
        await (await server.stream()).send("data: no json\n\ndata: [1]\n\n")
        await client.says("[1]\n")
        assert client.data.splitlines()[1:] == [b"no json", b"[1]"]


async def test_an_event_that_is_too_long_ends_nothing(server: HttpServer) -> None:
    async with connected(server, RemoteOptions(max_size=1000)) as client:
        stream = await server.stream()
        await stream.event({"id": 1, "result": "x" * 5000, "last": "END"})
        await stream.event(update("after it"))
        await client.says("after it")
        long = client.data.splitlines()[1]
        assert 1000 < len(long) < 3000
        assert long.startswith(b'{"id": 1, ')
        assert long.endswith(b'"END"}')


async def test_streams_are_utf8_whatever_their_header_says(server: HttpServer) -> None:
    async def latin(exchange: Exchange) -> bool:
        if exchange.verb == "GET":
            await exchange.open("text/event-stream; charset=latin-1")
            await exchange.send(f"data: {HELLO}\n\n")
            await exchange.ended.wait()
        return exchange.verb == "GET"

    server.on = latin
    async with connected(server) as client:
        await client.until(lambda: len(client.messages) == 2)
        assert texts(client) == ["héllo 🎈"]


async def test_a_stream_that_ends_is_opened_again(server: HttpServer) -> None:
    async with connected(server) as client:
        stream = await server.stream()
        await stream.event(update("before"))
        await stream.end()
        again = await server.stream(after=stream)
        await again.event(update("after"))
        await client.says("after")
        assert texts(client) == ["before", "after"]
        assert client.notes == []


async def test_a_stream_that_ends_while_an_answer_is_due_is_told_of(server: HttpServer) -> None:
    async with connected(server) as client:
        client.prompt(1)
        await server.until(lambda: server.messages("session/prompt"))
        stream = await server.stream("s")
        await stream.event(update("before"))
        await stream.end()
        again = await server.stream("s", after=stream)
        await again.event(result(1))
        await client.answer(1)
        (note,) = client.notes
        assert "what was sent meanwhile may be missing" in note.message
        assert note.session_id == "s"


async def test_a_stream_that_breaks_while_nothing_is_due_is_opened_again(server: HttpServer) -> None:
    async with connected(server) as client:
        stream = await server.stream()
        await stream.event(update("before"))
        await client.says("before")
        stream.cut()
        await (await server.stream(after=stream)).event(update("after"))
        await client.says("after")
        await client.notes_say("may be missing")


async def test_a_stream_that_breaks_while_an_answer_is_due_loses_the_connection(server: HttpServer) -> None:
    async with connected(server) as client:
        client.prompt(1)
        await server.until(lambda: server.messages("session/prompt"))
        (await server.stream("s")).cut()
        error = await client.end()
        assert isinstance(error, ConnectionLost)
        assert error.retryable
        assert "the stream of session s broke" in str(error)
    assert len(server.messages("session/prompt")) == 1


async def test_a_stream_that_the_server_has_not_given_up_yet(server: HttpServer) -> None:
    async with connected(server) as client:
        busy = [True, True]

        async def refuse(exchange: Exchange) -> bool:
            if exchange.verb == "GET" and busy:
                busy.pop()
                await exchange.answer(409)
                return True
            return False

        server.on = refuse
        stream = await server.stream()
        stream.cut()
        await (await server.stream(after=stream)).event(update("after"))
        await client.says("after")
        assert not busy


async def test_a_session_that_is_forgotten_while_an_answer_is_due(server: HttpServer) -> None:
    async with connected(server) as client:
        client.prompt(1)
        await server.until(lambda: server.messages("session/prompt"))
        stream = await server.stream("s")

        async def forget(exchange: Exchange) -> bool:
            if exchange.verb == "GET":
                await exchange.answer(404)
            return exchange.verb == "GET"

        server.on = forget
        await stream.event(update("before"))
        await stream.end()
        error = await client.end()
        assert error is not None
        assert error.http_status == 404


async def test_an_answer_whose_encoding_is_broken(server: HttpServer) -> None:
    async def garble(exchange: Exchange) -> bool:
        await exchange.answer(200, "no gzip at all", Content_Encoding="gzip")
        return True

    server.on = garble
    client = Client(server.url)
    await client.transport.start(client)
    client.write("initialize", id=0)
    assert isinstance(await client.end(), ConnectionLost)
    await client.transport.close()


@pytest.mark.parametrize("proxy", ["socks5://user:pa55word@127.0.0.1:1", "ftp://127.0.0.1:1"])
async def test_a_proxy_that_cannot_be_used(server: HttpServer, proxy: str) -> None:
    client = Client(server.url, RemoteOptions(proxy=proxy))
    with pytest.raises(StartFailed, match="proxy") as caught:
        await client.transport.start(client)
    assert "pa55word" not in str(caught.value)
    await client.transport.close()


async def test_a_stream_with_ids_goes_on_where_it_broke(server: HttpServer) -> None:
    async with connected(server) as client:
        client.prompt(1)
        await server.until(lambda: server.messages("session/prompt"))
        stream = await server.stream("s")
        await stream.send(f"id: 41\ndata: {json.dumps(update('before'))}\n\n")
        await client.says("before")
        stream.cut()
        again = await server.stream("s", after=stream)
        assert again.headers["last-event-id"] == "41"
        await again.event(result(1))
        await client.answer(1)


@pytest.mark.parametrize("event_id", ["größe-🔑", "x" * 100_000])
async def test_an_id_that_no_header_can_hold_is_none(server: HttpServer, event_id: str) -> None:
    async with connected(server) as client:
        stream = await server.stream()
        await stream.send(f"id: 41\n\nid: {event_id}\ndata: {json.dumps(update('before'))}\n\n")
        await client.says("before")
        stream.cut()
        again = await server.stream(after=stream)
        assert "last-event-id" not in again.headers
        await again.event(update("after"))
        await client.says("after")


@pytest.mark.parametrize("connection_id", ["größe", "x" * 50_000])
async def test_a_connection_that_no_header_can_name_is_refused(server: HttpServer, connection_id: str) -> None:
    async def named(exchange: Exchange) -> bool:
        if exchange.method == "initialize":
            await exchange.answer(200, json.dumps(result(0)), Acp_Connection_Id=connection_id)
        return exchange.method == "initialize"

    server.on = named
    with pytest.raises(StartFailed, match="no HTTP header of a request can hold it"):
        await acp_host.connect(server.url)


async def test_cookies_that_no_request_can_carry_are_not_kept(server: HttpServer) -> None:
    async def set_cookies(exchange: Exchange) -> bool:
        if exchange.method == "initialize":
            kept = ["größe=1", "b=größe", "c=" + "x" * 5_000, "good=1"]
            cookies = "\r\nSet-Cookie: ".join(kept)
            await exchange.answer(200, json.dumps(result(0)), Acp_Connection_Id="1", Set_Cookie=cookies)
        return exchange.method == "initialize"

    server.on = set_cookies
    async with connected(server):
        await server.stream()
    assert {exchange.headers.get("cookie") for exchange in server.exchanges[1:]} == {"good=1"}


@pytest.mark.parametrize("how", ["end", "cut"])
async def test_a_stream_that_never_lasts_loses_the_connection(server: HttpServer, how: str) -> None:
    async with connected(server) as client:

        async def end(exchange: Exchange) -> bool:
            if exchange.verb == "GET" and how == "end":
                await exchange.open()
                await exchange.end()
            elif exchange.verb == "GET":
                exchange.cut()
            return exchange.verb == "GET"

        server.on = end
        (await server.stream()).cut()
        error = await client.end()
        assert "5 times in a row" in str(error)


async def test_a_connection_that_the_server_has_forgotten_is_lost(server: HttpServer) -> None:
    async with connected(server) as client:

        async def forget(exchange: Exchange) -> bool:
            await exchange.answer(404)
            return True

        server.on = forget
        await (await server.stream()).end()
        error = await client.end()
        assert isinstance(error, ConnectionLost)
        assert (error.http_status, error.retryable) == (404, True)
        assert "does not know this connection any more" in str(error)
    assert not any(exchange.verb == "DELETE" for exchange in server.exchanges)


async def test_a_stream_that_is_no_stream(server: HttpServer) -> None:
    async def page(exchange: Exchange) -> bool:
        if exchange.verb == "GET":
            await exchange.answer(200, "{}", Content_Type="application/json")
        return exchange.verb == "GET"

    server.on = page
    client = Client(server.url)
    await client.transport.start(client)
    client.write("initialize", id=0)
    error = await client.end()
    assert error is not None
    assert "application/json instead of an event stream" in str(error)
    assert not error.retryable
    await client.transport.close()


async def test_a_server_that_opens_a_stream_with_its_first_event(server: HttpServer) -> None:
    async def hesitate(exchange: Exchange) -> bool:
        if exchange.verb == "GET":
            await server.until(lambda: server.messages("session/list"))
        return False

    server.on = hesitate
    async with connected(server) as client:
        client.write("session/list", id=1)
        await server.until(lambda: server.messages("session/list"))
        await (await server.stream()).event(result(1))
        await client.answer(1)
