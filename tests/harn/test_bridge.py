"""What a host serves to Harn, request by request, as an agent sees it."""

from __future__ import annotations

import asyncio
import inspect
import json
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from acp_host import HostConnection
from acp_host.errors import InvalidInput, InvalidParams, RequestFailed
from acp_host.harn import HarnBridge
from acp_host.harn.bridge import (
    AttestationRequest,
    BridgeTimeouts,
    HostCall,
    HostTool,
    Shell,
    Shells,
    Skill,
    SkillEntry,
    SkillMatch,
    SkillMatchRequest,
    ToolDenied,
)
from acp_host.harn.bridge import bridge as module
from acp_host.harn.bridge._work import plain_json
from acp_host.host.incoming import HandlerFailed
from acp_host.testing import ScriptedAgent
from tests.host.scripts import DONE, connected, until
from tests.services.test_shells import SHELL_SCHEMA

SOON = BridgeTimeouts(host_call=0.05, others=0.05)
RETIRED = ["tool/pre_use", "tool/post_use", "tool/request_approval", "tool_search/query"]
METHODS = ["host/call", "builtin_call", "skills/list", "skills/fetch", "skill/match"]

Script = Callable[[ScriptedAgent], Awaitable[Any]]


@asynccontextmanager
async def served(bridge: HarnBridge, script: Script) -> AsyncIterator[HostConnection]:
    """Connect ``script`` to a host with a bridge, and wait for its end."""
    async with connected(script, handlers=bridge.handlers()) as host:
        bridge.attach(host)
        yield host


async def ask(bridge: HarnBridge, method: str, params: Any = None) -> dict[str, Any]:
    """Return the whole answer to one request."""
    answers = []

    async def script(agent: ScriptedAgent) -> None:
        answers.append(await agent.call(method, {} if params is None else params))

    async with served(bridge, script):
        pass
    [answer] = answers
    return {name: value for name, value in answer.items() if name in ("result", "error")}


async def call(bridge: HarnBridge, name: str, args: Any = None) -> dict[str, Any]:
    return await ask(bridge, "host/call", {"sessionId": "s-1", "name": name, "args": {} if args is None else args})


def error(code: int, text: str, answer: dict[str, Any]) -> None:
    assert answer["error"]["code"] == code, answer
    assert text in answer["error"]["message"], answer


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
            HarnBridge(operations={"a.b": 3})  # type: ignore[dict-item]


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


def open_file(path: str, line: int = 1) -> str:
    """Show a file
    in the editor.

    More of this.
    """
    if path == "secret":
        raise ToolDenied("this file is not for you")
    return f"{path}:{line}"


