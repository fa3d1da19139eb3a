"""What a host of Harn must do at least, in twenty points, each end to end: an agent, a connection, and what is seen.

Single modules have tests of their own beside this one; here is what they come to together.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

import acp_host
from acp_host import HostConnection, PermissionPolicy, ReminderPolicy, Rung, Session
from acp_host.diagnostics import DiagnosticKind
from acp_host.harn import AttachRefused, HarnBridge
from acp_host.host.injections import InjectionResult
from acp_host.state.entries import MessageEntry
from acp_host.state.harn.snapshot import HarnSnapshot
from acp_host.testing import HarnAgent, HarnTurn, ScriptedAgent
from acp_host.wire.content import TextContent
from acp_host.wire.harn.prompt import TerminalKind
from acp_host.wire.permission import RequestPermissionRequest
from tests.harn.harness import FIXTURES, frames, named, updates
from tests.harn.whole_agents import running, talking, waits
from tests.host.scripts import until

IDENTITY = {"agentInfo": {"name": "harn", "version": "0.10.126"}}
NATURAL = {"stopReason": "end_turn", "_meta": {"harn": {"terminal": {"kind": "natural"}}}}
CHUNK = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "again"}}


@asynccontextmanager
async def scripted(
    script: Callable[[ScriptedAgent], Awaitable[Any]], capabilities: Any = None, **options: Any
) -> AsyncIterator[tuple[HostConnection, Session]]:
    """Yield a connection and a session ``s-1`` of an agent that says to be Harn and follows a script, to its end."""

    async def whole(agent: ScriptedAgent) -> None:
        await agent.handshake(capabilities, **IDENTITY)
        await agent.open_session("s-1")
        await script(agent)

    agent = ScriptedAgent(whole)
    async with asyncio.timeout(40), acp_host.connect(agent.transport(), **options) as host:
        yield host, await host.new_session()
        await agent.finished()


def harn(session: Session) -> HarnSnapshot:
    snapshot = session.state.snapshot().harn
    assert snapshot is not None
    return snapshot


def messages(session: Session) -> list[tuple[str, str]]:
    transcript = session.state.snapshot().transcript
    return [(entry.speaker, entry.text) for entry in transcript if isinstance(entry, MessageEntry)]


def problems(host: HostConnection) -> list[str]:
    return [diagnostic.message for diagnostic in host.diagnostics]


# --- 1: all that is known is read -------------------------------------------------------------------------------------


async def test_01_every_frame_is_taken_and_both_forms_say_the_same() -> None:
    files = sorted(path.name for path in FIXTURES.glob("*.json"))
    told = [
        {**frame["params"], "sessionId": "s-1"}
        for name in files
        if isinstance(found := json.loads((FIXTURES / name).read_text()), list) and not name.startswith("invalid_")
        for frame in found
        if frame.get("method") == "session/update"
    ]

    async def everything(agent: ScriptedAgent) -> None:
        await agent.expect("session/prompt")
        for params in told:
            agent.notify("session/update", params)
        agent.reply(NATURAL)

    async with scripted(everything) as (host, session):
        assert (await session.prompt("Hi")).outcome.verified
        assert not [each for each in host.diagnostics if each.kind is DiagnosticKind.HANDLER_FAILED]
        acp_host.to_json(session.state.snapshot())
    assert len(told) > 50

    older = list(updates("legacy_root_session_update_extensions.json"))
    kinds = [update["sessionUpdate"] for update in older]
    present = [each for each in updates("session_update_extensions.json") if each["sessionUpdate"] in kinds]
    snapshots = []
    for form in (older, present):

        async def one_form(agent: ScriptedAgent, form: list[dict[str, Any]] = form) -> None:
            await agent.expect("session/prompt")
            for update in form:
                agent.update(update, "s-1")
            agent.reply(NATURAL)

        async with scripted(one_form) as (_, session):
            await session.prompt("Hi")
            snapshots.append(harn(session))
    assert snapshots[0] == snapshots[1]


# --- 2: what is not known, or broken ----------------------------------------------------------------------------------


async def test_02_what_is_unknown_or_broken_ends_nothing() -> None:
    unknown = [
        {"sessionUpdate": "of_tomorrow", "_meta": {"harn": {"x": 1}}},
        named("worker_update", workerId="w-1", event="WorkerLevitated", status="levitating", more=1),
        {"sessionUpdate": "tool_call_update", "toolCallId": "t-1", "status": "restored"},
    ]
    broken: list[Any] = [
        {"update": CHUNK},
        {"sessionId": "s-1", "update": "no object"},
        {"sessionId": "s-1", "update": {"sessionUpdate": 7}},
        {"sessionId": "s-1", "update": {"sessionUpdate": "worker_update", "_meta": {"harn": "a string"}}},
        {"sessionId": "s-1", "update": {"sessionUpdate": "reminder_emitted", "_meta": {"harn": {"reminder": []}}}},
    ]

    async def script(agent: ScriptedAgent) -> None:
        await agent.expect("session/prompt")
        for update in unknown:
            agent.update(update, "s-1")
        agent.notify("_harn/agentEvent", {"sessionId": "s-1", "kind": "of_tomorrow", "x": 1})
        for params in broken:
            agent.notify("session/update", params)
        agent.update({**CHUNK, "_meta": None}, "s-1")
        agent.reply(NATURAL)

    async with scripted(script) as (host, session):
        result = await session.prompt("Hi")
        assert result.text == "again"
        worker = harn(session).workers["w-1"]
        assert (worker.status, worker.extra) == ("levitating", {"more": 1})
        assert [event.kind for event in harn(session).agent_events] == ["of_tomorrow"]
        assert len(problems(host)) >= len(broken)


# --- 3, 4, 5: reminders -----------------------------------------------------------------------------------------------

REMINDERS = {"session": {"remind": {"modes": ["finish_step"], "pending": {"list": True, "revoke": True}}}}


@pytest.mark.parametrize(
    ("capabilities", "method", "keys"),
    [
        (REMINDERS, "session/remind", {"dedupe_key", "ttl_turns", "role_hint"}),
        (
            {"reminders": {"inject": True, "roleHints": ["system", "developer"]}},
            "session/inject_reminder",
            {"dedupeKey", "ttlTurns", "roleHint"},
        ),
        ({"reminders": {"inject": True}}, "session/inject_reminder", {"dedupeKey", "ttlTurns"}),
    ],
)
async def test_03_each_method_has_its_spelling(capabilities: Any, method: str, keys: set[str]) -> None:
    sent: list[dict[str, Any]] = []

    async def script(agent: ScriptedAgent) -> None:
        sent.append((await agent.expect(method))["params"])
        agent.reply({"reminderId": "r-1"})

    async with scripted(script, capabilities) as (_, session):
        await session.remind("x", dedupe_key="k", ttl_turns=1, role_hint="developer")
    always = {"sessionId", "body", "mode"} if method == "session/remind" else {"sessionId", "body"}
    assert always | keys <= sent[0].keys()
    other = {"dedupeKey", "ttlTurns", "roleHint"} if method == "session/remind" else {"dedupe_key", "role_hint"}
    assert not other & sent[0].keys()
    assert keys >= {"role_hint", "roleHint"} & sent[0].keys()


@pytest.mark.parametrize("number", ["001", "002", "005", "042"])
async def test_04_the_code_of_a_refusal_is_in_its_message(number: str) -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.expect("session/remind")
        agent.reply_error(-32602, f"session/remind: HARN-RMD-{number}: something is wrong")

    async with scripted(script, REMINDERS) as (_, session):
        with pytest.raises(acp_host.InvalidParams):
            await session.remind("x", dedupe_key="k")
        [entry] = session.reminders.snapshot().entries
        assert entry.error is not None
        assert entry.error.rmd == f"HARN-RMD-{number}"


async def test_05_what_the_agent_does_not_have_is_tried_once() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.expect("session/inject_reminder")
        agent.reply_error(-32601, "Method not found")
        await agent.expect("session/remind")
        agent.reply({"reminderId": "r-1"})
        await agent.expect("session/remind")
        agent.reply_error(-32601, "Method not found")

    policy = ReminderPolicy(rungs=(Rung.INJECT_REMINDER, Rung.REMIND, Rung.SIDEBAR))
    async with scripted(script, {**REMINDERS, "reminders": {"inject": True}}, sidebar=True) as (_, session):
        rungs = [(await session.remind(body, policy=policy)).rung for body in ("1", "2", "3")]
    assert rungs == ["remind", "sidebar", "sidebar"]


# --- 6: injects -------------------------------------------------------------------------------------------------------


async def test_06_a_message_is_a_bubble_when_it_is_delivered() -> None:
    go_on = asyncio.Event()

    async def script(turn: HarnTurn) -> None:
        await turn.say("working")
        await go_on.wait()
        turn.ask_model()

    agent = HarnAgent(script)
    async with talking(agent) as session:
        turn = await running(session, agent)
        receipt = await session.inject("also run the tests")
        assert receipt.message_id == "msg_inj-1"
        assert ("user", "also run the tests") not in messages(session)
        go_on.set()
        await turn
        assert messages(session)[-1] == ("user", "also run the tests")
        assert receipt.id is not None
        assert await session.injections.revoke(receipt.id) is InjectionResult.ALREADY_DELIVERED
        assert await session.injections.replace(receipt.id, "y") is InjectionResult.ALREADY_DELIVERED


async def test_06_what_still_waits_can_be_replaced_and_taken_back() -> None:
    agent = HarnAgent(waits)
    async with talking(agent) as session:
        turn = await running(session, agent)
        receipt = await session.inject("x")
        turn.cancel()
        await turn
        assert receipt.id is not None
        assert await session.injections.replace(receipt.id, "y") is InjectionResult.REPLACED
        [row] = (await session.pending_injections()).messages
        assert row.content == (TextContent("y"),)
        assert await session.injections.revoke(receipt.id) is InjectionResult.REVOKED
        assert await session.injections.revoke(receipt.id) is InjectionResult.ALREADY_REVOKED


async def test_06_delivery_may_come_before_the_answer() -> None:
    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        inject = await agent.expect("session/inject")
        content = [{"type": "text", "text": "x"}]
        agent.update({"sessionUpdate": "user_message", "messageId": "m-1", "content": content}, "s-1")
        agent.reply({"messageId": "m-1", "status": "accepted"}, to=inject)
        agent.reply(NATURAL, to=prompt)

    async with scripted(script, {"session": {"inject": {"modes": ["steer"]}}}) as (_, session):
        turn = session.prompt("go")
        await until(lambda: session.current_turn is turn)
        await session.inject("x")
        await turn
        assert messages(session) == [("user", "go"), ("user", "x")]
        [entry] = session.state.snapshot().injections.values()
        assert entry.status == "delivered"


# --- 7: what waits behind a prompt ------------------------------------------------------------------------------------


async def test_07_a_reminder_in_a_turn_is_answered_behind_it() -> None:
    go_on = asyncio.Event()

    async def script(turn: HarnTurn) -> None:
        await go_on.wait()

    agent = HarnAgent(script)
    policy = ReminderPolicy(rungs=(Rung.REMIND, Rung.SIDEBAR))
    async with talking(agent, sidebar=True) as session:
        turn = await running(session, agent)
        reminding = asyncio.create_task(session.remind("look", policy=policy))
        await session.inject("this is taken at once")
        assert not reminding.done()
        go_on.set()
        assert (await turn).outcome.verified
        receipt = await reminding
        assert receipt.rung == Rung.SIDEBAR
        assert (receipt.attempts[0].rung, receipt.attempts[0].outcome) == ("remind", "declined")


# --- 8: how a turn ends -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("terminal", "kind", "verified"),
    [
        ({"kind": "natural"}, "completed", True),
        *[({"kind": kind}, "incomplete", False) for kind in TerminalKind if kind not in ("natural", "user_cancelled")],
        ({"kind": "user_cancelled"}, "cancelled", False),
        ({"kind": "of_tomorrow"}, "incomplete", False),
        (None, "unverified", False),
        ("no object", "unverified", False),
        ({"kind": 7}, "unverified", False),
    ],
)
async def test_08_only_natural_is_done(terminal: Any, kind: str, verified: bool) -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.expect("session/prompt")
        meta = {} if terminal is None else {"_meta": {"harn": {"terminal": terminal}}}
        agent.reply({"stopReason": "end_turn", **meta})

    async with scripted(script) as (host, session):
        outcome = (await session.prompt("Hi")).outcome
        assert (outcome.kind, outcome.verified) == (kind, verified)
        is_broken = terminal is not None and not (isinstance(terminal, dict) and isinstance(terminal["kind"], str))
        assert bool(problems(host)) is is_broken


# --- 9: workers -------------------------------------------------------------------------------------------------------


async def test_09_a_worker_has_one_life() -> None:
    async def script(turn: HarnTurn) -> None:
        worker = turn.worker("review", "Look at it")
        for event in ("WorkerProgressed", "WorkerWaitingForInput", "WorkerResumed", "WorkerSuspended", "WorkerResumed"):
            worker.tell(event)
        worker.tell("WorkerCompleted")
        worker.tell("WorkerCompleted")
        worker.tell("WorkerProgressed")
        worker.tell("WorkerFailed")
        turn.tell("worker_update", workerId="late", status="awaiting_input")

    async with talking(HarnAgent(script)) as session:
        await session.prompt("go")
        workers = harn(session).workers
        assert {id: (worker.status, worker.ended) for id, worker in workers.items()} == {
            "worker-1": ("completed", True),
            "late": ("awaiting_input", False),
        }


# --- 10: permission ---------------------------------------------------------------------------------------------------

DIFF = {"path": "/work/a.py", "oldText": "a", "newText": "b"}


async def _edits(turn: HarnTurn) -> None:
    async with turn.tool_call("edit_file", "edit", {"path": "a.py"}) as call:
        allowed = await turn.permitted(call, DIFF)
        await turn.say("allowed" if allowed else "refused")


def _crashes(request: RequestPermissionRequest) -> str:
    raise RuntimeError("the dialog is broken")


@pytest.mark.parametrize(
    ("permissions", "said"),
    [
        (PermissionPolicy.allow_once(), "allowed"),
        (lambda request: "reject_once", "refused"),
        (lambda request: "cancel", "refused"),
        (None, "refused"),
        (_crashes, "refused"),
    ],
)
async def test_10_only_a_yes_is_a_yes(permissions: Any, said: str) -> None:
    agent = HarnAgent(_edits)
    async with talking(agent, permissions=permissions) as session:
        assert (await session.prompt("go")).text.strip() == said


async def test_10_a_cancelled_turn_answers_all_dialogs() -> None:
    asked: list[RequestPermissionRequest] = []
    answers: list[Any] = []

    async def ask(request: RequestPermissionRequest) -> str:
        asked.append(request)
        await asyncio.Event().wait()
        return "allow_once"

    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        options = [{"optionId": "allow", "name": "Allow", "kind": "allow_once"}]
        questions = [
            agent.request(
                "session/request_permission",
                {"sessionId": "s-1", "toolCall": {"toolCallId": id, "title": id}, "options": options},
            )
            for id in ("a", "b")
        ]
        await agent.expect("session/cancel")
        answers.extend([(await agent.response(question))["result"] for question in questions])
        agent.reply({"stopReason": "cancelled"}, to=prompt)

    async with scripted(script, permissions=ask) as (_, session):
        turn = session.prompt("go")
        await until(lambda: len(asked) == 2)
        turn.cancel()
        assert (await turn).outcome.kind == "cancelled"
    assert answers == [{"outcome": {"outcome": "cancelled"}}] * 2


async def test_10_a_question_of_a_prompt_that_is_over_is_no_dialog() -> None:
    asked: list[Any] = []
    answers: list[dict[str, Any]] = []

    async def script(agent: ScriptedAgent) -> None:
        first = (await agent.expect("session/prompt"))["params"]["messageId"]
        agent.reply(NATURAL)
        await agent.expect("session/prompt")
        options = [{"optionId": "allow", "name": "Allow", "kind": "allow_once"}]
        question = {"sessionId": "s-1", "toolCall": {"toolCallId": "a", "title": "a"}, "options": options}
        stale = {**question, "promptCorrelation": {"messageId": first}}
        answers.append(await agent.call("session/request_permission", stale))
        agent.reply(NATURAL)

    async with scripted(script, permissions=lambda request: asked.append(request) or "allow_once") as (_, session):
        await session.prompt("1")
        await session.prompt("2")
    assert asked == []
    assert "error" in answers[0]


# --- 11: ids ----------------------------------------------------------------------------------------------------------


async def test_11_ids_are_echoed_and_answered_once() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.expect("session/prompt")
        question = {"jsonrpc": "2.0", "id": 12_000, "method": "host/capabilities", "params": {"sessionId": "s-1"}}
        again = {**question, "_harn": {"eventId": 3, "replayed": True}}
        agent.send_raw(b"".join(json.dumps(each).encode() + b"\n" for each in (question, again)))
        assert (await agent.response(12_000))["id"] == 12_000
        agent.reply(NATURAL)

    agents: list[ScriptedAgent] = []

    async def noted(agent: ScriptedAgent) -> None:
        agents.append(agent)
        await script(agent)

    async with scripted(noted, handlers=HarnBridge().handlers()) as (_, session):
        await session.prompt("go")
    answers = [each for each in agents[0].received if each.get("id") == 12_000 and "method" not in each]
    assert len(answers) == 1
    assert type(answers[0]["id"]) is int


# --- 12: live clients -------------------------------------------------------------------------------------------------


async def test_12_who_is_attached_is_known_from_updates_and_answers() -> None:
    agent = HarnAgent()
    async with talking(agent) as session:
        live = acp_host.harn.of(session).live
        attached = await live.attach("nb-1", mode="controller", metadata={"surface": "jupyter"})
        assert attached.active_controller_id == "nb-1"
        with pytest.raises(AttachRefused) as refusal:
            await acp_host.harn.of(session).live.attach("tui", mode="controller")
        assert refusal.value.may_take_over
        beaten = await live.heartbeat()
        assert [client.metadata for client in beaten.clients] == [{"surface": "jupyter"}]
        taken = await live.takeover("tui")
        modes = {client.client_id: client.mode for client in taken.clients}
        assert modes == {"nb-1": "observer", "tui": "controller"}
        left = await live.detach()
        assert (left.active_controller_id, [client.client_id for client in left.clients]) == (None, ["nb-1"])
        assert harn(session).live_clients == left


# --- 13: what the host serves -----------------------------------------------------------------------------------------


async def test_13_the_bridge_answers_in_time_and_attests_only_what_it_should() -> None:
    async def slow() -> None:
        await asyncio.Event().wait()

    def open_file(path: str) -> str:
        return f"opened {path}"

    def forbidden() -> None:
        raise acp_host.RequestFailed("not on main", code=-32001)

    args = {
        "authority_kind": "native",
        "event_fingerprint": "e",
        "plan_fingerprint": "p",
        "hypothesis_id": "h",
        "operation_receipt_id": "receipt-1",
        "run_id": None,
    }
    bridge = HarnBridge(
        tools=[open_file, forbidden],
        operations={"acme.slow": slow},
        attestation=lambda request: request.operation_receipt_id == "receipt-1",
    )

    async def attest(agent: ScriptedAgent, **changes: Any) -> dict[str, Any]:
        params = {"sessionId": "s-1", "name": "hypothesis.attest_event", "args": {**args, **changes}}
        return await agent.call("host/call", params)

    async def script(agent: ScriptedAgent) -> None:
        await agent.expect("session/prompt")
        agent.request("host/call", {"sessionId": "s-1", "name": "acme.slow", "args": {}})
        told = (await agent.call("host/capabilities", {"sessionId": "s-1"}))["result"]
        assert told["acme"] == {"ops": ["slow"]}
        assert told["hypothesis"] == {"ops": ["attest_event"]}
        exact = {
            "_meta": {
                "harn": {"hostResult": {"schema": "harn.host-result.v1", "kind": "hypothesis_native_attestation"}}
            }
        }
        assert (await attest(agent))["result"] == exact
        assert (await attest(agent))["result"] == exact
        assert "error" in await attest(agent, event_fingerprint="another")
        assert "error" in await attest(agent, operation_receipt_id="receipt-2")
        opened = await agent.call("builtin_call", {"name": "open_file", "args": [{"path": "a.py"}]})
        assert opened["result"] == "opened a.py"
        assert (await agent.call("builtin_call", {"name": "open_file", "args": [{}]}))["error"]["code"] == -32602
        assert (await agent.call("builtin_call", {"name": "forbidden", "args": {}}))["error"]["code"] == -32001
        for retired in ("tool/pre_use", "tool/post_use", "tool/request_approval", "tool_search/query"):
            assert (await agent.call(retired, {}))["error"]["code"] == -32601
        agent.reply(NATURAL)

    async with scripted(script, handlers=bridge.handlers()) as (_, session):
        await session.prompt("go")


async def test_13_a_host_without_a_bridge_has_nothing() -> None:
    seen: list[Any] = []

    async def script(turn: HarnTurn) -> None:
        seen.append(await turn.host_capabilities())

    async with talking(HarnAgent(script)) as session:
        await session.prompt("go")
    assert seen == [{}]


# --- 14: commands -----------------------------------------------------------------------------------------------------


@pytest.mark.skipif("sys.platform == 'win32'", reason="the line is a POSIX one")
async def test_14_a_line_is_run_by_the_shell_and_its_output_comes_with_the_end() -> None:
    ended: list[Any] = []

    async def script(turn: HarnTurn) -> None:
        ended.append(await turn.run_line("echo out && test 1 = 1"))

    bridge = HarnBridge()
    async with talking(HarnAgent(script), terminals=True, handlers=bridge.handlers()) as session:
        await session.prompt("go")
    [end] = ended
    assert (end["stdout"], end["exitCode"]) == ("out\n", 0)


@pytest.mark.skipif("sys.platform == 'win32'", reason="the line is a POSIX one")
async def test_14_a_cancelled_turn_ends_its_line() -> None:
    agent = HarnAgent(lambda turn: turn.run_line("echo begun; exec sleep 60"))
    async with talking(agent, terminals=True) as session:
        turn = session.prompt("go")
        await until(lambda: session.state.snapshot().terminals)
        turn.cancel()
        assert (await turn).outcome.kind == "cancelled"
        await until(lambda: all(each.ended for each in session.state.snapshot().terminals.values()))


# --- 15: composition --------------------------------------------------------------------------------------------------


async def test_15_a_run_is_as_far_reaching_as_its_calls() -> None:
    async def script(turn: HarnTurn) -> None:
        run = turn.composition("read_only")
        run.call("read_file", "read_only")
        run.call("write_file", "workspace_write", status="failed", error="denied")
        run.finish()
        turn.composition("none")

    async with talking(HarnAgent(script)) as session:
        await session.prompt("go")
        first, second = harn(session).composition_runs.values()
        assert (first.ceiling, first.level, first.status) == ("read_only", "workspace_write", "finished")
        assert second.status == "incomplete"


# --- 16: what a person sees -------------------------------------------------------------------------------------------


async def test_16_visible_text_is_what_is_shown() -> None:
    def chunk(text: str, **meta: Any) -> dict[str, Any]:
        content = {"type": "text", "text": text, **({"_meta": {"harn": meta}} if meta else {})}
        return {"sessionUpdate": "agent_message_chunk", "content": content}

    async def script(turn: HarnTurn) -> None:
        for update in (
            chunk("<plan>x", visible_delta="", visible_text=""),
            chunk("</plan>Hello", visible_delta="Hello", visible_text="Hello"),
            chunk(" there", visible_delta=" there", visible_text="Hello there"),
            chunk(" plain"),
        ):
            turn.update(update)

    async with talking(HarnAgent(script)) as session:
        assert (await session.prompt("go")).text == "Hello there plain"
        assert messages(session)[-1] == ("assistant", "Hello there plain")


# --- 17: what is told again -------------------------------------------------------------------------------------------


async def test_17_a_replay_rebuilds_the_state_and_does_nothing_else() -> None:
    async def script(turn: HarnTurn) -> None:
        await turn.say("Hello")
        worker = turn.worker("review", "Look at it")
        turn.composition().finish()
        turn.update({"sessionUpdate": "notice", "severity": "error", "title": "Old news"})
        worker.tell("WorkerCompleted")

    agent = HarnAgent(script)
    async with talking(agent) as session:
        await session.prompt("go")
        live = harn(session)
    async with asyncio.timeout(40), acp_host.connect(agent.transport()) as host:
        again = await host.load_session(session.id)
        assert messages(again) == [("user", "go"), ("assistant", "Hello ")]
        assert (harn(again).workers, harn(again).composition_runs) == (live.workers, live.composition_runs)
        assert again.notices.snapshot().toasts == ()


@pytest.mark.parametrize("place", ["update", "params", "message"])
async def test_17_a_replay_is_marked_in_one_of_three_places(place: str) -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.expect("session/prompt")
        for update in (CHUNK, {"sessionUpdate": "notice", "severity": "error", "title": "Old news"}):
            params: dict[str, Any] = {"sessionId": "s-1", "update": update}
            message: dict[str, Any] = {"jsonrpc": "2.0", "method": "session/update", "params": params}
            if place == "update":
                params["update"] = {**update, "_meta": {"harn": {"replayed": True}}}
            elif place == "params":
                params["replayed"] = True
            else:
                message["_harn"] = {"eventId": 1, "sessionId": "s-1", "replayed": True}
            agent.send(message)
        agent.reply(NATURAL)

    async with scripted(script) as (_, session):
        assert (await session.prompt("Hi")).text == ""
        assert session.notices.snapshot().toasts == ()


# --- 18: forks --------------------------------------------------------------------------------------------------------


async def test_18_the_first_updates_of_a_fork_come_before_its_answer() -> None:
    agent = HarnAgent()
    async with asyncio.timeout(40), acp_host.connect(agent.transport(), unstable=True) as host:
        session = await host.new_session()
        fork = await host.fork_session(session.id)
        assert fork.id == "session-2"
        assert [command.name for command in fork.state.snapshot().commands] == ["review"]
        assert problems(host) == []


# --- 19: one prompt at a time -----------------------------------------------------------------------------------------


async def test_19_a_second_prompt_waits_here() -> None:
    agent = HarnAgent(waits)
    async with talking(agent) as session:
        first = await running(session, agent)
        second = session.prompt("then this")
        assert session.queued_turns == (second,)
        first.cancel()
        assert (await first).outcome.kind == "cancelled"
        await until(lambda: agent.sessions[session.id].turns == 2)
        second.cancel()
        await second
    assert agent.overlapping == 0


# --- 20: notices ------------------------------------------------------------------------------------------------------


async def test_20_notices_of_every_severity() -> None:
    replayed = {"_meta": {"harn": {"replayed": True}}}

    async def script(turn: HarnTurn) -> None:
        for severity in ("info", "warning", "error", "_vendor", "of_tomorrow"):
            turn.update({"sessionUpdate": "notice", "severity": severity, "title": severity})
        turn.update({"sessionUpdate": "notice", "severity": "info", "title": ""})
        turn.update({"sessionUpdate": "notice", "severity": "info", "title": "Old news", **replayed})

    async with talking(HarnAgent(script)) as session:
        await session.prompt("go")
        notices = session.notices.snapshot()
        shown = [(notice.severity, notice.title) for notice in notices.history]
        toasts = [notice.title for notice in notices.toasts]
    assert [title for _, title in shown if title != "Old news"] == [
        "info",
        "warning",
        "error",
        "_vendor",
        "of_tomorrow",
    ]
    assert "Old news" not in toasts


def test_the_wire_data_is_there() -> None:
    assert frames("prompt_result_terminal.json")
