"""Whole conversations with agents that people use, against the fake model; run by ``make interop``."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import acp_host
from acp_host.replay import compare_states, fold_recording
from acp_host.state.entries import ToolCallEntry
from acp_host.wire.plans import Plan
from acp_host.wire.tool_calls import ToolCall, ToolCallUpdate
from acp_host.wire.updates import AgentMessageChunk, AgentThoughtChunk, UserMessageChunk
from tests.interop.agents import AGENTS, RealAgent, Way
from tests.interop.fake_model import CLOSING_TEXT, FakeModel
from tests.interop.users import Asked, NeverAnswered

pytestmark = [pytest.mark.interop, pytest.mark.timeout(180)]

HARMLESS = {acp_host.DiagnosticKind.UNKNOWN_METHOD, acp_host.DiagnosticKind.TRANSPORT}
"""Diagnostics that say nothing against our reading of the agent's messages."""


@dataclass
class Stage:
    """An agent with a home of its own, the model it talks to, and the folder it works in."""

    agent: RealAgent
    model: FakeModel
    home: Path
    folder: Path
    connections: int = 0

    @asynccontextmanager
    async def connect(self, **options: Any) -> AsyncIterator[acp_host.HostConnection]:
        """Connect, record the conversation, and hold what it amounts to against the state at its end."""
        launch = self.agent.launch(self.home, self.model, self.folder)
        transport = acp_host.StdioTransport(launch.command, cwd=self.folder, env=launch.environment, inherit_env=False)
        self.connections += 1
        recording = self.folder.with_name(f"talk-{self.connections}.jsonl")
        sessions: list[acp_host.Session] = []
        async with acp_host.connect(transport, record=recording, **options) as host:
            yield host
            sessions += host.sessions
        folded = json.loads(fold_recording(recording).to_bytes())
        for session in sessions:
            lived = {"sessions": {session.id: acp_host.to_json(session.state.snapshot())}}
            one = {"sessions": {session.id: folded["sessions"][session.id]}}
            different = [each for each in compare_states(lived, one) if ".transcript" in each.path]
            assert different == []

    def does(self, way: Way) -> bool:
        return way in self.agent.ways


@pytest.fixture
def model() -> Iterator[FakeModel]:
    with FakeModel() as model:
        yield model


def installed(name: str) -> RealAgent:
    agent = AGENTS[name]
    if not agent.installed:
        pytest.skip(f"{name} is not installed: run `make interop`")
    return agent


@pytest.fixture(params=sorted(AGENTS))
def stage(request: pytest.FixtureRequest, model: FakeModel, tmp_path: Path, folder: Path) -> Stage:
    return Stage(installed(request.param), model, tmp_path / "home", folder)


@pytest.fixture
def qwen(model: FakeModel, tmp_path: Path, folder: Path) -> Stage:
    return Stage(installed("qwen"), model, tmp_path / "home", folder)


def text_of(updates: list[Any], kind: type) -> str:
    return "".join(update.content.text for update in updates if type(update) is kind)


async def test_text(stage: Stage) -> None:
    async with stage.connect() as host:
        assert host.agreement.protocol_version == 1
        session = await host.new_session(cwd=stage.folder)
        turn = session.prompt("Hello\n!think I greet\n!say Good morning")
        updates = [update async for update in turn]
        result = await turn
        faults = [diagnostic for diagnostic in host.diagnostics if diagnostic.kind not in HARMLESS]
    thoughts = text_of(updates, AgentThoughtChunk).strip("*\n")  # Google's models begin with a bold headline
    assert thoughts == ("" if stage.does(Way.KEEPS_THOUGHTS) else "I greet")
    assert text_of(updates, AgentMessageChunk) == "Good morning"
    assert (result.stop_reason, result.text, result.outcome.kind) == ("end_turn", "Good morning", "completed")
    assert faults == []


async def test_file_is_written(stage: Stage, allowing: Asked) -> None:
    path = stage.folder / "made.txt"
    async with stage.connect(files=True, permissions=allowing) as host:
        session = await host.new_session(cwd=stage.folder)
        turn = session.prompt(f"!write {path} hello there")
        updates = [update async for update in turn]
        result = await turn
        written = [record.action for record in host.audit.records if record.action == "fs/write_text_file"]
    assert path.read_text() == "hello there\n"
    assert bool(written) == stage.does(Way.WRITES_THROUGH_HOST)
    asked = {request.tool_call.tool_call_id for request in allowing.requests}
    assert len(asked) == 1
    calls = [update for update in updates if isinstance(update, ToolCall | ToolCallUpdate)]
    if stage.does(Way.ASKS_UNDER_ANOTHER_ID):
        assert not asked & {call.tool_call_id for call in calls}
    else:
        assert {call.tool_call_id for call in calls} == asked
    entry = next(entry for entry in session.state.snapshot().transcript if isinstance(entry, ToolCallEntry))
    assert entry.unfinished == stage.does(Way.LEAVES_CALLS_OPEN)
    assert entry.unfinished or entry.status == "completed"
    assert result.text.endswith(CLOSING_TEXT)


