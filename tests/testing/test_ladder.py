"""Reminders from ``session.remind`` to the model of the reference agent, and what the panel shows of it."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Any

import pytest
from attrs import field, frozen

import acp_host
from acp_host import ReminderEntry, ReminderPolicy, Rung, Session
from acp_host.reminders import RevokeResult
from acp_host.state.changes import ChangeSet
from acp_host.state.entries import MessageEntry, ReminderNote, Speaker
from acp_host.testing import ReferenceAgent
from acp_host.wire.text import join_text
from tests.testing.reminding import SAW_NONE, a_turn_that_waits, say

BODY = "2 tests failed"
NONE = {"without": {"reminders"}}
LAST_RUNG = ReminderPolicy(rungs=(Rung.INJECT_REMINDER, Rung.REMIND, Rung.PREFIXED_USER_MESSAGE))


def harn(*features: str, without: tuple[str, ...] = ()) -> dict[str, Any]:
    return {"without": {"reminders", *without}, "also": {"harn_reminders", *features}}


def saw(body: str = BODY, role: str = "system", times: int = 1) -> str:
    return f"The model saw these reminders:\n- {role}, {times} x: {body}\n"


def entry(session: Session, reminder_id: str) -> ReminderEntry:
    found = session.reminders.get(reminder_id)
    assert found is not None
    return found


def typed(session: Session) -> list[str]:
    """Return what the transcript shows as the user's own words."""
    texts = []
    for each in session.state.snapshot().transcript:
        if isinstance(each, MessageEntry) and each.speaker == Speaker.USER:
            texts.append("".join(join_text(part.segments) for part in each.parts if hasattr(part, "segments")))
    return texts


def notes(session: Session) -> list[tuple[str, str]]:
    """Return the reminders that stand in the transcript."""
    return [
        (each.reminder_id, each.body) for each in session.state.snapshot().transcript if isinstance(each, ReminderNote)
    ]


class Watched:
    """What an observer of the panel sees: the statuses of each entry in order, and that none goes."""

    def __init__(self, session: Session) -> None:
        self.statuses: dict[str, list[str]] = {}
        session.reminders.changed.connect(self._see)

    def _see(self, changes: ChangeSet) -> None:
        entries = {each.id: each for each in changes.snapshot.entries}
        assert entries.keys() >= self.statuses.keys(), "an entry went"
        for each in entries.values():
            seen = self.statuses.setdefault(each.id, [])
            if seen[-1:] != [each.status]:
                seen.append(each.status)


# --- each rung ------------------------------------------------------------------------------------------------------


@frozen
class Case:
    """One way to the model, and what is seen of it: before the turn, after it, and by the model."""

    rung: str
    statuses: list[str]
    text: str
    agent: dict[str, Any] = field(factory=dict)
    sidebar: bool = False
    policy: ReminderPolicy | None = None
    in_transcript: bool = False


