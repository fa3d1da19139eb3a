"""The base of agents, as a host sees it that writes JSON by hand."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

import acp_host
from acp_host.errors import MalformedResponse, OutcomeUnknown, RequestFailed, TransportError
from acp_host.testing import AgentSide, memory_pair
from acp_host.transports import Transport
from acp_host.wire.auth import AuthenticateRequest
from acp_host.wire.prompt import PromptResponse
from acp_host.wire.terminals import CreateTerminalRequest, CreateTerminalResponse


class ByHand:
    """A host that sends lines and waits for messages."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport
        self.messages: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.ended = asyncio.Event()

    def data_received(self, data: bytes) -> None:
        for line in data.splitlines():
            self.messages.put_nowait(json.loads(line))

    def connection_lost(self, error: TransportError | None) -> None:
        self.ended.set()

    def send(self, *messages: dict[str, Any]) -> None:
        self.transport.write(b"".join(json.dumps({"jsonrpc": "2.0", **each}).encode() + b"\n" for each in messages))

    async def get(self) -> dict[str, Any]:
        return await self.messages.get()


@asynccontextmanager
async def serving(side: AgentSide) -> AsyncIterator[ByHand]:
    ours, theirs = memory_pair()
    host = ByHand(ours)
    await ours.start(host)
    task = asyncio.create_task(side.serve(theirs))
    host.send({"id": 0, "method": "_x/are_you_there"})
    assert (await host.get())["error"]["code"] == -32601
    try:
        yield host
    finally:
        await ours.close()
        assert await task == 0


def echo(params: Any) -> Any:
    return {"got": params}


async def raising(params: Any) -> None:
    raise RequestFailed("no", code=7, data=[1])


def broken(params: Any) -> None:
    raise ZeroDivisionError("by zero")


async def test_each_request_gets_its_answer() -> None:
    side = AgentSide({"_x/echo": echo, "_x/raising": raising, "_x/broken": broken, "authenticate": lambda _: None})
    async with serving(side) as host:
        for request, answer in [
            ({"method": "_x/echo", "params": [1]}, {"result": {"got": [1]}}),
            ({"method": "_x/raising"}, {"error": {"code": 7, "message": "no", "data": [1]}}),
            ({"method": "_x/broken"}, {"error": {"code": -32603, "message": "ZeroDivisionError: by zero"}}),
            ({"method": "authenticate", "params": {"methodId": "x"}}, {"result": {}}),
            (
                {"method": "session/new", "params": {}},
                {
                    "error": {
                        "code": -32601,
                        "message": "Method not found: session/new",
                        "data": {"method": "session/new"},
                    }
                },
            ),
        ]:
            host.send({"id": "a", **request})
            assert await host.get() == {"jsonrpc": "2.0", "id": "a", **answer}


@pytest.mark.parametrize(
    ("params", "path"), [({}, "$.params"), ({"methodId": 1}, "$.params.methodId"), ([], "$.params"), (None, "$.params")]
)
async def test_parameters_that_do_not_fit(params: Any, path: str) -> None:
    async with serving(AgentSide({"authenticate": lambda _: None})) as host:
        host.send({"id": 1, "method": "authenticate", "params": params})
        error = (await host.get())["error"]
    assert (error["code"], error["data"]) == (-32602, {"path": path})


async def test_handlers_get_wire_types_and_return_them() -> None:
    seen: list[Any] = []

    async def prompt(params: Any) -> PromptResponse:
        seen.append(params)
        return PromptResponse("end_turn")

    side = AgentSide({"authenticate": seen.append, "session/prompt": prompt})
    async with serving(side) as host:
        host.send({"id": 1, "method": "authenticate", "params": {"methodId": "x", "more": 1}})
        await host.get()
        host.send({"id": 2, "method": "session/prompt", "params": {"sessionId": "s", "prompt": []}})
        assert (await host.get())["result"] == {"stopReason": "end_turn"}
    assert seen[0] == AuthenticateRequest("x", extra={"more": 1})


async def test_a_withdrawn_request_cancels_its_handler() -> None:
    ended: list[str] = []

    async def never(params: Any) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("yes")

    async with serving(AgentSide({"_x/never": never, "_x/echo": echo})) as host:
        # In one write, so that the handler has not begun when it is withdrawn.
        host.send({"id": 1, "method": "_x/never"}, {"method": "$/cancel_request", "params": {"requestId": 1}})
        assert (await host.get())["error"]["code"] == -32800
        host.send({"method": "$/cancel_request", "params": {"requestId": 1}}, {"id": 2, "method": "_x/echo"})
        assert (await host.get())["id"] == 2
    assert ended == ["yes"]


