"""WebSocketTransport: messages, order, backpressure and the end, with servers on loopback."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import AsyncIterator
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.asyncio.server import ServerConnection

from acp_host.diagnostics import DiagnosticKind
from acp_host.errors import ConnectionClosed, ConnectionLost, InvalidInput, InvalidState, StartFailed
from acp_host.transports import RemoteOptions
from acp_host.transports._frames import as_lines
from acp_host.transports.websocket import WebSocketTransport
from acp_host.wire.framing import LineFramer
from tests.transports.conftest import Recorder
from tests.transports.websocket_servers import Links, NamedHosts, Server, listening, serving

TOKEN = "a-token-that-nobody-may-see-1"


@pytest.fixture
async def links() -> AsyncIterator[Links]:
    asyncio.get_running_loop()
    before = asyncio.all_tasks()
    made = Links()
    yield made
    for transport in made.made:
        await transport.close()
    left = {task for task in asyncio.all_tasks() - before if "acp_host" in task.get_name() or "ws:" in task.get_name()}
    assert left == set()


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> NamedHosts:
    return NamedHosts(monkeypatch)


async def echo(connection: ServerConnection) -> None:
    async for message in connection:
        await connection.send(message)


def says(*frames: str | bytes) -> Any:
    """What a server does that sends these frames and then waits."""

    async def handler(connection: ServerConnection) -> None:
        for frame in frames:
            await connection.send(frame)
        await connection.wait_closed()

    return handler


# --- messages -------------------------------------------------------------------------------------------------------


async def test_each_message_is_one_text_frame_and_order_is_kept(links: Links) -> None:
    seen: list[str | bytes] = []

    async def handler(connection: ServerConnection) -> None:
        async for message in connection:
            seen.append(message)
            await connection.send(message)

    async with serving(handler) as server:
        transport, recorder = await links.start(server.url())
        transport.write(b'{"n":0}\n{"n":1}\n')
        transport.write(b'{"n":')
        transport.write(b"2}\n")
        await transport.drain()
        await recorder.says('{"n":2}')
        assert seen == ['{"n":0}', '{"n":1}', '{"n":2}']
        assert recorder.data == b'{"n":0}\n{"n":1}\n{"n":2}\n'
        await transport.close()
    assert recorder.ends == [None]
    assert links.notes == []


@pytest.mark.parametrize(
    "frame, lines",
    [
        ('{\n  "a": "x",\r\n  "b": [\n1]\n}\n', [{"a": "x", "b": [1]}]),
        ('{"a":1}\n{"a":2}\r\n\n{"a":3}', [{"a": 1}, {"a": 2}, {"a": 3}]),
        ("", []),
        (" \r\n\t", []),
        ('{"text":"line\\nbreak é"}', [{"text": "line\nbreak é"}]),
    ],
)
async def test_line_breaks_in_a_frame_break_no_message(links: Links, frame: str, lines: list[Any]) -> None:
    async with serving(says(frame, '"end"')) as server:
        _transport, recorder = await links.start(server.url())
        await recorder.says('"end"')
        framed = LineFramer().feed(bytes(recorder.data))
        assert [json.loads(bytes(line)) for line in framed] == [*lines, "end"]


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(st.characters(exclude_categories=["Cs"])),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner),
    ),
    st.integers(0, 3),
)
def test_json_however_it_is_laid_out_is_one_line(value: Any, indent: int) -> None:
    frame = json.dumps(value, indent=indent, ensure_ascii=False).encode()
    lines = as_lines(frame)
    assert lines.count(b"\n") == 1
    assert orjson.loads(lines) == value


@given(st.lists(st.dictionaries(st.text("ab"), st.integers(0, 9)), min_size=1))
def test_messages_that_share_a_frame_stay_apart(values: list[Any]) -> None:
    frame = "\n".join(json.dumps(value) for value in values).encode()
    assert [json.loads(line) for line in as_lines(frame).splitlines()] == values


async def test_a_binary_frame_is_ignored_with_a_diagnostic_and_breaks_nothing(links: Links) -> None:
    async with serving(says(b'{"a":1}', '{"a":2}')) as server:
        _transport, recorder = await links.start(server.url())
        await recorder.says('{"a":2}')
        assert recorder.data == b'{"a":2}\n'
    [note] = links.notes
    assert note.kind is DiagnosticKind.TRANSPORT
    assert "binary frame of 7 bytes" in note.message


async def test_a_flood_of_binary_frames_makes_few_diagnostics(links: Links) -> None:
    async with serving(says(*[b"x"] * 3000, '"end"')) as server:
        _transport, recorder = await links.start(server.url())
        await recorder.says("end")
    assert len(links.notes) < 40


async def test_what_arrives_together_is_delivered_together(links: Links) -> None:
    frames = [f'{{"n":{number}}}' for number in range(5000)]
    async with serving(says(*frames)) as server:
        _transport, recorder = await links.start(server.url())
        await recorder.says('{"n":4999}')
    assert recorder.data == "".join(f"{frame}\n" for frame in frames).encode()
    assert len(recorder.chunks) < 500


async def test_a_message_of_ten_megabytes_both_ways(links: Links) -> None:
    async with serving(echo, max_size=None) as server:
        transport, recorder = await links.start(server.url(), warn_size=None)
        message = b'"' + b"x" * 10_000_000 + b'"\n'
        transport.write(message)
        await recorder.until(lambda: len(recorder.data) == len(message))
        assert recorder.data == message


async def test_a_long_message_is_warned_of_before_it_is_sent(links: Links) -> None:
    async with serving(echo) as server:
        transport, recorder = await links.start(server.url(), warn_size=1000)
        transport.write(b'"' + b"x" * 998 + b'"\n')
        await recorder.says('x"')
        assert links.notes == []
        transport.write(b'"' + b"x" * 999 + b'"\n')
        assert links.says("1001 bytes is sent")


# --- the handshake --------------------------------------------------------------------------------------------------


async def test_the_name_of_the_connection_is_kept(links: Links) -> None:
    async with serving(headers={"Acp-Connection-Id": "conn-7"}) as server:
        transport, _ = await links.start(server.url())
        assert transport.connection_id == "conn-7"
    async with serving(headers={"Acp-Connection-Id": "x" * 5000}) as server:
        transport, _ = await links.start(server.url())
        assert len(transport.connection_id or "") == 200
    async with serving() as server:
        transport, _ = await links.start(server.url())
        assert transport.connection_id is None


async def test_headers_token_and_subprotocol_reach_the_server(links: Links) -> None:
    async with serving(subprotocols=["acp.v1"]) as server:
        await links.start(
            server.url("/agents/1?team=a"),
            headers={"X-Team": "ops", "Origin": "https://editor.example"},
            bearer=TOKEN,
            subprotocols=["acp.v1", "other"],
        )
        [request] = server.requests
        assert request.path == "/agents/1?team=a"
        assert request.headers["X-Team"] == "ops"
        assert request.headers["Origin"] == "https://editor.example"
        assert request.headers.get_all("Authorization") == [f"Bearer {TOKEN}"]
        assert server.open[0].subprotocol == "acp.v1"


async def test_user_and_password_of_the_url_are_the_authorization(links: Links) -> None:
    async with serving() as server:
        await links.start(server.url(host="user:pa55word@127.0.0.1"))
        assert server.requests[0].headers.get_all("Authorization") == ["Basic dXNlcjpwYTU1d29yZA=="]
    for options in ({"bearer": TOKEN}, {"headers": {"authorization": "Basic x"}}):
        with pytest.raises(InvalidInput, match="another Authorization"):
            WebSocketTransport("ws://user:pa55word@host/", RemoteOptions(**options))


def cookie_of(server: Server) -> list[str | None]:
    return [request.headers.get("Cookie") for request in server.requests]


async def test_cookies_of_the_server_come_back_with_the_next_connection(links: Links) -> None:
    set_cookies = [
        ("Set-Cookie", "node=7; Path=/; HttpOnly"),
        ("Set-Cookie", "elsewhere=1; Path=/other"),
        ("Set-Cookie", "encrypted=1; Path=/; Secure"),
        ("Set-Cookie", "foreign=1; Path=/; Domain=example.com"),
        ("Set-Cookie", "gone=1; Path=/; Max-Age=0"),
    ]
    async with serving(headers=lambda _: set_cookies) as server:
        first, _ = await links.start(server.url(), cookies={"mine": "1"})
        await first.close()
        second = first.again({})
        assert second is not None
        await second.start(Recorder())
        await second.close()
        assert cookie_of(server) == ["mine=1", "mine=1; node=7"]


async def test_a_cookie_of_the_server_takes_the_place_of_one_that_was_given(links: Links) -> None:
    async with serving(headers={"Set-Cookie": "node=8; Path=/"}) as server:
        first, _ = await links.start(server.url(), cookies={"node": "7"})
        second = first.again({})
        assert second is not None
        await second.start(Recorder())
        await second.close()
        assert cookie_of(server) == ["node=7", "node=8"]


async def test_a_server_cannot_make_the_host_keep_cookies_without_end(links: Links) -> None:
    def many(request: Any) -> list[tuple[str, str]]:
        return [("Set-Cookie", f"c{number}=1; Path=/") for number in range(100)]

    async with serving(headers=many) as server:
        transport, _ = await links.start(server.url())
        assert len(transport._cookies.jar) == 50


def test_no_transport_can_be_made_again_with_an_environment() -> None:
    transport = WebSocketTransport("ws://127.0.0.1/")
    assert transport.again({"KEY": "value"}) is None


async def test_credentials_in_the_clear_to_another_machine_are_warned_of(links: Links, names: NamedHosts) -> None:
    async with serving() as server:
        await links.start(server.url(host=names.add("box.example")))
        await links.start(server.url(), bearer=TOKEN)
        assert links.notes == []
        await links.start(server.url(host="box.example"), bearer=TOKEN)
    assert links.says("not encrypted")
    assert not links.says(TOKEN)


async def test_messages_are_compressed_to_another_machine_and_not_within_one(links: Links, names: NamedHosts) -> None:
    async with serving(compression="deflate") as server:
        for host, options in (
            ("127.0.0.1", {}),
            (names.add("box.example"), {}),
            ("box.example", {"compression": False}),
        ):
            await links.start(server.url(host=host), **options)
        offers = [request.headers.get("Sec-WebSocket-Extensions") for request in server.requests]
    assert [offer is not None for offer in offers] == [False, True, False]


# --- keeping secrets ------------------------------------------------------------------------------------------------


async def test_no_secret_is_in_descriptions_errors_or_logs(
    links: Links, names: NamedHosts, caplog: pytest.LogCaptureFixture
) -> None:
    secrets = ("s3cret-in-query", "pa55word", "h3ader-secret", "c00kie-secret", "set-c00kie-secret")
    caplog.set_level(logging.DEBUG)
    caplog.set_level(logging.CRITICAL, "websockets.server")
    said = " ".join(secrets)

    async def handler(connection: ServerConnection) -> None:
        await connection.recv()
        await connection.close(1008, said)

    async with serving(handler, headers={"Set-Cookie": f"c={secrets[4]}; Path=/"}) as server:
        url = server.url(f"/acp?token={secrets[0]}", host=f"user:{secrets[1]}@127.0.0.1")
        options: dict[str, Any] = {"headers": {"X-Key": secrets[2]}, "cookies": {"s": secrets[3]}}
        transport, recorder = await links.start(url, **options)
        transport.write(b"{}\n")
        error = await recorder.end()
        with pytest.raises(ConnectionLost) as raised:
            transport.write(b"{}\n")
        shown = [str(error), repr(error), str(raised.value), transport.description, transport.peer, repr(transport)]
        shown += [repr(RemoteOptions(**options)), caplog.text, *(note.message for note in links.notes)]
        for secret in secrets:
            assert secret in transport.secrets
            assert not [text for text in shown if secret in text], secret
        assert "refuses to go on" in str(error)


# --- the end --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "code, words, retryable",
    [
        (1000, "in good order", True),
        (1001, "going away", True),
        (1002, "broke the WebSocket protocol", False),
        (1003, "takes no text messages", False),
        (1007, "no UTF-8", False),
        (1008, "its own rules", False),
        (1009, "takes no messages as long as one that it was sent (the longest was 7 bytes)", False),
        (1010, "an extension", False),
        (1011, "failed inside", True),
        (1012, "being restarted", True),
        (1013, "too much to do", True),
        (1014, "a gateway", True),
        (3000, "a reason of its own", True),
        (4000, "a reason of its own", True),
        (4401, "a reason of its own", False),
        (4999, "a reason of its own", True),
    ],
)
async def test_a_close_code_says_what_happened(links: Links, code: int, words: str, retryable: bool) -> None:
    async def handler(connection: ServerConnection) -> None:
        await connection.recv()
        await connection.close(code, "because \x1b[31mred")

    async with serving(handler) as server:
        transport, recorder = await links.start(server.url())
        transport.write(b'{"a":1}\n')
        error = await recorder.end()
        assert isinstance(error, ConnectionLost)
        assert (error.close_code, error.retryable) == (code, retryable)
        assert words in str(error)
        assert f"close code {code}" in str(error)
        assert str(error).endswith(r"because \x1b[31mred")
        assert server.url() in str(error)


async def test_a_close_without_a_code(links: Links) -> None:
    async def handler(connection: ServerConnection) -> None:
        connection.protocol.send_close()
        connection.send_data()
        await connection.wait_closed()

    async with serving(handler) as server:
        _transport, recorder = await links.start(server.url())
        error = await recorder.end()
        assert isinstance(error, ConnectionLost)
        assert error.close_code == 1005
        assert "without a word" in str(error)


async def test_a_connection_that_is_cut(links: Links) -> None:
    async def handler(connection: ServerConnection) -> None:
        await connection.recv()
        connection.transport.abort()

    async with serving(handler) as server:
        transport, recorder = await links.start(server.url())
        transport.write(b"{}\n")
        error = await recorder.end()
        assert isinstance(error, ConnectionLost)
        assert (error.close_code, error.retryable) == (1006, True)
        assert "cut without a goodbye" in str(error)
        for call in (lambda: transport.write(b"{}\n"), lambda: asyncio.wait_for(transport.drain(), 1)):
            with pytest.raises(ConnectionLost, match="cut without a goodbye") as raised:
                await call()
            assert raised.value.close_code == 1006


async def test_what_came_before_the_end_is_delivered_before_it(links: Links) -> None:
    async def handler(connection: ServerConnection) -> None:
        for number in range(100):
            await connection.send(str(number))
        await connection.close(1011)

    async with serving(handler) as server:
        _transport, recorder = await links.start(server.url())
        await recorder.end()
        assert recorder.data == b"".join(b"%d\n" % number for number in range(100))


async def test_a_message_that_is_too_long_ends_the_connection_and_says_what_to_do(links: Links) -> None:
    async with serving(says("x" * 1000, "x" * 1001)) as server:
        _transport, recorder = await links.start(server.url(), max_size=1000)
        error = await recorder.end()
        assert isinstance(error, ConnectionLost)
        assert (error.close_code, error.retryable) == (1009, False)
        assert "more than 1000 bytes" in str(error)
        assert "max_size" in str(error)
        assert len(recorder.data) == 1001


async def test_a_compression_bomb_is_bounded_by_the_longest_message(links: Links, names: NamedHosts) -> None:
    async with serving(says("x" * 20_000_000), compression="deflate") as server:
        url = server.url(host=names.add("box.example"))
        _transport, recorder = await links.start(url, max_size=1_000_000)
        error = await recorder.end()
        assert isinstance(error, ConnectionLost)
        assert error.close_code == 1009
        assert not recorder.data


async def test_text_that_is_no_utf8_ends_the_connection(links: Links) -> None:
    async def handler(connection: ServerConnection) -> None:
        connection.transport.write(b"\x81\x02\xff\xfe")
        await connection.wait_closed()

    async with serving(handler) as server:
        _transport, recorder = await links.start(server.url())
        error = await recorder.end()
        assert isinstance(error, ConnectionLost)
        assert error.close_code == 1007
        assert "no UTF-8" in str(error)


async def test_a_broken_frame_ends_the_connection(links: Links) -> None:
    async def handler(connection: ServerConnection) -> None:
        connection.transport.write(b"\xff\xff\xff")
        await connection.wait_closed()

    async with serving(handler) as server:
        _transport, recorder = await links.start(server.url())
        error = await recorder.end()
        assert isinstance(error, ConnectionLost)
        assert error.close_code == 1002
        assert "broke the WebSocket protocol" in str(error)


async def test_a_server_that_answers_no_ping_is_lost(links: Links) -> None:
    async def handler(connection: ServerConnection) -> None:
        connection.transport.pause_reading()
        await connection.wait_closed()

    async with serving(handler) as server:
        _transport, recorder = await links.start(
            server.url(), keepalive=0.05, keepalive_timeout=0.05, close_timeout=0.1
        )
        error = await recorder.end()
        assert isinstance(error, ConnectionLost)
        assert (error.close_code, error.retryable) == (1006, True)
        assert "ping within 0.05 s" in str(error)
        server.open[0].transport.abort()


# --- backpressure and close -----------------------------------------------------------------------------------------


async def test_drain_waits_for_a_server_that_does_not_read(links: Links) -> None:
    reads = asyncio.Event()

    async def handler(connection: ServerConnection) -> None:
        connection.transport.pause_reading()
        await reads.wait()
        connection.transport.resume_reading()
        await echo(connection)

    async with serving(handler, max_size=None) as server:
        transport, recorder = await links.start(server.url(), warn_size=None)
        for _ in range(200):
            transport.write(b'"' + b"x" * 99_998 + b'"\n')  # never waits
        drained = asyncio.ensure_future(transport.drain())
        await asyncio.wait([drained], timeout=0.1)
        assert not drained.done()
        reads.set()
        await asyncio.wait_for(drained, 20)
        await recorder.until(lambda: len(recorder.data) == 200 * 100_001)


async def test_close_sends_what_is_queued_and_says_goodbye(links: Links) -> None:
    seen: list[str | bytes] = []
    ended: list[int | None] = []

    async def handler(connection: ServerConnection) -> None:
        async for message in connection:
            seen.append(message)
        ended.append(connection.close_code)

    async with serving(handler) as server:
        transport, recorder = await links.start(server.url())
        for number in range(100):
            transport.write(b"%d\n" % number)
        await transport.close()
        await server.open[0].wait_closed()
        assert seen == [str(number) for number in range(100)]
        assert ended == [1000]
        assert recorder.ends == [None]
        await transport.close()
        assert recorder.ends == [None]
        with pytest.raises(ConnectionClosed):
            await transport.drain()
        with pytest.raises(ConnectionClosed):
            transport.write(b"{}\n")


async def test_close_is_bounded_though_the_server_neither_reads_nor_answers(links: Links) -> None:
    async def handler(connection: ServerConnection) -> None:
        connection.transport.pause_reading()
        await connection.wait_closed()

    async with serving(handler) as server:
        transport, recorder = await links.start(server.url(), close_timeout=0.2, warn_size=None)
        transport.write(b"x" * 10_000_000 + b"\n")
        start = time.monotonic()
        await transport.close()
        assert time.monotonic() - start < 20
        assert recorder.ends == [None]
        assert links.says("did not say goodbye within 0.2 s")
        server.open[0].transport.abort()


async def test_a_caller_that_is_cancelled_leaves_the_close_at_work(links: Links) -> None:
    async with serving() as server:
        transport, recorder = await links.start(server.url())
        closing = asyncio.ensure_future(transport.close())
        await asyncio.sleep(0)
        closing.cancel()
        await asyncio.wait([closing])
        assert closing.cancelled()
        await recorder.end()
        assert recorder.ends == [None]
        await transport.close()


async def test_a_start_that_is_cancelled_leaves_nothing(links: Links) -> None:
    asked = asyncio.Event()

    async def stall(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        asked.set()
        await reader.read()

    async with listening(stall) as port:
        transport, recorder = links.transport(f"ws://127.0.0.1:{port}/"), Recorder()
        starting = asyncio.ensure_future(transport.start(recorder))
        await asyncio.wait_for(asked.wait(), 20)
        starting.cancel()
        await asyncio.wait([starting])
        assert starting.cancelled()
        await transport.close()
        assert recorder.ends == []


async def test_a_close_ends_a_start(links: Links) -> None:
    asked = asyncio.Event()

    async def stall(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        asked.set()
        await reader.read()

    async with listening(stall) as port:
        transport, recorder = links.transport(f"ws://127.0.0.1:{port}/"), Recorder()
        starting = asyncio.ensure_future(transport.start(recorder))
        await asyncio.wait_for(asked.wait(), 20)
        await transport.close()
        with pytest.raises(ConnectionClosed):
            await starting
        assert recorder.ends == []


async def test_a_transport_is_used_once(links: Links) -> None:
    fresh = links.transport("ws://127.0.0.1:9/")
    with pytest.raises(InvalidState):
        fresh.write(b"{}\n")
    with pytest.raises(InvalidState):
        await fresh.drain()
    await fresh.close()
    with pytest.raises(InvalidState):
        await fresh.start(Recorder())
    async with serving() as server:
        transport, _ = await links.start(server.url())
        with pytest.raises(InvalidState):
            await transport.start(Recorder())


async def test_a_failed_start_reports_no_end(links: Links) -> None:
    async with serving(answer=lambda _: (503, {}, b"")) as server:
        transport, recorder = links.transport(server.url()), Recorder()
        with pytest.raises(StartFailed):
            await transport.start(recorder)
        await transport.close()
        assert recorder.ends == []


async def test_a_receiver_that_raises_stops_no_close(links: Links) -> None:
    failures: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: failures.append(context))

    class Failing(Recorder):
        def connection_lost(self, error: Any) -> None:
            raise RuntimeError("no")

    async with serving() as server:
        transport = links.transport(server.url())
        await transport.start(Failing())
        await transport.close()
    assert [str(failure["exception"]) for failure in failures] == ["no"]
