"""WebSocketTransport: every way in which a WebSocket is not opened says what happened and what to do."""

from __future__ import annotations

import asyncio
import socket
import ssl
import struct
from collections.abc import AsyncIterator
from typing import Any

import pytest
import trustme
from websockets.http11 import Request

from acp_host.errors import InvalidInput, StartFailed
from acp_host.transports import RemoteOptions
from acp_host.transports._websocket_errors import not_opened
from acp_host.transports.remote_address import RemoteAddress
from acp_host.transports.websocket import WebSocketTransport
from tests.transports.conftest import Recorder
from tests.transports.websocket_servers import Answer, Links, NamedHosts, listening, serving

TOKEN = "a-token-that-nobody-may-see-1"


@pytest.fixture
async def links() -> AsyncIterator[Links]:
    made = Links()
    yield made
    for transport in made.made:
        await transport.close()


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> NamedHosts:
    return NamedHosts(monkeypatch)


async def failure(links: Links, url: str, **options: Any) -> StartFailed:
    transport, recorder = links.transport(url, **options), Recorder()
    with pytest.raises(StartFailed) as raised:
        await transport.start(recorder)
    assert recorder.ends == []
    return raised.value


# --- answers of a server --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "status, options, words, retryable",
    [
        (200, {}, "like a web page", False),
        (400, {}, "is this the path of its ACP endpoint", False),
        (401, {}, "give a token with RemoteOptions(bearer=…)", False),
        (401, {"bearer": TOKEN}, "it did not accept the token", False),
        (401, {"headers": {"X-Key": TOKEN}}, "it did not accept the headers", False),
        (403, {}, "refuses this user, this Origin or this Host", False),
        (404, {}, "nothing at this path", False),
        (405, {}, "takes no WebSocket connections", False),
        (418, {}, "look at the server's own log", False),
        (426, {}, "wants another protocol", False),
        (429, {}, "too many requests", True),
        (500, {}, "look at the server's own log", True),
        (502, {}, "cannot reach the agent", True),
        (503, {}, "try again later", True),
    ],
)
async def test_a_status_says_what_to_do(
    links: Links, status: int, options: dict[str, Any], words: str, retryable: bool
) -> None:
    async with serving(answer=lambda _: (status, {}, b"")) as server:
        error = await failure(links, server.url(), **options)
        assert words in str(error)
        assert f"HTTP status {status}" in str(error)
        assert server.url() in str(error)
        assert (error.http_status, error.retryable) == (status, retryable)
        assert TOKEN not in str(error)


async def test_the_scheme_that_a_server_asks_for_is_named(links: Links) -> None:
    challenge = {"WWW-Authenticate": 'Negotiate realm="x"'}
    async with serving(answer=lambda _: (401, challenge, b"")) as server:
        assert "it asks for Negotiate" in str(await failure(links, server.url()))


async def test_what_a_server_says_is_shown_cut_printable_and_without_secrets(links: Links) -> None:
    body = f"token {TOKEN} has \x1b[31mexpired ".encode() + b"x" * 5000
    async with serving(answer=lambda _: (401, {"Content-Type": "text/plain"}, body)) as server:
        text = str(await failure(links, server.url(), bearer=TOKEN))
        assert r"has \x1b[31mexpired" in text
        assert TOKEN not in text
        assert len(text) < 1000
    async with serving(answer=lambda _: (401, {"Content-Type": "text/html"}, b"<html>")) as server:
        assert "<html>" not in str(await failure(links, server.url()))


async def test_a_redirect_to_another_server_is_not_followed(links: Links) -> None:
    async with serving() as other:
        for place in (other.url(), other.url(scheme="http"), "https://login.example/?next=secret", ""):

            def redirect(_: Request, place: str = place) -> Answer:
                return 302, {"Location": place}, b""

            async with serving(answer=redirect) as server:
                error = await failure(links, server.url(), bearer=TOKEN)
                assert "HTTP status 302" in str(error)
                assert "another server must not get your token" in str(error)
                assert (place.partition("?")[0] or "does not say where") in str(error)
                assert "next=secret" not in str(error)
        assert other.requests == []


