from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

import acp_host
from acp_host import ReminderPolicy, Rung, Session
from acp_host.errors import (
    ConnectionClosed,
    InvalidParams,
    InvalidState,
    MethodNotFound,
    ReminderInvalid,
    ReminderNotDelivered,
    RequestFailed,
)
from acp_host.reminders import Offer, RungRequest, Taken, WireRung
from acp_host.state.entries import MessageEntry, ReminderNote, Speaker
from acp_host.state.json_form import to_json
from acp_host.testing import ScriptedAgent
from acp_host.wire.codec import encode
from tests.host.scripts import Script, until

RFC = {"reminders": {"inject": True, "emit": True}}
HARN = {"session": {"remind": {"pending": {"list": True, "revoke": True}}}, "loadSession": True}
QUEUE = ReminderPolicy(rungs=(Rung.PREFIXED_USER_MESSAGE,))
MARKED = "[context from acp_host, not typed by the user · rmd-1]\nwatch out\n[end of context rmd-1]"


@asynccontextmanager
async def session_with(
    script: Script, capabilities: dict[str, Any] | None = None, *, meta: dict[str, Any] | None = None, **options: Any
) -> AsyncIterator[Session]:
    async def whole(agent: ScriptedAgent) -> None:
        await agent.handshake(capabilities, **({"_meta": meta} if meta else {}))
        await agent.open_session("s-1")
        await script(agent)

    agent = ScriptedAgent(whole)
    async with acp_host.connect(agent.transport(), **options) as host:
        yield await host.new_session()
    await agent.finished()


def reminders_and_words(session: Session) -> list[tuple[str, str]]:
    shown = []
    for entry in session.state.snapshot().transcript:
        if isinstance(entry, ReminderNote):
            shown.append((entry.reminder_id, entry.body))
        elif isinstance(entry, MessageEntry) and entry.speaker is Speaker.USER:
            shown.append(("user", entry.text))
    return shown


# --- remind -----------------------------------------------------------------------------------------------------------


async def test_the_panel_follows_a_reminder_to_its_end():
    async def script(agent):
        message = await agent.expect("session/inject_reminder")
        assert message["params"] == {
            "sessionId": "s-1",
            "body": "2 tests failed",
            "dedupeKey": "tests",
            "ttlTurns": 2,
            "mode": "finish_step",
        }
        agent.reply({"reminderId": "r-1", "dedupedCount": 0})
        prompt = await agent.expect("session/prompt")
        agent.update({"sessionUpdate": "reminder_emitted", "reminderId": "r-1", "body": "2 tests failed"})
        agent.reply({"stopReason": "end_turn"}, to=prompt)
        await agent.expect("_continue")
        agent.update({"sessionUpdate": "reminder_expired", "reminderId": "r-1", "phase": "ttl_expired"}, "s-1")
        agent.reply({})

    async with session_with(script, RFC) as session:
        seen: list[str] = []
        session.reminders.select(lambda panel: [entry.status for entry in panel.entries], lambda now: seen.extend(now))
        receipt = await session.remind("2 tests failed", dedupe_key="tests", ttl_turns=2)
        assert (receipt.rung, receipt.status, receipt.reminder_id) == (Rung.INJECT_REMINDER, "pending", "r-1")
        await session.prompt("go")
        await session._driver.call("_continue")
        await asyncio.sleep(0)
        assert seen == ["sending", "pending", "emitted", "expired"]
        assert reminders_and_words(session) == [("user", "go")]
        assert len(session.state.snapshot().transcript) == 1


async def test_wrong_fields_raise_before_anything_is_sent():
    async def script(agent):
        pass

    async with session_with(script, RFC) as session:
        with pytest.raises(ReminderInvalid):
            await session.remind("text", ttl_turns=0)
        with pytest.raises(ReminderInvalid):
            session.remind_soon("text", dedupeKey="k")
        assert session.reminders.entries == ()


async def test_an_answer_behind_the_turn_is_waited_for():
    async def script(agent):
        prompt = await agent.expect("session/prompt")
        remind = await agent.expect("session/remind")
        agent.reply({"stopReason": "end_turn"}, to=prompt)
        agent.reply_error(-32004, "no active bridge", to=remind)

    async with session_with(script, HARN, sidebar=True) as session:
        turn = session.prompt("go")
        entry = session.remind_soon("soon")
        assert entry.status == "sending"
        receipt = await session.remind("first", policy=ReminderPolicy(rungs=(Rung.SIDEBAR,)))
        assert receipt.rung == "sidebar"
        await turn
        await until(lambda: session.reminders.get(entry.id).status == "sidebar")
        assert session.reminders.get(entry.id).error.code == -32004


