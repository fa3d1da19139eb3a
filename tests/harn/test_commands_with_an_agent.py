"""Harn's commands against an agent with Harn's ways: what it does at once, and what it answers behind the turn."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest

import acp_host
from acp_host import InjectActor, InjectionResult, Session, harn
from acp_host.errors import InvalidState, NotSupported
from acp_host.state.entries import MessageEntry
from acp_host.testing.harn import HarnAgent, HarnTurn
from acp_host.wire.permission import RequestPermissionRequest, SelectedPermissionOutcome
from tests.harn.whole_agents import talking
from tests.host.scripts import until


class Steps:
    """A script that goes on when the test says so, and asks its model after each step."""

    def __init__(self) -> None:
        self._go = asyncio.Event()
        self.turn: HarnTurn | None = None
        self.delivered: list[str] = []

    async def __call__(self, turn: HarnTurn) -> None:
        self.turn = turn
        await self._go.wait()
        turn.ask_model()
        await turn.say("Done")
        turn.leave_loop()
        self.delivered += turn.delivered

    def go_on(self) -> None:
        self._go.set()


async def running(session: Session, steps: Steps) -> acp_host.Turn:
    turn = session.prompt("go")
    await until(lambda: steps.turn is not None)
    return turn


def said(session: Session) -> list[tuple[str, str]]:
    entries = session.state.snapshot().transcript
    return [(entry.speaker.value, entry.text.strip()) for entry in entries if isinstance(entry, MessageEntry)]


async def test_words_are_shown_where_the_model_had_them() -> None:
    steps = Steps()
    async with talking(HarnAgent(steps)) as session:
        turn = await running(session, steps)
        await session.inject("steered")
        queued = await session.inject("for the record", mode="queue")
        after = await session.inject("later", mode="after_turn")
        statuses = [entry.status for entry in session.state.injections.values()]
        assert statuses == ["pending", "pending"]
        steps.go_on()
        await turn
        assert said(session)[:4] == [
            ("user", "go"),
            ("user", "steered"),
            ("assistant", "Done"),
            ("user", "for the record"),
        ]
        assert queued.id is not None
        assert session.state.injections[queued.id].status == "delivered"
        assert after.turn is not None
        await after.turn
        assert said(session)[4:] == [("user", "later"), ("assistant", "Done")]
        assert steps.delivered == ["steered", "for the record"]


async def test_an_agent_without_interrupts_is_steered() -> None:
    steps = Steps()
    async with talking(HarnAgent(steps, inject_modes=("queue", "steer"))) as session:
        turn = await running(session, steps)
        receipt = await session.inject("now", mode="interrupt_immediate")
        assert (receipt.mode, len(receipt.adjustments)) == ("steer", 1)
        steps.go_on()
        await turn
    async with talking(HarnAgent(Steps(), inject_modes=())) as session:
        session.prompt("go")
        with pytest.raises(NotSupported):
            await session.inject("now")


async def test_what_was_taken_back_too_late_was_delivered() -> None:
    steps = Steps()
    async with talking(HarnAgent(steps)) as session:
        turn = await running(session, steps)
        await session.inject("too late")
        revoking = asyncio.ensure_future(session.injections.revoke("inj-1"))
        await until(lambda: session.state.injections["inj-1"].wish == "revoke")
        steps.go_on()
        await turn
        assert await revoking is InjectionResult.ALREADY_DELIVERED
        assert session.state.injections["inj-1"].status == "delivered"


async def test_what_outlives_a_cancelled_turn_can_be_changed_and_taken_back() -> None:
    steps = Steps()
    async with talking(HarnAgent(steps)) as session:
        turn = await running(session, steps)
        for text in ("first", "second"):
            await session.inject(text)
        after = await session.inject("later", mode="after_turn")
        turn.cancel()
        assert (await turn).outcome.kind == "cancelled"
        assert after.turn is not None
        assert (await after.turn).outcome.kind == "cancelled"
        pending = await session.pending_injections()
        assert [(row.message_id, row.mode) for row in pending.messages] == [
            ("msg_inj-1", "steer"),
            ("msg_inj-2", "steer"),
        ]
        assert await session.injections.replace("inj-1", "changed") is InjectionResult.REPLACED
        assert await session.injections.revoke("inj-2") is InjectionResult.REVOKED
        assert await session.injections.revoke("inj-2") is InjectionResult.ALREADY_REVOKED
        steps.go_on()
        await session.prompt("again")
        assert steps.delivered == ["changed"]


async def test_what_another_client_has_said_is_not_everybodys_to_take_back() -> None:
    steps = Steps()
    async with talking(HarnAgent(steps)) as session:
        turn = await running(session, steps)
        session.injections.actor = InjectActor(client_id="a", role="guest")
        await session.inject("mine")
        turn.cancel()
        await turn
        session.injections.actor = InjectActor(client_id="b", role="guest")
        assert await session.injections.revoke("inj-1") is InjectionResult.NOT_OWNER
        session.injections.actor = InjectActor(client_id="b")
        assert await session.injections.revoke("inj-1") is InjectionResult.REVOKED


@asynccontextmanager
async def two_hosts(agent: HarnAgent, **options: Any) -> AsyncIterator[tuple[Session, Session]]:
    """Yield one session of the agent as two hosts have it; the agent tells the second what happens in it."""
    async with asyncio.timeout(40), AsyncExitStack() as stack:
        first = await stack.enter_async_context(acp_host.connect(agent.transport()))
        session = await first.new_session()
        second = await stack.enter_async_context(acp_host.connect(agent.transport(), **options))
        yield session, await second.load_session(session.id, cwd=session.cwd)


async def test_control_goes_from_host_to_host() -> None:
    async def asks(turn: HarnTurn) -> None:
        async with turn.tool_call("run", "execute") as call:
            await turn.say("allowed" if await turn.permitted(call) else "refused")

    asked: list[str] = []

    def allow(request: RequestPermissionRequest) -> SelectedPermissionOutcome:
        asked.append(request.session_id)
        return SelectedPermissionOutcome("allow")

    async with two_hosts(HarnAgent(asks), permissions=allow) as (first, second):
        one, two = harn.of(first).live, harn.of(second).live
        await one.attach("one", mode="controller", metadata={"surface": "editor"})
        with pytest.raises(harn.AttachRefused) as refused:
            await two.attach("two", mode="controller")
        assert refused.value.may_take_over
        await two.attach("two")
        with pytest.raises(InvalidState):
            second.prompt("go")
        assert (await two.takeover()).previous_controller_id == "one"
        assert (await second.prompt("go")).text.strip() == "allowed"
        assert asked == [second.id]
        await one.heartbeat()  # whose answer has who controls the session now
        assert not one.in_control
        known = {each.client_id: each for each in await one.clients()}
        assert known["one"].metadata == {"surface": "editor"}
        assert (known["one"].mode, known["two"].mode) == ("observer", "controller")
        state = await two.detach()
        assert (state.client, state.active_controller_id) == (None, None)


async def test_tool_calls_people_and_limits() -> None:
    async def script(turn: HarnTurn) -> None:
        async with turn.tool_call("sleep", "execute") as call:
            call.start()
            await asyncio.Event().wait()
        turn.ask_human("question", prompt="Which branch?", schema={"enum": ["main", "next"]})
        await turn.say("going on")

    agent = HarnAgent(script)
    async with talking(agent) as session:
        commands, turn = harn.of(session), session.prompt("go")
        await until(lambda: any(call.status == "in_progress" for call in session.state.snapshot().tool_calls))
        [call] = session.state.snapshot().tool_calls
        assert (await commands.cancel_tool_call(call.tool_call_id, reason="too slow")).status == "cancelled"
        commands.set_budget(cost_usd=2.5, tokens=None)
        assert (await turn).text.strip() == "going on"
        assert (await commands.cancel_tool_call("call-9")).status == "not_found"
        [call] = session.state.snapshot().tool_calls
        assert call.status == "failed"
        assert agent.sessions[session.id].budget == {"llm_cost_usd": 2.5, "llm_tokens": None}
        [asked] = session.state.snapshot().harn.human_requests.values()
        assert (asked.status, asked.prompt) == ("unanswered", "Which branch?")
        with pytest.raises(acp_host.InvalidInput):
            await commands.people.answer(asked.request_id, "trunk")
        await commands.people.answer(asked.request_id, "main", reviewer="ana")
        await until(lambda: session.state.snapshot().harn.human_requests[asked.request_id].status == "answered")


async def test_history_files_plans_and_events() -> None:
    async with talking(HarnAgent(Steps())) as session:
        commands = harn.of(session)
        assert (await commands.history.rollback()).checkpoint_id == "checkpoint-0"
        assert (await commands.history.redo()).status == "ok"
        assert (await commands.history.truncate(0)).kept == 0
        assert (await commands.staged_writes.set_mode("staged")).previous_mode == "immediate"
        assert (await commands.staged_writes.commit(["a.py"])).committed == ("a.py",)
        assert await commands.staged_writes.discard(["b.py"]) == ("b.py",)
        document = await commands.plan_documents.mutate("d-1", "revision-1", "approve")
        assert document is not None
        assert document.revision is not None
        with pytest.raises(harn.PlanConflict) as conflict:
            await commands.plan_documents.mutate("d-1", "revision-0", "approve")
        assert conflict.value.current_revision_id == document.revision.revision_id
        event = harn.HostToolResult(tool_name="pytest", status="completed")
        receipt = await commands.inject_host_event(event, harn.Provenance(initiator="user", source="terminal"))
        assert (receipt.status, receipt.delivery) == ("queued", "turn_boundary")
        assert (await commands.provider_catalog())["schemaVersion"] == 10
