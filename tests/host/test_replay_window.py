"""What is history of a session that is opened again, and what is live."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from acp_host import HostConnection, RequestFailed
from acp_host.host.replay_window import QUIET, ReplayWindow
from acp_host.state.clock import ManualClock, ManualScheduler
from acp_host.state.session_state import SessionState
from acp_host.testing import ScriptedAgent
from tests.host.scripts import DONE, connected, shown, until, words
from tests.state.session_events import said, start, user


class Window:
    """A window, and time to pass in it."""

    def __init__(self, *, whole: bool = True, goes_on: bool | None = None) -> None:
        self.clock = ManualClock()
        self.scheduler = ManualScheduler(self.clock)
        self.state = SessionState("s", self.scheduler)
        goes_on = whole if goes_on is None else goes_on
        self.window = ReplayWindow(self.state, self.scheduler, whole=whole, goes_on=goes_on)

    def is_open_after(self, seconds: float) -> bool:
        self.clock.advance(seconds)
        self.scheduler.flush()
        return self.state.is_replaying

    @property
    def has_timers(self) -> bool:
        while self.scheduler.next_due == self.clock.now():
            self.scheduler.flush()
        return self.scheduler.next_due is not None


class TestWindow:
    def test_a_history_that_has_to_be_told_by_then_ends_with_the_answer(self):
        window = Window(whole=True, goes_on=False)
        window.state.apply(user("Hi"))
        window.window.answered()
        assert not window.state.is_replaying
        assert not window.has_timers

    def test_it_is_open_until_the_answer_however_long_that_takes(self):
        window = Window()
        assert window.is_open_after(1000)
        assert window.window.awaits_answer

    def test_after_the_answer_it_is_open_until_it_has_been_quiet(self):
        window = Window()
        window.state.apply(user("one"))
        window.window.answered()
        assert not window.window.awaits_answer
        for _ in range(5):
            assert window.is_open_after(QUIET - 0.01)
            window.state.apply(user("two"))
            window.state.apply(said("three"))
        assert window.is_open_after(0.01)
        assert not window.is_open_after(QUIET)
        assert not window.has_timers

    def test_nothing_at_all_is_quiet(self):
        window = Window()
        window.window.answered()
        assert window.is_open_after(QUIET - 0.01)
        assert not window.is_open_after(0.01)

    def test_where_no_history_was_asked_for_the_answer_ends_it(self):
        window = Window(whole=False)
        assert window.is_open_after(1000)
        window.window.answered()
        assert not window.state.is_replaying
        assert not window.has_timers

    @pytest.mark.parametrize("answered", [True, False])
    def test_it_can_be_closed_at_any_time(self, answered):
        window = Window()
        if answered:
            window.window.answered()
        window.window.close()
        assert not window.state.is_replaying
        assert not window.window.awaits_answer
        assert not window.has_timers

    @pytest.mark.parametrize("before", [True, False])
    def test_a_prompt_ends_it(self, before):
        window = Window()
        if before:
            window.state.apply(start())
        window.window.answered()
        if not before:
            window.state.apply(start())
        assert not window.state.is_replaying
        assert not window.is_open_after(QUIET)
        assert not window.has_timers

    def test_an_interruption_counts_after_the_answer(self):
        window = Window()
        window.window.interrupt()
        assert window.state.is_replaying
        window.window.answered()
        window.window.interrupt()
        assert not window.state.is_replaying


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """However busy the machine is, the window does not close meanwhile."""
    monkeypatch.setattr("acp_host.host.replay_window.QUIET", 1000)


def opening(method: str, before: int, *updates: dict[str, Any], answer: Any = None):
    """Return a script that answers ``session/load`` and the like after so many of its updates."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.expect(method)
        for update in updates[:before]:
            agent.update(update, "old")
        agent.reply(answer or {})
        for update in updates[before:]:
            agent.update(update, "old")

    return script


async def reopen(host: HostConnection, method: str) -> Any:
    return await (host.load_session("old") if method == "session/load" else host.resume_session("old"))