async def test_a_wrong_reminder_is_raised():
    async def script(agent):
        await agent.expect("session/remind")
        agent.reply_error(-32602, "session/remind: HARN-RMD-002: malformed")

    async with session_with(script, HARN) as session:
        with pytest.raises(InvalidParams, match="HARN-RMD-002"):
            await session.remind("text")
        (entry,) = session.reminders.entries
        assert (entry.status, entry.error.rmd) == ("failed", "HARN-RMD-002")


async def test_a_reminder_that_nobody_waits_for_fails_quietly():
    async def script(agent):
        await agent.expect("session/remind")
        agent.reply_error(-32602, "no")

    async with session_with(script, HARN) as session:
        entry = session.remind_soon("text")
        await until(lambda: session.reminders.get(entry.id).status == "failed")


async def test_a_required_rung():
    async def script(agent):
        await agent.expect("session/inject_reminder")
        agent.reply_error(-32603, "broken")

    async with session_with(script, RFC, sidebar=True) as session:
        with pytest.raises(ReminderNotDelivered, match="broken") as caught:
            await session.remind("text", policy=ReminderPolicy(require=Rung.INJECT_REMINDER))
        assert isinstance(caught.value.__cause__, RequestFailed)
        with pytest.raises(ReminderNotDelivered):
            session.remind_soon("text", policy=ReminderPolicy(require=Rung.REMIND))


async def test_a_cancelled_caller_withdraws_its_request():
    async def script(agent):
        message = await agent.expect("session/inject_reminder")
        cancel = await agent.expect("$/cancel_request")
        assert cancel["params"] == {"requestId": message["id"]}
        agent.reply_error(-32800, "cancelled", to=message)

    async with session_with(script, RFC, sidebar=True) as session:
        waiting = asyncio.create_task(session.remind("text"))
        await until(lambda: len(session.reminders.entries) == 1)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        entry = session.reminders.entries[0]
        assert entry.status == "uncertain"
        await until(lambda: session.reminders.get(entry.id).status == "failed")


async def test_silence_makes_a_reminder_uncertain_and_a_late_answer_settles_it():
    late = asyncio.Event()

    async def script(agent):
        await agent.expect("session/inject_reminder")
        await late.wait()
        agent.reply({"reminderId": "r-1"})

    async with session_with(script, RFC) as session:
        receipt = await session.remind("text", policy=ReminderPolicy(timeout=0.01))
        assert receipt.status == "uncertain"
        late.set()
        await until(lambda: session.reminders.get(receipt.id).status == "pending")


async def test_suppressed_is_logged_once(caplog):
    async def script(agent):
        pass

    async with session_with(script) as session:
        with caplog.at_level(logging.DEBUG, "acp_host.reminders"):
            for _ in range(3):
                assert (await session.remind("text")).status == "suppressed"
        assert [record.levelname for record in caplog.records] == ["WARNING", "DEBUG", "DEBUG"]


async def test_a_plan_sends_nothing():
    async def script(agent):
        pass

    async with session_with(script, RFC, sidebar=True) as session:
        steps = session.plan_reminder("text", mode="audit_only")
        assert [(step.rung, step.available) for step in steps] == [
            ("inject_reminder", True),
            ("remind", False),
            ("sidebar", False),
            ("suppressed", True),
        ]
        assert session.reminders.entries == ()


async def test_a_custom_rung():
    async def script(agent):
        message = await agent.expect("_vendor/nudge")
        assert message["params"] == {"session": "s-1", "text": "text"}
        agent.reply({"nudged": True})

    rung = WireRung(
        name="nudge",
        check=lambda reminder, situation: Offer(available=True, reason="it is there"),
        request=lambda reminder, outgoing: RungRequest(
            method="_vendor/nudge", params={"session": outgoing.session_id, "text": reminder.body}
        ),
        read=lambda result: Taken(reminder_id="n-1") if result.get("nudged") else None,
    )

    async def whole(agent):
        await agent.handshake()
        await agent.open_session("s-1")
        await script(agent)
        await agent.stall()

    agent = ScriptedAgent(whole)
    async with acp_host.connect(agent.transport()) as host:
        host.register_rung(rung)
        session = await host.new_session()
        receipt = await session.remind("text", policy=ReminderPolicy(rungs=("nudge",)))
        assert (receipt.rung, receipt.reminder_id) == ("nudge", "n-1")
    await agent.finished()


