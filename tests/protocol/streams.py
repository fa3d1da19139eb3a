"""What the tests of the protocol core share: a short form of events, and streams cut into pieces."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from random import Random
from typing import Any, Protocol

from acp_host.diagnostics import Diagnostic
from acp_host.protocol.events import (
    CallFailed,
    CancelRequested,
    Ended,
    NotificationReceived,
    RequestReceived,
    ResponseReceived,
)
from acp_host.protocol.peer import Peer

BIG = 2**70
"""An integer that JSON readers without big integers make a float of."""


class Machine(Protocol):
    """What a peer and a host protocol have in common."""

    def receive_data(self, data: bytes) -> None: ...
    def events(self) -> list[Any]: ...
    def data_to_send(self) -> bytes: ...


def make_peer() -> Peer:
    """Return a peer that has called ``a`` (id 0) and ``b`` (id 1), and serves methods that begin with ``do``."""
    peer = Peer(serves=lambda method: method.startswith("do"), max_message_size=10_000)
    assert peer.send_request("a") == 0
    assert peer.send_request("b", {"p": 1}) == 1
    peer.data_to_send()
    return peer


def line(message: Any = None, **members: Any) -> bytes:
    """Return one line of a stream: a JSON-RPC message with these members, or ``message`` as it is."""
    return json.dumps({"jsonrpc": "2.0", **members} if message is None else message).encode() + b"\n"


def short(event: Any) -> tuple[Any, ...]:
    """Return what there is to say about an event."""
    match event:
        case NotificationReceived():
            return ("notification", event.method, event.params)
        case RequestReceived():
            return ("request", event.id, event.method, event.params)
        case ResponseReceived():
            return ("response", event.id, event.method, event.result)
        case CallFailed():
            return ("failed", event.id, event.method, type(event.error).__name__)
        case CancelRequested():
            return ("cancel", event.id)
        case Diagnostic():
            return (str(event.kind),)
        case Ended():
            return ("ended", event.error)
    return (event,)


def happened(machine: Machine) -> list[tuple[Any, ...]]:
    """Take the events of a machine, in their short form."""
    return [short(event) for event in machine.events()]


def sent(machine: Machine) -> list[Any]:
    """Take the messages that a machine wants to send."""
    return [json.loads(line) for line in machine.data_to_send().splitlines()]


def feed(machine: Machine, pieces: Iterable[bytes]) -> tuple[list[Any], bytes]:
    """Feed a machine piece by piece; return all its events, and all it sends."""
    events, output = list(machine.events()), machine.data_to_send()
    for piece in pieces:
        machine.receive_data(piece)
        events += machine.events()
        output += machine.data_to_send()
    return events, output


def cuts(stream: bytes) -> Iterator[list[bytes]]:
    """Cut a stream in every way that is worth a test: not at all, into lines, into bytes, and at random."""
    yield [stream]
    yield stream.splitlines(keepends=True)
    yield [stream[i : i + 1] for i in range(len(stream))]
    for seed in range(5):
        random, pieces, rest = Random(seed), [], stream
        while rest:
            size = random.randrange(1, 40)
            pieces.append(rest[:size])
            rest = rest[size:]
        yield pieces


def same_in_every_cut(make: Callable[[], Machine], stream: bytes) -> tuple[list[Any], bytes]:
    """Feed a stream in every cut, each to a new machine; return what comes out, which must always be the same."""
    results = [feed(make(), pieces) for pieces in cuts(stream)]
    for result in results[1:]:
        assert [repr(event) for event in result[0]] == [repr(event) for event in results[0][0]]
        assert result[1] == results[0][1]
    return results[0]
