"""From bytes to typed messages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from acp_host.errors import DecodeError, InternalError, InvalidInput
from acp_host.protocol.events import CallFailed, RequestReceived, ResponseReceived
from acp_host.protocol.host_protocol import HostProtocol
from acp_host.translate.v2.requests import call_told_in, incoming
from acp_host.wire import codec, jsonrpc
from acp_host.wire._model import Model, Unknown
from acp_host.wire._shape import shape_of
from acp_host.wire.chunk_runs import ChunkRun
from acp_host.wire.converters import structure, structure_tolerant, unstructure
from acp_host.wire.definitions import DEFINITIONS
from acp_host.wire.framing import LineFramer, Oversized
from acp_host.wire.v2.definitions import DEFINITIONS as SECOND_DEFINITIONS
from tests.fuzz.seeds import compact, conversations, harn_messages, recorded_lines
from tests.fuzz.target import Target
from tests.protocol.connected import make

SMALL = 64
"""Longest line for the framer here, in bytes, so that lines that are too long come often."""


def framing(data: bytes) -> None:
    """Lines do not depend on how the stream was cut, and at most a line is held."""
    whole = LineFramer(SMALL)
    lines = [*whole.feed(data), *whole.eof()]
    cut, pieces = LineFramer(SMALL), []
    step = max(1 + (data[0] % 97 if data else 0), len(data) // 24)
    for start in range(0, len(data), step):
        pieces += cut.feed(data[start : start + step])
    pieces += cut.eof()
    assert lines == pieces
    assert all(isinstance(line, Oversized) or (len(line) <= SMALL and b"\n" not in line) for line in lines)


def reading(data: bytes) -> None:
    """A line is a message, noise or unreadable; a message that is written and read again is the same."""
    for line in data.split(b"\n"):
        try:
            message = codec.read(line, lambda _: None)
        except (codec.Noise, codec.Unreadable):
            continue
        jsonrpc.classify(message)
        written = codec.encode(message)
        assert written.endswith(b"\n")
        assert written.count(b"\n") == 1
        # A lone surrogate is not written as it came, so that compare what was written.
        assert codec.encode(_read_exactly(written[:-1])) == written


def _read_exactly(line: bytes) -> dict[str, Any]:
    """Return a message with its integers as they are, also where it is nested deeper than the exact reader reaches."""
    try:
        return codec.read_exact(line)
    except codec.Unreadable:
        return codec.read(line, lambda _: None)


def _decoding(definitions: Mapping[str, Any]) -> Callable[[bytes], None]:
    hints = [definitions[name] for name in sorted(definitions) if _has_decoder(definitions[name])]

    def decoding(data: bytes) -> None:
        """What decodes is valid when it is written, and decodes to the same; what does not raises one error."""
        head, _, line = data.partition(b"\n")
        try:
            value = codec.read(b'{"value":' + line + b"}", lambda _: None).get("value")
        except (codec.Noise, codec.Unreadable):
            return
        hint = hints[int.from_bytes(head[-2:], "big") % len(hints)]
        try:
            model, _ = structure_tolerant(value, hint)
        except DecodeError:
            return
        if isinstance(model, Model | Unknown):
            written = unstructure(model, hint)
            assert unstructure(structure(written, hint), hint) == written

    return decoding


def _has_decoder(hint: Any) -> bool:
    """Tell whether a definition is a type of values in messages, and not of messages, which the codec reads."""
    if hint is Any:
        return False
    try:
        shape_of(hint)
    except TypeError:
        return False
    return True


def _decoding_seeds() -> Iterator[bytes]:
    for number, line in enumerate([*recorded_lines(), *map(compact, harn_messages())]):
        message = codec.read(line, lambda _: None)
        for value in (message, message.get("params"), message.get("result")):
            yield number.to_bytes(2, "big").replace(b"\n", b"\0") + b"\n" + compact(value)


def _conversing(version: int) -> Callable[[bytes], None]:
    def conversing(data: bytes) -> None:
        """Whatever comes, no call fails, and what comes in runs is what comes one by one."""
        harn = data[:1] == b"\n"
        plain, runs = make(harn=harn, version=version), make(harn=harn, version=version)
        step = max(1, len(data) // 3)
        for start in range(0, len(data), step):
            for protocol in (plain, runs):
                protocol.receive_data(data[start : start + step])
            assert _told(plain.events()) == _told(_unrolled(runs.events_in_runs()))
        for protocol in (plain, runs):
            protocol.receive_eof()
        assert _told(plain.events()) == _told(_unrolled(runs.events_in_runs()))
        assert plain.data_to_send() == runs.data_to_send()

    return conversing


def _unrolled(events: Iterable[Any]) -> Iterator[Any]:
    for event in events:
        if isinstance(event, ChunkRun):
            yield from event.notifications()
        else:
            yield event


def _told(events: Iterable[Any]) -> list[str]:
    return [repr(event) for event in events]


def _answering(version: int) -> Callable[[bytes], None]:
    def answering(data: bytes) -> None:
        """Each request that is passed on waits until it is answered, by a result that fits or by an error."""
        protocol: HostProtocol = make(version=version)
        protocol.receive_data(data)
        for event in protocol.events():
            if isinstance(event, RequestReceived):
                call_told_in(event.params)
                incoming(event.params, event.id)
                try:
                    protocol.respond(event.id, event.method, {"outcome": {"outcome": "cancelled"}})
                except InvalidInput:
                    protocol.respond_error(event.id, InternalError("no answer"))
        protocol.data_to_send()

    return answering


def _asked_seeds() -> Iterator[bytes]:
    """Yield what asks: few of the recorded lines do."""
    for line in recorded_lines():
        if b'"method":"session/update"' not in line and b'"method"' in line:
            yield line + b"\n"
    call = {"toolCallId": "c", "title": "t", "kind": "edit", "content": [{"type": "terminal", "terminalId": "x"}]}
    options = [{"optionId": "a", "name": "n", "kind": "allow_once"}]
    for subject in ({"type": "tool_call", "toolCall": call}, {"type": "command", "command": "c", "cwd": "/"}):
        asked = {"sessionId": "a", "title": "t", "subject": subject, "options": options}
        yield compact({"jsonrpc": "2.0", "id": 7, "method": "session/request_permission", "params": asked}) + b"\n"


def handshake(data: bytes) -> None:
    """Whatever answers the handshake, it is agreed on or refused, and no call fails."""
    try:
        result = codec.read(data, lambda _: None)
    except (codec.Noise, codec.Unreadable):
        return
    protocol = HostProtocol(protocol_versions=(1, 2))
    protocol.initialize()
    protocol.receive_data(codec.encode({"jsonrpc": "2.0", "id": 0, "result": result}))
    ends = [event for event in protocol.events() if isinstance(event, ResponseReceived | CallFailed)]
    assert len(ends) == 1
    if isinstance(ends[0], ResponseReceived) and protocol.settle():
        assert protocol.agreement.protocol_version in (1, 2)
        protocol.agreement.supports("session/load")


def _handshake_seeds() -> Iterator[bytes]:
    for line in (*recorded_lines(), *map(compact, harn_messages())):
        result = codec.read(line, lambda _: None).get("result")
        if isinstance(result, dict) and "protocolVersion" in result:
            yield compact(result)
    yield compact(
        {"protocolVersion": 2, "capabilities": {"_meta": {"harn": {}}}, "info": {"name": "a", "version": "1"}}
    )


_CODEC = ("acp_host.wire.codec", "acp_host.wire.jsonrpc", "acp_host.wire._scan")
_WIRE = ("acp_host.wire",)
_PROTOCOL = ("acp_host.protocol", "acp_host.wire.codec", "acp_host.wire.chunk_runs", "acp_host.wire._scan")

TARGETS = (
    Target("framing", framing, conversations, is_json=False, code=("acp_host.wire.framing",), longest=300),
    Target("codec", reading, recorded_lines, code=_CODEC, longest=400),
    Target("decoders-v1", _decoding(DEFINITIONS), _decoding_seeds, code=_WIRE, longest=400),
    Target("decoders-v2", _decoding(SECOND_DEFINITIONS), _decoding_seeds, code=_WIRE, longest=400),
    Target("protocol-v1", _conversing(1), conversations, code=_PROTOCOL),
    Target("protocol-v2", _conversing(2), conversations, code=_PROTOCOL),
    Target("requests-v1", _answering(1), _asked_seeds, code=_PROTOCOL),
    Target("requests-v2", _answering(2), _asked_seeds, code=(*_PROTOCOL, "acp_host.translate.v2")),
    Target("handshake", handshake, _handshake_seeds, code=_PROTOCOL, longest=1_500),
)
