"""The agent's part of a recording, played to a live host."""

from __future__ import annotations

import asyncio
import io
import json
from pathlib import Path
from typing import Any

import pytest

import acp_host
from acp_host import HostConnection, InvalidInput, InvalidState, OutcomeUnknown, PermissionPolicy, Session
from acp_host.recording.format import RecordedLine
from acp_host.replay.comparing import comparable
from acp_host.testing import HarnAgent, HarnTurn, ReferenceAgent, ReplayDiverged, ReplayTransport
from acp_host.testing.harn.conversation import conversation
from acp_host.wire.content import ResourceLink
from tests.host.scripts import until
from tests.recording.live import a_turn_that_waits, held, plain

OFFERS = {"protocolVersion": 1, "agentCapabilities": {}}


def line(direction: str, message: Any, number: int = 1) -> RecordedLine:
    return RecordedLine(direction=direction, message={"jsonrpc": "2.0", **message}, number=number)


def asks(method: str, request_id: Any, **params: Any) -> RecordedLine:
    return line("out", {"id": request_id, "method": method, "params": params})


def answers(request_id: Any, result: Any) -> RecordedLine:
    return line("in", {"id": request_id, "result": result})


def says(text: str) -> RecordedLine:
    update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
    return line("in", {"method": "session/update", "params": {"sessionId": "s", "update": update}})


def prompt(text: str, request_id: Any = "c") -> RecordedLine:
    return asks("session/prompt", request_id, sessionId="s", prompt=[{"type": "text", "text": text}])


OPENING = [
    asks("initialize", "a", protocolVersion=1),
    answers("a", OFFERS),
    asks("session/new", "b", cwd="/elsewhere", mcpServers=[]),
    answers("b", {"sessionId": "s"}),
]
TALK = [*OPENING, prompt("go"), says("hel"), says("lo"), answers("c", {"stopReason": "end_turn"})]


async def talk(host: HostConnection) -> list[Session]:
    session = await host.new_session(".")
    await session.prompt("Do what you do")
    await session.remind("2 tests failed", dedupe_key="tests")
    turn = await a_turn_that_waits(session)
    turn.cancel()
    await turn
    return [session]


async def waits_at_wait(turn: HarnTurn) -> None:
    if turn.text.endswith("/wait"):
        await turn.say("on")
        await asyncio.Event().wait()
    await conversation(turn)


@pytest.mark.parametrize(
    "agent", [ReferenceAgent, lambda: HarnAgent(waits_at_wait)], ids=["ReferenceAgent", "HarnAgent"]
)
async def test_a_host_that_says_the_same_gets_the_same_state(agent: Any, tmp_path: Path) -> None:
    path = tmp_path / "talk.jsonl"
    options = {"permissions": PermissionPolicy.allow_once()}
    live = await held(talk, agent().transport(), path, **options)

    transport = ReplayTransport(path)
    async with acp_host.connect(transport, **options) as host:
        [session] = await talk(host)
        transport.check_finished()
        [expected] = live.values()
        assert comparable(plain(session)) == comparable(expected)


async def test_ids_of_another_host_are_mapped() -> None:
    async with acp_host.connect(ReplayTransport(TALK)) as host:
        session = await host.new_session(".")
        assert (await session.prompt("go")).text == "hello"


