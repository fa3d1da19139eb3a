"""Streamable HTTP against a server that does what a test says, good and bad."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

import acp_host
from acp_host.diagnostics import Diagnostic
from acp_host.errors import ConnectionClosed, ConnectionLost, InvalidInput, InvalidState, StartFailed
from acp_host.transports import RemoteOptions, remote_transport
from acp_host.transports.streamable_http import HttpTransport, _server, _streams
from tests.transports.conftest import Recorder
from tests.transports.http_server import CONNECTION_ID, Exchange, HttpServer, serve

TOKEN = "a-token-that-nobody-may-see"


@pytest.fixture
async def server() -> AsyncIterator[HttpServer]:
    async with serve() as server:
        yield server


class Client(Recorder):
    """A host's end: it writes messages and remembers those that come."""

    def __init__(self, url: str, options: RemoteOptions | None = None) -> None:
        super().__init__()
        self.notes: list[Diagnostic] = []
        self.transport = HttpTransport(url, options, on_diagnostic=lambda diagnostic: self.note(diagnostic))

    def note(self, diagnostic: Diagnostic) -> None:
        self.notes.append(diagnostic)
        self._changed.set()

    @property
    def messages(self) -> list[Any]:
        return [json.loads(line) for line in self.data.splitlines()]

    def write(self, method: str | None = None, **members: Any) -> None:
        message = {"jsonrpc": "2.0", **({"method": method} if method else {}), **members}
        self.transport.write(json.dumps(message).encode() + b"\n")

    def prompt(self, number: int, session_id: str = "s") -> None:
        self.write("session/prompt", id=number, params={"sessionId": session_id})

    async def answer(self, number: int) -> Any:
        """Return the answer to a request."""
        await self.until(lambda: any(message.get("id") == number for message in self.messages))
        return next(message for message in self.messages if message.get("id") == number)

    async def notes_say(self, text: str) -> None:
        await self.until(lambda: any(text in note.message for note in self.notes))


@contextlib.asynccontextmanager
async def connected(server: HttpServer, options: RemoteOptions | None = None) -> AsyncIterator[Client]:
    """A client that has shaken hands, with the stream of the connection open."""
    client = Client(server.url, options)
    await client.transport.start(client)
    try:
        client.write("initialize", id=0, params={})
        await client.answer(0)
        yield client
    finally:
        await client.transport.close()


def update(text: str, session_id: str = "s") -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": session_id, "text": text}}


def result(number: int, **members: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "result": members}


def texts(client: Client) -> list[Any]:
    return [message["params"]["text"] if "params" in message else message["id"] for message in client.messages[1:]]


# --- an ordinary conversation -----------------------------------------------------------------------------------------


async def test_a_conversation_by_the_text_of_the_transport(server: HttpServer) -> None:
    async with connected(server) as client:
        assert client.transport.connection_id == CONNECTION_ID
        client.write("session/new", id=1, params={})
        await server.until(lambda: server.messages("session/new"))
        await (await server.stream()).event(result(1, sessionId="s"))
        stream = await server.stream("s")
        client.prompt(2)
        await server.until(lambda: server.messages("session/prompt"))
        await stream.event(update("hello"))
        await stream.event({"jsonrpc": "2.0", "id": "q", "method": "session/request_permission", "params": {}})
        await client.says('"q"')
        client.write(id="q", result={})
        await server.until(lambda: server.messages(None))
        await stream.event(result(2))
        await client.answer(2)
    assert client.ends == [None]
    first, *others = server.exchanges
    assert "acp-connection-id" not in first.headers
    assert {exchange.headers["acp-connection-id"] for exchange in others} == {CONNECTION_ID}
    sent = [(exchange.verb, exchange.method, exchange.session_id) for exchange in server.exchanges]
    assert sent == [
        ("POST", "initialize", None),
        ("GET", None, None),
        ("POST", "session/new", None),
        ("GET", None, "s"),
        ("POST", "session/prompt", "s"),
        ("POST", None, "s"),
        ("DELETE", None, None),
    ]
    for exchange in server.exchanges:
        assert ("text/event-stream" in exchange.headers["accept"]) == (exchange.verb == "GET")
        assert exchange.verb != "POST" or exchange.headers["content-type"] == "application/json"
    assert client.notes == []


