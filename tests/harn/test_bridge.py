"""What a host serves to Harn, request by request, as an agent sees it."""

from __future__ import annotations

import asyncio
import inspect
import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_host.errors import InvalidInput, InvalidParams, RequestFailed
from acp_host.harn import HarnBridge
from acp_host.harn.bridge import (
    HostCall,
    SkillEntry,
)
from acp_host.harn.bridge._work import plain_json
from acp_host.host.incoming import HandlerFailed
from acp_host.testing import ScriptedAgent
from tests.harn.bridge_calls import RECEIPT, Adapter, Shelf, ask, call, error, open_file, served
from tests.host.scripts import DONE, connected

RETIRED = ["tool/pre_use", "tool/post_use", "tool/request_approval", "tool_search/query"]
METHODS = ["host/call", "builtin_call", "skills/list", "skills/fetch", "skill/match"]


class TestCapabilities:
    async def test_what_is_there_is_listed_and_nothing_else(self):
        bridge = HarnBridge(operations={"acme.open_issue": print, "acme.close": print, "memory.embed": print})
        assert (await ask(bridge, "host/capabilities", {"sessionId": "s-1"}))["result"] == {
            "process": {"ops": ["list_shells", "get_default_shell", "set_default_shell", "shell_invocation"]},
            "acme": {"ops": ["open_issue", "close"]},
            "memory": {"ops": ["embed"]},
        }
        assert (await ask(HarnBridge(shells=False), "host/capabilities"))["result"] == {}

    async def test_it_is_what_is_there_now(self):
        bridge = HarnBridge(shells=False)

        async def script(agent: ScriptedAgent) -> None:
            for expected in ({"a": {"ops": ["b"]}}, {}, {"hypothesis": {"ops": ["attest_event"]}}, {}):
                await agent.expect("_test/changed")
                assert (await agent.call("host/capabilities", {"sessionId": "s"}))["result"] == expected
                agent.notify("_test/seen", {})

        steps = [
            lambda: bridge.operations.add("a.b", print),
            lambda: bridge.operations.remove("a.b"),
            lambda: bridge.install_attestation(lambda request: True),
            lambda: bridge.install_attestation(None),
        ]

        async with connected(script, handlers=bridge.handlers()) as host:
            seen = asyncio.Semaphore(0)
            host.on_notification("_test/seen", lambda _: seen.release())
            for step in steps:
                step()
                await host.notify("_test/changed")
                await seen.acquire()

    async def test_nothing_slow_delays_the_answer(self):
        begun = threading.Event()
        let = threading.Event()

        class Slow:
            def list(self) -> list[SkillEntry]:
                begun.set()
                let.wait()
                return []

            def fetch(self, skill_id: str) -> None: ...

        async def script(agent: ScriptedAgent) -> None:
            slow = agent.request("skills/list", {})
            await asyncio.to_thread(begun.wait)
            assert (await agent.call("host/capabilities", {"sessionId": "s"}))["result"] == {}
            let.set()
            assert (await agent.response(slow))["result"] == []

        async with served(HarnBridge(shells=False, skills=Slow()), script):
            pass


class TestCalls:
    async def test_an_operation_gets_what_was_asked(self):
        calls: list[HostCall] = []

        def open_issue(call: HostCall) -> Any:
            calls.append(call)
            return {"number": 7}

        bridge = HarnBridge(operations={"acme.open.issue": open_issue})
        trace = {"caller": {"module": "m", "function": "f"}, "arguments": {}}
        params = {
            "sessionId": "s-1",
            "name": "acme.open.issue",
            "args": {"title": "x"},
            "_meta": {"harn": {"requestTrace": trace}},
            "promptCorrelation": {"messageId": "m-7"},
        }
        assert (await ask(bridge, "host/call", params))["result"] == {"number": 7}
        params["_meta"] = {"harn": {"requestTrace": {"caller": None}}}
        await ask(bridge, "host/call", params)
        seen = HostCall(session_id="s-1", name="acme.open.issue", args={"title": "x"}, caller=trace["caller"])
        assert calls == [seen, HostCall(session_id="s-1", name="acme.open.issue", args={"title": "x"})]

    @pytest.mark.parametrize("name", ["acme.other", "acme", "", "hypothesis.attest_event", "process.exec"])
    async def test_what_is_not_there_is_not_found(self, name: str):
        error(-32601, "no such operation" if "hyp" not in name else "attests nothing", await call(HarnBridge(), name))

    @pytest.mark.parametrize("params", [{}, [], {"name": 3}, {"name": "a.b", "args": []}, {"name": None}])
    async def test_what_makes_no_call_is_refused(self, params: Any):
        error(-32602, "is", await ask(HarnBridge(operations={"a.b": print}), "host/call", params))

    @pytest.mark.parametrize("name", ["", "a", ".a", "a.", "process.list_shells", "hypothesis.attest_event", 3])
    def test_a_name_that_cannot_be_is_refused(self, name: Any):
        with pytest.raises(InvalidInput):
            HarnBridge(operations={name: print})
        with pytest.raises(InvalidInput):
            HarnBridge(operations={"a.b": 3})


