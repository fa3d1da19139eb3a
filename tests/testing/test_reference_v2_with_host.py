"""This library's host and its reference agent in ACP v2: what an application sees of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import acp_host
from acp_host import PermissionPolicy, RequestFailed, Session
from acp_host.host.services import ElicitationHandlers
from acp_host.state.entries import MessageEntry, ToolCallEntry
from acp_host.state.snapshot import SessionSnapshot
from acp_host.testing import ReferenceAgent, serve_websocket
from acp_host.wire.elicitation import ElicitationAcceptAction

BOTH = (2, 1)


def connecting(agent: ReferenceAgent | list[str], **options: object) -> acp_host.connect:
    """Connect with version 2 where the agent has it; permission is given."""
    target = agent if isinstance(agent, list) else agent.transport()
    given = {"protocol_versions": BOTH, "permissions": PermissionPolicy.allow_once(), "unstable": True}
    return acp_host.connect(target, **given | options)


async def becomes(session: Session, wanted: Callable[[SessionSnapshot], bool]) -> SessionSnapshot:
    async for snapshot in session.state.watch():
        if wanted(snapshot):
            return snapshot
    raise AssertionError("the session is over")


def forms(snapshot: SessionSnapshot) -> list[tuple[str, str | None, object]]:
    """Return what a person reads in the transcript, without ids."""
    return [
        (entry.type, getattr(entry, "text", None) or getattr(entry, "title", None), getattr(entry, "status", None))
        for entry in snapshot.transcript
    ]


@pytest.mark.parametrize("where", ["here", "as a program"])
async def test_a_whole_conversation_and_its_replay(where: str, tmp_path: Path) -> None:
    program = ReferenceAgent.command("--protocol-version", "1", "--protocol-version", "2")
    async with connecting(ReferenceAgent(protocol_versions=BOTH) if where == "here" else program) as host:
        assert host.agreement.protocol_version == 2
        session = await host.new_session(tmp_path)
        result = await session.prompt("Show me")
        assert result.text.endswith("I added the line. The check ended with status 0.")
        assert result.outcome.kind == "completed"
        live = session.state.snapshot()
        assert [(kind, status) for kind, _, status in forms(live)] == [
            *[("message", None)] * 3,
            *[("tool_call", "completed")] * 3,
            ("message", None),
        ]
        (terminal,) = live.terminals.values()
        assert (terminal.owner, terminal.ended, terminal.exit_code) == ("agent", True, 0)
        assert "✓" in "".join(terminal.output)
        assert (live.turn.agent_state, live.turn.background) == ("idle", ())
        await session.close()
        loaded = (await host.load_session(session.id, tmp_path)).state.snapshot()
        assert forms(loaded) == forms(live)
        assert loaded.terminals.keys() == live.terminals.keys()
        assert list(host.diagnostics) == []


async def test_the_same_conversation_in_both_versions(tmp_path: Path) -> None:
    """Where neither version has more to say than the other, a person reads the same."""
    prompt = "/think Hm.\n/say Hello\n/plan A; B\n/tool Look\n/title Both\n/usage\n/notice info Done"
    read = []
    for version in (1, 2):
        async with connecting(ReferenceAgent(protocol_versions=[version])) as host:
            assert host.agreement.protocol_version == version
            session = await host.new_session(tmp_path)
            result = await session.prompt(prompt)
            state = session.state.snapshot()
            (plan,) = state.plans
            notices = [(note.severity, note.title) for note in session.notices.snapshot().history]
            entries = [entry.status for entry in plan.content.entries]
            read.append((forms(state), result.text, result.usage, entries, notices, state.info.title, state.usage))
    assert read[0] == read[1]


async def test_the_turns_of_an_agent_that_goes_on_by_itself(tmp_path: Path) -> None:
    async with connecting(ReferenceAgent(protocol_versions=[2])) as host:
        session = await host.new_session(tmp_path)
        await session.prompt("/later I am back.")
        state = await becomes(session, lambda state: state.turn.turn == 2 and state.turn.status == "idle")
        assert state.turn.origin == "agent"
        assert state.transcript[-1] == MessageEntry(
            position=1, speaker="assistant", parts=state.transcript[-1].parts, message_id="message-2", turn=2
        )
        assert (await session.prompt("/say And on")).text == "And on"


async def test_work_in_the_background_and_single_calls_are_cancelled(tmp_path: Path) -> None:
    async with connecting(ReferenceAgent(protocol_versions=[2])) as host:
        session = await host.new_session(tmp_path)
        await session.prompt("/background 1000")
        assert [work.terminal_id for work in session.state.snapshot().turn.background or ()] == ["terminal-1"]
        await session.cancel_terminal("terminal-1")
        state = await becomes(session, lambda state: state.terminals["terminal-1"].ended)
        assert state.terminals["terminal-1"].signal == "SIGTERM"

        turn = session.prompt("/work Count")
        await becomes(session, lambda state: any(getattr(entry, "cancellable", False) for entry in state.transcript))
        await session.cancel_tool_call("call-1")
        assert (await turn).text == "The work was cancelled, and I go on."
        (call,) = [entry for entry in session.state.snapshot().transcript if isinstance(entry, ToolCallEntry)]
        assert call.status == "cancelled"

        async for _update in (turn := session.prompt("/wait")):
            turn.cancel()
        assert (await turn).stop_reason == "cancelled"


async def test_questions_reminders_and_failures(tmp_path: Path) -> None:
    forms = ElicitationHandlers(form=lambda _: ElicitationAcceptAction({"name": "Ada"}))
    async with connecting(ReferenceAgent(protocol_versions=[2]), elicitation=forms) as host:
        session = await host.new_session(tmp_path)
        assert (await session.prompt("/ask")).text == "You answered: {'name': 'Ada'}"
        receipt = await session.remind("Mind the gap", ttl_turns=1)
        assert receipt.rung == "inject_reminder"
        assert "Mind the gap" in (await session.prompt("/reminders")).text
        (entry,) = session.reminders.snapshot().entries
        assert entry.status == "expired"
        with pytest.raises(RequestFailed, match="Out of credit"):
            await session.prompt("/error -32001 Out of credit")
        assert (await session.prompt("/say And on")).text == "And on"


@pytest.mark.parametrize("served", [False, True], ids=["as a program", "over WebSocket"])
@pytest.mark.parametrize("again", [False, True], ids=["refuses a second initialize", "takes a second initialize"])
async def test_an_agent_of_v1_loses_nothing_by_being_asked_for_v2(tmp_path: Path, again: bool, served: bool) -> None:
    (tmp_path / "notes.md").write_text("buy milk\n")
    features = ["initialize_again"] if again else []
    agent = ReferenceAgent(also=features)
    services = {"files": True, "terminals": True, "protocol_versions": BOTH}
    if served:
        async with serve_websocket(agent.serve) as place:
            remote = acp_host.RemoteOptions(bearer=place.token)
            options = services | {"remote": remote, "allow_remote_services": True}
            async with acp_host.connect(place.url, **options) as host:
                await uses_everything_of_v1(host, tmp_path)
    else:
        command = ReferenceAgent.command(*[f"--also={feature}" for feature in features])
        async with acp_host.connect(command, **services) as host:
            await uses_everything_of_v1(host, tmp_path)


async def uses_everything_of_v1(host: acp_host.HostConnection, folder: Path) -> None:
    assert host.agreement.protocol_version == 1
    session = await host.new_session(folder)
    assert (await session.prompt("/read notes.md")).text == "It has 9 characters."
    await session.prompt("/notice info Here")
    assert [notice.title for notice in session.notices.snapshot().history] == ["Here"]
    assert list(host.diagnostics) == []