@pytest.mark.parametrize("method", ["session/load", "session/resume"])
async def test_the_stream_of_a_session_is_open_before_the_session_is_attached(server: HttpServer, method: str) -> None:
    async with connected(server) as client:
        client.write(method, id=1, params={"sessionId": "old"})
        await server.until(lambda: server.messages(method))
        assert "old" in server.streams


async def test_a_subagent_that_is_announced_has_a_stream(server: HttpServer) -> None:
    async with connected(server) as client:
        announced = {"sessionUpdate": "subagent_update", "sessionId": "child"}
        await (await server.stream()).event(
            {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": announced}}
        )
        await (await server.stream("child")).event(update("from below", "child"))
        await client.says("from below")


async def test_subagents_without_number_have_no_streams_without_number(
    server: HttpServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_streams, "_MOST", 3)
    async with connected(server) as client:
        for number in range(9):
            announced = {"sessionUpdate": "subagent_update", "sessionId": f"child-{number}"}
            params = {"sessionId": "s", "update": announced}
            await (await server.stream()).event({"jsonrpc": "2.0", "method": "session/update", "params": params})
        await client.notes_say("none was opened for child-8")
        await server.stream("child-2")
        assert "child-3" not in server.streams


async def test_a_session_that_is_closed_has_no_stream_any_more(server: HttpServer) -> None:
    async with connected(server) as client:
        client.write("session/close", id=1, params={"sessionId": "s"})
        stream = await server.stream("s")
        await server.until(lambda: server.messages("session/close"))
        await stream.event(result(1))
        await client.answer(1)
        assert sum(exchange.session_id == "s" and exchange.verb == "GET" for exchange in server.exchanges) == 1


async def test_a_session_that_is_opened_again_at_once(server: HttpServer) -> None:
    """The server may learn of the end of the first stream later than of the second."""
    refused: list[Exchange] = []

    async def refuse(exchange: Exchange) -> bool:
        if exchange.verb == "GET" and exchange.session_id == "s" and server.messages("session/close") and not refused:
            refused.append(exchange)
            await exchange.answer(409, "somebody listens already")
            return True
        return False

    server.on = refuse
    async with connected(server) as client:
        client.write("session/close", id=1, params={"sessionId": "s"})
        first = await server.stream("s")
        await server.until(lambda: server.messages("session/close"))
        await first.event(result(1))
        await client.answer(1)
        client.write("session/load", id=2, params={"sessionId": "s"})
        again = await server.stream("s", after=first)
        await again.event(update("told again"))
        await again.event(result(2))
        await client.answer(2)
        assert texts(client) == [1, "told again", 2]
        assert client.notes == []
    assert len(refused) == 1


async def test_initialize_once_more_is_another_connection(server: HttpServer) -> None:
    """As a host does that has been told to speak the other version."""
    async with connected(server) as client:
        first = await server.stream()
        client.write("initialize", id=1, params={})
        await client.answer(1)
        await server.stream(after=first)
        sent = [(exchange.verb, "acp-connection-id" in exchange.headers) for exchange in server.exchanges]
        assert sent[2:4] == [("POST", False), ("DELETE", True)]


async def test_an_agent_that_refuses_initialize_is_heard(server: HttpServer) -> None:
    async def refuse(exchange: Exchange) -> bool:
        error = {"jsonrpc": "2.0", "id": 0, "error": {"code": -32022, "message": "no"}}
        await exchange.answer(400, json.dumps(error), Content_Type="application/json")
        return True

    server.on = refuse
    async with connected(server) as client:
        assert (await client.answer(0))["error"]["code"] == -32022
    assert [exchange.verb for exchange in server.exchanges] == ["POST"]


async def test_the_id_of_the_connection_may_be_in_the_result_alone(server: HttpServer) -> None:
    async def answer(exchange: Exchange) -> bool:
        if exchange.method == "initialize":
            await exchange.answer(200, json.dumps(result(0, connectionId="in-the-result")))
        return exchange.method == "initialize"

    server.on = answer
    async with connected(server) as client:
        assert client.transport.connection_id == "in-the-result"


async def test_an_answer_may_come_with_the_post(server: HttpServer) -> None:
    async def answer(exchange: Exchange) -> bool:
        if exchange.method == "session/list":
            await exchange.answer(200, json.dumps(result(1, sessions=[]), indent=2), Content_Type="application/json")
        return exchange.method == "session/list"

    server.on = answer
    async with connected(server) as client:
        client.write("session/list", id=1)
        assert (await client.answer(1))["result"] == {"sessions": []}


# --- one stream, as the earlier text has it ---------------------------------------------------------------------------


@pytest.mark.parametrize("status", [400, 404, 405, 406, 409, 501])
async def test_a_server_with_one_stream(server: HttpServer, status: int) -> None:
    async def refuse(exchange: Exchange) -> bool:
        if exchange.verb == "GET" and exchange.session_id is not None:
            await exchange.answer(status, "one is enough", Content_Type="text/plain")
            return True
        return False

    server.on = refuse
    async with connected(server) as client:
        for number, session_id in enumerate(["s", "t"], 1):
            client.prompt(number, session_id)
            await server.until(lambda number=number: len(server.messages("session/prompt")) == number)
            stream = await server.stream()
            await stream.event(update("hello", session_id))
            await stream.event(result(number))
            await client.answer(number)
        assert texts(client) == ["hello", 1, "hello", 2]
        asked = [exchange.session_id for exchange in server.exchanges if exchange.verb == "GET"]
        assert asked == ([None, "s", "t"] if status == 404 else [None, "s"])
        assert ["no stream for session s" in note.message for note in client.notes] == ([] if status == 404 else [True])


async def test_a_server_that_sends_everything_on_both_streams(server: HttpServer) -> None:
    async with connected(server) as client:
        client.prompt(1)
        await server.until(lambda: server.messages("session/prompt"))
        for message in (update("hello"), update("hello"), update("world"), result(1)):
            for stream in (await server.stream("s"), await server.stream()):
                await stream.event(message)
        await client.answer(1)
        await client.until(lambda: len(client.messages) >= 5)
        assert sorted(map(str, texts(client))) == ["1", "hello", "hello", "world"]


async def test_a_session_that_is_known_only_once_it_is_loaded(server: HttpServer) -> None:
    loaded = asyncio.Event()

    async def refuse(exchange: Exchange) -> bool:
        if exchange.verb == "GET" and exchange.session_id is not None and not loaded.is_set():
            await exchange.answer(404)
            return True
        return False

    server.on = refuse
    async with connected(server) as client:
        client.write("session/load", id=1, params={"sessionId": "s"})
        await server.until(lambda: server.messages("session/load"))
        loaded.set()
        await (await server.stream()).event(result(1))
        await (await server.stream("s")).event(update("hello"))
        await client.says("hello")
        assert client.notes == []


# --- order ------------------------------------------------------------------------------------------------------------


async def test_an_answer_waits_for_what_its_sessions_stream_brings(server: HttpServer) -> None:
    async with connected(server) as client:
        client.prompt(1)
        await server.until(lambda: server.messages("session/prompt"))
        stream = await server.stream("s")
        await (await server.stream()).event(result(1))
        await (await server.stream()).event(update("of the connection", "other"))
        await client.says("of the connection")  # so the answer has come
        await stream.send("".join(f"data: {json.dumps(update(text))}\n\n" for text in ("one", "two", "three")))
        await client.answer(1)
        assert texts(client) == ["of the connection", "one", "two", "three", 1]


async def test_an_answer_waits_not_for_ever_and_nothing_is_lost(server: HttpServer) -> None:
    async with connected(server) as client:
        client.prompt(1)
        await server.until(lambda: server.messages("session/prompt"))
        stream = await server.stream("s")
        before = asyncio.get_running_loop().time()
        await (await server.stream()).event(result(1))
        await client.answer(1)
        assert 0.2 < asyncio.get_running_loop().time() - before < 20
        await stream.event(update("late"))
        await client.says("late")


async def test_a_history_comes_before_the_answer_to_load(server: HttpServer) -> None:
    async with connected(server) as client:
        client.write("session/load", id=1, params={"sessionId": "s"})
        await server.until(lambda: server.messages("session/load"))
        stream = await server.stream("s")
        await (await server.stream()).event(result(1))
        for number in range(5):
            await stream.event(update(f"{number}"))
            await client.says(f'"{number}"')
        await client.answer(1)
        assert texts(client) == ["0", "1", "2", "3", "4", 1]


async def test_what_is_held_is_delivered_before_the_end(server: HttpServer) -> None:
    async with connected(server) as client:
        client.prompt(1)
        await server.until(lambda: server.messages("session/prompt"))
        connection = await server.stream()
        await connection.event(result(1))
        await connection.event(update("of the connection", "other"))
        await client.says("of the connection")
    assert texts(client) == ["of the connection", 1]


async def test_a_message_waits_for_the_one_before_it_in_its_session_only(server: HttpServer) -> None:
    go_on = asyncio.Event()

    async def delay(exchange: Exchange) -> bool:
        if exchange.method == "session/prompt" and exchange.session_id == "slow":
            await go_on.wait()
        return False

    server.on = delay
    async with connected(server) as client:
        client.prompt(1, "slow")
        client.write("session/cancel", params={"sessionId": "slow"})
        client.write("$/cancel_request", params={"requestId": 1})
        client.prompt(2, "quick")
        await server.until(lambda: len(server.messages("session/prompt")) == 2)
        assert not server.messages("session/cancel")
        go_on.set()
        await server.until(lambda: server.messages("$/cancel_request"))
        assert server.messages("session/cancel")


async def test_drain_holds_back_who_writes_faster_than_the_server_takes(server: HttpServer) -> None:
    go_on = asyncio.Event()

    async def delay(exchange: Exchange) -> bool:
        if exchange.method == "big":
            await go_on.wait()
        return False

    server.on = delay
    async with connected(server) as client:
        await client.transport.drain()
        client.write("big", params={"data": "x" * 300_000})
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await client.transport.drain()
        go_on.set()
        await client.transport.drain()


async def test_a_hundred_sessions_at_once(server: HttpServer) -> None:
    async with connected(server) as client:
        for number in range(1, 101):
            client.prompt(number, f"s{number}")
        await server.until(lambda: len(server.messages("session/prompt")) == 100)
        for number in range(1, 101):
            stream = await server.stream(f"s{number}")
            await stream.event(update("hello", f"s{number}"))
            await stream.event(result(number))
        for number in range(1, 101):
            await client.answer(number)
        assert len(client.messages) == 201
        assert client.notes == []


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


# --- life -------------------------------------------------------------------------------------------------------------


async def test_the_order_of_calls(server: HttpServer) -> None:
    client = Client(server.url)
    with pytest.raises(InvalidState):
        client.write("initialize", id=0)
    await client.transport.start(client)
    with pytest.raises(InvalidState):
        await client.transport.start(client)
    await asyncio.gather(client.transport.close(), client.transport.close())
    with pytest.raises(ConnectionClosed):
        client.write("initialize", id=0)
    with pytest.raises(ConnectionClosed):
        await client.transport.drain()
    assert client.ends == [None]
    never = HttpTransport(server.url)
    await never.close()
    with pytest.raises(InvalidState):
        await never.start(client)


async def test_what_was_written_before_a_close_is_sent(server: HttpServer) -> None:
    async with connected(server) as client:
        client.write("session/cancel", params={"sessionId": "s"})
    assert server.messages("session/cancel")
    assert server.exchanges[-1].verb == "DELETE"


@pytest.mark.parametrize("how", ["hang", "refuse", "cut"])
async def test_a_close_is_bounded_whatever_the_server_does(server: HttpServer, how: str) -> None:
    async def stall(exchange: Exchange) -> bool:
        if exchange.verb == "DELETE" or exchange.method == "session/prompt":
            if how == "refuse":
                await exchange.answer(500)
            elif how == "cut":
                exchange.cut()
            else:
                await exchange.ended.wait()
            return True
        return False

    server.on = stall
    async with connected(server, RemoteOptions(close_timeout=0.2)) as client:
        if how == "hang":
            client.prompt(1)
        begin = asyncio.get_running_loop().time()
        await client.transport.close()
        assert asyncio.get_running_loop().time() - begin < 10
        assert client.notes
    assert client.ends == [None]


async def test_a_close_before_the_answer_to_initialize(server: HttpServer) -> None:
    async def hang(exchange: Exchange) -> bool:
        await exchange.ended.wait()
        return True

    server.on = hang
    client = Client(server.url)
    await client.transport.start(client)
    client.write("initialize", id=0)
    await server.until(lambda: server.exchanges)
    await client.transport.close()
    assert client.ends == [None]


async def test_a_cancelled_close_goes_on(server: HttpServer) -> None:
    async with connected(server) as client:
        closing = asyncio.create_task(client.transport.close())
        await asyncio.sleep(0)
        closing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await closing
        await client.end()
    assert server.exchanges[-1].verb == "DELETE"
    assert not [task for task in asyncio.all_tasks() if "/acp" in task.get_name()]
