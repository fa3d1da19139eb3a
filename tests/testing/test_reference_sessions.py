"""How the reference agent keeps sessions; the schema is watched by ``connect``."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

import acp_host
from acp_host.testing import ReferenceAgent
from acp_host.testing._features import FEATURES
from acp_host.wire.commands import AvailableCommandsUpdate
from acp_host.wire.config_options import ConfigOptionUpdate, CurrentModeUpdate
from acp_host.wire.content import ImageContent, TextContent
from acp_host.wire.converters import unstructure
from acp_host.wire.prompt import PromptRequest
from acp_host.wire.session import SystemPrompt
from acp_host.wire.tool_calls import ToolCall, ToolCallUpdate
from acp_host.wire.updates import AgentMessageChunk, AgentThoughtChunk, SessionInfoUpdate, UserMessageChunk

PICTURE = ImageContent("AAAA", "image/png")


async def replay_of(session: acp_host.Session) -> list[Any]:
    """Return what came before the commands, which are told last."""
    updates: list[Any] = []
    while not updates or not isinstance(updates[-1], AvailableCommandsUpdate):
        updates.append(await session.next_update_between_turns())
    return updates[:-1]


async def a_conversation(connect, agent: ReferenceAgent, folder: Path) -> str:
    async with connect(agent) as host:
        session = await host.new_session(folder)
        await session.prompt(["/think about it for a while\n/say one two three four five six\n/tool x", PICTURE])
        return session.id


async def test_load_replays_the_history(connect, tmp_path: Path) -> None:
    agent = ReferenceAgent()
    session_id = await a_conversation(connect, agent, tmp_path)
    async with connect(agent) as host:
        session = await host.load_session(session_id, tmp_path)
        replay = await replay_of(session)
        assert (await session.prompt("/say and on")).text == "and on"
        assert list(host.diagnostics) == []
    assert [type(update) for update in replay] == [
        UserMessageChunk,
        UserMessageChunk,
        AgentThoughtChunk,
        AgentMessageChunk,
        ToolCall,
        ToolCallUpdate,
        ToolCallUpdate,
        ToolCallUpdate,
    ]
    assert replay[1].content == PICTURE
    assert replay[1].message_id == replay[0].message_id
    assert replay[2].content == TextContent("about it for a while")
    assert replay[3].content == TextContent("one two three four five six")


async def test_load_replays_before_it_answers(connect, taps, tmp_path: Path) -> None:
    agent = ReferenceAgent()
    session_id = await a_conversation(connect, agent, tmp_path)
    async with connect(agent) as host:
        await host.load_session(session_id, tmp_path)
    messages = taps[-1].to_host
    at = messages.index(taps[-1].answers("session/load")[0])
    kinds = [message.get("params", {}).get("update", {}).get("sessionUpdate") for message in messages]
    assert kinds[1:at] == [
        "user_message_chunk",
        "user_message_chunk",
        "agent_thought_chunk",
        "agent_message_chunk",
        "tool_call",
        *["tool_call_update"] * 3,
    ]


async def test_resume_replays_nothing(connect, tmp_path: Path) -> None:
    agent = ReferenceAgent()
    session_id = await a_conversation(connect, agent, tmp_path)
    async with connect(agent) as host:
        session = await host.resume_session(session_id, tmp_path)
        assert await replay_of(session) == []
        assert (await session.prompt("/say and on")).text == "and on"


async def test_a_session_that_was_loaded_twice_is_replayed_whole(connect, tmp_path: Path) -> None:
    agent = ReferenceAgent()
    session_id = await a_conversation(connect, agent, tmp_path)
    async with connect(agent) as host:
        await (await host.load_session(session_id, tmp_path)).prompt("/say more")
    async with connect(agent) as host:
        replay = await replay_of(await host.load_session(session_id, tmp_path))
    assert [type(update) for update in replay[-2:]] == [UserMessageChunk, AgentMessageChunk]


async def test_what_a_lost_connection_leaves(connect, tmp_path: Path) -> None:
    agent = ReferenceAgent()
    async with connect(agent) as host:
        session = await host.new_session(tmp_path)
        turn = session.prompt("/say one\n/wait")
        await anext(turn)
    with pytest.raises(acp_host.OutcomeUnknown):
        await turn
    assert agent.sessions[session.id].turn is None
    async with connect(agent) as host:
        assert (await host.request("session/status", {"sessionId": session.id})).status == "saved"
        assert (await host.load_session(session.id, tmp_path)).opening is not None


@pytest.mark.parametrize("method", ["load_session", "resume_session", "fork_session"])
async def test_a_session_that_is_not_there(connect, tmp_path: Path, method: str) -> None:
    async with connect() as host:
        with pytest.raises(acp_host.ResourceNotFound) as failure:
            await getattr(host, method)("none", tmp_path)
        assert failure.value.data == {"sessionId": "none"}
        for call in (host.archive_session, host.unarchive_session):
            with pytest.raises(acp_host.ResourceNotFound):
                await call("none")
        with pytest.raises(acp_host.ResourceNotFound):
            await host.request("session/close", {"sessionId": "none"})
        await host.request("session/delete", {"sessionId": "none"})


async def test_fork(connect, tmp_path: Path) -> None:
    agent = ReferenceAgent()
    async with connect(agent) as host:
        session = await host.new_session(tmp_path)
        await session.set_mode("auto")
        await session.prompt("/say one")
        fork = await host.fork_session(session.id, tmp_path)
        assert fork.id != session.id
        assert fork.opening.modes.current_mode_id == "auto"
        await fork.set_mode("ask")
        await fork.prompt("/say two")
    async with connect(agent) as host:
        origin = await host.load_session(session.id, tmp_path)
        assert origin.opening.modes.current_mode_id == "auto"
        assert [update.content.text for update in await replay_of(origin)] == ["/say one", "one"]
        again = await host.load_session(fork.id, tmp_path)
        texts = [update.content.text for update in await replay_of(again)]
        assert texts == ["/say one", "one", "/say two", "two"]


async def test_close_cancels_the_turn(connect, taps, tmp_path: Path) -> None:
    async with connect() as host:
        session = await host.new_session(tmp_path)
        turn = session.prompt("/wait")
        await host.close_session(session.id)
        assert [answer["result"]["stopReason"] for answer in taps[0].answers("session/prompt")] == ["cancelled"]
        assert turn.done
        with pytest.raises(acp_host.ResourceNotFound):
            await host.request("session/prompt", PromptRequest(session.id, (TextContent("x"),)))
        assert (await host.load_session(session.id, tmp_path)).id == session.id


async def test_delete(connect, tmp_path: Path) -> None:
    async with connect() as host:
        kept, gone = [await host.new_session(tmp_path) for _ in range(2)]
        await host.delete_session(gone.id)
        assert [info.session_id for info in (await host.list_sessions()).sessions] == [kept.id]
        with pytest.raises(acp_host.ResourceNotFound):
            await host.load_session(gone.id, tmp_path)


async def test_a_running_session_cannot_be_opened_again(connect, tmp_path: Path) -> None:
    async with connect() as host:
        session = await host.new_session(tmp_path)
        turn = session.prompt("/wait")
        with pytest.raises(acp_host.InvalidRequest, match="a turn is running"):
            await host.load_session(session.id, tmp_path)
        turn.cancel()
        await turn


# --- to find one ----------------------------------------------------------------------------------------------------


async def test_list_in_pages(connect, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    async with connect(ReferenceAgent(page_size=2)) as host:
        made = [(await host.new_session(tmp_path)).id for _ in range(5)]
        elsewhere = (await host.new_session(other, additional_directories=[tmp_path])).id
        listed, cursor = [], None
        while page := await host.list_sessions(cwd=tmp_path, cursor=cursor):
            listed.append([info.session_id for info in page.sessions])
            cursor = page.next_cursor
            if not cursor:
                break
        assert listed == [made[:-3:-1], made[2:0:-1], made[:1]]
        [info] = (await host.list_sessions(cwd=other)).sessions
        assert (info.session_id, info.cwd, info.additional_directories) == (elsewhere, str(other), (str(tmp_path),))
        assert info.updated_at == "2025-01-01T00:00:05Z"
        with pytest.raises(acp_host.InvalidParams, match="no cursor"):
            await host.list_sessions(cursor="x")
        assert (await host.list_sessions(cursor="99")).sessions == ()


async def test_the_newest_come_first(connect, tmp_path: Path) -> None:
    async with connect() as host:
        first, second = [await host.new_session(tmp_path) for _ in range(2)]
        await first.prompt("/title Important\n/say x")
        infos = (await host.list_sessions()).sessions
    assert [(info.session_id, info.title or None) for info in infos] == [(first.id, "Important"), (second.id, None)]


async def test_archive(connect, tmp_path: Path) -> None:
    async with connect() as host:
        kept, away = [await host.new_session(tmp_path) for _ in range(2)]
        turn = away.prompt("/wait")
        await host.archive_session(away.id)
        await host.archive_session(away.id)
        assert (await turn).stop_reason == "cancelled"

        async def listed(archived: str | None) -> dict[str, bool]:
            page = await host.list_sessions(archived=archived)
            return {info.session_id: info.archived for info in page.sessions}

        assert await listed(None) == await listed("exclude") == {kept.id: False}
        assert await listed("only") == {away.id: True}
        assert await listed("include") == {kept.id: False, away.id: True}
        with pytest.raises(acp_host.InvalidParams, match="archived cannot be"):
            await listed("some")
        await host.unarchive_session(away.id)
        assert await listed(None) == {kept.id: False, away.id: False}


async def test_status_and_title(connect, tmp_path: Path) -> None:
    async with connect() as host:
        session = await host.new_session(tmp_path)
        await replay_of(session)
        assert (await session.status()).status == "open"
        assert (await session.set_title("  My \n work ")).title == "My work"
        assert await session.next_update_between_turns() == SessionInfoUpdate(title="My work")
        with pytest.raises(acp_host.InvalidParams, match="empty"):
            await host.request("session/set_title", {"sessionId": session.id, "title": " "})
        await host.close_session(session.id)
        assert (await session.status()).status == "saved"


# --- settings -------------------------------------------------------------------------------------------------------


async def test_modes(connect, tmp_path: Path) -> None:
    async with connect() as host:
        session = await host.new_session(tmp_path)
        assert [mode.id for mode in session.opening.modes.available_modes] == ["ask", "auto"]
        await replay_of(session)
        await session.set_mode("auto")
        assert await session.next_update_between_turns() == CurrentModeUpdate("auto")
        options = await session.next_update_between_turns()
        assert isinstance(options, ConfigOptionUpdate)
        assert options.config_options[0].current_value == "auto"
        with pytest.raises(acp_host.InvalidParams):
            await session.set_mode("none")


@pytest.mark.parametrize(
    ("option", "value", "works"),
    [
        ("model", "large", True),
        ("thoughts", "off", True),
        ("plans", False, True),
        ("mode", "auto", True),
        ("model", "huge", False),
        ("model", True, False),
        ("plans", "yes", False),
        ("colour", "red", False),
    ],
)
async def test_options(connect, tmp_path: Path, option: str, value: str | bool, works: bool) -> None:
    async with connect() as host:
        session = await host.new_session(tmp_path)
        before = {each.id: each.current_value for each in session.opening.config_options}
        assert before == {"mode": "ask", "model": "small", "thoughts": "shown", "plans": True}
        if not works:
            with pytest.raises(acp_host.InvalidParams, match="cannot be set"):
                await session.set_config_option(option, value)
            return
        answer = await session.set_config_option(option, value)
        assert {each.id: each.current_value for each in answer.config_options} == before | {option: value}


# --- what it is opened with -----------------------------------------------------------------------------------------


async def test_a_relative_directory_is_refused(connect) -> None:
    async with connect() as host:
        with pytest.raises(acp_host.InvalidParams, match="absolute path"):
            await host.request("session/new", {"cwd": "here", "mcpServers": []})


async def test_mcp_servers_are_left_alone(connect, tmp_path: Path) -> None:
    server = {"name": "x", "command": "/no/such/server", "args": [], "env": []}
    async with connect() as host:
        await host.request("session/new", {"cwd": str(tmp_path), "mcpServers": [server]})


@pytest.mark.parametrize(
    ("prompt", "problem"),
    [
        (SystemPrompt("append", (TextContent("Be brief."),)), None),
        (SystemPrompt("override", (TextContent("Be brief."),)), None),
        (SystemPrompt("replace", (TextContent("Be brief."),)), "in the mode 'replace'"),
        (SystemPrompt("append", (PICTURE,)), "made of text"),
        (SystemPrompt("append", ()), "made of text"),
    ],
)
async def test_system_prompts(connect, tmp_path: Path, prompt: SystemPrompt, problem: str | None) -> None:
    async with connect() as host:
        if problem is None:
            await host.new_session(tmp_path, system_prompt=prompt)
        else:
            params = {"cwd": str(tmp_path), "mcpServers": [], "systemPrompt": unstructure(prompt)}
            with pytest.raises(acp_host.InvalidParams, match=problem):
                await host.request("session/new", params)


# --- features -------------------------------------------------------------------------------------------------------

CAPABILITIES = {
    "image": ("promptCapabilities.image",),
    "audio": ("promptCapabilities.audio",),
    "embeddedContext": ("promptCapabilities.embeddedContext",),
    "additionalDirectories": ("sessionCapabilities.additionalDirectories",),
    "systemPrompt": ("sessionCapabilities.systemPrompt",),
    "reminders": ("reminders", "reminders.inject"),
    "reminder_updates": ("reminders.emit",),
    "reminder_queue": (),
}
"""What says that a feature is there, where that is not a method of the protocol."""
OFFERED = {name: feature for name, feature in FEATURES.items() if not feature.asked_for}
EVERYTHING = {
    **{"sessionId": "x", "cwd": "/", "mcpServers": [], "title": "x"},
    **{"providerId": "x", "apiType": "openai", "baseUrl": "http://127.0.0.1:2"},
}
"""What any method of a feature needs in its parameters."""


@pytest.mark.parametrize("feature", sorted(OFFERED))
async def test_a_feature_can_be_left_out(connect, tmp_path: Path, feature: str) -> None:
    capabilities = CAPABILITIES.get(feature, FEATURES[feature].methods)
    async with connect() as host:
        assert all(host.agreement.supports(capability) for capability in capabilities)
    async with connect(ReferenceAgent(without={feature})) as host:
        assert not any(host.agreement.supports(capability) for capability in capabilities)
        for method in FEATURES[feature].methods:
            with pytest.raises(acp_host.MethodNotFound):
                await host.request(method, EVERYTHING, force=True)


async def test_without_drafts(connect, tmp_path: Path) -> None:
    async with connect(ReferenceAgent(unstable=False)) as host:
        for name, feature in OFFERED.items():
            wanted = CAPABILITIES.get(name, feature.methods)
            assert all(host.agreement.supports(capability) == feature.stable for capability in wanted)
        assert (await (await host.new_session(tmp_path)).prompt("/say x")).usage is None


async def test_what_was_left_out_is_refused(connect, tmp_path: Path) -> None:
    agent = ReferenceAgent(without={"additionalDirectories", "systemPrompt"})
    async with connect(agent) as host:
        with pytest.raises(acp_host.InvalidParams, match="no additional directories"):
            await host.new_session(tmp_path, additional_directories=[tmp_path], force=True)
        with pytest.raises(acp_host.InvalidParams, match="no system prompt"):
            prompt = SystemPrompt("append", (TextContent("x"),))
            await host.new_session(tmp_path, system_prompt=prompt, force=True)


@pytest.mark.parametrize("argument", ["without", "also"])
def test_a_feature_that_is_none(argument: str) -> None:
    with pytest.raises(acp_host.InvalidInput, match="teleport"):
        ReferenceAgent(**{argument: {"teleport"}})


def test_features_that_are_asked_for() -> None:
    assert not ReferenceAgent().features & (FEATURES.keys() - OFFERED.keys())
    assert ReferenceAgent(unstable=False, also={"harn_reminders"}).features >= {"harn_reminders"}
    assert "reminder_queue" not in ReferenceAgent(without={"reminders"}).features, "there would be nothing in it"


async def test_two_hosts_at_once(connect, tmp_path: Path) -> None:
    agent = ReferenceAgent()
    async with connect(agent) as one, connect(agent) as other:
        mine, theirs = await one.new_session(tmp_path), await other.new_session(tmp_path)
        turns = [session.prompt(f"/say {session.id}") for session in (mine, theirs)]
        texts = [(await turn).text for turn in turns]
        assert texts == [mine.id, theirs.id] == ["session-1", "session-2"]
        with pytest.raises(acp_host.ResourceNotFound):
            await other.request("session/prompt", PromptRequest(mine.id, (TextContent("x"),)))


async def test_many_sessions_work_at_once(connect, tmp_path: Path) -> None:
    async with connect() as host:
        sessions = [await host.new_session(tmp_path) for _ in range(10)]
        results = await asyncio.gather(*(session.prompt(f"/slow 2\n/say {session.id}") for session in sessions))
    assert [result.text.split()[-1] for result in results] == [session.id for session in sessions]