class TestTools:
    async def test_they_are_listed_with_all_that_belongs_to_them(self):
        old = HostTool(name="old", function=print, deprecated=True)
        answer = await ask(HarnBridge(tools=[open_file, old]), "host/tools/list")
        assert answer["result"] == {
            "tools": [
                {
                    "name": "open_file",
                    "description": "Show a file in the editor.",
                    "schema": {
                        "type": "object",
                        "properties": {"path": {"type": "string"}, "line": {"type": "integer"}},
                        "required": ["path"],
                        "additionalProperties": False,
                    },
                    "deprecated": False,
                },
                {"name": "old", "description": "", "schema": None, "deprecated": True},
            ]
        }
        assert (await ask(HarnBridge(), "host/tools/list"))["result"] == {"tools": []}

    @pytest.mark.parametrize("args", [[{"path": "a", "line": 3}], {"path": "a", "line": 3}])
    async def test_the_arguments_may_stand_in_an_array(self, args: Any):
        answer = await ask(HarnBridge(tools=[open_file]), "builtin_call", {"name": "open_file", "args": args})
        assert answer == {"result": "a:3"}

    @pytest.mark.parametrize("args", [[], None, [None], [{}], {}])
    async def test_a_tool_may_take_none(self, args: Any):
        async def ping() -> str:
            return "pong"

        params = {"name": "ping", "args": args}
        assert await ask(HarnBridge(tools=[ping]), "builtin_call", params) == {"result": "pong"}

    @pytest.mark.parametrize(
        ("args", "text"),
        [
            ([{}], "'path' is a required property"),
            ([{"path": 3}], "3 is not of type 'string'"),
            ([{"path": "a", "line": True}], "is not of type 'integer'"),
            ([{"path": "a", "other": 1}], "Additional properties"),
            ([{"path": "a"}, 3], "takes one object"),
            (["a"], "takes one object"),
            ("a", "takes one object"),
        ],
    )
    async def test_arguments_that_do_not_fit_are_refused(self, args: Any, text: str):
        answer = await ask(HarnBridge(tools=[open_file]), "builtin_call", {"name": "open_file", "args": args})
        error(-32602, text, answer)

    async def test_a_denial_says_that_it_is_one(self):
        answer = await ask(
            HarnBridge(tools=[open_file]), "builtin_call", {"name": "open_file", "args": [{"path": "secret"}]}
        )
        assert answer == {"error": {"code": -32001, "message": "this file is not for you"}}

    @pytest.mark.parametrize("name", ["other", None, 3, ["open_file"]])
    async def test_what_is_not_there_is_not_found(self, name: Any):
        error(-32601, "no such tool", await ask(HarnBridge(tools=[open_file]), "builtin_call", {"name": name}))

    async def test_tools_come_and_go(self):
        bridge = HarnBridge()
        tool = bridge.tools.add(open_file)
        assert tool.name == "open_file"
        with pytest.raises(InvalidInput, match="already"):
            bridge.tools.add(open_file)
        bridge.tools.remove("open_file")
        bridge.tools.remove("open_file")
        assert bridge.tools.descriptors() == []

    @pytest.mark.parametrize("args", [{"path": "a"}, {"path": "a" * 600}])
    async def test_a_schema_of_ones_own_counts(self, args: dict[str, str]):
        schema = {"type": "object", "properties": {"path": {"const": "b"}}}
        tool = HostTool(name="t", function=lambda args: args["path"], schema=schema)
        answer = await ask(HarnBridge(tools=[tool]), "builtin_call", {"name": "t", "args": args})
        error(-32602, "t: ", answer)
        assert len(answer["error"]["message"]) <= 500
        good = await ask(HarnBridge(tools=[tool]), "builtin_call", {"name": "t", "args": {"path": "b"}})
        assert good == {"result": "b"}

    def test_what_makes_no_tool_is_refused(self):
        for wrong in (
            lambda: HostTool(name="", function=print),
            lambda: HostTool(name="t", function=3),  # type: ignore[arg-type]
            lambda: HostTool(name="t", function=print, schema={"type": "nonsense"}),
            lambda: HostTool.of(lambda: 1),
            lambda: HostTool.of(3),  # type: ignore[arg-type]
            lambda: HostTool.of(dict),
        ):
            with pytest.raises(InvalidInput):
                wrong()
        assert HostTool.of(lambda: 1, name="one").name == "one"


class Shelf:
    """Skills, of coroutine functions."""

    async def list(self) -> Any:
        return (
            SkillEntry(id="deploy", name="deploy", description="Ship it"),
            SkillEntry(id="acme/ops/review", name="review", description="Code review", source="acme"),
        )

    async def fetch(self, skill_id: str) -> Skill | None:
        if skill_id != "deploy":
            return None
        return Skill(name="deploy", description="Ship it", body="# Runbook", manifest={"paths": ["infra/**"]})


