"""Agents elsewhere, behind Streamable HTTP: streams, refusals, and answers that never come."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

import acp_host
from acp_host import ConnectionLost, DiagnosticKind, OutcomeUnknown, RemoteOptions, RequestFailed, StartFailed
from tests.chaos.over_http import WORKSPACE, HttpAgent, over_http
from tests.transports.http_server import Exchange, serve

TOKEN = "a-token-that-nobody-may-see"


async def prompted(agent: HttpAgent, options: RemoteOptions | None = None) -> acp_host.TurnResult:
    async with acp_host.connect(agent.server.url, remote=options) as host:
        session = await host.new_session(WORKSPACE)
        result = await session.prompt("Hi")
        assert list(host.diagnostics) == []
        return result


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("size", [1, 3, 10_000])
async def test_r215_every_way_to_write_an_event(end: str, size: int) -> None:
    async def turn(agent: HttpAgent, prompt: Any) -> None:
        lines = json.dumps(agent.update("héllo 🎈"), ensure_ascii=False, indent=1).split("\n")
        event = [": keepalive", "", "event: message", "id: 1", "retry: 5", *(f"data: {line}" for line in lines), "", ""]
        data = ("\ufeff" + end.join(event)).encode()
        for start in range(0, len(data), size):
            await (await agent.stream()).send(data[start : start + size])
        await agent.done(prompt)

    async with over_http(turn) as agent:
        assert (await prompted(agent)).text == "héllo 🎈"


async def test_r216_events_beyond_the_maximum() -> None:
    async def turn(agent: HttpAgent, prompt: Any) -> None:
        stream = await agent.stream()
        await stream.event(agent.update("x" * 20_000))
        await agent.say("after it")
        await stream.event(agent.answer(prompt, {"stopReason": "end_turn", "more": "x" * 20_000}))

    async with over_http(turn) as agent:
        options = RemoteOptions(max_size=10_000)
        async with acp_host.connect(agent.server.url, remote=options, max_message_size=10_000) as host:
            session = await host.new_session(WORKSPACE)
            with pytest.raises(acp_host.PeerError):
                await (running := session.prompt("Hi"))
            assert running.text == "after it"
            assert {note.kind for note in host.diagnostics} == {DiagnosticKind.OVERSIZED}


@pytest.mark.parametrize("kind", ["application/json", "text/html"])
async def test_r217_no_stream_where_one_should_be(kind: str) -> None:
    async def spoil(exchange: Exchange) -> bool:
        if exchange.verb == "GET":
            await exchange.answer(200, "{}", Content_Type=kind)
        return exchange.verb == "GET"

    async with over_http(spoils=spoil) as agent:
        with pytest.raises(StartFailed, match=f"{kind} instead of an event stream") as caught:
            await acp_host.connect(agent.server.url)
        assert not caught.value.retryable


async def test_r218_a_stream_that_ends_in_a_turn() -> None:
    async def turn(agent: HttpAgent, prompt: Any) -> None:
        await agent.say("before ")
        stream = await agent.stream()
        await stream.end()
        await agent.stream(after=stream)
        await agent.say("after")
        await agent.done(prompt)

    async with over_http(turn) as agent, acp_host.connect(agent.server.url) as host:
        session = await host.new_session(WORKSPACE)
        assert (await session.prompt("Hi")).text == "before after"
        [note] = host.diagnostics
        assert "what was sent meanwhile may be missing" in note.message


async def test_r219_a_stream_that_breaks_in_a_turn() -> None:
    async def turn(agent: HttpAgent, prompt: Any) -> None:
        await agent.say("before ")
        (await agent.stream()).cut()

    async with over_http(turn) as agent, acp_host.connect(agent.server.url, reconnect=False) as host:
        session = await host.new_session(WORKSPACE)
        with pytest.raises(OutcomeUnknown):
            await session.prompt("Hi")
        assert isinstance(await host.wait_closed(), ConnectionLost)
        assert len(agent.server.messages("session/prompt")) == 1


async def test_r220_a_connection_that_is_forgotten() -> None:
    async def turn(agent: HttpAgent, prompt: Any) -> None:
        async def forget(exchange: Exchange) -> bool:
            await exchange.answer(404)
            return True

        agent.spoils = forget
        await (await agent.stream()).end()
        await (await agent.server.stream()).end()

    async with over_http(turn) as agent, acp_host.connect(agent.server.url, reconnect=False) as host:
        session = await host.new_session(WORKSPACE)
        with pytest.raises(OutcomeUnknown):
            await session.prompt("Hi")
        error = await host.wait_closed()
        assert isinstance(error, ConnectionLost)
        assert (error.http_status, error.retryable) == (404, True)


async def test_r221_the_answer_on_another_stream_than_the_text() -> None:
    async def turn(agent: HttpAgent, prompt: Any) -> None:
        await (await agent.server.stream()).event(agent.answer(prompt, {"stopReason": "end_turn"}))
        await asyncio.sleep(0.05)  # as on a way that takes longer
        await (await agent.stream()).send(
            "".join(f"data: {json.dumps(agent.update(text))}\n\n" for text in ("all ", "of ", "it"))
        )

    async with over_http(turn) as agent:
        assert (await prompted(agent)).text == "all of it"


@pytest.mark.parametrize("sends_all_on_both", [False, True])
async def test_r222_one_stream_for_everything(sends_all_on_both: bool) -> None:
    async def turn(agent: HttpAgent, prompt: Any) -> None:
        streams = [await agent.server.stream()]
        if sends_all_on_both:
            streams.append(await agent.stream())
        for message in (agent.update("ha "), agent.update("ha "), agent.answer(prompt, {"stopReason": "end_turn"})):
            for stream in streams:
                await stream.event(message)

    async def spoil(exchange: Exchange) -> bool:
        if exchange.verb == "GET" and exchange.session_id is not None and not sends_all_on_both:
            await exchange.answer(409)
            return True
        return False

    async with over_http(turn, spoil) as agent, acp_host.connect(agent.server.url) as host:
        session = await host.new_session(WORKSPACE)
        assert (await session.prompt("Hi")).text == "ha ha "


@pytest.mark.parametrize("status", [400, 409, 413, 429])
async def test_r223_a_message_that_is_refused(status: int) -> None:
    async def spoil(exchange: Exchange) -> bool:
        if exchange.method == "session/prompt" and b"too much" in exchange.body:
            await exchange.answer(status, f"no \x1b[2J {TOKEN}", Content_Type="text/plain")
            return True
        return False

    async with over_http(spoils=spoil) as agent:
        async with acp_host.connect(agent.server.url, remote=RemoteOptions(bearer=TOKEN)) as host:
            session = await host.new_session(WORKSPACE)
            with pytest.raises(RequestFailed, match=f"HTTP status {status}") as caught:
                await session.prompt("too much")
            assert TOKEN not in str(caught.value)
            assert (await session.prompt("Hi")).stop_reason == "end_turn"
        assert len(agent.server.messages("session/prompt")) == 2


@pytest.mark.parametrize("status", [None, 500, 502, 503])
async def test_r224_whether_a_message_arrived_is_not_known(status: int | None) -> None:
    async def spoil(exchange: Exchange) -> bool:
        if exchange.method != "session/prompt":
            return False
        if status is None:
            exchange.cut()
        else:
            await exchange.answer(status)
        return True

    async with over_http(spoils=spoil) as agent, acp_host.connect(agent.server.url) as host:
        session = await host.new_session(WORKSPACE)
        with pytest.raises(OutcomeUnknown):
            await session.prompt("Hi")
        assert len(agent.server.messages("session/prompt")) == 1


@pytest.mark.parametrize("status", [401, 403, 404, 405, 426, 501, 503])
async def test_r225_a_handshake_that_is_refused(status: int) -> None:
    async def spoil(exchange: Exchange) -> bool:
        await exchange.answer(status, f"no \x1b[2J {TOKEN}", Content_Type="text/plain")
        return True

    async with over_http(spoils=spoil) as agent:
        with pytest.raises(StartFailed, match=f"HTTP status {status}") as caught:
            await acp_host.connect(agent.server.url, remote=RemoteOptions(bearer=TOKEN))
        assert caught.value.http_status == status
        assert not {TOKEN, "\x1b"} & {part for part in (TOKEN, "\x1b") if part in str(caught.value)}


async def test_r226_a_redirect() -> None:
    async with serve() as other:

        async def spoil(exchange: Exchange) -> bool:
            await exchange.answer(307, Location=f"{other.url}?token=theirs")
            return True

        async with over_http(spoils=spoil) as agent:
            with pytest.raises(StartFailed, match="nothing was sent there") as caught:
                await acp_host.connect(agent.server.url, remote=RemoteOptions(bearer=TOKEN))
            assert "theirs" not in str(caught.value)
        assert other.exchanges == []


async def test_r227_cookies_that_keep_a_client_at_one_machine() -> None:
    async def spoil(exchange: Exchange) -> bool:
        if exchange.verb == "GET" and len(agent.server.messages("initialize")) == 1 and agent.server.streams:
            await exchange.answer(404)  # so the connection is made anew
            return True
        if exchange.method == "initialize":
            result = {"jsonrpc": "2.0", "id": exchange.message["id"], "result": {"protocolVersion": 1}}
            body = json.dumps(result)
            await exchange.answer(200, body, Acp_Connection_Id="1", Set_Cookie="machine=seven; Path=/")
        return exchange.method == "initialize"

    async with over_http(spoils=spoil) as agent, acp_host.connect(agent.server.url, reconnect=True):
        stream = await agent.server.stream()
        await stream.end()
        await agent.server.until(lambda: len(agent.server.messages("initialize")) == 2)
        first, *others = [exchange.headers.get("cookie") for exchange in agent.server.exchanges]
        assert (first, set(others)) == (None, {"machine=seven"})


async def test_r228_a_message_that_is_taken_late() -> None:
    go_on = asyncio.Event()

    async def spoil(exchange: Exchange) -> bool:
        if exchange.method == "session/prompt":
            await go_on.wait()
        return False

    async def turn(agent: HttpAgent, prompt: Any) -> None:
        await agent.server.until(lambda: agent.server.messages("session/cancel"))
        await (await agent.stream()).event(agent.answer(prompt, {"stopReason": "cancelled"}))

    async with over_http(turn, spoil) as agent, acp_host.connect(agent.server.url) as host:
        session = await host.new_session(WORKSPACE)
        running = session.prompt("Hi")
        await agent.server.until(lambda: agent.server.messages("session/prompt"))
        running.cancel()
        assert not agent.server.messages("session/cancel")
        go_on.set()
        assert (await running).stop_reason == "cancelled"


async def test_r229_a_task_that_is_cancelled_anywhere() -> None:
    async def converse(agent: HttpAgent) -> None:
        async with acp_host.connect(agent.server.url) as host:
            session = await host.new_session(WORKSPACE)
            await session.prompt("Hi")

    async with over_http() as agent:
        steps = 0
        while True:
            task = asyncio.create_task(converse(agent))
            for _ in range(steps):
                await asyncio.sleep(0)
            if task.done():
                await task
                return
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            steps = steps * 3 // 2 + 1
