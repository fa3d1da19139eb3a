from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import acp_host
from acp_host.errors import ConnectionClosed, InvalidInput, InvalidState
from acp_host.reminders import Reminder, ReminderPolicy
from acp_host.reminders.sources import AgentActivity, FileWatcher, FinishedRuns, Pace, PolicyNotes, TokenPressure
from acp_host.state.clock import ManualClock, ManualScheduler
from acp_host.testing import ScriptedAgent
from acp_host.wire.converters import structure
from acp_host.wire.updates import SessionUpdate
from acp_host.wire.v2 import updates as v2
from tests.reminders.harness import RFC, Harness


class Target:
    """A session as sources know it, whose agent takes every reminder."""

    def __init__(self, cwd: Path | str = "/project") -> None:
        self.cwd = os.fspath(cwd)
        self.harness = Harness(RFC)
        self.reminders = self.harness.panel
        self.sent: list[Reminder] = []
        self.policies: list[ReminderPolicy | None] = []
        self.observers: list[Callable[[Any], None]] = []
        self.writers: list[Callable[[str], None]] = []
        self.error: Exception | None = None
        self.clock = ManualClock()
        self.scheduler = ManualScheduler(self.clock)
        self.pace = Pace(10.0, self.clock.now, self.scheduler.later)

    def remind_soon(self, body, *, policy=None):
        if self.error is not None:
            raise self.error
        self.sent.append(body)
        self.policies.append(policy)
        entry_id = self.harness.delivery.remind(body, ReminderPolicy())
        self.harness.run()
        self.harness.answer({"reminderId": f"r-{len(self.sent)}"})
        return self.harness.entry(entry_id)

    def on_update(self, observer):
        self.observers.append(observer)
        return lambda: self.observers.remove(observer)

    def on_file_written(self, observer):
        self.writers.append(observer)
        return lambda: self.writers.remove(observer)

    # --- what happens ---

    def update(self, update: dict[str, Any]) -> None:
        for observer in self.observers:
            observer(structure(update, SessionUpdate))

    def call(self, status: str, *, path: str = "a.py", kind: str = "edit", **members: Any) -> None:
        locations = [{"path": f"{self.cwd}/{path}"}]
        self.update(
            {
                "sessionUpdate": "tool_call",
                "toolCallId": "t",
                "title": "Edit",
                "kind": kind,
                "status": status,
                "locations": locations,
                **members,
            }
        )

    def wait(self, seconds: float) -> None:
        self.clock.advance(seconds)
        self.scheduler.flush()

    def file(self, name: str) -> str:
        return f"{self.cwd}/{name}"


@pytest.fixture
def target() -> Target:
    return Target("/")


# --- pace -------------------------------------------------------------------------------------------------------------


def test_one_call_per_key_and_of_the_others_the_newest(target):
    calls: list[str] = []

    def offer(key: str, call: str) -> None:
        target.pace.offer(key, lambda: calls.append(call))

    offer("a", "a1")
    offer("b", "b1")
    offer("a", "a2")
    offer("a", "a3")
    assert calls == ["a1", "b1"]
    target.wait(9)
    assert calls == ["a1", "b1"]
    target.wait(1)
    assert calls == ["a1", "b1", "a3"]
    offer("a", "a4")
    target.wait(10)
    offer("a", "a5")
    assert calls == ["a1", "b1", "a3", "a4"]
    target.wait(20)
    assert calls == ["a1", "b1", "a3", "a4", "a5"]


def test_what_waits_is_dropped_at_the_end(target):
    calls: list[int] = []
    for number in range(2):
        target.pace.offer("a", lambda number=number: calls.append(number))
    target.pace.stop()
    target.wait(60)
    assert calls == [0]


def test_many_keys_are_forgotten_again(target):
    for number in range(3_000):
        target.pace.offer(str(number), lambda: None)
        target.wait(1)
    assert len(target.pace._keys) <= 1_000


