"""Opening a session of earlier by whichever way works, and what is said about it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import acp_host
from acp_host import Quirk, QuirkKind
from acp_host.errors import AuthRequired, InvalidInput, InvalidState, OutcomeUnknown, SessionNotReopened
from acp_host.host.reopening import Lost, ReopenPolicy, ReopenResult, ReopenStep
from acp_host.testing import ReferenceAgent, ScriptedAgent
from acp_host.wire.mcp import McpServerStdio
from acp_host.wire.terminals import EnvVariable
from tests.host.scripts import DONE, answering, connected, shown, until, words

GONE = (-32002, "Resource not found", {"sessionId": "old"})
BROKEN = (-32603, "Internal error", None)
AT_ONCE = ReopenPolicy(pause=0)


def tried(attempts: Sequence[Any]) -> list[tuple[str, str]]:
    return [(attempt.step, attempt.result) for attempt in attempts]


async def test_resume_is_tried_first(tmp_path: Path) -> None:
    async with connected(answering(("session/resume", {}))) as host:
        opened = await host.open_session("old", tmp_path)
        assert (opened.session.id, opened.step, opened.lost) == ("old", "resume", Lost.HISTORY)
        assert tried(opened.attempts) == [("resume", "worked")]
        assert "cannot be shown" in opened.summary
        assert host.sessions == (opened.session,)


async def test_an_agent_that_replays_on_resume_loses_nothing() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.expect("session/resume")
        agent.update(words("user", "before"), "old")
        agent.reply({})

    async with connected(script) as host:
        opened = await host.open_session("old")
        assert (opened.lost, opened.summary) == (Lost.NOTHING, "")
        assert shown(opened.session) == [("before", True)]


async def test_what_was_not_told_is_missing_until_it_is_told() -> None:
    """What was said since is in the transcript, and is not what was said before."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.expect("session/resume")
        agent.reply({})
        await agent.expect("session/prompt")
        agent.say("since", "old")
        agent.reply(DONE)
        for method in ("session/resume", "session/load", "session/resume"):
            await agent.expect(method)
            agent.reply({})

    load = ReopenPolicy(steps=(ReopenStep.LOAD,))
    async with connected(script, {"loadSession": True, "sessionCapabilities": {"resume": {}}}) as host:
        opened = await host.open_session("old")
        await opened.session.prompt("go")
        assert (await host.open_session("old")).lost is Lost.HISTORY
        assert (await host.open_session("old", policy=load)).lost is Lost.NOTHING
        assert (await host.open_session("old")).lost is Lost.NOTHING


async def test_what_is_not_offered_is_left_to_the_next_step() -> None:
    agent = ReferenceAgent(without=["resume"])
    async with acp_host.connect(agent.transport()) as first:
        session = await first.new_session()
        await session.prompt("/say hello")
    async with acp_host.connect(agent.transport()) as host:
        opened = await host.open_session(session.id)
        assert (opened.step, opened.lost) == (ReopenStep.LOAD, Lost.NOTHING)
        assert tried(opened.attempts) == [("resume", "not_offered"), ("load", "worked")]
        assert ("hello", True) in shown(opened.session)


async def test_what_is_advertised_in_vain_is_left_to_the_next_step_too() -> None:
    script = answering(("session/resume", (-32601, "Method not found", None)), ("session/load", {}))
    async with connected(script) as host:
        opened = await host.open_session("old")
        assert tried(opened.attempts) == [("resume", "not_offered"), ("load", "worked")]


async def test_a_session_that_is_gone_is_begun_anew() -> None:
    script = answering(("session/resume", GONE), ("session/load", GONE), ("session/new", {"sessionId": "another"}))
    async with connected(script) as host:
        opened = await host.open_session("old")
        assert (opened.session.id, opened.step, opened.lost) == ("another", "new", Lost.CONTEXT)
        assert tried(opened.attempts) == [("resume", "gone"), ("load", "gone"), ("new", "worked")]
        assert "knows nothing of the one before" in opened.summary
        assert "Resource not found" in opened.summary
        assert host.sessions == (opened.session,), "nothing is left of what was tried"


async def test_a_failure_that_may_pass_is_tried_again() -> None:
    async with connected(answering(("session/resume", BROKEN), ("session/resume", {}))) as host:
        opened = await host.open_session("old", policy=AT_ONCE)
        assert tried(opened.attempts) == [("resume", "failed"), ("resume", "worked")]