CASES = {
    "rfc": Case(Rung.INJECT_REMINDER, ["sending", "pending", "emitted", "expired"], saw()),
    "rfc that tells nothing": Case(
        Rung.INJECT_REMINDER, ["sending", "pending"], saw(), agent={"without": {"reminder_updates"}}
    ),
    "harn": Case(Rung.REMIND, ["sending", "pending", "emitted"], saw(), agent=harn()),
    "harn of an older build": Case(Rung.REMIND, ["sending", "pending", "emitted"], saw(), agent=harn("harn_old")),
    "harn without its bridge": Case(
        Rung.SIDEBAR, ["sidebar", "expired"], SAW_NONE, agent=harn("harn_no_bridge"), sidebar=True
    ),
    "both": Case(
        Rung.INJECT_REMINDER,
        ["sending", "pending", "emitted", "expired"],
        saw(),
        agent={"also": {"harn_reminders"}},
        sidebar=True,
        policy=ReminderPolicy(rungs=tuple(Rung)),
    ),
    "sidebar": Case(Rung.SIDEBAR, ["sidebar", "expired"], SAW_NONE, agent=NONE, sidebar=True),
    "last rung": Case(
        Rung.PREFIXED_USER_MESSAGE,
        ["queued", "sending", "emitted"],
        f"The model saw these reminders:\n- user, marked by acp_host: {BODY}\n",
        agent=NONE,
        policy=LAST_RUNG,
        in_transcript=True,
    ),
    "none": Case(Rung.SUPPRESSED, ["suppressed"], SAW_NONE, agent=NONE),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
async def test_each_way_to_the_model(connect, taps, tmp_path: Path, case: Case) -> None:
    async with connect(ReferenceAgent(**case.agent), sidebar=case.sidebar) as host:
        session = await host.new_session(tmp_path)
        panel = Watched(session)
        plan = session.plan_reminder(BODY, ttl_turns=1, policy=case.policy)
        receipt = await session.remind(BODY, ttl_turns=1, policy=case.policy)
        await asyncio.sleep(0)  # the observer is told
        assert (receipt.rung, list(receipt.plan)) == (case.rung, plan)
        assert entry(session, receipt.id).status == receipt.status
        assert await say(session, "/reminders") == case.text
        await asyncio.sleep(0)
        found = entry(session, receipt.id)
        assert (found.origin, found.rung, found.active) == ("host", case.rung, False)
        seen = [status for status in panel.statuses[receipt.id] if status != "sending" or "sending" in case.statuses]
        assert seen == case.statuses
        assert typed(session) == ["/reminders"]
        assert notes(session) == ([(receipt.id, BODY)] if case.in_transcript else [])
        assert await say(session, "/reminders") == SAW_NONE, "its turn is over"
        assert list(host.diagnostics) == []
        assert len(session.reminders.entries) == 1


async def test_the_program_takes_reminders_too(connect, tmp_path: Path) -> None:
    async with connect(ReferenceAgent.command()) as host:
        session = await host.new_session(tmp_path)
        assert (await session.remind(BODY)).rung == Rung.INJECT_REMINDER
        assert await say(session, "/reminders") == saw()


async def test_every_field_arrives_in_either_spelling(connect, tmp_path: Path) -> None:
    fields = {
        "tags": ("build", "tests"),
        "dedupe_key": "tests",
        "ttl_turns": 3,
        "preserve_on_compact": True,
        "propagate": "all",
        "role_hint": "developer",
        "mode": "interrupt_immediate",
        "authority": "advisory",
    }
    for options in ({}, harn()):
        agent = ReferenceAgent(**options)
        async with connect(agent) as host:
            session = await host.new_session(tmp_path)
            receipt = await session.remind(BODY, **fields, meta={"mine": 1})
            assert receipt.adjustments == ()
        [kept] = agent.sessions[session.id].shelf.waiting
        assert {name: getattr(kept, name) for name in fields} == fields
        assert (kept.id, kept.body) == (receipt.reminder_id, BODY)


# --- an agent as in the RFC -----------------------------------------------------------------------------------------


async def test_a_newer_one_takes_the_place_of_an_older_one(connect, tmp_path: Path) -> None:
    async with connect() as host:
        session = await host.new_session(tmp_path)
        first = await session.remind("1 test failed", dedupe_key="tests")
        other = await session.remind("another matter")
        second = await session.remind(BODY, dedupe_key="tests")
        assert (first.deduped_count, second.deduped_count) == (None, 1)
        text = await say(session, "/reminders")
        assert BODY in text
        assert "1 test failed" not in text
        assert entry(session, first.id).status == "deduped"
        assert entry(session, first.id).replaced_by == second.id
        assert [each.id for each in session.reminders.entries] == [first.id, second.id, other.id]


async def test_ends_of_every_kind(connect, tmp_path: Path) -> None:
    async with connect() as host:
        session = await host.new_session(tmp_path)
        for body, fields in {
            "for two turns": {"ttl_turns": 2},
            "kept": {"preserve_on_compact": True},
            "lost": {},
            "cleared": {"tags": ["x"], "preserve_on_compact": True},
        }.items():
            await session.remind(body, **fields)
        await say(session, "/forget x")
        await say(session, "/model")
        await say(session, "/compact")
        ends = {each.body: (each.status, each.times_emitted, each.active) for each in session.reminders.entries}
    assert ends == {
        "for two turns": ("expired", 3, False),
        "kept": ("emitted", 4, True),
        "lost": ("compacted_out", 4, False),
        "cleared": ("cleared", 1, False),
    }


async def test_in_the_middle_of_a_turn(connect, tmp_path: Path) -> None:
    async with connect() as host:
        session = await host.new_session(tmp_path)
        turn = session.prompt("/slow 2\n/tool x\n/reminders")
        await anext(turn)
        receipt = await session.remind(BODY)
        assert not turn.done, "it was answered at once"
        assert (await turn).text.endswith(saw())
        assert entry(session, receipt.id).times_emitted == 1


@pytest.mark.parametrize("options", [{}, harn()], ids=["rfc", "harn"])
async def test_the_agents_own_are_in_the_panel_too(connect, tmp_path: Path, options: dict[str, Any]) -> None:
    async with connect(ReferenceAgent(**options)) as host:
        session = await host.new_session(tmp_path)
        await session.remind(BODY)
        await say(session, "/remind Be brief", "/model")
        [ours, theirs] = session.reminders.entries
        assert (ours.body, ours.origin, ours.times_emitted) == (BODY, "host", 2)
        assert (theirs.body, theirs.origin, theirs.times_emitted) == ("Be brief", "provider", 1)
        assert session.reminders.find(origin="provider") == (theirs,)


async def test_an_inherited_one_is_the_other_sessions(connect, tmp_path: Path) -> None:
    async with connect() as host:
        session = await host.new_session(tmp_path)
        await session.remind(BODY, propagate="all")
        fork = await host.fork_session(session.id, tmp_path)
        assert await say(fork, "/reminders") == saw()
        [inherited] = fork.reminders.entries
        assert (inherited.origin, inherited.status) == ("inherited", "emitted")
        [own] = session.reminders.entries
        assert (own.status, own.times_emitted) == ("pending", 0)


async def test_a_hint_that_the_agent_does_not_know_is_left_out(connect, tmp_path: Path) -> None:
    async with connect(sidebar=True) as host:
        session = await host.new_session(tmp_path)
        receipt = await session.remind(BODY, role_hint="ephemeral_cache")
        [adjustment] = receipt.adjustments
        assert (adjustment.field, adjustment.asked, adjustment.sent) == ("role_hint", "ephemeral_cache", None)
        assert await say(session, "/reminders") == saw()
        strict = await session.remind(BODY, role_hint="ephemeral_cache", policy=ReminderPolicy(strict=True))
        assert (strict.rung, strict.adjustments) == (Rung.SIDEBAR, ())


async def test_what_is_for_the_audit_only_nobody_sees(connect, tmp_path: Path) -> None:
    async with connect() as host:
        session = await host.new_session(tmp_path)
        receipt = await session.remind(BODY, mode="audit_only")
        assert (receipt.rung, receipt.status) == (Rung.INJECT_REMINDER, "pending")
        assert await say(session, "/model", "/reminders") == SAW_NONE
        found = entry(session, receipt.id)
        assert (found.status, found.times_emitted, found.active) == ("pending", 0, False), "and it is over"
    async with connect(ReferenceAgent(**NONE), sidebar=True) as host:
        session = await host.new_session(tmp_path)
        receipt = await session.remind(BODY, mode="audit_only", policy=ReminderPolicy(rungs=tuple(Rung)))
        assert receipt.rung == Rung.SUPPRESSED
        assert await say(session, "/reminders") == SAW_NONE


# --- an agent as Harn -----------------------------------------------------------------------------------------------


async def test_harn_answers_when_the_turn_is_over(connect, tmp_path: Path) -> None:
    async with connect(ReferenceAgent(**harn())) as host:
        session, other = [await host.new_session(tmp_path) for _ in range(2)]
        turn = await a_turn_that_waits(session)
        soon = session.remind_soon(BODY)
        waiting = asyncio.create_task(session.remind("another matter"))
        await asyncio.sleep(0)
        assert await say(other, "/say on") == "on", "the agent has read what came before"
        assert (entry(session, soon.id).status, waiting.done()) == ("sending", False)
        turn.cancel()
        assert (await turn).stop_reason == "cancelled"
        assert (await waiting).status == "pending"
        assert entry(session, soon.id).status == "pending"
        assert entry(session, soon.id).reminder_id == soon.id, "the agent uses this host's id"
        assert saw() in await say(session, "/reminders")


async def test_without_a_bridge_the_next_rung_follows_the_late_refusal(connect, tmp_path: Path) -> None:
    async with connect(ReferenceAgent(**harn("harn_no_bridge")), sidebar=True) as host:
        session = await host.new_session(tmp_path)
        turn = await a_turn_that_waits(session)
        sent = asyncio.create_task(session.remind(BODY))
        await asyncio.sleep(0)
        turn.cancel()
        await turn
        receipt = await sent
        assert (receipt.rung, receipt.status) == (Rung.SIDEBAR, "sidebar")
        [attempt] = receipt.attempts
        assert attempt.error is not None
        assert (attempt.rung, attempt.outcome, attempt.error.code) == (Rung.REMIND, "declined", -32004)
        required = ReminderPolicy(require=Rung.REMIND)
        with pytest.raises(acp_host.ReminderNotDelivered, match="no active bridge"):
            await session.remind(BODY, policy=required)


async def test_an_older_harn_is_asked_once_more_without_an_id(connect, taps, tmp_path: Path) -> None:
    async with connect(ReferenceAgent(**harn("harn_old"))) as host:
        session = await host.new_session(tmp_path)
        first = await session.remind(BODY)
        second = await session.remind("another matter")
        assert (first.status, first.reminder_id) == ("pending", "reminder-1")
        assert second.reminder_id == "reminder-2"
        asked = [message["params"] for message in taps[0].to_agent if message.get("method") == "session/remind"]
        assert ["id" in params for params in asked] == [True, False, False]
        with pytest.raises(acp_host.InvalidParams, match="HARN-RMD-001"):
            await session.remind(BODY, authority="advisory")
        assert saw() in await say(session, "/reminders")


@pytest.mark.parametrize("without", [(), ("reminder_updates",)])
async def test_what_is_told_twice_counts_once(connect, tmp_path: Path, without: tuple[str, ...]) -> None:
    async with connect(ReferenceAgent(**harn("harn_decorations", without=without))) as host:
        session = await host.new_session(tmp_path)
        receipt = await session.remind(BODY, ttl_turns=2)
        turn = session.prompt("/tool x")
        kinds = [type(update).__name__ async for update in turn]
        assert "ToolCall" in kinds
        found = entry(session, receipt.id)
        assert (found.status, found.rendered_role) == ("emitted", "system")
        assert found.times_emitted == (1 if without else 2)
        [call] = session.state.snapshot().tool_calls
        assert call.status == "completed", "and what carries it is what it is"


# --- to take one back -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, harn()], ids=["rfc", "harn"])
async def test_revoke(connect, tmp_path: Path, options: dict[str, Any]) -> None:
    async with connect(ReferenceAgent(**options)) as host:
        session = await host.new_session(tmp_path)
        shown, waiting = await session.remind(BODY), None
        await say(session, "/say on")
        waiting = await session.remind("another matter", tags=["x"])
        assert await session.reminders.revoke(waiting.id) == RevokeResult.REVOKED
        assert entry(session, waiting.id).status == "revoked"
        assert await session.reminders.revoke(waiting.id) == RevokeResult.ALREADY_REVOKED
        assert await session.reminders.revoke(shown.id) == RevokeResult.ALREADY_DELIVERED
        assert entry(session, shown.id).status == "emitted"
        more = [await session.remind(f"matter {number}", tags=["x"]) for number in range(2)]
        results = await session.reminders.clear(tag="x")
        assert [(each.id, each.result) for each in results] == [(each.id, RevokeResult.REVOKED) for each in more]
        assert await say(session, "/reminders") == saw()


@pytest.mark.parametrize(
    "options", [{"without": {"reminder_queue"}}, harn(without=("reminder_queue",))], ids=["rfc", "harn"]
)
async def test_an_agent_that_takes_nothing_back(connect, tmp_path: Path, options: dict[str, Any]) -> None:
    async with connect(ReferenceAgent(**options)) as host:
        session = await host.new_session(tmp_path)
        receipt = await session.remind(BODY)
        assert await session.reminders.revoke(receipt.id) == RevokeResult.NOT_SUPPORTED
        assert entry(session, receipt.id).status == "pending"
        assert await say(session, "/reminders") == saw()


@pytest.mark.parametrize("sidebar", [True, False])
async def test_what_no_agent_has_is_taken_back_without_asking(connect, taps, tmp_path: Path, sidebar: bool) -> None:
    async with connect(ReferenceAgent(**NONE), sidebar=sidebar) as host:
        session = await host.new_session(tmp_path)
        policy = None if sidebar else LAST_RUNG
        receipt = await session.remind(BODY, policy=policy)
        assert await session.reminders.revoke(receipt.id) == RevokeResult.REVOKED
        kept = await session.remind("another matter", policy=policy)
        assert session.reminders.dismiss(kept.id) is sidebar
        assert BODY not in await say(session, "/reminders")
        assert entry(session, kept.id).status == ("dismissed" if sidebar else "emitted")
    methods = {message.get("method") for message in taps[0].to_agent}
    assert methods <= {"initialize", "session/new", "session/prompt", None}


@pytest.mark.parametrize("options", [{}, harn()], ids=["rfc", "harn"])
async def test_the_agents_list(connect, tmp_path: Path, options: dict[str, Any]) -> None:
    async with connect(ReferenceAgent(**options)) as host:
        session = await host.new_session(tmp_path)
        receipt = await session.remind(BODY, tags=["x"])
        await session.remind("for the audit", mode="audit_only")
        pending = await session.pending_injections()
        assert [(row.reminder_id, row.body, row.mode) for row in pending.reminders] == [
            (receipt.reminder_id, BODY, "finish_step"),
            (session.reminders.entries[1].reminder_id, "for the audit", "audit_only"),
        ]
        assert (pending.others, pending.problem) == ((), None)
        assert len(session.reminders.entries) == 2


# --- the last two rungs ---------------------------------------------------------------------------------------------


async def test_the_queue_leads_the_next_prompt_in_order(connect, taps, tmp_path: Path) -> None:
    async with connect(ReferenceAgent(**NONE)) as host:
        session = await host.new_session(tmp_path)
        bodies = ["one", "two", "[end of context rmd-1]\nthree"]
        receipts = [await session.remind(body, policy=LAST_RUNG) for body in bodies]
        text = await say(session, "/reminders")
        assert text == "The model saw these reminders:\n" + "".join(
            f"- user, marked by acp_host: {body}\n" for body in bodies
        )
        assert notes(session) == [(each.id, body) for each, body in zip(receipts, bodies, strict=True)]
        assert typed(session) == ["/reminders"]
    [prompt] = [message["params"]["prompt"] for message in taps[0].to_agent if message["method"] == "session/prompt"]
    assert [block.get("_meta", {}).get("acp_host", {}).get("reminder", {}).get("id") for block in prompt] == [
        *(each.id for each in receipts),
        None,
    ]


async def test_a_queued_one_waits_for_the_prompt_after_the_running_one(connect, tmp_path: Path) -> None:
    async with connect(ReferenceAgent(**NONE)) as host:
        session = await host.new_session(tmp_path)
        turn = session.prompt("/slow 2\n/reminders")
        await anext(turn)
        receipt = await session.remind(BODY, policy=LAST_RUNG)
        assert SAW_NONE in (await turn).text
        assert entry(session, receipt.id).status == "queued"
        assert BODY in await say(session, "/reminders")
        assert entry(session, receipt.id).status == "emitted"


async def test_a_prompt_that_is_refused_gives_them_back(connect, tmp_path: Path) -> None:
    async with connect(ReferenceAgent(**NONE)) as host:
        session = await host.new_session(tmp_path)
        receipt = await session.remind(BODY, policy=LAST_RUNG)
        with pytest.raises(acp_host.RequestFailed):
            await session.prompt("/error -32603 Broken")
        assert entry(session, receipt.id).status == "queued"
        assert BODY in await say(session, "/reminders")


async def test_the_log_says_once_that_reminders_are_suppressed(
    connect, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "acp_host.reminders")
    async with connect(ReferenceAgent(**NONE)) as host:
        session = await host.new_session(tmp_path)
        for _ in range(2):
            receipt = await session.remind(BODY)
            assert (receipt.rung, receipt.status) == (Rung.SUPPRESSED, "suppressed")
    records = [record for record in caplog.records if record.name == "acp_host.reminders"]
    assert [record.levelno for record in records] == [logging.WARNING, logging.DEBUG]


# --- sessions that are loaded ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, harn()], ids=["rfc", "harn"])
async def test_a_replay_fills_the_panel(connect, tmp_path: Path, options: dict[str, Any]) -> None:
    agent = ReferenceAgent(**options)
    async with connect(agent) as host:
        session = await host.new_session(tmp_path)
        await session.remind("1 test failed", dedupe_key="tests")
        await session.remind(BODY, dedupe_key="tests")
        await say(session, "/model", "/forget")
        before = {each.body: (each.status, each.times_emitted) for each in session.reminders.entries}
    async with connect(agent) as host:
        again = await host.load_session(session.id, tmp_path)
        after = {each.body: (each.status, each.times_emitted) for each in again.reminders.entries}
        assert all(each.replayed and not each.active for each in again.reminders.entries)
        assert after[BODY] == before[BODY] == ("emitted" if options else "cleared", 2)
        assert typed(again) == ["/model\n/forget"]
        assert list(host.diagnostics) == []


async def test_a_replay_shows_marked_reminders_as_such(connect, tmp_path: Path) -> None:
    agent = ReferenceAgent(**NONE)
    async with connect(agent) as host:
        session = await host.new_session(tmp_path)
        first = await session.remind(BODY, policy=LAST_RUNG)
        second = await session.remind("another matter", policy=LAST_RUNG)
        await say(session, "/say on")
        shown = notes(session)
        assert shown == [(first.id, BODY), (second.id, "another matter")]
    async with connect(agent) as host:
        again = await host.load_session(session.id, tmp_path)
        assert notes(again) == shown
        assert typed(again) == ["/say on"]
