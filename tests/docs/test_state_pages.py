"""What the pages about state, reminders and notices show works, and the tables on them hold."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable
from enum import StrEnum
from typing import Any

import attrs
import pytest

import acp_host
from acp_host.reminders import AttemptOutcome, WireRung
from acp_host.state.entries import MessageEntry
from acp_host.state.notice_entries import Suppression
from acp_host.state.reminder_entry import ReminderStatus, Rung
from acp_host.testing import ReferenceAgent, ScriptedAgent
from tests.docs.snippets import read_page, run_page


async def play(page: str) -> dict[str, Any]:
    """Run the examples of a page with the reference agent; return their names."""
    async with acp_host.connect(ReferenceAgent().transport()) as host:
        session = await host.new_session()
        names = await run_page(page, host=host, session=session)
        await asyncio.sleep(0)
        assert list(host.diagnostics) == []
        return names


def words_in(page: str, words: Iterable[str]) -> set[str]:
    """Return those of some words that stand in the first column of a table in a page."""
    cells = re.findall(r"^\| (.*?) \|", read_page(page), re.MULTILINE)
    named = {word for cell in cells for word in re.findall(r"`(\w+)`", cell)}
    return named & set(words)


async def test_the_page_on_state(capsys: pytest.CaptureFixture[str]) -> None:
    names = await play("docs/state.md")
    assert "0 user /say Hello\n1 assistant Hello\n" in capsys.readouterr().out
    assert names["statuses"] == ["running", "idle"]
    assert names["drawn"]
    *_, last = names["session"].state.snapshot().transcript
    assert isinstance(last, MessageEntry)
    assert last.text == "Once more"


def test_every_section_is_listed() -> None:
    sections = {attribute.name for attribute in attrs.fields(acp_host.SessionSnapshot)}
    assert words_in("docs/state.md", sections) == sections - {"session_id", "version"}


async def test_the_page_on_reminders() -> None:
    names = await play("docs/reminders.md")
    assert names["receipt"].status == ReminderStatus.PENDING
    assert names["revoked"] == "revoked"
    assert names["cleared"] == []
    assert [step.rung for step in names["steps"]] == ["whisper", Rung.INJECT_REMINDER, Rung.SUPPRESSED]
    assert not names["steps"][0].available
    bodies = [entry.body for entry in names["session"].reminders.entries]
    assert any("pytest -q" in body for body in bodies)
    assert "This repository refuses forced pushes." in bodies


@pytest.mark.parametrize("outcome", [AttemptOutcome.TAKEN, AttemptOutcome.DECLINED])
async def test_the_rung_on_the_page_is_used(outcome: AttemptOutcome) -> None:
    names = await play("docs/reminders.md")
    rung = WireRung(name="whisper", check=names["check"], request=names["request"], read=names["read"])

    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake()
        await agent.open_session()
        prompt = await agent.expect("session/prompt")
        whisper = await agent.expect("_example/whisper")
        assert whisper["params"]["text"] == "Hurry up"
        agent.reply({"heard": outcome is AttemptOutcome.TAKEN}, to=whisper)
        agent.reply({"stopReason": "end_turn"}, to=prompt)
        await agent.stall()

    agent = ScriptedAgent(script)
    async with acp_host.connect(agent.transport()) as host:
        host.register_rung(rung)
        session = await host.new_session()
        turn = session.prompt("Go on")
        receipt = await session.remind("Hurry up", policy=names["whispering"])
        await turn
    assert [attempt.outcome for attempt in receipt.attempts] == [outcome]
    taken = outcome is AttemptOutcome.TAKEN
    assert receipt.status == (ReminderStatus.EMITTED if taken else ReminderStatus.SUPPRESSED)


@pytest.mark.parametrize("vocabulary", [Rung, ReminderStatus])
def test_every_word_about_reminders_is_in_a_table(vocabulary: type[StrEnum]) -> None:
    assert words_in("docs/reminders.md", vocabulary) == set(vocabulary)


def test_the_default_ladder_is_as_listed() -> None:
    page = read_page("docs/reminders.md")
    rows = re.findall(r"^\| `(\w+)` \|.*\| (1st|2nd|3rd|last|not used) \|$", page, re.MULTILINE)
    used = sorted((place, rung) for rung, place in rows if place != "not used")
    assert tuple(rung for _, rung in used) == acp_host.ReminderPolicy().rungs


async def test_the_page_on_notices(capsys: pytest.CaptureFixture[str]) -> None:
    notices = (await play("docs/notices.md"))["session"].notices.snapshot()
    out = capsys.readouterr().out
    assert "[Reference Agent] warning: The disk is almost full\n" in out
    assert "Settings were reloaded dismissed None\n" in out
    assert "Settings were reloaded again None preferences\n" in out
    assert (notices.toasts, notices.total) == ((), 3)
    assert notices.total == notices.shown + notices.coalesced + notices.suppressed


def test_the_preferences_are_as_listed() -> None:
    page, preferences = read_page("docs/notices.md"), acp_host.NoticePreferences()
    rows = dict(re.findall(r"^\| `?([\w ]+?)`? \| (6 seconds|stays) \| \w+ \|", page, re.MULTILINE))
    announced = dict(re.findall(r"^\| `?([\w ]+?)`? \| (?:6 seconds|stays) \| (\w+) \|", page, re.MULTILINE))
    assert set(rows) == {"info", "warning", "error", "any other word"}
    for severity in rows:
        assert {6.0: "6 seconds", None: "stays"}[preferences.of(severity).duration] == rows[severity]
        assert preferences.of(severity).politeness == announced[severity]
    assert f"{preferences.max_history:,}" in page
    assert (preferences.max_toasts, preferences.coalesce_within) == (5, 5.0)
    assert all(f"`{reason}`" in page for reason in Suppression)