@pytest.mark.parametrize("there", ["/home/somebody/a project", "/tmp/"])
async def test_files_are_where_the_host_has_its_session(tmp_path: Path, there: str) -> None:
    inside = there.rstrip("/")
    link = {"type": "resource_link", "name": "notes.md", "uri": Path(f"{inside}/notes.md").as_uri()}
    call = {"sessionUpdate": "tool_call", "toolCallId": "c", "title": f"Look at {inside}/notes.md"}
    call["locations"] = [{"path": f"{inside}/notes.md"}, {"path": f"{inside}-not/notes.md"}, {"path": inside}]
    read = {"sessionId": "s", "path": f"{inside}/notes.md"}
    lines = [
        *OPENING[:2],
        asks("session/new", "b", cwd=there, mcpServers=[]),
        answers("b", {"sessionId": "s"}),
        asks("session/prompt", "c", sessionId="s", prompt=[link]),
        line("in", {"method": "session/update", "params": {"sessionId": "s", "update": call}}),
        line("in", {"id": 7, "method": "fs/read_text_file", "params": read}),
        line("out", {"id": 7, "result": {"content": "noted"}}),
        answers("c", {"stopReason": "end_turn"}),
    ]
    (tmp_path / "notes.md").write_text("noted")
    transport = ReplayTransport(lines)
    async with acp_host.connect(transport, files=True) as host:
        session = await host.new_session(tmp_path)
        content = ResourceLink("notes.md", (tmp_path / "notes.md").as_uri())
        await session.prompt(content)
        transport.check_finished()
        [call_seen] = session.state.snapshot().tool_calls
        here = [str(tmp_path / "notes.md"), f"{inside}-not/notes.md", str(tmp_path)]
        assert [place.path for place in call_seen.locations] == here
        assert call_seen.title == f"Look at {inside}/notes.md"


async def test_the_agent_waits_until_the_host_has_spoken() -> None:
    async with acp_host.connect(ReplayTransport(TALK)) as host:
        session = await host.new_session(".")
        await asyncio.sleep(0.02)
        assert len(session.state.snapshot().transcript) == 0
        await session.prompt("go")


async def test_what_the_host_says_instead_is_told_with_what_was_expected() -> None:
    transport = ReplayTransport(TALK)
    async with acp_host.connect(transport) as host:
        session = await host.new_session(".")
        with pytest.raises(OutcomeUnknown) as caught:
            await session.prompt("something else")
        assert isinstance(caught.value.cause, ReplayDiverged)
        assert 'expected {"jsonrpc":"2.0","id":"c","method":"session/prompt"' in str(caught.value.cause)
        assert "something else" in str(caught.value.cause)
        with pytest.raises(ReplayDiverged):
            transport.check_finished()
        with pytest.raises(ReplayDiverged):
            transport.write(b"{}\n")


async def test_texts_may_be_others_where_only_methods_are_matched() -> None:
    async with acp_host.connect(ReplayTransport(TALK, match="method")) as host:
        session = await host.new_session(".")
        assert (await session.prompt("something else")).text == "hello"


async def test_what_was_taken_out_as_a_secret_is_no_difference() -> None:
    lines = [*OPENING, prompt("go with [redacted] now"), answers("c", {"stopReason": "end_turn"})]
    async with acp_host.connect(ReplayTransport(lines)) as host:
        session = await host.new_session(".")
        await session.prompt("go with hunter2 now")


@pytest.mark.parametrize("said", ["go without", "go with hunter2", "hunter2 now", "something else"])
async def test_what_stands_around_a_secret_is_the_same(said: str) -> None:
    lines = [*OPENING, prompt("go with [redacted] and [redacted] now"), answers("c", {"stopReason": "end_turn"})]
    async with acp_host.connect(ReplayTransport(lines)) as host:
        session = await host.new_session(".")
        with pytest.raises(OutcomeUnknown, match="expected"):
            await session.prompt(said)
    async with acp_host.connect(ReplayTransport(lines)) as host:
        session = await host.new_session(".")
        await session.prompt("go with a and b and c now")


async def test_another_choice_of_the_user_is_a_divergence() -> None:
    options = [
        {"optionId": name, "name": name, "kind": kind} for name, kind in (("y", "allow_once"), ("n", "reject_once"))
    ]
    question = {"sessionId": "s", "toolCall": {"toolCallId": "t"}, "options": options}
    lines = [
        *OPENING,
        prompt("go"),
        line("in", {"id": 7, "method": "session/request_permission", "params": question}),
        line("out", {"id": 7, "result": {"outcome": {"outcome": "selected", "optionId": "y"}}}),
        answers("c", {"stopReason": "end_turn"}),
    ]
    async with acp_host.connect(ReplayTransport(lines), permissions=PermissionPolicy.allow_once()) as host:
        assert (await (await host.new_session(".")).prompt("go")).stop_reason == "end_turn"
    async with acp_host.connect(ReplayTransport(lines)) as host:
        with pytest.raises(OutcomeUnknown, match="left the recording"):
            await (await host.new_session(".")).prompt("go")