HISTORY = [words("user", "one"), words("agent", "two"), words("user", "three")]


@pytest.mark.usefixtures("slow")
@pytest.mark.parametrize("before", [0, 1, 3])
async def test_a_loaded_history_may_come_before_and_after_the_answer(before: int) -> None:
    async with connected(opening("session/load", before, *HISTORY)) as host:
        session = await host.load_session("old")
        await until(lambda: len(shown(session)) == 3)
        assert shown(session) == [("one", True), ("two", True), ("three", True)]
        assert not session.state.snapshot().turn.activity


async def test_after_a_while_it_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("acp_host.host.replay_window.QUIET", 0.01)
    async with connected(opening("session/load", 1, *HISTORY)) as host:
        session = await host.load_session("old")
        await until(lambda: not session.state.is_replaying)


@pytest.mark.usefixtures("slow")
async def test_what_comes_with_the_prompt_is_live() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await opening("session/load", 1, *HISTORY)(agent)
        await agent.expect("session/prompt")
        agent.say("live")
        agent.reply(DONE)

    async with connected(script) as host:
        session = await host.load_session("old")
        await until(lambda: len(shown(session)) == 3)
        await session.prompt("go")
        assert shown(session)[3:] == [("go", False), ("live", False)]


@pytest.mark.usefixtures("slow")
async def test_a_question_ends_a_history_that_went_on() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await opening("session/load", 1, *HISTORY)(agent)
        option = {"optionId": "y", "name": "Yes", "kind": "allow_once"}
        params = {"sessionId": "old", "toolCall": {"toolCallId": "c"}, "options": [option]}
        await agent.call("session/request_permission", params)
        agent.say("live", "old")

    async with connected(script) as host:
        session = await host.load_session("old")
        await until(lambda: ("live", False) in shown(session))
        (call,) = session.state.snapshot().tool_calls
        assert not call.replayed


async def test_an_unasked_history_of_a_resumed_session_ends_with_the_answer() -> None:
    async with connected(opening("session/resume", 2, *HISTORY[:2], words("agent", "live"))) as host:
        session = await host.resume_session("old")
        await until(lambda: len(shown(session)) == 3)
        assert shown(session) == [("one", True), ("two", True), ("live", False)]


async def test_what_was_there_stays_when_a_resumed_session_has_no_history() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session("s-1")
        await agent.expect("session/prompt")
        agent.say("hello")
        agent.reply(DONE)
        await agent.expect("session/close")
        agent.reply({})
        await agent.expect("session/resume")
        agent.say("welcome", "s-1")
        agent.reply({})

    async with connected(script) as host:
        session = await host.new_session()
        await session.prompt("go")
        assert await host.resume_session("s-1") is session
        assert shown(session) == [("go", False), ("hello", False), ("welcome", True)]


@pytest.mark.parametrize("method", ["session/load", "session/resume"])
async def test_a_notice_is_history_before_the_answer_and_live_after_it(method: str) -> None:
    notices = [{"sessionUpdate": "notice", "severity": "info", "title": title} for title in ("then", "now")]
    async with connected(opening(method, 1, *notices)) as host:
        session = await reopen(host, method)
        await until(lambda: len(session.notices.snapshot().history) == 2)
        snapshot = session.notices.snapshot()
        assert [toast.title for toast in snapshot.toasts] == ["now"]
        assert {entry.title for entry in snapshot.history} == {"then", "now"}


@pytest.mark.parametrize("method", ["session/load", "session/resume"])
async def test_a_session_that_cannot_be_opened_again_is_live_at_once(method: str) -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session("s-1")
        await agent.expect("session/close")
        agent.reply({})
        await agent.expect(method)
        agent.reply_error(-32603, "no")
        agent.say("live", "s-1")

    async with connected(script) as host:
        session = await host.new_session()
        with pytest.raises(RequestFailed):
            await (host.load_session("s-1") if method == "session/load" else host.resume_session("s-1"))
        assert not session.state.is_replaying
        assert host.sessions == (session,)
        await until(lambda: shown(session))
        assert shown(session) == [("live", False)]