async def test_a_handler_may_answer_although_it_was_withdrawn() -> None:
    async def stubborn(params: Any) -> str:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return "all the same"
        raise AssertionError

    async with serving(AgentSide({"_x/stubborn": stubborn})) as host:
        host.send({"id": 1, "method": "_x/stubborn"}, {"method": "$/cancel_request", "params": {"requestId": 1}})
        assert (await host.get())["result"] == "all the same"


async def test_what_is_no_message_is_passed_over(caplog: pytest.LogCaptureFixture) -> None:
    async with serving(AgentSide({"_x/echo": echo})) as host:
        host.transport.write(b'hello\n[]\n\n{"jsonrpc":"2.0","id":5,"result":1}\n{"jsonrpc":"2.0"}\n\xff\xfe\n{"a":\n')
        host.send({"method": "_x/unknown"}, {"id": 1, "method": "_x/echo"})
        while (message := await host.get()).get("id") != 1:
            assert "error" in message
        assert "result" in message
    assert "_x/unknown" in caplog.text


async def test_notifications_are_never_answered(caplog: pytest.LogCaptureFixture) -> None:
    async def late(params: Any) -> None:
        raise ZeroDivisionError("late")

    seen: list[Any] = []
    side = AgentSide({"_x/late": late, "_x/broken": broken, "session/cancel": seen.append, "_x/echo": echo})
    async with serving(side) as host:
        host.send({"method": "_x/late"}, {"method": "_x/broken"}, {"method": "session/cancel", "params": {}})
        host.send({"id": 1, "method": "_x/echo"})
        assert (await host.get())["id"] == 1
    assert seen == []
    assert "by zero" in caplog.text
    assert "late" in caplog.text
    assert "required property" in caplog.text


async def asking(side: AgentSide, answer: Callable[[ByHand, dict[str, Any]], None]) -> Any:
    async with serving(side) as host:
        call = asyncio.create_task(side.request("terminal/create", CreateTerminalRequest("s", "ls")))
        question = await host.get()
        assert question["params"] == {"sessionId": "s", "command": "ls"}
        answer(host, question)
        return await call


async def test_the_agent_asks() -> None:
    answer = await asking(
        AgentSide({}), lambda host, question: host.send({"id": question["id"], "result": {"terminalId": "t"}})
    )
    assert answer == CreateTerminalResponse("t")


async def test_the_host_refuses() -> None:
    error = {"code": -32002, "message": "gone"}
    with pytest.raises(acp_host.ResourceNotFound) as failure:
        await asking(AgentSide({}), lambda host, question: host.send({"id": question["id"], "error": error}))
    assert failure.value.method == "terminal/create"


async def test_the_host_answers_what_does_not_fit() -> None:
    with pytest.raises(MalformedResponse, match="terminalId"):
        await asking(AgentSide({}), lambda host, question: host.send({"id": question["id"], "result": {}}))


async def test_the_host_goes_before_it_answers() -> None:
    side = AgentSide({})
    async with serving(side) as host:
        call = asyncio.create_task(side.request("_x/ask"))
        await host.get()
    with pytest.raises(OutcomeUnknown, match="the host closed the connection"):
        await call
    with pytest.raises(acp_host.ConnectionClosed):
        await side.request("_x/ask")
    side.notify("_x/tell")


async def test_nothing_is_asked_before_there_is_a_host() -> None:
    with pytest.raises(acp_host.InvalidState, match="no host"):
        await AgentSide({}).request("_x/ask")


async def test_the_agent_withdraws_what_it_asked() -> None:
    side = AgentSide({})
    async with serving(side) as host:
        call = asyncio.create_task(side.request("_x/ask", {"n": 1}))
        question = await host.get()
        call.cancel()
        assert (await host.get())["params"] == {"requestId": question["id"]}
        host.send({"id": question["id"], "result": None})


async def test_the_end_of_the_connection_cancels_handlers() -> None:
    ended = asyncio.Event()

    async def never(params: Any) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async with serving(AgentSide({"_x/never": never, "_x/echo": echo})) as host:
        host.send({"id": 1, "method": "_x/never"}, {"id": 2, "method": "_x/echo"})
        await host.get()
    assert ended.is_set()
