"""What is known of a call that the end of the connection has cut off."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

import acp_host
from acp_host import OutcomeUnknown, PermissionPolicy
from acp_host.host.interruption import interrupted_call, interrupted_turn, unsent
from acp_host.state.clock import ManualScheduler
from acp_host.state.session_state import SessionState
from acp_host.testing import AgentTurn, ReferenceAgent
from tests.host.cuts import QUICK, Way
from tests.host.scripts import until


@pytest.mark.parametrize("method", ["session/list", "session/set_mode", "session/close", "auth/status"])
def test_what_does_the_same_twice_is_safe(method: str) -> None:
    assert interrupted_call(method).safe_to_resend


@pytest.mark.parametrize("method", ["session/new", "session/fork", "session/prompt", "session/inject", "_x/any"])
def test_what_may_have_been_done_is_not(method: str) -> None:
    interruption = interrupted_call(method)
    assert not interruption.safe_to_resend
    assert interruption.started is None


def test_what_was_not_sent_is_safe() -> None:
    interruption = unsent("session/prompt")
    assert interruption.safe_to_resend
    assert interruption.started is False


def test_silence_says_nothing() -> None:
    snapshot = SessionState("s", ManualScheduler()).snapshot()
    assert interrupted_turn(1, "", snapshot, ()).started is None
    assert interrupted_turn(1, "", snapshot, (), accepted=True).started is True
    assert interrupted_turn(1, "Well", snapshot, ()).started is True
    assert not interrupted_turn(1, "", snapshot, ()).safe_to_resend, "that nobody knows is not enough"


async def test_what_the_host_did_for_the_agent_in_the_turn(tmp_path: Path) -> None:
    (tmp_path / "before.txt").write_text("x")

    async def script(turn: AgentTurn) -> None:
        await turn.write_file(turn.path("made.txt"), "made")
        if turn.text == "first":
            return
        await turn.run(sys.executable, "-c", "print(1)")
        async with turn.tool_call("Go on", kind="execute"):
            await until(lambda: bool(session.state.snapshot().tool_calls))
            way.cut()
            await asyncio.Event().wait()

    agent = ReferenceAgent(script=script)
    way = Way(lambda _: agent)
    async with (
        asyncio.timeout(40),
        acp_host.connect(
            way,
            reconnect=QUICK,
            files=True,
            terminals=True,
            permissions=PermissionPolicy.allow_once(),
            allow_remote_services=True,
        ) as host,
    ):
        session, other = await host.new_session(tmp_path), await host.new_session(tmp_path)
        await session.prompt("first")
        await other.prompt("first")
        with pytest.raises(OutcomeUnknown) as cut:
            await session.prompt("second")
        known = cut.value.interruption
        assert known.files_written == (str(tmp_path / "made.txt"),)
        assert len(known.commands_run) == 1
        assert [call.title for call in known.unfinished] == ["Go on"]
        assert all(record.session_id == session.id for record in known.decisions)
        writes = [record for record in known.decisions if record.action == "fs/write_text_file"]
        assert len(writes) == 1, "what was done in the turn before is not of this one"
        assert any("files were written" in reason for reason in known.reasons)
