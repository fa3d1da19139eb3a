"""Streamable HTTP against a server that does what a test says: conversations, their order and their end."""

from __future__ import annotations

import asyncio
import json

import pytest

from acp_host.errors import ConnectionClosed, InvalidState
from acp_host.transports import RemoteOptions
from acp_host.transports.streamable_http import HttpTransport, _streams
from tests.transports.http_clients import Client, connected, result, texts, update
from tests.transports.http_server import CONNECTION_ID, Exchange, HttpServer

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