async def test_file_is_edited(stage: Stage, allowing: Asked) -> None:
    if stage.does(Way.CANNOT_EDIT):
        pytest.skip("its model is offered no tool that does")
    path = stage.folder / "there.txt"
    path.write_text("hello there\n")
    async with stage.connect(files=True, permissions=allowing) as host:
        session = await host.new_session(cwd=stage.folder)
        result = await session.prompt(f"!read {path}\n!edit {path} hello -> goodbye\n!say changed")
    assert path.read_text() == "goodbye there\n"
    assert result.text.endswith("changed")


@pytest.mark.parametrize("allowed", [True, False])
async def test_command_runs_only_if_it_is_allowed(stage: Stage, allowed: bool) -> None:
    user = Asked("allow_once" if allowed else "reject_once")
    async with stage.connect(permissions=user, terminals=True) as host:
        session = await host.new_session(cwd=stage.folder)
        await session.prompt("!run echo ran > ran.txt")
        ran_here = [record.action for record in host.audit.records if record.action == "terminal/create"]
        await session.prompt("!say still here")
    if stage.does(Way.RUNS_WITHOUT_ASKING):
        assert (user.requests, (stage.folder / "ran.txt").exists()) == ([], True)
    else:
        assert len(user.requests) == 1
        assert bool(ran_here) == (allowed and stage.does(Way.RUNS_COMMANDS_IN_HOST))
        assert (stage.folder / "ran.txt").exists() == allowed


async def test_plan(qwen: Stage) -> None:
    async with qwen.connect() as host:
        session = await host.new_session(cwd=qwen.folder)
        updates = [update async for update in session.prompt("!plan look; mend")]
    plans = [update for update in updates if isinstance(update, Plan)]
    assert [[entry.content for entry in plan.entries] for plan in plans] == [["look", "mend"]]


async def test_cancel_while_text_comes(stage: Stage) -> None:
    async with stage.connect() as host:
        session = await host.new_session(cwd=stage.folder)
        async for update in (turn := session.prompt("!slow 600")):
            if isinstance(update, AgentMessageChunk):
                turn.cancel()
        result = await turn
        assert result.stop_reason == "cancelled"
        assert result.text.startswith("word0")
        if not stage.does(Way.LETS_MODEL_GO_ON):
            assert await asyncio.to_thread(stage.model.abandoned.wait, 10)
        assert (await session.prompt("!say still here")).text == "still here"


async def test_cancel_while_permission_is_asked(stage: Stage) -> None:
    user = NeverAnswered()
    path = stage.folder / "ran.txt"
    deed = f"!write {path} text" if stage.does(Way.RUNS_WITHOUT_ASKING) else "!run echo ran > ran.txt"
    async with stage.connect(permissions=user, terminals=True) as host:
        session = await host.new_session(cwd=stage.folder)
        turn = session.prompt(deed)
        await user.asked.wait()
        turn.cancel()
        result = await turn
        await user.withdrawn.wait()
    assert result.cancel_requested
    assert not path.exists()


async def test_failing_model_fails_the_turn_and_nothing_else(stage: Stage) -> None:
    async with stage.connect() as host:
        session = await host.new_session(cwd=stage.folder)
        if stage.does(Way.HIDES_FAILURES):
            result = await session.prompt("!fail 400")
            assert (result.stop_reason, result.outcome.verified) == ("end_turn", False)
            return
        with pytest.raises(acp_host.RequestFailed) as failure:
            await session.prompt("!fail 400")
        assert failure.value.code in (-32603, 400)
        assert (await session.prompt("!say still here")).text == "still here"


async def test_prompts_wait_their_turn(stage: Stage) -> None:
    async with stage.connect() as host:
        session = await host.new_session(cwd=stage.folder)
        first, second = session.prompt("!slow 5"), session.prompt("!say second")
        assert (await second).text == "second"
        assert (await first).text == "word0 word1 word2 word3 word4 "


async def test_session_is_loaded_by_another_process(stage: Stage) -> None:
    async with stage.connect() as host:
        session = await host.new_session(cwd=stage.folder)
        await session.prompt("Remember this\n!say Noted")
    if stage.does(Way.FORGETS_WITHIN_THE_MINUTE):
        await asyncio.sleep(61 - time.time() % 60)
    async with stage.connect() as host:
        loaded = await host.load_session(session.id, cwd=stage.folder)
        replay: list[Any] = []
        async with asyncio.timeout(30):
            # The answer need not come: qwen-code ends without having written it down.
            while "Remember this" not in text_of(replay, UserMessageChunk):
                replay.append(await loaded.next_update_between_turns())
        with contextlib.suppress(TimeoutError):  # what else was said may follow; nothing marks its end
            while True:
                async with asyncio.timeout(1):
                    replay.append(await loaded.next_update_between_turns())
        assert (await loaded.prompt("!say going on")).text == "going on"
