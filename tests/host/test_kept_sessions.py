"""The sessions that an agent keeps: listing, naming, putting away and ending them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import acp_host
from acp_host.errors import InternalError, InvalidInput, NotSupported, ResourceNotFound
from acp_host.host import kept_sessions
from acp_host.testing import ReferenceAgent, ScriptedAgent
from acp_host.wire.content import ImageContent, TextContent
from acp_host.wire.session import SystemPrompt
from acp_host.wire.updates import SessionInfoUpdate
from tests.host.scripts import connected

LISTS = {"sessionCapabilities": {"list": {}, "close": {}, "delete": {}}}


async def test_pages_are_asked_for_as_they_are_wanted(tmp_path: Path) -> None:
    agent = ReferenceAgent(page_size=2)
    async with acp_host.connect(agent.transport()) as host:
        ids = {(await host.new_session(tmp_path)).id for _ in range(5)}
        found = [info async for info in host.iter_sessions()]
        assert len(found) == 5
        assert {info.session_id for info in found} == ids
        assert [info async for info in host.iter_sessions(cwd=tmp_path / "elsewhere")] == []
        assert list(host.diagnostics) == []


def pages(*sessions: list[str], cursors: list[Any]) -> Any:
    async def script(agent: ScriptedAgent) -> None:
        for page, cursor in zip(sessions, cursors, strict=True):
            request = await agent.expect("session/list")
            assert request["params"].get("cursor") == (None if request is None else request["params"].get("cursor"))
            listed = [{"sessionId": session, "cwd": "/"} for session in page]
            agent.reply({"sessions": listed, "nextCursor": cursor})

    return script


async def test_a_cursor_that_comes_again_ends_it() -> None:
    script = pages(["a"], ["b"], ["c"], cursors=["1", "2", "1"])
    async with connected(script, LISTS) as host:
        assert [info.session_id async for info in host.iter_sessions()] == ["a", "b", "c"]
        [note] = host.diagnostics
        assert "came back to a page of before" in note.message


async def test_a_session_is_told_once() -> None:
    async with connected(pages(["a", "b"], ["b", "c"], cursors=["1", None]), LISTS) as host:
        assert [info.session_id async for info in host.iter_sessions()] == ["a", "b", "c"]


async def test_an_empty_cursor_is_the_end() -> None:
    async with connected(pages(["a"], cursors=[""]), LISTS) as host:
        assert len([info async for info in host.iter_sessions()]) == 1


async def test_there_are_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_sessions, "_MAX_PAGES", 3)
    async with connected(pages([], [], [], [], cursors=["1", "2", "3", "4"]), LISTS) as host:
        assert [info async for info in host.iter_sessions()] == []
        assert "more than 3 pages" in next(iter(host.diagnostics)).message
    async with connected(pages(["a", "b", "c"], cursors=[None]), LISTS) as host:
        assert [info.session_id async for info in host.iter_sessions(limit=2)] == ["a", "b"]
        assert "more than 2 entries" in next(iter(host.diagnostics)).message
        with pytest.raises(InvalidInput):
            await anext(host.iter_sessions(limit=0))


@pytest.mark.parametrize("method", ["session/close", "session/delete"])
@pytest.mark.parametrize(
    "error", [(-32002, "Resource not found", None), (-32603, "Internal error", {"details": "Session not found"})]
)
async def test_a_session_that_the_agent_does_not_know_is_over(method: str, error: Any, tmp_path: Path) -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session("s-1")
        await agent.expect(method)
        agent.reply_error(*error)

    async with connected(script, LISTS) as host:
        session = await host.new_session(tmp_path)
        await (session.close() if method == "session/close" else host.delete_session("s-1"))
        assert host.sessions == ()
        [note] = host.diagnostics
        assert (note.session_id, note.method) == ("s-1", method)
        with pytest.raises(acp_host.InvalidState):
            session.prompt("too late")


async def test_another_failure_leaves_it_open(tmp_path: Path) -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session("s-1")
        await agent.expect("session/close")
        agent.reply_error(-32603, "The disk is full")

    async with connected(script, LISTS) as host:
        session = await host.new_session(tmp_path)
        with pytest.raises(InternalError):
            await session.close()
        assert host.sessions == (session,)


async def test_archiving_closes_and_hides(tmp_path: Path) -> None:
    async with acp_host.connect(ReferenceAgent().transport()) as host:
        session = await host.new_session(tmp_path)
        await host.archive_session(session.id)
        assert host.sessions == ()
        assert [info async for info in host.iter_sessions()] == []
        assert [info.archived async for info in host.iter_sessions(archived="only")] == [True]
        assert (await host.session_status(session.id)).status == "saved"
        await host.unarchive_session(session.id)
        assert len([info async for info in host.iter_sessions()]) == 1
        assert (await host.load_session(session.id, tmp_path)).id == session.id
        assert (await host.session_status(session.id)).status == "open"
        with pytest.raises(ResourceNotFound):
            await host.session_status("another")


async def test_the_title_is_shown_as_the_agent_stored_it(tmp_path: Path) -> None:
    async with acp_host.connect(ReferenceAgent().transport()) as host:
        session = await host.new_session(tmp_path)
        await host.set_session_title(session.id, "  two   words ")
        assert session.state.snapshot().info.title == "two words"
        await session.close()
        assert (await host.set_session_title(session.id, "another")).title == "another"
        assert [info.title async for info in host.iter_sessions()] == ["another"]
        for rename in (session.set_title, lambda title: host.set_session_title("x", title)):
            with pytest.raises(InvalidInput, match="blank"):
                await rename(" ")


async def test_a_title_that_only_the_answer_tells() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session("s-1")
        await agent.expect("session/set_title")
        agent.reply({"title": "stored"})
        agent.update({"sessionUpdate": "session_info_update", "title": "later"}, "s-1")

    async with connected(script, {"sessionCapabilities": {"title": {}}}) as host:
        session = await host.new_session()
        titles: list[Any] = []
        session.on_update(lambda update: titles.append(update))
        await session.set_title("wanted")
        assert session.state.snapshot().info.title in ("stored", "later")
        while not titles:
            await session.next_update_between_turns()
        assert isinstance(titles[0], SessionInfoUpdate)
        assert session.state.snapshot().info.title == "later", "an update behind the answer counts more"


@pytest.mark.parametrize("method", ["new", "load", "resume", "fork"])
async def test_a_system_prompt_and_directories_go_with_every_way_to_open_a_session(method: str, tmp_path: Path) -> None:
    sent: list[Any] = []
    (tmp_path / "more").mkdir()

    async def script(agent: ScriptedAgent) -> None:
        sent.append((await agent.expect(f"session/{method}"))["params"])
        agent.reply({"sessionId": "s-1"})

    offers = {"systemPrompt": {}, "additionalDirectories": {}, "resume": {}, "fork": {}}
    prompt = SystemPrompt("append", (TextContent("Be brief."),))
    async with connected(script, {"loadSession": True, "sessionCapabilities": offers}) as host:
        ways: dict[str, Any] = {
            "new": host.new_session,
            "load": lambda *args, **rest: host.load_session("s-1", *args, **rest),
            "resume": lambda *args, **rest: host.resume_session("s-1", *args, **rest),
            "fork": lambda *args, **rest: host.fork_session("s-0", *args, **rest),
        }
        await ways[method](tmp_path, additional_directories=[tmp_path / "more"], system_prompt=prompt)
    [params] = sent
    assert params["cwd"] == str(tmp_path)
    assert params["additionalDirectories"] == [str(tmp_path / "more")]
    assert params["systemPrompt"] == {"mode": "append", "content": [{"type": "text", "text": "Be brief."}]}
    assert params["mcpServers"] == []


async def test_a_system_prompt_that_the_agent_would_refuse_is_not_sent() -> None:
    text = (TextContent("Be brief."),)
    async with acp_host.connect(ReferenceAgent(without=["systemPrompt"]).transport()) as host:
        with pytest.raises(NotSupported, match="systemPrompt"):
            await host.new_session(system_prompt=SystemPrompt("append", text))
    async with connected(lambda agent: agent.stall(), {"sessionCapabilities": {"systemPrompt": {}}}) as host:
        with pytest.raises(NotSupported, match=r"mode\.override"):
            await host.new_session(system_prompt=SystemPrompt("override", text))
        for content in ((), (ImageContent("aGk=", "image/png"),)):
            with pytest.raises(InvalidInput, match="text blocks"):
                await host.new_session(system_prompt=SystemPrompt("append", content))
        await host.close()
    async with acp_host.connect(ReferenceAgent().transport()) as host:
        await host.new_session(system_prompt=SystemPrompt("override", text))


async def test_providers() -> None:
    async with acp_host.connect(ReferenceAgent().transport()) as host:
        before = {info.provider_id: info for info in (await host.list_providers()).providers}
        assert before["main"].required
        headers = {"X-Key": "swordfish"}
        await host.set_provider("spare", api_type="openai", base_url="http://127.0.0.1:2/v1", headers=headers)
        after = {info.provider_id: info for info in (await host.list_providers()).providers}
        assert after["spare"].current is not None
        assert after["spare"].current.base_url == "http://127.0.0.1:2/v1"
        await host.disable_provider("spare")
        with pytest.raises(acp_host.InvalidParams):
            await host.disable_provider("main")
        assert "swordfish" not in host.diagnostics.redactor.text("X-Key is swordfish")