async def test_a_redirect_on_the_same_server_is_followed_with_its_cookies(links: Links) -> None:
    def redirect(request: Request) -> Answer | None:
        if request.path == "/acp":
            return 307, {"Location": "/acp/?x=1", "Set-Cookie": "node=7; Path=/"}, b""
        return None

    async with serving(answer=redirect) as server:
        await links.start(server.url(host="user:pa55word@127.0.0.1"))
        assert [request.path for request in server.requests] == ["/acp", "/acp/?x=1"]
        assert server.requests[1].headers["Cookie"] == "node=7"
        assert server.requests[1].headers["Authorization"].startswith("Basic ")


async def test_redirects_without_end_are_given_up(links: Links) -> None:
    async with serving(answer=lambda _: (302, {"Location": "/acp"}, b"")) as server:
        assert "redirects without an end" in str(await failure(links, server.url()))
        assert len(server.requests) == 5


async def test_a_server_without_the_subprotocol_is_no_failure_of_its_own(links: Links) -> None:
    async with serving() as server:
        _, _ = await links.start(server.url(), subprotocols=["acp.v9"])
        assert server.open[0].subprotocol is None


# --- what is no WebSocket server ------------------------------------------------------------------------------------


async def test_nothing_listens(links: Links) -> None:
    async with listening(lambda reader, writer: asyncio.sleep(0)) as port:
        pass
    for host in ("127.0.0.1", "localhost"):
        error = await failure(links, f"ws://{host}:{port}/")
        assert "nothing listens there" in str(error)
        assert error.retryable


@pytest.mark.parametrize("kind", [ConnectionRefusedError, ConnectionResetError])
def test_what_has_no_number_is_known_by_its_kind(kind: type[OSError]) -> None:
    address = RemoteAddress.of("ws://host/")
    known = {ConnectionRefusedError: "nothing listens there", ConnectionResetError: "the server cut the connection"}
    assert known[kind] in str(not_opened(kind(), address, RemoteOptions()))
    assert known[kind] in str(not_opened(kind(10061, "words of Windows"), address, RemoteOptions()))


async def test_a_name_without_an_address(links: Links, names: NamedHosts) -> None:
    error = await failure(links, "ws://no-such-host.example/")
    assert "there is no address for no-such-host.example" in str(error)


async def test_a_server_of_another_kind(links: Links) -> None:
    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 mail.example ESMTP\r\n")
        await reader.read()

    async with listening(greet) as port:
        error = await failure(links, f"ws://127.0.0.1:{port}/")
        assert "speaks no HTTP" in str(error)


async def test_a_server_that_closes_at_once(links: Links) -> None:
    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")

    async with listening(hang_up) as port:
        error = await failure(links, f"ws://127.0.0.1:{port}/")
        assert "the server cut the connection before it answered (is it being started anew?" in str(error)
        assert error.retryable


@pytest.mark.parametrize("said", [b"", b"HTTP/1.1 101 Switching Protocols\r\nUpgr"])
async def test_a_server_that_is_cut_off_in_its_answer(links: Links, said: bytes) -> None:
    async def reset(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(said)
        await writer.drain()
        linger = struct.pack("ii", 1, 0)  # the end of it is a reset
        if not said:
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)

    async with listening(reset) as port:
        error = await failure(links, f"ws://127.0.0.1:{port}/")
        assert "the server cut the connection before it answered" in str(error)


