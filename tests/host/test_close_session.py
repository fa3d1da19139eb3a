"""A session can be closed where it is held."""

from __future__ import annotations

from pathlib import Path

import pytest

import acp_host
from acp_host.testing import ReferenceAgent, ScriptedAgent
from tests.host.scripts import DONE, connected, shown, words


async def test_a_session_that_was_closed_takes_no_prompt(tmp_path: Path) -> None:
    async with acp_host.connect(ReferenceAgent().transport()) as host:
        session = await host.new_session(tmp_path)
        await session.close()
        assert session not in host.sessions
        with pytest.raises(acp_host.InvalidState, match="was closed"):
            session.prompt("too late")


async def test_an_agent_that_cannot_close_sessions(tmp_path: Path) -> None:
    async with acp_host.connect(ReferenceAgent(without=["close"]).transport()) as host:
        session = await host.new_session(tmp_path)
        with pytest.raises(acp_host.NotSupported, match="close"):
            await session.close()


async def test_one_that_does_not_answer_in_time_stays_open() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session("s-1")
        await agent.expect("session/close")
        await agent.expect("$/cancel_request")
        await agent.expect("session/close")
        agent.reply({})

    async with connected(script) as host:
        session = await host.new_session()
        with pytest.raises(TimeoutError):
            await session.close(timeout=0.01)
        assert session in host.sessions
        await session.close(timeout=10)
        assert session not in host.sessions


async def test_a_session_is_opened_again_although_it_is_never_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session("s-1")
        await agent.expect("session/close")
        await agent.expect("$/cancel_request")
        await agent.expect("session/load")
        agent.reply({})

    monkeypatch.setattr("acp_host.host.agent_methods._LET_GO", 0.01)
    async with connected(script) as host:
        session = await host.new_session()
        assert await host.load_session("s-1") is session
        [note] = host.diagnostics
        assert "could not be closed before it was opened again: no answer within 0.01 s" in note.message


async def test_one_whose_id_the_agent_gives_away_is_closed_with_a_word() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session("s-1")
        prompt = await agent.expect("session/prompt")
        await agent.open_session("s-1")
        agent.reply({"stopReason": "cancelled"}, to=prompt)
        await agent.expect("session/prompt")
        agent.update(words("agent", "hello"), "s-1")
        agent.reply(DONE)

    async with connected(script) as host:
        first = await host.new_session()
        turn = first.prompt("go")
        second = await host.new_session()
        assert (await turn).stop_reason == "cancelled"
        assert host.sessions == (second,)
        with pytest.raises(acp_host.InvalidState, match="was closed"):
            first.prompt("too late")
        await second.prompt("on")
        assert [shown(session) for session in (first, second)] == [
            [("go", False)],
            [("on", False), ("hello", False)],
        ]
        [note] = host.diagnostics
        assert (note.kind, note.session_id) == ("unexpected", "s-1")
        assert "gave a new session the id s-1 of an open one" in note.message


async def test_a_session_that_is_closed_closes_no_other_of_its_id() -> None:
    """Its id means what was opened by it since; closing the earlier object again is nothing."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session("s-1")
        await agent.expect("session/close")
        agent.reply({})
        await agent.expect("session/resume")
        agent.reply({})
        await agent.expect("session/prompt")
        agent.reply({"stopReason": "end_turn"})

    async with connected(script) as host:
        earlier = await host.new_session()
        await earlier.close()
        now = await host.resume_session("s-1")
        await earlier.close()
        assert host.sessions == (now,)
        assert (await now.prompt("still there?")).stop_reason == "end_turn"
