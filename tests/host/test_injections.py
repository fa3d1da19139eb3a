"""Saying something to an agent while it works: modes, what becomes of it, taking it back, and turns of their own."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import acp_host
from acp_host import Session
from acp_host.errors import (
    InvalidInput,
    InvalidParams,
    InvalidState,
    MalformedResponse,
    NoActivePrompt,
    NotSupported,
    OutcomeUnknown,
    SessionNotFound,
)
from acp_host.host.injections import InjectActor, InjectionResult, InjectMode
from acp_host.state.entries import MessageEntry
from acp_host.state.injections import Injection
from acp_host.testing import ScriptedAgent
from acp_host.wire.content import TextContent
from tests.host.scripts import DONE, in_session, until

HARN = {
    "session": {
        "inject": {"modes": ["queue", "steer", "interrupt_immediate"], "pending": {"replace": True}},
        "remind": {"pending": {"list": True}},
    },
    "_meta": {"harn": {}},
}
MESSAGE = [{"type": "text", "text": "also run the tests"}]


def told(agent: ScriptedAgent, message_id: str = "m-1", content: Any = MESSAGE) -> None:
    agent.update({"sessionUpdate": "user_message", "messageId": message_id, "content": content}, "s-1")


def chip(session: Session, number: int = 1) -> Injection:
    return session.state.snapshot().injections[f"inj-{number}"]


def said(session: Session) -> list[str]:
    return [entry.text for entry in session.state.snapshot().transcript if isinstance(entry, MessageEntry)]


async def running(session: Session) -> acp_host.Turn:
    """Return a turn that is on the wire."""
    turn = session.prompt("go")
    await until(lambda: session.current_turn is turn)
    return turn


async def test_a_chip_becomes_a_bubble() -> None:
    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        message = await agent.expect("session/inject")
        assert message["params"] == {"sessionId": "s-1", "mode": "steer", "content": MESSAGE}
        agent.reply({"messageId": "m-1", "status": "accepted"})
        await agent.expect("_deliver")
        told(agent)
        agent.reply({})
        agent.reply(DONE, to=prompt)

    async with in_session(script, HARN) as session:
        turn = await running(session)
        receipt = await session.inject("also run the tests")
        assert (receipt.mode, receipt.id, receipt.message_id) == ("steer", "inj-1", "m-1")
        assert (receipt.turn, receipt.adjustments) == (None, ())
        assert (chip(session).status, chip(session).mode, said(session)) == ("pending", "steer", ["go"])
        await session._driver.call("_deliver")
        await turn
        assert (chip(session).status, said(session)) == ("delivered", ["go", "also run the tests"])
        assert session.state.snapshot().entry(chip(session).position or 0).message_id == "m-1"


async def test_delivery_before_the_answer() -> None:
    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        await agent.expect("session/inject")
        told(agent)
        agent.reply({"messageId": "m-1", "status": "accepted"})
        agent.reply(DONE, to=prompt)

    async with in_session(script, HARN) as session:
        turn = await running(session)
        await session.inject("also run the tests")
        assert chip(session).status == "delivered"
        await turn
        assert said(session) == ["go", "also run the tests"]


async def test_what_the_agent_does_not_offer_goes_as_the_next_best_or_not_at_all() -> None:
    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        message = await agent.expect("session/inject")
        assert message["params"]["mode"] == "steer"
        agent.reply({"messageId": "m-1"})
        agent.reply(DONE, to=prompt)

    async with in_session(script, {"session": {"inject": {"modes": ["steer"]}}}) as session:
        turn = await running(session)
        with pytest.raises(NotSupported, match="after_turn works with every agent"):
            await session.inject("x", mode="queue")
        receipt = await session.inject("x", mode=InjectMode.INTERRUPT)
        assert receipt.mode == "steer"
        assert "does not offer interrupt_immediate" in receipt.adjustments[0]
        await turn


@pytest.mark.parametrize("modes", [["queue"], None, "steer", {"steer": True}])
async def test_steering_is_never_turned_into_something_else(modes: Any) -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.expect("session/prompt")
        agent.reply(DONE)

    async with in_session(script, {"session": {"inject": {"modes": modes}}}) as session:
        turn = await running(session)
        for mode in ("steer", "interrupt_immediate"):
            with pytest.raises(NotSupported) as raised:
                await session.inject("x", mode=mode)
            assert raised.value.capability == "agentCapabilities.session.inject.modes"
        assert session.state.snapshot().injections == {}
        await turn


async def test_wrong_arguments_are_told_before_anything_is_sent() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.expect("session/prompt")
        agent.reply(DONE)

    async with in_session(script, HARN) as session:
        turn = await running(session)
        for wrong in (
            {"mode": "later"},
            {"mode": "queue", "goal": "x"},
            {"mode": "after_turn", "goal": "x"},
            {"goal": " "},
            {"meta": 5},
        ):
            with pytest.raises(InvalidInput):
                await session.inject("x", **wrong)
        with pytest.raises(InvalidInput):
            await session.inject([])
        with pytest.raises(InvalidInput, match="there is no message 'inj-1'"):
            await session.injections.revoke("inj-1")
        await turn
        assert session.state.snapshot().injections == {}


async def test_goal_actor_and_metadata() -> None:
    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        message = await agent.expect("session/inject")
        actor = {"clientId": "nb-1", "role": "host_owner", "source": "jupyter"}
        assert message["params"]["goal"] == {"objective": "green tests"}
        assert message["params"]["_meta"] == {"cell": 3, "harn": {"x": 1, "actor": actor}}
        agent.reply({"messageId": "m-1"})
        revoke = await agent.expect("session/revoke_inject")
        assert revoke["params"] == {"sessionId": "s-1", "messageId": "m-1", "_meta": {"harn": {"actor": actor}}}
        agent.reply({"messageId": "m-1", "status": "revoked"})
        agent.reply(DONE, to=prompt)

    async with in_session(script, HARN) as session:
        turn = await running(session)
        session.injections.actor = InjectActor(client_id="nb-1", source="jupyter")
        await session.inject("x", mode="interrupt_immediate", goal="green tests", meta={"cell": 3, "harn": {"x": 1}})
        assert await session.injections.revoke("m-1") is InjectionResult.REVOKED
        assert chip(session).status == "revoked"
        assert await session.injections.revoke("inj-1") is InjectionResult.ALREADY_REVOKED
        await turn


async def test_without_a_turn_it_is_a_prompt() -> None:
    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        assert prompt["params"]["prompt"] == MESSAGE
        agent.reply(DONE)

    async with in_session(script, HARN) as session:
        receipt = await session.inject("also run the tests", goal="x")
        assert receipt.id is None
        assert receipt.adjustments == ("the goal was not sent: no turn runs that could have another one",)
        assert receipt.turn is not None
        await receipt.turn
        assert session.state.snapshot().injections == {}


async def test_the_end_of_the_turn_may_be_faster() -> None:
    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        await agent.expect("session/inject")
        agent.reply_error(-32004, "Session has no active prompt")
        await agent.expect("session/inject")
        agent.reply_error(-32004, "Session not found")
        await agent.expect("session/inject")
        agent.reply({"status": "accepted"})
        agent.reply(DONE, to=prompt)

    async with in_session(script, HARN) as session:
        turn = await running(session)
        with pytest.raises(NoActivePrompt):
            await session.inject("x")
        assert chip(session).status == "refused"
        assert "no active prompt" in str(chip(session).problem)
        with pytest.raises(SessionNotFound):
            await session.inject("x")
        with pytest.raises(MalformedResponse, match="has no messageId"):
            await session.inject("x")
        assert chip(session, 3).status == "uncertain"
        await turn


# --- after the turn ---------------------------------------------------------------------------------------------------


async def test_after_the_turn_is_a_turn_of_its_own_and_works_with_every_agent() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.expect("session/prompt")
        agent.reply(DONE)
        second = await agent.expect("session/prompt")
        assert second["params"]["prompt"][0]["text"] == "then document it"
        agent.reply(DONE)

    async with in_session(script, {}) as session:
        await running(session)
        receipt = await session.inject("then document it", mode="after_turn")
        assert receipt.turn is not None
        assert session.queued_turns == (receipt.turn,)
        assert (await receipt.turn).stop_reason == "end_turn"


@pytest.mark.parametrize("by", ["host", "agent"])
async def test_after_the_turn_is_dropped_with_the_turn(by: str) -> None:
    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        await agent.expect("session/cancel" if by == "host" else "_cancelled_elsewhere")
        agent.reply({"stopReason": "cancelled"}, to=prompt)
        assert (await agent.expect())["params"]["prompt"][0]["text"] == "typed by the user"
        agent.reply(DONE)

    async with in_session(script, HARN) as session:
        turn = await running(session)
        receipt = await session.inject("then document it", mode="after_turn")
        typed = session.prompt("typed by the user")
        if by == "host":
            turn.cancel()
        else:
            await session._driver.transport.drain()
            session._driver.notify("_cancelled_elsewhere")
        assert receipt.turn is not None
        result = await receipt.turn
        assert (result.outcome.kind, result.outcome.detail) == ("cancelled", "the turn before it was cancelled")
        assert (await typed).stop_reason == "end_turn"


async def test_while_a_turn_is_cancelled_words_are_a_turn_of_their_own() -> None:
    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        await agent.expect("session/cancel")
        agent.reply({"stopReason": "cancelled"}, to=prompt)
        await agent.expect("session/prompt")
        agent.reply(DONE)

    async with in_session(script, HARN) as session:
        turn = await running(session)
        turn.cancel()
        receipt = await session.inject("do this instead", mode="interrupt_immediate")
        assert receipt.turn is not None
        assert (await receipt.turn).stop_reason == "end_turn"


# --- taking back and replacing ----------------------------------------------------------------------------------------


async def test_races_are_results_and_no_errors() -> None:
    races = ["already_delivered", "already_revoked", "unknown_message_id", "not_owner_or_not_authorized"]

    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        for number in range(1, 9):
            await agent.expect("session/inject")
            agent.reply({"messageId": f"m-{number}"})
        for method in ("session/revoke_inject", "session/replace_inject"):
            for reason in races:
                message = await agent.expect(method)
                agent.reply_error(-32602, "no", {"reason": reason, "messageId": message["params"]["messageId"]})
        agent.reply(DONE, to=prompt)

    async with in_session(script, HARN) as session:
        turn = await running(session)
        for _ in range(8):
            await session.inject("x")
        results = [await session.injections.revoke(f"inj-{number}") for number in range(1, 5)]
        results += [await session.injections.replace(f"inj-{number}", "y") for number in range(5, 9)]
        assert results == races * 2
        statuses = [entry.status for entry in session.state.snapshot().injections.values()]
        assert statuses == ["gone", "revoked", "gone", "pending"] * 2
        await turn


async def test_an_answer_behind_the_turn_is_waited_for_and_shown_meanwhile() -> None:
    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        inject = await agent.expect("session/inject")
        agent.reply({"messageId": "m-1"})
        revoke = await agent.expect("session/revoke_inject")
        told(agent)
        agent.reply(DONE, to=prompt)
        agent.reply_error(-32602, "no", {"reason": "already_delivered"}, to=revoke)
        assert inject["params"]["mode"] == "queue"

    async with in_session(script, HARN) as session:
        turn = await running(session)
        await session.inject("also run the tests", mode="queue")
        revoking = asyncio.ensure_future(session.injections.revoke("inj-1"))
        await until(lambda: chip(session).wish == "revoke")
        assert await revoking is InjectionResult.ALREADY_DELIVERED
        assert (chip(session).wish, chip(session).status) == (None, "delivered")
        await turn
        assert await session.injections.revoke("inj-1") is InjectionResult.ALREADY_DELIVERED  # nothing is sent


async def test_replacing() -> None:
    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        await agent.expect("session/inject")
        agent.reply({"messageId": "m-1"})
        replace = await agent.expect("session/replace_inject")
        assert replace["params"] == {"sessionId": "s-1", "messageId": "m-1", "content": MESSAGE}
        agent.reply({"messageId": "m-1", "status": "replaced"})
        agent.reply(DONE, to=prompt)

    async with in_session(script, HARN) as session:
        turn = await running(session)
        await session.inject("x")
        assert await session.injections.replace("inj-1", "also run the tests") is InjectionResult.REPLACED
        assert chip(session).content == (TextContent("also run the tests"),)
        await turn


async def test_other_refusals_are_errors_that_keep_the_agents_word() -> None:
    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        await agent.expect("session/inject")
        agent.reply({"messageId": "m-1"})
        await agent.expect("session/revoke_inject")
        agent.reply_error(-32602, "no", {"reason": "on_a_monday"})
        agent.reply(DONE, to=prompt)

    async with in_session(script, {"session": {"inject": {"modes": ["steer"]}}}) as session:
        turn = await running(session)
        await session.inject("x")
        with pytest.raises(InvalidParams) as raised:
            await session.injections.revoke("inj-1")
        assert raised.value.data == {"reason": "on_a_monday"}
        assert (chip(session).status, chip(session).wish) == ("pending", None)
        with pytest.raises(NotSupported, match=r"session\.inject\.pending\.replace"):
            await session.injections.replace("inj-1", "y")
        await turn


async def test_a_message_that_is_being_sent_is_taken_back_once_it_is_known() -> None:
    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        inject = await agent.expect("session/inject")
        await agent.expect("_now")
        agent.reply({})
        agent.reply({"messageId": "m-1"}, to=inject)
        await agent.expect("session/revoke_inject")
        agent.reply({"messageId": "m-1", "status": "already_revoked"})
        agent.reply(DONE, to=prompt)

    async with in_session(script, HARN) as session:
        turn = await running(session)
        sending = asyncio.ensure_future(session.inject("x"))
        await until(lambda: session.state.injections)
        revoking = asyncio.ensure_future(session.injections.revoke("inj-1"))
        await session._driver.call("_now")
        assert await revoking is InjectionResult.ALREADY_REVOKED
        await sending
        await turn


# --- lists, the end ---------------------------------------------------------------------------------------------------


async def test_the_agents_list_settles_what_waits() -> None:
    rows = [
        {"kind": "user", "id": "m-2", "messageId": "m-2", "mode": "finish_step", "position": 0, "content": "changed"},
        {"kind": "user", "messageId": "m-7", "mode": "audit_only", "content": MESSAGE},
        {"kind": "reminder", "reminderId": "r-1", "body": "text"},
        {"kind": "something"},
    ]

    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        for number in (1, 2):
            await agent.expect("session/inject")
            agent.reply({"messageId": f"m-{number}"})
        listing = await agent.expect("session/pending_injections")
        agent.reply(DONE, to=prompt)
        agent.reply({"pendingCount": 4, "injections": rows}, to=listing)

    async with in_session(script, HARN) as session:
        turn = await running(session)
        await session.inject("x")
        await session.inject("y")
        pending = await session.pending_injections()
        assert [(row.message_id, row.mode) for row in pending.messages] == [("m-2", "steer"), ("m-7", "queue")]
        assert pending.others == ({"kind": "something"},)
        first, second, third = session.state.snapshot().injections.values()
        assert (first.status, second.status, third.status) == ("gone", "pending", "pending")
        assert (second.content[0].text, second.own, third.own, third.mode) == ("changed", True, False, "queue")
        await turn


async def test_a_long_list_of_others_leaves_room_for_what_was_said_here() -> None:
    rows = [{"kind": "user", "messageId": f"x-{number}", "content": "x"} for number in range(1_000)]

    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        await agent.expect("session/inject")
        agent.reply({"messageId": "m-1"})
        for _ in range(3):
            await agent.expect("session/pending_injections")
            agent.reply({"injections": [*rows, {"kind": "user", "messageId": "m-1"}]})
        agent.reply(DONE, to=prompt)

    async with in_session(script, HARN) as session:
        turn = await running(session)
        await session.inject("x")
        for _ in range(3):
            await session.pending_injections()
        assert chip(session).status == "pending"
        assert len(session.state.injections) == 101
        await turn


async def test_the_end_of_the_connection_leaves_what_waits_uncertain() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.expect("session/prompt")
        await agent.expect("session/inject")
        agent.reply({"messageId": "m-1"})
        await agent.expect("session/inject")
        await agent.close()

    async with in_session(script, HARN) as session:
        turn = await running(session)
        await session.inject("x")
        with pytest.raises(OutcomeUnknown):
            await session.inject("y")
        with pytest.raises(OutcomeUnknown):
            await turn
        assert [chip(session, number).status for number in (1, 2)] == ["uncertain", "uncertain"]


async def test_a_call_that_is_given_up_may_still_be_taken() -> None:
    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        inject = await agent.expect("session/inject")
        await agent.expect("$/cancel_request")
        agent.reply({"messageId": "m-1"}, to=inject)
        agent.reply(DONE, to=prompt)

    async with in_session(script, HARN) as session:
        turn = await running(session)
        sending = asyncio.ensure_future(session.inject("x"))
        await until(lambda: session.state.injections)
        sending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await sending
        assert chip(session).status == "uncertain"
        await turn
        assert (chip(session).status, chip(session).message_id) == ("pending", "m-1")


async def test_a_wish_that_is_given_up_may_still_come_true() -> None:
    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        await agent.expect("session/inject")
        agent.reply({"messageId": "m-1"})
        revoke = await agent.expect("session/revoke_inject")
        await agent.expect("$/cancel_request")
        agent.reply({"messageId": "m-1", "status": "revoked"}, to=revoke)
        agent.reply(DONE, to=prompt)

    async with in_session(script, HARN) as session:
        turn = await running(session)
        await session.inject("x")
        revoking = asyncio.ensure_future(session.injections.revoke("inj-1"))
        await until(lambda: chip(session).wish == "revoke")
        revoking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await revoking
        assert (chip(session).status, chip(session).wish) == ("pending", None)
        await turn
        assert chip(session).status == "revoked"


async def test_a_session_that_is_closed_takes_none() -> None:
    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        await agent.expect("session/inject")
        agent.reply({"messageId": "m-1"})
        agent.reply(DONE, to=prompt)
        await agent.expect("session/close")
        agent.reply({})

    async with in_session(script, {**HARN, "sessionCapabilities": {"close": {}}}) as session:
        turn = await running(session)
        await session.inject("x")
        await turn
        await session.close()
        assert (chip(session).status, chip(session).problem) == ("uncertain", session._closed)
        with pytest.raises(InvalidState):
            await session.inject("x")


async def test_another_connection_goes_on_with_what_the_agent_may_still_have() -> None:
    offers = {**HARN, "loadSession": True}

    async def first(agent: ScriptedAgent) -> None:
        await agent.handshake(offers)
        await agent.open_session("s-1")
        await agent.expect("session/prompt")
        for number in (1, 2):
            await agent.expect("session/inject")
            agent.reply({"messageId": f"m-{number}"})
        await agent.close()

    async def second(agent: ScriptedAgent) -> None:
        await agent.handshake(offers)
        await agent.expect("session/load")
        agent.reply({})
        await agent.expect("session/pending_injections")
        agent.reply({"injections": [{"kind": "user", "messageId": "m-2", "mode": "finish_step", "content": "y"}]})
        await agent.expect("session/prompt")
        await agent.expect("session/inject")
        told(agent, "m-2")
        agent.reply({"messageId": "m-3"})
        agent.reply(DONE, to=agent.received[-2])

    async with acp_host.connect(ScriptedAgent(first).transport()) as host:
        session = await host.new_session()
        session.injections.actor = actor = InjectActor(client_id="nb-1")
        turn = await running(session)
        await session.inject("x")
        await session.inject("y")
        with pytest.raises(OutcomeUnknown):
            await turn
    async with acp_host.connect(ScriptedAgent(second).transport()) as host:
        again = await host.load_session("s-1", continues=session)
        assert [entry.status for entry in again.state.injections.values()] == ["uncertain", "uncertain"]
        await until(lambda: chip(again).status == "gone")
        assert (chip(again, 2).status, chip(again, 2).problem, chip(again, 2).own) == ("pending", None, False)
        assert again.injections.actor is actor
        turn = await running(again)
        receipt = await again.inject("z")
        assert receipt.id == "inj-3"
        assert chip(again, 2).status == "delivered"
        await turn