class TestSkills:
    async def test_they_are_listed(self):
        assert (await ask(HarnBridge(skills=Shelf()), "skills/list"))["result"] == [
            {"id": "deploy", "name": "deploy", "description": "Ship it", "source": "host"},
            {"id": "acme/ops/review", "name": "review", "description": "Code review", "source": "acme"},
        ]
        assert (await ask(HarnBridge(), "skills/list"))["result"] == []

    async def test_one_is_fetched(self):
        assert (await ask(HarnBridge(skills=Shelf()), "skills/fetch", {"id": "deploy"}))["result"] == {
            "name": "deploy",
            "description": "Ship it",
            "body": "# Runbook",
            "manifest": {"paths": ["infra/**"]},
        }

    @pytest.mark.parametrize("params", [{"id": "other"}, {}, {"id": 3}, []])
    async def test_one_that_is_not_there_is_refused(self, params: Any):
        error(-32602, "no such skill", await ask(HarnBridge(skills=Shelf()), "skills/fetch", params))
        error(-32602, "no such skill", await ask(HarnBridge(), "skills/fetch", params))

    async def test_what_is_no_skill_spoils_nothing(self):
        class Broken(Shelf):
            async def list(self) -> Any:
                return [{"id": "x"}]

            async def fetch(self, skill_id: str) -> Any:
                return Skill(name="x", manifest={"x": object()})

        error(-32000, "TypeError", await ask(HarnBridge(skills=Broken()), "skills/list"))
        error(-32000, "TypeError", await ask(HarnBridge(skills=Broken()), "skills/fetch", {"id": "x"}))
        with pytest.raises(InvalidInput, match="list"):
            HarnBridge(skills=object())  # type: ignore[arg-type]
        with pytest.raises(TypeError):
            SkillEntry(id=3, name="x")  # type: ignore[arg-type]

    async def test_changes_are_told_once(self, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr(module, "_DEBOUNCE", 0.0)
        bridge = HarnBridge(skills=Shelf())

        async def script(agent: ScriptedAgent) -> None:
            for _ in range(2):
                assert "params" not in await agent.expect("skills/update")
                agent.notify("_test/next", {})

        async with connected(script, handlers=bridge.handlers()) as host:
            told = asyncio.Semaphore(0)
            host.on_notification("_test/next", lambda _: told.release())
            bridge.attach(host)
            bridge.attach(host)
            for _ in range(2):
                bridge.skills_changed()
                bridge.skills_changed()
                await told.acquire()
        bridge.skills_changed()  # there is nobody left to tell
        await until(lambda: bridge._pending is None)
        assert bridge._hosts == []


CANDIDATES = [
    {"name": "ship", "description": "Ship", "when_to_use": "ship", "paths": ["infra/**", 3]},
    {"name": "review"},
    {"description": "nameless"},
    "nothing",
]


class TestMatching:
    async def test_the_best_comes_first_and_what_was_no_candidate_not_at_all(self):
        seen: list[SkillMatchRequest] = []

        def match(request: SkillMatchRequest) -> list[SkillMatch]:
            seen.append(request)
            return [
                SkillMatch("review", 0.2),
                SkillMatch("ship", 0.5),
                SkillMatch("ship", 0.92, "embedding"),
                SkillMatch("evil", 9),
            ]

        params = {
            "strategy": "embedding",
            "prompt": "Ship it",
            "task": "t",
            "working_files": ["a"],
            "candidates": CANDIDATES,
        }
        answer = await ask(HarnBridge(matcher=match), "skill/match", params)
        assert answer["result"] == {
            "matches": [{"name": "ship", "score": 0.92, "reason": "embedding"}, {"name": "review", "score": 0.2}]
        }
        [request] = seen
        assert (request.strategy, request.prompt, request.task, request.working_files) == (
            "embedding",
            "Ship it",
            "t",
            ("a",),
        )
        assert [(item.name, item.paths) for item in request.candidates] == [("ship", ("infra/**",)), ("review", ())]

    async def test_without_a_ranker_harn_ranks_itself(self):
        error(-32601, "does not rank", await ask(HarnBridge(), "skill/match", {"candidates": []}))

    async def test_what_is_no_match_is_an_error(self):
        error(-32000, "TypeError", await ask(HarnBridge(matcher=lambda r: ["ship"]), "skill/match", {"candidates": []}))  # type: ignore[arg-type, return-value]
        error(-32602, "candidates", await ask(HarnBridge(matcher=lambda r: []), "skill/match", {}))
        with pytest.raises(InvalidInput):
            HarnBridge(matcher=3)  # type: ignore[arg-type]
        for score in (-1, float("nan"), float("inf"), "1", True):
            with pytest.raises(InvalidInput):
                SkillMatch("x", score)  # type: ignore[arg-type]


RECEIPT = {
    "authority_kind": "native",
    "event_fingerprint": "e",
    "plan_fingerprint": "p",
    "hypothesis_id": "h",
    "operation_receipt_id": "r-1",
    "run_id": None,
}
ATTESTED = {
    "result": {
        "_meta": {"harn": {"hostResult": {"schema": "harn.host-result.v1", "kind": "hypothesis_native_attestation"}}}
    }
}


class Adapter:
    """Knows some receipts."""

    def __init__(self, answer: Any = True) -> None:
        self.answer = answer
        self.asked: list[AttestationRequest] = []

    async def __call__(self, request: AttestationRequest) -> Any:
        self.asked.append(request)
        return self.answer


class TestAttestation:
    async def test_what_the_adapter_attests_is_answered_with_the_exact_document(self):
        adapter = Adapter()
        assert await call(HarnBridge(attestation=adapter), "hypothesis.attest_event", RECEIPT) == ATTESTED
        assert adapter.asked == [AttestationRequest(**RECEIPT)]

    async def test_the_same_request_again_is_the_same_answer(self):
        adapter = Adapter()
        bridge = HarnBridge(attestation=adapter)
        for _ in range(2):
            assert await call(bridge, "hypothesis.attest_event", RECEIPT) == ATTESTED
        assert len(adapter.asked) == 1

    @pytest.mark.parametrize("name", sorted(set(RECEIPT) - {"operation_receipt_id"}))
    async def test_a_receipt_is_of_one_request(self, name: str):
        adapter = Adapter()
        bridge = HarnBridge(attestation=adapter)
        assert await call(bridge, "hypothesis.attest_event", RECEIPT) == ATTESTED
        answer = await call(bridge, "hypothesis.attest_event", {**RECEIPT, name: "other"})
        error(-32000, "belongs to another request", answer)
        assert len(adapter.asked) == 1
        bridge.install_attestation(Adapter())
        answer = await call(bridge, "hypothesis.attest_event", {**RECEIPT, name: "other"})
        error(-32000, "belongs to another request", answer)

    async def test_two_requests_at_once_cannot_both_have_a_receipt(self):
        let, asked = asyncio.Event(), asyncio.Event()

        async def adapter(request: AttestationRequest) -> bool:
            asked.set()
            await let.wait()
            return True

        bridge = HarnBridge(attestation=adapter)

        async def script(agent: ScriptedAgent) -> None:
            name = "hypothesis.attest_event"
            first = agent.request("host/call", {"sessionId": "s", "name": name, "args": RECEIPT})
            await asked.wait()
            again = agent.request("host/call", {"sessionId": "s", "name": name, "args": RECEIPT})
            other = {**RECEIPT, "hypothesis_id": "other"}
            error(-32000, "another", await agent.call("host/call", {"sessionId": "s", "name": name, "args": other}))
            let.set()
            for request_id in (first, again):
                assert (await agent.response(request_id))["result"] == ATTESTED["result"]

        async with served(bridge, script):
            pass

    @pytest.mark.parametrize("answer", [False, None, 1, "yes", {"denied": True}])
    async def test_anything_but_true_is_an_error(self, answer: Any):
        adapter = Adapter(answer)
        bridge = HarnBridge(attestation=adapter)
        error(-32000, "does not attest", await call(bridge, "hypothesis.attest_event", RECEIPT))
        adapter.answer = True  # the operation may have been completed meanwhile
        assert await call(bridge, "hypothesis.attest_event", RECEIPT) == ATTESTED

    async def test_an_adapter_that_fails_attests_nothing(self):
        def adapter(request: AttestationRequest) -> bool:
            raise OSError("the-secret")

        error(-32000, "(OSError)", await call(HarnBridge(attestation=adapter), "hypothesis.attest_event", RECEIPT))

    @pytest.mark.parametrize(
        "args",
        [
            {},
            {**RECEIPT, "extra": 1},
            {name: value for name, value in RECEIPT.items() if name != "run_id"},
            {**RECEIPT, "hypothesis_id": None},
            {**RECEIPT, "run_id": 3},
            {**RECEIPT, "operation_receipt_id": ""},
            {**RECEIPT, "plan_fingerprint": "x" * 5_000},
        ],
    )
    async def test_a_request_that_is_not_exact_is_refused(self, args: Any):
        adapter = Adapter()
        answer = await call(HarnBridge(attestation=adapter), "hypothesis.attest_event", args)
        assert answer["error"]["code"] == -32602
        assert adapter.asked == []

    async def test_without_room_nothing_more_is_attested(self, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr("acp_host.harn.bridge.attestation.MAX_RECEIPTS", 1)
        bridge = HarnBridge(attestation=Adapter())
        assert await call(bridge, "hypothesis.attest_event", RECEIPT) == ATTESTED
        other = {**RECEIPT, "operation_receipt_id": "r-2"}
        error(-32000, "no more", await call(bridge, "hypothesis.attest_event", other))
        assert await call(bridge, "hypothesis.attest_event", RECEIPT) == ATTESTED

    async def test_without_an_adapter_there_is_no_such_thing(self):
        error(-32601, "attests nothing", await call(HarnBridge(), "hypothesis.attest_event", RECEIPT))
        with pytest.raises(InvalidInput):
            HarnBridge(attestation=True)  # type: ignore[arg-type]


def shell(name: str, tmp_path: Path, **more: Any) -> Shell:
    path = tmp_path / name
    path.write_text("")
    path.chmod(0o755)
    return Shell(id=name, path=str(path), **more)


class TestShells:
    @pytest.fixture
    def bridge(self, tmp_path: Path) -> HarnBridge:
        return HarnBridge(shells=Shells([shell("zsh", tmp_path), shell("fish", tmp_path)], find=lambda: ()))

    async def test_those_of_this_machine_are_listed(self):
        listed = (await call(HarnBridge(), "process.list_shells"))["result"]
        for found in listed["shells"]:
            Draft202012Validator(SHELL_SCHEMA).validate(found)
        assert listed["default_shell_id"] == listed["shells"][0]["id"]
        assert (await call(HarnBridge(), "process.get_default_shell"))["result"] == listed["shells"][0]

    async def test_a_session_chooses_its_default(self, bridge: HarnBridge):
        async def script(agent: ScriptedAgent) -> None:
            async def call(session_id: str, name: str, **args: Any) -> Any:
                params = {"sessionId": session_id, "name": f"process.{name}", "args": args}
                return (await agent.call("host/call", params)).get("result")

            assert (await call("s-1", "set_default_shell", shell_id="fish"))["id"] == "fish"
            assert await call("s-1", "set_default_shell", shell_id="bash") is None
            assert (await call("s-1", "get_default_shell"))["id"] == "fish"
            assert (await call("s-1", "list_shells"))["default_shell_id"] == "fish"
            assert (await call("s-2", "get_default_shell"))["id"] == "zsh"
            assert (await call("s-1", "shell_invocation", command="x"))["shell"]["id"] == "fish"

        async with served(bridge, script):
            pass

    @pytest.mark.parametrize(
        "named",
        [{"shell_id": "fish"}, {"shell": {"id": "fish"}}, {"shell_id": "fish", "shell": {"id": "zsh"}}],
    )
    async def test_a_line_becomes_arguments(self, bridge: HarnBridge, tmp_path: Path, named: dict[str, Any]):
        args = {**named, "command": "printf ok", "login": True}
        assert (await call(bridge, "process.shell_invocation", args))["result"] == {
            "program": str(tmp_path / "fish"),
            "args": ["-l", "-c", "printf ok"],
            "command_arg_index": 2,
            "shell": shell("fish", tmp_path).to_json(),
        }

    async def test_an_unknown_id_gives_way_to_a_known_shell(self, bridge: HarnBridge):
        args = {"shell_id": "other", "shell": {"id": "zsh"}, "command": "x"}
        assert (await call(bridge, "process.shell_invocation", args))["result"]["shell"]["id"] == "zsh"

    @pytest.mark.parametrize(
        "args",
        [
            {},
            {"command": 3},
            {"command": "x", "shell_id": "evil"},
            {"command": "x", "shell": 3},
            {"command": "x", "login": 1},
        ],
    )
    async def test_what_cannot_be_is_refused(self, bridge: HarnBridge, args: dict[str, Any]):
        assert (await call(bridge, "process.shell_invocation", args))["error"]["code"] == -32602

    async def test_there_may_be_none(self):
        bridge = HarnBridge(shells=Shells(find=lambda: ()))
        assert (await call(bridge, "process.list_shells"))["result"] == {"shells": [], "default_shell_id": None}
        error(-32000, "no shell", await call(bridge, "process.get_default_shell"))

    async def test_choices_of_sessions_are_bounded(self, bridge: HarnBridge, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr("acp_host.harn.bridge.shell_operations._MAX_SESSIONS", 1)

        async def script(agent: ScriptedAgent) -> None:
            for session_id in ("s-1", "s-2"):
                name, args = "process.set_default_shell", {"shell_id": "fish"}
                await agent.call("host/call", {"sessionId": session_id, "name": name, "args": args})
            params = {"sessionId": "s-1", "name": "process.get_default_shell", "args": {}}
            assert (await agent.call("host/call", params))["result"]["id"] == "zsh"

        async with served(bridge, script):
            pass

    def test_nothing_else_are_shells(self):
        with pytest.raises(InvalidInput):
            HarnBridge(shells=3)  # type: ignore[arg-type]


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
