"""The in-process pair: order, laziness, backpressure, and its ends."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from acp_host.errors import ConnectionClosed, ConnectionLost, InvalidState
from acp_host.transports import Transport, memory_pair


@pytest.fixture
async def pair(agents: Any) -> tuple[Transport, Any, Transport, Any]:
    left, right = memory_pair(limit=1000)
    at_left, at_right = agents.recorder(), agents.recorder()
    await left.start(at_left)
    await right.start(at_right)
    return left, at_left, right, at_right


async def test_writes_arrive_later_in_order_and_whole(pair: Any) -> None:
    left, at_left, right, at_right = pair
    for number in range(100):
        left.write(b"%d" % number)
        right.write(b"r%d" % number)
    left.write(b"")
    assert at_right.chunks == []
    await asyncio.sleep(0)
    assert at_right.chunks == [b"%d" % number for number in range(100)]
    assert at_left.chunks == [b"r%d" % number for number in range(100)]


async def test_what_is_written_is_a_copy(pair: Any) -> None:
    left, _, _, at_right = pair
    data = bytearray(b"abc")
    left.write(data)
    data[0] = 0
    await at_right.says("abc")


async def test_what_was_written_early_waits_for_the_start(agents: Any) -> None:
    left, right = memory_pair()
    at_right = agents.recorder()
    await left.start(agents.recorder())
    left.write(b"early")
    await left.close()
    await right.start(at_right)
    assert await at_right.end() is None
    assert at_right.data == b"early"


async def test_drain_waits_for_the_other_end(agents: Any) -> None:
    left, right = memory_pair(limit=1000)
    await left.start(agents.recorder())
    left.write(b"x" * 1000)
    await left.drain()
    left.write(b"x")
    waiting = asyncio.create_task(left.drain())
    for _ in range(10):
        await asyncio.sleep(0)
    assert not waiting.done()
    await right.start(agents.recorder())
    await waiting


async def test_a_burst_leaves_room_for_others(pair: Any) -> None:
    left, _, _, at_right = pair
    for _ in range(10):
        left.write(b"x" * 100_000)
    await asyncio.sleep(0)
    assert 0 < len(at_right.data) < 1_000_000
    await at_right.until(lambda: len(at_right.data) == 1_000_000)


async def test_answers_from_within_a_receiver(agents: Any) -> None:
    left, right = memory_pair()

    class Echo:
        def data_received(self, data: bytes) -> None:
            right.write(data)

        def connection_lost(self, error: Exception | None) -> None: ...

    at_left = agents.recorder()
    await right.start(Echo())
    await left.start(at_left)
    left.write(b"hello")
    await at_left.says("hello")


async def test_close_is_a_clean_end_for_both(pair: Any) -> None:
    left, at_left, right, at_right = pair
    left.write(b"last")
    right.write(b"not heard any more")
    await left.close()
    await left.close()
    assert at_left.ends == [None]
    assert await at_right.end() is None
    assert at_right.data == b"last"
    assert at_left.data == b""
    with pytest.raises(ConnectionClosed):
        left.write(b"x")
    with pytest.raises(ConnectionClosed):
        await left.drain()
    with pytest.raises(ConnectionLost):
        right.write(b"x")
    await right.close()
    assert (at_left.ends, at_right.ends) == ([None], [None])


@pytest.mark.parametrize("closing, error", [("left", ConnectionClosed), ("right", ConnectionLost)])
async def test_close_wakes_a_drain(agents: Any, closing: str, error: type[Exception]) -> None:
    left, right = memory_pair(limit=1)
    await left.start(agents.recorder())
    left.write(b"xx")
    waiting = asyncio.create_task(left.drain())
    await asyncio.sleep(0)
    await (left if closing == "left" else right).close()
    with pytest.raises(error):
        await waiting


async def test_a_raising_receiver_loses_nothing_else(agents: Any) -> None:
    left, right = memory_pair()
    heard: list[bytes] = []

    class Raises:
        def data_received(self, data: bytes) -> None:
            heard.append(data)
            if data == b"1":
                raise ZeroDivisionError

        def connection_lost(self, error: Exception | None) -> None:
            heard.append(b"end")

    seen: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: seen.append(context["exception"]))
    await left.start(agents.recorder())
    await right.start(Raises())
    for data in (b"1", b"2"):
        left.write(data)
    await left.close()
    for _ in range(5):
        await asyncio.sleep(0)
    assert heard == [b"1", b"2", b"end"]
    assert [type(error) for error in seen] == [ZeroDivisionError]


async def test_used_out_of_order(agents: Any) -> None:
    left, right = memory_pair()
    with pytest.raises(InvalidState):
        left.write(b"x")
    await left.start(agents.recorder())
    with pytest.raises(InvalidState):
        await left.start(agents.recorder())
    await right.close()
    with pytest.raises(InvalidState):
        await right.start(agents.recorder())


async def test_there_is_no_process(pair: Any) -> None:
    left, _, right, _ = pair
    assert (left.exit_status, left.stderr_tail()) == (None, "")
    assert left.description != right.description
