"""What comes from servers: events, frames, cookies, and agents that are reached over HTTP."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Coroutine, Iterator
from typing import Any, TypeVar

import httpx2
import orjson

from acp_host.errors import ExternalAgentError, InvalidInput, RequestFailed
from acp_host.harn.a2a import HttpPeer
from acp_host.transports._cookies import CookieStore
from acp_host.transports._envelopes import read_envelope
from acp_host.transports._frames import as_lines
from acp_host.transports.remote_address import RemoteAddress
from acp_host.transports.streamable_http._events import EventBound, read_events
from acp_host.transports.streamable_http._header_values import can_be_header
from tests.fuzz.seeds import compact, recorded_lines
from tests.fuzz.target import Target

T = TypeVar("T")

MAXIMUM = 40
"""Longest event here, in bytes, so that events that are too long come often."""


def _done(work: Coroutine[Any, Any, T]) -> T:
    """Return the result of what never has to wait; an event loop for each input would cost more than all the rest."""
    try:
        work.send(None)
    except StopIteration as end:
        result: T = end.value
        return result
    raise AssertionError("it waits")


def events(data: bytes) -> None:
    """How a stream was cut makes no difference for events that are not too long; nothing is added but an end."""
    step = max(1 + (data[0] % 31 if data else 0), len(data) // 24)
    pieces = [data[start : start + step] for start in range(0, len(data), step)]
    bound = EventBound(MAXIMUM)
    passed = b"".join(map(bound.feed, pieces)) + bound.finish()
    assert len(passed) <= len(data) + len(b"\n\n")
    assert _done(_events_of(pieces)) == _done(_events_of([data]))


async def _events_of(pieces: list[bytes]) -> list[tuple[str, str]]:
    async def body() -> AsyncIterator[bytes]:
        for piece in pieces:
            yield piece

    request = httpx2.Request("GET", "https://agent.example/")
    response = httpx2.Response(200, content=body(), request=request)
    told = [(event.event, event.data) async for event in read_events(response, MAXIMUM)]
    # Line ends between events count for the one before or the one behind, so what is just too long is not compared.
    return [(event, text) for event, text in told if len(event) + len(text) < MAXIMUM // 2]


def _event_seeds() -> Iterator[bytes]:
    yield b'data: {"jsonrpc":"2.0",\ndata: "method":"a"}\n\n: comment\n\nevent: message\nid: 1\r\ndata: x\r\n\r\n'
    yield b"\xef\xbb\xbfdata:a\rdata: b\r\rretry: 10\nid: \0\ndata\n\n" + b"data: " + b"x" * 100 + b"\n\ndata: y\n\n"
    yield from (b"data: " + line[:150] + b"\n\n" for line in recorded_lines())


def frames(data: bytes) -> None:
    """The messages of a frame are lines, and nothing of them is lost; where one belongs can be read of any."""
    lines = as_lines(data)
    assert lines == b"" or lines.endswith(b"\n")
    if (message := _loaded(data)) is not None:
        assert orjson.loads(lines) == message
        assert lines.count(b"\n") == 1
    else:
        assert lines.strip() == data.strip()
    for line in lines.splitlines():
        envelope = read_envelope(line)
        if envelope is not None and envelope.session_id is not None and can_be_header(envelope.session_id):
            httpx2.Headers({"Acp-Session-Id": envelope.session_id})


def _loaded(data: bytes) -> Any:
    try:
        return orjson.loads(data.strip())
    except orjson.JSONDecodeError:
        return None


def cookies(data: bytes) -> None:
    """What goes back of a server's cookies can be the value of a header, and goes back to that server alone."""
    store = CookieStore("https://agent.example/acp", {})
    store.take("https://agent.example/acp", [line.decode("latin-1") for line in data.split(b"\n")])
    header = store.header("https://agent.example/acp") or ""
    assert header.isascii()
    assert header.isprintable()
    assert store.header("https://other.example/acp") is None
    assert all(isinstance(secret, str) for secret in store.secrets)


def _cookie_seeds() -> Iterator[bytes]:
    yield b"lane=a1; Path=/; Secure; HttpOnly\nother=b; Max-Age=10; Domain=.example; SameSite=Lax"
    yield b'x="a b"; Expires=Wed, 21 Oct 2065 07:28:00 GMT; Path=/acp; Version=1\ny=; Max-Age=0'


def agent_cards(data: bytes) -> None:
    """An Agent Card is refused, or names an endpoint of its own origin; so is the answer to a call."""
    status = (200, 200, 200, 404, 500)[(data[0] if data else 0) % 5]
    asked: list[httpx2.URL] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        asked.append(request.url)
        return httpx2.Response(status, content=data)

    peer = HttpPeer("https://agent.example/", client=httpx2.AsyncClient(transport=httpx2.MockTransport(answer)))
    with contextlib.suppress(ExternalAgentError, RequestFailed):
        _done(peer.call("message/send", {}))
    assert all((url.scheme, url.host, url.port) == ("https", "agent.example", None) for url in asked)


def _card_seeds() -> Iterator[bytes]:
    yield compact({"name": "a", "url": "https://agent.example/rpc", "preferredTransport": "JSONRPC"})
    interface = {"url": "https://agent.example:443/x", "protocolBinding": "JSONRPC"}
    yield compact({"supportedInterfaces": [interface, 1], "additionalInterfaces": [{**interface, "transport": "GRPC"}]})
    yield compact({"url": "https://[::1]:8443/rpc"})
    yield compact({"jsonrpc": "2.0", "id": 1, "result": {}, "url": "/rpc"})
    yield compact({"jsonrpc": "2.0", "id": 1, "error": {"code": -32000, "message": "no", "data": {}}, "url": "/rpc"})


def remote_addresses(data: bytes) -> None:
    """The address of an agent elsewhere is refused with one error, or can be shown without its secrets."""
    try:
        address = RemoteAddress.of(data.decode("utf-8", "replace"))
    except InvalidInput:
        return
    assert address.shown.isprintable()
    assert RemoteAddress.of(address.shown).shown == address.shown


def _remote_address_seeds() -> Iterator[bytes]:
    yield b"wss://user:secret@agent.example:8443/acp?token=abc&x=1#part"
    yield b"http://[::1]:80/a%20b?key=%00"
    yield "https://xn--e1afmkfd.example/é".encode()


_STREAMS = ("acp_host.transports.streamable_http._events",)
_FRAMES = ("acp_host.transports._frames", "acp_host.transports._envelopes")

TARGETS = (
    Target("events", events, _event_seeds, is_json=False, code=_STREAMS, longest=300),
    Target("frames", frames, recorded_lines, code=_FRAMES, longest=400),
    Target("cookies", cookies, _cookie_seeds, is_json=False, code=("acp_host.transports._cookies",), longest=200),
    Target("agent-cards", agent_cards, _card_seeds, code=("acp_host.harn.a2a",), longest=400),
    Target(
        "remote-addresses",
        remote_addresses,
        _remote_address_seeds,
        is_json=False,
        code=("acp_host.transports.remote_address",),
        longest=150,
    ),
)
