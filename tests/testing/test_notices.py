"""Notices from the reference agent to the user, who sees toasts."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

import acp_host
from acp_host import NoticePreferences, NoticesSnapshot, NoticeState, Session
from acp_host.state.changes import ChangeSet
from acp_host.state.entries import MessageEntry, Speaker
from acp_host.state.notice_entries import Suppression
from acp_host.testing import AgentTurn, ReferenceAgent
from acp_host.wire.notices import Notice


class Screen:
    """What an observer sees of the toasts: each one's title and count, in the order of its changes."""

    def __init__(self, session: Session) -> None:
        self.seen: list[tuple[str, int]] = []
        self.most = 0
        session.notices.changed.connect(self._see)

    def _see(self, changes: ChangeSet) -> None:
        snapshot: NoticesSnapshot = changes.snapshot
        self.most = max(self.most, len(snapshot.toasts))
        for toast in snapshot.toasts:
            if (toast.title, toast.count) not in self.seen:
                self.seen.append((toast.title, toast.count))


def speakers(session: Session) -> list[Speaker]:
    return [each.speaker for each in session.state.snapshot().transcript if isinstance(each, MessageEntry)]


async def test_every_severity_is_shown_in_its_way(connect, tmp_path: Path) -> None:
    async with connect() as host:
        session = await host.new_session(tmp_path)
        await session.prompt("/notices")
        toasts = session.notices.snapshot().toasts
    shown = [(each.severity, each.presentation.duration, each.presentation.politeness, each.presentation.look)
             for each in toasts]  # fmt: skip
    assert shown == [
        ("info", 6.0, "polite", "info"),
        ("warning", None, "polite", "warning"),
        ("error", None, "assertive", "error"),
        ("critical", None, "polite", "neutral"),
        ("_reference", None, "polite", "neutral"),
    ]
    assert {each.agent_name for each in toasts} == {"Reference Agent"}
    assert toasts[0].display_description == "It was sent by /notices: info."


async def test_a_notice_is_no_part_of_the_conversation(connect, tmp_path: Path) -> None:
    async with connect() as host:
        session = await host.new_session(tmp_path)
        result = await session.prompt("/notice error Broken")
        assert (result.text, result.stop_reason) == ("", "end_turn")
        assert speakers(session) == [Speaker.USER]
        assert len(session.state.snapshot().transcript) == 1
        assert session.notices.snapshot().total == 1


async def test_a_toast_that_is_dismissed_goes_and_nothing_is_sent(connect, taps, tmp_path: Path) -> None:
    async with connect() as host:
        session = await host.new_session(tmp_path)
        await session.prompt("/notice warning One\n/notice warning Two")
        sent = len(taps[0].to_agent)
        first, second = session.notices.snapshot().toasts
        assert session.notices.dismiss(first.id)
        assert not session.notices.dismiss(first.id)
        assert [each.title for each in session.notices.snapshot().toasts] == ["Two"]
        assert session.notices.dismiss_all() == 1
        states = [each.state for each in session.notices.snapshot().history]
        assert states == [NoticeState.DISMISSED] * 2
        assert second.state == NoticeState.VISIBLE, "what was read before does not change"
        assert len(taps[0].to_agent) == sent


async def test_the_same_again_is_one_toast_with_a_count(connect, tmp_path: Path) -> None:
    async with connect() as host:
        session = await host.new_session(tmp_path)
        screen = Screen(session)
        await session.prompt("/notice-repeat 4 The disk is full\n/slow 1\n/notice-repeat 3 The disk is full")
        [toast] = session.notices.snapshot().toasts
        assert (toast.title, toast.count) == ("The disk is full", 7)
        assert len(session.notices.snapshot().history) == 7
    assert screen.seen[-1] == ("The disk is full", 7)
    assert len(screen.seen) < 7, "not a change for each of them"


async def test_a_burst_leaves_the_most_on_the_screen_and_loses_none(tmp_path: Path) -> None:
    async with acp_host.connect(ReferenceAgent().transport()) as host:
        session = await host.new_session(tmp_path)
        screen = Screen(session)
        result = await session.prompt("/notice-burst 2000\n/say done")
        assert result.text == "done"
        snapshot = session.notices.snapshot()
    assert screen.most == NoticePreferences().max_toasts
    assert snapshot.total == 2000 == snapshot.shown + snapshot.coalesced + snapshot.suppressed
    assert len(snapshot.history) == NoticePreferences().max_history
    assert snapshot.history[-1].title == "Notice 2000"


async def test_a_host_that_shows_none_gets_a_message(connect, tmp_path: Path) -> None:
    async with connect(notices=False) as host:
        session = await host.new_session(tmp_path)
        assert (await session.prompt("/notice warning Look\nAt this.")).text == "warning: Look\nAt this.\n"
        assert speakers(session) == [Speaker.USER, Speaker.ASSISTANT]
        assert session.notices.snapshot() == NoticesSnapshot()
        assert list(host.diagnostics) == []


async def test_notices_are_not_replayed(connect, tmp_path: Path) -> None:
    agent = ReferenceAgent()
    async with connect(agent) as host:
        session = await host.new_session(tmp_path)
        await session.prompt("/notice warning Look\n/say on")
    async with connect(agent) as host:
        again = await host.load_session(session.id, tmp_path)
        assert again.notices.snapshot() == NoticesSnapshot()
        assert len(speakers(again)) == 2


async def test_one_that_is_replayed_all_the_same_is_no_toast(connect, tmp_path: Path) -> None:
    async def script(turn: AgentTurn) -> None:
        turn.send(Notice("error", "Long ago"))
        await turn.say("on")

    agent = ReferenceAgent(script=script)
    async with connect(agent) as host:
        session = await host.new_session(tmp_path)
        await session.prompt("Hi")
        assert len(session.notices.snapshot().toasts) == 1
    async with connect(agent) as host:
        again = await host.load_session(session.id, tmp_path)
        snapshot = again.notices.snapshot()
        assert snapshot.toasts == ()
        [old] = snapshot.history
        assert (old.title, old.during_replay, old.suppressed_by) == ("Long ago", True, Suppression.REPLAY)
        await again.prompt("Hi")
        assert [each.during_replay for each in again.notices.snapshot().toasts] == [False]
        assert [each.during_replay for each in again.notices.snapshot().history] == [True, False]


@pytest.mark.parametrize("observed", [True, False])
async def test_they_go_to_the_log_until_somebody_looks(
    connect, tmp_path: Path, caplog: pytest.LogCaptureFixture, observed: bool
) -> None:
    caplog.set_level(logging.DEBUG, "acp_host.notices")
    async with connect() as host:
        session = await host.new_session(tmp_path)
        if observed:
            Screen(session)
        await session.prompt("/notice warning Look\nAt this.")
    said = [(record.levelname, record.getMessage()) for record in caplog.records if record.name == "acp_host.notices"]
    assert said == ([] if observed else [("WARNING", "Reference Agent says: Look: At this.")])