async def test_rungs_that_an_agent_lacks_are_learned_for_all_sessions():
    async def whole(agent):
        await agent.handshake(RFC)
        await agent.open_session("s-1")
        await agent.open_session("s-2")
        for method in ("session/inject_reminder", "session/remind"):
            await agent.expect(method)
            agent.reply_error(-32601, "no")
        await agent.stall()

    agent = ScriptedAgent(whole)
    async with acp_host.connect(agent.transport(), sidebar=True) as host:
        first, second = await host.new_session(), await host.new_session()
        assert (await first.remind("text")).rung == "sidebar"
        assert (await second.remind("text")).rung == "sidebar"
        assert len([m for m in agent.received if "remind" in m["method"]]) == 2
    await agent.finished()


# --- the queue of the last rung ---------------------------------------------------------------------------------------


async def test_a_queued_reminder_leads_the_next_prompt_and_is_never_the_users_text():
    async def script(agent):
        message = await agent.expect("session/prompt")
        assert message["params"]["prompt"] == [
            {"type": "text", "text": MARKED, "_meta": {"acp_host": {"reminder": {"id": "rmd-1", "tags": []}}}},
            {"type": "text", "text": "Fix it."},
        ]
        for text in (MARKED, "Fix it."):
            content = {"type": "text", "text": text}
            agent.update({"sessionUpdate": "user_message_chunk", "content": content})
        agent.say("Done.")
        await agent.expect("_continue")
        agent.reply({})
        agent.reply({"stopReason": "end_turn"}, to=message)
        await agent.expect("session/prompt")
        agent.reply({"stopReason": "end_turn"})

    async with session_with(script) as session:
        receipt = await session.remind("watch out", policy=QUEUE)
        assert (receipt.rung, receipt.status) == (Rung.PREFIXED_USER_MESSAGE, "queued")
        turn = session.prompt("Fix it.")
        await until(lambda: session.reminders.get(receipt.id).status == "sending")
        await until(lambda: session.reminders.get(receipt.id).status == "emitted")
        assert not turn.done
        await session._driver.call("_continue")
        assert (await turn).text == "Done."
        assert reminders_and_words(session) == [(receipt.id, "watch out"), ("user", "Fix it.")]
        assert [entry.turn for entry in session.state.snapshot().transcript] == [1, 1, 1]
        await session.prompt("again")
        assert not session.reminders.get(receipt.id).active


async def test_a_refused_prompt_gives_its_reminders_back():
    async def script(agent):
        await agent.expect("session/prompt")
        agent.reply_error(-32603, "overloaded")
        message = await agent.expect("session/prompt")
        assert message["params"]["prompt"][0]["text"] == MARKED
        agent.reply({"stopReason": "end_turn"})

    async with session_with(script) as session:
        receipt = await session.remind("watch out", policy=QUEUE)
        with pytest.raises(RequestFailed):
            await session.prompt("one")
        assert session.reminders.get(receipt.id).status == "queued"
        await session.prompt("two")
        assert session.reminders.get(receipt.id).status == "emitted"


async def test_an_error_after_the_agent_began_to_work_changes_nothing():
    async def script(agent):
        await agent.expect("session/prompt")
        agent.say("Well…")
        agent.reply_error(-32603, "crashed")

    async with session_with(script) as session:
        receipt = await session.remind("watch out", policy=QUEUE)
        with pytest.raises(RequestFailed):
            await session.prompt("one")
        assert session.reminders.get(receipt.id).status == "emitted"


@pytest.mark.parametrize(
    "update",
    [
        {"sessionUpdate": "available_commands_update", "availableCommands": []},
        {"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": "hi"}},
        {"sessionUpdate": "something_else"},
    ],
)
async def test_what_is_no_work_does_not_accept_a_prompt(update):
    async def script(agent):
        await agent.expect("session/prompt")
        agent.update(update)
        agent.reply_error(-32603, "overloaded")

    async with session_with(script) as session:
        receipt = await session.remind("watch out", policy=QUEUE)
        with pytest.raises(RequestFailed):
            await session.prompt("one")
        assert session.reminders.get(receipt.id).status == "queued"