async def test_while_the_session_may_exist_no_other_is_begun() -> None:
    script = answering(*[("session/resume", BROKEN)] * 2, *[("session/load", BROKEN)] * 2)
    async with connected(script) as host:
        with pytest.raises(SessionNotReopened, match="Internal error") as failed:
            await host.open_session("old", policy=AT_ONCE)
        assert tried(failed.value.attempts) == [("resume", "failed")] * 2 + [("load", "failed")] * 2
        assert isinstance(failed.value.__cause__, acp_host.InternalError)
        assert host.sessions == ()


async def test_an_answer_that_cannot_be_read_is_a_failure() -> None:
    async with connected(answering(("session/resume", 5), ("session/load", {}))) as host:
        opened = await host.open_session("old", policy=AT_ONCE)
        assert tried(opened.attempts) == [("resume", "failed"), ("load", "worked")]
    async with connected(answering(("session/resume", 5), ("session/load", 5))) as host:
        with pytest.raises(SessionNotReopened, match="does not fit the schema"):
            await host.open_session("old", policy=AT_ONCE)


async def test_unless_the_policy_says_so() -> None:
    script = answering(("session/load", BROKEN), ("session/new", {"sessionId": "another"}))
    policy = ReopenPolicy(steps=("load", "new"), new_after_failure=True, tries=1)
    async with connected(script) as host:
        opened = await host.open_session("old", policy=policy)
        assert (opened.session.id, opened.lost) == ("another", Lost.CONTEXT)


async def test_wrong_parameters_do_not_pass() -> None:
    script = answering(("session/load", (-32602, "Invalid params", None)))
    async with connected(script) as host:
        with pytest.raises(SessionNotReopened):
            await host.open_session("old", policy=ReopenPolicy(steps=(ReopenStep.LOAD,), pause=0))


async def test_a_policy_without_new_begins_none() -> None:
    policy = ReopenPolicy(steps=(ReopenStep.LOAD, ReopenStep.RESUME))
    async with connected(answering(("session/load", GONE), ("session/resume", GONE))) as host:
        with pytest.raises(SessionNotReopened) as failed:
            await host.open_session("old", policy=policy)
        assert [attempt.result for attempt in failed.value.attempts] == [ReopenResult.GONE] * 2


async def test_a_login_is_no_reason_to_lose_anything() -> None:
    async with connected(answering(("session/resume", (-32000, "Authentication required", None)))) as host:
        with pytest.raises(AuthRequired):
            await host.open_session("old")


async def test_neither_is_the_end_of_the_connection() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.expect("session/resume")
        await agent.close()

    async with connected(script) as host:
        with pytest.raises(OutcomeUnknown):
            await host.open_session("old")