async def test_an_upgrade_to_something_else(links: Links) -> None:
    async def upgrade(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: chat\r\nConnection: Upgrade\r\n\r\n")
        await reader.read()

    async with listening(upgrade) as port:
        error = await failure(links, f"ws://127.0.0.1:{port}/")
        assert "speaks no WebSocket: invalid Upgrade header: chat" in str(error)
        assert not error.retryable


async def test_a_server_that_says_nothing(links: Links) -> None:
    async def stall(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()

    async with listening(stall) as port:
        error = await failure(links, f"ws://127.0.0.1:{port}/", open_timeout=0.1)
        assert "no answer within 0.1 s" in str(error)
        assert error.retryable


# --- TLS ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


def server_side(authority: trustme.CA, *hosts: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(*hosts).configure_cert(context)
    return context


def client_side(authority: trustme.CA) -> ssl.SSLContext:
    context = ssl.create_default_context()
    authority.configure_trust(context)
    return context


async def test_tls_with_a_private_authority_and_secure_cookies(links: Links, authority: trustme.CA) -> None:
    headers = {"Set-Cookie": "node=7; Path=/; Secure"}
    async with serving(ssl=server_side(authority, "127.0.0.1"), headers=headers) as server:
        transport, _ = await links.start(server.url(scheme="wss"), tls=client_side(authority), bearer=TOKEN)
        assert links.notes == []
        again = transport.again({})
        assert again is not None
        await again.start(Recorder())
        await again.close()
        assert server.requests[1].headers["Cookie"] == "node=7"


async def test_another_name_in_the_certificate(links: Links, authority: trustme.CA) -> None:
    async with serving(ssl=server_side(authority, "agent.internal")) as server:
        url, tls = server.url(scheme="wss"), client_side(authority)
        error = await failure(links, url, tls=tls)
        assert "its certificate is not accepted" in str(error)
        assert not error.retryable
        await links.start(url, tls=tls, server_hostname="agent.internal")


async def test_an_authority_that_is_not_known(links: Links, authority: trustme.CA) -> None:
    async with serving(ssl=server_side(authority, "127.0.0.1")) as server:
        error = await failure(links, server.url(scheme="wss"), bearer=TOKEN)
        assert "its certificate is not accepted" in str(error)
        assert "RemoteOptions(tls=…)" in str(error)
        assert server.requests == []


async def test_tls_to_a_server_without_it(links: Links) -> None:
    async with serving() as server:
        error = await failure(links, server.url(scheme="wss"))
        assert "does it speak WebSocket, and TLS where the URL says so?" in str(error)


async def test_tls_to_a_server_that_answers_something_else(links: Links) -> None:
    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        await reader.read()

    async with listening(greet) as port:
        error = await failure(links, f"wss://127.0.0.1:{port}/")
        assert "TLS could not be agreed on" in str(error)
        assert "begins with ws://" in str(error)
        assert not error.retryable


async def test_no_tls_to_a_server_with_it(links: Links, authority: trustme.CA) -> None:
    async with serving(ssl=server_side(authority, "127.0.0.1")) as server:
        error = await failure(links, server.url())
        assert "wss://" in str(error)


def test_tls_options_need_an_encrypted_url() -> None:
    with pytest.raises(InvalidInput, match="wss://"):
        WebSocketTransport("ws://host/", RemoteOptions(tls=ssl.create_default_context()))
    with pytest.raises(InvalidInput, match="no URL of a WebSocket"):
        WebSocketTransport("https://host/")


# --- proxies --------------------------------------------------------------------------------------------------------


async def proxied(status: bytes, asked: list[bytes], to: int | None = None) -> Any:
    """Return a proxy's handler that answers CONNECT with a status, and passes everything to a port then."""

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 " + status + b"\r\n\r\n")
        if to is None:
            return
        other_reader, other_writer = await asyncio.open_connection("127.0.0.1", to)

        async def pump(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
            while data := await source.read(65536):
                target.write(data)
            target.close()

        await asyncio.gather(pump(reader, other_writer), pump(other_reader, writer))

    return handler


async def test_a_proxy_is_asked_for_the_way(links: Links, names: NamedHosts) -> None:
    asked: list[bytes] = []
    async with serving() as server, listening(await proxied(b"200 OK", asked, server.port)) as proxy:
        url = server.url(host=names.add("box.example"))
        transport, _ = await links.start(url, proxy=f"http://me:pr0xy-secret@127.0.0.1:{proxy}")
        assert asked[0].startswith(f"CONNECT box.example:{server.port} ".encode())
        assert b"Proxy-Authorization: Basic" in asked[0]
        assert len(server.requests) == 1
        await transport.close()


async def test_the_proxy_of_the_system_is_taken_and_can_be_refused(
    links: Links, names: NamedHosts, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[bytes] = []
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    async with serving() as server, listening(await proxied(b"403 No", asked)) as proxy:
        monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{proxy}")
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{proxy}")
        url = server.url(host=names.add("box.example"))
        error = await failure(links, url)
        assert "the proxy answered with HTTP status 403" in str(error)
        assert len(asked) == 1
        await links.start(url, proxy=False)
        await links.start(server.url())  # this machine is reached without one
        assert len(asked) == 1


async def test_a_proxy_that_is_not_there(links: Links, names: NamedHosts) -> None:
    async with listening(lambda reader, writer: asyncio.sleep(0)) as proxy:
        pass
    error = await failure(links, f"ws://{names.add('box.example')}/", proxy=f"http://127.0.0.1:{proxy}")
    assert "nothing listens there" in str(error)
    assert "about the proxy" in str(error)


async def test_a_proxy_that_wants_a_login(links: Links, names: NamedHosts) -> None:
    async with listening(await proxied(b"407 Who", [])) as proxy:
        url, secret = f"ws://{names.add('box.example')}/", f"http://me:pr0xy-secret@127.0.0.1:{proxy}"
        error = await failure(links, url, proxy=secret)
        assert "a proxy wants to know the user" in str(error)
        assert "pr0xy-secret" not in str(error)


async def test_a_proxy_of_a_kind_that_needs_another_package(links: Links) -> None:
    error = await failure(links, "ws://127.0.0.1:9/", proxy="socks5://127.0.0.1:9")
    assert "python-socks" in str(error)


async def test_a_proxy_that_is_none(links: Links) -> None:
    error = await failure(links, "ws://127.0.0.1:9/", proxy="gopher://me:pr0xy-secret@127.0.0.1:9")
    assert "the proxy cannot be used" in str(error)
    assert "pr0xy-secret" not in str(error)


# --- options --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options, words",
    [
        ({"headers": {"A b": "c"}}, "cannot be the name"),
        ({"headers": {"A": "b\r\nC: d"}}, "no header can have"),
        ({"headers": {"Host": "x"}}, "set by the transport"),
        ({"headers": {"Sec-WebSocket-Key": "x"}}, "set by the transport"),
        ({"headers": {"Cookie": "a=b"}}, "cookies="),
        ({"headers": {"A": 1}}, "names to texts"),
        ({"headers": "A: b"}, "names to texts"),
        ({"cookies": {"a": "b;c"}}, "RFC 6265"),
        ({"bearer": "Bearer x"}, "token alone"),
        ({"bearer": ""}, "token alone"),
        ({"bearer": "x", "headers": {"authorization": "y"}}, "two answers"),
        ({"subprotocols": ["a b"]}, "subprotocol"),
        ({"proxy": "host:80"}, "URL of a proxy"),
        ({"tls": True}, "SSLContext"),
        ({"server_hostname": ""}, "text"),
        ({"max_size": 0}, "max_size"),
        ({"max_size": True}, "max_size"),
        ({"warn_size": -1}, "warn_size"),
        ({"keepalive": 0}, "keepalive"),
        ({"open_timeout": float("inf")}, "open_timeout"),
        ({"close_timeout": None}, "close_timeout"),
    ],
)
def test_options_that_can_never_be_used(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidInput, match=words) as raised:
        RemoteOptions(**options)
    assert "C: d" not in str(raised.value)


def test_options_without_limits_where_that_makes_sense() -> None:
    options = RemoteOptions(warn_size=None, keepalive=None, keepalive_timeout=None, subprotocols="acp")
    assert options.subprotocols == ("acp",)
    assert options.max_size == 64 * 2**20