# --- what agents repeat -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 7, 10_000])
@pytest.mark.parametrize("joined", ["", "\n", "\n\n"])
async def test_a_replay_shows_reminders_as_reminders(size, joined):
    history = MARKED + joined + "Fix it."

    async def whole(agent):
        await agent.handshake({"loadSession": True})
        await agent.expect("session/load")
        for start in range(0, len(history), size):
            content = {"type": "text", "text": history[start : start + size]}
            agent.update({"sessionUpdate": "user_message_chunk", "content": content}, "s-1")
        agent.say("Done.", "s-1")
        agent.update({"sessionUpdate": "reminder_emitted", "reminderId": "r-5", "body": "old", "source": "host"}, "s-1")
        agent.reply({})
        await agent.stall()

    agent = ScriptedAgent(whole)
    async with acp_host.connect(agent.transport()) as host:
        session = await host.load_session("s-1")
        shown = reminders_and_words(session)
        assert [(kind, text.strip()) for kind, text in shown] == [("rmd-1", "watch out"), ("user", "Fix it.")]
        entry = session.reminders.get("r-5")
        assert (entry.status, entry.replayed, entry.active) == ("emitted", True, False)
    await agent.finished()


async def test_text_that_only_begins_like_a_marker_stays_the_users():
    async def whole(agent):
        await agent.handshake({"loadSession": True})
        await agent.expect("session/load")
        for text in ("see arr\n[", "con", "text]"):
            content = {"type": "text", "text": text}
            agent.update({"sessionUpdate": "user_message_chunk", "content": content}, "s-1")
        agent.reply({})
        await agent.stall()

    agent = ScriptedAgent(whole)
    async with acp_host.connect(agent.transport()) as host:
        session = await host.load_session("s-1")
        assert reminders_and_words(session) == [("user", "see arr\n[context]")]
    await agent.finished()


async def test_what_comes_behind_text_that_is_held_back_is_not_lost():
    async def whole(agent):
        await agent.handshake({"loadSession": True})
        await agent.expect("session/load")
        content = {"type": "text", "text": "arr["}
        agent.update({"sessionUpdate": "user_message_chunk", "content": content}, "s-1")
        agent.update({"sessionUpdate": "user_message_chunk", "content": {**content, "text": "[con"}}, "s-1")
        agent.update({"sessionUpdate": "notice", "severity": "info", "title": "Look"}, "s-1")
        agent.reply({})
        await agent.stall()

    agent = ScriptedAgent(whole)
    async with acp_host.connect(agent.transport()) as host:
        session = await host.load_session("s-1")
        assert reminders_and_words(session) == [("user", "arr[[con")]
        assert [notice.title for notice in session.notices.snapshot().history] == ["Look"]
    await agent.finished()


async def test_steering_is_shown_as_a_reminder_when_the_agent_repeats_it():
    async def script(agent):
        prompt = await agent.expect("session/prompt")
        steer = await agent.expect("_session/steering")
        agent.reply({"outcome": "injected"}, to=steer)
        agent.update({"sessionUpdate": "user_message_chunk", "content": steer["params"]["prompt"][0]})
        agent.reply({"stopReason": "end_turn"}, to=prompt)

    async with session_with(script, meta={"steering": {"supported": True}}) as session:
        turn = session.prompt("go")
        receipt = await session.remind("watch out", policy=ReminderPolicy(rungs=(Rung.STEERING,)))
        assert (receipt.rung, receipt.status) == ("steering", "emitted")
        await turn
        assert reminders_and_words(session) == [("user", "go"), (receipt.id, "watch out")]


async def test_decorations_and_malformed_updates():
    async def script(agent):
        prompt = await agent.expect("session/prompt")
        meta = {"harn": {"reminder": {"reminderId": "r-3", "body": "decorated", "source": "hook"}}}
        content = {"type": "text", "text": "hi"}
        agent.update({"sessionUpdate": "agent_message_chunk", "content": content, "_meta": meta})
        agent.update({"sessionUpdate": "reminder_emitted", "body": "no id"})
        agent.reply({"stopReason": "end_turn"}, to=prompt)

    async with session_with(script) as session:
        assert (await session.prompt("go")).text == "hi"
        (entry,) = session.reminders.entries
        assert (entry.body, entry.origin, entry.status) == ("decorated", "hook", "emitted")
        assert len(session.state.snapshot().transcript) == 2