async def test_a_call_that_is_given_up_ends_the_history() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session("s-1")
        await agent.expect("session/close")
        agent.reply({})
        await agent.expect("session/load")
        agent.say("x", "s-1")
        await agent.expect("$/cancel_request")

    async with connected(script) as host:
        session = await host.new_session()
        loading = asyncio.create_task(host.load_session("s-1"))
        await until(lambda: shown(session))
        assert session.state.is_replaying
        loading.cancel()
        await asyncio.wait([loading])
        assert not session.state.is_replaying


@pytest.mark.usefixtures("slow")
async def test_loading_again_while_the_history_still_comes_begins_it_anew() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await opening("session/load", 3, *HISTORY)(agent)
        await agent.expect("session/close")
        agent.reply({})
        await opening("session/load", 1, *HISTORY[:2])(agent)

    async with connected(script) as host:
        first = await host.load_session("old")
        assert first.state.is_replaying
        assert await host.load_session("old") is first
        await until(lambda: len(shown(first)) == 2)
        assert shown(first) == [("one", True), ("two", True)]


@pytest.mark.usefixtures("slow")
async def test_nothing_of_it_is_left_when_the_connection_ends() -> None:
    async with connected(opening("session/load", 1, *HISTORY)) as host:
        session = await host.load_session("old")
        window = session._replay
        assert window is not None
        assert window._timer is not None
    assert window._timer is None
    assert not session.state.is_replaying


@pytest.mark.usefixtures("slow")
async def test_nothing_of_it_is_left_when_the_session_is_closed() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await opening("session/load", 1, *HISTORY)(agent)
        await agent.expect("session/close")
        agent.reply({})

    async with connected(script) as host:
        session = await host.load_session("old")
        window = session._replay
        await host.close_session("old")
        assert window is not None
        assert window._timer is None
        assert not session.state.is_replaying


async def test_what_comes_for_a_fork_before_its_id_is_known_is_the_history_of_the_other_session() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session("s-1")
        await agent.expect("session/fork")
        for update in (*HISTORY[:2], {"sessionUpdate": "notice", "severity": "info", "title": "then"}):
            agent.update(update, "s-2")
        agent.reply({"sessionId": "s-2"})
        agent.say("live", "s-2")

    async with connected(script) as host:
        session = await host.fork_session((await host.new_session()).id)
        await until(lambda: len(shown(session)) == 3)
        assert shown(session) == [("one", True), ("two", True), ("live", False)]
        assert session.notices.snapshot().toasts == ()
        assert session.state.snapshot().info.title == "one"


# --- the order of an answer and what comes right behind it ------------------------------------------------------------

MODES = {"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "code", "name": "Code"}]}
OTHER_MODE = {"sessionUpdate": "current_mode_update", "currentModeId": "code"}


@pytest.mark.parametrize("method", ["session/load", "session/resume"])
@pytest.mark.parametrize(("before", "current"), [(0, "code"), (1, "ask")])
async def test_of_the_answer_and_an_update_the_later_one_counts(method: str, before: int, current: str) -> None:
    async with connected(opening(method, before, OTHER_MODE, answer={"modes": MODES})) as host:
        session = await reopen(host, method)
        await session.next_update_between_turns()
        assert session.state.snapshot().modes.current == current
        assert len(session.state.snapshot().modes.available) == 2


@pytest.mark.parametrize(("before", "current"), [(False, "code"), (True, "ask")])
async def test_so_it_is_with_a_new_session(before: bool, current: str) -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.expect("session/new")
        if before:
            agent.update(OTHER_MODE, "s-1")
        agent.reply({"sessionId": "s-1", "modes": MODES})
        if not before:
            agent.update(OTHER_MODE, "s-1")

    async with connected(script) as host:
        session = await host.new_session()
        await session.next_update_between_turns()
        assert session.state.snapshot().modes.current == current