@pytest.mark.parametrize(
    "wrong",
    [{"steps": ()}, {"steps": ("new", "load")}, {"steps": ("load", "load")}, {"steps": ("fork",)}, {"tries": 0}],
)
def test_a_policy_that_makes_no_sense(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        ReopenPolicy(**wrong)


# --- what single agents do differently ------------------------------------------------------------------------------


def quirk(kind: QuirkKind, subject: str = "") -> tuple[Quirk, ...]:
    return (Quirk(agent="scripted-agent", kind=kind, subject=subject, why="does it differently"),)


LOCKED = (-32602, "Already open in another process", None)


async def test_a_lock_that_outlives_its_process() -> None:
    script = answering(("session/load", LOCKED), ("session/load", {}))
    policy = ReopenPolicy(steps=(ReopenStep.LOAD,), pause=0)
    async with connected(script, quirks=quirk(QuirkKind.LOCK_OUTLIVES_AGENT)) as host:
        assert len((await host.open_session("old", policy=policy)).attempts) == 2
    async with connected(answering(("session/load", LOCKED))) as host:
        with pytest.raises(SessionNotReopened):
            await host.open_session("old", policy=policy)


async def test_an_agent_that_refuses_mcp_servers_of_a_session_of_earlier() -> None:
    sent: list[Any] = []

    async def script(agent: ScriptedAgent) -> None:
        for method in ("session/load", "session/resume"):
            sent.append((await agent.expect(method))["params"]["mcpServers"])
            agent.reply({})

    server = McpServerStdio("s", "server", (), env=(EnvVariable("A", "b"),))
    async with connected(script, quirks=quirk(QuirkKind.REOPENS_WITHOUT_MCP_SERVERS, "session/load")) as host:
        await host.load_session("old", mcp_servers=[server])
        await host.resume_session("other", mcp_servers=[server])
        assert [len(servers) for servers in sent] == [0, 1]
        [note] = host.diagnostics
        assert "MCP servers were left out" in note.message


@pytest.mark.parametrize("known", [True, False])
async def test_a_session_that_is_refused_since_it_is_open(known: bool) -> None:
    async def script(agent: ScriptedAgent) -> None:
        if known:
            await agent.open_session("old")
            await agent.expect("session/prompt")
            agent.say("hello", "old")
            agent.reply(DONE)
        await agent.expect("session/load")
        agent.reply_error(-32602, "Session old is already loaded")
        await agent.expect("session/prompt")
        agent.reply(DONE)

    capabilities = {"loadSession": True}
    async with connected(script, capabilities, quirks=quirk(QuirkKind.OPEN_IS_NOT_LOADED)) as host:
        before = None
        if known:
            before = await host.new_session()
            await before.prompt("go")
        session = await host.load_session("old")
        assert before in (None, session)
        assert shown(session) == ([("go", False), ("hello", False)] if known else [])
        await session.prompt("on")
        [note] = host.diagnostics
        assert "open already" in note.message


async def test_a_session_that_is_open_already_is_not_said_to_be_whole() -> None:
    script = answering(("session/load", (-32602, "Session old is already loaded", None)))
    load = ReopenPolicy(steps=(ReopenStep.LOAD,))
    async with connected(script, quirks=quirk(QuirkKind.OPEN_IS_NOT_LOADED)) as host:
        opened = await host.open_session("old", policy=load)
        assert (opened.step, opened.lost) == (ReopenStep.LOAD, Lost.HISTORY)
        assert "cannot be shown" in opened.summary


async def test_without_the_row_it_is_refused() -> None:
    script = answering(("session/load", (-32602, "Session old is already loaded", None)))
    async with connected(script) as host:
        with pytest.raises(acp_host.InvalidParams):
            await host.load_session("old")
        assert host.sessions == ()


# --- a session that is lost behind the back -------------------------------------------------------------------------


async def test_a_session_that_was_opened_and_is_unknown_at_the_prompt() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.expect("session/load")
        agent.update(words("user", "before"), "old")
        agent.reply({})
        await agent.expect("session/prompt")
        agent.reply_error(-32603, "Unsupported ACP session")
        await agent.open_session("another")

    async with connected(script) as host:
        session = await host.load_session("old")
        first, second = session.prompt("go"), session.prompt("and on")
        with pytest.raises(acp_host.InternalError):
            await first
        with pytest.raises(InvalidState, match="is lost"):
            await second
        assert session.is_lost
        assert host.sessions == ()
        health = session.state.snapshot().health
        assert (health.status, "Unsupported" in health.detail) == ("lost", True)
        assert ("before", True) in shown(session), "the transcript stays"
        with pytest.raises(InvalidState, match="open_session"):
            session.prompt("more")
        opened = await host.open_session(session.id, policy=ReopenPolicy(steps=(ReopenStep.NEW,)))
        assert (opened.session.id, opened.lost) == ("another", Lost.CONTEXT)
        assert not opened.session.is_lost


async def test_a_prompt_that_fails_otherwise_loses_no_session() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session("s-1")
        await agent.expect("session/prompt")
        agent.reply_error(-32002, "Resource not found", {"uri": "file:///notes.txt"})
        await agent.expect("session/prompt")
        agent.reply(DONE)

    async with connected(script) as host:
        session = await host.new_session()
        with pytest.raises(acp_host.ResourceNotFound):
            await session.prompt("go")
        assert not session.is_lost
        await session.prompt("again")


async def test_secrets_of_mcp_servers_are_not_shown() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session("s-1")
        agent.send_raw(b"starting with the value of A: swordfish\n")
        await agent.stall()

    server = McpServerStdio("s", "server", (), env=(EnvVariable("A", "swordfish"),))
    async with connected(script) as host:
        await host.new_session(mcp_servers=[server])
        await until(lambda: list(host.diagnostics))
        assert "swordfish" not in repr(list(host.diagnostics))
        await host.close()