# --- revoke, clear, pending -------------------------------------------------------------------------------------------


async def test_revoke_and_clear():
    async def script(agent):
        for number in (1, 2, 3):
            await agent.expect("session/remind")
            agent.reply({"reminderId": f"r-{number}"})
        message = await agent.expect("session/revoke_reminder")
        assert message["params"] == {"sessionId": "s-1", "reminderId": "r-1"}
        agent.reply({"reminderId": "r-1", "status": "revoked"})
        second, third = await agent.expect("session/revoke_reminder"), await agent.expect("session/revoke_reminder")
        agent.reply({"reminderId": "r-3", "status": "revoked"}, to=third)
        agent.reply_error(-32602, "too late", {"reason": "already_delivered"}, to=second)

    async with session_with(script, HARN, sidebar=True) as session:
        for number in (1, 2, 3):
            await session.remind(f"text {number}", tags=["t"])
        await session.remind("shown", tags=["t"], policy=ReminderPolicy(rungs=(Rung.SIDEBAR,)))
        await session.remind("other", policy=QUEUE)
        assert await session.reminders.revoke("r-1") == "revoked"
        cleared = await session.reminders.clear(tag="t")
        assert [(done.id, done.result) for done in cleared] == [
            ("rmd-2", "already_delivered"),
            ("rmd-3", "revoked"),
            ("rmd-4", "revoked"),
        ]
        assert [entry.status for entry in session.reminders.entries] == [
            "revoked",
            "pending",
            "revoked",
            "revoked",
            "queued",
        ]
        assert not session.reminders.dismiss("rmd-5")


async def test_what_is_being_sent_comes_to_rest_before_it_is_revoked():
    async def script(agent):
        remind = await agent.expect("session/remind")
        await agent.expect("_continue")
        agent.reply({})
        agent.reply({"reminderId": "r-1"}, to=remind)
        await agent.expect("session/revoke_reminder")
        agent.reply({"status": "revoked"})

    async with session_with(script, HARN) as session:
        entry = session.remind_soon("text")
        revoking = asyncio.create_task(session.reminders.revoke(entry.id))
        await session._driver.call("_continue")
        assert await revoking == "revoked"


async def test_dismissing():
    async def script(agent):
        pass

    async with session_with(script, sidebar=True) as session:
        receipt = await session.remind("text")
        assert session.reminders.dismiss(receipt.id)
        assert session.reminders.get(receipt.id).status == "dismissed"
        assert not session.reminders.dismiss("nobody")


async def test_the_agents_list_settles_what_is_uncertain():
    async def script(agent):
        await agent.expect("session/remind")
        await agent.expect("session/pending_injections")
        row = {"kind": "reminder", "reminderId": "rmd-1", "body": "text"}
        agent.reply({"pendingCount": 2, "injections": [row, {"kind": "user", "id": "u"}]})
        await agent.expect("session/pending_injections")
        agent.reply_error(-32601, "no")

    async with session_with(script, HARN) as session:
        receipt = await session.remind("text", policy=ReminderPolicy(timeout=0.01))
        assert receipt.status == "uncertain"
        pending = await session.pending_injections()
        assert [row.reminder_id for row in pending.reminders] == ["rmd-1"]
        assert [row.message_id for row in pending.messages] == ["u"]
        assert pending.others == ()
        assert session.reminders.get(receipt.id).status == "pending"
        with pytest.raises(MethodNotFound):
            await session.pending_injections()


# --- the end of the connection, and the next one ----------------------------------------------------------------------


async def test_nothing_can_be_sent_after_the_end():
    async def script(agent):
        await agent.close()

    async with session_with(script, RFC, sidebar=True) as session:
        await until(lambda: session._driver.protocol.ended)
        with pytest.raises(ConnectionClosed):
            await session.remind("text")
        with pytest.raises(ConnectionClosed):
            session.remind_soon("text")


async def test_a_closed_session_takes_no_reminders():
    async def whole(agent):
        await agent.handshake({"sessionCapabilities": {"close": {}}})
        await agent.open_session("s-1")
        await agent.expect("session/close")
        agent.reply({})
        await agent.stall()

    agent = ScriptedAgent(whole)
    async with acp_host.connect(agent.transport()) as host:
        session = await host.new_session()
        await host.close_session(session.id)
        with pytest.raises(InvalidState):
            await session.remind("text")
    await agent.finished()


