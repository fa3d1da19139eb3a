"""The Harn-like agent: what it does at once, what waits behind a prompt, and in which forms it speaks."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import acp_host
from acp_host import HostConnection, PermissionPolicy, Session
from acp_host.errors import InvalidInput, InvalidParams, PromptFailed, RequestFailed
from acp_host.testing import HarnAgent, HarnTurn
from tests.harn.whole_agents import connected, running, waits
from tests.host.scripts import until
from tests.testing.test_agent_side import serving


async def ask(host: HostConnection, session: Session, method: str, **params: Any) -> Any:
    return await host.request(method, {"sessionId": session.id, **params}, force=True)


async def test_the_tour_ends_as_a_completion() -> None:
    agent = HarnAgent()
    async with connected(agent, permissions=PermissionPolicy.allow_once()) as (_, session):
        result = await session.prompt("Review")
        assert (result.outcome.kind, result.outcome.verified) == ("completed", True)
        assert result.text == "I look at the change. That is all; one question is open. "
        harn = session.state.snapshot().harn
        assert harn is not None
        assert [worker.status for worker in harn.workers.values()] == ["completed"]
        assert list(harn.artifacts) == ["chart-1"]
        [call] = session.state.snapshot().tool_calls
        assert call.status == "completed"


async def test_the_old_form_says_the_same() -> None:
    snapshots = []
    for old_form in (False, True):
        async with connected(HarnAgent(old_form=old_form), permissions=PermissionPolicy.allow_once()) as (_, session):
            await session.prompt("Review")
            snapshots.append(session.state.snapshot().harn)
    assert snapshots[0] == snapshots[1]


async def test_most_of_what_comes_waits_behind_the_prompt_in_order() -> None:
    agent = HarnAgent(waits)
    answered: list[str] = []
    async with connected(agent) as (host, session):
        turn = await running(session, agent)

        async def pending() -> None:
            await ask(host, session, "session/pending_injections")
            answered.append("pending")

        async def remind() -> None:
            with pytest.raises(RequestFailed, match="no active bridge") as refusal:
                await ask(host, session, "session/remind", body="x", mode="finish_step")
            assert refusal.value.code == -32004
            answered.append("remind")

        tasks = [asyncio.create_task(work()) for work in (remind, pending)]
        injected = await ask(host, session, "session/inject", mode="steer", content="also this")
        clients = await ask(host, session, "session/live_clients")
        assert (injected["status"], clients) == ("accepted", {"object": "list", "data": []})
        assert answered == []
        turn.cancel()
        assert (await turn).outcome.kind == "cancelled"
        await asyncio.gather(*tasks)
        assert answered == ["remind", "pending"]


async def test_an_agent_of_the_bridge_takes_reminders_at_once() -> None:
    agent = HarnAgent(waits, bridge=True)
    async with connected(agent) as (host, session):
        turn = await running(session, agent)
        assert "reminderId" in await ask(host, session, "session/remind", body="x", mode="finish_step")
        turn.cancel()
        await turn


async def test_an_inject_is_delivered_at_the_next_checkpoint_or_at_the_end() -> None:
    ready = asyncio.Event()
    delivered: list[str] = []

    async def script(turn: HarnTurn) -> None:
        await ready.wait()
        turn.ask_model()
        delivered.extend(turn.delivered)

    agent = HarnAgent(script)
    async with connected(agent) as (host, session):
        turn = await running(session, agent)
        await ask(host, session, "session/inject", mode="queue", content="later")
        await ask(host, session, "session/inject", mode="steer", content=[{"type": "text", "text": "now"}])
        ready.set()
        await turn
        assert delivered == ["now"]
        assert (await ask(host, session, "session/pending_injections"))["pendingCount"] == 0


async def test_an_interruption_skips_the_tool_that_has_not_begun() -> None:
    ready, begun = asyncio.Event(), []

    async def script(turn: HarnTurn) -> None:
        async with turn.tool_call("edit_file", "edit") as call:
            await ready.wait()
            call.start()
            begun.append(call)

    agent = HarnAgent(script)
    async with connected(agent) as (host, session):
        turn = await running(session, agent)
        await ask(host, session, "session/inject", mode="interrupt_immediate", content="stop")
        ready.set()
        await turn
    assert begun == []


@pytest.mark.parametrize(
    ("params", "reason"),
    [
        ({"messageId": "nothing"}, "unknown_message_id"),
        ({"messageId": "msg_inj-1", "_meta": {"harn": {"actor": {"clientId": "b"}}}}, "not_owner_or_not_authorized"),
    ],
)
async def test_what_waits_can_be_changed_by_its_owner(params: dict[str, Any], reason: str) -> None:
    """The request is handled behind the prompt; what was cancelled leaves its injects where they are."""
    agent = HarnAgent(waits)
    async with connected(agent) as (host, session):
        turn = await running(session, agent)
        await ask(host, session, "session/inject", mode="steer", content="x")
        turn.cancel()
        await turn
        with pytest.raises(InvalidParams) as refusal:
            await ask(host, session, "session/revoke_inject", **params)
        assert refusal.value.data["reason"] == reason
        own = {"messageId": "msg_inj-1"}
        assert await ask(host, session, "session/replace_inject", **own, content="y") == {**own, "status": "replaced"}
        [row] = (await ask(host, session, "session/pending_injections"))["injections"]
        assert (row["mode"], row["content"]) == ("finish_step", [{"type": "text", "text": "y"}])
        for status in ("revoked", "already_revoked"):
            assert (await ask(host, session, "session/revoke_inject", **own))["status"] == status
        with pytest.raises(InvalidParams):
            await ask(host, session, "session/replace_inject", **own, content="z")


async def test_a_tool_call_is_ended_alone() -> None:
    went_on = []

    async def script(turn: HarnTurn) -> None:
        async with turn.tool_call("exec", "execute") as call:
            call.start()
            await asyncio.Event().wait()
        went_on.append(call.cancelled)

    agent = HarnAgent(script)
    async with connected(agent) as (host, session):
        turn = await running(session, agent)
        await until(lambda: session.state.snapshot().tool_calls)
        nothing = await ask(host, session, "session/cancel_tool_call", toolCallId="x")
        assert nothing["status"] == "not_found"
        done = await ask(host, session, "session/cancel_tool_call", toolCallId="call-1")
        assert (done["status"], done["tool"]) == ("cancelled", "exec")
        assert (await turn).outcome.kind == "completed"
    assert went_on == [True]


async def test_the_newest_builds_want_to_be_told_of_the_environment() -> None:
    agent = HarnAgent(requires_environment=True)
    async with acp_host.connect(agent.transport()) as host:
        for policy, problem in ((None, "missing"), ({"kind": "x"}, "invalid")):
            given = {} if policy is None else {"environmentPolicy": policy}
            with pytest.raises(InvalidParams) as refusal:
                await host.request("session/new", {"cwd": "/", "mcpServers": [], **given}, force=True)
            assert refusal.value.data["code"] == f"environment_policy.{problem}"


async def test_an_unknown_mode_is_none() -> None:
    with pytest.raises(InvalidInput, match="shout"):
        HarnAgent(inject_modes=["shout"])


async def test_it_is_a_program_too() -> None:
    async with asyncio.timeout(30), acp_host.connect(HarnAgent.command("--delay", "0")) as host:
        session = await host.new_session()
        assert (await session.prompt("Review")).outcome.verified


async def test_a_prompt_fails_in_harns_form() -> None:
    async def script(turn: HarnTurn) -> None:
        if turn.text == "busy":
            raise turn.failure("rate_limited", "busy", retryable=True, retryAfterMs=2000)
        raise ValueError("a mistake")

    async with connected(HarnAgent(script)) as (_, session):
        with pytest.raises(PromptFailed) as busy:
            await session.prompt("busy")
        assert (busy.value.terminal_class, busy.value.retry_after) == ("rate_limited", 2.0)
        with pytest.raises(PromptFailed) as mistake:
            await session.prompt("x")
        assert mistake.value.terminal_class == "generic_throw"


async def test_a_second_prompt_of_a_session_is_noticed_and_waits() -> None:
    agent = HarnAgent(waits)
    async with connected(agent) as (host, session):
        turn = await running(session, agent)
        prompt = {"prompt": [{"type": "text", "text": "too early"}]}
        second = asyncio.create_task(ask(host, session, "session/prompt", **prompt))
        await until(lambda: agent.overlapping == 1)
        assert agent.sessions[session.id].turns == 1
        turn.cancel()
        await turn
        await until(lambda: agent.sessions[session.id].turns == 2)
        second.cancel()


async def test_a_cancellation_can_be_a_request_which_is_answered_behind_the_prompt() -> None:
    async with serving(HarnAgent(waits)) as host:
        host.send({"id": 1, "method": "session/new", "params": {"cwd": "/", "mcpServers": []}})
        session = {"sessionId": (await host.get())["result"]["sessionId"]}
        assert (await host.get())["params"]["update"]["sessionUpdate"] == "available_commands_update"
        prompt = {**session, "prompt": [{"type": "text", "text": "go"}]}
        cancel = {"method": "session/cancel", "params": session}
        host.send({"id": 2, "method": "session/prompt", "params": prompt}, {"id": 3, **cancel}, {"id": 4, **cancel})
        ended, first, second = [await host.get() for _ in range(3)]
        assert (ended["id"], ended["result"]["stopReason"]) == (2, "cancelled")
        assert ended["result"]["_meta"]["harn"]["terminal"]["kind"] == "user_cancelled"
        assert (first["result"]["status"], second["result"]["status"]) == ("cancelled", "already_cancelled")
        host.send({"id": 5, "method": "session/cancel", "params": {"sessionId": "nowhere"}})
        told, refusal = [await host.get() for _ in range(2)]
        assert (told["params"]["kind"], told["params"]["outcome"]) == ("control_outcome", "unknown_session")
        assert refusal["error"]["code"] == -32004


async def test_what_does_not_fit_is_refused() -> None:
    agent = HarnAgent(waits)
    async with connected(agent) as (host, session):
        turn = await running(session, agent)
        wrong: list[dict[str, Any]] = [
            {"mode": "shout", "content": "x"},
            {"mode": "steer"},
            {"mode": "steer", "content": [1]},
        ]
        for params in wrong:
            with pytest.raises(InvalidParams):
                await ask(host, session, "session/inject", **params)
        turn.cancel()
        await turn
        with pytest.raises(RequestFailed, match="no active prompt"):
            await ask(host, session, "session/inject", mode="steer", content="x")
        for method, params in (
            ("harn.hitl.respond", {"request_id": "x", "answer": 1}),
            ("harn.hitl.respond", {"request_id": "hitl_question_1"}),
            ("session/revoke_reminder", {"reminderId": "nothing"}),
            ("session/heartbeat", {"clientId": "nobody"}),
            ("session/detach", {"clientId": "nobody"}),
            ("session/attach", {"clientId": "x", "mode": "king"}),
            ("session/fs_mode", {"mode": "odd"}),
            ("session/truncate", {"keepFirst": -1}),
            ("session/inject_host_event", {"event": {"kind": "odd"}}),
            ("session/live_clients", {"sessionId": "nowhere"}),
        ):
            with pytest.raises(RequestFailed):
                await ask(host, session, method, **params)