async def test_what_comes_early_waits_for_its_place_and_not_for_ever() -> None:
    lines = [*OPENING, prompt("go"), says("x"), line("out", {"method": "_later", "params": {}})]
    transport = ReplayTransport(lines, patience=0.05)
    async with acp_host.connect(transport) as host:
        await host.new_session(".")
        await host.notify("_later", {})
        error = await host.wait_closed()
    assert "has not sent" in str(error)
    assert isinstance(error, ReplayDiverged)


async def test_more_than_was_recorded_is_a_divergence() -> None:
    transport = ReplayTransport(OPENING)
    async with acp_host.connect(transport) as host:
        session = await host.new_session(".")
        transport.check_finished()
        with pytest.raises(OutcomeUnknown, match="the recording has ended"):
            await session.prompt("go")


async def test_less_than_was_recorded_is_told_at_the_end() -> None:
    transport = ReplayTransport(TALK)
    async with acp_host.connect(transport) as host:
        await host.new_session(".")
        with pytest.raises(ReplayDiverged, match="never sent"):
            transport.check_finished()


async def test_the_next_connection_is_played_after_a_restart() -> None:
    lines = [
        *OPENING[:2],
        RecordedLine(direction="meta", note="a new one"),
        asks("initialize", "a", protocolVersion=1),
        answers("a", {**OFFERS, "agentInfo": {"name": "second", "version": "2"}}),
    ]
    async with acp_host.connect(ReplayTransport(lines)) as host:
        await host.restart()
        assert host.agreement.agent_name == "second"
        with pytest.raises(InvalidState):
            await host.restart()


async def test_a_connection_that_was_lost_is_lost_again() -> None:
    end = RecordedLine(direction="meta", event="end", note="the agent crashed")
    async with acp_host.connect(ReplayTransport([*OPENING, prompt("go"), says("x"), end])) as host:
        session = await host.new_session(".")
        with pytest.raises(OutcomeUnknown, match="the agent crashed"):
            await session.prompt("go")


async def test_half_a_file_is_played_as_far_as_it_goes() -> None:
    data = "".join(json.dumps({"dir": each.direction, "t": 0, "msg": each.message}) + "\n" for each in TALK).encode()[
        :-20
    ]
    transport = ReplayTransport(io.BytesIO(data))
    async with acp_host.connect(transport) as host:
        session = await host.new_session(".")
        turn = session.prompt("go")
        await until(lambda: len(session.state.snapshot().transcript) == 2)
        transport.check_finished()
        turn.cancel()
        error = await host.wait_closed()
    assert "session/cancel" in str(error)


async def test_what_no_host_could_get_ends_the_replay() -> None:
    deep: Any = 1
    for _ in range(3_000):
        deep = {"a": deep}
    transport = ReplayTransport([*OPENING, prompt("go"), line("in", {"method": "x", "params": deep}), says("more")])
    async with acp_host.connect(transport) as host:
        session = await host.new_session(".")
        with pytest.raises(OutcomeUnknown):
            await session.prompt("go")
    with pytest.raises(ReplayDiverged, match="cannot be played"):
        transport.check_finished()


@pytest.mark.parametrize("request_id", [2**70 + 1, "\ud800", 1.5])
async def test_ids_of_every_kind_are_those_that_were_recorded(request_id: Any) -> None:
    refused = line("out", {"id": request_id, "error": {"code": -32601, "message": "no"}})
    transport = ReplayTransport([*OPENING, line("in", {"id": request_id, "method": "x/y"}), refused, says("done")])
    async with acp_host.connect(transport) as host:
        session = await host.new_session(".")
        await until(lambda: session.state.snapshot().transcript)
        transport.check_finished()


async def test_a_replay_is_played_once() -> None:
    transport = ReplayTransport(OPENING)
    async with acp_host.connect(transport):
        pass
    with pytest.raises(InvalidState, match="started or closed before"):
        await acp_host.connect(transport)


def test_there_are_two_ways_to_match() -> None:
    with pytest.raises(InvalidInput, match="match is one of params, method"):
        ReplayTransport(TALK, match="loosely")