async def lost_session(capabilities: dict[str, Any]) -> tuple[Session, str]:
    """Return a session whose connection ended after a reminder was written."""

    async def script(agent):
        await agent.expect("session/remind")
        await agent.close()

    async with session_with(script, capabilities) as session:
        receipt = await session.remind("text")
        assert receipt.status == "uncertain"
    return session, receipt.id


@pytest.mark.parametrize(
    ("rows", "status"),
    [([{"kind": "reminder", "reminderId": "rmd-1", "body": "text"}], "pending"), ([], "failed")],
)
async def test_a_new_connection_goes_on_with_the_panel_and_settles_it(rows, status):
    lost, entry_id = await lost_session(HARN)

    async def whole(agent):
        await agent.handshake(HARN)
        await agent.expect("session/load")
        agent.reply({})
        await agent.expect("session/pending_injections")
        agent.reply({"pendingCount": len(rows), "injections": rows})
        message = await agent.expect("session/remind")
        assert message["params"]["id"] == "rmd-2"
        agent.reply({"reminderId": "rmd-2"})
        await agent.stall()

    agent = ScriptedAgent(whole)
    async with acp_host.connect(agent.transport()) as host:
        session = await host.load_session("s-1", continues=lost)
        assert session.reminders is lost.reminders
        await until(lambda: session.reminders.get(entry_id).status == status)
        assert (await session.remind("next")).status == "pending"
    await agent.finished()


async def test_without_a_list_it_stays_uncertain_until_the_history_tells():
    lost, entry_id = await lost_session({"session": {"remind": {}}})

    async def whole(agent):
        await agent.handshake({"loadSession": True})
        await agent.expect("session/load")
        agent.reply({})
        agent.update({"sessionUpdate": "reminder_emitted", "reminderId": "rmd-1", "body": "text"}, "s-1")
        await agent.stall()

    agent = ScriptedAgent(whole)
    async with acp_host.connect(agent.transport()) as host:
        session = await host.load_session("s-1", continues=lost)
        await until(lambda: session.reminders.get(entry_id).status == "emitted")
        assert len([message for message in agent.received if message.get("method") == "session/remind"]) == 0
    await agent.finished()


async def test_a_lost_prompt_is_settled_by_the_history():
    async def script(agent):
        await agent.expect("session/prompt")
        await agent.close()

    async with session_with(script) as lost:
        receipt = await lost.remind("watch out", policy=QUEUE)
        with pytest.raises(acp_host.OutcomeUnknown):
            await lost.prompt("go")
        assert lost.reminders.get(receipt.id).status == "uncertain"

    async def whole(agent):
        await agent.handshake({"loadSession": True})
        await agent.expect("session/load")
        content = {"type": "text", "text": MARKED + "\ngo"}
        agent.update({"sessionUpdate": "user_message_chunk", "content": content}, "s-1")
        agent.reply({})
        await agent.stall()

    agent = ScriptedAgent(whole)
    async with acp_host.connect(agent.transport()) as host:
        session = await host.load_session("s-1", continues=lost)
        assert session.reminders.get(receipt.id).status == "emitted"
    await agent.finished()


async def test_the_new_connections_sidebar_and_rungs_are_in_force():
    lost, _ = await lost_session(HARN)

    async def whole(agent):
        await agent.handshake({"loadSession": True})
        await agent.expect("session/load")
        agent.reply({})
        await agent.expect("_pigeon")
        agent.reply({})
        await agent.stall()

    pigeon = WireRung(
        name="pigeon",
        check=lambda reminder, situation: Offer(available=True, reason="it flies"),
        request=lambda reminder, outgoing: RungRequest(method="_pigeon", params={}),
        read=lambda result: Taken(emitted=True),
    )
    async with acp_host.connect(ScriptedAgent(whole).transport(), sidebar=True) as host:
        host.register_rung(pigeon)
        session = await host.load_session("s-1", continues=lost)
        assert (await session.remind("text", policy=ReminderPolicy(rungs=(Rung.SIDEBAR,)))).rung == Rung.SIDEBAR
        assert (await session.remind("text", policy=ReminderPolicy(rungs=("pigeon",)))).status == "emitted"