@pytest.mark.parametrize("method", RETIRED)
async def test_retired_methods_are_not_found(method: str) -> None:
    answer = await ask(HarnBridge(), method, {"sessionId": "s-1"})
    assert answer["error"]["code"] == -32601


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("params", [[], [1], {"sessionId": 3}, {"args": "x", "id": {}, "candidates": {}, "name": {}}])
async def test_whatever_is_asked_is_answered(method: str, params: Any) -> None:
    answer = await ask(HarnBridge(tools=[open_file], skills=Shelf(), matcher=lambda r: []), method, params)
    assert ("result" in answer) != ("error" in answer)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 5)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
MEMBERS = ["sessionId", "name", "args", "id", "candidates", "_meta", "prompt", "working_files"]
ARGS = ["shell", "shell_id", "command", "login", *RECEIPT]
NAMES = ["open_file", "a.b", "process.list_shells", "process.shell_invocation", "process.set_default_shell"]
PARAMS = JSON | st.fixed_dictionaries(
    {},
    optional={
        **dict.fromkeys(MEMBERS, JSON),
        "name": st.sampled_from([*NAMES, "hypothesis.attest_event"]),
        "args": JSON | st.dictionaries(st.sampled_from(ARGS), JSON),
    },
)


@given(st.sampled_from(["host/capabilities", "host/tools/list", *METHODS]), PARAMS)
async def test_no_parameters_make_a_handler_fail(method: str, params: Any) -> None:
    """Whatever an agent sends is answered by a result or by an error that says what is wrong with it."""
    operations = {"a.b": lambda call: dict(call.args)}
    bridge = HarnBridge(
        tools=[open_file], operations=operations, skills=Shelf(), matcher=lambda r: [], attestation=Adapter(False)
    )
    try:
        answer = bridge.handlers()[method](params)
        answer = plain_json(await answer if inspect.isawaitable(answer) else answer)
    except RequestFailed as error:
        answer = error
    if isinstance(answer, RequestFailed):
        assert not isinstance(answer, HandlerFailed)
        assert answer.code in (-32601, -32602, -32000)


async def test_one_bridge_serves_several_connections() -> None:
    bridge = HarnBridge(tools=[open_file])
    params = {"name": "open_file", "args": [{"path": "a"}]}
    answers = await asyncio.gather(*(ask(bridge, "builtin_call", params) for _ in range(3)))
    assert answers == [{"result": "a:1"}] * 3


async def test_a_prompt_of_harn_begins_with_what_the_host_has() -> None:
    """The order in which Harn asks: capabilities, the shell, then the script's own."""
    bridge = HarnBridge(tools=[open_file])

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session("s-1")
        prompt = await agent.expect("session/prompt")
        found = (await agent.call("host/capabilities", {"sessionId": "s-1"}))["result"]
        assert "get_default_shell" in found["process"]["ops"]
        params = {"sessionId": "s-1", "name": "process.get_default_shell", "args": {}}
        assert "path" in (await agent.call("host/call", params))["result"]
        [tool] = (await agent.call("host/tools/list", {}))["result"]["tools"]
        said = await agent.call("builtin_call", {"name": tool["name"], "args": [{"path": "a"}]})
        agent.say(said["result"])
        agent.reply(DONE, to=prompt)

    async with served(bridge, script) as host:
        assert (await (await host.new_session()).prompt("Go")).text == "a:1"


def test_invalid_params_are_what_they_say() -> None:
    with pytest.raises(InvalidParams):
        HostCall.read(None)