# --- what the agent does itself ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", ["pending", "in_progress", "completed", "failed"])
def test_a_file_in_a_tool_call_is_the_agents(target, status):
    activity = AgentActivity(target, now=target.clock.now)
    assert not activity.touched("a.py")
    target.call(status)
    assert activity.touched("a.py")
    assert activity.touched(target.file("./a.py"))
    assert not activity.touched("b.py")
    target.wait(6)
    assert activity.touched("a.py") == (status in ("pending", "in_progress"))
    target.wait(1_000)
    assert not activity.touched("a.py")
    target.call("completed")
    assert activity.touched("a.py")


def test_a_file_in_a_diff_is_the_agents(target):
    activity = AgentActivity(target, now=target.clock.now)
    diff = {"type": "diff", "path": target.file("b.py"), "newText": "x"}
    target.update({"sessionUpdate": "tool_call_update", "toolCallId": "t", "content": [diff]})
    assert activity.touched("b.py")


def test_a_file_that_an_agent_of_version_2_changes_is_the_agents(target):
    activity = AgentActivity(target, now=target.clock.now)

    def tell(update):
        for observer in target.observers:
            observer(structure(update, v2.SessionUpdate))

    changes = [{"operation": "move", "oldPath": target.file("b.py"), "path": target.file("c.py")}]
    diff = {"type": "diff", "changes": changes}
    tell({"sessionUpdate": "tool_call_content_chunk", "toolCallId": "t", "content": diff})
    assert activity.touched("b.py")
    assert activity.touched("c.py")
    tell({"sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "cancelled"})
    target.wait(6)
    assert not activity.touched("c.py")


@pytest.mark.parametrize("kind", ["read", "search"])
def test_a_file_that_was_only_read_is_not(target, kind):
    activity = AgentActivity(target, now=target.clock.now)
    target.call("in_progress", kind=kind)
    assert not activity.touched("a.py")
    target.call("completed", kind=kind)
    assert not activity.touched("a.py")


def test_a_file_written_through_the_host_is_the_agents(target):
    activity = AgentActivity(target, now=target.clock.now)
    target.writers[0](target.file("a.py"))
    assert activity.touched("a.py")
    target.wait(6)
    assert not activity.touched("a.py")


def test_commands(target):
    activity = AgentActivity(target, now=target.clock.now)
    target.call("in_progress", kind="execute", rawInput={"command": "make test"}, title="`pytest -q`")
    assert (activity.ran("make test"), activity.ran("pytest -q"), activity.ran("make")) == (True, True, False)
    target.call("completed", kind="execute", rawInput={"command": ["make", "lint"]})
    assert activity.ran("make lint")
    target.wait(6)
    assert not activity.ran("make test")


def test_observing_ends(target):
    activity = AgentActivity(target)
    activity.close()
    assert target.observers == target.writers == []


# --- files ------------------------------------------------------------------------------------------------------------


def watcher(target: Target, **options: Any) -> FileWatcher:
    return FileWatcher(
        target, activity=AgentActivity(target, now=target.clock.now), pace=target.pace, watch=lambda *_: None, **options
    )


def test_changes_are_told_with_key_and_turns(target):
    policy = ReminderPolicy()
    files = watcher(target, policy=policy)
    files.changed([("modified", target.file("a.py")), ("deleted", target.file("b/c.py"))])
    (reminder,) = target.sent
    assert (reminder.dedupe_key, reminder.ttl_turns, reminder.tags) == ("files", 2, ("workspace", "files"))
    assert "- a.py (modified)\n- b/c.py (deleted)" in reminder.body
    assert target.policies == [policy]


def test_the_agents_own_changes_are_not_told(target):
    files = watcher(target)
    target.call("in_progress")
    target.writers[-1](target.file("b.py"))
    files.changed([("modified", target.file("a.py")), ("added", target.file("b.py"))])
    assert target.sent == []
    files.changed([("modified", target.file("a.py")), ("modified", target.file("c.py"))])
    assert "a.py" not in target.sent[0].body


def test_changes_come_no_faster_than_their_pace_and_none_is_forgotten(target):
    files = watcher(target)
    for name in "abc":
        files.changed([("modified", target.file(name))])
    assert len(target.sent) == 1
    target.wait(10)
    # The newer one replaces the older, which the model has not seen yet.
    assert [line for line in target.sent[1].body.splitlines() if line.startswith("-")] == [
        "- a (modified)",
        "- b (modified)",
        "- c (modified)",
    ]


def test_what_the_model_was_shown_is_not_told_again(target):
    files = watcher(target)
    files.changed([("modified", target.file("a"))])
    target.harness.emitted("r-1")
    target.wait(10)
    files.changed([("modified", target.file("b"))])
    assert "- a " not in target.sent[1].body


def test_many_changes_are_counted(target):
    watcher(target).changed([("added", target.file(f"{number:03}")) for number in range(100)])
    assert target.sent[0].body.count("\n") == 21
    assert "- and 80 more" in target.sent[0].body


@pytest.mark.parametrize("error", [ConnectionClosed("over"), InvalidState("closed")])
def test_a_session_that_is_over_is_no_error(target, error):
    files = watcher(target)
    target.error = error
    files.changed([("added", target.file("a"))])
    target.error = None
    target.wait(10)
    files.changed([("added", target.file("b"))])
    assert "- b " in target.sent[0].body


def test_a_path_that_does_not_exist(target):
    with pytest.raises(InvalidInput, match="nowhere"):
        watcher(target, paths=["nowhere"])


def test_without_watchfiles_the_error_says_what_to_install(target, monkeypatch):
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    with pytest.raises(InvalidInput, match=r"acp-host\[watch\]"):
        FileWatcher(target)


async def test_a_watcher_is_started_once(target):
    async def watch(*paths):
        assert paths == ("/",)
        yield [("added", "/x")]
        await asyncio.Event().wait()

    files = FileWatcher(target, watch=watch, pace=target.pace)
    async with files:
        with pytest.raises(InvalidState):
            files.start()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert len(target.sent) == 1
    assert target.observers == []


async def test_real_files_and_a_real_session(tmp_path):
    wrote = asyncio.Event()

    async def script(agent):
        await agent.handshake(RFC)
        await agent.open_session("s-1")
        message = await agent.expect("session/inject_reminder")
        agent.reply({"reminderId": "r-1"})
        assert "first.py" in message["params"]["body"]
        own = {"sessionId": "s-1", "path": str(tmp_path / "own.py"), "content": "x"}
        await agent.call("fs/write_text_file", own)
        wrote.set()
        told = ""
        while "second.py" not in told:
            told = (await agent.expect("session/inject_reminder"))["params"]["body"]
            agent.reply({"reminderId": "r-2"})
            assert "own.py" not in told

    async def write_until_noticed(name: str, session: acp_host.Session) -> None:
        """Nothing tells when the system begins to watch."""
        before = len(session.reminders.entries)
        for number in range(100):
            (tmp_path / name).unlink(missing_ok=True)
            (tmp_path / name).write_text(str(number))
            await asyncio.sleep(0.1)
            if len(session.reminders.entries) > before:
                return

    agent = ScriptedAgent(script)
    async with acp_host.connect(agent.transport(), files=True) as host:
        session = await host.new_session(tmp_path)
        async with FileWatcher(session, interval=0.01, activity=AgentActivity(session, memory=60)):
            await write_until_noticed("first.py", session)
            await asyncio.wait_for(wrote.wait(), 30)
            await write_until_noticed("second.py", session)
            await agent.finished()


# --- runs -------------------------------------------------------------------------------------------------------------


def runs(target: Target) -> FinishedRuns:
    return FinishedRuns(target, activity=AgentActivity(target, now=target.clock.now), pace=target.pace)


def test_a_test_run(target):
    runs(target).finished("pytest", 1, "…\n2 failed", failed=2, passed=40)
    (reminder,) = target.sent
    assert reminder.body == (
        "`pytest`, which you did not run, finished with exit status 1: 2 failed, 40 passed.\n"
        "The end of its output:\n…\n2 failed"
    )
    assert (reminder.dedupe_key, reminder.ttl_turns, reminder.tags) == ("run:pytest", 2, ("tests",))


def test_a_process(target):
    runs(target).finished("make", -9, "x" * 10_000)
    (reminder,) = target.sent
    assert reminder.tags == ("process",)
    assert "was ended by signal 9." in reminder.body
    assert len(reminder.body) < 5_000


def test_a_run_of_the_agents_own_is_not_told(target):
    source = runs(target)
    target.call("completed", kind="execute", rawInput={"command": "make"})
    source.finished("make", 0)
    assert target.sent == []
    source.close()


def test_of_quick_runs_the_newest_is_told(target):
    source = runs(target)
    for status in range(3):
        source.finished("make", status)
    target.wait(10)
    assert [reminder.body[-9:] for reminder in target.sent] == ["status 0.", "status 2."]


async def test_watching_a_process(target):
    source = runs(target)
    program = "import sys; print('x' * 50_000); print('the end'); sys.exit(3)"
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", program, stdout=asyncio.subprocess.PIPE)
    assert await source.watch("program", process) == 3
    assert target.sent[0].body.endswith("xxx\nthe end")
    quiet = await asyncio.create_subprocess_exec(sys.executable, "-c", "", stdout=asyncio.subprocess.DEVNULL)
    assert await source.watch("quiet", quiet) == 0
    assert target.sent[1].body == "`quiet`, which you did not run, finished with exit status 0."


# --- notes and tokens -------------------------------------------------------------------------------------------------


def test_a_note_is_not_repeated_while_the_model_has_it(target):
    notes = PolicyNotes(target, pace=target.pace)
    notes.note("push", "No forced pushes.")
    notes.note("push", "No forced pushes.")
    target.wait(10)
    notes.note("push", "No forced pushes.")
    (reminder,) = target.sent
    assert (reminder.dedupe_key, reminder.preserve_on_compact, reminder.tags) == ("policy:push", True, ("policy",))
    notes.note("push", "No pushes at all.")
    assert len(target.sent) == 2
    target.harness.delivery.revoker.answered("rmd-2", {"status": "revoked"})
    target.wait(10)
    notes.note("push", "No pushes at all.")
    assert len(target.sent) == 3
    notes.close()


def usage(target: Target, used: int, size: int = 100) -> None:
    target.update({"sessionUpdate": "usage_update", "used": used, "size": size})


def test_each_threshold_is_told_once(target):
    pressure = TokenPressure(target, pace=target.pace)
    for used in (10, 74, 75, 80, 89):
        usage(target, used)
        target.wait(60)
    assert len(target.sent) == 1
    assert "75 % full (75 of 100 tokens)" in target.sent[0].body
    assert (target.sent[0].dedupe_key, target.sent[0].ttl_turns) == ("token_pressure", 1)
    usage(target, 95)
    assert len(target.sent) == 2
    target.wait(60)
    usage(target, 20)
    usage(target, 80)
    assert len(target.sent) == 3
    pressure.close()
    assert target.observers == []


def test_it_is_quiet_while_the_agent_compacts(target):
    TokenPressure(target, pace=target.pace)
    compaction = {"sessionUpdate": "compaction_update", "compactionId": "c"}
    target.update({**compaction, "status": "in_progress"})
    usage(target, 80)
    assert target.sent == []
    target.update({**compaction, "status": "completed"})
    usage(target, 80)
    assert len(target.sent) == 1


def test_an_agent_that_does_not_know_its_size(target):
    TokenPressure(target, pace=target.pace)
    usage(target, 80, 0)
    assert target.sent == []


@pytest.mark.parametrize("thresholds", [(), (0,), (1.5,), (0.5, 1)])
def test_thresholds_are_shares(target, thresholds):
    with pytest.raises(InvalidInput, match="thresholds"):
        TokenPressure(target, thresholds=thresholds)
