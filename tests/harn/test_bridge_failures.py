"""Whatever a function behind the bridge does, the agent is answered, and once."""

from __future__ import annotations

import asyncio
import json
import threading
from pathlib import Path
from typing import Any

import pytest

from acp_host.errors import RequestFailed
from acp_host.harn import HarnBridge
from acp_host.harn.bridge import (
    BridgeTimeouts,
    HostCall,
    HostTool,
    SkillMatchRequest,
)
from acp_host.testing import ScriptedAgent
from tests.harn.bridge_calls import call, error, served

SOON = BridgeTimeouts(host_call=0.05, others=0.05)


def raising() -> list[Any]:
    async def later(call: HostCall) -> None:
        raise ValueError("the-secret")

    def now(call: HostCall) -> None:
        raise ValueError("the-secret")

    def stop(call: HostCall) -> None:
        raise StopIteration

    def leave(call: HostCall) -> None:
        raise SystemExit(3)

    async def cancelled(call: HostCall) -> None:
        raise asyncio.CancelledError

    return [later, now, stop, leave, cancelled]


class TestFailing:
    """Whatever a function does, the request is answered, and once."""

    @pytest.mark.parametrize("operation", raising(), ids=lambda function: function.__name__)
    async def test_what_raises_is_an_error_without_its_words(self, operation: Any):
        bridge, answers = HarnBridge(operations={"a.b": operation}), []

        async def script(agent: ScriptedAgent) -> None:
            answers.append(await agent.call("host/call", {"sessionId": "s-1", "name": "a.b", "args": {}}))

        async with served(bridge, script) as host:
            pass
        assert answers[0]["error"]["code"] == -32000
        assert answers[0]["error"]["message"].startswith("a.b failed (")
        assert "the-secret" not in json.dumps(answers)
        [told] = [entry for entry in host.diagnostics if entry.kind == "handler_failed"]
        assert told.method == "host/call"

    async def test_an_error_of_the_protocol_is_answered_as_it_is(self):
        def refuse(call: HostCall) -> None:
            raise RequestFailed("no", code=-32050, data={"why": 1})

        answer = await call(HarnBridge(operations={"a.b": refuse}), "a.b")
        assert answer == {"error": {"code": -32050, "message": "no", "data": {"why": 1}}}

    @pytest.mark.parametrize("result", [object(), {"x": {1, 2}}, {1: 2}, float("nan"), [b"x"], {"x": Path()}])
    async def test_what_is_no_json_is_an_error(self, result: Any):
        answer = await call(HarnBridge(operations={"a.b": lambda call: result}), "a.b")
        error(-32000, "a.b failed (TypeError)", answer)

    @pytest.mark.parametrize("result", [None, True, 1, 1.5, "x", [1, [None]], {"a": {"b": []}}])
    async def test_what_is_json_is_the_result(self, result: Any):
        async def operation(call: HostCall) -> Any:
            return result

        for function in (operation, lambda call: result, lambda call: operation(call)):
            assert await call(HarnBridge(operations={"a.b": function}), "a.b") == {"result": result}

    async def test_what_hangs_is_answered_when_its_time_is_up(self):
        let, ended = threading.Event(), asyncio.Event()

        async def hangs(call: HostCall) -> None:
            try:
                await asyncio.Event().wait()
            finally:
                ended.set()

        async def stubborn(call: HostCall) -> None:
            while not let.is_set():
                try:
                    await asyncio.sleep(0.01)
                except asyncio.CancelledError:
                    continue

        operations = {"a.hangs": hangs, "a.stubborn": stubborn, "a.thread": lambda call: let.wait()}
        bridge = HarnBridge(operations=operations, timeouts=SOON)

        async def script(agent: ScriptedAgent) -> None:
            asked = [agent.request("host/call", {"sessionId": "s", "name": name, "args": {}}) for name in operations]
            for request_id, name in zip(asked, operations, strict=True):
                answer = await agent.response(request_id)
                error(-32000, f"{name} did not answer within 0.05 s", answer)
            let.set()

        async with served(bridge, script):
            await ended.wait()

    async def test_everything_else_that_hangs_is_answered_too(self):
        let = threading.Event()

        class Slow:
            def list(self) -> Any:
                let.wait()

            async def fetch(self, skill_id: str) -> Any:
                await asyncio.Event().wait()

        async def match(request: SkillMatchRequest) -> Any:
            await asyncio.Event().wait()

        tool = HostTool(name="t", function=lambda args: let.wait())
        bridge = HarnBridge(tools=[tool], skills=Slow(), matcher=match, timeouts=SOON)

        async def script(agent: ScriptedAgent) -> None:
            for method, params in {
                "builtin_call": {"name": "t", "args": []},
                "skills/list": {},
                "skills/fetch": {"id": "x"},
                "skill/match": {"candidates": []},
            }.items():
                error(-32000, "did not answer within", await agent.call(method, params))
            let.set()

        async with served(bridge, script):
            pass

    async def test_there_is_an_end_to_threads(self, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr("acp_host.harn.bridge._work.MAX_THREADS", 2)
        let = threading.Event()
        bridge = HarnBridge(operations={"a.b": lambda call: let.wait(10)})

        async def script(agent: ScriptedAgent) -> None:
            params = {"sessionId": "s", "name": "a.b", "args": {}}
            asked = [agent.request("host/call", params) for _ in range(2)]
            error(-32603, "still at work", await agent.call("host/call", params))
            let.set()
            assert [(await agent.response(request_id))["result"] for request_id in asked] == [True, True]
            assert (await agent.call("host/call", params))["result"] is True

        async with served(bridge, script):
            pass

    @pytest.mark.parametrize("method", ["host/call", "builtin_call"])
    async def test_a_cancelled_turn_takes_its_calls_with_it(self, method: str):
        begun, ended = asyncio.Event(), asyncio.Event()

        async def hangs(what: Any) -> None:
            begun.set()
            try:
                await asyncio.Event().wait()
            finally:
                ended.set()

        bridge = HarnBridge(operations={"a.b": hangs}, tools=[HostTool(name="a.b", function=hangs)])

        async def script(agent: ScriptedAgent) -> None:
            await agent.open_session("s-1")
            prompt = await agent.expect("session/prompt")
            session = {"sessionId": "s-1"} if method == "host/call" else {}
            answer = await agent.call(method, {**session, "name": "a.b", "args": {}})
            assert answer["error"]["code"] == -32800
            agent.reply({"stopReason": "cancelled"}, to=prompt)

        async with served(bridge, script) as host:
            turn = (await host.new_session()).prompt("Go")
            await begun.wait()
            turn.cancel()
            await turn.wait()
            await ended.wait()

    async def test_calls_run_side_by_side_and_ids_are_echoed(self):
        meeting = threading.Barrier(3)
        bridge = HarnBridge(operations={"a.b": lambda call: meeting.wait(10) and None})

        async def script(agent: ScriptedAgent) -> None:
            params = {"sessionId": "s", "name": "a.b", "args": {}}
            for number in (1000, 2000, 3000):
                agent.send({"jsonrpc": "2.0", "id": number, "method": "host/call", "params": params})
            assert [(await agent.response(number))["id"] for number in (3000, 1000, 2000)] == [3000, 1000, 2000]

        async with served(bridge, script):
            pass