async def test_right_after_a_load_what_is_reported_of_reminders_is_live(monkeypatch):
    monkeypatch.setattr("acp_host.host.replay_window.QUIET", 1000)

    async def whole(agent):
        await agent.handshake({"loadSession": True, **RFC})
        await agent.expect("session/load")
        agent.update({"sessionUpdate": "reminder_emitted", "reminderId": "r-0", "body": "old"}, "s-1")
        agent.reply({})
        await agent.expect("session/inject_reminder")
        agent.reply({"reminderId": "r-1"})
        agent.update({"sessionUpdate": "reminder_emitted", "reminderId": "r-1", "body": "text"}, "s-1")
        await agent.stall()

    async with acp_host.connect(ScriptedAgent(whole).transport()) as host:
        session = await host.load_session("s-1")
        assert session.state.is_replaying
        receipt = await session.remind("text")
        await until(lambda: session.reminders.get(receipt.id).status == "emitted")
        assert session.state.is_replaying
        assert {entry.body: entry.replayed for entry in session.reminders.entries} == {"old": True, "text": False}
        assert session.reminders.get(receipt.id).active


# --- the connection ends between the request and its answer -----------------------------------------------------------

WIRE_RUNGS = {
    "inject_reminder": (RFC, "session/inject_reminder", {"reminderId": "r-1"}),
    "remind": (HARN, "session/remind", {"reminderId": "rmd-1"}),
    "steering": ({}, "_session/steering", {"outcome": "injected"}),
    "prefixed_user_message": ({}, "session/prompt", {"stopReason": "end_turn"}),
}


@pytest.mark.parametrize("rung", WIRE_RUNGS)
@pytest.mark.parametrize("answered", [0.0, 0.1, 0.5, 0.9, 1.0])
async def test_wherever_the_connection_ends_nothing_is_lost_or_sent_again(rung, answered):
    capabilities, method, result = WIRE_RUNGS[rung]
    requests = []

    async def script(agent):
        if rung == "steering":
            await agent.expect("session/prompt")
        message = await agent.expect(method)
        requests.append(message)
        line = encode({"jsonrpc": "2.0", "id": message["id"], "result": result})
        agent.send_raw(line[: round(answered * len(line))])
        await agent.close()

    policy = ReminderPolicy(rungs=(rung,))
    async with session_with(script, capabilities, meta={"steering": {"supported": True}}) as lost:
        if rung == "steering":
            lost.prompt("go")
        receipt = await lost.remind("text", policy=policy)
        if rung == "prefixed_user_message":
            lost.prompt("go")
        await until(lambda: lost._driver.protocol.ended)
        entry = lost.reminders.get(receipt.id)
        assert entry.status == ("uncertain" if answered < 1 else "pending" if capabilities else "emitted")

    async def again(agent):
        await agent.handshake({"loadSession": True})
        await agent.expect("session/load")
        agent.reply({})
        await agent.expect("session/prompt")
        agent.reply({"stopReason": "end_turn"})
        await agent.stall()

    agent = ScriptedAgent(again)
    async with acp_host.connect(agent.transport()) as host:
        session = await host.load_session("s-1", continues=lost)
        await session.prompt("next")
        if answered < 1:
            assert session.reminders.get(receipt.id).status == "uncertain"
        requests += [message for message in agent.received if message.get("method") == method]
    await agent.finished()
    prompts = [request["params"]["prompt"] for request in requests if request["method"] == "session/prompt"]
    assert len([prompt for prompt in prompts if len(prompt) > 1]) == (rung == "prefixed_user_message")
    assert len([request for request in requests if request["method"] != "session/prompt"]) == (not prompts)


async def test_the_panel_has_a_json_form():
    async def script(agent):
        await agent.expect("session/inject_reminder")
        agent.reply({"reminderId": "r-1"})

    async with session_with(script, RFC) as session:
        await session.remind("text", role_hint="developer", meta={"x": [1]})
        (entry,) = to_json(session.reminders.snapshot())["entries"]
        assert (entry["status"], entry["reminderId"], entry["rung"], entry["_meta"]) == (
            "pending",
            "r-1",
            "inject_reminder",
            {"x": [1]},
        )
        assert entry["adjustments"][0]["field"] == "role_hint"
        json.dumps(entry)
