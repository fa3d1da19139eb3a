"""Notices from an agent: into the session's notice center, and to the log as long as nobody looks."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

import acp_host
import acp_host.testing
from acp_host.diagnostics import Diagnostic, DiagnosticKind
from acp_host.host.notices import NoticeRouter
from acp_host.state.changes import ChangeSet
from acp_host.state.clock import ManualClock, ManualScheduler
from acp_host.state.notice_entries import NoticeState, Suppression
from acp_host.state.notice_preferences import NoticePreferences
from acp_host.testing import ScriptedAgent
from acp_host.wire.notices import Notice

DONE = {"stopReason": "end_turn"}
Script = Callable[[ScriptedAgent], Awaitable[None]]


def notice(title: str = "Look", severity: Any = "warning", **members: Any) -> dict[str, Any]:
    return {"sessionUpdate": "notice", "severity": severity, "title": title, **members}


def sending(*updates: dict[str, Any]) -> Script:
    """Return a script that sends updates in each turn."""

    async def script(agent: ScriptedAgent) -> None:
        while True:
            await agent.expect("session/prompt")
            for update in updates:
                agent.update(update)
            agent.say("done")
            agent.reply(DONE)

    return script


@asynccontextmanager
async def opened(script: Script, **options: Any):
    async def whole(agent: ScriptedAgent) -> None:
        await agent.handshake(agentInfo={"name": "scripted", "title": "Scripted \x1b[1m", "version": "1"})
        await agent.open_session("s1")
        await script(agent)

    agent = ScriptedAgent(whole)
    async with acp_host.connect(agent.transport(), **options) as host:
        yield host, await host.new_session(), agent


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.DEBUG, logger="acp_host.notices")
    return caplog


def lines(log: pytest.LogCaptureFixture) -> list[tuple[str, str]]:
    return [(record.levelname, record.getMessage()) for record in log.records if record.name == "acp_host.notices"]


async def until(session: acp_host.Session, holds: Callable[[acp_host.NoticesSnapshot], bool]) -> None:
    async with asyncio.timeout(40):
        async for snapshot in session.notices.watch():
            if holds(snapshot):
                return


# --- to the session ---------------------------------------------------------------------------------------------------


async def test_a_notice_is_a_toast_and_no_part_of_the_turn() -> None:
    script = sending(notice("Model gone", "error", description="again", _meta={"a": 1}))
    async with opened(script) as (host, session, _):
        result = await session.prompt("Hi")
        (toast,) = session.notices.snapshot().toasts
    assert (result.text, result.stop_reason, result.outcome.kind) == ("done", "end_turn", "completed")
    assert (toast.session_id, toast.severity, toast.title, toast.description) == ("s1", "error", "Model gone", "again")
    assert (toast.meta, toast.agent_name) == ({"a": 1}, "Scripted \\x1b[1m")
    assert not list(host.diagnostics)


@pytest.mark.parametrize(("option", "capability"), [({}, {}), ({"notices": False}, None)])
async def test_the_capability(option: dict[str, bool], capability: Any) -> None:
    async with opened(sending(), **option) as (_, _, agent):
        offered = agent.received[0]["params"]["clientCapabilities"]["session"]
    assert offered.get("notices") == capability


async def test_without_the_capability_a_notice_is_a_violation(log: pytest.LogCaptureFixture) -> None:
    async with opened(sending(*[notice(f"{number}") for number in range(1_000)]), notices=False) as (host, session, _):
        await session.prompt("Hi")
        snapshot = session.notices.snapshot()
    assert snapshot.toasts == ()
    assert {entry.suppressed_by for entry in snapshot.history} == {Suppression.NOT_OFFERED}
    assert snapshot.suppressed == 1_000
    reports = [diagnostic for diagnostic in host.diagnostics if diagnostic.kind is DiagnosticKind.UNEXPECTED]
    assert (reports[0].session_id, reports[0].data) == ("s1", "0")
    assert 20 <= len(reports) < 40
    assert lines(log) == []


@pytest.mark.parametrize(
    ("update", "path"),
    [
        ({"sessionUpdate": "notice", "severity": "info"}, "title"),
        (notice(""), "title"),
        (notice(title=None), "title"),
        (notice(title=["x"]), "title"),
        ({"sessionUpdate": "notice", "title": "x"}, "severity"),
        (notice(severity=None), "severity"),
        (notice(severity=3), "severity"),
    ],
)
async def test_a_malformed_notice_is_dropped_with_a_diagnostic_and_the_session_goes_on(
    update: dict[str, Any], path: str, log: pytest.LogCaptureFixture
) -> None:
    async with opened(sending(update, notice("good"))) as (host, session, _):
        result = await session.prompt("Hi")
        snapshot = session.notices.snapshot()
    assert result.text == "done"
    assert [entry.title for entry in snapshot.history] == ["good"]
    (report,) = host.diagnostics
    assert report.kind is DiagnosticKind.MALFORMED
    assert path in f"{report.path} {report.message}"
    assert len(lines(log)) == 1


@pytest.mark.parametrize("members", [{"description": 5}, {"_meta": "x"}, {"description": ["a"], "_meta": [1]}])
async def test_a_bad_optional_field_is_as_if_absent(members: dict[str, Any]) -> None:
    async with opened(sending(notice(**members))) as (host, session, _):
        await session.prompt("Hi")
        (toast,) = session.notices.snapshot().toasts
    assert (toast.title, toast.description, toast.meta) == ("Look", None, None)
    assert {diagnostic.kind for diagnostic in host.diagnostics} == {DiagnosticKind.REPAIRED}


async def test_a_notice_that_comes_before_the_session_is_known(log: pytest.LogCaptureFixture) -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake()
        await agent.expect("session/new")
        agent.update(notice("early"), "s1")
        agent.reply({"sessionId": "s1"})

    async with acp_host.connect(ScriptedAgent(script).transport()) as host:
        session = await host.new_session()
        assert [toast.title for toast in session.notices.snapshot().toasts] == ["early"]
    assert lines(log) == [("WARNING", "scripted-agent says: early")]
    assert not list(host.diagnostics)


async def test_a_notice_for_an_unknown_session_is_logged_and_reported(log: pytest.LogCaptureFixture) -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.expect("session/prompt")
        agent.update(notice("lost"), "nowhere")
        agent.reply(DONE)

    async with opened(script) as (host, session, _):
        await session.prompt("Hi")
        assert session.notices.snapshot().history == ()
    assert lines(log) == [("WARNING", "Scripted \\x1b[1m says: lost")]
    assert [diagnostic.session_id for diagnostic in host.diagnostics] == ["nowhere"]


async def test_each_session_has_its_own() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session("s2")
        await agent.expect("session/prompt")
        agent.update(notice("first"), "s1")
        agent.update(notice("second"), "s2")
        agent.reply(DONE)

    async with opened(script) as (host, session, _):
        other = await host.new_session()
        await session.prompt("Hi")
        titles = [[entry.title for entry in each.notices.snapshot().history] for each in (session, other)]
    assert titles == [["first"], ["second"]]


async def test_a_notice_in_a_replay_is_history_and_the_same_one_live_is_a_toast(
    log: pytest.LogCaptureFixture,
) -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake({"loadSession": True})
        await agent.expect("session/load")
        agent.say("what was said")
        agent.update(notice("old", "error"))
        agent.reply({})
        await agent.expect("session/prompt")
        agent.update(notice("old", "error"))
        agent.reply(DONE)

    async with acp_host.connect(ScriptedAgent(script).transport()) as host:
        session = await host.load_session("s1")
        snapshot = session.notices.snapshot()
        assert (snapshot.toasts, [entry.during_replay for entry in snapshot.history]) == ((), [True])
        await session.prompt("Hi")
        snapshot = session.notices.snapshot()
    assert [entry.during_replay for entry in snapshot.history] == [True, False]
    assert [toast.count for toast in snapshot.toasts] == [1]
    assert len(lines(log)) == 1


# --- the log ----------------------------------------------------------------------------------------------------------


async def test_until_somebody_looks_each_notice_is_logged_at_its_level(log: pytest.LogCaptureFixture) -> None:
    script = sending(
        notice("a", "info"),
        notice("b", "warning", description="more\nFORGED:root:line"),
        notice("c", "error", description=None),
        notice("d\x1b[2J", "_acme"),
        notice("d\x1b[2J", "critical"),
        notice("x" * 5_000, "error"),
    )
    async with opened(script) as (_, session, _):
        await session.prompt("Hi")
    who = "Scripted \\x1b[1m says: "
    assert lines(log)[:5] == [
        ("INFO", f"{who}a"),
        ("WARNING", f"{who}b: more FORGED:root:line"),
        ("ERROR", f"{who}c"),
        ("INFO", f"{who}d\\x1b[2J"),
        ("INFO", f"{who}d\\x1b[2J"),
    ]
    assert len(lines(log)[5][1]) < 1_100


@pytest.mark.parametrize("way", ["connect", "select", "watch"])
async def test_once_somebody_looks_nothing_is_logged_and_again_when_they_have_gone(
    log: pytest.LogCaptureFixture, way: str
) -> None:
    async with opened(sending(notice())) as (_, session, _):
        notices = session.notices
        await session.prompt("Hi")
        assert len(lines(log)) == 1
        watching = notices.watch()
        match way:
            case "connect":
                stop = notices.changed.connect(lambda _: None)
            case "select":
                stop = notices.select(lambda snapshot: snapshot.toasts, lambda _: None)
            case _:
                await anext(watching)
                stop = None
        await session.prompt("Hi")
        assert len(lines(log)) == 1
        if stop is None:
            await watching.aclose()
        else:
            stop.end()
        await session.prompt("Hi")
        assert len(lines(log)) == 2


async def test_what_the_user_does_not_want_to_see_is_not_logged_either(log: pytest.LogCaptureFixture) -> None:
    async with opened(sending(notice("quiet", "info"), notice("loud", "error"))) as (_, session, _):
        hidden = acp_host.SeverityPreferences(show=False)
        session.notices.preferences = acp_host.NoticePreferences(info=hidden)
        await session.prompt("Hi")
    assert [text for _, text in lines(log)] == ["Scripted \\x1b[1m says: loud"]


# --- observers --------------------------------------------------------------------------------------------------------


async def test_a_flood_is_few_deliveries_and_holds_nothing_up() -> None:
    script = sending(*[notice(f"{number}", "error") for number in range(10_000)])
    async with opened(script) as (_, session, _):
        sets: list[ChangeSet] = []
        session.notices.changed.connect(sets.append)
        assert (await session.prompt("Hi")).text == "done"
        await until(session, lambda snapshot: snapshot.total == 10_000)
        snapshot = session.notices.snapshot()
    assert len(snapshot.toasts) == 5
    assert len(snapshot.history) == 1_000
    assert snapshot.shown + snapshot.suppressed == 10_000
    assert max(len(changes.snapshot.toasts) for changes in sets) <= 5
    assert len(sets) < 1_000


async def test_an_observer_that_raises_is_reported_and_costs_nobody_anything() -> None:
    async with opened(sending(notice())) as (host, session, _):
        heard: list[ChangeSet] = []
        session.notices.changed.connect(lambda _: 1 / 0)
        session.notices.changed.connect(heard.append)
        assert (await session.prompt("Hi")).text == "done"
        await until(session, lambda snapshot: bool(snapshot.toasts))
    assert len(heard) == 1
    (report,) = host.diagnostics
    assert (report.kind, report.session_id) == (DiagnosticKind.HANDLER_FAILED, "s1")
    assert "ZeroDivisionError" in report.message


async def test_a_toast_leaves_in_its_time() -> None:
    async with opened(sending(notice("brief", "info"))) as (_, session, _):
        preferences = acp_host.SeverityPreferences(duration=0.02)
        session.notices.preferences = acp_host.NoticePreferences(info=preferences)
        await session.prompt("Hi")
        await until(session, lambda snapshot: bool(snapshot.toasts))
        await until(session, lambda snapshot: not snapshot.toasts)
        assert session.notices.snapshot().history[0].state is NoticeState.TIMED_OUT


def test_what_is_on_the_screen_outlives_the_connection_and_the_loop() -> None:
    async def work() -> acp_host.Session:
        async with opened(sending(notice("stays"))) as (_, session, _):
            session.notices.changed.connect(lambda _: None)
            await session.prompt("Hi")
            return session

    session = asyncio.run(work())
    (toast,) = session.notices.snapshot().toasts
    assert session.notices.dismiss(toast.id)
    assert session.notices.snapshot().toasts == ()


# --- the router by itself ---------------------------------------------------------------------------------------------


def test_a_replayed_notice_is_kept_and_neither_shown_nor_logged(log: pytest.LogCaptureFixture) -> None:
    reports: list[Diagnostic] = []
    clock = ManualClock()
    router = NoticeRouter(
        preferences=NoticePreferences(),
        offered=lambda: True,
        agent_name=lambda: "agent",
        report=reports.append,
        scheduler=ManualScheduler(clock),
        clock=clock,
    )
    center = router.make_center("s1")
    router.receive("s1", Notice("error", "old"), center, during_replay=True)
    assert [entry.suppressed_by for entry in center.snapshot().history] == [Suppression.REPLAY]
    assert center.snapshot().history[0].during_replay
    assert (center.snapshot().toasts, lines(log), reports) == ((), [], [])
    router.receive("s1", Notice("error", "new"), center)
    assert len(center.snapshot().toasts) == len(lines(log)) == 1


async def test_preferences_hold_for_every_session_from_the_start(tmp_path: Any) -> None:
    preferences = acp_host.NoticePreferences(max_toasts=1)
    agent = acp_host.testing.ReferenceAgent()
    async with acp_host.connect(agent.transport(), notices=preferences) as host:
        assert host.agreement.supports("clientCapabilities.session.notices")
        session = await host.new_session(tmp_path)
        assert session.notices.preferences == preferences


async def test_in_version_2_a_notice_needs_no_promise() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake(version=2)
        await agent.open_session()
        await agent.accept_prompt()
        agent.update({"sessionUpdate": "notice", "severity": "info", "title": "Here"})
        agent.state("idle", stopReason="end_turn")

    transport = ScriptedAgent(script).transport()
    async with acp_host.connect(transport, protocol_versions=(2,), notices=False) as host:
        session = await host.new_session()
        await session.prompt("hi")
        assert [notice.title for notice in session.notices.snapshot().history] == ["Here"]
        assert list(host.diagnostics) == []
